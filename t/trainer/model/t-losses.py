# SPDX-License-Identifier: Apache-2.0
"""Losses against the formulas of PyTorch's, computed here in double from the logits and labels of a traced step: the
loss, the probabilities and the gradient of the logits of cross-entropy with smoothed labels or a label to ignore,
of soft Dice and of mean squares, whose gradients are compared with central differences. Replay and verify pass, and
the launch shim has the same bits."""

import math
import os
import random
import sys

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(here, '..'), os.path.join(here, '..', '..', 'tool')]
from npzfile import npz  # noqa: E402
from tap import finish, halfulp, ok  # noqa: E402
from tensorsfile import Tensors  # noqa: E402
from trained import Trainings, perceptron  # noqa: E402

SMALL = '--model mlp --data size=8 --model width=0.03 --data train=24,eval=8 --batch 8 --steps 3 --quiet '
runs = Trainings(SMALL)
train, column, traced = runs.train, runs.column, runs.traced


def cross_entropy(z, labels, s):
    """Loss, probabilities and gradient of torch.nn.functional.cross_entropy(z, labels, label_smoothing=s)."""
    n = len(z) // len(labels)
    loss, p, dz = 0.0, [], []
    for r, label in enumerate(labels):
        row = z[r * n : (r + 1) * n]
        logsum = max(row) + math.log(sum(math.exp(x - max(row)) for x in row))
        logp = [x - logsum for x in row]
        target = [(1 - s) * (j == label) + s / n for j in range(n)]
        loss -= sum(t * y for t, y in zip(target, logp)) / len(labels)
        p += [math.exp(y) for y in logp]
        dz += [(math.exp(y) - t) / len(labels) for y, t in zip(logp, target)]
    return loss, p, dz


for s in (0.1, 1.0):
    run = 'smooth%g' % s
    if not train('--policy float32 --loss label_smoothing=%g --trace steps=2' % s, run):
        continue
    at = traced(run, 2)
    calls = runs.program(run)
    names = [t['name'] for t in calls['tensors']]
    call = next(c for c in calls['calls'] if c['op'] == 'softmax_xent_dx')
    forward = next(c for c in calls['calls'] if c['op'] == 'softmax_xent')
    z, dz = at[names[forward['in'][0]]], at[names[call['out'][0]]]
    loss, p, want = cross_entropy(z, at['input.labels'], s)
    # float32 throughout: a dozen roundings of numbers of the size of the logits, which are below 8
    most = max(1.0, *map(abs, z))
    ok(
        abs(at['loss.y'][0] - loss) < 16 * most * 2.0**-24,
        'smoothing %g: the loss is PyTorch\'s' % s,
        (at['loss.y'], loss),
    )
    ok(max(abs(a - b) for a, b in zip(at['loss.p'], p)) < 16 * most * 2.0**-24, 'and so are the probabilities')
    far = max(abs(a - b) for a, b in zip(dz, want))
    ok(len(dz) == len(want) and far < 16 * most * 2.0**-24 / len(at['input.labels']), 'and the gradient', far)

if train('--policy mixed_float16 --loss label_smoothing=0.2 --trace steps=0,2 --optimizer sgd', 'half'):
    p = halfulp('analyze', '--only', 'replay', runs.at('half'))
    ok(p.returncode == 0 and '; 0 outside their call' in p.stdout, 'traced steps are within their bounds', p.stdout)
    p = halfulp('verify', runs.at('half'))
    ok(p.returncode == 0, 'verify repeats them', p.stdout + p.stderr)
    if train(
        '--policy mixed_float16 --loss label_smoothing=0.2 --trace steps=none --optimizer sgd --backend shim', 'shim'
    ):
        ok(column('shim', 'digest') == column('half', 'digest'), 'the launch shim has the same bits')
    if train('--policy mixed_float16 --loss label_smoothing=0 --trace steps=none --optimizer sgd', 'hard'):
        ok(not set(column('hard', 'digest')) & set(column('half', 'digest')), 'without smoothing they are others')


def softmax(z):
    e = [math.exp(x - max(z)) for x in z]
    return [x / sum(e) for x in e]


def dice(z, labels, n):
    """MONAI's DiceLoss(softmax=True, to_onehot_y=True, batch=True)."""
    p, total = [softmax(z[r * n : (r + 1) * n]) for r in range(len(labels))], 0
    for c in range(n):
        both = sum(p[r][c] for r, label in enumerate(labels) if label == c)
        total += 1 - (2 * both + 1e-5) / (sum(row[c] for row in p) + sum(label == c for label in labels) + 1e-5)
    return total / n


def squares(z, labels, n):
    """MSELoss of the softmax and the labels one-hot."""
    p = [softmax(z[r * n : (r + 1) * n]) for r in range(len(labels))]
    return sum((x - (label == j)) ** 2 for row, label in zip(p, labels) for j, x in enumerate(row)) / len(p) / n


def entropy(z, labels, n):
    return cross_entropy(z, labels, 0)[0]


def without(z, labels, n, ignored):
    kept = [r for r, label in enumerate(labels) if label != ignored]
    return [x for r in kept for x in z[r * n : (r + 1) * n]], [labels[r] for r in kept]


