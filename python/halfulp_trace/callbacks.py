# SPDX-License-Identifier: Apache-2.0
"""Callbacks that record the steps of a trainer which owns the training loop: Hugging Face's Trainer and Lightning's.
Neither library is needed, nor imported."""
from .recorder import record


class Callback:
    """Makes a recorder when the training begins and opens and closes its steps. Options are those of `record`. The
    recorder is `recorder` once the training has begun."""

    def __init__(self, run, **options):
        self.run, self.options, self.recorder, self.open = run, options, None, False

    def train_begin(self, model, optimizer):
        if self.recorder is None:
            self.recorder = record(model, self.run, optimizer=optimizer, **self.options)

    def step_begin(self):
        self.step_end()                          # of a step that the trainer left without a word
        if self.recorder is not None:
            self.recorder.__enter__()
            self.open = True

    def step_end(self, loss=None):
        if not self.open:
            return
        self.open = False
        if loss is not None:
            self.recorder.loss(loss)
        self.recorder.__exit__(None, None, None)


class TrainerCallback(Callback):
    """For transformers.Trainer(callbacks=[TrainerCallback("run", steps="0,100")]). A step is one of the optimizer, with
    all of its micro-batches. Losses are those that the Trainer logs (logging_steps=1: of every step)."""

    def on_train_begin(self, args, state, control, model=None, optimizer=None, **_):
        self.train_begin(model, optimizer)

    def on_step_begin(self, args, state, control, **_):
        self.step_begin()

    def on_step_end(self, args, state, control, **_):
        self.step_end()

    def on_log(self, args, state, control, logs=None, **_):
        if self.recorder is not None and logs and "loss" in logs:
            self.recorder.loss(logs["loss"])

    def on_train_end(self, args, state, control, **_):
        self.step_end()

    def __getattr__(self, name):                 # the Trainer calls every event of every callback
        if name.startswith("on_"):
            return lambda *args, **kwargs: None
        raise AttributeError(name)


class LightningCallback(Callback):
    """For lightning.pytorch.Trainer(callbacks=[LightningCallback("run")]). A step is one batch of training_step."""

    state_key = "halfulp_trace"

    def on_train_start(self, trainer, module):
        self.train_begin(module, trainer.optimizers)

    def on_train_batch_start(self, trainer, module, batch, batch_idx):
        self.step_begin()

    def on_train_batch_end(self, trainer, module, outputs, batch, batch_idx):
        self.step_end(outputs.get("loss") if isinstance(outputs, dict) else outputs)

    def on_train_end(self, trainer, module):
        self.step_end()

    def on_exception(self, trainer, module, exception):
        self.step_end()

    def state_dict(self):
        return {}

    def load_state_dict(self, state):
        pass

    def __getattr__(self, name):
        if name.startswith(("on_", "setup", "teardown")):
            return lambda *args, **kwargs: None
        raise AttributeError(name)
