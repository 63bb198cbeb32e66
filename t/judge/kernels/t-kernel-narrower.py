#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# A right result whose errors are far below those of its declared roundings is told which narrower declaration makes it
# right too, and by how much narrower a bound: P that is not stored, sums that are not added in 16 bits. Where the
# kernel rounds as declared, nothing is told. Needs numpy.
import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.environ.get('srcdir', '.'), 't/tool'))
from tap import finish, halfulp, home, ok, skip_all  # noqa: E402

try:
    import numpy as np
except ImportError as why:
    skip_all('no numpy: %s' % why)
os.chdir(home())
draw = np.random.default_rng(20261130)


def bf16(x):
    """Rounds float32 to bf16, ties to even."""
    u = np.ascontiguousarray(x, np.float32).view(np.uint32)
    return ((u + 0x7fff + (u >> 16 & 1)) & 0xffff0000).view(np.float32)


def attention(q, k, v, store):
    s = q @ k.swapaxes(2, 3) / np.float32(q.shape[-1] ** 0.5)
    p = np.exp(s - s.max(-1, keepdims=True))
    return store(p) @ v / p.sum(-1, keepdims=True)


def judged(kernel, inputs, got, facts, *more):
    words = []
    for name, x in dict(inputs, got=got).items():
        np.save(name + '.npy', x.astype(np.float32))
        words += ['--in', '%s=%s.npy' % (name, name)] if name != 'got' else ['--got', 'got.npy']
    p = halfulp('judge', kernel, *words, '--set', facts, '--json', *more)
    return json.loads(p.stdout), halfulp('judge', kernel, *words, '--set', facts, *more).stdout


def told(what, fact, kernel, inputs, got, facts, *more):
    """fact: what the answer names; None: nothing."""
    answer, text = judged(kernel, inputs, got, facts, *more)
    r = answer['results'][0]
    ok(r['narrower'] == fact and ('\nnarrower ' in text) == (fact is not None), '%s: %s' % (what, r['narrower']), r)
    if fact is None:
        ok(r['narrower_times'] is None, '%s: no bound is told' % what)
        return
    keys = {f.partition('=')[0] for f in fact.split()}
    rest = ' '.join(f for f in facts.split() if f.partition('=')[0] not in keys)
    again = judged(kernel, inputs, got, rest + ' ' + fact)[0]
    bound = again['results'][0]['radius_half_ulps']
    ok(answer['verdict'] == again['verdict'] == 'right', '%s: both declarations make it right' % what)
    ok(abs(r['narrower_times'] * bound / r['radius_half_ulps'] - 1) < 1e-12 and r['narrower_times'] >= 4,
       '%s: the bound is %.3g times narrower' % (what, r['narrower_times']))
    ok('right with %s too, by a bound %.3g times narrower' % (fact, r['narrower_times']) in text,
       '%s: the answer says so' % what, text)


q, k, v = (bf16(draw.standard_normal((2, 2, 64, 32))) for _ in range(3))
x = dict(q=q, k=k, v=v)
o = attention(q, k, v, lambda p: p)
told('attention that keeps P in fp32', 'p=none', 'attention', x, o, 'in=bf16')
told('the same, not asked', None, 'attention', x, o, 'in=bf16', '--no-culprit')
told('the same, declared', None, 'attention', x, o, 'in=bf16 p=none')
told('attention that stores P', None, 'attention', x, attention(q, k, v, bf16), 'in=bf16')
told('wrong attention', None, 'attention', x, 1.1 * o, 'in=bf16')
told('attention in bf16', None, 'attention', x, bf16(o), 'in=bf16 out=bf16')

e = np.exp(q[0, 0])
told('a softmax whose exponential is good', 'exp=2^-22', 'softmax', dict(x=q[0, 0]), e / e.sum(-1, keepdims=True),
     'in=fp32 exp=2^-14')
told('the same, but the bound is as wide by its sums', None, 'softmax', dict(x=q[0, 0]), e / e.sum(-1, keepdims=True),
     'in=fp32 exp=2^-19')

a, b = bf16(draw.standard_normal((16, 512))), bf16(draw.standard_normal((512, 16)))
sums = np.zeros((16, 16), np.float32)
for i in range(0, 512, 32):
    sums = bf16(sums + a[:, i:i + 32] @ b[i:i + 32])
told('a product in fp32', 'acc=fp32', 'matmul', dict(a=a, b=b), a @ b, 'in=bf16 acc=bf16@32')
told('a product whose sums are added in bf16', None, 'matmul', dict(a=a, b=b), sums, 'in=bf16 acc=bf16@32')
finish()
