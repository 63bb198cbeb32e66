# SPDX-License-Identifier: Apache-2.0
"""Weights that are made of others, a direction and a length (weight_norm), and the product of three tensors that a
bilinear layer is."""
import torch

from ..formats import Unknown
from ..values import snapshot, tensors_in
from .formula import Formula, nearest, rounding
from .operands import floats
from .reduce import reduced
from .table import operator

MOST = 1 << 22                                   # elements of a product that is written out


@operator("_weight_norm_interface")
def weight_norm(s, a, out):
    """w = v g / norm of v, the norm over all axes but one."""
    w, length = tensors_in(out)
    v, n = a["v"], a["v"].dim()
    floats(s, v, w)
    reduced(s, "reduce_norm", v, [k for k in range(n) if k != a["dim"] % n], length, role="norm")
    m = Formula(s, w)
    m.end("mul", m.of(v), m.whole("div", m.of(a["g"]), m.of(length)), library=True)


@operator("_weight_norm_interface_backward")
def weight_norm_backward(s, a, out):
    """With the sum t of dw v: dg = t / norm, and dv = g (dw / norm - v t / norm^3). The sum is a kernel's own, as far
    as dg tells it."""
    dv, dg = tensors_in(out)
    floats(s, dv, dg)
    n, dim = dv.dim(), a["dim"] % dv.dim()
    m, length = Formula(s, dv), snapshot(a["saved_norms"]).double()
    v, dw = m.of(a["saved_v"]), m.of(a["grad_w"])
    product = m("mul", dw, v)
    over = [k for k in range(n) if k != dim]
    low, high = (e * length for e in rounding(dg))
    total = nearest(s.values[product].sum(over, keepdim=True), (low, high))
    like = torch.empty(total.shape, dtype=torch.float64)
    reduced(s, "reduce_sum", s.values[product], over, like.copy_(total), role="total", i=product,
            compute="fp32" if dv.dtype != torch.float64 else None)
    total = s.input(like)
    s.result("div", [total, s.input(a["saved_norms"])], dg, role="dg", library=True)
    g, length = m.of(a["saved_g"]), m.of(a["saved_norms"])
    ratio = m("div", g, length)
    rest = m("div", m("mul", ratio, m.of(total)), m("mul", length, length))
    m.end("addcmul", m("mul", dw, ratio), v, rest, role="dv", factor=-1.0)


@operator("_trilinear")
def trilinear(s, a, out):
    """The sum of the products of three tensors over some axes. One of 16 bits adds slices of an axis in its format."""
    out = next(tensors_in(out))
    parts = []
    for x, more in ((a["i1"], a["expand1"]), (a["i2"], a["expand2"]), (a["i3"], a["expand3"])):
        for k in sorted(more):
            x = x.unsqueeze(k)
        parts.append(x)
    shape = torch.broadcast_shapes(*(p.shape for p in parts))
    if torch.Size(shape).numel() > MOST:
        raise Unknown("a product of more than %d elements" % MOST)
    m = Formula(s, out, shape)
    ids = []
    for x, p in zip((a["i1"], a["i2"], a["i3"]), parts):
        i = s.input(x)
        j = s.call("move", [i], [("x@more", s.values[i].reshape(p.shape))], dict({"rank": p.dim(), "flat": 1},
                **{"d%d" % k: n for k, n in enumerate(p.shape)}))[0]
        ids.append(m.of(j))
    product = m("mul", m("mul", ids[0], ids[1]), ids[2])
    short = out.dtype.itemsize < 4 and out.device.type == "cpu"
    reduced(s, "reduce_sum", s.values[product], list(a["sumdim"]), out, i=product,
            compute={torch.bfloat16: "bf16", torch.float16: "fp16"}[out.dtype] if short else None)
