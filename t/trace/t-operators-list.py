# SPDX-License-Identifier: Apache-2.0
"""Prefixes, scattered reductions, distances, margins, weighted bags, simulated quantisation and other operators that
are a composition of several calls (operators.py says how they are judged)."""
import os
import sys
import warnings

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from operators import Row, between, fixed, given, judge, normal, positive, torch, whole  # noqa: E402
from tap import finish, home  # noqa: E402

os.chdir(home())
warnings.simplefilter('ignore')
F = torch.nn.functional
x, p = normal(6, 5), positive(6, 5)
PLACES = torch.tensor([[0, 3, 3, 0, 2], [1, 3, 1, 0, 4], [0, 0, 1, 0, 4], [2, 3, 3, 0, 2]])


def scattered(how, **more):
    return lambda x, y: x.scatter_reduce(0, PLACES, y, how, **more)


def averaged(rows, low, high):
    """Values that are rounded by scales of averaged ends, symmetric ones of rows; float64 is not rounded."""
    def f(x):
        if x.dtype == torch.float64:
            return x * 5
        n, on = x.size(0) if rows else 1, torch.ones(1, dtype=torch.long)
        ends = [torch.full((n,), k * float('inf')) for k in (1, -1)]
        held = [*ends, torch.ones(n), torch.zeros(n, dtype=torch.int32)]
        return sum(torch.fused_moving_avg_obs_fake_quant(x * k, on, on, *held, 0.25, low, high, 0, rows, rows)
                   for k in (2, 3))
    return f


def sparse_product(x):
    """The numbers of a sparse matrix are no operands, so that its gradient is not asked for."""
    at = torch.tensor([[0, 0, 2, 5, 1, 2], [1, 3, 0, 3, 2, 2]])
    a = torch.sparse_coo_tensor(at, torch.tensor([0.5, 1.25, -3, 0.75, 1, 2]).to(x.dtype), (6, 4))
    return torch.sparse.mm(a, x) * 2


def bag(x, w, f):
    return F.embedding_bag(x, w, torch.tensor([0, 2, 2, 6]), mode='sum', per_sample_weights=f)


def renorm(x):
    w = x.detach().clone()
    return F.embedding(torch.tensor([0, 2, 2, 5]), w, max_norm=0.75), w


def last(x):
    """Numbers among infinities and NaN."""
    return torch.nan_to_num(torch.log(x) * 64 / x.round().clamp(max=1), 0.25, 8.0, -4.0)


def places(g):
    """Places of which some lie outside of the image."""
    return torch.rand(2, 14, 16, 2, generator=g) * 2.5 - 1.25


