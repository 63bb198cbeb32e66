# SPDX-License-Identifier: Apache-2.0
"""Long trainings in a few bytes: of each tensor of a step its largest magnitude and how much of it is zero, subnormal,
zeroed by a cast, not finite, or kept its bits though it had a gradient. No tensor is kept, and nothing is judged."""
import os

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook
from torch._ops import HigherOrderOperator
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes

from .branches import of_constants, taken, unasked
from .formats import FORMATS
from .recorder import record
from .shapes import of_shapes
from .threads import Own, own
from .values import counts, tensors_in

COLUMNS = ("step tensor layer kind format elements amax zeros subnormals became_zero nonfinite gradients "
           "kept").split()
CASTS = {"_to_copy", "copy_"}
LOW = {torch.float64: 2.0 ** -1022, torch.float32: 2.0 ** -126, torch.float16: 2.0 ** -14, torch.bfloat16: 2.0 ** -126}


def measured(t, source=None):
    """The counts of a tensor, in the order amax, zeros, subnormals, not finite, became zero: numbers on the host, and
    elsewhere a tensor of them, so that nothing waits for a device."""
    t = t.detach()
    t = t if t.element_size() > 1 else t.to(torch.float32)
    low, own = LOW.get(t.dtype, 0.0), t.abs()
    below = (own < low).count_nonzero()          # zeros among them
    nonzero = t.count_nonzero()
    lost = source.detach().count_nonzero() - nonzero if source is not None else 0
    if t.device.type == "cpu":
        amax, nonzero, zeros, bad = counts(t)
        return [amax, zeros, int(below) - zeros, bad, max(int(lost), 0)]
    fine = own.isfinite()
    zeros = t.numel() - nonzero
    whole = own.where(fine, torch.zeros((), dtype=own.dtype, device=own.device))
    return torch.stack([x.to(torch.float64) for x in (whole.max(), zeros, below - zeros, (~fine).count_nonzero(),
        torch.as_tensor(lost, device=t.device))])


def seen(t):
    return (isinstance(t, torch.Tensor) and t.dtype in FORMATS and t.layout is torch.strided and not t.is_nested
            and t.numel() > 0 and not t.is_meta)


class Watch(TorchDispatchMode):
    """The rows of one step."""

    supports_higher_order_operators = True
    layers = own("layers")

    def __init__(self, recorder):
        super().__init__()
        self.r, self.own, self.stepping, self.blind, self.over = recorder, Own(), False, False, False
        self.rows = []                           # what a row says besides its counts; the counts
        self.names = {}                          # how often a layer has run an operator
        self.before, self.pulled = {}, {}        # parameters before the step; where their gradients are not 0
        self.scale = None

    def forget(self):
        self.over = True
        self.rows, self.before, self.pulled = [], {}, {}

    def enter(self, path):
        self.layers.append(path)

    def leave(self):
        if len(self.layers) > 1:
            self.layers.pop()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if isinstance(func, HigherOrderOperator):
            inner = func.py_kernels.get(torch._C.DispatchKey.CompositeExplicitAutograd)
            if inner is None:
                return func(*args, **kwargs)
            with unasked(inner), self:
                return inner(*args, **kwargs)
        args = of_constants(func, args)
        if of_shapes(types):
            return func(*args, **kwargs)
        if any(t not in (torch.Tensor, torch.nn.Parameter) for t in types):
            return NotImplemented
        name = func._schema.name.partition("::")[2]
        casts = name in CASTS and not self.stepping
        source = next((t for t in tensors_in(args[1:] if name == "copy_" else args)), None) if casts else None
        out = func(*args, **kwargs)
        if not self.stepping and not self.over:
            self.r.guard(self.look, func, name, out, source)
        return out

    def look(self, func, name, out, source):
        """A row of each result that is new or was written; views show what was seen before."""
        results = out if isinstance(out, (list, tuple)) else [out]
        for k, t in enumerate(results):
            returns = func._schema.returns
            alias = returns[min(k, len(returns) - 1)].alias_info if returns else None
            if not seen(t) or (alias is not None and not alias.is_write):
                continue
            layer = self.layers[-1]
            if self.r.part.matches(layer):
                cast = source is not None and seen(source) and source.shape == t.shape and (
                    source.element_size() > t.element_size())
                backward = torch._C._current_graph_task_id() != -1 and len(self.layers) == 1
                key = layer, name
                self.names[key] = self.names.get(key, 0) + 1
                kind = "cast" if cast else "gradient" if backward else "activation"
                title = "%s.%s_%d" % (layer, name.strip("_"), self.names[key])
                self.add(title, layer, kind, t, source if cast else None)

    def add(self, name, layer, kind, t, source=None, kept=("-", "-")):
        self.rows.append(((name, layer, kind, FORMATS[t.dtype], t.numel(), kept), measured(t, source)))


