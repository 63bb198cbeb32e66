#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Adafactor: weights and averages of traced steps against its formula, computed here in double, of matrices and
vectors, with weight decay, a schedule of the learning rate and a skipped step; and beside torch.optim.Adafactor."""

import json
import math
import os
import subprocess
import sys

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(here, '..'), os.path.join(here, '..', '..', 'tool')]
from tap import finish, none, ok, skip  # noqa: E402
from trained import Trainings  # noqa: E402

SMALL = '--model mlp --data size=8 --model width=0.06 --data train=48,eval=8 --batch 8 --quiet '
runs = Trainings(SMALL)
train, traced = runs.train, runs.traced
DECAY = 0.03
NAMES = ['dense%d.%s' % (k, role) for k in (1, 2, 3) for role in 'wb']


def norm(x):
    return math.sqrt(math.fsum(a * a for a in x))


def far(got, want):
    return norm([a - b for a, b in zip(got, want)]) / (norm(want) + 1e-30)


def gradient(t, name):
    return next(t[n] for n in (name.replace('.', '.d') + s for s in ('_unscaled', '')) if n in t.head)


def rms(x):
    return norm(x) / math.sqrt(len(x))


def adafactor(t, name, shape, step, lr, eps):
    """The averages and the weight after a step, which counts from 1, by the formula of torch.optim.Adafactor."""
    w, g = list(t[name]), list(gradient(t, name))
    weight = step**-0.8
    if len(shape) == 1:
        v = [a + (b * b - a) * weight for a, b in zip(t[name + '_v'], g)]
        kept, estimate = {'v': v}, v
    else:
        rows, columns = shape
        row = [math.fsum(x * x for x in g[i * columns : (i + 1) * columns]) / columns for i in range(rows)]
        col = [math.fsum(x * x for x in g[j::columns]) / rows for j in range(columns)]
        row = [a + (b - a) * weight for a, b in zip(t[name + '_row'], row)]
        col = [a + (b - a) * weight for a, b in zip(t[name + '_col'], col)]
        mean = max(math.fsum(row) / rows, eps)
        kept, estimate = {'row': row, 'col': col}, [a * b / mean for a in row for b in col]
    u = [b / math.sqrt(max(a, eps * eps)) for a, b in zip(estimate, g)]
    alpha = max(1e-3, rms(w)) * min(lr, step**-0.5) / max(1, rms(u))
    decay = 0 if name.endswith('.b') else DECAY
    return kept, [a - lr * decay * a - alpha * b for a, b in zip(w, u)]


SHAPES = {}
for run, words, eps, limit, rates in (
    ('double', '--policy float64 --optimizer lr=0.02', 2.0**-52, 1e-12, [0.02] * 4),
    ('short', '--policy float32 --optimizer lr=0.02', 2.0**-23, 2e-6, [0.02] * 4),
    ('rate', '--policy float64 --optimizer lr=0.8 --schedule linear:steps=4', 2.0**-52, 1e-12, [0.8, 0.6, 0.4, 0.2]),
):
    if not train('--optimizer adafactor:weight_decay=0.03,no_decay=*.b --steps 4 --trace steps=0,1,3 ' + words, run):
        continue
    SHAPES = {x['name']: x['shape'] for x in runs.program(run)['tensors'] if x['name'] in NAMES}
    wrong, seen, states = [], [], 0
    for step in (0, 1, 3):
        t = traced(run, step)
        for name in NAMES:
            kept, after = adafactor(t, name, SHAPES[name], step + 1, rates[step], eps)
            off = far([a - b for a, b in zip(t[name + '_next'], t[name])], [a - b for a, b in zip(after, t[name])])
            seen.append(off)
            wrong += ['%s of step %d: %g' % (name, step, off)] if not off < limit * 10 else []
            for s, want in kept.items():
                states += 1
                if not far(t['%s_%s_next' % (name, s)], want) < limit:
                    wrong.append('%s_%s of step %d' % (name, s, step))
    none(wrong, '%s: %d updates and %d averages are the formula\'s (%.2g)' % (run, len(seen), states, max(seen)))
ok(states == 3 * 9, 'matrices have a row and a column, vectors all elements', str(states))

words = '--policy mixed_float16 --loss-scale init=2^40,backoff=2^-30 --steps 3 --trace steps=0,2 --optimizer adafactor'
if train(words, 'skipped'):
    t, later = traced('skipped', 0), traced('skipped', 2)
    states = [n for n in t.head if n + '_next' in t.head and n.rsplit('_')[-1] in ('row', 'col', 'v')]
    ok(len(states) == 9 and all(t[n] == t[n + '_next'] for n in [*NAMES, *states]), 'a skipped step leaves everything',
       str(states))  # fmt: skip
    ok(all(later[n] != later[n + '_next'] for n in NAMES), 'which others move')

TORCH = '''
import json, sys, torch
out = {}
for name, (w, g, states, lr, decay) in json.load(open(sys.argv[1])).items():
    p = torch.nn.Parameter(torch.tensor(w, dtype=torch.float32))
    o = torch.optim.Adafactor([p], lr=lr, weight_decay=decay)
    p.grad = torch.tensor(g, dtype=torch.float32)
    o.step()
    p.data = torch.tensor(w, dtype=torch.float32)
    o.state[p]['step'] = torch.tensor(3.0)
    for k, v in states.items():
        o.state[p][k] = torch.tensor(v, dtype=torch.float32)
    o.step()
    out[name] = p.detach().flatten().tolist()
print(json.dumps(out))
'''


def matrix(x, shape):
    x = list(x)
    return x if len(shape) == 1 else [x[i : i + shape[1]] for i in range(0, len(x), shape[1])]


t, given = traced('short', 3), {}
for name in NAMES:
    shape = SHAPES[name]
    if len(shape) == 1:
        states = {'variance': list(t[name + '_v'])}
    else:
        states = {'row_var': [[v] for v in t[name + '_row']], 'col_var': [list(t[name + '_col'])]}
    decay = 0 if name.endswith('.b') else DECAY
    given[name] = (matrix(t[name], shape), matrix(gradient(t, name), shape), states, 0.02, decay)
path = os.path.join(runs.at('.'), 'adafactor.json')
json.dump(given, open(path, 'w'))
p = subprocess.run([os.environ.get('PYTHON', sys.executable), '-c', TORCH, path], capture_output=True, text=True)
if p.returncode:
    skip('beside torch.optim.Adafactor', 'this Python has no torch.optim.Adafactor')
else:
    want, wrong = json.loads(p.stdout), []
    for name in NAMES:
        moved = [a - b for a, b in zip(t[name + '_next'], t[name])]
        off = far(moved, [a - b for a, b in zip(want[name], t[name])])
        wrong += ['%s: %g' % (name, off)] if not off < 1e-4 else []
    none(wrong, "the step is torch.optim.Adafactor's but for float32's roundings")
finish()
