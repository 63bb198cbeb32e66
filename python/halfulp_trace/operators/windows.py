# SPDX-License-Identifier: Apache-2.0
"""Pooling by windows of any shape: means over windows that differ in size, maxima at the indices that PyTorch returns,
and their gradients. Means and maxima of images in windows of one size are calls of their own (pool.py)."""
import torch

from ..flat import pick, picked, sums
from ..formats import Unknown
from ..values import Value, snapshot
from .added import serial
from .operands import floats
from .patches import meets
from .table import operator


def rows_of(x, axes):
    """How many images of `axes` axes a tensor has, and the elements of each."""
    size = 1
    for d in x.shape[x.dim() - axes:]:
        size *= d
    return x.numel() // size, size


def beside(at, x, axes):
    """Places within an image as places in all of x: [images, …]."""
    n, size = rows_of(x, axes)
    start = torch.arange(n).reshape((n,) + (1,) * at.dim()) * size
    return torch.where(at < 0, -1, at + start)


def means(s, x, windows, t, axes, compute=None):
    """t has the means over windows of x, lists of places within an image. Windows of a size are one call."""
    floats(s, x, t)
    own = snapshot(t)
    data, i = own.reshape(rows_of(t, axes)), s.input(x)
    sizes = sorted({len(w) for w in windows})
    ids, where = [], torch.zeros(data.shape, dtype=torch.int64)
    start = 0
    for n in sizes:
        mine = torch.tensor([k for k, w in enumerate(windows) if len(w) == n])
        at = beside(torch.stack([windows[k] for k in mine]), x, axes)
        g = picked(s, [i], at.reshape(-1, n), "windows")
        ids.append(s.call("reduce_mean", [g], [("means", data[:, mine].reshape(-1))], {"axis": 1, "axes": 1},
                library=True, compute=compute)[0])
        where[:, mine] = start + torch.arange(at.size(0) * at.size(1)).reshape(at.shape[:2])
        start += where[:, mine].numel()
    s.known[s.key(t)] = Value(own, {"plain": picked(s, ids, where.reshape(own.shape), "y")})


def means_dx(s, dy, windows, t, axes, divided=None):
    """The gradient of means: each window's share goes to its elements. The shares are rounded to dy's format."""
    floats(s, dy, t)
    i = s.input(dy)
    shape = s.values[i].shape
    counts = torch.tensor([float(len(w)) for w in windows]).reshape(shape[len(shape) - axes:])
    counts = counts.to(torch.float32).broadcast_to(shape).contiguous()
    q = s.call("div", [i, s.add("", counts, name="input.counts", cls="other")],
            [("share", (s.values[i].to(torch.float64) / counts).to(s.values[i].dtype))], library=True,
            layer=s.layer_of([i]))[0]
    lone = torch.cat([torch.stack([w, torch.full_like(w, k)]) for k, w in enumerate(windows)], 1)
    n, size = rows_of(s.values[i], axes)
    inside = (lone[0] >= 0).nonzero().reshape(-1)
    to, of = (beside(lone[k][inside], like, axes).reshape(-1) for k, like in ((0, t), (1, s.values[i])))
    if len(to.unique()) == len(to):
        at = torch.full((t.numel(),), -1)
        at[to] = of
        pick(s, [q], at.reshape(t.shape), t, "dx")
    else:
        sums(s, None, picked(s, [q], of, "shares"), to, t, compute=serial(t))


def spans(n, m):
    """The windows of adaptive pooling from n elements to m."""
    return [torch.arange(k * n // m, -(-(k + 1) * n // m)) for k in range(m)]


def adaptive(sizes, outs):
    """The windows of all axes as places in an image."""
    whole = [torch.zeros(1, dtype=torch.int64)]
    for n, m in zip(sizes, outs):
        whole = [(w[:, None] * n + v[None, :]).reshape(-1) for w in whole for v in spans(n, m)]
    return whole


@operator("_adaptive_avg_pool2d", "_adaptive_avg_pool3d", "adaptive_avg_pool2d", "adaptive_avg_pool3d")
def adaptive_avg_pool(s, a, out):
    axes = len(a["output_size"])
    x = a["self"]
    # along three axes a CPU adds in the tensor's own format
    means(s, x, adaptive(x.shape[-axes:], out.shape[-axes:]), out, axes, serial(out) if axes == 3 else None)


def adaptive_dx(axes):
    def backward(s, a, out):
        means_dx(s, a["grad_output"], adaptive(out.shape[-axes:], a["grad_output"].shape[-axes:]), out, axes)
    return backward


operator("_adaptive_avg_pool2d_backward", "adaptive_avg_pool2d_backward")(adaptive_dx(2))
operator("_adaptive_avg_pool3d_backward", "adaptive_avg_pool3d_backward")(adaptive_dx(3))


def fixed(a, x, outs):
    """The windows of avg_pool3d: what padding adds counts where PyTorch counts it."""
    if a["divisor_override"] is not None:
        raise Unknown("another divisor")
    axes = len(outs)
    a = dict(a, stride=a["stride"] or a["kernel_size"], dilation=[1])
    size, pad = (list(a[k]) * (axes // len(a[k])) for k in ("kernel_size", "padding"))
    if any(p and a["ceil_mode"] for p in pad):
        raise Unknown("windows that end outside")
    at = meets(x.shape[-axes:], a, size, outs)
    return [w if a["count_include_pad"] and any(pad) else w[w >= 0] for w in at]


@operator("avg_pool3d")
def avg_pool3d(s, a, out):
    means(s, a["self"], fixed(a, a["self"], out.shape[-3:]), out, 3)


@operator("avg_pool3d_backward")
def avg_pool3d_backward(s, a, out):
    means_dx(s, a["grad_output"], fixed(a, a["self"], a["grad_output"].shape[-3:]), out, 3)


def largest(s, x, indices, t, axes):
    floats(s, x, t)
    s.decided([x], indices)
    n, size = rows_of(x, axes)
    at = indices.cpu().reshape(n, -1) + torch.arange(n)[:, None] * size
    pick(s, [s.input(x)], at.reshape(t.shape), t)


def largest_dx(s, dy, indices, t, axes):
    floats(s, dy, t)
    n, size = rows_of(t, axes)
    at = (indices.cpu().reshape(n, -1) + torch.arange(n)[:, None] * size).reshape(-1)
    if len(at.unique()) == len(at):
        back = torch.full((t.numel(),), -1)
        back[at] = torch.arange(len(at))
        pick(s, [s.input(dy)], back.reshape(t.shape), t, "dx")
    else:
        sums(s, None, s.input(dy), at, t, compute=serial(t))


for name, axes in (("adaptive_max_pool2d", 2), ("adaptive_max_pool3d", 3), ("max_pool3d_with_indices", 3),
                   ("fractional_max_pool2d", 2), ("fractional_max_pool3d", 3)):
    operator(name)(lambda s, a, out, axes=axes: largest(s, a["self"], out[1], out[0], axes))
    operator(name + "_backward")(lambda s, a, out, axes=axes: largest_dx(s, a["grad_output"], a["indices"], out, axes))
