# SPDX-License-Identifier: Apache-2.0
"""The callbacks for trainers that own the training loop: Hugging Face's Trainer and Lightning's. Both record the chosen
steps, of several micro-batches each, and change no bit of the training."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tool'))
from tap import TOP, finish, halfulp, home, ok, skip, skip_all  # noqa: E402

try:
    import torch
except (ImportError, OSError) as why:
    skip_all('no PyTorch: %s' % str(why).splitlines()[0])
sys.path.insert(0, os.path.join(TOP, 'python'))
import halfulp_trace  # noqa: E402

torch.set_num_threads(1)
os.chdir(home())
os.environ.update({'HF_HUB_OFFLINE': '1', 'CUDA_VISIBLE_DEVICES': '', 'WANDB_DISABLED': 'true'})
nn = torch.nn


class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, i):
        g = torch.Generator().manual_seed(i)
        return {'x': torch.randn(6, generator=g), 'labels': i % 3}


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(6, 8), nn.Linear(8, 3)

    def forward(self, x, labels=None):
        y = self.down(torch.relu(self.up(x)))
        return {'loss': nn.functional.cross_entropy(y, labels), 'logits': y}


def judged(run, want, losses, who):
    """Whether the run has these traces, and analyze a verdict on them."""
    files = [int(n[5:11]) for n in sorted(os.listdir(run + '/trace'))]
    with open(run + '/metrics.tsv') as f:
        rows = [line.rstrip('\n').split('\t') for line in f]
    noted = [r[rows[0].index('loss')] for r in rows[1:]]
    ok(files == want, '%s: the steps %s are recorded' % (who, want), str(files))
    ok(len(noted) == len(want) and all(abs(float(a) - b) <= 1e-4 for a, b in zip(noted, losses)),
       '%s: with the losses that it logs' % who, '%s %s' % (noted, losses))
    done = halfulp('analyze', run)
    ok(done.returncode == 0 and 'armless' in done.stdout + done.stderr, '%s: analyze judges them' % who,
       done.stdout + done.stderr)


def same(a, b):
    return all(torch.equal(x, y) for x, y in zip(a.parameters(), b.parameters()))


def hugging_face():
    try:
        import accelerate  # noqa: F401
        from transformers import Trainer, TrainingArguments
    except ImportError as why:
        return skip("Hugging Face's Trainer", str(why))

    def train(callbacks):
        torch.manual_seed(1)
        model = Net()
        args = TrainingArguments('out', max_steps=6, per_device_train_batch_size=4, gradient_accumulation_steps=2,
                logging_steps=1, report_to=[], save_strategy='no', use_cpu=True, seed=3, disable_tqdm=True,
                learning_rate=1e-2, remove_unused_columns=False, dataloader_pin_memory=False)
        trainer = Trainer(model=model, args=args, train_dataset=Rows(), callbacks=callbacks)
        trainer.train()
        return model, [x['loss'] for x in trainer.state.log_history if 'loss' in x]
    mine = halfulp_trace.TrainerCallback('hf', steps='1,4-5')
    model, losses = train([mine])
    other, _ = train([])
    judged('hf', [1, 4, 5], [float(losses[k]) for k in (1, 4, 5)], 'Trainer')
    products = {c['phase'] for c in mine.recorder.program.calls if c['op'] == 'matmul'}
    batches = sum(c['op'] == 'matmul' and c['layer'] == 'up' and c['phase'] == 'forward' for c in
            mine.recorder.program.calls)
    ok(same(model, other) and products == {'forward', 'backward'} and batches == 2,
       'Trainer: a step has both micro-batches, and the bits of a training without the callback', '%d' % batches)
    return None


def lightning():
    try:
        try:
            import lightning.pytorch as pl
        except ImportError:
            import pytorch_lightning as pl
    except ImportError as why:
        return skip("Lightning's Trainer", str(why))

    class Module(pl.LightningModule):
        def __init__(self):
            super().__init__()
            self.net, self.losses = Net(), []

        def training_step(self, batch, number):
            loss = self.net(**batch)['loss']
            self.losses.append(float(loss.detach()))
            return loss

        def configure_optimizers(self):
            return torch.optim.AdamW(self.parameters(), lr=1e-2)

    def train(callbacks):
        torch.manual_seed(1)
        module = Module()
        pl.Trainer(max_steps=4, accelerator='cpu', logger=False, enable_checkpointing=False, callbacks=callbacks,
                enable_progress_bar=False, enable_model_summary=False).fit(module,
                torch.utils.data.DataLoader(Rows(), batch_size=4))
        return module
    module, other = train([halfulp_trace.LightningCallback('pl', every=3)]), train([])
    judged('pl', [0, 3], [module.losses[k] for k in (0, 3)], 'Lightning')
    ok(same(module, other), 'Lightning: with the bits of a training without the callback')
    return None


hugging_face()
lightning()
finish()
