# SPDX-License-Identifier: Apache-2.0
"""Operators behind a convolution, whose result the program has in another order of axes than PyTorch (operators.py says
how they are judged)."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from operators import Row, between, fixed, judge, normal, positive, torch  # noqa: E402
from tap import finish, home  # noqa: E402

os.chdir(home())
F = torch.nn.functional
SHAPE = 2, 3, 4, 4
IMAGE, OTHER, SHARE = normal(*SHAPE), fixed(normal(*SHAPE)), fixed(between(*SHAPE))
WEIGHT = normal(3, 3, 1, 1)


def behind(name, f, *more, **how):
    """A row of f of what a convolution of an image made, and of more operands."""
    return Row(name, lambda x, w, *rest: f(F.conv2d(x, w), *rest), IMAGE, WEIGHT, *more, **how)


def each(f, **how):
    return lambda h, y: f(h, y, **how)


LOGITS = F.binary_cross_entropy_with_logits
ROWS = [
    behind('logits', each(LOGITS), SHARE),
    behind('logits_each', each(LOGITS, reduction='none'), SHARE),
    behind('logits_weighed', lambda h, y, p: LOGITS(h, y, pos_weight=p), SHARE, fixed(positive(3, 1, 1))),
    behind('probabilities', lambda h, y: F.binary_cross_entropy(torch.sigmoid(h), y), SHARE, formats=('fp32',)),
    behind('squares', each(F.mse_loss), OTHER),
    behind('squares_each', each(F.mse_loss, reduction='none'), OTHER),
    behind('smooth', each(F.smooth_l1_loss), OTHER),
    behind('smooth_each', each(F.smooth_l1_loss, reduction='none'), OTHER),
    behind('huber_each', each(F.huber_loss, reduction='none'), OTHER),
    behind('absolute', each(F.l1_loss), OTHER),
    behind('of_two_images', lambda h, x, w: F.mse_loss(h, F.conv2d(x, w)), OTHER, fixed(normal(3, 3, 1, 1))),
    behind('prelu', lambda h, w: F.prelu(h, w), normal(3)),
    behind('masked', lambda h, y: h.masked_fill(y > 0, 0.5), OTHER),
    behind('chosen', lambda h, y: torch.where(y > 0, h, y), OTHER),
    behind('limited', lambda h, y: torch.clamp(h, y - 1, y + 1), OTHER),
    behind('scaled', lambda h, t: t * h + h / t, lambda g: torch.tensor(0.75)),
    behind('between', lambda h, y: torch.lerp(h, y, 0.25), OTHER),
    behind('products', lambda h, y: torch.addcmul(h, h, y, value=0.5), OTHER),
    behind('cubes', lambda h: h ** 3 + torch.rsqrt(h.abs() + 0.25)),
    behind('shares', lambda h: F.softmax(h, 1)),
    behind('shares_of_36', lambda h: F.softmax(h.repeat(1, 1, 1, 3)[:, :, :, :9], 1)),   # registers, and a rest
    behind('shares_of_40', lambda h: F.softmax(h.repeat(1, 1, 3, 1)[:, :, :10], 1)),
    behind('entropy', lambda h: F.cross_entropy(h, torch.zeros(2, 4, 4, dtype=torch.long) + 1)),
    behind('halves', lambda h: F.glu(torch.cat([h, h], 1), 1)),
    behind('smooth_maximum', lambda h: torch.logsumexp(h, 1)),
    behind('means', lambda h: h.mean((2, 3)) + h.amax((2, 3))),
    behind('transposed', lambda h: h.transpose(2, 3) * h),
]
judge('images', ROWS)
finish()
