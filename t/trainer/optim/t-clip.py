# SPDX-License-Identifier: Apache-2.0
"""Clipping of gradients by value, and weight decay that spares parameters by pattern: gradients and weights of a traced
step against PyTorch's formulas, computed here. Replay and verify pass, and the launch shim has the same bits."""

import os
import sys

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(here, '..'), os.path.join(here, '..', '..', 'tool')]
from tap import finish, halfulp, ok  # noqa: E402
from trained import Trainings  # noqa: E402

SMALL = '--model mlp --data size=8 --model width=0.03 --data train=24,eval=8 --batch 8 --steps 3 --quiet '
runs = Trainings(SMALL)
train, column = runs.train, runs.column
LIMIT, DECAY, RATE = 2.0**-6, 0.25, 0.125


WORDS = '--optimizer sgd --optimizer lr=%g --optimizer weight_decay=%g,no_decay=*.b --optimizer clip_value=%g ' % (
    RATE,
    DECAY,
    LIMIT,
)
if train(WORDS + '--policy mixed_float16 --loss-scale init=1024 --trace steps=2', 'run'):
    floats = runs.traced('run', 2).__getitem__
    limited, kept, wrong, far, moved = 0, 0, 0, 0, {'w': 0, 'b': 0}
    for name in ['dense%d.%s' % (k, role) for k in (1, 2, 3) for role in 'wb']:
        layer, role = name.split('.')
        g, clipped = floats('%s.d%s_unscaled' % (layer, role)), floats('%s.d%s_clipped' % (layer, role))
        limited += sum(abs(x) > LIMIT for x in g)
        kept += sum(0 < abs(x) < LIMIT for x in g)
        wrong += sum(y != max(-LIMIT, min(LIMIT, x)) for x, y in zip(g, clipped)) + (len(g) != len(clipped))
        for w, y, after in zip(floats(name), clipped, floats(name + '_next')):
            want = w - RATE * (y + (DECAY if role == 'w' else 0) * w)
            far = max(far, abs(after - want) / (abs(w) + abs(y) + 1e-30))
            moved[role] += w != 0
    ok(limited > 20 and kept > 20 and not wrong, 'gradients are clipped to [-X, X]', (limited, kept, wrong))
    # a few roundings of relative size 2^-24 of numbers that are no larger than these
    ok(far < 4 * 2.0**-24 and min(moved.values()) > 9, 'weights decay, biases do not', (far, moved))
    program = runs.program('run')
    made = [(c['layer'], program['tensors'][c['out'][0]]['name']) for c in program['calls']]
    made = [(layer, name) for layer, name in made if name.endswith('_clipped')]
    ok(len(made) == 6 and all(name.startswith(layer + '.d') for layer, name in made), 'a call is of its layer', made)
    p = halfulp('analyze', '--only', 'replay', runs.at('run'))
    ok(p.returncode == 0 and '; 0 outside their call' in p.stdout, 'the traced step is within its bounds', p.stdout)
    p = halfulp('verify', runs.at('run'))
    ok(p.returncode == 0, 'verify repeats it', p.stdout + p.stderr)
    if train(WORDS + '--policy mixed_float16 --loss-scale init=1024 --trace steps=none --backend shim', 'shim'):
        ok(column('shim', 'digest') == column('run', 'digest'), 'the launch shim has the same bits')

if train('--optimizer adamw:no_decay=*1.?,*.b --trace steps=none', 'adamw'):
    p = runs.program('adamw')
    got = {p['tensors'][c['in'][0]]['name']: c['attr']['weight_decay'] for c in p['calls'] if c['op'] == 'adamw'}
    want = {'dense%d.%s' % (k, r): 0.01 if k > 1 and r == 'w' else 0 for k in (1, 2, 3) for r in 'wb'}
    ok(got == want, 'patterns are separated by commas, of adamw as well', got)

for words, why in (
    ('--optimizer clip_value=1,clip_norm=1', 'by value or by norm'),
    ('--optimizer adam:no_decay=*', 'no effect with --optimizer adam'),
    ('--optimizer weight_decay=0,no_decay=*', 'no effect where no weight decays'),
):
    p = halfulp('train', *(SMALL + words).split(), runs.at('x'))
    ok(p.returncode == 2 and why in p.stderr and p.stderr.count('\n') == 1, 'train %s: %s' % (words, why), p.stderr)
finish()
