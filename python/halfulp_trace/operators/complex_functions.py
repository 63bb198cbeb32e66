# SPDX-License-Identifier: Apache-2.0
"""Functions of complex numbers, and quotients of them: what they are made of in fp64, and what a library may be off,
which has no accuracy of each part, in unit roundoffs of the number's magnitude."""
import torch

from ..flat import behind, picked, reshaped
from ..formats import Unknown
from ..values import Value, snapshot
from ..writes import real
from . import arithmetic, compare, complex_sums, elementary, formula, pointwise
from .complex import PAIRS, both, extend, note, pair
from .complex_sums import divided, length, of_pairs
from .granted import granted, unit, wide
from .table import operator

RULES = arithmetic, compare, complex_sums, elementary, formula, pointwise    # whose rules for real numbers stand
OFF = 8                                          # unit roundoffs of a quotient's magnitude, or of a logarithm's parts


def parts(s, i):
    """The real and the imaginary parts of the program's pairs i, one below the other."""
    n = torch.arange(s.values[i].numel() // 2)[:, None]
    return picked(s, [i], 2 * n, "re"), picked(s, [i], 2 * n + 1, "im")


def times(s, x, y):
    return wide(s, "mul", torch.mul, x, y)


def exp(s, a, z):
    """The exponential of the real part times the cosine and the sine of the imaginary one."""
    re, im = parts(s, pair(s, a["self"]))
    size, own = wide(s, "exp", torch.exp, re), torch.view_as_real(z)
    turned = [times(s, size, wide(s, op, f, im)) for op, f in (("cos", torch.cos), ("sin", torch.sin))]
    granted(s, behind(s, turned, 1), (OFF * unit(own) * s.values[size]).expand(-1, 2).reshape(own.shape), own)


def quotient(s, x, y, z):
    """x times the conjugate of y, over the square of y's magnitude."""
    shape, own = tuple(z.shape) + (2,), torch.view_as_real(z)
    (p, q), (u, v) = (parts(s, s.spread(pair(s, t), shape)) for t in (x, y))
    over = wide(s, "add", torch.add, times(s, u, u), times(s, v, v))
    if not s.values[over].all():
        raise Unknown("a division by 0")
    re = wide(s, "add", torch.add, times(s, p, u), times(s, q, v))
    im = wide(s, "sub", torch.sub, times(s, q, u), times(s, p, v))
    both = behind(s, [wide(s, "div", torch.div, k, over) for k in (re, im)], 1)
    granted(s, both, OFF * unit(own) * z.detach().abs().double()[..., None].expand(own.shape), own)


def over(s, a, z):
    y = a["other"]
    if isinstance(y, PAIRS) or isinstance(y, torch.Tensor) and y.is_complex():
        quotient(s, a["self"], y, z)
    else:
        divided(s, a, z)


def log(s, a, z):
    """The logarithm of the magnitude, and the angle."""
    i, squares = length(s, a["self"])
    if not s.values[squares].all():
        raise Unknown("a logarithm of 0")
    re, im = parts(s, i)
    size = wide(s, "log", torch.log, reshaped(s, squares, s.values[re].shape))
    size = wide(s, "scale", lambda x: x / 2, size, factor=0.5)
    own = torch.view_as_real(z)
    both = behind(s, [size, wide(s, "atan2", torch.atan2, im, re)], 1)
    granted(s, both, OFF * unit(own) * (1 + own.detach().double().abs()), own)


def from_other(s, a, z):
    """The number less self."""
    both(s, {"self": a["other"], "other": a["self"], "alpha": a["alpha"]}, z, "sub")


extend("exp", exp)
extend("rsub", from_other)
extend("div", over)
extend("reciprocal", lambda s, a, z: quotient(s, 1.0, a["self"], z))
extend("log", log)


@operator("angle")
def angle(s, a, out):
    if not a["self"].is_complex():
        raise Unknown("the angle of a real number")
    re, im = parts(s, pair(s, a["self"]))
    granted(s, wide(s, "atan2", torch.atan2, im, re), OFF * unit(out) * out.detach().double().abs(), out)


@operator("_conj")
def conjugate(s, a, out):
    """That of a number which PyTorch made a tensor of; others are views."""
    x, view = a["self"], real(s, out)
    if isinstance(x, torch.Tensor) and x.is_conj() or not out.is_conj():
        raise Unknown("a conjugate in memory of its own")
    s.known[s.key(view)] = Value(snapshot(view), {"plain": pair(s, x)})


def equal(s, a, t):
    """Both parts are."""
    shape = tuple(t.shape) + (2,)
    ids = [s.spread(pair(s, x), shape) for x in (a["self"], a["other"])]
    same = s.call("equal", ids, [("same", (s.values[ids[0]].double() == s.values[ids[1]].double()).float())])[0]
    left, right = (reshaped(s, i, tuple(t.shape)) for i in parts(s, same))
    s.result("logical_and", [left, right], t, role="mask")


def where(s, a, z):
    shape, c = tuple(z.shape) + (2,), s.input(a["condition"])
    c = s.spread(reshaped(s, c, tuple(s.values[c].shape) + (1,)), shape)
    note(s, "where", [c] + [s.spread(pair(s, a[k]), shape) for k in ("self", "other")], z)


of_pairs("eq", equal)
extend("where", where)
