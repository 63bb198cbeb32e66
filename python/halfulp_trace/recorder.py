# SPDX-License-Identifier: Apache-2.0
"""The recorder: what happens around a step, and the run directory that it writes."""
import collections
import contextlib
import json
import math
import os
import shutil
import socket
import sys
import warnings

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook
from torch.utils._python_dispatch import _disable_current_modes

from .arena import Arena, use
from .born import Born
from .branches import taken
from .formats import FORMATS
from .kept import Kept
from .optimizers import Update
from .origin import origin
from .packed import unpacked
from .program import Program
from .rundir import METRICS, digest, layout, safetensors, write
from .step import Step
from .values import Value, counts, geometry, holdable, parts, snapshot, tensor_name
from .threads import started_in
from .watched import watched
from .weak import Zeroed
from .which import Which


OURS = ("trace", "analysis", "report", "metrics.tsv", "grads.tsv", "tensors.tsv", "program-train.json", "manifest.json")


class record:
    """Records the training steps that run inside `with`, one step each time, in the run directory `run`.

    optimizer  names the optimizer, or a list of them, in the manifest; every optimizer of PyTorch is seen without it
    overwrite  deletes the run that is in the directory, instead of refusing it
    strict     raises what goes wrong in the recorder out of the step; else the training goes on, and a warning says so
    steps      records these steps alone, counted from 0, as in "100,200-203"; the others run as without a recorder
    every      records only steps whose number is a multiple of it
    layers     keeps only calls of modules whose name this regular expression is found in
    sample     keeps of a tensor that has more elements no more than this many
    max_bytes  stops recording before the traces together have more bytes

    Each rank of torch.distributed records into a folder of its own, run/rank-0, run/rank-1 and so on.
    """

    def __init__(self, model, run, optimizer=None, *, overwrite=False, strict=False, steps=None, every=1,
                 max_bytes=None,
                 layers=None, sample=None):
        self.model, self.strict, self.which = model, strict, Which(steps, every, max_bytes)
        self.part = Kept(layers, sample)
        self.run = run = of_rank(run)
        if isinstance(optimizer, dict):
            optimizer = optimizer.values()
        self.optimizers = [o for o in (optimizer if hasattr(optimizer, "__iter__") else [optimizer]) if o is not None]
        if os.path.isdir(run) and os.listdir(run):
            if not overwrite:
                raise FileExistsError("%s: something is there already; record into a new directory, or let "
                        "overwrite=True delete the run that is there" % run)
            clear(run)
        self.program, self.opaque = Program(), collections.Counter()
        self.rows, self.grads = [], []           # of metrics.tsv and grads.tsv
        self.step = self.scale = None
        self.number, self.recorded, self.running = None, False, False
        self.kept = {}                           # names of states that are neither the model's nor an optimizer's
        self.warned = set()
        self.stale = False                       # whether a stale cast was told of
        self.zeroed, self.born = Zeroed(), Born()
        self.plan = None                         # where the last trace had the step's copies
        compiled = compiled_modules(model)
        if compiled:
            self.warn("%s is compiled by torch.compile: while a step is recorded PyTorch runs its operators one by "
                    "one, whose bits are not those of the compiled kernels" % compiled[0])

    def warn(self, text):
        if text not in self.warned:
            self.warned.add(text)
            warnings.warn("halfulp_trace: " + text, stacklevel=3)

    def guard(self, f, *args):
        """Runs a part of the recorder, which must not stop a training."""
        try:
            return f(*args)
        except Exception as why:
            if self.strict:
                raise
            if self.step is not None:
                self.step.blind = True
            self.opaque["the recorder failed"] += 1
            self.warn("a part of the step is not recorded, since %s: %s (strict=True raises this)"
                    % (type(why).__name__, why))
            return None

    def loss(self, loss):
        """Notes the step's loss, which metrics.tsv and the report show; also after the step's end."""
        with _disable_current_modes():           # which would note that Python read it
            self.noted = self.guard(lambda: float(loss.detach() if isinstance(loss, torch.Tensor) else loss))
        if not self.running and self.rows and self.rows[-1]["step"] == self.number:
            self.rows[-1]["loss"] = self.noted
            self.guard(self.write_metrics)

    def __enter__(self):
        self.noted, self.running = None, True
        self.number, self.recorded = self.which.begin()
        if not self.recorded:
            return self
        self.step = self.new_step()
        self.exit = contextlib.ExitStack()
        self.arena = Arena(os.path.join(self.run, "trace"), self.plan)
        self.guard(self.uncompiled)
        self.guard(self.start, self.step)
        self.exit.enter_context(use(self.arena))
        self.exit.enter_context(started_in(self.step))
        self.exit.enter_context(self.step)
        return self

    def new_step(self):
        return Step(self)

    def uncompiled(self):
        """What torch.compile compiled runs operator by operator during a step, which is told."""
        frames = sys.modules.get("torch._dynamo.eval_frame")
        if frames is None:
            return
        self.exit.enter_context(torch.compiler.set_stance("force_eager"))
        usual = frames._callback_from_stance

        def called(callback):
            if callable(callback):
                self.warn("a function that torch.compile compiled runs uncompiled while a step is recorded: its bits "
                        "are not those of the compiled kernels")
            return usual(callback)
        frames._callback_from_stance = called
        self.exit.callback(setattr, frames, "_callback_from_stance", usual)

    def start(self, s):
        """The model's state before the step, and hooks in its modules and in optimizers."""
        for name, p, _ in s.parameters():
            if holdable(p) and p.dtype in FORMATS:
                own = snapshot(p)
                s.trained.add(s.storage(p))
                w = s.weights[s.storage(p), geometry(p)] = s.add("", own, "weight", name, state=True, trainable=True)
                s.swaps.weight[s.storage(p)] = w
                s.known[s.key(p)] = Value(own, {"plain": w})
        for p in self.model.parameters():
            s.swaps.hold(s, p)
        for name, b in self.buffers():
            if holdable(b) and b.dtype in FORMATS:
                own = snapshot(b)
                s.known[s.key(b)] = Value(own, {"plain": s.add("", own, "other", name, state=True)})
        if self.scale is not None:
            s.scale = s.add("", snapshot(self.scale), "other", "scaler.scale", state=True)
            s.known[s.key(self.scale)] = Value(snapshot(self.scale), {"plain": s.scale})
        self.hook_modules(s)
        self.hook_optimizers(s)
        self.exit.enter_context(watched(s))
        self.exit.enter_context(taken(s))
        self.exit.enter_context(unpacked(s))

    def hook_modules(self, s):
        """The step learns when each module's forward pass begins and ends."""
        for name, module in self.model.named_modules():
            path = name.replace("_orig_mod.", "").replace("_orig_mod", "").replace(".", "/") or "model"
            hook = module.register_forward_pre_hook(lambda m, x, path=path: s.enter(path))
            self.exit.callback(hook.remove)
            # a pass that activation checkpointing stops halfway leaves its modules too
            hook = module.register_forward_hook(lambda m, x, y: s.leave(), always_call=True)
            self.exit.callback(hook.remove)

    def hook_optimizers(self, s):
        """The step learns what each optimizer's step does."""
        updates = []

        def begin(optimizer, args, kwargs):
            closure = kwargs.get("closure", args[1] if len(args) > 1 else None)
            with _disable_current_modes():
                updates.append(self.guard(Update, s, optimizer, closure))
            if callable(closure) and updates[-1] is not None:
                closure = updates[-1].closure(closure)
                if "closure" in kwargs:
                    return args, dict(kwargs, closure=closure)
                return args[:1] + (closure,) + args[2:], kwargs
            return None

        def end(optimizer, args, kwargs):
            with _disable_current_modes():
                update = updates.pop() if updates else None
                if update is not None:
                    self.guard(update.finish)

        for hook in (register_optimizer_step_pre_hook(begin), register_optimizer_step_post_hook(end)):
            self.exit.callback(hook.remove)

    def buffers(self):
        return [(tensor_name(n), x) for name, b in self.model.named_buffers() for n, x in parts(name, b)]

    def __exit__(self, kind, error, where):
        self.running = False
        if not self.recorded:
            return False
        self.exit.close()
        if kind is None:
            with use(self.arena):
                self.guard(self.write, self.step)
        self.guard(self.ended, self.step)
        self.step.forget()
        self.step = self.arena = None
        return False

    def ended(self, s):
        """What the next recorded step has to know of this one."""
        self.zeroed.note(s)
        self.born.note(s)

    def states(self, s):
        """What is a state: the program's tensor before the step, PyTorch's tensor, and the program's tensor of the
        parameter that it belongs to."""
        for name, p, _ in s.parameters():
            w = s.weight_of(p, name)
            if w in s.values:
                yield w, p, w
        for name, b in self.buffers():
            if self.program.names.get(name) in s.values:
                yield self.program.names[name], b, None
        yield from s.states
        own = s.trained | {s.storage(b) for _, b in self.buffers()} | {s.storage(t) for _, t, _ in s.states}
        for (storage, shape), t in s.outside.items():
            i = s.before[storage, shape].ids.get("plain")
            if storage in s.updated and storage not in own and i not in s.ended and (
                    i not in s.grads.values()) and t.dim() > 0 and s.value(t).data is not None:
                yield i, t, self.name_kept(s, i, t, (storage, shape))

    def name_kept(self, s, i, t, key):
        """Names a state that a hand-written update keeps, such as float32 masters and moving averages, by the nearest
        parameter that it was made of. Returns that."""
        weights = {**{w: w for w in s.weights.values()}, **{g: w for w, g in s.grads.items()}}
        value, shape = s.value(t), tuple(t.size())
        near = self.program.nearest(s.get(value), lambda k: k in weights and tuple(s.values[k].shape) == shape)
        near = weights.get(near)
        if not self.program.tensors[i].get("state"):
            name = (self.program.tensors[near]["name"] if near is not None else "kept.state") + "_kept"
            self.program.rename(i, name)
            self.program.tensors[i].update({"state": True, "class": "other"})
            self.kept[key] = self.program.tensors[i]["name"]
            self.born.link(self.program, self.rows, (key[0], key[1]), s.before[key].data)
        return near

    def write(self, s):
        """Writes the step's trace, and what describes all steps so far."""
        if s.ran_backward or not s.grads:
            s.begin_update()
        nexts, of = dict(s.ended), dict(s.owner)
        for i, t, w in self.states(s):
            value = s.value(t)
            of[i] = w
            if value.data is None or FORMATS[value.data.dtype] != self.program.tensors[i]["format"]:
                continue
            if s.get(value) != i:
                nexts.setdefault(i, s.get(value))
        grads = dict(s.grads)
        for i, w in of.items():
            g = s.grads.get(w)
            if g is not None and self.program.tensors[g]["shape"] == self.program.tensors[i]["shape"]:
                grads[i] = g
        for i, after in nexts.items():           # what an update made operator by operator gets its name
            if after in self.program.maker and not self.program.tensors[after]["name"].endswith("_next"):
                self.program.rename(after, self.program.tensors[i]["name"] + "_next")
        s.reads.mark(s)
        number, program, values = self.number, self.program, s.values
        self.program.end_step(number, nexts, grads)
        if not self.part.whole():
            program = self.part.reduced(self.program, values, number)
            values = program.values(values, number, self.arena.trim)
        head, places = layout(values, program)
        places = [(at, values[i]) for at, i in places]
        size = len(head) + sum(x.numel() * x.element_size() for x in values.values())
        if not self.which.fits(size):
            self.which.largest = max(self.which.largest, size)
            self.warn("step %d takes %d bytes, with which the traces would have more than max_bytes=%d: neither it "
                    "nor a later step is recorded" % (self.number, size, self.which.max_bytes))
            self.program.steps.pop()
            return
        scale = float(s.values[s.scale]) if s.scale is not None and s.scale in s.values else 1.0
        skipped = int(bool(s.values[s.found])) if s.found is not None else 0
        for i in dict.fromkeys(s.grads.values()):
            amax, nonzeros, zeros, bad = counts(s.values[i])
            self.arena.trim()
            self.grads.append((number, self.program.tensors[i]["name"], repr(amax / scale), nonzeros, zeros, bad))
        harmed = any(r[0] == number and r[5] for r in self.grads) or not math.isfinite(self.noted or 0)
        first = origin(self.program, s.values) if harmed and self.part.whole() else None
        row = {"step": number, "epoch": 0, "loss": self.noted, "loss_scale": scale, "skipped": skipped,
               **dict(zip(("overflow_call", "overflow_tensor", "overflow_count"), first or ())),
               "digest": digest(self.program, s.values, self.arena.trim)}
        self.rows.append(row)
        os.makedirs(os.path.join(self.run, "trace"), exist_ok=True)
        path = os.path.join(self.run, "trace", "step-%06d.safetensors" % number)
        if not self.arena.laid.becomes(path, head, places):
            write(path, safetensors(values, program, self.arena))
        self.plan = self.arena.plan(places)
        self.which.wrote(size)
        self.finish(s)

    def write_metrics(self):
        lines = [METRICS] + [["-" if r.get(k) is None else str(r[k]) for k in METRICS] for r in self.rows]
        write(os.path.join(self.run, "metrics.tsv"), ["".join("\t".join(line) + "\n" for line in lines).encode()])

    def finish(self, s):
        """Writes what describes all steps so far, the manifest last."""
        self.write_metrics()
        text = "".join("\t".join(map(str, r)) + "\n" for r in [("step", "tensor", "amax", "nonzeros", "zeros",
                "nonfinite")] + self.grads)
        write(os.path.join(self.run, "grads.tsv"), [text.encode()])
        write(os.path.join(self.run, "program-train.json"), [json.dumps(self.part.json(self.program)).encode()])
        self.write_manifest({FORMATS[d.dtype] for d in s.values.values()}, s.scale is not None,
                [r["step"] for r in self.rows])

    def write_manifest(self, formats, scaled, traced):
        low = sorted(formats & {"fp16", "bf16"})
        device = next(iter(self.model.parameters()), torch.zeros(())).device
        manifest = {
            "run_version": 1, "halfulp_version": "halfulp_trace",
            "command": [os.path.basename(sys.argv[0] or "python")],
            "seed": torch.initial_seed() % (1 << 62), "model": type(self.model).__name__,
            "policy": {"name": "+".join(low + ["fp32"]), "compute": low[0] if low else "fp32", "variable": "fp32"},
            "dataset": {"name": "the program's own"}, "backend": "torch " + torch.__version__,
            "device": torch.cuda.get_device_name(device) if device.type == "cuda" else device.type,
            "compiler": "-", "simd": torch.backends.cpu.get_cpu_capability(), "threads": torch.get_num_threads(),
            "host": socket.gethostname(), "steps": self.number + 1, "steps_done": self.number + 1,
            "trace_steps": traced, "loss_weight": 1,
            "loss_scaling": {"rule": "pytorch" if scaled else "none"},
            "optimizer": {"name": "+".join(type(o).__name__ for o in self.optimizers) or "-"},
            "calls": len(self.program.calls), "opaque": dict(self.opaque.most_common()), "files": {}, "finished": True}
        write(os.path.join(self.run, "manifest.json"), [json.dumps(manifest, indent=1).encode()])

    def summary(self):
        """One sentence on what was recorded, and what was not."""
        moves = sum(c["op"] in ("move", "concat") for c in self.program.calls)
        text = "%d calls recorded in %d steps, %d of them moves" % (len(self.program.calls), len(self.rows), moves)
        if self.opaque:
            text += "; opaque: " + ", ".join("%s (%d)" % x for x in self.opaque.most_common())
        return text


def clear(run):
    """Deletes a run's own files, and nothing else of the directory."""
    for name in OURS:
        path = os.path.join(run, name)
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        elif os.path.lexists(path):
            os.remove(path)


def of_rank(run):
    """The folder of this process: the run itself, or in it one a rank where there are several."""
    d = torch.distributed
    if d.is_available() and d.is_initialized() and d.get_world_size() > 1:
        return os.path.join(run, "rank-%d" % d.get_rank())
    return run


def compiled_modules(model):
    """The names of modules that torch.compile has compiled."""
    return [name or type(m).__name__ for name, m in model.named_modules()
            if type(m).__name__ == "OptimizedModule" or getattr(m, "_compiled_call_impl", None) is not None]
