# SPDX-License-Identifier: Apache-2.0
"""Exponentials of matrices and QR factors, as the recorder has them (operators.py says how they are judged): of small
and large norms, in batches, of skew matrices, tall and wide, with nearly dependent columns. PyTorch has none of these
in 16 bits. Kernels that are wrong are outside their bounds."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from operators import Row, judge, normal, record, rows_of, torch  # noqa: E402
from tap import finish, halfulp, home, ok  # noqa: E402

os.chdir(home())
L = torch.linalg
ONLY = {'formats': ('fp32',)}


def scaled(factor, *shape):
    return lambda g: torch.randn(*shape, generator=g) * factor


def near(*shape):
    """The last column is nearly the first one."""
    def draw(g):
        x = torch.randn(*shape, generator=g)
        x[..., -1] = x[..., 0] + x[..., -1] * 2 ** -6
        return x
    return draw


def skew(x):
    x = x.tril(-1)
    return x - x.mT


def retracted(x):
    """Q with a diagonal of R that is positive, as initial weights have it."""
    q, r = L.qr(x)
    return q * r.diagonal().sign()


ROWS = [
    Row('exp', L.matrix_exp, scaled(0.25, 6, 6), **ONLY),
    Row('exp_small', L.matrix_exp, scaled(1e-4, 5, 5), **ONLY),
    Row('exp_large', L.matrix_exp, scaled(2.0, 6, 6), **ONLY),
    Row('exp_batch', L.matrix_exp, scaled(0.5, 2, 3, 4, 4), **ONLY),
    Row('exp_one', L.matrix_exp, scaled(1.0, 1, 1), **ONLY),
    Row('exp_zero', lambda x: L.matrix_exp(x * 0), scaled(1.0, 3, 3), **ONLY),
    Row('exp_skew', lambda x: L.matrix_exp(skew(x)), scaled(1.0, 8, 8), **ONLY),
    Row('exp_wide', lambda x: L.matrix_exp(skew(x)), scaled(0.3, 32, 32), grad=False, **ONLY),
    Row('exp_nilpotent', lambda x: L.matrix_exp(x.triu(1)), scaled(1.0, 6, 6), **ONLY),
    Row('qr', lambda x: L.qr(x), normal(5, 5), **ONLY),
    Row('qr_tall', lambda x: L.qr(x), normal(9, 4), **ONLY),
    Row('qr_wide', lambda x: L.qr(x), normal(3, 7), **ONLY),
    Row('qr_batch', lambda x: L.qr(x), normal(2, 3, 5, 3), **ONLY),
    Row('qr_alone', lambda x: L.qr(x, mode='r')[1], normal(6, 4), grad=False, **ONLY),
    Row('qr_near', lambda x: L.qr(x), near(8, 4), **ONLY),
    Row('qr_large', lambda x: L.qr(x), normal(64, 48), grad=False, **ONLY),
    Row('reflected', lambda x: torch.linalg.householder_product(x.tril(-1), 2 / (1 + x.tril(-1).square().sum(0))),
        scaled(0.5, 6, 6), **ONLY),
    Row('reflected_tall', lambda x: torch.linalg.householder_product(x.tril(-1), 2 / (1 + x.tril(-1).square().sum(-2))),
        scaled(0.5, 2, 7, 3), **ONLY),
    Row('qr_positive', retracted, normal(8, 5), **ONLY),
]
judge('matrix', ROWS)


def off(name, wrong, row):
    """How many outputs of a row are outside where a kernel has a wrong result."""
    library = torch.library.Library('aten', 'IMPL', 'CPU')
    library.impl(name, wrong, 'CPU')
    try:
        record([row], 'fp32', name)
    finally:
        library._destroy()
    halfulp('analyze', name, '--only', 'replay', '--sample', 'all')
    return sum(int(r['over_bound']) for r in rows_of(name + '/analysis/replay.tsv'))


def exponential(x):
    """Taylor's polynomial of degree 3."""
    eye = torch.eye(x.size(-1))
    return eye + x @ (eye + x @ (eye + x / 3) / 2)


def squares(x, mode='reduced'):
    """Q of columns that were made orthogonal in bf16."""
    y = x.to(torch.bfloat16).float()
    lower = torch.linalg.cholesky(y.mT @ y)
    q = torch.linalg.solve_triangular(lower, y.mT, upper=False).mT.contiguous()
    return q, lower.mT.contiguous()


plain = {'grad': False, **ONLY}
found = off('linalg_matrix_exp', exponential, Row('exp', L.matrix_exp, scaled(0.25, 6, 6), **plain)), \
    off('linalg_qr', squares, Row('qr', lambda x: L.qr(x), normal(9, 4), **plain))
ok(min(found) > 8, 'a polynomial of too low a degree and columns in bf16 are outside their bounds', found)
finish()
