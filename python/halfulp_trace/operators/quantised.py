# SPDX-License-Identifier: Apache-2.0
"""Values that are rounded to codes and back, as training with simulated quantisation has them, and the scales of codes
that PyTorch measures."""
import torch

from ..flat import reshaped
from ..formats import FORMATS, Unknown
from ..moves import permuting_move
from ..values import Value, snapshot
from .formula import Formula
from .operands import floats
from .reduce import along
from .table import operator


def fake(s, x, scale, zero, low, high, out, axis=None):
    """out is min(max(rint(x / scale), low - zero), high - zero) scale; the quotient must not be so near to a half that
    its rounding decides."""
    y, mask = out
    floats(s, x, y)
    zeros = torch.as_tensor(zero).reshape(-1).to(torch.float64)
    if (zeros != zeros[0]).any():
        raise Unknown("zero points that differ")
    s.decided([x], mask)
    own, order = snapshot(y), list(range(x.dim()))
    i = s.input(x)
    if axis is None:
        i = reshaped(s, i, (x.numel(), 1))
    elif axis != x.dim() - 1:
        order.append(order.pop(axis))
        i = s.call("move", [i], [("x@last", s.values[i].permute(order).contiguous())],
                permuting_move(list(x.size()), order))[0]
    wide = torch.as_tensor(scale).reshape(-1).to(torch.float32).cpu()
    k = s.input(scale) if isinstance(scale, torch.Tensor) else s.add("", wide, name="input.scale", cls="other")
    ends = {"low": float(low - zeros[0]), "high": float(high - zeros[0])}
    data = (s.values[i].double() / wide.double()).round().clamp(*ends.values())
    last = own.reshape(-1, 1) if axis is None else own.permute(order).contiguous()
    if not torch.equal((data * wide.double()).to(last.dtype), last):
        raise Unknown("codes that rounding decides")
    j = s.call("fake_quantise", [i, reshaped(s, k, (wide.numel(),))], [("y", last)], ends, library=True)[0]
    if axis is None:
        j = reshaped(s, j, own.shape, "y")
    elif order != list(range(x.dim())):
        back = [order.index(d) for d in range(x.dim())]
        j = s.call("move", [j], [("y", own)], permuting_move(list(last.shape), back))[0]
    s.known[s.key(y)] = Value(own, {"plain": j})


@operator("fake_quantize_per_tensor_affine_cachemask")
def per_tensor(s, a, out):
    fake(s, a["self"], a["scale"], a["zero_point"], a["quant_min"], a["quant_max"], out)


@operator("fake_quantize_per_channel_affine_cachemask")
def per_channel(s, a, out):
    fake(s, a["self"], a["scale"], a["zero_point"].cpu(), a["quant_min"], a["quant_max"], out, a["axis"])


@operator("_fake_quantize_per_tensor_affine_cachemask_tensor_qparams")
def per_tensor_measured(s, a, out):
    """The same by a scale and a zero point that are tensors, unless a third one says that nothing is rounded."""
    if not int(a["fake_quant_enabled"]):
        s.known[s.key(out[0])] = s.old(a["self"])
        s.decided([a["self"]], out[1])
        return
    fake(s, a["self"], a["scale"], a["zero_point"].cpu(), a["quant_min"], a["quant_max"], out)


@operator("_fused_moving_avg_obs_fq_helper")
def measured(s, a, out):
    """Averages of the smallest and the largest element, the scale that they give, and values rounded by it."""
    x, per_row = a["self"], a["per_row_fake_quant"]
    ends = [a["running_min"], a["running_max"]]
    if int(a["observer_on"]):
        dims = [d for d in range(x.dim()) if not per_row or d != a["ch_axis"] % x.dim()]
        held = [averaged(s, x, op, dims, t, a["averaging_const"]) for op, t in zip(("reduce_min", "reduce_max"), ends)]
        if int(a["fake_quant_on"]):
            scaled(s, a, held)
    if not int(a["fake_quant_on"]):
        s.known[s.key(out[0])] = s.old(x)
        s.decided([x], out[1])
        return
    if int(a["observer_on"]):
        del s.was[id(a["scale"])]                # which has been computed by now
    fake(s, x, a["scale"], a["zero_point"].cpu(), a["quant_min"], a["quant_max"], out,
            a["ch_axis"] if per_row else None)


def averaged(s, x, op, dims, t, factor):
    """The call that makes the average t go on to the extreme of x; it begins as that."""
    i, own = s.input(x), snapshot(t)
    wide = s.values[i]
    data = (wide.amin if op == "reduce_min" else wide.amax)(dims)
    i, axes = along(s, i, dims)
    i = reshaped(s, s.call(op, [i], [("extreme", data)], axes)[0], own.shape)
    if s.values[i].dtype != own.dtype:
        i = s.call("cast", [i], [("extreme@" + FORMATS[own.dtype], s.values[i].to(own.dtype))])[0]
    before = s.old(t)
    if not before.data.isfinite().any():
        if not torch.equal(s.values[i], own):
            raise Unknown("an average that begins in another way")
        s.known[s.key(t)] = Value(own, {"plain": i})
        return i
    return s.result("lerp", [s.get(before), i], t, {"factor": float(factor)}, role="extreme", library=True)


def scaled(s, a, ends):
    """The scale is the width of the interval, which has 0 in it, over the number of codes; with symmetric codes that
    of the longer side."""
    t, low, high = a["scale"], a["quant_min"], a["quant_max"]
    m = Formula(s, t)
    least, most = (m.shaped(i, tuple(t.shape)) for i in ends)
    below, above = m("min", least, 0.0), m("max", most, 0.0)
    width, half = m("sub", above, below), (high - low) // 2
    if a["symmetric_quant"]:                     # of intervals with numbers of both signs
        longer = m("max", m("div", m("neg", below), float(half + 1)), m("div", above, float(half)))
        both = m("logical_and", m("less", below, 0.0), m("greater", above, 0.0))
        width = m("where", both, m("mul", longer, float(2 * half + 1)), width)
    parts = high - low
    exact = m.values(width) / parts
    if ((exact.to(t.dtype).double() - snapshot(t).double()).abs() > 2 ** -22 * exact).any():
        raise Unknown("a scale that is limited")
    m.end("div", width, float(parts), library=True)
    s.decided([a["self"]], a["zero_point"])
