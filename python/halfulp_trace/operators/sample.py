# SPDX-License-Identifier: Apache-2.0
"""grid_sample of images: sums of four neighbours times weights that the places give. Which neighbours these are is
taken as recorded, and a choice where the derivative by the grid rests on it. The weights are calls of the places,
operation by operation in the format that the kernel computes in."""
import functools

import torch

from ..flat import behind, picked, reshaped, sums
from ..formats import Unknown
from ..values import Value, snapshot, tensors_in
from .formula import Formula
from .operands import floats
from .table import operator

BILINEAR, ZEROS, BORDER = 0, 0, 1


@functools.cache
def fuses():
    """Whether this PyTorch's kernel rounds (x + 1) size / 2 - 1 / 2 once, as processors with a fused multiply-add have
    it: what it makes of a ramp says where it read."""
    x = torch.rand(1, 1, 4096, 2, generator=torch.Generator().manual_seed(1)) * 1.5 - 0.75
    x[..., 1] = 0
    ramp = torch.arange(7.0).expand(1, 1, 1, 7)
    y = torch.ops.aten.grid_sampler_2d(ramp, x, BILINEAR, BORDER, False).reshape(-1)
    up = x[0, 0, :, 0] + 1

    def hits(place):
        below = place.floor()
        return int((below * (1 - (place - below)) + (below + 1) * (place - below) == y).sum())
    return hits((up.double() * 3.5 - 0.5).float()) > hits(up * 3.5 - 0.5)


class Places:
    """The places that a grid samples from: the program's tensors of the four weights, [image, row, column], and the
    numbers of the four neighbours among an image's elements, -1 outside of it."""

    def __init__(self, s, a, decides=False):
        self.decides = decides                   # whether the derivative by the grid depends on the neighbours
        x, grid = a["input"], a["grid"]
        if int(a["interpolation_mode"]) != BILINEAR or int(a["padding_mode"]) not in (ZEROS, BORDER):
            raise Unknown("another interpolation than bilinear, or places reflected at the border")
        if x.dtype not in (torch.float32, torch.float64) or x.device.type != "cpu":
            raise Unknown("another kernel than that of fp32 on the CPU")
        floats(s, x, grid)
        self.s, self.size, (self.n, self.rows, self.columns, _) = s, x.shape, grid.shape
        self.m = Formula(s, x, (self.n, self.rows, self.columns))
        self.border = int(a["padding_mode"]) == BORDER
        i = s.input(grid)
        axes = [self.axis(i, k, x.size(3 - k), a["align_corners"]) for k in (0, 1)]
        (self.west, self.w, self.e, self.slope_x), (self.north, self.n_, self.s_, self.slope_y) = axes
        m = self.m
        self.weights = [m.whole("mul", p, q) for q in (self.s_, self.n_) for p in (self.e, self.w)]
        self.at = [self.number(self.north + j, self.west + i) for j in (0, 1) for i in (0, 1)]

    def axis(self, i, k, size, aligned):
        """Along an axis: the neighbour below, the distances from it and to the next, and the derivative of the
        place."""
        m, s = self.m, self.s
        at = torch.arange(s.values[i].numel()).reshape(self.n, self.rows, self.columns, 2)[..., k]
        place = m.whole("add", picked(s, [i], at, "place"), 1.0)
        factor, low = ((size - 1) / 2, 0.0) if aligned else (size / 2, -0.5)
        if low and fuses():
            once = (s.values[place].double() * factor + low).to(m.wide)
            place = m.whole("addcmul", low, place, float(factor), data=once, factor=1.0)
        else:
            place = m.whole("mul", place, float(factor))
            place = m.whole("add", place, low) if low else place
        slope = torch.full(s.values[place].shape, factor, dtype=torch.float64)
        if self.border:
            inside = (s.values[place] > 0) & (s.values[place] < size - 1)
            slope = slope * inside
            place = m.whole("clip", place, low=0.0, high=float(size - 1))
        below = s.values[place].floor()
        if self.decides and s.is_learned(place):
            s.program.tensors[s.call("floor", [place], [("below", below)])[0]]["choice"] = True
        known = s.add("", below, name="input.below", cls="other")
        up = m.whole("sub", place, known)
        return below.to(torch.int64), up, m.whole("sub", 1.0, up), slope

    def number(self, row, column):
        """Which element of a channel's image is at these places."""
        fine = (row >= 0) & (row < self.size[2]) & (column >= 0) & (column < self.size[3])
        return torch.where(fine, row * self.size[3] + column, -1)

    def taps(self):
        """The places of the neighbours in the whole input: [image, channel, row, column, 4]."""
        n, c, h, w = self.size
        at = torch.stack(self.at, -1)[:, None]
        first = (torch.arange(n * c) * h * w).reshape(n, c, 1, 1, 1)
        return torch.where(at >= 0, at + first, -1)

    def wide(self, ids, form):
        """Tensors of [image, row, column] side by side, for each channel."""
        s = self.s
        one = behind(s, [reshaped(s, i, (self.n, 1, self.rows, self.columns, 1)) for i in ids], 4)
        return s.spread(one, form)

    def product(self, *ids):
        """The product of tensors of one shape, as exact as fp64 has it."""
        i = ids[0]
        for j in ids[1:]:
            i = self.s.call("mul", [i, j], [("weighed", self.s.values[i].double() * self.s.values[j].double())])[0]
        return i


