#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Noise and bias of steps that round stochastically: stochastic.tsv has the recorded step as its first draw, the curve
# of means gains half a bit for each doubling where rounding is unbiased and flattens where it is not, and the verdict
# follows the expected gradient, not one draw's.
import json
import math
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tool'))
from tap import HALFULP, finish, home, ok  # noqa: E402
from tensorsfile import Tensors  # noqa: E402

where = home()


def run(*words):
    done = subprocess.run([HALFULP, *words], capture_output=True, text=True)
    if done.returncode:
        ok(False, ' '.join(words), done.stderr)
        finish()
    return done.stdout


def rows(name, table):
    path = os.path.join(where, name, 'analysis', table + '.tsv')
    if not os.path.exists(path):
        return None
    lines = [x.rstrip('\n').split('\t') for x in open(path) if not x.startswith('#')]
    return [dict(zip(lines[0], x)) for x in lines[1:]]


def judged(name, policy, *more):
    run('train', '--model', 'mlp:width=0.25', '--policy', policy, '--steps', '3', '--batch', '40',
        '--trace', 'steps=1,2', '--quiet', *more, os.path.join(where, name))  # fmt: skip
    said = run('analyze', os.path.join(where, name))
    summary = json.load(open(os.path.join(where, name, 'analysis', 'summary.json')))
    return rows(name, 'stochastic'), rows(name, 'underflow'), summary, said


def curve(table, step, kind='gradient', tensor='all'):
    return {
        int(r['draws']): r for r in table if r['step'] == str(step) and r['kind'] == kind and r['tensor'] == tensor
    }


def same(a, b, tolerance=1e-9):
    return abs(float(a) - float(b)) <= tolerance * max(abs(float(a)), abs(float(b)))


table, flush, summary, said = judged('unbiased', 'mxfp4')
one = [r for r in flush if r['from'] == 'exact']
wrong = []
for r in one:
    c = curve(table, r['step'], tensor=r['tensor'])[1]
    if not same(c['cosine'], r['cosine']):
        wrong.append('%s of step %s: %s and %s' % (r['tensor'], r['step'], c['cosine'], r['cosine']))
ok(one and not wrong, 'the first of %d curves is the recorded draw, whose cosine is that of underflow.tsv' % len(one),
   '\n'.join(wrong))  # fmt: skip
for step in (1, 2):
    c = curve(table, step)
    ok(sorted(c) == [1, 2, 4, 8, 16], 'step %d: means of 1 to 16 draws' % step)
    gain = float(c[16]['bits']) - float(c[1]['bits'])
    ok(1.5 < gain < 2.1, 'mxfp4 with headroom, step %d: 16 draws gain some 2 bits' % step, '%g' % gain)
    noise, error, bias = (float(c[16][k]) for k in ('l2_noise', 'l2_error', 'l2_bias'))
    ok(same(error**2, bias**2 + noise**2 / 16, 1e-6), 'the squared error of 16 is that of bias and noise / 16')
    few = [float(c[k]['l2_noise']) / noise for k in (2, 4, 8)]
    ok(all(abs(q - 1) < 0.15 for q in few), 'the noise of one draw does not depend on their number', str(few))
    ok(bias < noise / 4, 'of which bias is the smaller one', '%g, %g' % (bias, noise))
expected = min(float(curve(table, s)[16]['cosine']) for s in (1, 2))
single = min(float(curve(table, s)[1]['cosine']) for s in (1, 2))
numbers = summary['numbers']
ok(single < 0.95 and expected > 0.99, 'one draw turns the gradient, its expected value is whole',
   '%g, %g' % (single, expected))  # fmt: skip
ok(numbers['gradient_cosine_expected'] == expected and same(numbers['gradient_cosine'], single), 'both in summary.json')
ok('%.4f' % expected in summary['verdict'][0] and '%.4f' % single in summary['verdict'][0], 'and in the sentence',
   summary['verdict'][0])  # fmt: skip
ok(summary['cause'] != 'gradients', 'gradients whose expected value is whole are not the cause', str(summary['cause']))

# Of the last layer's dw = x'g, where both operands are rounded stochastically and nothing before is, the variance in
# closed form: a value between neighbours a and b of its grid has (b - v)(v - a), and products of independent ones add.
GRID = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]


def variances(x, columns):
    v = [0.0] * len(x)
    for k in range(columns):
        column = list(range(k, len(x), columns))
        for block in (column[i : i + 32] for i in range(0, len(column), 32)):
            most = max(abs(x[i]) for i in block)
            scale = 2.0 ** (math.floor(math.log2(most)) - 2) * 4 / 3 if most else 1.0
            for i in block:
                q = abs(x[i]) / scale
                low = max(g for g in GRID if g <= q)
                high = min(g for g in GRID if g >= q)
                v[i] = (high - q) * (q - low) * scale**2
    return v


table, flush, summary, said = judged('plain', 'mxfp4,hadamard=none')
traced = Tensors(os.path.join(where, 'plain', 'trace', 'step-000002.safetensors'))
x, g = list(traced['relu2.y']), list(traced['dense3.dy'])
m, n = traced.shape('relu2.y')[-1], traced.shape('dense3.dy')[-1]
vx, vg, exact2, variance = variances(x, m), variances(g, n), 0.0, 0.0
for i in range(m):
    for j in range(n):
        exact2 += sum(x[t * m + i] * g[t * n + j] for t in range(len(x) // m)) ** 2
        variance += sum(x[t * m + i] ** 2 * vg[t * n + j] + g[t * n + j] ** 2 * vx[t * m + i]
                        + vx[t * m + i] * vg[t * n + j] for t in range(len(x) // m))  # fmt: skip
name = next(r['tensor'] for r in table if r['tensor'].startswith('dense3.dw'))
c = curve(table, 2, tensor=name)[16]
want, got = math.sqrt(variance / exact2), float(c['l2_noise'])
ok(abs(got / want - 1) < 0.1, 'the noise of 16 draws of %s is that of the closed form' % name, '%g %g' % (got, want))
ok(float(c['l2_bias']) < want / 4, 'without bias, as the closed form says', c['l2_bias'])

table, flush, summary, said = judged('biased', 'nvfp4')
gains = [float(curve(table, s)[16]['bits']) - float(curve(table, s)[1]['bits']) for s in (1, 2)]
ok(max(gains) < 0.3, 'nvfp4, whose forward products round to nearest: the curve flattens', str(gains))
bias = float(curve(table, 1)[16]['l2_bias'])
ok(bias > 0.3 and summary['verdict_word'] == 'fatal' and summary['cause'] == 'gradients',
   'and the word stays: what is left is bias', '%g %s' % (bias, summary['verdict_word']))  # fmt: skip

table, flush, summary, said = judged('nearest', 'mxfp8')
ok(table is None and 'no call rounds stochastically' in said, 'a policy to nearest has no such table')
ok(summary['numbers']['gradient_noise'] is None and summary['numbers']['gradient_bias'] is None, 'and null for both')
ok(math.isfinite(summary['numbers']['gradient_cosine']), 'one draw is all that there is')
finish()