H = 2.0**-12  # truncation H^2 f'''/6 of functions whose derivatives are below some tens, and rounding 2^-52 / H
for words, f, ignored in (
    ('--loss dice', dice, None),
    ('--loss squares', squares, None),
    ('--loss ignore_index=3', entropy, 3),
    ('--loss dice:ignore_index=0', dice, 0),
):
    run = 'loss' + words.replace(' ', '')
    if not train('--seed 3 --policy float32 --trace steps=2 ' + words, run):
        continue
    at = traced(run, 2)
    z, labels = at['dense3.y'], [int(x) for x in at['input.labels']]
    n, dz = len(z) // len(labels), at['dense3.dy']
    loss = f(*without(z, labels, n, ignored), n)
    ok(abs(at['loss.y'][0] - loss) < 64 * 2.0**-24 * loss, '%s: the loss' % words, (at['loss.y'], loss))
    want = []
    for k in range(len(z)):
        sides = [f(*without(z[:k] + (z[k] + s * H,) + z[k + 1 :], labels, n, ignored), n) for s in (1, -1)]
        want.append((sides[0] - sides[1]) / (2 * H))
    far, top = max(abs(a - b) for a, b in zip(dz, want)), max(map(abs, want))
    ok(far < 64 * 2.0**-24 * top and top > 0, '%s: its gradient by central differences' % words, (far, top))
    if ignored is not None:
        rows = [r for r, label in enumerate(labels) if label == ignored]
        ok(rows and not any(dz[r * n + j] for r in rows for j in range(n)), 'label %d has no share' % ignored, rows)
        kept = [r for r in range(len(labels)) if r not in rows]
        right = sum(labels[r] == max(range(n), key=lambda j: z[r * n + j]) for r in kept) / len(kept)
        ok(abs(float(column(run, 'accuracy')[2]) - right) < 1e-12, 'nor in the accuracy', column(run, 'accuracy'))

# --- the evaluation's loss is the mean over all its labels that count, in whatever batches they come: here one of eight
# in the first batch, none in the second and four in the last
SHAPE, CLASSES, IGNORED = (3, 2, 1), 3, 2
drawn = random.Random(5)
eval_labels = 7 * [IGNORED] + [1] + 8 * [IGNORED] + [0, 1, 1, 0]
rows = [[drawn.uniform(0, 2) for _ in range(math.prod(SHAPE))] for _ in range(8 + len(eval_labels))]
data = [drawn.randrange(CLASSES) for _ in range(8)] + eval_labels
npz(
    runs.at('uneven.npz'),
    x=((len(rows), *SHAPE), [x for row in rows for x in row]),
    labels=((len(rows),), data, '<i8'),
)
UNEVEN = '--data npz:%s,split=8 --batch 8 --model width=0.02 --steps 1 --quiet ' % runs.at('uneven.npz')
UNEVEN += '--model mlp --policy float32 --loss ignore_index=%d --checkpoint-every 1' % IGNORED
p = halfulp('train', *UNEVEN.split(), runs.at('uneven'))
if ok(p.returncode == 0, 'a training of which a whole batch of the evaluation is ignored', p.stderr):
    at = Tensors(runs.at('uneven', 'checkpoint', 'step-000001.safetensors'))
    losses, right = [], 0
    for row, label in list(zip(rows, data))[8:]:
        row = perceptron(at, row)
        if label != IGNORED:
            losses.append(entropy(row, [label], CLASSES))
            right += label == max(range(CLASSES), key=lambda j: row[j])
    want, got = sum(losses) / len(losses), float(column('uneven', 'eval_loss')[-1])
    ok(len(losses) == 5 and abs(got - want) < 64 * 2.0**-24 * want, 'counts each label once', (got, want, losses))
    ok(float(column('uneven', 'eval_accuracy')[-1]) == right / 5, 'so does its accuracy', (right, losses))

UNET = '--model unet --data size=8 --model levels=1,width=0.2 --batch 6 --policy mixed_float16 --loss dice '
if train(UNET + '--trace steps=0,2', 'unet'):
    p = halfulp('analyze', '--only', 'replay', runs.at('unet'))
    ok(p.returncode == 0 and '; 0 outside their call' in p.stdout, 'traced steps are within their bounds', p.stdout)
    p = halfulp('verify', runs.at('unet'))
    ok(p.returncode == 0, 'verify repeats them', p.stdout + p.stderr)
    program = runs.program('unet')
    wide = [t['format'] for t in program['tensors'] if t['name'].startswith('loss.')]
    ok(wide and set(wide) == {'fp32'}, 'the loss is in float32', set(wide))
    if train(UNET + '--trace steps=none --backend shim', 'unetshim'):
        ok(column('unetshim', 'digest') == column('unet', 'digest'), 'the launch shim has the same bits')

for words, why in (
    ('--loss dice:label_smoothing=0.1', 'no effect with --loss dice'),
    ('--model gpt --loss dice', 'no effect with --model gpt'),
    ('--loss focal', 'one of cross-entropy dice squares nt-xent is needed'),
    ('--loss ignore_index=-1', 'a whole number from 0 on'),
):
    p = halfulp('train', *(SMALL + words).split(), runs.at('x'))
    ok(p.returncode == 2 and why in p.stderr and p.stderr.count('\n') == 1, 'train %s: %s' % (words, why), p.stderr)
p = halfulp('train', *(SMALL + '--model ncf --loss label_smoothing=0.1').split(), runs.at('x'))
ok(p.returncode == 2 and 'no effect with --model ncf' in p.stderr, 'a binary loss refuses it', p.stderr)
finish()
