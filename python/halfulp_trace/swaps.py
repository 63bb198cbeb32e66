# SPDX-License-Identifier: Apache-2.0
"""Parameters that get other memory during a step, as `p.data = w` gives it to them, and those that take another one's
place in the model. No operator does either, so that it is noticed where a parameter, or a cast that autocast kept, is
read next."""
import torch

from .values import tensor_name


class Swaps:
    """The memory that each parameter has, and what it had before in this step. Several parameters may have parts of one
    memory."""

    def __init__(self):
        self.of, self.weight, self.new, self.foreign = {}, {}, set(), set()     # by storage

    def has(self, storage, p):
        return any(x is p for x in self.of.get(storage, ()))

    def hold(self, s, p):
        """Notes where a parameter is."""
        if p.layout is torch.strided and not p.is_nested and not self.has(s.storage(p), p):
            self.of.setdefault(s.storage(p), []).append(p)

    def look(self, s, t):
        """Notes whether the parameter that t is, or those that it is a cast of, are elsewhere by now."""
        for p in [t] if type(t) is torch.nn.Parameter else self.of.get(s.casts.get(s.storage(t)), ()):
            if type(p) is torch.nn.Parameter and p.layout is torch.strided:
                self.compare(s, p)

    def compare(self, s, p):
        at = s.storage(p)
        if self.has(at, p) or at in self.foreign:
            return
        before = [k for k in self.of if self.has(k, p)]
        names = s.program.names
        own = self.weight.get(before[0]) if before else next((names.get(tensor_name(n)) for n, x in
                s.r.model.named_parameters() if x is p), None)
        if own is None:
            self.foreign.add(at)
            return
        self.hold(s, p)
        self.weight[at] = own
        self.new.add(at)
        for k in before or [at]:
            s.rewritten(k)
