#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# halfulp engines on files of logits: every measure is computed again with 60 decimal digits, of whole files, of tokens
# that are given, of rows that have no probabilities and of masked classes; formats and shapes; and what is refused.
import json
import os
import random
import struct
import subprocess
import sys
from decimal import Decimal, getcontext

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
from npzfile import npy, npz  # noqa: E402
from tap import HALFULP, finish, home, none, ok  # noqa: E402

getcontext().prec = 60
where = home()
os.chdir(where)
INF = float('inf')


def f32(x):
    return struct.unpack('<f', struct.pack('<f', x))[0]


def write(name, shape, values, descr='<f4'):
    open(name, 'wb').write(npy(shape, values, descr))


def run(*words, code=0):
    done = subprocess.run([HALFULP, 'engines', *words], capture_output=True, text=True)
    good = done.returncode == code and (code == 0 or done.stderr.count('\n') == 1 and not done.stdout)
    if not ok(good, 'engines %s: exit %d' % (' '.join(words), code), done.stdout + done.stderr) and code == 0:
        finish()
    return done.stdout or done.stderr


def row(a, b, y):
    """d, KL and whether the greedy tokens differ, in 60 digits; None where a row has no probabilities."""
    if any(x != x or x == INF for x in a + b) or all(x == -INF for x in a) or all(x == -INF for x in b):
        return None
    e = [[Decimal(x).exp() if x > -INF else Decimal(0) for x in r] for r in (a, b)]
    s = [sum(r) for r in e]
    ga, gb = a.index(max(a)), b.index(max(b))
    y = ga if y is None else y
    p, q = e[0][y] / s[0], e[1][y] / s[1]
    if p == 0 and q == 0:
        return None
    d = INF if p == 0 else -INF if q == 0 else (q / p).ln()
    pairs = [(u / s[0], v / s[1]) for u, v in zip(*e) if u]
    kl = INF if any(v == 0 for _, v in pairs) else sum(u * (u / v).ln() for u, v in pairs)
    return d, kl, ga != gb


def near(got, want):
    if isinstance(want, float) and abs(want) == INF:
        return got == ('inf' if want > 0 else '-inf')
    want = float(want)
    return isinstance(got, (int, float)) and abs(got - want) <= 1e-12 * abs(want) + 1e-16


