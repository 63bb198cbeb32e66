# SPDX-License-Identifier: Apache-2.0
"""Convolutions along one or two axes, and transposed ones, which are gradients of others. Those along three axes, and
transposed ones with a bias, are products of patches (patches.py)."""
import torch

from ..flat import reshaped
from ..formats import Unknown
from ..moves import flat_move
from ..values import Value, snapshot
from .matmul import beside
from .operands import floats
from .patches import Patches, in_pieces
from .table import operator

# The axes of rows as halfulp has them: N, 1, W, C of N, C, W, and 1, W, I, O of a kernel O, I, W. None is a new axis.
ROWS = {"nhwc": (0, None, 2, 1), "hwio": (None, 2, 1, 0)}


def pair(x, first, both):
    """A number an axis: of rows the second of two, beside `first`."""
    x = list(x)
    return [first] + x[:1] if not both else x * (2 // len(x))


def conv_attr(a, both):
    (sh, sw), (ph, pw), (dh, dw) = [pair(a[k], first, both) for k, first in (("stride", 1), ("padding", 0),
            ("dilation", 1))]
    return {"stride_h": sh, "stride_w": sw, "dilation_h": dh, "dilation_w": dw, "padding_top": ph, "padding_bottom": ph,
            "padding_left": pw, "padding_right": pw, "groups": a["groups"]}


def laid(s, t, layout):
    """The program's tensor of an image or a kernel in halfulp's layout. Rows are images of one line."""
    if t.dim() == 4:
        return s.input(t, layout)
    i = s.input(t)
    attr = {"rank": 4}
    for j, k in enumerate(ROWS[layout]):
        attr["d%d" % j] = 1 if k is None else t.size(k)
        if k is not None:
            attr["from%d" % j] = k
    data = in_layout(s.values[i], layout)
    role = s.program.tensors[i]["name"].rpartition(".")
    return s.call("move", [i], [("%s@%s" % (role[2].split("@")[0], layout), data)], attr, layer=role[0])[0]


def in_layout(data, layout):
    """Values in halfulp's layout."""
    if data.dim() == 4:
        return data.permute((0, 2, 3, 1) if layout == "nhwc" else (2, 3, 1, 0)).contiguous()
    kept = [k for k in ROWS[layout] if k is not None]
    return data.permute(kept).unsqueeze(ROWS[layout].index(None)).contiguous()


def made(s, op, ids, t, attr, role="y", layout="nhwc", **how):
    """The call that makes a tensor of PyTorch, an image or a kernel."""
    if t.dim() == 4:
        s.result(op, ids, t, attr, role, layout, library=True, **how)
        return
    own = snapshot(t)
    i = s.call(op, ids, [(role + "@" + layout, in_layout(own, layout))], attr, library=True, **how)[0]
    order, back = ROWS[layout], {"rank": 3}
    for j in range(3):
        back["d%d" % j], back["from%d" % j] = own.size(j), order.index(j)
    i = s.call("move", [i], [(role, own)], back, layer=s.program.tensors[i]["name"].rpartition(".")[0])[0]
    s.known[s.key(t)] = Value(own, {"plain": i})


@operator("convolution", "_convolution", "cudnn_convolution", "mkldnn_convolution")
def convolution(s, a, out):
    x, w, b = a["input"] if "input" in a else a["self"], a["weight"], a.get("bias")
    floats(s, x, w, out)
    turned = a.get("transposed", False)
    if x.dim() > 4 or turned and b is not None:
        by = Patches(a, x, w, out)
        by.forward(s, x, w, b, out)
        return
    if x.dim() < 3:
        raise Unknown("no convolution of rows or images")
    attr = conv_attr(a, x.dim() == 4)
    i, j = laid(s, x, "nhwc"), laid(s, w, "hwio")
    if turned:
        size = in_layout(out[:1], "nhwc").shape
        made(s, "conv2d_dx", [i, j], out, dict(attr, height=size[1], width=size[2]),
             **in_pieces(out, w.size(0) // attr["groups"]))
        return
    if b is not None:
        i, j = with_bias(s, i, j, s.input(b), attr)
    made(s, "conv2d", [i, j], out, attr)


def with_bias(s, i, j, k, attr):
    """A bias that is added before the one rounding is one more channel of each group: ones in the image, padding and
    all, and in the kernel the bias at one tap and zeros at the others. The padding becomes a move."""
    top, left, groups = attr.pop("padding_top"), attr.pop("padding_left"), attr["groups"]
    attr.pop("padding_bottom"), attr.pop("padding_right")
    attr["padding"] = 0
    layer, dtype = s.layers[-1], s.values[i].dtype
    n, h, w, c = s.values[i].shape
    if top or left:
        data = torch.nn.functional.pad(s.values[i], (0, 0, left, left, top, top))
        i = s.call("move", [i], [("x@padded", data)], {"rank": 4, "d0": n, "from0": 0, "d1": h + 2 * top, "from1": 1,
                "start1": -top,
                   "d2": w + 2 * left, "from2": 2, "start2": -left, "d3": c, "from3": 3}, layer=layer)[0]
    n, h, w, c = s.values[i].shape
    i = reshaped(s, i, (n, h, w, groups, c // groups), layer=layer) if groups > 1 else i
    i = beside(s, i, s.constant(1, dtype, tuple(s.values[i].shape[:-1]) + (1,)), s.values[i].dim() - 1)
    i = reshaped(s, i, (n, h, w, c + groups), layer=layer)
    kh, kw, _, o = s.values[j].shape
    k = s.call("move", [k], [("b@row", s.values[k].reshape(1, 1, 1, o))], flat_move((1, 1, 1, o)), layer=layer)[0]
    data = torch.zeros((kh, kw, 1, o), dtype=s.values[k].dtype)
    data[0, 0, 0] = s.values[k].reshape(o)
    k = s.call("move", [k], [("b@tap", data)], {"rank": 4, "d0": kh, "from0": 0, "d1": kw, "from1": 1, "d2": 1,
            "from2": 2, "d3": o, "from3": 3},
               layer=layer)[0]
    return i, beside(s, j, k, 2)


def by_images(s, i, db, layer, pieces):
    """A bias's gradient as PyTorch's kernel for dilated taps adds it up, which stores each image's sum: a product with
    a row of ones."""
    own, rows = snapshot(db), s.values[i].numel() // db.numel()
    j = s.call("matmul", [s.constant(1, db.dtype, (1, rows)), reshaped(s, i, (rows, db.numel()), layer=layer)],
            [("db@row", own.reshape(1, -1))], {"ta": 0, "tb": 0}, library=True, layer=layer, **pieces)[0]
    s.known[s.key(db)] = Value(own, {"plain": reshaped(s, j, own.shape, "db", layer)})


@operator("convolution_backward")
def convolution_backward(s, a, out):
    dy, x, w = a["grad_output"], a["input"], a["weight"]
    floats(s, dy, x, w)
    dx, dw, db = out
    layer = s.layer_of([s.input(w)])
    if db is not None:
        i = laid(s, dy, "nhwc") if dy.dim() < 5 else Patches.channels_last(s, dy)
        pieces = in_pieces(db, dy[0, 0].numel()) if max(a["dilation"]) > 1 else {}
        if pieces:
            by_images(s, i, db, layer, pieces)
        else:
            s.result("bias_db", [i], db, role="db", library=True, layer=layer)
    if x.dim() > 4:
        Patches(a, x, w, dy).backward(s, x, w, dy, dx, dw, layer)
        return
    attr, images = conv_attr(a, x.dim() == 4), a["transposed"]
    i, j = laid(s, dy, "nhwc"), laid(s, x, "nhwc")
    size = dict(zip(("height", "width"), s.values[j].shape[1:3]))
    if dx is not None and images:
        made(s, "conv2d", [i, laid(s, w, "hwio")], dx, attr, "dx", layer=layer)
    elif dx is not None:
        made(s, "conv2d_dx", [i, laid(s, w, "hwio")], dx, dict(attr, **size), "dx", layer=layer,
             **in_pieces(dx, w.size(0) // attr["groups"]))
    if dw is not None:
        kh, kw = in_layout(w[:1, :1], "hwio").shape[:2]
        pieces = in_pieces(dw, (x if images else dy)[0, 0].numel())
        made(s, "conv2d_dw", [i, j] if images else [j, i], dw, dict(attr, kh=kh, kw=kw), "dw", "hwio", layer=layer,
             **pieces)
