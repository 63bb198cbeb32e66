# SPDX-License-Identifier: Apache-2.0
"""Sparse tensors: rows of a table by their numbers, as embeddings with sparse=True have their gradients. Which rows
these are is taken as recorded; the rows are a tensor of their own, of which the calls are made. Sums of rows are added
in the tensor's own format, one after the other."""
import torch

from ..flat import pick, picked, reshaped, same_bits, sums
from ..formats import Unknown
from ..values import Value, snapshot, tensors_in
from .added import serial
from .operands import floats
from .table import operator


def rows(t):
    """The numbers of t's rows among those of the whole tensor, on the host, and its tensor of rows."""
    if t.layout is not torch.sparse_coo:
        raise Unknown("a sparse tensor of another layout")
    at, size = t._indices().cpu(), t.shape[:t.sparse_dim()]
    number = torch.zeros(at.size(1), dtype=torch.int64)
    for k, n in enumerate(size):
        number = number * n + at[k]
    return number, t._values()


def known(s, t, i=None):
    """Notes that the rows of t are those of the program's tensor i, or what is known of them as they are."""
    held = t._values()
    if i is not None:
        s.known[s.key(held)] = Value(snapshot(held), {"plain": i})
    s.known[s.key(t)] = Value(None, behind=[s.input(held)], name="a sparse tensor")


def places(number, values):
    """The places in the whole tensor of the elements of rows."""
    width = values[0].numel() if len(values) else 1
    return number[:, None] * width + torch.arange(width)


def dense(s, t, whole):
    """The call whose result is the tensor `whole`, the rows of t added up."""
    number, values = rows(t)
    floats(s, values, whole)
    sums(s, None, s.input(values), places(number, values), whole, "dense", compute=serial(whole))


@operator("sparse:_sparse_coo_tensor_with_dims_and_tensors", "sparse:clone", "sparse:detach", "sparse:_coalesced_",
          "sparse:t", "sparse:transpose")
def made(s, a, out):
    """The rows as they are, or a copy of them; a transposed tensor has other numbers for the same rows."""
    t = next(tensors_in(out))
    source = a["values"] if "values" in a else a["self"]._values()
    if t._values().shape != source.shape:
        raise Unknown("rows of another shape")
    known(s, t, s.input(source))


@operator("sparse:_values", "sparse:values")
def values(s, a, out):
    t = next(tensors_in(out))
    s.known[s.key(t)] = Value(snapshot(t), {"plain": s.input(a["self"]._values())})


@operator("sparse:_indices", "sparse:indices")
def indices(s, a, out):
    s.decided([a["self"]._values()], next(tensors_in(out)))


@operator("sparse:_coalesce")
def coalesce(s, a, out):
    """Rows of one number are added up."""
    t = next(tensors_in(out))
    number, values = rows(a["self"])
    to, own = rows(t)
    at = places(torch.searchsorted(to, number), values)
    sums(s, None, s.input(values), at, own, "rows", compute=serial(own))
    known(s, t)


@operator("sparse:sparse_mask")
def sparse_mask(s, a, out):
    """The rows of a tensor that another one has."""
    t = next(tensors_in(out))
    number, own = rows(t)
    pick(s, [s.input(a["self"])], places(number, own).reshape(own.shape), own, "rows")
    known(s, t)


@operator("sparse:mul", "sparse:div")
def scaled(s, a, out):
    """The rows times a number."""
    t, by = next(tensors_in(out)), a["other"]
    if isinstance(by, torch.Tensor) and (by.numel() != 1 or by.layout is not torch.strided):
        raise Unknown("a product with a tensor")
    x = s.input(a["self"]._values())
    op = s.running[0]._schema.name.rpartition("::")[2].rstrip("_")
    y = s.input(by) if isinstance(by, torch.Tensor) else s.constant(float(by), torch.float64)
    own = t._values()
    s.result(op, [x, s.spread(y, own.shape)], own, library=True)
    known(s, t)


