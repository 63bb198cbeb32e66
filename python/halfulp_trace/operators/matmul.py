# SPDX-License-Identifier: Apache-2.0
"""Products of matrices."""
import torch

from ..flat import picked, reshaped, same_bits
from ..formats import Unknown
from ..moves import flat_move, permuting_move
from ..values import Value, geometry, snapshot
from .formula import Formula
from .operands import floats, native
from .table import operator


def matrix(s, t):
    """A factor of a product as the program has it, and whether it is stored transposed."""
    key = s.key(t)
    parent = s.parent.get((key[0], key[2]))
    if key not in s.known and parent is not None and parent.dtype == t.dtype and parent.dim() == t.dim() >= 2:
        swapped = parent.transpose(-1, -2)
        if geometry(swapped) == geometry(t):
            return s.input(parent), 1
    return s.input(t), 0


def product(s, x, y, out, batch=0):
    floats(s, out)
    (i, ta), (j, tb) = x, y
    s.result("matmul", [i, j], out, dict({"ta": ta, "tb": tb}, **({"batch": batch} if batch else {})), library=True)


@operator("mm")
def mm(s, a, out):
    product(s, matrix(s, a["self"]), matrix(s, a["mat2"]), out)


@operator("bmm")
def bmm(s, a, out):
    product(s, matrix(s, a["self"]), matrix(s, a["mat2"]), out, 1)


def beside(s, i, j, axis):
    """Two tensors of the program, one behind the other along an axis."""
    data = torch.cat([s.values[i], s.values[j]], axis)  # in the wider format of the two
    name = s.program.tensors[i]["name"]
    return s.call("concat", [i, j], [(name.rpartition(".")[2].split("@")[0] + "@more", data)], {"axis": axis},
            layer=name.rpartition(".")[0])[0]


@operator("addmm")
def addmm(s, a, out):
    """A product and a bias that are rounded once are one product: [x 1] [w; b]."""
    b, x, w = a["self"], a["mat1"], a["mat2"]
    if a["alpha"] != 1 or a["beta"] != 1 or b.numel() != out.size(-1) or b.dim() > 1 and b.size(-1) != out.size(-1):
        with_factors(s, b, matrix(s, x), matrix(s, w), a["alpha"], a["beta"], out)
        return
    (i, ta), (j, tb), k = matrix(s, x), matrix(s, w), s.input(b)
    row = [b.numel(), 1] if tb else [1, b.numel()]
    k = s.call("move", [k], [("b@row", s.values[k].reshape(row))], flat_move(row))[0]
    one = s.constant(1, x.dtype, (1, x.size(0)) if ta else (x.size(0), 1))
    product(s, (beside(s, i, one, 0 if ta else 1), ta), (beside(s, j, k, 1 if tb else 0), tb), out)


def times(s, i, factor):
    """Tensor i times a number, in fp64."""
    return i if factor == 1 else s.call("scale", [i], [("factor", s.values[i].double() * factor)],
            {"factor": float(factor)})[0]


def with_factors(s, c, x, y, alpha, beta, out):
    """alpha x y + beta c is one product, whose terms the kernel adds up and rounds once: [alpha x, beta I] [y; c], or
    [x, c] [alpha y; beta I] where that identity is smaller. A beta of 0 leaves c out. Where c is infinite, as a mask
    is, so is the result, and the identity's zeros would make NaN of it."""
    floats(s, out)
    (i, ta), (j, tb) = x, y
    batch = 1 if out.dim() == 3 else 0
    if beta == 0:
        product(s, (times(s, i, alpha), ta), (j, tb), out, batch)
        return
    shape = tuple(out.shape)
    whole = k = s.spread(s.input(c), shape)
    bad = ~s.values[k].isfinite()
    if bad.any():
        apart = s.add("", bad.float(), name="input.infinite", cls="other")
        k = s.call("mask_out", [apart, k], [("c@finite", s.values[k].masked_fill(bad, 0))])[0]
    last, before = out.dim() - 1, out.dim() - 2
    small = before if shape[before] <= shape[last] else last
    n = shape[small]
    eye = s.add("", torch.eye(n, dtype=torch.float64) * beta, name="const.identity", cls="other")
    eye = s.spread(eye, (*shape[:-2], n, n))
    if small == before:
        left = beside(s, times(s, i, alpha), eye, before if ta else last)
        if tb:
            k = turned(s, k)
        right = beside(s, j, k, last if tb else before)
    else:
        if ta:
            k = turned(s, k)
        left = beside(s, i, k, before if ta else last)
        right = beside(s, times(s, j, alpha), eye, last if tb else before)
    if not bad.any():
        product(s, (left, ta), (right, tb), out, batch)
        return
    x, y = (s.values[i].double().mT if t else s.values[i].double() for i, t in ((left, ta), (right, tb)))
    own = torch.where(bad, (x @ y).to(out.dtype), snapshot(out))
    made = s.call("matmul", [left, right], [("y@finite", own)], dict({"ta": ta, "tb": tb}, **(
            {"batch": batch} if batch else {})), library=True)[0]
    s.result("where", [apart, times(s, whole, beta), made], out)


