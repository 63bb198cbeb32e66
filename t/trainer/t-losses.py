# SPDX-License-Identifier: Apache-2.0
"""Losses against the formulas of PyTorch's, computed here in double from the logits and labels of a traced step: the
loss, the probabilities and the gradient of the logits of cross-entropy with smoothed labels. Replay and verify pass, and
the launch shim has the same bits."""

import json
import math
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tool'))
from tap import finish, halfulp, home, ok  # noqa: E402
from tensorsfile import Tensors  # noqa: E402

folder = home()
SMALL = '--model mlp --size 8 --width 0.03 --train 24 --eval 8 --batch 8 --steps 3 --quiet '


def train(words, run):
    p = halfulp('train', *(SMALL + words).split(), os.path.join(folder, run))
    return p.returncode == 0 or not ok(False, 'train ' + words, p.stderr)


def column(run, name):
    path = os.path.join(folder, run, 'metrics.tsv')
    rows = [line.rstrip('\n').split('\t') for line in open(path) if line[0] != '#']
    return [r[rows[0].index(name)] for r in rows[1:]]


def traced(run, step):
    return Tensors(os.path.join(folder, run, 'trace', 'step-%06d.safetensors' % step))


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
    if not train('--policy float32 --label-smoothing %g --trace-steps 2' % s, run):
        continue
    at = traced(run, 2)
    calls = json.load(open(os.path.join(folder, run, 'program-train.json')))
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

if train('--policy mixed_float16 --label-smoothing 0.2 --trace-steps 0,2 --optimizer sgd', 'half'):
    p = halfulp('analyze', '--only', 'replay', os.path.join(folder, 'half'))
    ok(p.returncode == 0 and '; 0 outside their call' in p.stdout, 'traced steps are within their bounds', p.stdout)
    p = halfulp('verify', os.path.join(folder, 'half'))
    ok(p.returncode == 0, 'verify repeats them', p.stdout + p.stderr)
    if train('--policy mixed_float16 --label-smoothing 0.2 --trace-steps none --optimizer sgd --backend shim', 'shim'):
        ok(column('shim', 'digest') == column('half', 'digest'), 'the launch shim has the same bits')
    if train('--policy mixed_float16 --label-smoothing 0 --trace-steps none --optimizer sgd', 'hard'):
        ok(not set(column('hard', 'digest')) & set(column('half', 'digest')), 'without smoothing they are others')

p = halfulp('train', *(SMALL + '--model ncf --label-smoothing 0.1').split(), os.path.join(folder, 'x'))
ok(p.returncode == 2 and 'no effect with --model ncf' in p.stderr, 'a binary loss refuses it', p.stderr)
finish()
