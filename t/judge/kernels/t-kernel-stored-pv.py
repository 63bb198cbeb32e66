#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Attention that stores P V before it divides (pv=, as arXiv 2510.04212 has it): a right kernel is right by that
# declaration and not without it, where the answer names the store; wrong ones stay wrong by it. Needs torch.
import os
import sys

sys.dont_write_bytecode = True
TOP = os.path.abspath(os.environ.get('srcdir', '.'))
sys.path[:0] = [TOP + '/t/tool', TOP + '/python', os.path.dirname(os.path.abspath(__file__))]
from tap import HALFULP, finish, none, ok, skip_all  # noqa: E402

try:
    import torch
except (ImportError, OSError) as why:
    skip_all('no PyTorch: %s' % str(why).splitlines()[0])
torch.set_num_threads(1)
os.environ['HALFULP'] = HALFULP
import halfulp  # noqa: E402

BF, FP, E5 = torch.bfloat16, torch.float16, torch.float8_e5m2
NAMES = {BF: 'bf16', FP: 'fp16', E5: 'e5m2'}


def kernel(q, k, v, t, block=16, pv=None, every=None, kept=True):
    """Flash attention in fp32 with P in t; pv: what P V is stored in before the division, every: in each block."""
    a, b, c = q.float(), k.float(), v.float()
    top, den = torch.full((*q.shape[:-1], 1), -torch.inf), torch.zeros(*q.shape[:-1], 1)
    o = torch.zeros(*q.shape[:-1], v.shape[-1])
    for j in range(0, k.shape[-2], block):
        s = a @ b[..., j : j + block, :].mT * q.shape[-1] ** -0.5
        new = torch.maximum(top, s.amax(-1, True))
        e, back = torch.exp(s - new), torch.exp(top - new)
        den = den * back + e.sum(-1, True)
        o = o * (back if kept else 1) + e.to(t).float() @ c[..., j : j + block, :]
        o, top = o.to(every).float() if every else o, new
    return ((o.to(pv).float() if pv else o) / den).to(t)


def judged(q, k, v, got, t, pv, **options):
    return halfulp.judge('attention', dict(q=q, k=k, v=v), got, p=NAMES[t], pv=pv, **options)


def draw(seed, t, keys=96):
    g = torch.Generator().manual_seed(seed)
    q, k, v = (torch.randn(1, 2, n, 24, generator=g) for n in (40, keys, keys))
    return q.to(t), k.to(t), (v + 0.5).to(t)


right, silent, unnamed, wrong = [], [], [], []
for seed in range(4):
    for t in (BF, FP):
        for pv in (t, E5):
            q, k, v = draw(seed, t)
            got, name = kernel(q, k, v, t, pv=pv), NAMES[pv]
            said = judged(q, k, v, got, t, name)
            if said['verdict'] != 'right':
                right.append((seed, NAMES[t], name, said))
            said = judged(q, k, v, got, t, 'none')
            if said['verdict'] == 'right':
                silent.append((seed, NAMES[t], name, said))
            if 'P V were stored in %s' % name not in str(said):
                unnamed.append((seed, NAMES[t], name, said))
        for what, how, pv in (('the sum is stored in every block', dict(every=E5), NAMES[t]),
                              ('it is stored in 3 bits', dict(pv=E5), NAMES[t]),
                              ('the sum is not rescaled', dict(pv=t, kept=False), NAMES[t]),
                              ('the sum is not rescaled, of 3 bits', dict(pv=E5, kept=False), 'e5m2')):
            said = judged(q, k, v, kernel(q, k, v, t, **how), t, pv)
            if said['verdict'] not in ('beyond the proven bound', 'beyond the probable bound', 'biased'):
                wrong.append((seed, NAMES[t], what, said))
none(right, 'kernels that store P V as declared are right')
none(silent, 'without the declaration none of them is')
none(unnamed, 'and the answer names the store')
none(wrong, 'wrong kernels are beyond a bound, or biased, by the declaration')

# In float16 P V of 2000 keys alike overflows although its quotient does not: such a result has no bound.
q, k = torch.zeros(1, 1, 3, 8, dtype=FP), torch.zeros(1, 1, 2000, 8, dtype=FP)
v = torch.full((1, 1, 2000, 8), 40.0, dtype=FP)
got = kernel(q, k, v, FP, pv=FP)
ok(bool(got.isinf().all()), 'a stored P V of float16 overflows')
said = judged(q, k, v, got, FP, 'fp16')
ok(said['verdict'] == 'right', 'which the declaration allows', said)
said = judged(q, k, v, got, FP, 'none')
ok(said['verdict'] == 'beyond the proven bound', 'and nothing else', said)
finish()
