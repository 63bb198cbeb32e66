# SPDX-License-Identifier: Apache-2.0
"""Complex numbers as pairs of real ones: the program has a tensor of them with one more axis, of real and imaginary
parts. A product is one of a matrix of 2 by 2 and a pair."""
import torch

from ..flat import behind, picked, reshaped
from ..formats import FORMATS, Unknown
from ..values import Value, geometry, snapshot
from . import arithmetic, copies
from .table import OPERATORS, operator


def real(s, z):
    """A complex tensor's real view, by which the step knows it."""
    z = z.detach()
    z = z.conj() if z.is_conj() else z
    view, storage = torch.view_as_real(z), s.storage(z)
    parent = s.parent.get((storage, geometry(z)))
    if s.key(view) not in s.known and parent is not None and parent.is_complex() and (
            (storage, geometry(view)) not in s.parent):
        s.parent[storage, geometry(view)] = real(s, parent)
    return view


def pair(s, z):
    """The program's tensor [..., 2] of a complex tensor."""
    i = s.input(real(s, z))
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
    if isinstance(y, torch.Tensor) and y.dtype in FORMATS:
        k = s.input(y)
        k = s.spread(reshaped(s, k, tuple(y.shape) + (1,)), shape)
        note(s, "mul", [i, k], z)
    elif isinstance(y, (int, float)):
        note(s, "scale", [i], z, {"factor": float(y)})
    else:
        raise Unknown("a complex factor")


def times(s, a, z):
    x, y = a["self"], a["other"]
    if not isinstance(y, torch.Tensor) or not y.is_complex() or not x.is_complex():
        return scaled(s, x, y, z)
    i, j = pair(s, x), pair(s, y)
    minus = s.call("neg", [i], [("minus", -s.values[i])])[0]
    n, m = s.values[i].numel(), z.numel()

    def spread(t, k):
        return torch.arange(s.values[k].numel() // 2).reshape(t.shape).broadcast_to(z.shape).reshape(-1, 1)
    rows = 2 * spread(x, i) + torch.tensor([[0, n + 1, 1, 0]])       # re, -im; im, re
    left = picked(s, [i, minus], rows.reshape(m, 2, 2), "rows")
    right = picked(s, [j], (2 * spread(y, j) + torch.tensor([[0, 1]])).reshape(m, 2, 1), "column")
    note(s, "matmul", [left, right], z, {"ta": 0, "tb": 0, "batch": 1}, shape=(m, 2, 1))


def both(s, a, z, op):
    x, y = a["self"], a["other"]
    if not isinstance(y, torch.Tensor) or not y.is_complex() or not x.is_complex() or a.get("alpha", 1) != 1:
        raise Unknown("a complex and a real operand")
    shape = tuple(z.shape) + (2,)
    note(s, op, [s.spread(pair(s, x), shape), s.spread(pair(s, y), shape)], z)


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
