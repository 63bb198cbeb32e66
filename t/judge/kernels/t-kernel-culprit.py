#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# What a wrong result looks like is said: each kind of mistake is made here, in several kernels and two types, and the
# culprit's words, or the declared fact that would have to be another one, are those of the mistake. Needs torch.
import os
import re
import sys

sys.dont_write_bytecode = True
TOP = os.path.abspath(os.environ.get('srcdir', '.'))
sys.path[:0] = [TOP + '/t/tool', TOP + '/python', os.path.dirname(os.path.abspath(__file__))]
from tap import HALFULP, finish, ok, skip_all  # noqa: E402

try:
    import torch
except (ImportError, OSError) as why:
    skip_all('no PyTorch: %s' % str(why).splitlines()[0])
torch.set_num_threads(1)
os.environ['HALFULP'] = HALFULP
import halfulp  # noqa: E402
import mutants  # noqa: E402

E4, BF = torch.float8_e4m3fn, torch.bfloat16
lo = mutants.lo


def small(kernel, **change):
    base = {'rmsnorm+': mutants.rms, 'causal': mutants.attention}.get(kernel) or mutants.RIGHT[kernel]
    return kernel, lambda o, t: base(o, t, **dict(dict(causal=1) if kernel == 'causal' else {}, **change))


def end(kernel, f):
    return small(kernel, end=lambda y, t=None: f(y))


def other_layout(o, t):
    x, c, s = o['x'].float(), o['cos'].float(), o['sin'].float()
    a, b = x[..., ::2], x[..., 1::2]
    return torch.stack([a * c - b * s, b * c + a * s], -1).flatten(-2)


def blocks(t, size, missing=0):
    """A product of 4096 terms whose sums of `size` terms are added in 16 bits, or whose last ones are missing."""
    g = torch.Generator().manual_seed(size + missing)
    x, w = torch.randn(8, 4096, generator=g).to(t), (torch.randn(16, 4096, generator=g) / 64).to(t)
    u, v, y = x.float(), w.float(), torch.zeros(8, 16)
    for i in range(0, 4096 - missing, size):
        j = min(i + size, 4096 - missing)
        y = y + u[:, i:j] @ v[:, i:j].T
        y = lo(y, t) if not missing else y
    return dict(x=x, w=w), y.to(t)


# kernel, how it is computed, and what as_if or right_if has to match
KINDS = [
    (*small('rmsnorm', eps=1e-3), 'as if eps were 1e-3'), (*small('rmsnorm', eps=1e-2), 'as if eps were 1e-2'),
    (*small('layernorm', eps=1e-2), 'as if eps were 1e-2'),
    (*small('softmax', drop=16), r'the last terms of a sum were missing \(16\)'),
    (*small('linear', drop=32), r'the last terms of a sum were missing \(32\)'),
    (*small('rmsnorm', drop=8), r'the last terms of a sum were missing \(8\)'),
    (*small('attention', p=lambda e: lo(e, E4)), 'P were stored in e4m3'),
    (*small('causal', p=lambda e: lo(e, E4)), 'P were stored in e4m3'),
    (*small('causal', diagonal=1), 'as if the causal mask were off by 1'),
    (*small('causal', diagonal=-1), 'as if the causal mask were off by -1'),
    (*small('causal', causal=0), 'as if causal were 0'), (*small('attention', causal=1), 'as if causal were 1'),
    (*small('attention', scale=1 / 32), 'as if the scale were 0.03125'),
    (*small('attention', scale=1.0), 'as if the scale were 1'),
    (*small('attention', swap=True), 'rows 3 and 7 are exchanged'),
    (*end('softmax', lambda y: (y * 0).to(BF)), 'all elements are zero'),
    (*end('gelu', lambda y: (y * 0).to(BF)), 'all elements are zero'),
    (*small('attention', dead=True), 'row'), (*small('linear', bias=False), 'b were left out'),
    (*small('rmsnorm+', residual=False), 'residual were left out'), (*small('swiglu', swap=True), 'exchanged'),
    (*small('layernorm', bias=False), 'b were left out'), ('rope', other_layout, 'interleaved=1'),
    (*small('gelu', f=lambda x: torch.nn.functional.gelu(x, approximate='tanh')), 'gelu were gelu_tanh'),
    (*small('mlp', act=torch.relu), 'gelu were relu'), (*small('swiglu', act=torch.nn.functional.gelu),
    'silu were gelu'),
    (*small('mlp', hidden=lambda y: lo(y, E4)), 'the hidden value were stored in e4m3'),
    ('linear', lambda o, t: mutants.linear(o, t, acc=t, order=32), 'right if acc=(bf16|fp16)@'),
    ('linear', lambda o, t: mutants.linear(o, t, acc=t, order=64), 'right if acc=(bf16|fp16)@'),
]
for t in (BF, torch.float16):
    for kernel, f, want in KINDS:
        o, facts = mutants.operands(kernel, t, 1)
        got = f(o, t).to(t)
        v = halfulp.judge({'rmsnorm+': 'rmsnorm', 'causal': 'attention'}.get(kernel, kernel), o, got, **facts)
        r = v['results'][0]
        said = '%s; right if %s' % (r['as_if'], r['right_if'])
        ok(re.search(want, said), '%s in %s: %s' % (kernel, t, want), said + '\n' + str(v))
    g = torch.Generator().manual_seed(5)
    q, k, v = (torch.randn(2, heads, 33, 16, generator=g).to(t) for heads in (6, 2, 2))
    s = q.float() @ k.float().repeat(1, 3, 1, 1).mT / 4
    got = (lo(torch.exp(s - s.amax(-1, True)), t) @ v.float().repeat(1, 3, 1, 1) /
           torch.exp(s - s.amax(-1, True)).sum(-1, True)).to(t)
    r = halfulp.judge('attention', dict(q=q, k=k, v=v), got)['results'][0]
    ok('heads of keys in turns' in str(r['as_if']), 'heads of keys are repeated whole, in %s' % t, r)
    r = halfulp.judge('attention', dict(q=q, k=k, v=v), got, turns=1)['results'][0]
    ok(r['verdict'] == 'right', 'which is right where it is declared', r)
    x, w = torch.randn(14, 192, generator=g).to(t), torch.randint(16, (10, 192), generator=g)
    zero = torch.full((10, 3), 8)
    scale = (0.05 + 0.1 * torch.rand(10, 3, generator=g)).to(t)
    whole = ((w.view(10, 3, 64) - 9) * scale.float()[..., None]).to(t).float().view(10, 192)
    r = halfulp.judge('int4_matmul', dict(x=x, q=w, scale=scale, zero=zero), (x.float() @ whole.T).to(t), group=64)
    ok('accumulated' not in str(r['results'][0]['as_if']), 'a zero that is one more is no accumulator, in %s' % t, r)
    o, got = blocks(t, 32)
    r = halfulp.judge('linear', o, got)['results'][0]
    ok(re.match('acc=(bf16|fp16)@', str(r['right_if'])), '4096 terms, added in 16 bits by 32, in %s' % t, r)
    o, got = blocks(t, 32, 16)
    r = halfulp.judge('linear', o, got)['results'][0]
    ok('missing (16)' in str(r['as_if']), 'the last 16 of 4096 terms are missing, in %s' % t, r)
finish()
