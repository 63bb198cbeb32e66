# SPDX-License-Identifier: Apache-2.0
"""Convolutions of images."""
import torch

from ..formats import Unknown
from ..moves import flat_move
from .matmul import beside
from .operands import floats
from .table import operator


def conv_attr(a, w):
    if a["transposed"] or w.dim() != 4:
        raise Unknown("no convolution of images")
    (sh, sw), (ph, pw), (dh, dw) = [list(x) * (2 // len(x)) for x in (a["stride"], a["padding"], a["dilation"])]
    return {"stride_h": sh, "stride_w": sw, "dilation_h": dh, "dilation_w": dw, "padding_top": ph, "padding_bottom": ph,
            "padding_left": pw, "padding_right": pw, "groups": a["groups"]}


@operator("convolution")
def convolution(s, a, out):
    attr = conv_attr(a, a["weight"])
    floats(s, out)
    i, j = s.input(a["input"], "nhwc"), s.input(a["weight"], "hwio")
    if a["bias"] is not None:
        i, j = with_bias(s, i, j, s.input(a["bias"]), attr)
    s.result("conv2d", [i, j], out, attr, layout="nhwc", library=True)


def with_bias(s, i, j, k, attr):
    """A bias that is added before the one rounding is one more channel: ones in the image, padding and all, and in the
    kernel the bias at one tap and zeros at the others. The padding becomes a move."""
    if attr["groups"] != 1:
        raise Unknown("groups and a bias")
    top, left = attr.pop("padding_top"), attr.pop("padding_left")
    attr.pop("padding_bottom"), attr.pop("padding_right")
    attr["padding"] = 0
    layer, dtype = s.layers[-1], s.values[i].dtype
    n, h, w, c = s.values[i].shape
    if top or left:
        data = torch.nn.functional.pad(s.values[i], (0, 0, left, left, top, top))
        i = s.call("move", [i], [("x@padded", data)], {"rank": 4, "d0": n, "from0": 0, "d1": h + 2 * top, "from1": 1,
                "start1": -top,
                   "d2": w + 2 * left, "from2": 2, "start2": -left, "d3": c, "from3": 3}, layer=layer)[0]
    i = beside(s, i, s.constant(1, dtype, tuple(s.values[i].shape[:3]) + (1,)), 3)
    kh, kw, _, o = s.values[j].shape
    k = s.call("move", [k], [("b@row", s.values[k].reshape(1, 1, 1, o))], flat_move((1, 1, 1, o)), layer=layer)[0]
    data = torch.zeros((kh, kw, 1, o), dtype=dtype)
    data[0, 0, 0] = s.values[k].reshape(o)
    k = s.call("move", [k], [("b@tap", data)], {"rank": 4, "d0": kh, "from0": 0, "d1": kw, "from1": 1, "d2": 1,
            "from2": 2, "d3": o, "from3": 3},
               layer=layer)[0]
    return i, beside(s, j, k, 2)


@operator("convolution_backward")
def convolution_backward(s, a, out):
    attr = conv_attr(a, a["weight"])
    dy, x, w = a["grad_output"], a["input"], a["weight"]
    floats(s, dy)
    dx, dw, db = out
    i = s.input(dy, "nhwc")
    layer = s.layer_of([s.input(w)])
    if dx is not None:
        s.result("conv2d_dx", [i, s.input(w, "hwio")], dx, dict(attr, height=x.size(2), width=x.size(3)), "dx", "nhwc",
                library=True, layer=layer)
    if dw is not None:
        s.result("conv2d_dw", [s.input(x, "nhwc"), i], dw, dict(attr, kh=w.size(2), kw=w.size(3)), "dw", "hwio",
                library=True, layer=layer)
    if db is not None:
        s.result("bias_db", [i], db, role="db", library=True, layer=layer)
