# SPDX-License-Identifier: Apache-2.0
"""Systems of equations by LU factors, with inverses and determinants. Which rows LAPACK exchanges is taken as recorded:
the exact solutions do not depend on it."""
import torch

from ..flat import picked, reshaped, same_bits
from ..formats import Unknown
from ..values import Value, snapshot
from .formula import Formula
from .operands import floats
from .table import operator
from .triangular import ROUNDINGS, SPARE, Parts, Sources, gathered, note, square, turned, twice, whole


def rows_of(pivots):
    """Which row of a matrix each row of its LU factors is, from LAPACK's exchanges."""
    out = []
    for exchanged in pivots.reshape(-1, pivots.size(-1)).tolist():
        order = list(range(len(exchanged)))
        for k, j in enumerate(exchanged):
            order[k], order[j - 1] = order[j - 1], order[k]
        out.append(order)
    return torch.tensor(out)


def permuted(s, i, order):
    """The rows of a batch of matrices in another order."""
    b, n, m = s.values[i].shape
    at = torch.arange(b * n * m).reshape(b, n, m).gather(1, order[..., None].expand(b, n, m))
    return picked(s, [i], at, "rows")


def factors(s, i, own):
    """The program's tensor of the factors `own` of matrices i, the lower ones below the diagonal."""
    b, n, _ = own.shape
    p, every = Parts(s, b), slice(None)
    of, both, minus = Sources(s, (b, n, n)).put(i, every), Sources(s, (b, n, n)), Sources(s, (b, n, n))
    one = Sources(s, (b, 1, 1)).put(s.spread(p.one(), (b, 1, 1)), every)
    for j in range(n):
        left = gathered(s, [one, minus], [one.place, minus.place[:, j:j + 1, :j]])
        turn = [of.place[:, j:j + 1, j:].transpose(1, 2), both.place[:, :j, j:].transpose(1, 2)]
        row = p.product(left, turned(s, gathered(s, [of, both], turn)), own[:, j:j + 1, j:])
        both.put(row, (every, slice(j, j + 1), slice(j, n)))
        if j + 1 == n:
            continue
        minus.put(p.minus(row), (every, slice(j, j + 1), slice(j, n)))
        by = gathered(s, [one, minus], [one.place, minus.place[:, :j, j:j + 1].transpose(1, 2)])
        pivot = both.at(both.place[:, j:j + 1, j:j + 1])
        by = Sources(s, (b, 1, j + 1)).put(p.wide("div", by, s.spread(pivot, (b, 1, j + 1))), every)
        by = reshaped(s, gathered(s, [by], [by.place], SPARE), (b, j + 1 + SPARE, 1))
        below = [of.place[:, j + 1:, j:j + 1], both.place[:, j + 1:, :j]]
        column = p.product(gathered(s, [of, both], below, SPARE), by, own[:, j + 1:, j:j + 1])
        both.put(column, (every, slice(j + 1, n), slice(j, j + 1)))
        minus.put(p.minus(column), (every, slice(j + 1, n), slice(j, j + 1)))
    return both.at(both.place)


def solved(s, i, order, rhs, own, adjoint):
    """The program's tensor of the solutions `own` of A X = B, or with `adjoint` of A' X = B, where i has the LU factors
    of A with its rows in this order."""
    if not adjoint:
        return twice(s, i, i, permuted(s, rhs, order), own, (True, False))
    i, own = turned(s, i), own.gather(1, order[..., None].expand_as(own))
    return permuted(s, twice(s, i, i, rhs, own, (False, True)), order.argsort(1))


def of_matrix(s, x, lu, pivots):
    """The program's tensor of the LU factors that an operator made, the order of their rows, and whether they are those
    of the transposed matrix, as LAPACK has a matrix whose rows lie one behind the other."""
    b, n = square(x)
    own, order, i = snapshot(lu).reshape(b, n, n), rows_of(pivots), whole(s, x)
    kinds = [x.is_contiguous(), not x.is_contiguous()]
    for adjoint in kinds:
        again = torch.linalg.lu_factor_ex(x.detach().mT if adjoint else x.detach())[0].reshape(b, n, n)
        if same_bits(again, own):
            i = permuted(s, turned(s, i) if adjoint else i, order)
            return factors(s, i, own), order, adjoint
    raise Unknown("factors of another matrix")


@operator("linalg_lu_factor_ex")
def lu_factor(s, a, out):
    x = a["A"]
    floats(s, x)
    b, n = square(x)
    if x.size(-2) != n or not a["pivot"]:
        raise Unknown("a matrix that is not square, or no exchange of rows")
    i = permuted(s, whole(s, x), rows_of(out[1]))
    note(s, factors(s, i, snapshot(out[0]).reshape(b, n, n)), out[0])


