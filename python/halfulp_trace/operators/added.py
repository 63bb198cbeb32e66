# SPDX-License-Identifier: Apache-2.0
"""Operators that add elements to places that other operators select: accumulation by indices, and the gradients of
selections. Where each element goes, the selection itself says, when it runs on the numbers of the places."""
import torch

from ..flat import pick, picked, reshaped, sums
from ..formats import FORMATS, Unknown
from ..values import tensors_in
from .operands import floats
from .select import in_format, moved
from .table import operator

ATEN = torch.ops.aten


def numbers(shape, device="cpu"):
    """1, 2, 3, … in a shape."""
    n = 1
    for d in shape:
        n *= d
    return torch.arange(1, n + 1, dtype=torch.float64, device=device).reshape(shape)


def serial(t):
    """In which format repeated additions to the same element are rounded: on a CPU in its own, elsewhere in fp32."""
    return FORMATS[t.dtype] if t.device.type == "cpu" else None


def added(s, base, source, at, t, role="y", compute=None):
    """t is base with the elements of source added at places `at` + 1, 0 being nowhere."""
    floats(s, t, source)
    base = base if base is None else s.input(base)
    ids = in_format(s, source, t.dtype)
    if tuple(s.values[ids].shape) != tuple(at.shape):
        ids = s.spread(ids, tuple(at.shape))
    sums(s, base, ids, at.to("cpu", torch.int64) - 1, t, role, compute=compute)


@operator("index_put", "_index_put_impl", "_unsafe_index_put")
def index_put(s, a, out):
    t = next(tensors_in(out))
    if not a["accumulate"]:
        return moved(s, a, out, ["self", "values"])
    at = ATEN.index(numbers(t.shape, t.device), a["indices"])
    added(s, a["self"], a["values"], at, t, compute=serial(t))


@operator("index_add")
def index_add(s, a, out):
    t = next(tensors_in(out))
    if a["alpha"] != 1:                          # each is multiplied, exactly, before it is added
        i = s.input(a["source"])
        i = s.call("scale", [i], [("scaled", s.values[i].double() * a["alpha"])], {"factor": float(a["alpha"])})[0]
        at = numbers(t.shape, t.device).index_select(a["dim"], a["index"])
        sums(s, s.input(a["self"]), i, at - 1, t, "y", compute=serial(t))
        return
    at = numbers(t.shape, t.device).index_select(a["dim"], a["index"])
    added(s, a["self"], a["source"], at, t, compute=serial(t) if t.dim() == 1 else None)


@operator("scatter_add")
def scatter_add(s, a, out):
    t = next(tensors_in(out))
    index, source = a["index"], a["src"]
    at = numbers(t.shape, t.device).gather(a["dim"], index)
    if tuple(source.shape) != tuple(index.shape):
        source = source[tuple(slice(n) for n in index.shape)]
    added(s, a["self"], source, at, t)           # in fp32 on a CPU, too


@operator("trace")
def trace(s, a, out):
    n = min(a["self"].shape)
    i = picked(s, [s.input(a["self"])], torch.arange(n) * (a["self"].size(1) + 1), "diagonal")
    s.result("reduce_sum", [i], out, library=True)


@operator("put")
def put(s, a, out):
    t = next(tensors_in(out))
    if not a["accumulate"]:
        return moved(s, a, out, ["self", "source"])
    added(s, a["self"], a["source"], numbers(t.shape, t.device).take(a["index"]), t, compute=serial(t))


@operator("masked_scatter_backward")
def masked_scatter_backward(s, a, out):
    """The gradients where the mask is true, one behind the other, and zeros behind them."""
    t = next(tensors_in(out))
    dy = a["grad_output"]
    floats(s, t, dy)
    at = numbers(dy.shape, dy.device).masked_select(a["mask"])[:t.numel()]
    more = torch.zeros(t.numel() - len(at), dtype=at.dtype, device=at.device)
    pick(s, [s.input(dy)], torch.cat([at, more]).reshape(t.shape).to("cpu", torch.int64) - 1, t, "dx")


