# SPDX-License-Identifier: Apache-2.0
"""Complex numbers as pairs of real ones: the program has a tensor of them with one more axis, of real and imaginary
parts. A product is one of a matrix of 2 by 2 and a pair."""
import torch

from ..flat import behind, picked, reshaped
from ..formats import FORMATS, WHOLE, Unknown
from ..values import Value, snapshot
from ..writes import real
from . import arithmetic, copies
from .table import OPERATORS, operator

PAIRS = type(1j)                                 # a number of Python's


def pair(s, z):
    """The program's tensor [..., 2] of a complex tensor, or of a number."""
    if not isinstance(z, torch.Tensor):
        data = torch.view_as_real(torch.tensor(z, dtype=torch.complex128))
        return s.add("", data, name="const.pair", cls="other")
    if not z.is_complex():
        i = s.input(z)
        shape = tuple(s.values[i].shape) + (1,)
        zero = s.spread(s.constant(0, s.values[i].dtype, (1,)), shape)
        return behind(s, [reshaped(s, i, shape), zero], len(shape) - 1)
    was = s.was.get(id(z))                       # before the operator wrote to it
    i = s.input(real(s, z)) if was is None else s.ids(was)
    if not z.is_conj():
        return i
    minus = s.call("neg", [i], [("minus", -s.values[i])])[0]
    n = s.values[i].numel()
    at = torch.arange(n).reshape(-1, 2) + torch.tensor([0, n])
    return picked(s, [i, minus], at.reshape(s.values[i].shape), "conjugate")


def note(s, op, inputs, z, attr=None, role="y", shape=None, **how):
    """The call that makes a complex tensor."""
    own = snapshot(torch.view_as_real(z))
    data = own if shape is None else own.reshape(shape)
    i = s.call(op, inputs, [(role, data)], attr, library=True, **how)[0]
    s.known[s.key(torch.view_as_real(z))] = Value(own, {"plain": reshaped(s, i, own.shape, role)})


def scaled(s, x, y, z):
    """A complex number and a real one."""
    if isinstance(x, torch.Tensor) and not x.is_complex():
        x, y = y, x
    shape = tuple(z.shape) + (2,)
    i = s.spread(pair(s, x), shape)
    if isinstance(y, torch.Tensor) and (y.dtype in FORMATS or y.dtype in WHOLE):
        k = s.input(y)
        k = s.spread(reshaped(s, k, tuple(y.shape) + (1,)), shape)
        note(s, "mul", [i, k], z)
    elif isinstance(y, (int, float)):
        note(s, "scale", [i], z, {"factor": float(y)})
    else:
        raise Unknown("a complex factor")


def times(s, a, z):
    x, y = a["self"], a["other"]
    if not all(isinstance(t, PAIRS) or isinstance(t, torch.Tensor) and t.is_complex() for t in (x, y)):
        return scaled(s, x, y, z)
    i, j = pair(s, x), pair(s, y)
    minus = s.call("neg", [i], [("minus", -s.values[i])])[0]
    n, m = s.values[i].numel(), z.numel()

    def spread(t, k):
        at = torch.arange(s.values[k].numel() // 2).reshape(getattr(t, "shape", ()))
        return at.broadcast_to(z.shape).reshape(-1, 1)
    rows = 2 * spread(x, i) + torch.tensor([[0, n + 1, 1, 0]])       # re, -im; im, re
    left = picked(s, [i, minus], rows.reshape(m, 2, 2), "rows")
    right = picked(s, [j], (2 * spread(y, j) + torch.tensor([[0, 1]])).reshape(m, 2, 1), "column")
    note(s, "matmul", [left, right], z, {"ta": 0, "tb": 0, "batch": 1}, shape=(m, 2, 1))


def both(s, a, z, op):
    x, y = a["self"], a["other"]
    alpha = a.get("alpha", 1)
    if not isinstance(alpha, (int, float)):
        raise Unknown("a complex factor")
    shape = tuple(z.shape) + (2,)
    ids = [s.spread(pair(s, x), shape), s.spread(pair(s, y), shape)]
    if alpha == 1:
        note(s, op, ids, z)
    else:
        note(s, "axpby", ids, z, {"alpha": 1.0, "beta": float(alpha if op == "add" else -alpha)})


RULES = arithmetic, copies                       # whose rules for real numbers stand


def extend(name, complex_rule):
    """Complex results of an operator that has a rule for real ones."""
    plain = OPERATORS.pop(name)

    @operator(name)
    def rule(s, a, out):
        z = out[0] if isinstance(out, (list, tuple)) else out
        complex_rule(s, a, z) if isinstance(z, torch.Tensor) and z.is_complex() else plain(s, a, out)


def copied(s, a, z):
    i = pair(s, a["self"])
    s.known[s.key(torch.view_as_real(z))] = Value(s.values[i], {"plain": i})


@operator("polar")
def polar(s, a, out):
    """Lengths and angles."""
    length, angle = a["abs"], a["angle"]
    parts = []
    for op, f in (("cos", torch.cos), ("sin", torch.sin)):
        i = s.input(angle)
        c = s.call(op, [i], [(op, f(s.values[i].double()))], library=True)[0]
        data = snapshot(torch.view_as_real(out)[..., 0 if op == "cos" else 1])
        k = s.call("mul", [s.spread(s.input(length), tuple(data.shape)), c], [("part", data)], library=True)[0]
        parts.append(reshaped(s, k, tuple(data.shape) + (1,)))
    i = behind(s, parts, out.dim())
    s.known[s.key(torch.view_as_real(out))] = Value(s.values[i], {"plain": i})


@operator("complex")
def complex(s, a, out):
    shape = tuple(out.shape)
    ids = [reshaped(s, s.spread(s.input(a[k]), shape), shape + (1,)) for k in ("real", "imag")]
    i = behind(s, ids, out.dim())
    s.known[s.key(torch.view_as_real(out))] = Value(s.values[i], {"plain": i})


extend("mul", times)
extend("add", lambda s, a, z: both(s, a, z, "add"))
extend("sub", lambda s, a, z: both(s, a, z, "sub"))
extend("clone", copied)
