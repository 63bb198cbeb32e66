# SPDX-License-Identifier: Apache-2.0
"""Softmax, whose exponentials some kernels keep in 16 bits."""
import math

import torch

from ..values import snapshot, tensors_in
from .operands import floats
from .table import operator

NARROW = (torch.bfloat16, torch.float16)


def kept(x, own, axis):
    """Of a softmax in 16 bits along another axis than the last: distances to the maximum, their exponentials and sums in
    float32, and which elements were made of exponentials in 16 bits. Kernels of the CPU do that to the numbers behind
    the last whole register of those that lie side by side, so to all of them where they fill none."""
    far = x.float() - x.float().amax(axis, True)
    e = torch.exp(far)
    total = e.sum(axis, True)
    columns = math.prod(own.shape[axis + 1:])
    once, twice = ((own != (y / total).to(own.dtype)).reshape(-1, own.shape[axis], columns).sum((0, 1))
                   for y in (e, e.to(own.dtype).float()))
    return far, e, total, (twice < once).reshape(own.shape[axis + 1:]).expand(own.shape)


def shares(s, i, axis, out):
    """The softmax of tensor i that makes out: one call, or a kernel's steps that round exponentials to 16 bits."""
    own, x = snapshot(out), s.values[i]
    far, e, total, twice = None, None, None, None
    if own.dtype in NARROW and x.dtype == own.dtype and axis < own.dim() - 1 and torch.isfinite(own).all():
        far, e, total, twice = kept(x, own, axis)
    if twice is None or not twice.any():
        s.result("softmax", [i], out, {"axis": axis}, library=True)
        return
    shape = tuple(own.shape)
    top = s.call("reduce_max", [i], [("top", x.amax(axis, True))], {"axis": axis, "axes": 1, "keep": 1})[0]
    d = s.call("sub", [i, s.spread(top, shape)], [("far", far)])[0]
    wide = s.call("exp", [d], [("exp", e)], library=True)[0]
    sums = s.call("reduce_sum", [wide], [("sum", total)], {"axis": axis, "axes": 1, "keep": 1}, library=True)[0]
    sums = s.spread(sums, shape)
    narrow = s.call("exp", [d], [("exp16", e.to(own.dtype))], library=True)[0]
    if twice.all():
        s.result("div", [narrow, sums], out, library=True)
        return
    both = [s.call("div", [y, sums], [("y", (s.values[y].float() / total).to(own.dtype))], library=True)[0]
            for y in (narrow, wide)]
    mask = s.add("", twice.to(torch.float32).contiguous(), name="input.kept", cls="other")
    s.result("where", [mask] + both, out)


@operator("_softmax")
def softmax(s, a, out):
    """Shares of exponentials along an axis."""
    out = next(tensors_in(out))
    floats(s, out)
    shares(s, s.input(a["self"]), a["dim"] % a["self"].dim(), out)


@operator("_safe_softmax")
def safe_softmax(s, a, out):
    """softmax, and 0 in a row of which every element is -infinity."""
    x, out = a["self"], next(tensors_in(out))
    floats(s, x, out)
    i, axis = s.input(x), a["dim"] % x.dim()
    data, own = s.values[i], snapshot(out)
    if not (data == -math.inf).all(axis).any():
        shares(s, i, axis, out)
        return
    y = s.call("softmax", [i], [("softmax", torch.softmax(data, axis, dtype=own.dtype))], {"axis": axis},
            library=True)[0]
    top = s.call("reduce_max", [i], [("top", data.amax(axis, True))], {"axis": axis, "axes": 1, "keep": 1})[0]
    none = s.spread(s.constant(-math.inf, data.dtype), tuple(s.values[top].shape))
    empty = s.call("equal", [top, none], [("empty", (s.values[top] == -math.inf).to(torch.float32))])[0]
    empty, zero = s.spread(empty, tuple(own.shape)), s.spread(s.constant(0.0, own.dtype), tuple(own.shape))
    s.result("where", [empty, zero, y], out)
