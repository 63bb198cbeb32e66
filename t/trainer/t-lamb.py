# SPDX-License-Identifier: Apache-2.0
"""LAMB: moments, directions, trust ratios and weights of traced steps against its formula, computed here in double; a
parameter that is 0 and a skipped step; schedules; a resumed run, the launch shim, replay and verify."""

import json
import math
import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tool'))
from tap import finish, halfulp, home, ok  # noqa: E402
from tensorsfile import Tensors  # noqa: E402

folder = home()
SMALL = '--model mlp --size 8 --width 0.06 --train 48 --eval 8 --batch 8 --quiet --policy mixed_float16 '
SMALL += '--optimizer lamb '
LR, DECAY, B1, B2, EPS = 0.02, 0.03, 0.875, 0.96875, 1e-6
NAMES = ['dense%d.%s' % (k, role) for k in (1, 2, 3) for role in 'wb']


def at(run):
    return os.path.join(folder, run)


def train(words, run):
    p = halfulp('train', *(SMALL + words).split(), at(run))
    return p.returncode == 0 or not ok(False, 'train ' + words, p.stderr)


def column(run, name):
    rows = [line.rstrip('\n').split('\t') for line in open(at(run) + '/metrics.tsv') if line[0] != '#']
    return [r[rows[0].index(name)] for r in rows[1:]]


def norm(x):
    return math.sqrt(sum(a * a for a in x))


def far(got, want):
    return norm([a - b for a, b in zip(got, want)]) / (norm(want) + 1e-30)


WORDS = '--lr %g --weight-decay %g --beta1 %g --beta2 %g --eps %g --no-decay *.b ' % (LR, DECAY, B1, B2, EPS)
WORDS += '--init-scale 2^40 --backoff-factor 2^-30 --steps 6 '
for run, more in (('run', ''), ('linear', '--schedule linear --warmup 2 ')):
    if not train(WORDS + more + '--trace-steps 0,1,5 --checkpoint-every 3', run):
        continue
    rates, skipped, worst, ones = column(run, 'lr'), column(run, 'skipped'), 0, 0
    for step, live in ((1, 1), (5, 5)):
        t = Tensors('%s/trace/step-%06d.safetensors' % (at(run), step))
        lr = float(rates[step]) if more else LR
        for name in NAMES:
            w, g = t[name], t[name.replace('.', '.d') + '_unscaled']
            m = [B1 * a + (1 - B1) * b for a, b in zip(t[name + '_m'], g)]
            v = [B2 * a + (1 - B2) * b * b for a, b in zip(t[name + '_v'], g)]
            decay = 0 if name.endswith('b') else DECAY
            one, two = 1 - B1**live, 1 - B2**live
            u = [a / one / (math.sqrt(b / two) + EPS) + decay * c for a, b, c in zip(m, v, w)]
            trust = norm(w) / norm(u) if norm(w) and norm(u) else 1
            ones += trust == 1
            moved = [-lr * trust * a for a in u]
            # Rounding errors are of the size of a weight's: w less the direction, and w less the step.
            slack = norm(w) / (norm(moved) + 1e-30)
            got = [a - b for a, b in zip(t[name + '_next'], w)]
            worst = max(worst, far(t[name + '_m_next'], m), far(t[name + '_v_next'], v), far(got, moved) / (1 + slack))
            worst = max(worst, abs(t[name + '_trust'][0] / trust - 1))
    ok(worst < 2.0**-20, '%s: moments, trust ratios and steps are LAMB\'s' % run, worst)
    ok(ones == 3, '%s: a parameter of zeros has the ratio 1' % run, ones)
    t = Tensors(at(run) + '/trace/step-000000.safetensors')
    same = all(t[name + end] == t[name + end + '_next'] for name in NAMES for end in ('', '_m', '_v'))
    ok(skipped == ['1'] + 5 * ['0'] and same, '%s: a skipped step changes nothing' % run, skipped)
    if train(WORDS + more + '--trace-steps none --backend shim', run + 'shim'):
        ok(column(run + 'shim', 'digest') == column(run, 'digest'), '%s: the launch shim has the same bits' % run)

p = halfulp('analyze', '--only', 'replay', at('linear'))
ok(p.returncode == 0 and '; 0 outside their call' in p.stdout, 'traced steps are within their bounds', p.stdout)
p = halfulp('verify', at('linear'))
ok(p.returncode == 0, 'verify repeats them', p.stdout + p.stderr)
shutil.copytree(at('linear'), at('again'))
last = 'checkpoint/step-000006.safetensors'
os.remove(at('again') + '/' + last)
manifest = json.load(open(at('again') + '/manifest.json'))
manifest.update(steps_done=3, finished=False)
del manifest['files'][last]
json.dump(manifest, open(at('again') + '/manifest.json', 'w'))
p = halfulp('train', '--resume', '--quiet', at('again'))
same = column('again', 'digest') == column('linear', 'digest')
ok(p.returncode == 0 and same, 'resumed from step 3, it has the same bits', p.stderr)
finish()
