# SPDX-License-Identifier: Apache-2.0
"""Products of matrices."""
import torch

from ..formats import Unknown
from ..moves import flat_move
from ..values import geometry
from .operands import floats
from .table import operator


def matrix(s, t):
    """A factor of a product as the program has it, and whether it is stored transposed."""
    key = s.key(t)
    parent = s.parent.get((key[0], key[2]))
    if key not in s.known and parent is not None and parent.dtype == t.dtype and parent.dim() == t.dim() >= 2:
        swapped = parent.transpose(-1, -2)
        if geometry(swapped) == geometry(t):
            return s.input(parent), 1
    return s.input(t), 0


def product(s, x, y, out, batch=0):
    floats(s, out)
    (i, ta), (j, tb) = x, y
    s.result("matmul", [i, j], out, dict({"ta": ta, "tb": tb}, **({"batch": batch} if batch else {})), library=True)


@operator("mm")
def mm(s, a, out):
    product(s, matrix(s, a["self"]), matrix(s, a["mat2"]), out)


@operator("bmm")
def bmm(s, a, out):
    product(s, matrix(s, a["self"]), matrix(s, a["mat2"]), out, 1)


def beside(s, i, j, axis):
    """Two tensors of the program, one behind the other along an axis."""
    data = torch.cat([s.values[i], s.values[j]], axis)
    name = s.program.tensors[i]["name"]
    return s.call("concat", [i, j], [(name.rpartition(".")[2].split("@")[0] + "@more", data)], {"axis": axis},
            layer=name.rpartition(".")[0])[0]


@operator("addmm")
def addmm(s, a, out):
    """A product and a bias that are rounded once are one product: [x 1] [w; b]."""
    b, x, w = a["self"], a["mat1"], a["mat2"]
    if a["alpha"] != 1 or a["beta"] != 1 or b.numel() != out.size(-1):
        raise Unknown("factors")
    (i, ta), (j, tb), k = matrix(s, x), matrix(s, w), s.input(b)
    row = [b.numel(), 1] if tb else [1, b.numel()]
    k = s.call("move", [k], [("b@row", s.values[k].reshape(row))], flat_move(row))[0]
    one = s.constant(1, x.dtype, (1, x.size(0)) if ta else (x.size(0), 1))
    product(s, (beside(s, i, one, 0 if ta else 1), ta), (beside(s, j, k, 1 if tb else 0), tb), out)