def expected(a, b, tokens, classes, tau=2.0):
    rows = []
    for i in range(len(a) // classes):
        y = tokens[i] if tokens else None
        part = slice(i * classes, (i + 1) * classes)
        rows.append('left' if y is not None and y < 0 else row(a[part], b[part], y))
    kept = [(i, r) for i, r in enumerate(rows) if r not in ('left', None)]
    d, size = [r[0] for _, r in kept], sorted(abs(r[0]) for _, r in kept)
    n = len(kept)
    finite = all(abs(x) != INF for x in d)
    mean = lambda v: INF if INF in v else sum(v) / n  # noqa: E731
    at = next(i for i, r in kept if abs(r[0]) == size[-1])
    return {
        'tokens': n, 'left_out': rows.count('left'), 'nonfinite': rows.count(None),
        'log_ratio_sum': sum(d), 'log_ratio_mean': mean(d), 'log_ratio_mean_abs': mean([abs(x) for x in d]),
        'log_ratio_max': size[-1], 'k1': mean([-x for x in d]), 'k2': mean([x * x / 2 for x in d]),
        'k3': mean([x.exp() - 1 - x for x in d]) if finite else INF,
        'beyond': sum(float(x) > 0.6931471805599453 for x in size) if tau == 2 else None,
        'kl_mean': mean([r[1] for _, r in kept]), 'kl_max': max(r[1] for _, r in kept),
        'greedy_differ': sum(r[2] for _, r in kept),
    }, at, next((i for i, r in kept if r[2]), None), [size[-(-int(q * 1000) * n // 1000) - 1]
                                                      for q in (0.5, 0.9, 0.99, 0.999, 1)]  # fmt: skip


def compare(name, words, a, b, tokens, shape):
    got = json.loads(run(*words, '--json'))
    want, at, first, quantiles = expected(a, b, tokens, shape[-1])
    wrong = ['%s: %r, not %s' % (k, got[k], v) for k, v in want.items() if v is not None and not near(got[k], v)]
    place = lambda i: None if i is None else {'sequence': i // shape[-2], 'position': i % shape[-2]}  # noqa: E731
    wrong += ['%s: %r' % (k, got[k]) for k, i in (('log_ratio_max_at', at), ('greedy_first', first))
              if got[k] != place(i)]  # fmt: skip
    wrong += ['quantile %s: %r' % (k, x) for (k, x), v in zip(got['log_ratio_quantiles'].items(), quantiles)
              if not near(x, v)]  # fmt: skip
    none(wrong, '%s: what 60 digits give' % name)
    return got


random.seed(5)
S, P, C = 3, 7, 50
a = [f32(random.gauss(0, 3)) for _ in range(S * P * C)]
b = [f32(x + random.gauss(0, 0.4)) for x in a]
tokens = [random.randrange(C) for _ in range(S * P)]
tokens[4] = tokens[9] = -100
write('a.npy', (S, P, C), a)
write('b.npy', (S, P, C), b)
write('t.npy', (S, P), tokens, '<i8')
whole = compare('greedy tokens of A', ['a.npy', 'b.npy'], a, b, None, (S, P, C))
given = compare('given tokens', ['a.npy', 'b.npy', '--tokens', 't.npy'], a, b, tokens, (S, P, C))
ok(whole['of'] != given['of'] and given['left_out'] == 2, 'two labels are left out')
ok(whole['greedy_differ'] > 0 and given['beyond'] > 0, 'greedy tokens differ, and probabilities beyond tau')
wrong = []
for s, one in enumerate(given['by_sequence']):
    part, t = slice(s * P * C, (s + 1) * P * C), tokens[s * P : (s + 1) * P]
    want, *_ = expected(a[part], b[part], t, C)
    wrong += ['%d %s: %r' % (s, k, one[k]) for k, v in want.items() if not near(one[k], v)]
none(wrong, 'each of the sequences alone')
back = json.loads(run('b.npy', 'a.npy', '--tokens', 't.npy', '--json'))
ok(near(back['log_ratio_mean'], -given['log_ratio_mean']) and near(back['k2'], given['k2']), 'B against A turns d')

# rows without probabilities, masked classes, and a class that B alone masks
c, d = list(a), list(b)
c[0 * C + 3], d[1 * C + 5], c[2 * C + 1] = float('nan'), INF, -INF
d[2 * C + 1] = -INF
d[3 * C + 7] = -INF
c[4 * C : 5 * C] = [-INF] * C
write('c.npy', (S, P, C), c)
write('d.npy', (S, P, C), d)
got = compare('rows without probabilities', ['c.npy', 'd.npy'], c, d, None, (S, P, C))
ok(got['nonfinite'] == 3 and got['kl_max'] == 'inf', 'three rows have none, and a class that B alone masks counts')

same = json.loads(run('a.npy', 'a.npy', '--json'))
ok(same['identical'] == S * P and same['kl_max'] == 0 and same['greedy_first'] is None, 'a file against itself is 0')
ok(run('a.npy', 'a.npy').startswith('The engines agree'), 'and the sentence says so')
first = run('a.npy', 'b.npy').split('\n')[0]
ok(first == 'The engines choose other tokens: %d of %d greedy tokens differ.' % (whole['greedy_differ'], S * P), first)
e = list(a)
e[5 * C + 2] = float('nan')
write('e.npy', (S, P, C), e)
first = run('a.npy', 'e.npy').split('\n')[0]
ok(first == 'Of 1 tokens an engine has no probabilities. The logits of the other %d are the same bits.' % (S * P - 1),
   'where one engine alone has a NaN they do not agree', first)  # fmt: skip
write('n.npy', (1, 2, 2), [float('nan')] * 4)
ok(run('n.npy', 'n.npy').startswith('No token was compared'), 'where no row has probabilities')
ok(json.loads(run('n.npy', 'n.npy', '--json'))['k3'] is None, 'what was not measured is null')

# bfloat16 has 8 times float16's unit roundoff, so that its log-ratios are 8 times as large and its KL 64 times
N, V = 400, 64
x = [f32(random.gauss(0, 1)) for _ in range(N * V)]


def bf16(v):
    u = struct.unpack('<I', struct.pack('<f', v))[0]
    return struct.unpack('<f', struct.pack('<I', (u + 0x7FFF + (u >> 16 & 1)) & 0xFFFF0000))[0]


write('x.npy', (N, V), x)
write('half.npy', (N, V), [struct.unpack('<e', struct.pack('<e', v))[0] for v in x])
write('brain.npy', (N, V), [bf16(v) for v in x])
half, brain = (json.loads(run('x.npy', f, '--json')) for f in ('half.npy', 'brain.npy'))
ratio = brain['kl_mean'] / half['kl_mean']
ok(54 < ratio < 75, 'KL of bfloat16 logits is some 64 times that of float16', '%g' % ratio)
ratio = (brain['k2'] / half['k2']) ** 0.5
ok(6.5 < ratio < 9.5, 'and their log-ratios are 8 times as large', '%g' % ratio)

head = json.dumps({'logits': {'dtype': 'BF16', 'shape': [N, V], 'data_offsets': [0, 2 * N * V]}}).encode()
data = b''.join(struct.pack('<f', bf16(v))[2:] for v in x)
open('brain.safetensors', 'wb').write(struct.pack('<Q', len(head)) + head + data)
other = json.loads(run('x.npy', 'brain.safetensors', '--json'))
keys = [k for k in brain if k not in ('b', 'identical')]
none([k for k in keys if brain[k] != other[k]], 'bfloat16 of a safetensors file is the same as its values in float32')
npz('two.npz', one=((2, 2), [1, 2, 3, 4]), other=((2, 2), [1, 2, 3, 5]))
ok('one, other' in run('two.npz', 'two.npz', code=3), 'names what there is to choose from')
run('two.npz', 'two.npz', '--output', 'other')
ok('compute the same tokens' in run('a.npy', 'x.npy', code=3), 'shapes that differ')
ok('--tokens has' in run('x.npy', 'x.npy', '--tokens', 't.npy', code=3), 'tokens of another shape')
write('far.npy', (S, P), [C] * (S * P), '<i8')
ok('none of the 50 classes' in run('a.npy', 'b.npy', '--tokens', 'far.npy', code=3), 'a token beyond the classes')
ok('no array has integers' in run('a.npy', 'b.npy', '--tokens', 'a.npy', code=3), 'tokens that are no integers')
ok('2 files' not in run('a.npy', code=2), 'a file alone')
run('a.npy', 'b.npy', '--tau', '0.5', code=2)
run('a.npy', 'none.npy', code=3)
finish()
