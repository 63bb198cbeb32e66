# SPDX-License-Identifier: Apache-2.0
"""Sums, products, quotients and powers of tensors and numbers."""
import torch

from ..formats import Unknown
from ..values import tensors_in
from .operands import floats, shared_layout, spread_all
from .table import operator


@operator("add")
def add(s, a, out, sign=1):
    out = next(tensors_in(out))
    alpha = sign * a.get("alpha", 1)
    if alpha not in (1, -1):
        raise Unknown("a factor")
    other = a["other"]
    if not isinstance(other, torch.Tensor):
        other, alpha = alpha * other, 1
    ids, layout = spread_all(s, [a["self"], other], out)
    s.result("add" if alpha == 1 else "sub", ids, out, layout=layout)


@operator("sub")
def sub(s, a, out):
    add(s, a, out, -1)


@operator("mul")
def mul(s, a, out):
    out = next(tensors_in(out))
    x, y = a["self"], a["other"]
    if not isinstance(y, torch.Tensor):
        floats(s, out, x)
        layout = shared_layout([s.old(x)])
        s.result("scale", [s.input(x, layout)], out, {"factor": float(y)}, layout=layout)
        return
    ids, layout = spread_all(s, [x, y], out)
    s.result("mul", ids, out, layout=layout)


@operator("div")
def div(s, a, out):
    out = next(tensors_in(out))
    if a.get("rounding_mode") is not None:
        raise Unknown("another rounding")
    ids, layout = spread_all(s, [a["self"], a["other"]], out)
    s.result("div", ids, out, layout=layout, library=not isinstance(a["other"], torch.Tensor))


@operator("pow")
def pow(s, a, out):
    out = next(tensors_in(out))
    if a["exponent"] != 2:
        raise Unknown("another power")
    ids, layout = spread_all(s, [a["self"], a["self"]], out)
    s.result("mul", ids, out, layout=layout)


@operator("hardtanh_backward")
def hardtanh_backward(s, a, out):
    """The gradient strictly between the two ends, 0 elsewhere."""
    values = [s.old(a["self"]), s.old(a["grad_output"])]
    layout = shared_layout(values)
    i, j = (s.ids(v, layout) for v in values)
    x = s.values[i]
    low, high = (s.spread(s.constant(float(a[k]), torch.float32), tuple(x.shape)) for k in ("min_val", "max_val"))
    above = s.call("greater", [i, low], [("above", (x > a["min_val"]).to(x.dtype))])[0]
    below = s.call("less", [i, high], [("below", (x < a["max_val"]).to(x.dtype))])[0]
    inside = s.call("logical_and", [above, below],
            [("inside", ((x > a["min_val"]) & (x < a["max_val"])).to(x.dtype))])[0]
    s.result("mask", [inside, j], out, role="dx", layout=layout)


@operator("masked_fill")
def masked_fill(s, a, out):
    out = next(tensors_in(out))
    value = a["value"]
    ids, _ = spread_all(s, [a["mask"], value if isinstance(value, torch.Tensor) else float(value), a["self"]], out)
    s.result("where", ids, out)