def turned(s, i):
    """Tensor i with its last two axes exchanged."""
    shape, n = list(s.values[i].shape), s.values[i].dim()
    order = [*range(n - 2), n - 1, n - 2]
    return s.call("move", [i], [("c@turned", s.values[i].permute(order).contiguous())], permuting_move(shape, order))[0]


@operator("baddbmm")
def baddbmm(s, a, out):
    with_factors(s, a["self"], matrix(s, a["batch1"]), matrix(s, a["batch2"]), a["alpha"], a["beta"], out)


@operator("addmv")
def addmv(s, a, out):
    """The matrix times a vector, and the factors, as a product with a column."""
    (i, ta), v, own = matrix(s, a["mat"]), s.input(a["vec"]), snapshot(out)
    v = times(s, reshaped(s, v, (s.values[v].numel(), 1)), a["alpha"])
    if a["beta"] != 0:
        c = s.spread(s.input(a["self"]), tuple(own.shape))
        i = beside(s, i, reshaped(s, c, (1, len(own)) if ta else (len(own), 1)), 0 if ta else 1)
        v = beside(s, v, s.constant(float(a["beta"]), torch.float64, (1, 1)), 0)
    made = s.call("matmul", [i, v], [("y@column", own.reshape(-1, 1))], {"ta": ta, "tb": 0}, library=True)[0]
    s.known[s.key(out)] = Value(own, {"plain": reshaped(s, made, own.shape, "y")})


@operator("addbmm")
def addbmm(s, a, out):
    """The products of a batch, added up: one product of the matrices side by side. A kernel for 16 bits rounds the sum
    behind each product."""
    x, y, own = a["batch1"], a["batch2"], snapshot(out)
    i, j, (b, n, k) = s.input(x), s.input(y), x.size()
    if out.dtype.itemsize < 4 and b > 1:
        one_by_one(s, a, i, j, out)
        return
    wide = s.values[i].permute(1, 0, 2).contiguous()
    i = s.call("move", [i], [("x@turned", wide)], permuting_move([b, n, k], [1, 0, 2]))[0]
    with_factors(s, a["self"], (reshaped(s, i, (n, b * k)), 0), (reshaped(s, j, (b * k, own.size(1))), 0), a["alpha"],
                 a["beta"], out)


def one_by_one(s, a, i, j, out):
    """Sums behind each product of a batch, which PyTorch's own product of two matrices gives once more."""
    x, y, beta = a["batch1"], a["batch2"], a["beta"]
    each = torch.arange(x[0].numel()).reshape(x[0].shape), torch.arange(y[0].numel()).reshape(y[0].shape)
    total, held = a["self"].detach().expand(out.shape), []
    for b in range(len(x)):
        held.append(torch.addmm(total, x[b], y[b], beta=beta, alpha=a["alpha"]))
        total, beta = held[-1], 1
    if not same_bits(total, out):
        raise Unknown("sums of another kernel")
    s.held += held
    for b, t in enumerate(held):
        left, right = (picked(s, [k], e + b * e.numel(), "one") for k, e in zip((i, j), each))
        c, beta = (held[b - 1], 1) if b else (a["self"], a["beta"])
        with_factors(s, c, (left, 0), (right, 0), a["alpha"], beta, out if t is total else t)


@operator("addr")
def addr(s, a, out):
    """A column times a row beside a matrix: PyTorch's kernel rounds the product before it adds, and with factors those
    of the column and the matrix."""
    m, u, v, alpha, beta = Formula(s, out), a["vec1"], a["vec2"], a["alpha"], a["beta"]
    i, j = reshaped(s, s.input(u), (u.numel(), 1)), reshaped(s, s.input(v), (1, v.numel()))
    between = out.dtype if native(out) else m.wide
    c = m.of(a["self"]) if beta != 0 else None
    if alpha != 1:
        i = m("scale", i, dtype=between, factor=float(alpha))
    if c is not None and beta != 1:
        c = m("scale", c, dtype=between, factor=float(beta))
    if c is None:
        m.end("mul", i, j, compute=native(out), library=True)
        return
    m.end("add", c, m("mul", i, j, dtype=between), compute=native(out), library=True)
