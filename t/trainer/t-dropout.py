# SPDX-License-Identifier: Apache-2.0
"""Dropout in training: masks, values and gradients of traced steps against Philox's masks, computed here; several
micro-batches have the whole batch's masks; evaluation has none; a resumed run, the launch shim, replay and verify."""

import json
import os
import re
import shutil
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tool'))
from tap import finish, halfulp, home, ok  # noqa: E402
from tensorsfile import Tensors  # noqa: E402

folder = home()
SMALL = '--model mlp --size 8 --width 0.06 --train 48 --eval 8 --batch 12 --quiet --trace-steps none '
P, SEED = 0.375, 7


def at(run):
    return os.path.join(folder, run)


def train(words, run):
    p = halfulp('train', *(SMALL + words).split(), at(run))
    return p.returncode == 0 or not ok(False, 'train ' + words, p.stderr)


def column(run, name):
    rows = [line.rstrip('\n').split('\t') for line in open(at(run) + '/metrics.tsv') if line[0] != '#']
    return [r[rows[0].index(name)] for r in rows[1:]]


def traced(run, step):
    return Tensors('%s/trace/step-%06d.safetensors' % (at(run), step))


def philox(counter, key):
    """Philox4x32-10 (Salmon and others, 2011)."""
    c, k = list(counter), list(key)
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [b >> 32 ^ c[1] ^ k[0], b & 0xFFFFFFFF, a >> 32 ^ c[3] ^ k[1], a & 0xFFFFFFFF]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c


def mask(layer, step, n):
    stream = 0x811C9DC5
    for c in ('dropout/' + layer).encode():
        stream = (stream ^ c) * 0x01000193 & 0xFFFFFFFF
    words = [w for b in range(n // 4 + 1) for w in philox((b, 0, step, stream), (SEED, 0))]
    return [w >= int(P * 2**32) for w in words[:n]]


def f32(x):
    return struct.unpack('<f', struct.pack('<f', x))[0]


WORDS = '--dropout %g --seed %d ' % (P, SEED)
if train(WORDS + '--policy float32 --steps 5 --trace-steps 0,4', 'run'):
    by = f32(1 / (1 - P))
    for step in (0, 4):
        t, wrong, kept = traced('run', step), [], 0
        for layer in ('relu1', 'relu2'):
            for x, y in ((layer + '.y', layer + '.drop'), (layer + '.ddrop', layer + '.dy')):
                want = [f32(a * by) if k else 0 for a, k in zip(t[x], mask(layer, step, len(t[x])))]
                wrong += [] if tuple(want) == t[y] else [y]
                kept += sum(a != 0 for a in t[y])
        ok(not wrong and kept > 50, 'step %d: values and gradients have the masks of their layers' % step, wrong)
    program = json.load(open(at('run') + '/program-eval.json'))
    ok(not [c for c in program['calls'] if c['op'] == 'dropout'], 'evaluation leaves dropout out')
    if train(WORDS + '--policy float32 --steps 5 --micro-batches 3 --trace-steps 4', 'micro'):
        far = max(abs(float(a) / float(b) - 1) for a, b in zip(column('micro', 'loss'), column('run', 'loss')))
        ok(far < 1e-5, 'micro-batches have the masks of the whole batch', far)

HALF = WORDS + '--policy mixed_float16 --steps 6 '
if train(HALF + '--trace-steps 1,5 --checkpoint-every 3', 'half'):
    p = halfulp('analyze', '--only', 'replay', at('half'))
    ok(p.returncode == 0 and '; 0 outside their call' in p.stdout, 'traced steps are within their bounds', p.stdout)
    p = halfulp('verify', at('half'))
    ok(p.returncode == 0, 'verify repeats them', p.stdout + p.stderr)
    if train(HALF + '--backend shim', 'shim'):
        ok(column('shim', 'digest') == column('half', 'digest'), 'the launch shim has the same bits')
    shutil.copytree(at('half'), at('again'))
    last = 'checkpoint/step-000006.safetensors'
    os.remove(at('again') + '/' + last)
    manifest = json.load(open(at('again') + '/manifest.json'))
    manifest.update(steps_done=3, finished=False)
    del manifest['files'][last]
    json.dump(manifest, open(at('again') + '/manifest.json', 'w'))
    p = halfulp('train', '--resume', '--quiet', at('again'))
    same = all(column('again', c) == column('half', c) for c in ('digest', 'loss'))
    ok(p.returncode == 0 and same, 'resumed from step 3, it draws the same masks', p.stderr)

for model, sizes, places in (
    ('bert', '--layers 2 --hidden 8 --heads 2', 2 + 2 * 3),
    ('gpt', '--layers 1 --hidden 8 --heads 2', 1 + 3),
    ('ncf', '--layers 2', 2),
    ('resnet1d', '--width 0.05', 1),
):
    p = halfulp('plan', '--program', *('--model %s --batch 4 --dropout 0.1 %s' % (model, sizes)).split())
    got = sum(re.search(r'\.drop +\S* *= dropout ', line) is not None for line in p.stdout.splitlines())
    ok(p.returncode == 0 and got == places, '%s has dropout in %d places' % (model, places), (got, p.stderr))

for words, why in (('--model convnet --dropout 0.1', 'no effect with --model convnet'), ('--dropout 1', 'from 0 to')):
    p = halfulp('train', *(SMALL + words).split(), at('x'))
    ok(p.returncode == 2 and why in p.stderr and p.stderr.count('\n') == 1, 'train %s: %s' % (words, why), p.stderr)
finish()