@operator("embedding_dense_backward")
def embedding_dense_backward(s, a, out):
    """Rows of the table get the sum of the gradients of their uses, or its mean. The row of padding gets none."""
    rows = numbers((out.size(0),))[:, None].to(torch.int64)
    at = a["indices"].reshape(-1).cpu()
    places = (rows[at] - 1) * out.size(1) + torch.arange(1, out.size(1) + 1)
    if a["padding_idx"] >= 0:
        places[at == a["padding_idx"]] = 0
    dy = reshaped(s, s.input(a["grad_output"]), places.shape)
    if a["scale_grad_by_freq"]:                  # each is multiplied, exactly, before it is added
        share = 1 / at.bincount()[at].to(torch.float64)
        by = s.add("", share[:, None].expand(places.shape).contiguous(), name="input.share",
                cls="other")
        dy = s.call("mul", [dy, by], [("shared", s.values[dy].double() * s.values[by].double())])[0]
    sums(s, None, dy, places.to(torch.int64) - 1, out, "dw", compute=serial(out))


ADJOINTS = {}                                    # the selection that each is the gradient of


def whence(at, size):
    """For each of so many elements which element of a gradient it is, or -1, where a selection took them from places
    `at` + 1, 0 being nowhere; None where one is a sum of several."""
    flat = at.reshape(-1).to(torch.int64)
    where, into = (flat > 0).nonzero().reshape(-1).cpu(), flat[flat > 0].cpu() - 1
    back = torch.full((size,), -1, dtype=torch.int64)
    back[into] = where
    return back if torch.equal(back[into], where) else None


def slope_of(a):
    return next(a[k] for k in ("grad_output", "grad", "grad_in") if k in a)


def adjoint(name, forward, once=False):
    """Registers the gradient of a selection: forward(a, x) selects from x of the input's shape. once: sums are rounded
    once, on a CPU, too."""
    ADJOINTS[name] = forward

    @operator(name)
    def backward(s, a, out):
        t = next(tensors_in(out))
        at = forward(a, numbers(t.shape, t.device))
        dy = slope_of(a)
        if not at.numel():
            raise Unknown("a selection of nothing")
        back = whence(at, t.numel())
        if back is not None:                     # nothing is added up
            floats(s, t, dy)
            pick(s, [s.input(dy)], back.reshape(t.shape), t, "dx")
        else:
            added(s, None, dy, at, t, "dx", None if once else serial(t))


def upsampled(name):
    return lambda a, x: getattr(ATEN, name)(x, a["output_size"], **{k: a[k] for k in a if k.startswith("scales")})


for name in ("upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d", "_upsample_nearest_exact1d",
             "_upsample_nearest_exact2d", "_upsample_nearest_exact3d"):
    adjoint(name + "_backward", upsampled(name), True)
for name in ("reflection_pad1d", "reflection_pad2d", "reflection_pad3d", "replication_pad1d", "replication_pad2d",
             "replication_pad3d"):
    adjoint(name + "_backward", lambda a, x, name=name: getattr(ATEN, name)(x, a["padding"]))
adjoint("slice_backward", lambda a, x: ATEN.slice(x, a["dim"], a["start"], a["end"], a["step"]))
adjoint("select_backward", lambda a, x: x.select(a["dim"], a["index"]))
adjoint("diagonal_backward", lambda a, x: x.diagonal(a["offset"], a["dim1"], a["dim2"]))
adjoint("unfold_backward", lambda a, x: x.unfold(a["dim"], a["size"], a["step"]))
adjoint("value_selecting_reduction_backward", lambda a, x: x.gather(a["dim"], a["indices"] if a["keepdim"] else
        a["indices"].unsqueeze(a["dim"])))


@operator("col2im")
def col2im(s, a, out):
    t = next(tensors_in(out))
    at = ATEN.im2col(numbers(t.shape, t.device), a["kernel_size"], a["dilation"], a["padding"], a["stride"])
    added(s, None, a["self"], at, t, "dx", serial(t))
