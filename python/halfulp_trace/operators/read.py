# SPDX-License-Identifier: Apache-2.0
"""Numbers that Python reads of tensors, as item() and float() do. What is made of them no operator shows: a factor of a
clipping by hand is 0 where the norm that was read had overflowed. Whether two tensors are equal, or close, is a choice
by their values."""
import torch

from ..formats import FORMATS
from .formula import VALUES, Formula
from .table import operator


@operator("_local_scalar_dense")
def read(s, a, out):
    s.reads.note(s, a["self"].detach())


@operator("equal", "allclose")
def same(s, a, out):
    x, y = a["self"], a["other"]
    if x.dtype not in FORMATS or x.dtype != y.dtype or x.size() != y.size() or not (s.learned(x) or s.learned(y)):
        return
    i, j = s.elements(x), s.elements(y)
    if "atol" in a:
        m = Formula(s, x)
        limit = m("add", m("scale", m("abs", j), factor=float(a["rtol"])), float(a["atol"]))
        i, j, op = m("abs", m("sub", i, j)), limit, "less_equal"
    else:
        op = "equal"
    each = VALUES[op](s.values[i], s.values[j]).to(torch.float32)
    held = s.call(op, [i, j], [("same", each)])
    held = s.call("reduce_min", held, [("all", each.min())])
    s.reads.seen.append((torch.bool, held, s.reads.writes))
