# SPDX-License-Identifier: Apache-2.0
"""Interpolation: each element of the result is a sum of a few elements times weights. The weights along an axis are
what PyTorch makes of the columns of an identity, so they are its own."""
import torch

from ..flat import picked, reshaped
from ..values import Value, snapshot
from .added import serial
from .operands import floats
from .table import operator

ATEN = torch.ops.aten
AXES = {"upsample_linear1d": 1, "upsample_bilinear2d": 2, "upsample_bicubic2d": 2, "upsample_trilinear3d": 3,
        "_upsample_bilinear2d_aa": 2, "_upsample_bicubic2d_aa": 2}


def weights(name, a, sizes, outs, dtype, back=False):
    """For each axis a matrix [results, operands] of the interpolation, or of its gradient. Along the other axes there
    are two elements, which stay as they are: PyTorch 2.15 computes antialiased images of one column wrongly."""
    made, axes = [], len(sizes)
    scales = [a[k] for k in a if k.startswith("scales")]
    for k in range(axes):
        n, m = (outs[k], sizes[k]) if back else (sizes[k], outs[k])
        of, to = [[2 if j != k else size for j in range(axes)] for size in (n, m)]
        own = [1, n] + [1 if j != k else n for j in range(axes)]
        x = torch.eye(n, dtype=dtype).reshape(own).expand([1, n] + of).contiguous()
        mine = [v if j == k else None for j, v in enumerate(scales)]
        if back:
            y = getattr(ATEN, name + "_backward")(x, of, [1, n] + to, a["align_corners"], *mine)
        else:
            y = getattr(ATEN, name)(x, to, a["align_corners"], *mine)
        y = y[0].movedim(k + 1, 1).reshape(n, m, -1)[:, :, 0]
        made.append(y.t().to(torch.float64))
    return made


def taps(matrix):
    """The places and values of each row's weights that are not 0, as many in each row."""
    n = max(1, int((matrix != 0).sum(1).max()))
    at = (matrix != 0).to(torch.int64).argsort(dim=1, descending=True, stable=True)[:, :n]
    return at, matrix.gather(1, at)


def weighed(s, x, matrices, t, role, compute):
    """t = x with a matrix applied along each of its last axes."""
    floats(s, x, t)
    sizes, axes = [m.size(1) for m in matrices], len(matrices)
    at, by = torch.zeros(1, 1, dtype=torch.int64), torch.ones(1, 1, dtype=torch.float64)
    for n, m in zip(sizes, matrices):
        mine, w = taps(m)
        at = (at[:, None, :, None] * n + mine[None, :, None, :]).reshape(at.size(0) * len(mine), -1)
        by = (by[:, None, :, None] * w[None, :, None, :]).reshape(by.size(0) * len(w), -1)
    n, size = x.numel() // int(torch.tensor(sizes).prod()), int(torch.tensor(sizes).prod())
    where = torch.arange(n)[None, :, None] * size + at[:, None, :]
    i = picked(s, [s.input(x)], where, "taps")                       # [outputs, images, taps]
    w = s.add("", by.to(torch.float32 if axes == 1 else torch.float64)[:, :, None].contiguous(), name="input.weights",
            cls="other")
    own = snapshot(t)
    data = own.reshape(n, -1).t().contiguous()
    i = s.call("matmul", [i, w], [(role, data[:, :, None])], {"ta": 0, "tb": 0, "batch": 1}, library=True,
            compute=compute)[0]
    back = torch.arange(own.numel()).reshape(data.shape).t().reshape(own.shape)
    s.known[s.key(t)] = Value(own, {"plain": picked(s, [reshaped(s, i, data.shape)], back, role)})


def register(name, axes):
    @operator(name)
    def forward(s, a, out):
        x = a["self"]
        low = serial(out) if out.dtype.itemsize == 2 else None       # a CPU rounds weights and partial sums of 16 bits
        weighed(s, x, weights(name, a, x.shape[2:], out.shape[2:], x.dtype), out, "y", low)

    @operator(name + "_backward")
    def backward(s, a, out):
        dy = a["grad_output"]
        wide = torch.float64 if out.dtype == torch.float64 else torch.float32
        weighed(s, dy, weights(name, a, out.shape[2:], dy.shape[2:], wide, True), out, "dx", None)


for name, axes in AXES.items():
    register(name, axes)