@operator("grid_sampler_2d")
def grid_sampler(s, a, out):
    out = next(tensors_in(out))
    p = Places(s, a)
    at = p.taps()
    taps = picked(s, [s.input(a["input"])], at, "taps")
    own = snapshot(out)
    i = p.product(taps, p.wide(p.weights, at.shape))
    i = s.call("reduce_sum", [i], [("y", own)], {"axis": 4, "axes": 1}, library=True)[0]
    s.known[s.key(out)] = Value(own, {"plain": i})


@operator("grid_sampler_2d_backward")
def grid_sampler_backward(s, a, out):
    """The gradient of the input gets that of each result times its weights; that of the grid is the sum over channels
    of the neighbours' differences times the other axis's weights."""
    made = [t if isinstance(t, torch.Tensor) else None for t in out]
    p = Places(s, a, decides=bool(a["output_mask"][1]))
    at = p.taps()
    dy = s.input(a["grad_output"])
    each = s.spread(reshaped(s, dy, at.shape[:4] + (1,)), at.shape)
    if a["output_mask"][0]:
        sums(s, None, p.product(each, p.wide(p.weights, at.shape)), at, made[0], "dx")
    taps, (n, c, rows, columns, _), m = picked(s, [s.input(a["input"])], at, "taps"), at.shape, p.m
    parts = []
    for slope, by in ((p.slope_x, (("neg", p.s_), (None, p.s_), ("neg", p.n_), (None, p.n_))),
                      (p.slope_y, (("neg", p.e), ("neg", p.w), (None, p.e), (None, p.w)))):
        ids = [m.whole(op, i) if op else i for op, i in by]
        size = s.add("", slope.contiguous(), name="input.slope", cls="other")
        terms = p.product(taps, p.wide(ids, at.shape), each,
                          s.spread(reshaped(s, size, (n, 1, rows, columns, 1)), at.shape))
        order = torch.arange(at.numel()).reshape(at.shape).permute(0, 2, 3, 1, 4).reshape(n, rows, columns, 1, c * 4)
        parts.append(picked(s, [terms], order, "terms"))
    own = snapshot(made[1])
    i = s.call("reduce_sum", [behind(s, parts, 3)], [("dgrid", own)], {"axis": 4, "axes": 1}, library=True)[0]
    s.known[s.key(made[1])] = Value(own, {"plain": i})
