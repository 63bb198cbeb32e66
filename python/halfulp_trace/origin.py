# SPDX-License-Identifier: Apache-2.0
"""Where the first number of a step came from that is not finite, for metrics.tsv. `analyze` says why, too."""
import math

from .kept import MOVES


class Finite:
    """What of a step's tensors is not finite, looked at once."""

    def __init__(self, values):
        self.values, self.seen = values, {}

    def of(self, i):
        """How many elements of tensor i are infinite, and how many are NaN."""
        if i not in self.seen:
            t = self.values[i]
            t = t.float() if t.element_size() == 1 else t
            low, high = (float(x) for x in t.aminmax()) if t.numel() else (0.0, 0.0)
            fine = math.isfinite(low) and math.isfinite(high)
            self.seen[i] = (0, 0) if fine else (int(t.isinf().count_nonzero()), int(t.isnan().count_nonzero()))
        return self.seen[i]


def origin(program, values):
    """The call, the tensor's name and how many of its elements are not finite: of the first call whose operands are
    finite and whose result is not, though no fill asked for it; else of the first that made NaN of infinities. None
    where there is neither."""
    finite, made = Finite(values), None
    for c in program.calls:
        if not all(i in values for i in c["in"] + c["out"]):
            continue
        bad = next((i for i in c["out"] if finite.of(i) != (0, 0)), None)
        if bad is None or c["op"] in MOVES:
            continue
        infinite, nan = (sum(finite.of(i)[k] for i in c["in"]) for k in (0, 1))
        asked = any(math.isinf(float(c["attr"].get(k, 0))) for k in ("fill", "value"))
        if not infinite and not nan and not asked:
            return c["id"], program.tensors[bad]["name"], sum(finite.of(bad))
        if not nan and finite.of(bad)[1] and made is None:
            made = c["id"], program.tensors[bad]["name"], finite.of(bad)[1]
    return made
