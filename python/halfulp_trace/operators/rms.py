# SPDX-License-Identifier: Apache-2.0
"""The norm by the root mean square as GPUs have it, one kernel whose inner values no tensor shows: y = x w / r, where
r^2 = mean(x^2) + eps along the last axes, and its gradients. A kernel sums in float32 in an order of its own, so that a
sum of n terms is granted n unit roundoffs of float32 of their magnitudes, and a root of one n / 2."""
import math

import torch

from ..flat import reshaped
from ..values import snapshot
from .granted import granted, inner, wide
from .norm import rows
from .operands import floats
from .table import operator

STEPS = 16                                       # unit roundoffs of what is no sum


def off(n, t):
    """What a sum that loses n unit roundoffs and the steps around it may be off, relative to its terms' magnitudes."""
    return (n + STEPS) * inner(t)


def mean(s, i, axis, op="reduce_mean"):
    f = torch.mean if op == "reduce_mean" else torch.sum
    data = f(s.values[i].double(), axis, keepdim=True)
    return s.call(op, [i], [("mean", data)], {"axis": axis, "axes": 1, "keep": 1}, library=True, compute="fp64")[0]


def weighed(s, i, w, n):
    """Rows times the weights of their elements, where there are weights."""
    if w is None:
        return i
    k = s.input(w)
    k = s.spread(reshaped(s, k, (1, n)), tuple(s.values[i].shape))
    return wide(s, "mul", torch.mul, i, k)


def usual(square, x, rstd):
    """The eps of a kernel that was given none: that of the operand's format or of float32, whichever the roots show."""
    own = rstd.detach().double().cpu().reshape(-1)
    return min((torch.finfo(t).eps for t in (x.dtype, torch.float32)),
               key=lambda eps: float(((square.reshape(-1) + eps).rsqrt() - own).abs().max()))


@operator("_fused_rms_norm")
def fused_rms_norm(s, a, out):
    x, y, rstd = a["input"], out[0], out[1]
    floats(s, x, y, rstd)
    n = math.prod(a["normalized_shape"])
    i = rows(s, s.input(x), n)
    square = mean(s, wide(s, "mul", torch.mul, i, i), 1)
    eps = usual(s.values[square], x, rstd) if a["eps"] is None else float(a["eps"])
    shifted = wide(s, "add", torch.add, square, s.spread(s.constant(eps, torch.float64), (s.values[i].size(0), 1)))
    r = wide(s, "rsqrt", torch.rsqrt, shifted)
    granted(s, reshaped(s, r, tuple(rstd.shape)), off(n / 2, y) * rstd.detach().double().cpu(), rstd)
    z = weighed(s, wide(s, "mul", torch.mul, i, s.spread(r, tuple(s.values[i].shape))), a["weight"], n)
    granted(s, reshaped(s, z, tuple(y.shape)), off(n / 2, y) * snapshot(y).double().abs(), y)


@operator("_fused_rms_norm_backward")
def fused_rms_norm_backward(s, a, out):
    """dx = (g - h mean(g h)) / r, where g = dy w and h = x / r, and dw, the sum of dy h over the rows."""
    x, dy = a["input"], a["grad_out"]
    floats(s, x, dy, a["rstd"])
    n = math.prod(a["normalized_shape"])
    i, j = rows(s, s.input(x), n), rows(s, s.input(dy), n)
    shape = tuple(s.values[i].shape)
    r = s.spread(reshaped(s, s.input(a["rstd"]), (shape[0], 1)), shape)
    h = wide(s, "mul", torch.mul, i, r)
    if out[0] is not None:
        g = weighed(s, j, a["weight"], n)
        both = wide(s, "mul", torch.mul, g, h)
        taken = wide(s, "mul", torch.mul, h, s.spread(mean(s, both, 1), shape))
        dx = wide(s, "mul", torch.mul, wide(s, "sub", torch.sub, g, taken), r)
        g, h_, both = (s.values[k].double().abs() for k in (g, h, both))
        e = off(n, x) * s.values[r].double() * (g + h_ * both.mean(1, keepdim=True))
        granted(s, reshaped(s, dx, tuple(x.shape)), e.reshape(x.shape), out[0])
    if out[1] is not None:
        terms = wide(s, "mul", torch.mul, j, h)
        dw = mean(s, terms, 0, "reduce_sum")
        e = off(shape[0], x) * s.values[terms].abs().sum(0)
        granted(s, reshaped(s, dw, tuple(out[1].shape)), e.reshape(out[1].shape), out[1])
