# SPDX-License-Identifier: Apache-2.0
"""Dropout in training: masks, values and gradients of traced steps against Philox's masks, computed here; several
micro-batches have the whole batch's masks; evaluation has none; a resumed run, the launch shim, replay and verify."""

import os
import re
import sys

here = os.path.dirname(os.path.abspath(__file__))
for folder in 'trainer', 'tool', 'judge':
    sys.path.insert(0, os.path.join(here, '..', '..', folder))
from independent.sums import fnv32, philox  # noqa: E402
from tap import finish, halfulp, ok  # noqa: E402
from trained import Trainings, f32  # noqa: E402

SMALL = '--model mlp --data size=8 --model width=0.06 --data train=48,eval=8 --batch 12 --quiet --trace steps=none '
runs = Trainings(SMALL)
at, train, column, traced, resumed = runs.at, runs.train, runs.column, runs.traced, runs.resumed
P, SEED = 0.375, 7


def mask(layer, step, n):
    stream = fnv32('dropout/' + layer)
    words = [w for b in range(n // 4 + 1) for w in philox((b, 0, step, stream), (SEED, 0))]
    return [w >= int(P * 2**32) for w in words[:n]]


WORDS = '--model dropout=%g --seed %d ' % (P, SEED)
if train(WORDS + '--policy float32 --steps 5 --trace steps=0,4', 'run'):
    by = f32(1 / (1 - P))
    for step in (0, 4):
        t, wrong, kept = traced('run', step), [], 0
        for layer in ('relu1', 'relu2'):
            for x, y in ((layer + '.y', layer + '.drop'), (layer + '.ddrop', layer + '.dy')):
                want = [f32(a * by) if k else 0 for a, k in zip(t[x], mask(layer, step, len(t[x])))]
                wrong += [] if tuple(want) == t[y] else [y]
                kept += sum(a != 0 for a in t[y])
        ok(not wrong and kept > 50, 'step %d: values and gradients have the masks of their layers' % step, wrong)
    program = runs.program('run', 'eval')
    ok(not [c for c in program['calls'] if c['op'] == 'dropout'], 'evaluation leaves dropout out')
    if train(WORDS + '--policy float32 --steps 5 --batch micro=3 --trace steps=4', 'micro'):
        far = max(abs(float(a) / float(b) - 1) for a, b in zip(column('micro', 'loss'), column('run', 'loss')))
        ok(far < 1e-5, 'micro-batches have the masks of the whole batch', far)

HALF = WORDS + '--policy mixed_float16 --steps 6 '
if train(HALF + '--trace steps=1,5 --checkpoint-every 3', 'half'):
    p = halfulp('analyze', '--only', 'replay', at('half'))
    ok(p.returncode == 0 and '; 0 outside their call' in p.stdout, 'traced steps are within their bounds', p.stdout)
    p = halfulp('verify', at('half'))
    ok(p.returncode == 0, 'verify repeats them', p.stdout + p.stderr)
    if train(HALF + '--backend shim', 'shim'):
        ok(column('shim', 'digest') == column('half', 'digest'), 'the launch shim has the same bits')
    p = resumed('half', 'again', 3)
    same = all(column('again', c) == column('half', c) for c in ('digest', 'loss'))
    ok(p.returncode == 0 and same, 'resumed from step 3, it draws the same masks', p.stderr)

for model, sizes, places in (
    ('bert', '--model layers=2,hidden=8,heads=2', 2 + 2 * 3),
    ('gpt', '--model layers=1,hidden=8,heads=2', 1 + 3),
    ('ncf', '--model layers=2', 2),
    ('resnet1d', '--model width=0.05', 1),
):
    p = halfulp('plan', '--program', *('--model %s --batch 4 --model dropout=0.1 %s' % (model, sizes)).split())
    got = sum(re.search(r'\.drop +\S* *= dropout ', line) is not None for line in p.stdout.splitlines())
    ok(p.returncode == 0 and got == places, '%s has dropout in %d places' % (model, places), (got, p.stderr))

for words, why in (
    ('--model convnet:dropout=0.1', 'no effect with --model convnet'),
    ('--model dropout=1', 'from 0 to'),
):
    p = halfulp('train', *(SMALL + words).split(), at('x'))
    ok(p.returncode == 2 and why in p.stderr and p.stderr.count('\n') == 1, 'train %s: %s' % (words, why), p.stderr)
finish()
