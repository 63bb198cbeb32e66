# SPDX-License-Identifier: Apache-2.0
"""Products of groups of rows or columns, as mixtures of experts have them: a product for each group."""
import torch

from ..flat import behind, picked
from ..formats import Unknown
from ..values import Value, snapshot
from .operands import floats
from .table import operator


def part(s, i, axis, start, stop, role):
    """A slice of a tensor of the program along an axis, and of one element along the first axis without that axis."""
    x = s.values[i]
    if start == 0 and stop == x.size(axis):
        return i
    at = torch.arange(x.numel()).reshape(x.shape).narrow(axis, start, stop - start)
    return picked(s, [i], at, role)


def expert(s, i, k, role):
    x = s.values[i]
    return picked(s, [i], torch.arange(x.numel()).reshape(x.shape)[k], role)


@operator("_grouped_mm", "_grouped_mm_fallback")
def grouped_mm(s, a, out):
    x, y = a["self"], a["mat2"]
    floats(s, x, y, out)
    if a.get("bias") is not None or a["offs"] is None:
        raise Unknown("a bias, or no groups")
    ends = [0] + [int(n) for n in a["offs"]]
    i, j, own = s.input(x), s.input(y), snapshot(out)
    ids = []
    for k, (start, stop) in enumerate(zip(ends, ends[1:])):
        if x.dim() == 2 and y.dim() == 3:        # rows of x, a matrix each group
            data, l, r = own[start:stop], lambda: part(s, i, 0, start, stop, "rows"), lambda: expert(s, j, k, "w")
        elif x.dim() == 3:                       # columns of y
            data, l, r = own[:, start:stop], lambda: expert(s, i, k, "w"), lambda: part(s, j, 1, start, stop, "columns")
        else:                                    # the axis that is summed up
            data, l, r = own[k], lambda: part(s, i, 1, start, stop, "rows"), lambda: part(s, j, 0, start, stop, "rows")
        if start == stop:                        # a group of nothing has a product of zeros, or none
            if x.dim() == 2 and y.dim() == 2:
                ids.append(s.constant(0, out.dtype, tuple(data.shape)))
            continue
        ids.append(s.call("matmul", [l(), r()], [("y", data.contiguous())], {"ta": 0, "tb": 0}, library=True)[0])
    if not ids:
        raise Unknown("no rows")
    axis = 1 if x.dim() == 3 else 0
    rest = own.narrow(axis, ends[-1], own.size(axis) - ends[-1]) if y.dim() != x.dim() else own[:0]
    if rest.numel():
        raise Unknown("rows of no group")
    i = behind(s, ids, axis)
    if y.dim() == x.dim() == 2:
        i = picked(s, [i], torch.arange(own.numel()).reshape(own.shape), "y")
    s.known[s.key(out)] = Value(own, {"plain": i})
