# SPDX-License-Identifier: Apache-2.0
"""Gradient accumulation: what a traced step of several micro-batches recorded against the same sums computed here, the
update against the one of the whole batch, running statistics, skipped steps, a resumed run, the launch shim, replay and
verify."""

import json
import os
import sys

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(here, '..'), os.path.join(here, '..', '..', 'tool')]
from tap import finish, halfulp, ok  # noqa: E402
from trained import Trainings, f32  # noqa: E402

SMALL = '--model mlp --data size=8 --model width=0.03 --data train=48,eval=8 --quiet --trace steps=none '
runs = Trainings(SMALL)
at, train, column, traced, resumed = runs.at, runs.train, runs.column, runs.traced, runs.resumed
OF_LAYERS = ['dense%d.d%s' % (k, role) for k in (1, 2, 3) for role in 'wb']


def tree(parts):
    """The sum of float32 numbers by pairs of neighbours, one left over joining the next round; each addition rounds
    once, because a double holds the sum of two floats closely enough (53 >= 2 * 24 + 2)."""
    while len(parts) > 1:
        parts = [f32(sum(parts[i : i + 2])) for i in range(0, len(parts), 2)]
    return parts[0]


def sums(t, n):
    """What each parameter's gradient must be, and the names of those that are something else."""
    want = {g: [tree(list(x)) for x in zip(*(t['%s_micro%d' % (g, k)] for k in range(n)))] for g in OF_LAYERS}
    return want, [g for g in OF_LAYERS if tuple(want[g]) != t[g]]


# --- six micro-batches, whose tree has a pair left over; mixed precision and a loss weight, no momentum
N, W, SCALE, RATE = 6, 3.0, 1024.0, 0.125
RUN = '--policy mixed_float16 --optimizer sgd --optimizer lr=%g --batch 12 --batch micro=%d ' % (RATE, N)
RUN += '--loss weight=%g --loss-scale init=%g ' % (W, SCALE)
if train(RUN + '--steps 4 --checkpoint-every 2 --trace steps=0,3', 'run'):
    t = traced('run', 3)
    (want, wrong), far, total = sums(t, N), 0, 0
    for name in OF_LAYERS:
        w = t[name.replace('.d', '.')]
        after = t[name.replace('.d', '.') + '_next']
        for x, g, y in zip(w, want[name], after):
            far = max(far, abs(x - RATE * g / (SCALE * W) - y) / (abs(x) + 1e-3))
        total += sum(g != 0 for g in want[name])
    ok(not wrong and total > 100, "a parameter's gradient is the sum of its parts by pairs", wrong)
    ok(far < 4 * 2.0**-24, 'the update divides it by scale and weight', far)
    # the gradient of the logits of each part, from its probabilities: (p - onehot) / rows * scale * weight / n
    rows, far = len(t['input.labels']) // N, 0
    for k in range(N):
        p, labels = t['loss.p_micro%d' % k], t['input.labels_micro%d' % k]
        ok(labels == t['input.labels'][k * rows : (k + 1) * rows], 'micro-batch %d has its rows' % k)
        by, bias = f32(SCALE * f32(W / N)), t['dense3.db_micro%d' % k]
        C = len(bias)
        want = [sum(p[r * C + j] - (labels[r] == j) for r in range(rows)) / rows * by for j in range(C)]
        # logits' gradients are rounded to float16 before they are added
        far = max([far] + [abs(a - b) / by for a, b in zip(want, bias)])
    ok(far < 2 * 2.0**-11, "the loss of each is divided by their number", far)
    loss = tree([t['loss.y_micro%d' % k][0] for k in range(N)])
    ok(abs(loss / N - t['loss.y'][0]) < 2.0**-23 * loss / N, 'the loss is their mean', (loss, t['loss.y']))
    ok(t['loss.p'] == tuple(x for k in range(N) for x in t['loss.p_micro%d' % k]), 'the probabilities are all rows')
    p = halfulp('analyze', '--only', 'replay', at('run'))
    ok(p.returncode == 0 and '; 0 outside their call' in p.stdout, 'traced steps are within their bounds', p.stdout)
    p = halfulp('verify', at('run'))
    ok(p.returncode == 0, 'verify repeats them', p.stdout + p.stderr)
    if train(RUN + '--steps 4 --backend shim', 'shim'):
        ok(column('shim', 'digest') == column('run', 'digest'), 'the launch shim has the same bits')
    p = resumed('run', 'again', 2)
    same = all(column('again', c) == column('run', c) for c in ('digest', 'loss', 'accuracy'))
    ok(p.returncode == 0 and same, 'resumed from step 2, it has the same bits', p.stderr)