@operator("linalg_lu_solve")
def lu_solve(s, a, out):
    lu, rhs, adjoint = a["LU"], a["B"], a["adjoint"]
    floats(s, lu, rhs)
    b, n = square(lu)
    if lu.shape[:-2] != rhs.shape[:-2] or not a["left"]:
        raise Unknown("matrices that are repeated, or unknowns on the left")
    own = snapshot(out).reshape(b, n, -1)
    note(s, solved(s, whole(s, lu), rows_of(a["pivots"]), whole(s, rhs), own, adjoint), out)


@operator("_linalg_solve_ex")
def solve_ex(s, a, out):
    x, rhs, (y, lu, pivots) = a["A"], a["B"], out[:3]
    floats(s, x, rhs)
    b, n = square(x)
    column = rhs.dim() == x.dim() - 1            # a vector
    if not a["left"] or (rhs.shape if column else rhs.shape[:-1]) != x.shape[:-1]:
        raise Unknown("matrices that are repeated, or unknowns on the left")
    i, order, adjoint = of_matrix(s, x, lu, pivots)
    j = reshaped(s, s.input(rhs), (b, n, rhs.numel() // (b * n)))
    own = snapshot(y).reshape(b, n, -1)
    note(s, solved(s, i, order, j, own, adjoint), y)
    note(s, i, lu)


@operator("linalg_inv_ex")
def inverse(s, a, out):
    """The solution of a system whose right sides are those of the identity, which PyTorch solves once more here."""
    x, y = a["A"].detach(), out[0]
    floats(s, x)
    b, n = square(x)
    again, lu, pivots, _ = torch.ops.aten._linalg_solve_ex(x, torch.eye(n, dtype=x.dtype).expand_as(x))
    if not same_bits(again, y.detach()):
        raise Unknown("another system than that of the identity")
    i, order, adjoint = of_matrix(s, x, lu, pivots)
    eye = s.spread(s.add("", torch.eye(n, dtype=torch.float64), name="const.identity", cls="other"), (b, n, n))
    note(s, solved(s, i, order, eye, snapshot(y).reshape(b, n, n), adjoint), y)


def diagonal(s, i):
    b, n, _ = s.values[i].shape
    return picked(s, [i], torch.arange(b * n * n).reshape(b, n, n).diagonal(0, 1, 2), "diagonal")


def sign_of(order):
    """1 or -1 for each order of rows, as the number of exchanges is even or odd."""
    signs = []
    for o in order.tolist():
        seen, sign = set(), 1
        for k in range(len(o)):
            length = 0
            while k not in seen:
                seen.add(k)
                k, length = o[k], length + 1
            sign *= -1 if length and length % 2 == 0 else 1
        signs.append(sign)
    return torch.tensor(signs, dtype=torch.float32)


def signed(s, i, order, t):
    """Notes that t is the product of rows of numbers, with the sign of the order of a matrix's rows."""
    own, product = snapshot(t), s.values[i].double().prod(1)
    signs = s.add("", sign_of(order), name="input.sign", cls="other")
    grant = float(2 * s.values[i].size(1) + ROUNDINGS)           # n products, whose sign is another one's
    i = s.call("reduce_prod", [i], [("part", product)], {"axis": 1, "axes": 1}, library=True, compute="fp64")[0]
    i = s.call("mul", [i, signs], [("y", own.reshape(-1))], {"library": grant})[0]
    s.known[s.key(t)] = Value(own, {"plain": reshaped(s, i, own.shape)})


@operator("_linalg_slogdet")
def slogdet(s, a, out):
    """The sign, and the sum of the logarithms, of what LU factors have on the diagonal."""
    x, (sign, logarithm, lu, pivots) = a["A"], out
    floats(s, x)
    i, order, _ = of_matrix(s, x, lu, pivots)
    note(s, i, lu)
    m, d = Formula(s, logarithm, tuple(s.values[i].shape[:2])), diagonal(s, i)
    signed(s, m("sign", d, dtype=x.dtype), order, sign)
    i, own = m("log", m("abs", d, dtype=x.dtype)), snapshot(logarithm)
    i = s.call("reduce_sum", [i], [("y", own.reshape(-1))], {"axis": 1, "axes": 1}, library=True)[0]
    s.known[s.key(logarithm)] = Value(own, {"plain": reshaped(s, i, own.shape)})


@operator("_linalg_det")
def det(s, a, out):
    """The product of what LU factors have on the diagonal, with the sign of the exchanges."""
    x, (y, lu, pivots) = a["A"], out
    floats(s, x)
    i, order, _ = of_matrix(s, x, lu, pivots)
    note(s, i, lu)
    signed(s, diagonal(s, i), order, y)
