# SPDX-License-Identifier: Apache-2.0
"""Losses as the recorder has them, with their weights, reductions, ignored labels and gradients (operators.py says how
they are judged)."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from operators import Row, between, fixed, given, judge, normal, positive, torch, whole  # noqa: E402
from tap import finish, home  # noqa: E402

os.chdir(home())
F = torch.nn.functional
x, t, share, label = normal(8, 16), fixed(normal(8, 16)), between(8, 16), fixed(between(8, 16))
logp = lambda g: F.log_softmax(torch.randn(12, 5, generator=g), 1)  # noqa: E731
image = lambda g: F.log_softmax(torch.randn(2, 5, 3, 4, generator=g), 1)  # noqa: E731
some = given(0, 3, -100, 4, 1, -100, 2, 2, 0, 4, -100, 1)
weights = fixed(positive(5))
texts = given(1, 2, 2, 3, 1, 3, 3, 3, 4, 1)      # of five, three and two labels


def ctc(times, lengths=(5, 3, 2), of=torch.tensor, **how):
    """The loss of three texts, or of one without a batch."""
    def f(z, y):
        logs = F.log_softmax(z if z.dtype == torch.float64 else z.float(), -1)
        return F.ctc_loss(logs, y, of(times), of(lengths), **how) * 2
    return f


def reductions(name, f, *operands, **how):
    return [Row("%s_%s" % (name, r), lambda *v, r=r: f(*v, reduction=r), *operands, **how)
            for r in ("none", "mean", "sum")]


ROWS = sum([
    reductions('mse', F.mse_loss, x, t),
    reductions('l1', F.l1_loss, x, t),
    reductions('smooth_l1', lambda *v, reduction: F.smooth_l1_loss(*v, reduction=reduction, beta=0.75), x, t),
    reductions('huber', lambda *v, reduction: F.huber_loss(*v, reduction=reduction, delta=0.5), x, t),
    reductions('bce', F.binary_cross_entropy, share, label),
    reductions('bce_weight', lambda p, y, w, reduction: F.binary_cross_entropy(p, y, w, reduction=reduction), share,
        label,
        fixed(positive(16))),
    reductions('logits', F.binary_cross_entropy_with_logits, x, label),
    reductions('logits_weights', lambda z, y, w, p, reduction: F.binary_cross_entropy_with_logits(z, y, w,
        reduction=reduction, pos_weight=p), x, label, fixed(positive(16)), fixed(positive(16))),
    reductions('kl', lambda *v, reduction: F.kl_div(*v, reduction=reduction.replace('mean', 'batchmean')), x, label),
    reductions('nll', F.nll_loss, logp, whole(5, 12)),
    reductions('nll_ignored', F.nll_loss, logp, some),
    reductions('nll_weights', lambda z, y, w, reduction: F.nll_loss(z, y, w, reduction=reduction), logp, some, weights),
    reductions('nll_images', lambda z, y, w, reduction: F.nll_loss(z, y, w, reduction=reduction, ignore_index=3), image,
        whole(5, 2, 3, 4), weights),
    reductions('cross_entropy', lambda z, y, reduction: F.cross_entropy(z, y, reduction=reduction,
        label_smoothing=0.125),
        normal(12, 5), some),
    reductions('ctc', lambda z, y, reduction: ctc([12, 9, 12], reduction=reduction)(z, y), normal(12, 3, 6),
        texts),
    [Row('ctc_endless', ctc([12, 3, 12], zero_infinity=True), normal(12, 3, 6), texts),
     Row('ctc_blank', ctc(12, 4, blank=5), normal(12, 6), given(1, 2, 2, 3)),
     Row('ctc_no_text', ctc([12, 9, 12], (5, 0, 2)), lambda g: 8 * torch.randn(12, 3, 6, generator=g),
         lambda g: torch.randint(1, 6, (3, 5), generator=g)),
     Row('nll_one', lambda z, y: F.nll_loss(z, y), lambda g: logp(g)[0], lambda g: torch.tensor(2)),
     Row('nll_none_kept', lambda z, y: F.nll_loss(z, y), logp, given(*[-100] * 12), grad=False),
     Row('cross_entropy_shares', lambda z, y: F.cross_entropy(z, y), normal(12, 5), fixed(between(12, 5))),
     Row('gaussian', lambda z, y, v: F.gaussian_nll_loss(z, y, v), x, t, fixed(positive(8, 16))),
     Row('poisson', lambda z, y: F.poisson_nll_loss(z, y), x, label),
     Row('cosine', lambda a, b: F.cosine_similarity(a, b), x, t),
     Row('mse_spread', lambda a, b: F.mse_loss(a, b.expand(8, 16)), x, fixed(normal(16))),
     Row('ctc_lists', ctc([12, 9, 12], of=list), normal(12, 3, 6), texts)],
], [])
judge('loss', ROWS)
finish()
