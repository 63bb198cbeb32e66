# SPDX-License-Identifier: Apache-2.0
"""--loss nt-xent: the two views of each row by Philox, the loss, the probabilities and the gradient of a traced step
against the formula of Chen and others (2020), computed here in double, the evaluation over batches that are not full,
and micro-batches. Replay, verify and a resumed run; the launch shim; what is refused."""

import json
import math
import os
import random
import sys

here = os.path.dirname(os.path.abspath(__file__))
for folder in 'trainer', 'tool', 'judge':
    sys.path.insert(0, os.path.join(here, '..', '..', folder))
from independent.training import uniform  # noqa: E402
from npzfile import npz  # noqa: E402
from tap import finish, halfulp, ok  # noqa: E402
from tensorsfile import Tensors  # noqa: E402
from trained import Trainings, f32, perceptron  # noqa: E402

SEED, BATCH, ROWS, EVAL, WIDE, STRENGTH, TEMPERATURE = 9, 6, 12, 8, 7, 0.25, 0.3
BEGIN = '--model mlp:width=0.05 --batch %d --data split=%d --seed %d --quiet ' % (BATCH, ROWS, SEED)
runs = Trainings(BEGIN)
at, train, column, traced, resumed = runs.at, runs.train, runs.column, runs.traced, runs.resumed
drawn = random.Random(4)
data = [[f32(drawn.gauss(0, 1)) for _ in range(WIDE)] for _ in range(ROWS + EVAL)]
count = len(data)
npz(at('data.npz'), x=((count, WIDE), sum(data, [])), labels=((count,), [i % 3 for i in range(count)], '<i8'))
DATA = '--data npz:%s --augment scale:%g ' % (at('data.npz'), STRENGTH)
WORDS = DATA + '--loss nt-xent:temperature=%g ' % TEMPERATURE


def views(index, epoch):
    """Both views of a row: all its numbers times a factor of each view's own."""
    factors = [
        1 + STRENGTH * (2 * uniform(SEED, 'augment/scale' + stream, epoch, index) - 1) for stream in ('', '/1')
    ]
    return [tuple(f32(v * factor) for v in data[index]) for factor in factors]


def contrast(z):
    """Losses, probabilities and hits of views whose neighbours are their partners."""
    unit = [[x / math.sqrt(sum(v * v for v in row)) for x in row] for row in z]
    losses, p, hits = [], [], 0
    for i, a in enumerate(unit):
        s = [sum(x * y for x, y in zip(a, b)) / TEMPERATURE for b in unit]
        e = [0.0 if i == j else math.exp(x) for j, x in enumerate(s)]
        losses.append(math.log(sum(e)) - s[i ^ 1])
        p.append([x / sum(e) for x in e])
        hits += max(range(len(e)), key=lambda j: e[j]) == i ^ 1
    return losses, p, hits


def mean(z):
    return sum(contrast(z)[0]) / len(z)