LABELS = given([3, 0, -1, 1, 2], [1, -1, 2, 0, 0], [4, 2, 3, 1, 0])
ROWS = [
    Row('cumprod', lambda x: (x.cumprod(0), x.cumprod(1)), p),
    Row('logcumsumexp', lambda x: (x.logcumsumexp(0), x.logcumsumexp(1)), x, grad=False),
    Row('scatter_mean', scattered('mean'), x, normal(4, 5), grad=False),
    Row('scatter_most', scattered('amax'), x, normal(4, 5), grad=False),
    Row('scatter_least', scattered('amin', include_self=False), x, normal(4, 5), grad=False),
    Row('scatter_product', scattered('prod'), p, positive(4, 5), grad=False),
    Row('scatter_sum_alone', scattered('sum', include_self=False), x, normal(4, 5), grad=False),
    Row('cdist', lambda x, y: torch.cdist(x, y), x, normal(4, 5), formats=('fp32',)),
    Row('pdist', lambda x: F.pdist(x) * 2, x, formats=('fp32',)),
    Row('pdist_absolute', lambda x: F.pdist(x, 1.0) * 2, x, formats=('fp32',)),
    Row('sparse_product', sparse_product, normal(4, 5), formats=('fp32',)),
    Row('cdist_many', lambda x, y: torch.cdist(x, y) * 2, normal(30, 5), normal(28, 5), formats=('fp32',)),
    Row('cdist_many_batch', lambda x, y: torch.cdist(x, y) * 2, normal(2, 30, 5), normal(2, 28, 5),
        formats=('fp32',)),
    Row('cdist_batch', lambda x, y: torch.cdist(x, y), normal(2, 3, 5), normal(2, 4, 5), formats=('fp32',)),
    Row('cdist_absolute', lambda x, y: torch.cdist(x, y, 1.0), x, normal(4, 5), formats=('fp32',)),
    Row('cdist_largest', lambda x, y: torch.cdist(x, y, float('inf')), x, normal(4, 5), formats=('fp32',), grad=False),
    Row('addbmm', lambda c, x, y: torch.addbmm(c, x, y), normal(4, 6), normal(1, 4, 3), normal(1, 3, 6)),
    Row('addbmm_batch', lambda c, x, y: torch.addbmm(c, x, y, beta=0.5, alpha=2), normal(4, 6), normal(3, 4, 5),
        normal(3, 5, 6), formats=('fp32',)),
    Row('addbmm_several', lambda c, x, y: [torch.addbmm(c, x, y), torch.addbmm(c, x, y, beta=0.5, alpha=2),
        torch.addbmm(c, x, y, beta=0)], normal(4, 6), normal(3, 4, 5), normal(3, 5, 6)),
    Row('addr_factors', lambda c, x, y: [torch.addr(c, x, y, beta=0.5, alpha=0.75), torch.addr(c, x, y, beta=0),
        torch.addr(c, x, y, alpha=-0.75)], normal(4, 6), normal(4), normal(6), grad=False),
    Row('addr', lambda c, x, y: torch.addr(c, x, y), normal(4, 6), normal(4), normal(6)),
    Row('cross', lambda x, y: torch.linalg.cross(x, y), normal(6, 3), normal(6, 3)),
    Row('cross_axis', lambda x, y: torch.linalg.cross(x, y, dim=1), normal(4, 3, 5), normal(4, 3, 5)),
    Row('affine_grid', lambda t: F.affine_grid(t, (2, 3, 5, 6), align_corners=False), normal(2, 2, 3), grad=False,
        compared=False),                         # the grid's places are rounded before they take part
    Row('affine_grid_corners', lambda t: F.affine_grid(t, (2, 3, 5, 3), align_corners=True), normal(2, 2, 3),
        grad=False),
    Row('affine_grid_volume', lambda t: F.affine_grid(t, (2, 3, 3, 5, 3), align_corners=True), normal(2, 3, 4),
        grad=False),
    *[Row('grid_sample_%s_%s' % (how, corners), lambda x, g, how=how, corners=corners: F.grid_sample(
        x, g, padding_mode=how, align_corners=corners) * 2, normal(2, 3, 9, 17), places, formats=('fp32',))
      for how in ('zeros', 'border') for corners in (False, True)],
    Row('multilabel_margin', lambda x, t: F.multilabel_margin_loss(x, t), normal(3, 5), LABELS, formats=('fp32',)),
    Row('multilabel_margin_sum', lambda x, t: F.multilabel_margin_loss(x, t, reduction='sum'), normal(3, 5), LABELS,
        formats=('fp32',)),
    Row('multilabel_margin_each', lambda x, t: F.multilabel_margin_loss(x, t, reduction='none'), normal(3, 5), LABELS,
        formats=('fp32',)),
    Row('soft_margin', lambda x, y: F.soft_margin_loss(x, y.sign()), x, fixed(x)),
    Row('soft_margin_sum', lambda x, y: F.soft_margin_loss(x, y.sign(), reduction='sum'), x, fixed(x)),
    Row('soft_margin_each', lambda x, y: F.soft_margin_loss(x, y.sign(), reduction='none'), x, fixed(x)),
    Row('multi_margin', lambda x, t: F.multi_margin_loss(x, t), x, whole(5, 6), formats=('fp32',)),
    Row('multi_margin_squares', lambda x, t: F.multi_margin_loss(x, t, 2, 0.75), x, whole(5, 6), formats=('fp32',)),
    Row('multi_margin_weighted', lambda x, t, w: F.multi_margin_loss(x, t, weight=w), x, whole(5, 6),
        fixed(positive(5)), formats=('fp32',)),
    Row('multi_margin_each', lambda x, t: F.multi_margin_loss(x, t, reduction='none'), x, whole(5, 6),
        formats=('fp32',)),
    Row('bag_weighted', bag, given(0, 3, 5, 5, 1, 2, 4, 0), x, normal(8)),
    # the row's norm is rounded to the table's format, which the exact step is not
    Row('embedding_max_norm', renorm, x, grad=False),
    # whose slopes are drawn anew in float64
    Row('rrelu', lambda x: F.rrelu(x, 0.125, 0.375, True), x, formats=('bf16',), compared=False),
    Row('fake_quantise', lambda x: torch.fake_quantize_per_tensor_affine(x * 4, 0.25, 3, -8, 7), x, compared=False),
    Row('fake_quantise_measured', lambda x: x * 4 if x.dtype == torch.float64 else
        torch.fake_quantize_per_tensor_affine(x * 4, torch.tensor(0.25), torch.tensor(3, dtype=torch.int32), -8, 7),
        x, formats=('fp32',), compared=False),
    Row('fake_quantise_averaged', averaged(False, 0, 255), x, formats=('fp32',), compared=False),
    Row('fake_quantise_averaged_rows', averaged(True, -128, 127), lambda g: torch.randn(6, 5, generator=g) *
        torch.tensor([1, -1, 1, -1, 1]) + torch.tensor([2, -2, 2, -2, 2]), formats=('fp32',), compared=False),
    Row('fake_quantise_axis', lambda x: torch.fake_quantize_per_channel_affine(x * 4, torch.full((6,), 0.5),
        torch.zeros(6, dtype=torch.int32), 0, -8, 7), x, compared=False),
    Row('nan_to_num', last, x, grad=False, compared=False),
    Row('nan_to_num_usual', lambda x: torch.nan_to_num(torch.log(x)), x, grad=False, compared=False),
    Row('degrees', lambda x: (torch.deg2rad(x), torch.rad2deg(x)), x, compared=False),
]
judge('list', ROWS)
finish()
