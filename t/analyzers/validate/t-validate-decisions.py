#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# validate's decisions against the exact network, by rational arithmetic: a small network whose first classes nearly tie
# is computed here without rounding, so that float32's errors, the decisions that it changes, those that no margin
# decides and the flips that are open follow. Then rules of --accept: what is a rule, and what is none.
import json, os, random, re, struct, sys
from fractions import Fraction as Q

sys.dont_write_bytecode = True
TOP = os.path.abspath(os.environ.get('srcdir', '.'))
sys.path.insert(0, os.path.join(TOP, 't/tool'))
import tap
from npzfile import npz, outputs
from onnxfile import *

os.chdir(tap.home())
random.seed(17)
f32 = lambda values: [struct.unpack('<f', struct.pack('<f', v))[0] for v in values]
N, I, H, C = 40, 6, 10, 4
x, w1 = f32(random.gauss(0, 1) for _ in range(N * I)), f32(random.gauss(0, 0.5) for _ in range(I * H))
w2 = f32(random.gauss(0, 0.5) for _ in range(H * C))
for h in range(H):  # classes 0 and 1 differ by little, and lie above the others
    w2[h * C] = f32([abs(w2[h * C]) + 0.5])[0]
    w2[h * C + 1] = f32([w2[h * C] * (1 + random.choice((-1, 0, 1)) * 2.0**-23)])[0]
write(
    'm.onnx',
    graph(
        [node('MatMul', 'x w1', 'h'), node('Relu', 'h', 'r'), node('MatMul', 'r w2', 'y')],
        [floats('w1', [I, H], w1), floats('w2', [H, C], w2)],
        [value('x', ['n', I])],
        [value('y', ['n', C])],
    ),
)
npz('x.npz', x=([N, I], x))


def exactly(row):
    h = [max(sum(Q(row[i]) * Q(w1[i * H + k]) for i in range(I)), Q(0)) for k in range(H)]
    return [sum(h[k] * Q(w2[k * C + c]) for k in range(H)) for c in range(C)]


def first_two(values):
    order = sorted(range(C), key=lambda c: (-values[c], c))
    return order[0], order[1]


got = tap.halfulp(
    'validate', 'm.onnx', '--data', 'x.npz', '--policy', 'fp16,bf16', '--exact', str(N), '--outputs', 'out', '--json'
)
told = json.loads(got.stdout) if got.returncode == 0 else tap.bail_out(got.stderr)
y = [Q(v) for v in outputs('out/float32.npz')['y'][1]]
y = [y[i * C : i * C + C] for i in range(N)]
e = [exactly(x[i * I : i * I + I]) for i in range(N)]
worst = max(abs(a - b) for r, s in zip(y, e) for a, b in zip(r, s))
most = [max(map(abs, s)) for s in e]
changed = sum(first_two(r)[0] != first_two(s)[0] for r, s in zip(y, e))
close = []
for r, s in zip(y, e):
    a, b = first_two(r)
    close.append(r[a] - r[b] <= abs(r[a] - s[a]) + abs(r[b] - s[b]))
t = told['exact']
near = lambda a, b: abs(a - float(b)) <= 2**-51  # exact values of about 4 are rounded to doubles
tap.ok(
    t['inputs'] == N and not t['open'] and near(t['max_error'], worst) and worst > 1e-7,
    'the largest error of float32, of %d inputs' % N,
    t,
)
tap.ok(
    near(t['relative'], max(max(abs(a - b) for a, b in zip(r, s)) / m for r, s, m in zip(y, e, most))),
    'and beside the largest magnitude of its output',
    t,
)
tap.ok(t['changed'] == changed > 0, 'float32 changes %d decisions of the exact network' % changed, t)
out = tap.halfulp('validate', 'm.onnx', '--data', 'x.npz', '--policy', 'fp16,bf16', '--exact', str(N)).stdout
found = re.search(r"otherwise than it on (\d+); on (\d+) float32's margin is no larger than its own error", out)
tap.ok(
    found and found.groups() == (str(changed), str(sum(close))) and changed < sum(close) < N,
    "on %d of %d float32's margin is no larger than its own error" % (sum(close), N),
    out,
)
for r in told['policies'][1:]:
    flips = [c['input'] for c in r['changed']]
    tap.ok(
        (r['open'], r['flips_judged']) == (sum(close[i] for i in flips), len(flips)) and r['open'],
        '%s: of %d flips %d are open' % (r['policy'], len(flips), r['open']),
        r,
    )
# Of fewer inputs those come first on which some policy decided otherwise
few = tap.halfulp('validate', 'm.onnx', '--data', 'x.npz', '--policy', 'fp16,bf16', '--exact', '2', '--json').stdout
flipped = sorted({c['input'] for r in told['policies'][1:] for c in r['changed']})[:2]
tap.ok(
    len(flipped) == 2
    and flipped != [0, 1]
    and [r['flips_judged'] for r in json.loads(few)['policies'][1:]]
    == [sum(c['input'] in flipped for c in r['changed']) for r in told['policies'][1:]],
    'the exact network runs on inputs %s, the first that flip' % flipped,
    few,
)

for rule in (
    'flips',
    'flips<1',
    'flips>1%',
    'flips=<1',
    '<=1',
    'flop<=1',
    'flips<=',
    'flips<=x',
    'flips<=1x',
    'kl<=nan',
    'sqnr>=3%',
    'kl<=1%',
    'sqnr_d>=1',
):
    got = tap.halfulp('validate', 'm.onnx', '--data', 'x.npz', '--policy', 'fp16', '--exact', '0', '--accept', rule)
    tap.ok(
        got.returncode == 2 and got.stderr.count('\n') == 1 and "--accept '%s': " % rule in got.stderr,
        'no rule: %s' % rule,
        got.stderr,
    )
r = told['policies'][1]
for rule, is_ in (
    ('flips<=%d', r['flips']),
    ('flips<=%.17g%%', 100 * r['flips'] / N),
    ('top<=%d', r['top']),
    ('rel_l2<=%.17g', r['rel_l2']),
    ('sqnr_db>=%.17g', r['sqnr_db']),
    ('sqnr>=%.17g', r['sqnr_db']),
    ('max_error<=%.17g', r['max_error']),
    ('kl<=%.17g', r['kl']),
    ('nonfinite<=%d', r['nonfinite']),
):
    for less in (0, 1):
        bound = is_ + (-1 if '<' in rule else 1) * less * (1 if 'd' in rule.split('=')[1] else 1e-9 * abs(is_))
        if bound < 0 and '<' in rule and rule.startswith(('top', 'nonfinite')):
            bound = -1
        got = tap.halfulp(
            'validate',
            'm.onnx',
            '--data',
            'x.npz',
            '--policy',
            'fp16',
            '--exact',
            '0',
            '--accept',
            rule % bound,
            '--json',
        )
        tap.ok(
            got.returncode == less,
            '%s is %s' % (rule % bound, 'broken' if less else 'kept, and no more than that'),
            got.stderr + got.stdout[-300:],
        )
tap.finish()