def rows_of(flat, n):
    return [list(flat[r * n : (r + 1) * n]) for r in range(len(flat) // n)]


if train(WORDS + '--policy float32 --steps 3 --trace steps=0,2 --checkpoint-every 2', 'run'):
    seen, tens = [], 64 * 2.0**-24
    for step in (0, 2):
        t = traced('run', step)
        pairs = rows_of(t['input.x'], WIDE)
        known = {v: i for i in range(ROWS) for v in [tuple(views(i, step // 2))]}
        seen.append([known.get((tuple(a), tuple(b))) for a, b in zip(pairs[::2], pairs[1::2])])
        n = t.shape('dense3.y')[1]
        z, dz = rows_of(t['dense3.y'], n), t['dense3.dy_sum']  # through quotients and norms
        losses, p, hits = contrast(z)
        loss = sum(losses) / len(losses)
        ok(n == 6 and abs(t['loss.y'][0] - loss) < tens * loss, 'step %d: the loss' % step, (t['loss.y'], loss))
        far = max(abs(a - b) for a, b in zip(t['loss.p'], sum(p, [])))
        ok(far < tens, 'step %d: the probabilities, of which a view itself has none' % step, far)
        right = float(column('run', 'accuracy')[step])
        ok(abs(right - hits / len(z)) < 1e-12, 'step %d: how many find their partner' % step, (right, hits))
        H, want = 2.0**-18, []  # truncation H^2 f'''/6 and rounding 2^-52 / H, beside gradients of about 1
        for k in range(len(dz)):
            sides = []
            for sign in (1, -1):
                other = [row[:] for row in z]
                other[k // n][k % n] += sign * H
                sides.append(mean(other))
            want.append((sides[0] - sides[1]) / (2 * H))
        far, top = max(abs(a - b) for a, b in zip(dz, want)), max(map(abs, want))
        ok(far < 2 * tens * top and top > 0, 'step %d: its gradient by central differences' % step, (far, top))
    ok(all(i is not None for s in seen for i in s), 'neighbours are two views of one row', seen)
    ok(len({*seen[0]}) == BATCH, 'of as many rows as the batch has', seen)

    # The evaluation's second batch has two rows, and nothing else that a view is to be told from.
    t, total, hits = Tensors(at('run', 'checkpoint', 'step-000003.safetensors')), 0, 0
    for first, last in ((0, BATCH), (BATCH, EVAL)):
        z = [perceptron(t, v) for i in range(first, last) for v in views(ROWS + i, 0)]
        losses, _, right = contrast(z)
        total, hits = total + sum(losses), hits + right
    got, want = float(column('run', 'eval_loss')[-1]), total / (2 * EVAL)
    ok(abs(got - want) < tens * want, 'the evaluation compares the views of each batch', (got, want))
    got = float(column('run', 'eval_accuracy')[-1])
    ok(abs(got - hits / (2 * EVAL)) < 1e-12, 'and counts those that find their partner', (got, hits))
    ok({column('run', c)[-1] for c in ('eval_precision', 'eval_recall')} == {'-'}, 'there are no classes to score')
    p = resumed('run', 'again', 2)
    same = all(column('again', c) == column('run', c) for c in ('digest', 'loss', 'eval_loss'))
    ok(p.returncode == 0 and same, 'resumed from step 2, it has the same bits', p.stderr)

if train(WORDS + '--policy float32 --steps 1 --trace steps=0 --batch micro=3', 'parts'):
    t = traced('parts', 0)
    parts = [rows_of(t['dense3.y_micro%d' % k], 6) for k in range(3)]
    want = sum(mean(z) for z in parts) / 3
    ok(abs(t['loss.y'][0] - want) < tens * want, 'a micro-batch compares its own views', (t['loss.y'], want))
    right = sum(contrast(z)[2] for z in parts) / 12
    ok(abs(float(column('parts', 'accuracy')[0]) - right) < 1e-12, 'and finds its own partners', right)

SIGNALS = '--model resnet1d:width=0.02 --data signals:train=8,eval=2 --batch 4 --steps 2 --augment shift,noise '
for name, words in (
    ('perceptron', BEGIN + WORDS + '--steps 3 '),
    ('signals', '--quiet --loss nt-xent ' + SIGNALS),
):
    runs.words = words + '--policy mixed_float16'
    if not train('--trace steps=0', name):
        continue
    loss = [t for t in runs.program(name)['tensors'] if t['name'].startswith('loss.')]
    ok(loss and {t['format'] for t in loss} == {'fp32'}, name + ': the loss is in float32', loss)
    p = halfulp('analyze', '--only', 'replay', at(name))
    ok(p.returncode == 0 and '; 0 outside their call' in p.stdout, name + ': within its bounds', p.stdout)
    p = halfulp('verify', at(name))
    ok(p.returncode == 0, name + ': verify repeats it', p.stdout + p.stderr)
    if train('--trace steps=none --backend shim', name + 'shim'):
        same = all(column(name, c) == column(name + 'shim', c) for c in ('digest', 'loss', 'accuracy', 'eval_loss'))
        ok(same, name + ': the launch shim has the same bits')

for words, why in (
    (DATA.split('--augment')[0] + '--loss nt-xent', 'the two views of a sample would be the same'),
    ('--model bert:width=1 --loss nt-xent --augment noise', 'no two views are made'),
    (DATA + '--loss temperature=2', 'no effect with --loss cross-entropy, which does not read it (nt-xent)'),
    (WORDS + '--loss ignore_index=1', 'no effect with --loss nt-xent, which does not read it'),
    (WORDS + '--loss label_smoothing=0.1', 'no effect with --loss nt-xent, which does not read it (cross-entropy)'),
    (WORDS + '--loss temperature=0', 'temperature'),
):
    p = halfulp('train', *(BEGIN + words).split(), at('x'))
    ok(p.returncode == 2 and why in p.stderr and p.stderr.count('\n') == 1, 'train %s: %s' % (words, why), p.stderr)
p = halfulp('plan', '--json', *'--model resnet1d --loss nt-xent --batch 512 --by call'.split())
cosines = [r for r in json.loads(p.stdout)[0]['rows'] if r['layer'] == 'loss' and r['op'] == 'matmul']
macs = [r['macs'] for r in cosines if r['phase'] == 'forward']
ok(macs == [1024 * 1024 * 128], 'a batch of 512 becomes 1024 views: multiply-adds of their cosines', cosines)
finish()
