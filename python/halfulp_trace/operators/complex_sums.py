# SPDX-License-Identifier: Apache-2.0
"""Sums, means, products of matrices, quotients and magnitudes of complex numbers, as those of pairs of real ones."""
import torch

from ..flat import picked, reshaped
from ..formats import FORMATS, Unknown
from ..values import Value, snapshot
from ..writes import real
from . import elementary, matmul, pointwise
from .complex import extend, note, pair
from .reduce import axes_of, reduced
from .table import OPERATORS, operator

RULES = elementary, matmul, pointwise            # whose rules for real numbers stand


def summed(op):
    def rule(s, a, z):
        x = a["self"]
        dims = axes_of(x, a.get("dim"))
        if not x.is_complex() or not dims:
            raise Unknown("a complex sum of nothing, or of real numbers")
        reduced(s, op, real(s, x), dims, torch.view_as_real(z), i=pair(s, x))
    return rule


def divided(s, a, z):
    x, y = a["self"], a["other"]
    if not isinstance(x, torch.Tensor) or not x.is_complex() or a.get("rounding_mode"):
        raise Unknown("a complex divisor")
    shape = tuple(z.shape) + (2,)
    if isinstance(y, torch.Tensor) and y.dtype in FORMATS:
        k = s.input(y)
        k = s.spread(reshaped(s, k, tuple(s.values[k].shape) + (1,)), shape)
    elif isinstance(y, (int, float)):
        k = s.spread(s.constant(y, torch.float32 if z.dtype == torch.complex64 else torch.float64), shape)
    else:
        raise Unknown("a complex divisor")
    note(s, "div", [s.spread(pair(s, x), shape), k], z)


def product(s, a, z):
    """Rows of real and imaginary parts: [re -im; im re] times [re; im]."""
    x, y = a["self"], a["mat2"]
    if not x.is_complex() or not y.is_complex():
        raise Unknown("a complex and a real matrix")
    i, j, (n, k), m = pair(s, x), pair(s, y), x.shape[-2:], y.shape[-1]
    minus = s.call("neg", [i], [("minus", -s.values[i])])[0]
    total = s.values[i].numel()
    at = 2 * torch.arange(total // 2).reshape(-1, n, 1, k, 1) + torch.tensor([[0, total + 1], [1, 0]]).reshape(2, 1, 2)
    left = picked(s, [i, minus], at.reshape(-1, 2 * n, 2 * k), "rows")
    at = 2 * torch.arange(y.numel()).reshape(-1, k, 1, m) + torch.tensor([0, 1]).reshape(2, 1)
    right = picked(s, [j], at.reshape(-1, 2 * k, m), "columns")
    own = torch.view_as_real(z.detach())
    data = own.reshape(-1, n, m, 2).permute(0, 1, 3, 2).reshape(-1, 2 * n, m).contiguous()
    made = s.call("matmul", [left, right], [("parts", data)], {"ta": 0, "tb": 0, "batch": 1}, library=True)[0]
    at = torch.arange(data.numel()).reshape(-1, n, 2, m).permute(0, 1, 3, 2).reshape(own.shape)
    view = torch.view_as_real(z)
    s.known[s.key(view)] = Value(snapshot(view), {"plain": picked(s, [made], at)})


def length(s, x):
    """The pairs of x, and the program's tensor of the squares of their magnitudes in float64: PyTorch rounds the
    magnitudes once."""
    i = pair(s, x)
    squares = s.values[i].double().square()
    j = s.call("mul", [i, i], [("squares", squares)])[0]
    at = {"axis": squares.dim() - 1, "axes": 1}
    return i, s.call("reduce_sum", [j], [("norm2", squares.sum(-1))], at, library=True)[0]


def sign(s, a, z):
    """A number divided by its magnitude."""
    i, j = length(s, a["self"])
    if not s.values[j].all():
        raise Unknown("the sign of 0")
    root = s.call("sqrt", [j], [("norm", s.values[j].sqrt())], library=True)[0]
    shape = tuple(s.values[i].shape)
    k = s.spread(reshaped(s, root, shape[:-1] + (1,)), shape)
    note(s, "div", [i, k], z)


def of_pairs(name, complex_rule):
    """Real results of an operator of complex numbers that has a rule for real ones."""
    plain = OPERATORS.pop(name)

    @operator(name)
    def rule(s, a, out):
        t = out[0] if isinstance(out, (list, tuple)) else out
        complex_rule(s, a, t) if a["self"].is_complex() else plain(s, a, out)


extend("sum", summed("reduce_sum"))
extend("mean", summed("reduce_mean"))
extend("neg", lambda s, a, z: note(s, "neg", [pair(s, a["self"])], z))
extend("div", divided)
extend("mm", product)
extend("bmm", product)
extend("sgn", sign)
of_pairs("abs", lambda s, a, t: s.result("sqrt", [length(s, a["self"])[1]], t, library=True))
