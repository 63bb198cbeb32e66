# SPDX-License-Identifier: Apache-2.0
"""Cholesky's factors, and systems of triangular matrices. What LAPACK computes of a matrix a row or a column at a time
is a product here: of the row's right side and of the rows before it with the numbers that they are multiplied by, over
the diagonal's. Whatever its blocks are, its sums are of these products, in some order."""
import torch

from ..flat import flat, picked, reshaped, same_bits
from ..formats import RANK, Unknown
from ..moves import permuting_move
from ..values import Value, snapshot
from .operands import floats
from .table import operator

MOST = 64                                        # rows of a matrix, each of which is several calls
SPARE = 3                                        # terms of zero that grant a quotient's roundings: two of a reciprocal
MOST_SPARE = 1 << 12                             # terms of zero of one row
ROUNDINGS = 4                                    # of a root, in unit roundoffs, beside those of its sum


class Parts:
    """Products of a batch of matrices, whose operands are gathered from parts of matrices."""

    def __init__(self, s, batch):
        self.s, self.batch = s, batch

    def one(self):
        return self.s.constant(1, torch.float32, (1,))

    def wide(self, op, *ids):
        """An elementary operation in fp64."""
        s, (x, *y) = self.s, [self.s.values[i].double() for i in ids]
        data = {"neg": torch.neg, "div": torch.div, "mul": torch.mul}[op](x, *y)
        return s.call(op, list(ids), [("part", data)])[0]

    def minus(self, i):
        return self.s.call("neg", [i], [("minus", -self.s.values[i])])[0]

    def product(self, x, y, own=None, role="part"):
        """x times y; `own` is what PyTorch has of it, and without it the product is one of fp64."""
        s = self.s
        data = s.values[x].double() @ s.values[y].double() if own is None else own.contiguous()
        compute = "fp64" if own is None else None
        return s.call("matmul", [x, y], [(role, data)], {"ta": 0, "tb": 0, "batch": 1}, library=True,
                compute=compute)[0]


class Sources:
    """Tensors of the program whose elements are gathered by their places in a matrix of each of the batch, as `put`
    notes them: places that nothing was put at are 0."""

    def __init__(self, s, shape):
        self.s, self.ids, self.size = s, [], 0
        self.place = torch.full(shape, -1)

    def put(self, i, where):
        """Notes that the elements of i are those at `where`, a mask or an index of the matrices."""
        n = self.s.values[i].numel()
        self.place[where] = torch.arange(self.size, self.size + n).reshape(self.place[where].shape)
        self.ids.append(flat(self.s, i))
        self.size += n
        return self

    def at(self, *parts):
        """Gathers from these places, [batch, rows, columns], that stand side by side along the last axis."""
        return picked(self.s, self.ids, torch.cat(parts, -1), "part")


def empty(like, count):
    """Places of nothing beside others."""
    return torch.full((*like.shape[:-1], count), -1)


def square(t):
    """The batch's size and how many rows its matrices have."""
    if t.dim() > RANK or not 0 < t.size(-1) <= MOST or not t.numel():
        raise Unknown("matrices of more than %d rows" % MOST)
    return t.numel() // (t.size(-2) * t.size(-1)), t.size(-1)


