#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kahan's compensation of weights, update=kahan: weights and compensations of traced steps against the formula in
bfloat16, computed here; a skipped step; what the analyzers count, which takes both as one value, counted here; and the
distance from weights in float32, beside that of weights without it."""

import json
import math
import os
import sys

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(here, '..'), os.path.join(here, '..', '..', 'tool')]
from tap import finish, halfulp, none, ok  # noqa: E402
from trained import Trainings  # noqa: E402

SMALL = '--model mlp:width=0.25 --batch 40 --quiet --optimizer lr=1e-4 '
runs = Trainings(SMALL)
at, train, traced = runs.at, runs.train, runs.traced
NAMES = ['dense%d.%s' % (k, role) for k in (1, 2, 3) for role in 'wb']


def bf16(x):
    """To nearest even, of a sum of two floats that a double holds."""
    if x == 0 or x != x:
        return x
    unit = 2.0 ** (math.frexp(x)[1] - 8)
    return round(x / unit) * unit  # Python's round is to even, and bfloat16's smallest numbers are far below


for optimizer in ('adamw', 'sgd', 'lion', 'muon'):
    state = '' if optimizer == 'sgd' else ',state=fp32'  # which has none without a momentum
    if not train('--policy bfloat16 --optimizer %s:update=kahan%s --steps 12 --trace steps=10' % (optimizer, state),
                 optimizer):  # fmt: skip
        continue
    t, wrong, kept, moves, rest = traced(optimizer, 10), [], 0, 0, 0
    for name in NAMES:
        columns = (t[name + s] for s in ('', '_compensation', '_taken', '_next', '_compensation_next'))
        for w, c, u, after, left in zip(*columns):
            moved = bf16(c - u)
            want = bf16(w + moved)
            if after != want or left != bf16(moved + bf16(w - want)):
                wrong.append('%s: %r %r %r' % (name, w, c, u))
            moves += u != 0
            kept += u != 0 and after == w and left == c
            rest += left != 0
    none(wrong[:5], '%s: weights and compensations are those of the formula' % optimizer)
    ok(rest > 1000, '%s: of %d weights something is kept for later' % (optimizer, rest))
    halfulp('analyze', at(optimizer))
    table = [r.rstrip('\n').split('\t') for r in open(at(optimizer, 'analysis', 'swamping.tsv')) if r[0] != '#']
    rows = [dict(zip(table[0], r)) for r in table[1:]]
    all_of = next(r for r in rows if (r['tensor'], r['kind']) == ('all', 'update'))
    ok((int(all_of['additions']), int(all_of['swamped'])) == (moves, kept),
       '%s: of %d updates %d leave both as they are, and so says swamping.tsv' % (optimizer, moves, kept),
       str(all_of))  # fmt: skip
    summary = json.load(open(at(optimizer, 'analysis', 'summary.json')))
    ok(summary['cause'] != 'states', '%s: a compensation is no state of its own' % optimizer, summary['verdict'][0])
    ok(summary['numbers']['update_cosine'] > 0.999, '%s: together they take their update' % optimizer,
       summary['verdict'][0])  # fmt: skip
f = {t['name']: t['format'] for t in runs.program('adamw')['tensors']}
ok(all(f[n + '_compensation'] == 'bf16' for n in NAMES), 'compensations are in the format of the weights')
ok(json.load(open(at('adamw', 'manifest.json')))['optimizer']['update'] == 'kahan', 'the manifest says it')

words = (
    '--policy float16,scaling=dynamic --loss-scale init=2^40 --steps 1 --trace steps=0 --optimizer adamw:update=kahan'
)
if train(words, 'skipped'):
    t = traced('skipped', 0)
    same = all(t[n] == t[n + '_next'] and not any(t[n + '_compensation_next']) for n in NAMES)
    ok(runs.column('skipped', 'skipped') == ['1'] and same, 'a skipped step leaves both')
p = halfulp('train', *'--policy mixed_bfloat16 --optimizer adamw:update=kahan --steps 1'.split(), at('wide'))
ok(p.returncode == 2 and '--optimizer update= has no effect' in p.stderr, 'of float32 weights it is refused',
   p.stderr)  # fmt: skip

# 60 steps of one learning rate: how far weights are from those in float32.
far = {}
LONG = (('wide60', 'mixed_bfloat16', 'rne'), ('rne60', 'bfloat16', 'rne'), ('kahan60', 'bfloat16', 'kahan'))
for name, policy, update in LONG:
    train('--policy %s --optimizer adamw:update=%s,state=fp32 --steps 60 --trace steps=59' % (policy, update), name)
wide = traced('wide60', 59)
for name in ('rne60', 'kahan60'):
    t = traced(name, 59)
    off = []
    for n in NAMES:
        c = t[n + '_compensation_next'] if name == 'kahan60' else [0.0] * len(t[n])
        off += [x + y - z for x, y, z in zip(t[n + '_next'], c, wide[n + '_next'])]
    far[name] = math.sqrt(math.fsum(x * x for x in off))
ok(far['kahan60'] < far['rne60'] / 3, 'after 60 steps compensated weights are nearer to those in float32', str(far))
finish()
