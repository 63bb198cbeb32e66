# SPDX-License-Identifier: Apache-2.0
"""The recorder: what happens around a step, and the run directory that it writes."""
import collections
import contextlib
import json
import os
import socket
import sys

import torch
from torch.utils._python_dispatch import _disable_current_modes

from .formats import FORMATS, RANK
from .optimizers import Update
from .program import Program
from .rundir import METRICS, digest, safetensors, write
from .step import Step
from .values import Value, snapshot, tensor_name


class record:
    """Records the training steps that run inside `with`, one step each time, in the run directory `run`."""

    def __init__(self, model, run, optimizer=None):
        if os.path.isdir(run) and os.listdir(run):
            raise FileExistsError("%s: something is there already; record into a new directory" % run)
        self.model, self.run, self.optimizer = model, run, optimizer
        self.program, self.opaque = Program(), collections.Counter()
        self.rows, self.grads = [], []           # of metrics.tsv and grads.tsv
        self.step = self.scale = None

    def loss(self, loss):
        """Notes the step's loss, which metrics.tsv and the report show."""
        self.noted = float(loss.detach())

    def __enter__(self):
        self.noted, self.step = None, Step(self)
        s, names = self.step, self.model.named_parameters
        for name, p in names():
            if p.dtype in FORMATS and p.numel():
                s.known[s.key(p)] = Value(snapshot(p), {"plain": s.add("", snapshot(p), "weight", tensor_name(name),
                        state=True, trainable=True)})
        for name, b in self.model.named_buffers():
            if b.dtype in FORMATS and b.numel() and b.dim() <= RANK:
                s.known[s.key(b)] = Value(snapshot(b), {"plain": s.add("", snapshot(b), "other", tensor_name(name),
                        state=True)})
        if self.scale is not None:
            s.scale = s.add("", snapshot(self.scale), "other", "scaler.scale", state=True)
            s.known[s.key(self.scale)] = Value(snapshot(self.scale), {"plain": s.scale})
        self.exit = contextlib.ExitStack()
        for name, module in self.model.named_modules():
            path = name.replace(".", "/") or "model"
            enter = module.register_forward_pre_hook(lambda m, x, path=path: s.layers.append(path))
            leave = module.register_forward_hook(lambda m, x, y: s.layers.pop() and None)
            self.exit.callback(enter.remove)
            self.exit.callback(leave.remove)
        if self.optimizer is not None:
            updates = []

            def start(optimizer, args, kwargs):
                with _disable_current_modes():
                    updates.append(Update(s, optimizer))

            def end(optimizer, args, kwargs):
                with _disable_current_modes():
                    updates.pop().finish()

            before = self.optimizer.register_step_pre_hook(start)
            after = self.optimizer.register_step_post_hook(end)
            self.exit.callback(before.remove)
            self.exit.callback(after.remove)
        self.exit.enter_context(s)
        return self

    def __exit__(self, kind, error, where):
        self.exit.close()
        if kind is not None:
            return False
        s = self.step
        s.begin_update()
        for named in (self.model.named_parameters(), self.model.named_buffers()):
            for name, t in named:
                i = self.program.names.get(tensor_name(name))
                if i in s.values and s.get(s.value(t)) != i:
                    self.program.tensors[i]["next"] = s.get(s.value(t))
        number = len(self.rows)
        scale = float(s.values[s.scale]) if s.scale is not None and s.scale in s.values else 1.0
        skipped = int(bool(s.values[s.found])) if s.found is not None else 0
        for i in s.gradients:
            x = s.values[i].to(torch.float64).abs() / scale
            fine = x[x.isfinite()]
            self.grads.append((number, self.program.tensors[i]["name"], repr(float(fine.max()) if len(fine) else 0.0),
                    int((fine > 0).sum()),
                               int((fine == 0).sum()), int(x.numel() - fine.numel())))
        row = {"step": number, "epoch": 0, "loss": self.noted, "loss_scale": scale, "skipped": skipped,
               "digest": digest(self.program, s.values)}
        self.rows.append(row)
        os.makedirs(os.path.join(self.run, "trace"), exist_ok=True)
        write(os.path.join(self.run, "trace", "step-%06d.safetensors" % number), safetensors(s.values, self.program))
        self.finish(s)
        self.step = None
        return False

    def finish(self, s):
        """Writes what describes all steps so far, the manifest last."""
        lines = [METRICS] + [["-" if r.get(k) is None else str(r[k]) for k in METRICS] for r in self.rows]
        write(os.path.join(self.run, "metrics.tsv"), ["".join("\t".join(line) + "\n" for line in lines).encode()])
        text = "".join("\t".join(map(str, r)) + "\n" for r in [("step", "tensor", "amax", "nonzeros", "zeros",
                "nonfinite")] + self.grads)
        write(os.path.join(self.run, "grads.tsv"), [text.encode()])
        write(os.path.join(self.run, "program-train.json"), [json.dumps(self.program.json()).encode()])
        low = sorted({FORMATS[d.dtype] for d in s.values.values()} & {"fp16", "bf16"})
        device = next(iter(self.model.parameters())).device
        manifest = {
            "run_version": 1, "halfulp_version": "halfulp_trace",
            "command": [os.path.basename(sys.argv[0] or "python")],
            "seed": torch.initial_seed() % (1 << 62), "model": type(self.model).__name__,
            "policy": {"name": "+".join(low + ["fp32"]), "compute": low[0] if low else "fp32", "variable": "fp32"},
            "dataset": {"name": "the program's own"}, "backend": "torch " + torch.__version__,
            "device": torch.cuda.get_device_name(device) if device.type == "cuda" else device.type,
            "compiler": "-", "simd": torch.backends.cpu.get_cpu_capability(), "threads": torch.get_num_threads(),
            "host": socket.gethostname(), "steps": len(self.rows), "steps_done": len(self.rows),
            "trace_steps": [r["step"] for r in self.rows], "loss_weight": 1,
            "loss_scaling": {"rule": "pytorch" if s.scale is not None else "none"},
            "optimizer": {"name": type(self.optimizer).__name__ if self.optimizer is not None else "-"},
            "calls": len(self.program.calls), "opaque": dict(self.opaque.most_common()), "files": {}, "finished": True}
        write(os.path.join(self.run, "manifest.json"), [json.dumps(manifest, indent=1).encode()])

    def summary(self):
        """One sentence on what was recorded, and what was not."""
        moves = sum(c["op"] in ("move", "concat") for c in self.program.calls)
        text = "%d calls recorded in %d steps, %d of them moves" % (len(self.program.calls), len(self.rows), moves)
        if self.opaque:
            text += "; opaque: " + ", ".join("%s (%d)" % x for x in self.opaque.most_common())
        return text
