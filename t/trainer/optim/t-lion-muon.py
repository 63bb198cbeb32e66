#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lion and Muon: weights and momenta of traced steps against their formulas, computed here in double, a skipped step,
weight decay and its exceptions; Muon's iteration in bfloat16 beside that in float32, and beside torch.optim.Muon."""

import math
import os
import subprocess
import sys

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(here, '..'), os.path.join(here, '..', '..', 'tool')]
from tap import finish, none, ok, skip  # noqa: E402
from trained import Trainings  # noqa: E402

SMALL = (
    '--model mlp --data size=8 --model width=0.06 --data train=48,eval=8 --batch 8 --quiet --optimizer'
    ' weight_decay=0.03,lr=0.02 '
)
SMALL += '--optimizer no_decay=*.b,beta1=0.875 --optimizer beta2=0.96875 '
runs = Trainings(SMALL)
train, traced = runs.train, runs.traced
LR, DECAY, B1, B2 = 0.02, 0.03, 0.875, 0.96875
NAMES = ['dense%d.%s' % (k, role) for k in (1, 2, 3) for role in 'wb']


def norm(x):
    return math.sqrt(sum(a * a for a in x))


def far(got, want):
    return norm([a - b for a, b in zip(got, want)]) / (norm(want) + 1e-30)


def gradient(t, name):
    return next(t[n] for n in (name.replace('.', '.d') + s for s in ('_unscaled', '')) if n in t.head)


def decay(name):
    return 0 if name.endswith('.b') else DECAY


if train('--policy float64 --optimizer lion --steps 4 --trace steps=0,3', 'lion'):
    wrong = []
    for step in (0, 3):
        t = traced('lion', step)
        for name in NAMES:
            w, m, g = t[name], t[name + '_m'], gradient(t, name)
            sign = [math.copysign(1, c) if c else 0.0 for c in (B1 * a + (1 - B1) * b for a, b in zip(m, g))]
            after = [a - LR * (s + decay(name) * a) for a, s in zip(w, sign)]
            moment = [B2 * a + (1 - B2) * b for a, b in zip(m, g)]
            if far(t[name + '_next'], after) > 1e-15 or far(t[name + '_m_next'], moment) > 1e-14:
                wrong.append('%s of step %d' % (name, step))
    none(wrong, 'lion: weights and momenta are those of the published formula')
words = '--policy mixed_float16 --loss-scale init=2^40,backoff=2^-30 --steps 3 --trace steps=0,2 --optimizer '
for kind in ('lion', 'muon'):
    if train(words + kind, kind + '-skipped'):
        t, later = traced(kind + '-skipped', 0), traced(kind + '-skipped', 2)
        ok(all(t[n + s] == t[n + s + '_next'] for n in NAMES for s in ('', '_m')),
           '%s: a skipped step leaves weights and momenta' % kind)  # fmt: skip
        ok(all(later[n] != later[n + '_next'] for n in NAMES), 'which others move')


def matrix(x, columns):
    return [x[i : i + columns] for i in range(0, len(x), columns)]


def times(a, b):
    turned = list(zip(*b))
    return [[math.fsum(p * q for p, q in zip(r, c)) for c in turned] for r in a]


def orthogonal(g):
    tall = len(g) > len(g[0])
    x = [list(r) for r in zip(*g)] if tall else g
    size = max(norm([v for r in x for v in r]), 1e-7)
    x = [[v / size for v in r] for r in x]
    for _ in range(5):
        gram = times(x, list(zip(*x)))
        square = times(gram, gram)
        poly = [[-4.775 * p + 2.0315 * q for p, q in zip(*rows)] for rows in zip(gram, square)]
        x = [[3.4445 * p + q for p, q in zip(*rows)] for rows in zip(x, times(poly, x))]
    return [list(r) for r in zip(*x)] if tall else x


def muon(t, name, shape):
    """The momentum and the weight after the step, by the formula of torch.optim.Muon in double."""
    w, m, g = t[name], t[name + '_m'], gradient(t, name)
    b = [a + 0.05 * (c - a) for a, c in zip(m, g)]
    u = [c + 0.95 * (a - c) for a, c in zip(b, g)]
    x = [v for r in orthogonal(matrix(u, shape[1])) for v in r]
    rate = LR * math.sqrt(max(1, shape[0] / shape[1]))
    return b, [a - LR * decay(name) * a - rate * c for a, c in zip(w, x)]


SHAPES = {}
for iterate, limit in (('fp64', 1e-12), ('fp32', 1e-4), ('bf16', 0.2)):
    run, wrong, seen = 'muon-' + iterate, [], []
    policy = 'float64' if iterate == 'fp64' else 'float32'
    if not train('--policy %s --optimizer muon:iterate=%s --steps 4 --trace steps=0,3' % (policy, iterate), run):
        continue
    SHAPES = {x['name']: x['shape'] for x in runs.program(run)['tensors'] if x['name'] in NAMES}
    for step in (0, 3):
        t = traced(run, step)
        for name in NAMES:
            if len(SHAPES[name]) != 2:
                continue
            b, after = muon(t, name, SHAPES[name])
            moved = [x - y for x, y in zip(t[name + '_next'], t[name])]
            off = far(moved, [x - y for x, y in zip(after, t[name])])
            seen.append(off)
            if off > limit or far(t[name + '_m_next'], b) > 1e-6:
                wrong.append('%s of step %d: %g' % (name, step, off))
    none(wrong, 'muon, iteration in %s: %d steps within %g of double (%.2g)' % (iterate, len(seen), limit, max(seen)))
    if iterate == 'bf16':
        ok(max(seen) > 1e-3, 'which bfloat16 is seen to be', str(seen))
t = traced('muon-fp32', 3)
ok('dense1.b_v' in t.head and 'dense1.w_v' not in t.head, 'muon: parameters that are no matrices have AdamW')

TORCH = '''
import json, sys, torch
w, g, m, lr, decay = json.load(open(sys.argv[1]))
p = torch.nn.Parameter(torch.tensor(w, dtype=torch.float32))
o = torch.optim.Muon([p], lr=lr, weight_decay=decay, momentum=0.95)
o.state[p]["momentum_buffer"] = torch.tensor(m, dtype=torch.float32)
p.grad = torch.tensor(g, dtype=torch.float32)
o.step()
print(json.dumps(p.detach().tolist()))
'''


def torch_step(t, name):
    import json

    columns = SHAPES[name][1]
    path = os.path.join(runs.at('.'), 'muon.json')
    values = [matrix(x, columns) for x in (t[name], gradient(t, name), t[name + '_m'])]
    json.dump([*values, LR, DECAY], open(path, 'w'))
    p = subprocess.run([os.environ.get('PYTHON', sys.executable), '-c', TORCH, path], capture_output=True, text=True)
    return [v for r in json.loads(p.stdout) for v in r] if p.returncode == 0 else None


t, wrong = traced('muon-bf16', 3), []
if torch_step(t, 'dense1.w') is None:
    skip('muon beside torch.optim.Muon', 'this Python has no torch.optim.Muon')
else:
    for name in NAMES:
        if len(SHAPES[name]) == 2:
            want, got = torch_step(t, name), t[name + '_next']
            off = far([x - y for x, y in zip(got, t[name])], [x - y for x, y in zip(want, t[name])])
            wrong += ['%s: %g' % (name, off)] if off > 0.03 else []
    none(wrong, "muon: the step is torch.optim.Muon's but for bfloat16's roundings")
finish()
