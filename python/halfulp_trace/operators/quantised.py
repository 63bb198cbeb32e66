# SPDX-License-Identifier: Apache-2.0
"""Values that are rounded to codes and back, as training with simulated quantisation has them."""
import torch

from ..flat import reshaped
from ..formats import Unknown
from ..moves import permuting_move
from ..values import Value, snapshot
from .operands import floats
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
