# SPDX-License-Identifier: Apache-2.0
"""Cholesky's and LU factors, triangular and other systems, inverses and determinants, as the recorder has them
(operators.py says how they are judged). Matrices are well and badly conditioned, in batches, with rows that want an
exchange, and larger than the blocks of a library. PyTorch has none of these in 16 bits."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from operators import Row, fixed, judge, normal, torch  # noqa: E402
from tap import finish, home  # noqa: E402

os.chdir(home())
L = torch.linalg
ONLY = {'formats': ('fp32',)}


def definite(*shape, least=1.0):
    """Positive definite matrices, whose condition is the larger the smaller `least` is."""
    def draw(g):
        x = torch.randn(*shape, generator=g)
        return x @ x.mT / shape[-1] + least * torch.eye(shape[-1])
    return draw


def triangle(*shape):
    """Matrices with a diagonal away from 0; either triangle may be read."""
    return lambda g: torch.randn(*shape, generator=g) / 4 + torch.eye(shape[-1]) * 2


def exchanged(*shape):
    """Matrices whose largest elements stand in other rows, with numbers of many magnitudes."""
    def draw(g):
        x = torch.randn(*shape, generator=g) * 2.0 ** torch.randint(-6, 7, shape, generator=g)
        return x + 64 * torch.eye(shape[-1]).roll(2, -1)
    return draw


def process(x, y):
    """The likelihood of a Gaussian process: a kernel's factor, the solution, the determinant."""
    k = torch.exp(-torch.cdist(x, x).square() / 2) + 0.25 * torch.eye(len(x))
    f = L.cholesky(k)
    a = torch.cholesky_solve(y[:, None], f)
    return (y[:, None] * a).sum() / 2 + f.diagonal().log().sum()


def normal_density(x, m, s):
    """That of many variables, with the covariance's factor among its parameters."""
    s = s.tril(-1) + torch.diag(s.diagonal().exp())
    z = L.solve_triangular(s, (x - m).mT, upper=False)
    return z.square().sum(0) / 2 + s.diagonal().log().sum()


ROWS = [
    Row('cholesky', L.cholesky, definite(5, 5), **ONLY),
    Row('cholesky_upper', lambda x: L.cholesky(x, upper=True), definite(6, 6), **ONLY),
    Row('cholesky_batch', L.cholesky, definite(2, 3, 4, 4), **ONLY),
    Row('cholesky_near', L.cholesky, definite(8, 8, least=1e-4), **ONLY),
    Row('cholesky_large', L.cholesky, definite(64, 64), grad=False, **ONLY),
    Row('cholesky_one', L.cholesky, definite(1, 1), **ONLY),
    Row('lower', lambda x, b: L.solve_triangular(x, b, upper=False), triangle(6, 6), normal(6, 3), **ONLY),
    Row('upper', lambda x, b: L.solve_triangular(x, b, upper=True), triangle(6, 6), normal(6, 3), **ONLY),
    Row('unit', lambda x, b: L.solve_triangular(x, b, upper=False, unitriangular=True), triangle(5, 5), normal(5, 2),
        **ONLY),
    Row('right', lambda x, b: L.solve_triangular(x, b, upper=True, left=False), triangle(5, 5), normal(2, 5), **ONLY),
    Row('lower_turned', lambda x, b: L.solve_triangular(x.mT, b, upper=True), triangle(5, 5), normal(5, 2), **ONLY),
    Row('lower_batch', lambda x, b: L.solve_triangular(x, b, upper=False), triangle(2, 4, 4), normal(2, 4, 3), **ONLY),
    Row('lower_repeated', lambda x, b: L.solve_triangular(x, b, upper=False), triangle(4, 4), normal(3, 4, 2), **ONLY),
    Row('lower_large', lambda x, b: L.solve_triangular(x, b, upper=False), triangle(64, 64), normal(64, 2), grad=False,
        **ONLY),
    Row('by_cholesky', lambda x, b: torch.cholesky_solve(b, L.cholesky(x)), definite(5, 5), normal(5, 2), **ONLY),
    Row('solve', L.solve, exchanged(6, 6), normal(6, 3), **ONLY),
    Row('solve_vector', L.solve, exchanged(6, 6), normal(6), **ONLY),
    Row('solve_batch', L.solve, exchanged(3, 4, 4), normal(3, 4, 2), **ONLY),
    Row('solve_turned', lambda x, b: L.solve(x.mT, b), exchanged(5, 5), normal(5, 2), **ONLY),
    Row('solve_near', L.solve, definite(6, 6, least=1e-3), normal(6, 1), **ONLY),
    Row('inverse', L.inv, exchanged(5, 5), **ONLY),
    Row('inverse_batch', L.inv, exchanged(2, 3, 3), **ONLY),
    Row('det', L.det, exchanged(5, 5), **ONLY),
    Row('det_batch', L.det, exchanged(4, 3, 3), **ONLY),
    Row('logdet', lambda x: L.slogdet(x)[1], exchanged(6, 6), **ONLY),
    Row('logdet_batch', lambda x: L.slogdet(x)[1], exchanged(3, 4, 4), **ONLY),
    Row('process', process, normal(8, 2), fixed(normal(8)), **ONLY),
    Row('normal_density', normal_density, normal(6, 4), normal(4), normal(4, 4), **ONLY),
]
judge('solve', ROWS)
finish()
