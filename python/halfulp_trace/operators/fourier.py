# SPDX-License-Identifier: Apache-2.0
"""Discrete Fourier transforms: along an axis each is a product with a matrix of cosines and sines, which the program
has in float64. A fast algorithm errs by a few roundings of the sum of all magnitudes for each of its log2(n) stages,
also where the sum of products of which a result consists is small. Therefore each operand is there twice, with a
coefficient w + 1 and one of -1: the exact result is the same, and its bound is that of a sum of all magnitudes."""
import math

import torch

from ..flat import behind, picked
from ..formats import Unknown
from ..values import Value, snapshot
from ..writes import real
from .complex import pair
from .operands import floats
from .table import operator

LARGEST = 1 << 24                                # elements of a matrix
ROOT, WHOLE = 1, 2                               # of a transform's size, by which ATen's numbers say it is divided


def angles(n, rows, columns, sign):
    """Cosines and sines of sign times 2 pi times row times column by n, to float64's last digit; zeros are zeros."""
    turn = torch.arange(rows)[:, None] * torch.arange(columns) % n
    near = turn.double() * (2 * math.pi / n)
    c, t = near.cos(), sign * near.sin()
    c[(4 * turn == n) | (4 * turn == 3 * n)] = 0
    t[(2 * turn == n) | (turn == 0)] = 0
    return c, t


def of_complex(n, sign):
    """[re im of the operands, re im of the results]"""
    c, t = angles(n, n, n, sign)
    return torch.stack([torch.stack([c, t], -1), torch.stack([-t, c], -1)], 1).reshape(2 * n, 2 * n)


def of_real(n, sign):
    """[operands, re im of the first half of the results]"""
    return torch.stack(angles(n, n, n // 2 + 1, sign), -1).reshape(n, -1)


def of_real_whole(n, sign):
    """[operands, re im of all results]"""
    return torch.stack(angles(n, n, n, sign), -1).reshape(n, -1)


def to_real(n, sign):
    """[re im of the first half of the operands, results]: the other half are conjugates of these."""
    c, t = angles(n, n // 2 + 1, n, sign)
    twice = torch.full((n // 2 + 1, 1), 2.0, dtype=torch.float64)
    twice[0] = 1
    if n % 2 == 0:
        twice[-1] = 1
    t = t * (twice - 1)                          # at the ends the imaginary part counts for nothing
    return torch.stack([twice * c, -2 * t], 1).reshape(-1, n)


def matrix(s, kind, n, sign, norm):
    """The program's tensor of a transform's matrix, and its values."""
    key = kind, n, sign, norm
    if key not in s.constants:
        if n * n * (8 if kind is of_complex else 4 if kind is of_real_whole else 2) > LARGEST:
            raise Unknown("a transform of %d elements" % n)
        w = kind(n, sign)
        w = torch.cat([w + 1, -torch.ones_like(w)]) / {ROOT: math.sqrt(n), WHOLE: n}.get(norm, 1)
        s.constants[key] = s.add("", w, name="input.fourier", cls="other")
    return s.constants[key]


class Transform:
    """What is computed of a tensor axis by axis: the program's tensor and the shape that its elements stand in, of
    which pairs are the last axis."""

    def __init__(self, s, i, shape):
        self.s, self.i, self.shape = s, i, list(shape)

    def along(self, axis, w, width, n, role, last=None):
        """Applies a matrix to axis `axis`, whose elements are `width` numbers before, and n[1] elements of n[0] numbers
        after; `last` is what PyTorch has of it."""
        s, shape = self.s, self.shape
        before = shape + ([1] if width == 1 else [])             # rows [axis, parts] stand last
        at = torch.arange(math.prod(before)).reshape(before).movedim(axis, -2)
        rows = picked(s, [self.i], at.reshape(-1, before[axis] * width), "rows")
        rows = behind(s, [rows, rows], 1)
        parts, count = n
        after = list(at.shape[:-2]) + [count, parts]
        back = torch.arange(math.prod(after)).reshape(after).movedim(-2, axis)
        if last is None:
            data, compute = s.values[rows].double() @ s.values[w], "fp64"
        else:
            data, compute = torch.empty(math.prod(after), dtype=last.dtype), None
            data[back.reshape(-1)] = last.reshape(-1)
            data = data.reshape(-1, count * parts)
        made = s.call("matmul", [rows, w], [(role, data)], {"ta": 0, "tb": 0}, library=True, compute=compute)[0]
        self.shape = list(back.shape[:-1]) + ([] if parts == 1 else [parts])
        self.i = picked(s, [made], back, role)
        return self.i


def longest_last(x, dims):
    return sorted((d % x.dim() for d in dims), key=lambda d: x.shape[d])


@operator("_fft_c2c")
def c2c(s, a, out):
    x, sign = a["self"], -1 if a["forward"] else 1
    own = snapshot(torch.view_as_real(out))
    of, axes = Transform(s, pair(s, x), tuple(x.shape) + (2,)), longest_last(x, a["dim"])
    for d in axes:
        w = matrix(s, of_complex, x.shape[d], sign, a["normalization"])
        of.along(d, w, 2, (2, x.shape[d]), "spectrum", own if d == axes[-1] else None)
    note(s, of, torch.view_as_real(out), own)


@operator("_fft_r2c")
def r2c(s, a, out):
    """The last of the axes has real operands."""
    x, dims, norm = a["self"], [d % a["self"].dim() for d in a["dim"]], a["normalization"]
    floats(s, x)
    n, own = x.shape[dims[-1]], snapshot(torch.view_as_real(out))
    kind, count = (of_real, n // 2 + 1) if a["onesided"] else (of_real_whole, n)
    axes = longest_last(x, dims[:-1])
    of = Transform(s, s.input(x), x.shape)
    of.along(dims[-1], matrix(s, kind, n, -1, norm), 1, (2, count), "spectrum", None if axes else own)
    for d in axes:
        w = matrix(s, of_complex, x.shape[d], -1, norm)
        of.along(d, w, 2, (2, x.shape[d]), "spectrum", own if d == axes[-1] else None)
    note(s, of, torch.view_as_real(out), own)


@operator("_fft_c2r")
def c2r(s, a, out):
    x, dims, norm, n = a["self"], [d % a["self"].dim() for d in a["dim"]], a["normalization"], a["last_dim_size"]
    own, last = snapshot(out), dims[-1]
    if x.shape[last] != n // 2 + 1:
        raise Unknown("other operands than half of the results")
    of = Transform(s, pair(s, x), tuple(x.shape) + (2,))
    for d in longest_last(x, dims[:-1]):
        of.along(d, matrix(s, of_complex, x.shape[d], 1, norm), 2, (2, x.shape[d]), "inner")
    of.along(last, matrix(s, to_real, n, 1, norm), 2, (1, n), "y", own)
    note(s, of, out, own)


def note(s, of, t, own):
    i = of.i if tuple(s.values[of.i].shape) == tuple(own.shape) else picked(
        s, [of.i], torch.arange(own.numel()).reshape(own.shape))
    s.known[s.key(t)] = Value(own, {"plain": i})