def whole(s, t):
    """The program's tensor of a batch of matrices, [batch, rows, columns]."""
    return reshaped(s, s.input(t), (t.numel() // (t.size(-2) * t.size(-1)), t.size(-2), t.size(-1)))


def turned(s, i):
    """The transposed matrices of a batch."""
    data = s.values[i].transpose(1, 2).contiguous()
    return s.call("move", [i], [("turned", data)], permuting_move(list(s.values[i].shape), [0, 2, 1]))[0]


def factor(s, i, own):
    """The program's tensor of Cholesky's lower factors `own` of matrices i, of which the lower triangles are read."""
    b, n, _ = own.shape
    p, every = Parts(s, b), (slice(None),)
    left = Sources(s, (b, n, n + 1)).put(i, (*every, slice(None), slice(0, n)))      # A, then L column by column
    plus, minus = Sources(s, (b, n, n)), Sources(s, (b, n, n))
    one = Sources(s, (b, 1, 1)).put(s.spread(p.one(), (b, 1, 1)), every)
    for j in range(n):
        own_row = own[:, j, :j].double()
        a_jj = left.place[:, j:j + 1, j:j + 1]
        row = gathered(s, [left, plus], [a_jj, plus.place[:, j:j + 1, :j]])
        by = reshaped(s, gathered(s, [one, minus], [one.place, minus.place[:, j:j + 1, :j]]), (b, j + 1, 1))
        rest = p.product(row, by)
        left_over = s.values[rest].reshape(b)
        if not (left_over > 0).all():
            raise Unknown("a matrix that is not positive definite")
        size = (s.values[i][:, j, j].double().abs() + own_row.square().sum(1)) / left_over
        grant = float(ROUNDINGS + (j + 2) * size.max())
        root = s.call("sqrt", [rest], [("root", own[:, j:j + 1, j:j + 1].contiguous())], {"library": grant})[0]
        plus.put(root, (*every, slice(j, j + 1), slice(j, j + 1)))
        if j + 1 < n:
            over = s.spread(p.wide("div", s.spread(p.one(), (b, 1, 1)), root), (b, j + 1, 1))
            by = Sources(s, (b, j + 1, 1)).put(p.wide("mul", by, over), every)
            by = by.at(by.place.transpose(1, 2), empty(by.place.transpose(1, 2), SPARE))
            by = reshaped(s, by, (b, j + 1 + SPARE, 1))
            below = plus.place[:, j + 1:, :j]
            rows = gathered(s, [left, plus], [left.place[:, j + 1:, j:j + 1], below], SPARE)
            column = p.product(rows, by, own[:, j + 1:, j:j + 1])
            plus.put(column, (*every, slice(j + 1, n), slice(j, j + 1)))
            minus.put(p.minus(column), (*every, slice(j + 1, n), slice(j, j + 1)))
    return plus.at(plus.place)


def gathered(s, sources, places, spare=0):
    """Elements of several sources side by side, and `spare` zeros."""
    ids, parts, start = [], [], 0
    for of, at in zip(sources, places):
        if at.size(-1):
            parts.append(torch.where(at >= 0, at + start, -1))
            ids += of.ids
            start += of.size
    return picked(s, ids, torch.cat(parts + ([empty(parts[0], spare)] if spare else []), -1), "part")


def substituted(s, i, rhs, own, upper, unit, spare=None):
    """The program's tensor of the solutions `own` of T X = B, of triangular matrices i and right sides rhs; without
    `own` they are those of fp64. `spare` has each row's terms of zero."""
    b, n, m = s.values[rhs].shape
    p, every = Parts(s, b), slice(None)
    tri = Sources(s, (b, n, n)).put(i, every)
    r, c = torch.triu_indices(n, n, 1) if upper else torch.tril_indices(n, n, -1)
    minus, over = Sources(s, (b, n, n)), Sources(s, (b, n, 1))
    ones = s.spread(p.one(), (b, n, 1))
    over.put(ones if unit else p.wide("div", ones, tri.at(tri.place.diagonal(0, 1, 2)[..., None])), every)
    if len(r):
        part = tri.at(tri.place[:, r, c])
        part = p.minus(part) if unit else p.wide("neg", p.wide("div", part, tri.at(tri.place[:, r, r])))
        minus.put(part, (every, r, c))
    known, right = Sources(s, (b, n, m)), Sources(s, (b, n, m)).put(rhs, every)
    for j in range(n - 1, -1, -1) if upper else range(n):
        before, more = slice(j + 1, n) if upper else slice(0, j), SPARE + (spare[j] if spare else 0)
        row = gathered(s, [over, minus], [over.place[:, j:j + 1], minus.place[:, j:j + 1, before]], more)
        turn = [right.place[:, j:j + 1].transpose(1, 2), known.place[:, before].transpose(1, 2)]
        terms = turned(s, gathered(s, [right, known], turn, more))
        known.put(p.product(row, terms, own[:, j:j + 1] if own is not None else None), (every, slice(j, j + 1)))
    return known.at(known.place)


def twice(s, first, second, rhs, own, units=(False, False)):
    """The program's tensor of the solutions `own` of T Z X = B, where the lower triangular matrices T are `first` and
    the upper ones Z `second`. What a library has between the two systems no tensor shows: Y, which solves the first one
    in fp64, stands for it. Row by row the library's is off by no more than e = g |T^-1| |T| |Y|, g being n + 2 unit
    roundoffs (Higham, Accuracy and Stability, 8.1), and each row of X is granted what e is beside its terms."""
    y = substituted(s, first, rhs, None, False, units[0])
    t, z, between, n = s.values[first].double().tril(), s.values[second].double().triu(), s.values[y], own.shape[1]
    if units[0]:
        t = t.tril(-1) + torch.eye(n, dtype=torch.float64)
    unit = torch.finfo(own.dtype).eps / 2
    e = (n + 2) * unit * torch.linalg.inv(t).abs() @ (t.abs() @ between.abs()) * 1.01
    if own.dtype == torch.float64:
        e = 2 * e                                # y is off as well
    if units[1]:
        z = z.triu(1) + torch.eye(n, dtype=torch.float64)
    size = between.abs() + z.triu(1).abs() @ own.double().abs()
    spare = (e / (unit * size)).nan_to_num(0.0, 0.0).amax((0, 2)).ceil()
    if spare.max() > MOST_SPARE:
        raise Unknown("a system whose solution between two triangular ones is not known well enough")
    return substituted(s, second, y, own, True, units[1], [int(k) for k in spare])


def note(s, i, t):
    """Notes that PyTorch's tensor t has the numbers of the program's tensor i."""
    own = snapshot(t)
    i = reshaped(s, i, own.shape)
    if not same_bits(s.values[i], own):
        raise Unknown("other values than those of its rows")
    s.known[s.key(t)] = Value(own, {"plain": i})


@operator("linalg_cholesky_ex", "cholesky")
def cholesky(s, a, out):
    x, upper = a["self"], a["upper"]
    made = out[0] if isinstance(out, (list, tuple)) else out
    floats(s, x)
    b, n = square(x)
    own, i = snapshot(made).reshape(b, n, n), whole(s, x)
    i = factor(s, turned(s, i), own.transpose(1, 2)) if upper else factor(s, i, own)
    note(s, turned(s, i) if upper else i, made)


@operator("linalg_solve_triangular")
def solve_triangular(s, a, out):
    x, rhs, upper = a["self"], a["B"], a["upper"]
    floats(s, x, rhs)
    _, n = square(x)
    shape = torch.broadcast_shapes(x.shape[:-2], rhs.shape[:-2])
    i = s.spread(s.input(x), (*shape, n, n))
    j = s.spread(s.input(rhs), (*shape, *rhs.shape[-2:]))
    own, b = snapshot(out).reshape(-1, *out.shape[-2:]), out.numel() // (out.size(-2) * out.size(-1))
    i, j = reshaped(s, i, (b, n, n)), reshaped(s, j, own.shape)
    if not a["left"]:                            # X T = B is T' X' = B'
        i, j, own, upper = turned(s, i), turned(s, j), own.transpose(1, 2), not upper
    i = substituted(s, i, j, own, upper, a["unitriangular"])
    note(s, i if a["left"] else turned(s, i), out)


@operator("cholesky_solve")
def cholesky_solve(s, a, out):
    x, rhs = a["input2"], a["self"]
    floats(s, x, rhs)
    b, n = square(x)
    if x.shape[:-2] != rhs.shape[:-2]:
        raise Unknown("matrices that are repeated")
    i = whole(s, x)
    low, up = (turned(s, i), i) if a["upper"] else (i, turned(s, i))
    note(s, twice(s, low, up, whole(s, rhs), snapshot(out).reshape(b, n, -1)), out)
