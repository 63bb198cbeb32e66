# SPDX-License-Identifier: Apache-2.0
"""Operators that select, move and add up elements, as the recorder has them (operators.py says how they are judged)."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from operators import Row, fixed, given, judge, normal, positive, torch, whole  # noqa: E402
from tap import finish, home  # noqa: E402

os.chdir(home())
F = torch.nn.functional
mask = lambda g: torch.rand(7, 12, generator=g) > 0.5   # noqa: E731


def different(g):
    """In each of 7 rows 3 different columns of 12."""
    return torch.stack([torch.randperm(12, generator=g)[:3] for _ in range(7)])


def written(x, y):
    """Memory written to through views: a column, a block by a cast and a sum, and the rest as it was."""
    out = torch.empty(9, 12, dtype=x.dtype)
    out[:7] = x
    out[7:].fill_(0.5)
    out[1:3, 2:4] *= 2
    out[:7, 5] = y
    out[2].add_(out[3])
    return out[1:8] * 2, out.t()[4] * 2, out.reshape(3, 36)[1] * 2


n = (7, 12)
ROWS = [
    Row('index_rows', lambda x, i: x[i] * 2, normal(*n), whole(7, 20)),
    Row('index_pairs', lambda x, i, j: x[i, j] * 2, normal(*n), whole(7, 40), whole(12, 40)),
    Row('index_middle', lambda x, i: x[:, i] * 2, normal(3, 5, 4), whole(5, 2, 3)),
    Row('index_mask', lambda x, m: x[m] * 2, normal(*n), mask),
    Row('index_select', lambda x, i: x.index_select(1, i) * 2, normal(*n), whole(12, 30)),
    Row('gather', lambda x, i: x.gather(1, i) * 2, normal(*n), whole(12, 7, 30)),
    Row('take', lambda x, i: x.take(i) * 2, normal(*n), whole(84, 30)),
    Row('masked_select', lambda x, m: x.masked_select(m) * 2, normal(*n), mask),
    Row('index_put', lambda x, y, i: x.index_put((i,), y) * 2, normal(*n), normal(3, 12), given(5, 1, 0)),
    Row('index_put_one', lambda x, y, i: x.index_put((i,), y) * 2, normal(*n),
        lambda g: torch.randn([], generator=g), given(5, 1, 0)),
    Row('accumulate', lambda x, y, i: x.index_put((i,), y, accumulate=True) * 2, normal(*n), normal(30, 12),
        whole(7, 30)),
    Row('accumulate_row', lambda x, y, i: x.index_put((i,), y, accumulate=True) * 2, normal(*n), normal(12),
        whole(7, 30)),
    Row('index_add', lambda x, y, i: x.index_add(0, i, y) * 2, normal(*n), normal(30, 12), whole(7, 30)),
    Row('index_add_columns', lambda x, y, i: x.index_add(1, i, y) * 2, normal(*n), normal(7, 30), whole(12, 30)),
    Row('index_add_alpha', lambda x, y, i: x.index_add(0, i, y, alpha=0.75) * 2, normal(*n), normal(30, 12),
        whole(7, 30)),
    Row('scatter_reduce', lambda x, y, i: x.scatter_reduce(0, i, y, 'sum') * 2, normal(*n), normal(30, 12),
        whole(7, 30, 12)),
    Row('block_diag', lambda x, y: torch.block_diag(x, y) * 2, normal(2, 3), normal(3, 1)),
    Row('aminmax', lambda x: [t * 2 for t in x.aminmax(dim=1) + x.aminmax()], normal(*n)),
    Row('trace', lambda x: x.trace() * 2, normal(5, 6)),
    Row('median', lambda x: x.median() * 2, normal(9)),
    Row('packed', lambda x: torch.nn.utils.rnn.pack_padded_sequence(x, torch.tensor([5, 3])).data * 2, normal(5, 2, 3)),
    Row('index_copy', lambda x, y, i: x.index_copy(0, i, y) * 2, normal(*n), normal(3, 12), given(5, 1, 0)),
    Row('index_fill', lambda x, i: x.index_fill(0, i, 0.75) * 2, normal(*n), given(5, 1)),
    Row('scatter', lambda x, y, i: x.scatter(1, i, y) * 2, normal(*n), normal(7, 3), different),
    Row('scatter_value', lambda x: x.scatter(1, torch.tensor([[1], [3]]), 0.5) * 2, normal(*n)),
    Row('scatter_add', lambda x, y, i: x.scatter_add(0, i, y) * 2, normal(*n), normal(30, 12), whole(7, 30, 12)),
    Row('scatter_add_wide', lambda x, y, i: x.scatter_add(1, i, y) * 2, normal(*n), normal(7, 30), whole(12, 7, 30)),
    Row('slice_scatter', lambda x, y: x.slice_scatter(y, 1, 2, 8, 2) * 2, normal(*n), normal(7, 3)),
    Row('select_scatter', lambda x, y: x.select_scatter(y, 0, 3) * 2, normal(*n), normal(12)),
    Row('diagonal_scatter', lambda x, y: x.diagonal_scatter(y, 1) * 2, normal(*n), normal(7)),
    Row('masked_scatter', lambda x, y, m: x.masked_scatter(m, y) * 2, normal(*n), normal(90), mask),
    Row('slices', lambda x: x[1:6:2, ::3] * 2, normal(*n)),
    Row('parts', lambda x: (x.split(5, 1)[2] * 2, x.chunk(3)[0] * 2, x.unbind(1)[4] * 2), normal(*n)),
    Row('diagonal', lambda x: x.diagonal(1) * 2, normal(*n)),
    Row('unfold', lambda x: x.unfold(1, 5, 2) * 2, normal(*n)),
    Row('cat_empty', lambda x: torch.cat([x, x.new_zeros(0), x], 0) * 2, normal(*n)),
    Row('cat_mixed', lambda x, y: torch.cat([x, y.float()], 1) * 2, normal(*n), normal(7, 3)),
    Row('stack', lambda x, y: torch.stack([x, y, x], 1) * 2, normal(*n), normal(*n)),
    Row('roll', lambda x: x.roll((2, -3), (0, 1)) * 2, normal(*n)),
    Row('flip', lambda x: x.flip(0, 1) * 2, normal(*n)),
    Row('triangles', lambda x: x.triu(1) + x.tril(-2), normal(*n)),
    Row('repeat', lambda x: x.repeat(2, 3) * 2, normal(*n)),
    Row('repeat_interleave', lambda x: x.repeat_interleave(3, 1) * 2, normal(*n)),
    Row('expand', lambda x: x.expand(4, 7, 12) * 2, normal(7, 1)),
    Row('pad', lambda x: F.pad(x, (1, 2, -1, 3), value=0.5) * 2, normal(*n)),
    Row('pad_zero', lambda x: F.pad(x, (0, 0, 1, 0)) * 2, normal(2, 3, 4, 4)),
    Row('pad_reflect', lambda x: F.pad(x, (2, 1, 1, 2), 'reflect') * 2, normal(2, 3, 5, 6)),
    Row('pad_replicate', lambda x: F.pad(x, (2, 1, 1, 2), 'replicate') * 2, normal(2, 3, 5, 6)),
    Row('pad_circular', lambda x: F.pad(x, (2, 1), 'circular') * 2, normal(2, 3, 5)),
    Row('pad_reflect1d', lambda x: F.pad(x, (2, 1), 'reflect') * 2, normal(2, 3, 5)),
    Row('upsample_nearest', lambda x: F.interpolate(x, scale_factor=2) * 2, normal(2, 3, 4, 5)),
    Row('upsample_exact', lambda x: F.interpolate(x, size=(7, 11), mode='nearest-exact') * 2, normal(2, 3, 4, 5)),
    Row('upsample_nearest1d', lambda x: F.interpolate(x, size=11) * 2, normal(2, 3, 5)),
    Row('pixel_shuffle', lambda x: F.pixel_shuffle(x, 2) * 2, normal(2, 8, 3, 4)),
    Row('channel_shuffle', lambda x: F.channel_shuffle(x, 2) * 2, normal(2, 8, 3, 4), grad=False),
    Row('unfold_images', lambda x: F.unfold(x, 3, padding=1) * 2, normal(2, 3, 5, 6)),
    Row('fold', lambda x: F.fold(x, (5, 6), 3, padding=1) * 2, normal(2, 27, 30)),
    Row('topk', lambda x: x.topk(3)[0] * 2, normal(*n)),
    Row('sort', lambda x: x.sort(0, descending=True)[0] * 2, normal(*n)),
    Row('choices', lambda x: (x.kthvalue(3)[0] * 2, x.median(1)[0] * 2), normal(*n)),
    Row('embedding', lambda w, i: F.embedding(i, w) * 2, normal(9, 4), whole(9, 5, 6)),
    Row('embedding_padding', lambda w, i: F.embedding(i, w, padding_idx=2) * 2, normal(9, 4), whole(9, 5, 6)),
    Row('embedding_share', lambda w, i: F.embedding(i, w, scale_grad_by_freq=True) * 2, normal(9, 4), whole(9, 50)),
    Row('written', written, normal(*n), normal(7)),
    Row('embedding_long', lambda w, i: F.embedding(i, w) * 2, normal(3, 4), whole(3, 500)),
    Row('whole', lambda i: (i.to(torch.bfloat16) * 2, i.half() * 2, (i * 40000).to(torch.bfloat16) * 2,
        (i > 300).float() * 2, i.double() * 2, i.int().float() * 2), whole(600, 7, 12),
        formats=('fp32',), compared=False),
    Row('whole_factor', lambda x, i: x * (i + 200).to(x.dtype), normal(*n), whole(600, 7, 12)),
    Row('eight_bits', lambda x: (x.to(torch.float8_e4m3fn).to(x.dtype) * 2, x.to(torch.float8_e5m2).to(x.dtype) * 2,
        (x * 64).to(torch.float8_e4m3fn).float() * 2, (x * 65536).to(torch.float8_e5m2).float()),
        normal(*n), grad=False, compared=False),
    Row('many_axes', lambda x: x.reshape(2, 2, 2, 2, 2, 3, 2).permute(0, 2, 4, 6, 1, 3, 5).reshape(16, 12) * 2,
        normal(2, 4, 4, 6)),
    Row('many_axes_sum', lambda x, y: (x.reshape(2, 2, 2, 2, 2, 3, 2).permute(0, 2, 4, 6, 1, 3, 5) * y).reshape(16, 12)
        * 2, normal(2, 4, 4, 6), fixed(normal(2, 1, 1))),
    Row('many_axes_roll', lambda x: (x.reshape(2, 2, 2, 2, 2, 3, 2).roll(1, 4) + 1).reshape(-1) * 2,
        normal(2, 4, 4, 6)),
    Row('turned', lambda x: (x * 2).transpose_(0, 1).unsqueeze_(0) * 2, normal(*n), grad=False),
    Row('einsum', lambda x, y: torch.einsum('bij,bkj->ikb', x, y), normal(3, 4, 5), normal(3, 6, 5)),
]
judge('move', ROWS)
finish()
