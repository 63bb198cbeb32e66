# SPDX-License-Identifier: Apache-2.0
"""Products with vectors: of matrices with one row or column."""
from ..flat import reshaped
from ..values import Value, snapshot
from .matmul import matrix
from .operands import floats
from .table import operator


@operator("dot", "vdot")
def dot(s, a, out):
    x, y = s.input(a["self"]), s.input(a["tensor"] if "tensor" in a else a["other"])
    vector(s, (reshaped(s, x, (1, a["self"].numel())), 0), y, out)


@operator("mv")
def mv(s, a, out):
    vector(s, matrix(s, a["self"]), s.input(a["vec"]), out)


def vector(s, x, y, out):
    """The matrix x, which may be stored transposed, times the vector y."""
    floats(s, out)
    (i, ta), own = x, snapshot(out)
    n = s.values[y].numel()
    made = s.call("matmul", [i, reshaped(s, y, (n, 1))], [("y@column", own.reshape(-1, 1))], {"ta": ta, "tb": 0},
            library=True)[0]
    s.known[s.key(out)] = Value(own, {"plain": reshaped(s, made, own.shape, "y")})
