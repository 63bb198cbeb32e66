# SPDX-License-Identifier: Apache-2.0
"""Distances of all rows to each other, products of vectors of three, and grids of affine maps."""
import math

import torch

from ..flat import behind, picked, reshaped, same_bits, sums
from ..formats import Unknown
from ..values import Value, snapshot, tensors_in
from .formula import Formula
from .operands import floats, native
from .table import operator


def differences(s, x, y, out):
    """x_i - y_j of all rows i and j: [batch, i, j, column], as exact as fp64 has them."""
    floats(s, x, y, out)
    n, m, c = x.size(-2), y.size(-2), x.size(-1)
    if x.dim() > 3 or x.shape[:-2] != y.shape[:-2]:
        raise Unknown("batches of several axes")
    batch = x.numel() // max(n * c, 1)
    form = (batch, n, m, c)
    i = s.spread(reshaped(s, s.input(x), (batch, n, 1, c)), form)
    j = s.spread(reshaped(s, s.input(y), (batch, 1, m, c)), form)
    return s.call("sub", [i, j], [("apart", s.values[i].double() - s.values[j].double())])[0]


@operator("_cdist_forward")
def cdist(s, a, out):
    out = next(tensors_in(out))
    i, p = differences(s, a["x1"], a["x2"], out), float(a["p"])
    if p not in (1, 2, math.inf):
        raise Unknown("a norm of another order")
    if p != 2:
        i = s.call("abs", [i], [("apart", s.values[i].abs())])[0]
    op = {1: "reduce_sum", 2: "reduce_norm"}.get(p, "reduce_max")
    own = snapshot(out)
    j = s.call(op, [i], [("y", own.reshape(s.values[i].shape[:3]))], {"axis": 3, "axes": 1}, library=True,
            compute=None)[0]
    s.known[s.key(out)] = Value(own, {"plain": reshaped(s, j, own.shape, "y")})


@operator("_euclidean_dist")
def euclidean(s, a, out):
    """The root of |x|^2 - 2 x y + |y|^2, which PyTorch takes for more than 25 rows: a product of the rows with these
    squares beside them, whose sums are rounded to the tensors' format."""
    out = next(tensors_in(out))
    x, y, own = a["x1"], a["x2"], snapshot(out)
    floats(s, x, y, out)
    if x.dim() > 3 or x.shape[:-2] != y.shape[:-2]:
        raise Unknown("batches of several axes")
    last, rows = x.dim() - 1, []
    for t, double in ((x, True), (y, False)):
        i, wide = s.input(t), t.detach().cpu()
        squares = s.call("reduce_squares", [i], [("squares", wide.pow(2).sum(-1))], {"axis": last, "axes": 1},
                library=True, compute=native(out))[0]
        form = (*t.shape[:-1], 1)
        both = [reshaped(s, squares, form), s.spread(s.constant(1, t.dtype), form)]
        i = s.call("scale", [i], [("twice", s.values[i] * -2)], {"factor": -2.0})[0] if double else i
        every = [i] + (both if double else both[::-1])
        data = torch.cat([s.values[k] for k in every], last)
        rows.append(s.call("concat", every, [("row", data)], {"axis": last})[0])
    product = s.values[rows[0]] @ s.values[rows[1]].mT
    if not same_bits(product.clamp(min=0).sqrt(), own):
        raise Unknown("another product")
    attr = {"ta": 0, "tb": 1, **({"batch": 1} if last == 2 else {})}
    i = s.call("matmul", rows, [("square", product)], attr, library=True)[0]
    i = s.call("max", [i, s.spread(s.constant(0, own.dtype), tuple(own.shape))], [("square", product.clamp(min=0))])[0]
    s.result("sqrt", [i], out, library=True)


@operator("_cdist_backward")
def cdist_backward(s, a, out):
    """The sums over all j of g_ij (x_i - y_j) / d_ij, or of its sign for the norm of order 1; 0 where d is 0."""
    out = next(tensors_in(out))
    i, p = differences(s, a["x1"], a["x2"], out), float(a["p"])
    if p not in (1, 2):
        raise Unknown("a norm of another order")
    form = tuple(s.values[i].shape)
    m = Formula(s, out, form)
    g, d = (m.shaped(a[k], form[:3] + (1,)) for k in ("grad_output" if "grad_output" in a else "grad", "cdist"))
    if p == 1:
        each = m("mul", g, m("sign", i))
    else:
        zero = m("equal", d, 0.0)
        each = m("mul", m("mask_out", zero, m("div", g, m("where", zero, 1.0, d))), i)
    own = snapshot(out)
    j = s.call("reduce_sum", [each], [("dx", own.reshape(form[0], form[1], form[3]))], {"axis": 2, "axes": 1},
            library=True)[0]
    s.known[s.key(out)] = Value(own, {"plain": reshaped(s, j, own.shape, "dx")})


