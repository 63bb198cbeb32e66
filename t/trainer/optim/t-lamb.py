# SPDX-License-Identifier: Apache-2.0
"""LAMB: moments, directions, trust ratios and weights of traced steps against its formula, computed here in double; a
parameter that is 0 and a skipped step; schedules; a resumed run, the launch shim, replay and verify."""

import math
import os
import sys

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(here, '..'), os.path.join(here, '..', '..', 'tool')]
from tap import finish, halfulp, ok  # noqa: E402
from trained import Trainings  # noqa: E402

SMALL = '--model mlp --data size=8 --model width=0.06 --data train=48,eval=8 --batch 8 --quiet --policy mixed_float16 '
SMALL += '--optimizer lamb '
runs = Trainings(SMALL)
at, train, column, traced, resumed = runs.at, runs.train, runs.column, runs.traced, runs.resumed
LR, DECAY, B1, B2, EPS = 0.02, 0.03, 0.875, 0.96875, 1e-6
UPDATES, TALLY = 'updates.tsv', ('step', 'tensor', 'updates', 'swamped')
NAMES = ['dense%d.%s' % (k, role) for k in (1, 2, 3) for role in 'wb']


def norm(x):
    return math.sqrt(sum(a * a for a in x))


def far(got, want):
    return norm([a - b for a, b in zip(got, want)]) / (norm(want) + 1e-30)


def judge_counts(run, steps, traced_steps):
    """updates.tsv against traced steps: what a step takes off a weight is the weight's rounded product; where that is
    not 0 and the weight keeps its bits, the update is lost. Returns how many are."""
    counted = {(s, n): (int(u), int(k)) for s, n, u, k in zip(*(column(run, c, UPDATES) for c in TALLY))}
    want = {}
    for step in traced_steps:
        t = traced(run, step)
        for name in NAMES:
            moves = [a == b for a, b, d in zip(t[name], t[name + '_next'], t[name + '_step']) if d]
            want[str(step), name] = len(moves), sum(moves)
    ok(
        len(counted) == steps * len(NAMES) and all(counted[k] == want[k] for k in want),
        '%s: updates.tsv counts updates, and those that were lost' % run,
        [(k, counted.get(k), want[k]) for k in want],
    )
    return sum(k for _, k in want.values())


WORDS = (
    '--optimizer lr=%g --optimizer weight_decay=%g,beta1=%g --optimizer beta2=%g,eps=%g --optimizer no_decay=*.b '
    % (LR, DECAY, B1, B2, EPS)
)
WORDS += '--loss-scale init=2^40,backoff=2^-30 --steps 6 '
for run, more in (('run', ''), ('linear', '--schedule linear:warmup=2 ')):
    if not train(WORDS + more + '--trace steps=0,1,5 --checkpoint-every 3', run):
        continue
    rates, skipped, worst, ones = column(run, 'lr'), column(run, 'skipped'), 0, 0
    for step, live in ((1, 1), (5, 5)):
        t = traced(run, step)
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
    t = traced(run, 0)
    same = all(t[name + end] == t[name + end + '_next'] for name in NAMES for end in ('', '_m', '_v'))
    judge_counts(run, 6, (0, 1, 5))
    ok(skipped == ['1'] + 5 * ['0'] and same, '%s: a skipped step changes nothing' % run, skipped)
    if train(WORDS + more + '--trace steps=none --backend shim', run + 'shim'):
        ok(column(run + 'shim', 'digest') == column(run, 'digest'), '%s: the launch shim has the same bits' % run)
        same = all(column(run + 'shim', c, UPDATES) == column(run, c, UPDATES) for c in ('updates', 'swamped'))
        ok(same, '%s: and counts the same updates' % run)

if train(WORDS.replace('lr=%g' % LR, 'lr=2^-24').replace('2^40', '2^4') + '--trace steps=1', 'lost'):
    ok(judge_counts('lost', 6, (1,)) > 99, 'at a rate of 2^-24 some are lost')

p = halfulp('analyze', '--only', 'replay', at('linear'))
ok(p.returncode == 0 and '; 0 outside their call' in p.stdout, 'traced steps are within their bounds', p.stdout)
p = halfulp('verify', at('linear'))
ok(p.returncode == 0, 'verify repeats them', p.stdout + p.stderr)
p = resumed('linear', 'again', 3)
same = column('again', 'digest') == column('linear', 'digest')
ok(p.returncode == 0 and same, 'resumed from step 3, it has the same bits', p.stderr)
finish()
