# SPDX-License-Identifier: Apache-2.0
"""States that a hand-written update makes in a recorded step, such as a first moment or a compensation that begins at
zero: only the next recorded step, which reads them, tells that they are states."""
from .rundir import digest_of
from .values import fingerprint


class Born:
    """The tensors that the update of a recorded step made and wrote to, and that something else keeps."""

    def __init__(self):
        self.made = {}                           # by storage: itself, the step, the program's tensors, a fingerprint

    def note(self, s):
        """Takes those of a step that ends."""
        self.made, steps = {}, s.program.steps
        if not steps or steps[-1]["step"] != s.r.number:
            return                               # which was not written
        shapes = {tuple(s.values[w].shape) for w in s.weights.values() if w in s.values}
        for name in s.born & s.updated:
            held = s.alive[name]
            if getattr(held, "get", lambda: None)() is None:
                continue
            own = [(v, g, value) for (of, v, g), value in s.known.items() if of == name]
            last = max(own, key=lambda o: o[0], default=None)
            first = next((value for v, g, value in own if v == 0 and last[1] == g), None)
            if last is None or first is None or last[2].data is None or tuple(last[2].data.shape) not in shapes:
                continue
            before, after = first.ids.get("plain"), last[2].ids.get("plain")
            if before is not None and after is not None and before != after and before not in s.program.maker:
                self.made[name, last[1]] = held, before, after, fingerprint(last[2].data)

    def link(self, program, rows, key, data):
        """The state that a tensor was at the begin of this step it was in the step before, too. rows: of metrics.tsv,
        where the digest counts states."""
        held, before, after, mark = self.made.pop(key, (None, None, None, None))
        if held is None or mark != fingerprint(data) or not rows or rows[-1]["step"] != program.steps[-1]["step"]:
            return
        info = program.tensors[before]
        if info.get("state"):
            return
        info.update({"state": True, "class": "other"})
        program.steps[-1]["next"][str(before)] = after
        total = int(rows[-1]["digest"], 16) + digest_of(info["name"], data)
        rows[-1]["digest"] = "0x%016x" % (total % (1 << 64))