def pairs(s, x, out):
    """x_i - x_j of all rows i < j, as exact as fp64 has them, and the numbers i and j."""
    floats(s, x, out)
    i, j = torch.triu_indices(x.size(0), x.size(0), 1)
    each = torch.arange(x.size(1))
    a, b = (picked(s, [s.input(x)], k[:, None] * x.size(1) + each, "row") for k in (i, j))
    return s.call("sub", [a, b], [("apart", s.values[a].double() - s.values[b].double())])[0], i, j


@operator("_pdist_forward")
def pdist(s, a, out):
    out = next(tensors_in(out))
    i, p = pairs(s, a["self"], out)[0], float(a["p"])
    if p not in (1, 2):
        raise Unknown("a norm of another order")
    if p == 1:
        i = s.call("abs", [i], [("apart", s.values[i].abs())])[0]
    s.result("reduce_sum" if p == 1 else "reduce_norm", [i], out, {"axis": 1, "axes": 1}, library=True)


@operator("_pdist_backward")
def pdist_backward(s, a, out):
    """g_ij (x_i - x_j) / d_ij, or of its sign for the norm of order 1, is added to row i and taken from row j."""
    out = next(tensors_in(out))
    (apart, i, j), p = pairs(s, a["self"], out), float(a["p"])
    if p not in (1, 2):
        raise Unknown("a norm of another order")
    m = Formula(s, out, tuple(s.values[apart].shape))
    g, d = (m.shaped(a[k], (len(i), 1)) for k in ("grad" if "grad" in a else "grad_output", "pdist"))
    if p == 1:
        each = m("mul", g, m("sign", apart))
    else:
        zero = m("equal", d, 0.0)
        each = m("mul", m("mask_out", zero, m("div", g, m("where", zero, 1.0, d))), apart)
    both = behind(s, [each, m("neg", each)])
    at = torch.cat([i, j])[:, None] * out.size(1) + torch.arange(out.size(1))
    sums(s, None, both, at, out, compute=native(out))


@operator("linalg_cross", "cross")
def cross(s, a, out):
    """x_1 y_2 - x_2 y_1 and so on; the CPU rounds the first product to 16 bits where that is the format."""
    out = next(tensors_in(out))
    x, y = a["self"], a["other"]
    floats(s, x, y, out)
    m = Formula(s, out)
    at, dim = torch.arange(out.numel()).reshape(out.shape), a["dim"] if a["dim"] is not None else -1
    ids = []
    for t, turn in ((x, 1), (y, 2), (x, 2), (y, 1)):
        i = m.of(t)
        ids.append(picked(s, [i], at.roll(-turn, dim), "turned"))
    first = m("mul", ids[0], ids[1], dtype=out.dtype if native(out) else m.wide)
    m.end("addcmul", first, ids[2], ids[3], factor=-1.0, library=True, compute=native(out))


@operator("affine_grid_generator")
def affine_grid(s, a, out):
    """[x y 1] theta, where x and y are the places of a grid in the format of theta."""
    out, theta = next(tensors_in(out)), a["theta"]
    floats(s, out, theta)
    n, r = theta.size(0), theta.size(1)
    unit = torch.eye(r, r + 1, dtype=theta.dtype, device=theta.device)[None]
    base = torch.ops.aten.affine_grid_generator(unit, [1] + list(a["size"])[1:], a["align_corners"])
    base = torch.cat([base.reshape(-1, r), torch.ones_like(base.reshape(-1, r)[:, :1])], 1).cpu()
    i = s.add("", base, name="input.grid", cls="other")
    j = reshaped(s, s.input(theta), (n * r, r + 1))
    own = snapshot(out)
    rows = own.reshape(n, -1, r).transpose(0, 1).reshape(-1, n * r).contiguous()
    made = s.call("matmul", [i, j], [("y@rows", rows)], {"ta": 0, "tb": 1}, library=True)[0]
    at = torch.arange(rows.numel()).reshape(-1, n, r).transpose(0, 1).reshape(own.shape)
    s.known[s.key(out)] = Value(own, {"plain": picked(s, [made], at, "y")})
