# SPDX-License-Identifier: Apache-2.0
"""What a step runs: every operator of ATen, as it is dispatched, becomes calls of the program."""
from torch.utils._python_dispatch import TorchDispatchMode

from .formats import FORMATS, Unknown
from .operators import CREATE, EMPTY, OPERATORS, SILENT
from .tensors import Tensors
from .values import Value, bind, geometry, tensor_name, tensors_in


class Step(Tensors, TorchDispatchMode):
    """Records one step."""

    def __init__(self, recorder):
        TorchDispatchMode.__init__(self)
        Tensors.__init__(self, recorder)

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        name = func._schema.name.partition("::")[2]
        if self.quiet or func.namespace != "aten" or name in SILENT:
            return func(*args, **kwargs)
        if name.startswith("_amp_") and not self.updating:
            self.begin_update()
        a = bind(func, args, kwargs)
        written = [t for arg in func._schema.arguments if arg.alias_info is not None and arg.alias_info.is_write
                   for t in tensors_in(a.get(arg.name))]
        plain = name.rstrip("_")                 # mul_ is mul into its first operand
        make = OPERATORS.get(name) or OPERATORS.get(plain)
        before = [t for t in tensors_in([args, kwargs])]
        self.was = {id(t): self.value(t) for t in before} if written else {}
        self.running = func, args, kwargs
        out = func(*args, **kwargs)
        for s in {self.storage(t) for t in written}:
            self.version[s] += 1
            self.writes[s, self.version[s]] = [geometry(t) for t in written if self.storage(t) == s]
        results = list(tensors_in(out)) or written
        if not written and self.is_view(before, results):
            return out
        if name in EMPTY:
            for t in results:
                self.known[self.key(t)] = Value(None)
            return out
        try:
            if make is None:
                raise Unknown("no such operator")
            make(self, a, out if list(tensors_in(out)) else written)
        except Exception as why:                 # whatever this file does not foresee must not stop a training
            if not isinstance(why, Unknown):
                self.r.opaque["aten.%s, since %s: %s" % (name, type(why).__name__, why)] += 1
            elif make is not None or name not in CREATE:
                if any(t.dtype in FORMATS for t in results):
                    self.r.opaque["aten." + name] += 1
            for t in results:
                if self.key(t) not in self.known:
                    self.known[self.key(t)] = self.unmade(t, name.strip("_"))
        return out

    def is_view(self, before, results):
        """Notes views. What they hold is found when a call reads it."""
        views = 0
        for t in results:
            s = self.storage(t)
            for p in before:
                if self.storage(p) == s:
                    views += 1
                    if (s, geometry(t)) not in self.parent and geometry(t) not in self.line(s, p):
                        self.parent[s, geometry(t)] = p.detach()
                    break
        return views == len(results) and views > 0

    def line(self, s, t):
        """The geometries of a view, of the tensor that it is a view of, and so on."""
        out = []
        while t is not None:
            out.append(geometry(t))
            t = self.parent.get((s, out[-1]))
        return out

    # --- the update ---------------------------------------------------------------------------------------------------
    def begin_update(self):
        self.updating = True
        if self.gradients is None:
            self.gradients = []
            for name, p in self.r.model.named_parameters():
                if p.grad is not None and self.value(p.grad).data is not None:
                    g, w = self.get(self.value(p.grad)), self.get(self.value(p))
                    self.program.tensors[g]["class"] = "wgrad"
                    self.program.tensors[w]["grad"] = g
                    layer, _, role = tensor_name(name).rpartition(".")
                    self.program.rename(g, "%s.d%s" % (layer, role))
                    self.gradients.append(g)