@operator("sparse:add")
def add(s, a, out):
    """Rows behind rows, or rows that are added to a tensor, times alpha."""
    t, alpha = next(tensors_in(out)), float(a["alpha"])
    if t.layout is torch.strided:
        return added(s, a["self"], a["other"], alpha, t)
    if alpha != 1:
        raise Unknown("sums of sparse tensors with a factor")
    (own_rows, own), sides = rows(t), [rows(a[k]) for k in ("self", "other")]
    ids = [s.input(v) for _, v in sides]
    n = [len(r) for r, _ in sides]
    if torch.equal(own_rows, torch.cat([r for r, _ in sides])):
        pick(s, ids, places(torch.arange(sum(n)), own).reshape(own.shape), own, "rows")
        return known(s, t)
    at = merged(*(r.tolist() for r, _ in sides))
    if own_rows.tolist() != [r for r, _, _ in at]:
        raise Unknown("rows in an order of another kernel")
    floats(s, own, *(v for _, v in sides))
    parts = []
    for i, k in zip(ids, (1, 2)):
        from_row = torch.tensor([row[k] for row in at])
        from_places = torch.where(from_row[:, None] < 0, -1, places(from_row, own)).reshape(own.shape)
        parts.append(picked(s, [i], from_places, "rows"))
    s.result("add", parts, own)
    return known(s, t)


def merged(one, other):
    """The rows that PyTorch's kernel makes of two lists of them, by walking along both: the number of each, and of
    which row of either it is made, else -1. Rows that have the same number where both walks stand are added up."""
    out, i, j = [], 0, 0
    while i < len(one) or j < len(other):
        of_one = j == len(other) or i < len(one) and one[i] <= other[j]
        of_other = i == len(one) or j < len(other) and other[j] <= one[i]
        out.append((one[i] if of_one else other[j], i if of_one else -1, j if of_other else -1))
        i, j = i + of_one, j + of_other
    return out


def added(s, base, other, alpha, t):
    number, values = rows(other)
    floats(s, base, values, t)
    i = s.input(values)
    if alpha != 1:
        exact = s.values[i].double() * alpha
        low = exact.to(t.dtype)
        at = number.reshape(-1)
        once = s.values[s.input(base)].reshape(-1, values[0].numel()).index_add(0, at, low.reshape(len(at), -1))
        fits = same_bits(once, snapshot(t).reshape(once.shape))    # a kernel may fuse the product and the sum
        i = s.call("scale", [i], [("scaled", low if fits else exact)], {"factor": alpha}, library=True)[0]
    sums(s, s.input(base), i, places(number, values), t, "y", compute=serial(t))


@operator("sparse:mm", "sparse:_sparse_mm", "sparse:addmm", "sparse:_sparse_addmm")
def product(s, a, out):
    """A sparse matrix times a dense one: each of its elements times a row, added to a row of the result. Which elements
    there are is taken as recorded."""
    t = next(tensors_in(out))
    x, y = (a["mat1"], a["mat2"]) if "mat1" in a else [v for v in a.values() if isinstance(v, torch.Tensor)]
    if "mat1" in a and (float(a["beta"]) != 0 or float(a["alpha"]) != 1):
        raise Unknown("factors of a sparse product")
    if x.layout is not torch.sparse_coo or y.layout is not torch.strided or x._values().dim() != 1:
        raise Unknown("sparse tensors of other layouts")
    own = x._values()
    floats(s, own, y, t)
    at, each = x._indices().cpu(), torch.arange(y.size(1))
    row = picked(s, [s.input(y)], at[1][:, None] * y.size(1) + each, "row")
    by = s.spread(reshaped(s, s.input(own), (own.numel(), 1)), (own.numel(), y.size(1)))
    i = s.call("mul", [by, row], [("scaled", s.values[by].double() * s.values[row].double())])[0]
    sums(s, None, i, at[0][:, None] * y.size(1) + each, t, "y", compute=serial(t))
