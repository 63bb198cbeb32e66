# SPDX-License-Identifier: Apache-2.0
"""Bags of rows of a table, products of groups, counts and complex numbers as the recorder has them (operators.py says
how they are judged)."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from operators import Row, fixed, judge, normal, positive, torch, whole  # noqa: E402
from tap import finish, home  # noqa: E402

os.chdir(home())
F = torch.nn.functional


def bags(mode, **how):
    def f(w, i):
        return F.embedding_bag(i, w, torch.tensor([0, 5, 5, 9, 17]), mode=mode, **how) * 2
    return f


def grouped(x, w):
    """Groups of 5, 0 and 11 rows. PyTorch has no such product of float64, which is written out."""
    if x.dtype == torch.float64:
        return torch.cat([x[:5] @ w[0], x[5:] @ w[2]]) * 2
    return torch._grouped_mm(x, w, offs=torch.tensor([5, 5, 16], dtype=torch.int32)) * 2


def rotary(x, angle):
    """Rotary embeddings as complex factors."""
    angle = angle.float()
    by = torch.polar(torch.ones_like(angle), angle)
    z = torch.view_as_complex(x.float().reshape(2, 3, 4, 4, 2))
    return torch.view_as_real(z * by.view(1, 3, 1, 4)).flatten(3).to(x.dtype) * 2


def rotary_wide(x, angle):
    """The same in the format of x itself, which is one of a complex number."""
    by = torch.polar(torch.ones_like(angle), angle)
    z = torch.view_as_complex(x.reshape(2, 3, 4, 4, 2))
    z = z * by.view(1, 3, 1, 4)
    return torch.view_as_real(z + z.conj() * by.view(1, 3, 1, 4)).flatten(3) * 2


def complex_sums(x, y):
    z = torch.view_as_complex(x)
    ends = [z.sum(), z.mean(0, keepdim=True), -z / 3, (z.conj() / y).sum((0, 1))]
    return [torch.view_as_real(e) * 2 for e in ends] + [z.abs() * 2]


def complex_products(x, y, w):
    """A matrix, its adjoint by automatic differentiation, and a batch of them."""
    x, y, w = (torch.view_as_complex(t) for t in (x, y, w))
    return torch.view_as_real(torch.einsum('ij,bjk->bik', x @ y, w)) * 2


E4M3, E5M2 = torch.float8_e4m3fn, torch.float8_e5m2
EIGHT = {'grad': False, 'compared': False}


def scaled(first, second):
    """A product of matrices of 8 bits, which float64 has not."""
    def f(x, w, a, b, *bias):
        if x.dtype == torch.float64:
            return x @ w * a * b + sum(bias)
        kind, x, w = x.dtype, x.to(first), w.to(second)
        w = w.t().contiguous().t()
        return torch._scaled_mm(x, w, scale_a=a.float(), scale_b=b.float(), bias=bias[0] if bias else None,
                out_dtype=kind) * 2
    return f


ROWS = [
    Row('bag_sum', bags('sum'), normal(9, 4), whole(9, 30)),
    Row('bag_mean', bags('mean'), normal(9, 4), whole(9, 30)),
    Row('bag_max', bags('max'), normal(9, 4), whole(9, 30)),
    Row('bag_padding', bags('sum', padding_idx=3), normal(9, 4), whole(9, 30)),
    Row('bag_last', lambda w, i: F.embedding_bag(i, w, torch.tensor([0, 4, 30]), mode='sum', include_last_offset=True) *
        2, normal(9, 4), whole(9, 30)),
    Row('grouped', grouped, normal(16, 16), normal(3, 16, 8)),
    Row('histc', lambda x: torch.histc(x, 4, 0, 3) * 2,
        fixed(lambda g: torch.randint(0, 4, (30,), generator=g).float()),
        formats=('fp32',), grad=False),
    Row('scaled', scaled(E4M3, E4M3), normal(16, 48), normal(48, 32), fixed(positive(1)), fixed(positive(1)), **EIGHT),
    Row('scaled_rows', scaled(E4M3, E4M3), normal(16, 48), normal(48, 32), fixed(positive(16, 1)),
        fixed(positive(1, 32)), **EIGHT),
    Row('scaled_bias', scaled(E5M2, E4M3), normal(16, 48), normal(48, 32), fixed(positive(1)), fixed(positive(1)),
        normal(32), **dict(EIGHT, formats=('bf16', 'fp16'))),
    Row('rotary', rotary, normal(2, 3, 4, 8), fixed(normal(3, 4)), compared=False),
    Row('complex_scaled', lambda x, y: torch.view_as_real(torch.view_as_complex(x) * 0.5 * y) * 2, normal(3, 4, 2),
        fixed(normal(4)), formats=('fp32',)),
    Row('complex_sums', complex_sums, normal(3, 4, 2), fixed(positive(4)), formats=('fp32',)),
    Row('complex_sign', lambda x, y: torch.view_as_real(torch.view_as_complex(x).sgn() * y) * 2, normal(3, 4, 2),
        positive(4), formats=('fp32',), grad=False),
    Row('complex_products', complex_products, normal(3, 4, 2), normal(4, 5, 2), normal(2, 5, 3, 2), formats=('fp32',)),
    Row('rotary_wide', rotary_wide, normal(2, 3, 4, 8), fixed(normal(3, 4)), formats=('fp32',)),
]
judge('table', ROWS)
finish()
