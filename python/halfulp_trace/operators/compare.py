# SPDX-License-Identifier: Apache-2.0
"""Comparisons and truth values, limits of values."""
import math

import torch

from ..formats import FORMATS, Unknown
from ..values import tensors_in
from .operands import number, spread_all
from .table import operator

COMPARED = {"lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "eq": "equal", "ne": "equal"}


def operands_of(s, operands, out):
    """The program's tensors for operands of a comparison, of the result's shape. A number is compared in the format of
    the tensor beside it."""
    tensors = [x for x in operands if isinstance(x, torch.Tensor)]
    if not any(s.old(x).data is not None for x in tensors):
        raise Unknown("operands that no format holds")
    format = next((x.dtype for x in tensors if x.dtype in FORMATS), torch.float64)
    ids = []
    for x in operands:
        i = s.input(x) if isinstance(x, torch.Tensor) else number(s, x, format)
        ids.append(s.spread(i, tuple(out.size())))
    return ids


def register(name, ours):
    @operator(name)
    def compare(s, a, out):
        out = next(tensors_in(out))
        ids = operands_of(s, [a["self"], a["other"]], out)
        if name == "ne":
            same = (out == 0).cpu().to(torch.float32)
            ids = s.call("equal", ids, [("same", same)])
            s.result("logical_not", ids, out, role="mask")
        else:
            s.result(ours, ids, out, role="mask")


for name, ours in COMPARED.items():
    register(name, ours)


@operator("isnan")
def isnan(s, a, out):
    """What is not equal to itself."""
    i = s.input(a["self"])
    same = s.call("equal", [i, i], [("same", (out == 0).cpu().to(torch.float32))])
    s.result("logical_not", same, out, role="mask")


def truths(s, op, operands, out):
    out = next(tensors_in(out))
    if any(x.dtype != torch.bool for x in operands + [out]):
        raise Unknown("bits of whole numbers")
    s.result(op, [s.spread(s.input(x), tuple(out.size())) for x in operands], out, role="mask")


@operator("logical_and", "bitwise_and", "__and__")
def logical_and(s, a, out):
    truths(s, "logical_and", [a["self"], a["other"]], out)


@operator("logical_or", "bitwise_or", "__or__")
def logical_or(s, a, out):
    truths(s, "logical_or", [a["self"], a["other"]], out)


@operator("logical_not", "bitwise_not")
def logical_not(s, a, out):
    truths(s, "logical_not", [a["self"]], out)


@operator("clamp", "clip")
def clamp(s, a, out):
    limit(s, a["self"], a["min"], a["max"], out)


@operator("clamp_min")
def clamp_min(s, a, out):
    limit(s, a["self"], a["min"], None, out)


@operator("clamp_max")
def clamp_max(s, a, out):
    limit(s, a["self"], None, a["max"], out)


def limit(s, x, low, high, out):
    """At least low, then at most high: numbers, tensors, or None."""
    out = next(tensors_in(out))
    if not any(isinstance(k, torch.Tensor) for k in (low, high)):
        ends = ("low", low, -math.inf), ("high", high, math.inf)
        attr = {key: float(k) for key, k, none in ends if k is not None and k != none}
        ids, layout = spread_all(s, [x], out)
        s.result("clip", ids, out, attr, layout=layout)
        return
    if high is None or low is None:
        ids, layout = spread_all(s, [x, high if low is None else low], out)
        s.result("min" if low is None else "max", ids, out, layout=layout)
        return
    ids, layout = spread_all(s, [x, low, high], out)
    data = torch.maximum(s.values[ids[0]], s.values[ids[1]])
    ids = s.call("max", ids[:2], [("raised", data)]) + ids[2:]
    s.result("min", ids, out, layout=layout)
