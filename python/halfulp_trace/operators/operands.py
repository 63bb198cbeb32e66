# SPDX-License-Identifier: Apache-2.0
"""Operands of calls: formats, layouts and broadcasting, as several operators need them."""
import torch

from ..flat import picked
from ..formats import FORMATS, RANK, Unknown
from ..values import folded


def floats(s, *tensors):
    for t in tensors:
        if t.dtype not in FORMATS:
            raise Unknown("complex numbers" if t.is_complex() else "whole numbers")


def shared_layout(values):
    """nhwc where an operand has that alone, so that what follows a convolution stays in its order."""
    return "nhwc" if all(v.data is not None and v.data.dim() == 4 for v in values) and any(
        "plain" not in v.ids for v in values) else "plain"


def pick_layout(s, values):
    """The program's tensors of values of one shape in their shared layout, and that."""
    layout = shared_layout(values)
    return [s.ids(v, layout) for v in values] + [layout]


def native(out):
    """The format that a kernel of the CPU computes in which rounds after each operation to a format of 16 bits; None of
    other tensors."""
    return FORMATS[out.dtype] if out.dtype in (torch.bfloat16, torch.float16) and out.device.type == "cpu" else None


def number(s, x, dtype):
    """A number as sums on the CPU take it: rounded to the tensor's format where that has 16 bits, by a call."""
    rounded = torch.tensor(x, dtype=torch.float64).to(dtype)
    if dtype not in (torch.bfloat16, torch.float16) or float(rounded) == x or x != x:
        return s.constant(float(rounded), dtype)
    i = s.constant(x, torch.float64)
    name = s.program.tensors[i]["name"].rpartition(".")[2]
    return s.call("cast", [i], [("%s@%s" % (name, FORMATS[dtype]), rounded)], layer="const")[0]


def rounded_scalar(s, t, out):
    """The program's tensor of t, a tensor without axes, as the CPU takes it beside one of 16 bits: rounded to that
    format, by a call."""
    i = s.input(t)
    if t.dim() or native(out) is None or s.values[i].dtype in (out.dtype, torch.bool):
        return i
    role = s.program.tensors[i]["name"].rpartition(".")[2].split("@")[0]
    return s.call("cast", [i], [("%s@%s" % (role, FORMATS[out.dtype]), s.values[i].to(out.dtype))])[0]


def spread_wide(s, x, out):
    """A tensor repeated to more axes than the program's tensors have."""
    at = torch.arange(x.numel()).reshape(x.shape).broadcast_to(out.shape)
    return picked(s, [s.elements(x)], at.reshape(folded(out.shape)), "spread")


def spread_plain(s, operands, out):
    """Tensors of the program for operands, of the shape of the result, in PyTorch's order of axes."""
    values = [s.old(x) for x in operands if isinstance(x, torch.Tensor)]
    for v in values:
        if v.data is not None:
            s.ids(v)
    return spread_all(s, operands, out)[0]


def spread_all(s, operands, out, rounded=False):
    """Tensors of the program for operands, tensors or numbers, of the shape of the result, and their layout. `rounded`
    says that numbers and tensors without axes are rounded to the result's format before they take part."""
    floats(s, out)
    shape = folded(out.size())
    values = [s.old(x) for x in operands if isinstance(x, torch.Tensor)]
    if len(values) == len(operands) and all(v.data is not None and tuple(v.data.shape) == shape for v in values):
        layout = shared_layout(values)
        return [s.ids(v, layout) for v in values], layout
    ids = []
    for x in operands:
        if isinstance(x, torch.Tensor):
            if out.dim() > RANK:
                ids.append(spread_wide(s, x, out))
            else:
                ids.append(s.spread(rounded_scalar(s, x, out) if rounded else s.input(x), shape))
        elif rounded and out.device.type == "cpu":
            ids.append(s.spread(number(s, x, out.dtype), shape))
        else:
            # a number takes part in the format that PyTorch computes in
            ids.append(s.spread(s.constant(x, torch.float64 if out.dtype == torch.float64 else torch.float32), shape))
    return ids, "plain"
