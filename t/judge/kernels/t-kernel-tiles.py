#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Large results are judged whole in tiles: memory stays below 1 GB beside their files, and everything that the answer
# says is what the judge says that holds the result at once (which --exact has it do). Needs numpy.
import json
import os
import subprocess
import sys

sys.dont_write_bytecode = True
TOP = os.path.abspath(os.environ.get('srcdir', '.'))
sys.path.insert(0, TOP + '/t/tool')
from faults import watched  # noqa: E402
from tap import HALFULP, finish, home, none, ok, skip_all  # noqa: E402

try:
    import numpy
except ImportError as why:
    skip_all('no numpy: %s' % why)
os.chdir(home())
g = numpy.random.default_rng(2)
# A child's memory counts that of the process it was forked from, so that a small one stands between.
MEASURE = ("import json, resource, subprocess, sys; p = subprocess.run(sys.argv[1:], capture_output=True, text=True); "
           "u = resource.getrusage(resource.RUSAGE_CHILDREN); "
           "print(json.dumps([p.stdout, p.stderr, u.ru_maxrss / 1024]))")


def bf16(x):
    c = numpy.ascontiguousarray(x, numpy.float32).view(numpy.uint32)
    return ((c + 0x7fff + ((c >> 16) & 1)) & 0xffff0000).view(numpy.float32)


def save(**arrays):
    for name, x in arrays.items():
        numpy.save(name + '.npy', x)


def judge(kernel, ins, got, facts, *options):
    words = [HALFULP, 'judge', kernel, '--got', got + '.npy', '--set', facts, '--json', *options]
    for name in ins:
        words += ['--in', '%s=%s.npy' % (name, name)]
    p = subprocess.run([sys.executable, '-S', '-c', MEASURE, *words], capture_output=True, text=True)
    out, err, megabytes = json.loads(p.stdout)
    return json.loads(out) if out else err, megabytes - sum(
        os.path.getsize(n + '.npy') for n in (*ins, got)) / 2 ** 20


def near(a, b):
    return a == b or (isinstance(a, float) and isinstance(b, float) and abs(a - b) <= 1e-9 * abs(a) + 1e-12)


def differing(a, b):
    """Keys of two answers that say another thing; sums may be added in another order."""
    odd = ['verdict'] if a['verdict'] != b['verdict'] else []
    for x, y in zip(a['results'], b['results']):
        odd += [k for k in x if k != 'bias' and not near(x[k], y[k])]
        odd += [k for k in x['bias'] if not near(x['bias'][k], y['bias'][k])]
    return odd


n, m = 3001, 1500   # no multiples of a tile
x = bf16(g.standard_normal((n, m)))
e = numpy.exp(x.astype(numpy.float64) - x.max(1, keepdims=True))
y = bf16(e / e.sum(1, keepdims=True))
spoiled = y.copy()
spoiled[n * 5 // 7, m * 3 // 5] *= 1.5
late = y.copy()
late[-1, -1] *= 1.5
chopped = (numpy.ascontiguousarray(e / e.sum(1, keepdims=True), numpy.float32).view(numpy.uint32) & 0xffff0000).view(
    numpy.float32)
save(x=x, y=y, spoiled=spoiled, late=late, chopped=chopped, wide=y.T.copy())
verdicts = []
for got in ('y', 'spoiled', 'late', 'chopped'):
    whole, heavy = judge('softmax', ['x'], got, 'in=bf16 out=bf16', '--exact', 'e.npy', '--no-culprit')
    tiled, light = judge('softmax', ['x'], got, 'in=bf16 out=bf16', '--no-culprit')
    none(differing(whole, tiled), 'softmax %s: tiles say what the whole says' % got)
    ok(light < .8 * heavy or watched(), 'in %.0f MB where the whole takes %.0f' % (light, heavy))
    verdicts.append(tiled['verdict'])
ok(verdicts == ['right', 'beyond the proven bound', 'beyond the proven bound', 'biased'] or
   verdicts[:3] == ['right'] + 2 * ['beyond the proven bound'] and verdicts[3] != 'right',
   'one spoiled element is seen wherever it is, and chopping too', verdicts)
v, _ = judge('softmax', ['x'], 'wide', 'in=bf16 out=bf16', '--no-culprit')
ok(isinstance(v, str) and 'shape' in v or v['results'][0]['verdict'] == 'the shape is wrong', 'another shape is told',
   v)

# A product, cut by both of its axes.
a, b = bf16(g.standard_normal((1900, 70))), bf16(g.standard_normal((70, 1777)))
save(a=a, b=b, p=bf16(a.astype(numpy.float64) @ b), short=bf16(a[:, :62].astype(numpy.float64) @ b[:62]))
whole, _ = judge('matmul', ['a', 'b'], 'p', 'in=bf16 out=bf16', '--exact', 'e.npy', '--no-culprit')
tiled, _ = judge('matmul', ['a', 'b'], 'p', 'in=bf16 out=bf16', '--no-culprit')
none(differing(whole, tiled), 'product: tiles say what the whole says')
v, _ = judge('matmul', ['a', 'b'], 'short', 'in=bf16 out=bf16')
ok(v['results'][0]['as_if'] == 'as if the last terms of a sum were missing (8)',
   'the culprit is looked for in the tile with the worst element', v['results'][0])

# The promised size: 4096 x 4096 x 4096 takes minutes of the processor, so that a sum is short here.
a, b = bf16(g.standard_normal((4096, 64))), bf16(g.standard_normal((64, 4096)))
save(a=a, b=b, p=bf16(a.astype(numpy.float64) @ b))
v, light = judge('matmul', ['a', 'b'], 'p', 'in=bf16 out=bf16')
ok(v['verdict'] == 'right' and v['results'][0]['elements'] == 4096 ** 2 and v['results'][0]['sample_of'] is None,
   'all of 4096 x 4096 elements are right', v)
ok(light < 1000 or watched(), 'and took %.0f MB beside the files' % light)

# Attention by rows and heads, its log-sum-exp beside it.
q, k, w = (bf16(g.standard_normal((1, h, r, 64))) for h, r in ((8, 6000), (2, 300), (2, 300)))
s = numpy.einsum('bhrd,bhkd->bhrk', q, numpy.repeat(k, 4, 1)) / 8
s = numpy.where(numpy.arange(300) <= numpy.arange(6000)[:, None], s, -numpy.inf)
s = numpy.exp(s - s.max(-1, keepdims=True))
save(q=q, k=k, v=w, o=bf16(numpy.einsum('bhrk,bhkd->bhrd', s / s.sum(-1, keepdims=True), numpy.repeat(w, 4, 1))))
facts = 'in=bf16 out=bf16 causal=1 p=none'
whole, heavy = judge('attention', ['q', 'k', 'v'], 'o', facts, '--exact', 'e.npy', '--no-culprit')
tiled, light = judge('attention', ['q', 'k', 'v'], 'o', facts, '--no-culprit')
none(differing(whole, tiled), 'attention: tiles say what the whole says')
ok(tiled['verdict'] == 'right' and (light < heavy or watched()), '%.0f MB, %.0f for the whole' % (light, heavy), tiled)
finish()