class summary(record):
    """Sums up the training steps that run inside `with` in the file tensors.tsv of the run directory `run`, a row a
    step and tensor. Options are those of `record` but for sample and max_bytes; layers chooses modules' rows."""

    def __init__(self, model, run, optimizer=None, *, overwrite=False, strict=False, steps=None, every=1, layers=None):
        super().__init__(model, run, optimizer, overwrite=overwrite, strict=strict, steps=steps, every=every,
                layers=layers)
        os.makedirs(self.run, exist_ok=True)
        self.table = os.path.join(self.run, "tensors.tsv")
        with open(self.table, "w") as f:
            f.write("\t".join(COLUMNS) + "\n")

    def new_step(self):
        return Watch(self)

    def ended(self, s):
        """Sums of one step say nothing of the next."""

    def parameters(self):
        return [(n.replace("_orig_mod.", ""), p) for n, p in self.model.named_parameters() if seen(p)
                and type(p.detach()) is torch.Tensor]

    def start(self, s):
        self.hook_modules(s)
        self.exit.enter_context(taken(s))
        for name, p in self.parameters():
            s.before[name] = p.detach().clone()

        def begin(optimizer, args, kwargs):
            with _disable_current_modes():
                self.guard(self.pull, s)
            s.stepping = True

        def end(optimizer, args, kwargs):
            s.stepping = False

        for hook in (register_optimizer_step_pre_hook(begin), register_optimizer_step_post_hook(end)):
            self.exit.callback(hook.remove)

    def pull(self, s):
        """Notes where gradients are not 0, before an update, which may forget them."""
        for name, p in self.parameters():
            if p.grad is not None and seen(p.grad) and p.grad.shape == p.shape:
                some = p.grad.detach() != 0
                first = name not in s.pulled
                s.pulled[name] = some if first else s.pulled[name] | some
                if first and self.part.matches(name.rpartition(".")[0]):
                    s.add(self.titled(name) + ".grad", self.titled(name).rpartition(".")[0], "wgrad", p.grad)

    def titled(self, name):
        layer, _, role = name.rpartition(".")
        return "%s.%s" % (layer.replace(".", "/") or "model", role)

    def write(self, s):
        if not s.pulled:                         # an update by hand, or none
            self.pull(s)
        for name, p in self.parameters():
            if not self.part.matches(name.rpartition(".")[0]):
                continue
            kept = "-", "-"
            if name in s.pulled and name in s.before and s.before[name].shape == p.shape:
                some = s.pulled[name]
                kept = some.count_nonzero(), (some & (p.detach() == s.before[name])).count_nonzero()
            s.add(self.titled(name), self.titled(name).rpartition(".")[0], "parameter", p, None, kept)
        lines = []
        for (name, layer, kind, format, n, kept), counted in s.rows:
            amax, zeros, below, bad, lost = counted if isinstance(counted, list) else counted.cpu().tolist()
            cells = [self.number, name, layer, kind, format, n, repr(amax), int(zeros), int(below),
                     int(lost) if kind == "cast" else "-", int(bad)]
            lines.append("\t".join(str(x) for x in cells + [x if x == "-" else int(x) for x in kept]) + "\n")
        with open(self.table, "a") as f:
            f.write("".join(lines))
        self.rows.append({"step": self.number, "epoch": 0, "loss": self.noted})
        self.write_metrics()
        self.write_manifest({FORMATS[p.dtype] for _, p in self.parameters()} | {r[0][3] for r in s.rows}, False, [])

    def summary(self):
        """One sentence on what was summed up."""
        return "%d steps summed up in %d bytes" % (len(self.rows), os.path.getsize(self.table))