# --- in float32 the whole batch gives the same update but for rounding, and one part is the whole batch
if all(train('--policy float32 --optimizer sgd --batch 12 --steps 3 ' + more, run) for more, run in
       (('', 'whole'), ('--batch micro=1', 'one'), ('--batch micro=6 --trace steps=2', 'six'))):
    ok(column('one', 'digest') == column('whole', 'digest'), 'one micro-batch is the batch')
    far = max(abs(float(a) / float(b) - 1) for c in ('loss', 'grad_norm')
              for a, b in zip(column('six', c), column('whole', c)))
    ok(0 < far < 1e-5, 'six give its losses and norms up to rounding', far)
    _, wrong = sums(traced('six', 2), 6)
    ok(not wrong, 'six gradients of full precision are added by pairs', wrong)

# --- an infinity in one part alone skips the whole step: the gradients that overflow float16 are those of large inputs
OVER = '--policy mixed_float16 --optimizer sgd --batch 12 --batch micro=3 --steps 14 --loss-scale init=2^19 '
OVER += '--loss-scale backoff=0.8 --trace steps=' + ','.join(map(str, range(14)))
if train(OVER, 'over'):
    skipped, seen, wrong = column('over', 'skipped'), set(), []
    for step in range(14):
        t = traced('over', step)
        parts = [all(abs(x) < 1e300 for name in OF_LAYERS for x in t['%s_micro%d' % (name, k)]) for k in range(3)]
        seen.add(sum(parts))
        kept = all(t[name.replace('.d', '.')] == t[name.replace('.d', '.') + '_next'] for name in OF_LAYERS)
        wrong += [] if (skipped[step] == '1') == (not all(parts)) == kept else [(step, parts)]
    ok(not wrong, 'a part that is not finite skips the step', wrong)
    ok(seen - {0, 3} and 3 in seen, 'also where the others are finite', seen)

# --- running statistics pass from part to part
if train('--model convnet:width=0.1 --policy float32 --batch 6 --batch micro=3 --steps 2 --trace steps=1', 'norm'):
    t, wrong = traced('norm', 1), 0
    before = t['bn1.rm']
    for k in range(3):
        after = t['bn1.rm_next' + ('_micro%d' % k if k < 2 else '')]
        for x, mean, y in zip(before, t['bn1.mean_micro%d' % k], after):
            wrong += not abs(0.99 * x + 0.01 * mean - y) <= 4 * 2.0**-24 * (abs(x) + abs(mean))
        before = after
    ok(not wrong and any(before), "each part's running mean begins with the last one's", wrong)

p = halfulp('plan', '--json', *'--model convnet --batch 12'.split())
q = halfulp('plan', '--json', *'--model convnet --batch 12 --batch micro=4'.split())
if ok(p.returncode == q.returncode == 0, 'plan counts them', p.stderr + q.stderr):
    one, four = (json.loads(x.stdout)[0] for x in (p, q))
    ok(one['rows'][-1]['macs'] == four['rows'][-1]['macs'], 'as many multiply-adds')
    a, b = one['memory_bytes'], four['memory_bytes']
    ok(a['activations'] / 5 < b['activations'] < a['activations'] / 3, "a quarter of the activations' memory", (a, b))
    ok(a['weights'] == b['weights'] and a['masters'] == b['masters'], "and all of the weights'", (a, b))

for words, why in (
    ('--batch 12 --batch micro=5', 'no such number of equal parts'),
    ('--batch micro=0', 'from 1 to'),
):
    p = halfulp('train', *(SMALL + words).split(), at('x'))
    ok(p.returncode == 2 and why in p.stderr and p.stderr.count('\n') == 1, 'train %s: %s' % (words, why), p.stderr)
finish()
