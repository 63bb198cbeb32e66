# SPDX-License-Identifier: Apache-2.0
"""What a step's tensors depend on: what is learned, what no rule takes, and which whole numbers and truth values made of
what is learned decide how the run goes on."""
from .formats import FORMATS, WHOLE
from .values import geometry

LOOKS = {"any", "all", "isfinite", "isinf"}      # operators by which a training looks at values, and goes on


class Choices:
    """The part of Tensors that asks."""

    def taint(self, value):
        """Whether a Value depends on an opaque call."""
        return value.late is not None or not self.program.tainted.isdisjoint([*value.ids.values(), *value.behind])

    def learned(self, t):
        """Whether a tensor of floats depends on a parameter."""
        return t.dtype in FORMATS and any(self.is_learned(i) for i in self.operands([self.old(t)]))

    def is_learned(self, i):
        tensors = self.program.tensors
        return bool(tensors[i].get("trainable")) or (
            self.program.nearest(i, lambda k: tensors[k].get("trainable")) is not None)

    def mark(self, tensors):
        """Gives `choice` to whole numbers and truth values by which the run goes on."""
        for i in self.decisions(tensors):
            self.program.tensors[i]["choice"] = True

    def decisions(self, tensors):
        """Those of the program's tensors that hold whole numbers and truth values which calls made of what is
        learned."""
        found = []
        for t in tensors:
            above = t if t.dtype in WHOLE else None
            while above is not None and self.key(above) not in self.known:
                above = self.parent.get((self.storage(above), geometry(above)))
            value = self.was.get(id(t)) or (self.known[self.key(above)] if above is not None else None)
            if t.dtype in WHOLE and value is not None:
                found += self.deciders(value)
        return found

    def choose(self, value):
        for i in self.deciders(value):
            self.program.tensors[i]["choice"] = True

    def deciders(self, value):
        found = []
        for i in value.ids.values():
            while i in self.program.maker and self.program.made_by(i)["op"] == "move":
                i = self.program.made_by(i)["in"][0]     # which has each element once
            if i in self.program.maker and self.is_learned(i):
                found.append(i)
        return found

    def decided(self, operands, *results):
        """Notes whole numbers and truth values that an operator chose by its operands' values: they are taken as
        recorded, unless the operands depend on what no rule takes."""
        values = [self.old(t) for t in operands]
        if self.running[0]._schema.name.partition("::")[2] not in LOOKS:
            self.mark(operands)
        for t in results:
            if any(self.taint(v) for v in values):
                self.opaque(self.running[0]._schema.name.replace("::", "."), "its operands depend on what has no rule",
                        values, [t])
            else:
                self.known[self.key(t)] = self.unmade(t, "chosen")
