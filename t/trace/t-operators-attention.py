# SPDX-License-Identifier: Apache-2.0
"""Scaled dot-product attention as the recorder has it: the CPU's fused kernel, and the one that is written out; and
softmax and its relatives of scores of which some are -infinity (operators.py says how they are judged)."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from operators import Row, fixed, judge, normal, torch  # noqa: E402
from tap import finish, home  # noqa: E402
from torch.nn.attention import SDPBackend, sdpa_kernel  # noqa: E402

os.chdir(home())
attend = torch.nn.functional.scaled_dot_product_attention
q, k, v = normal(2, 3, 7, 8), normal(2, 3, 9, 8), normal(2, 3, 9, 8)
long = normal(1, 2, 40, 16)


def math(*x, **how):
    with sdpa_kernel(SDPBackend.MATH):
        return attend(*x, **how)


def hidden(f):
    """f of scores that a mask hides, -infinity, of which f has no gradient."""
    return lambda x, m: f(x.masked_fill(m, float('-inf')))


F = torch.nn.functional
hides = fixed(lambda g: torch.rand(5, 12, generator=g) > 0.625)
labels = torch.tensor([0, 3, 1, 2, 5])


def classes(x, m):
    """A loss of classes of which some that are no label are hidden."""
    return F.cross_entropy(x.masked_fill(m & (torch.arange(12) > 5), float('-inf')), labels)


seen = fixed(lambda g: torch.rand(7, 9, generator=g) > 0.25)
some = fixed(lambda g: torch.rand(2, 1, 7, 9, generator=g) > 0.25)
ROWS = [
    Row('flash', attend, q, k, v),
    Row('flash_scale', lambda *x: attend(*x, scale=0.125), q, k, v),
    Row('flash_causal', lambda *x: attend(*x, is_causal=True), long, long, long),
    Row('flash_mask', lambda *x: attend(*x[:3], attn_mask=x[3]), q, k, v, fixed(normal(7, 9))),
    Row('flash_hidden', lambda *x: attend(*x[:3], attn_mask=x[3]), q, k, v, seen),
    Row('flash_images', lambda *x: attend(*x[:3], attn_mask=x[3]), q, k, v, some),
    Row('flash_shared', lambda *x: attend(*x, enable_gqa=True), normal(2, 4, 7, 8), normal(2, 2, 9, 8),
        normal(2, 2, 9, 8)),
    Row('flash_large', lambda *x: attend(*x, scale=2.0), long, long, long),
    Row('math', math, q, k, v),
    Row('math_causal', lambda *x: math(*x, is_causal=True), long, long, long),
    Row('math_hidden', lambda *x: math(*x[:3], attn_mask=x[3]), q, k, v, seen),
    Row('softmax_hidden', hidden(lambda x: F.softmax(x, -1)), normal(5, 12), hides),
    Row('log_softmax_hidden', hidden(lambda x: F.log_softmax(x, -1).exp()), normal(5, 12), hides),
    Row('logsumexp_hidden', hidden(lambda x: x.logsumexp(-1)), normal(5, 12), hides),
    Row('classes_hidden', classes, normal(5, 12), hides),
]
judge('attention', ROWS)
finish()
