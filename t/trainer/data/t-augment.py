# SPDX-License-Identifier: Apache-2.0
"""--augment: every row of every traced step is computed again from the row as it is without augmentation and from
Philox; masks move as their images do; a resumed training, other threads and a repetition see the same."""

import json
import math
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'judge'))
from independent.sums import fnv32, philox  # noqa: E402
from independent.training import shuffled, uniform  # noqa: E402
from tap import finish, halfulp, home, none, ok  # noqa: E402
from tensorsfile import Tensors  # noqa: E402

folder = home()
SEED, BATCH, ROWS = 7, 3, 8


def single(x):
    return struct.unpack('<f', struct.pack('<f', x))[0]


def words(name, epoch, index):
    return philox((index & 0xFFFFFFFF, index >> 32, epoch, fnv32('augment/' + name)), (SEED, 0))


def either(word, most):
    return (word * (2 * most + 1) >> 32) - most


def changed(asked, row, shape, epoch, index, is_mask=False):
    """Row INDEX of EPOCH, a flat list of h x w x c numbers, after the changes ASKED: {name: number}."""
    h, w, c = shape
    pixel = {(y, x): tuple(row[(y * w + x) * c : (y * w + x + 1) * c]) for y in range(h) for x in range(w)}
    if 'crop' in asked:
        r = words('crop', epoch, index)
        down = either(r[0], asked['crop']) if h > 1 else 0
        across = either(r[1], asked['crop'])
        pixel = {(y, x): pixel.get((y + down, x + across), (0.0,) * c) for y in range(h) for x in range(w)}
    if 'shift' in asked:
        by = either(words('shift', epoch, index)[0], asked['shift'])
        pixel = {(y, x): pixel[y, (x - by) % w] for y in range(h) for x in range(w)}
    if 'flip' in asked and words('flip', epoch, index)[0] >= 1 << 31:
        pixel = {(y, x): pixel[y, w - 1 - x] for y in range(h) for x in range(w)}
    flat = [v for y in range(h) for x in range(w) for v in pixel[y, x]]
    if is_mask:
        return flat
    factor = 1 + asked['scale'] * (2 * uniform(SEED, 'augment/scale', epoch, index) - 1) if 'scale' in asked else 1
    for k, v in enumerate(flat):
        v *= factor
        if 'noise' in asked:
            r = words('noise', epoch, index * len(flat) + k)
            halves = sum((x >> 16) + 0.5 + (x & 0xFFFF) + 0.5 for x in r)
            v += asked['noise'] * math.sqrt(1.5) / 65536 * (halves - 4 * 65536)
        flat[k] = single(v)
    return flat


def train(run, data, *more):
    line = '--batch %d --data train=%d,eval=4 --epochs 2 --trace input.* --trace steps=0,1,2,3 --quiet --seed %d' % (
        BATCH, ROWS, SEED
    )
    return halfulp('train', *line.split(), *data.split(), *more, os.path.join(folder, run))


def array(run, step, name):
    t = Tensors(os.path.join(folder, run, 'trace', 'step-%06d.safetensors' % step))
    return list(t['input.' + name])


def judge(what, data, text, asked, shape, mask=False):
    plain = train(what + '-plain', data)
    got = train(what, data, '--augment', text)
    if not ok(plain.returncode == got.returncode == 0, what + ': trains', plain.stderr + got.stderr):
        return
    wrong, same, values = [], 0, []
    for step in range(4):
        epoch, each = step // 2, math.prod(shape)
        order = shuffled(SEED, epoch, ROWS)[step % 2 * BATCH :][:BATCH]
        for name, n in (('x', each), ('mask', each // shape[2])) if mask else (('x', each),):
            was, now = array(what + '-plain', step, name), array(what, step, name)
            for i, index in enumerate(order):
                part = (shape[0], shape[1], n // (shape[0] * shape[1]))
                want = changed(asked, was[i * n : (i + 1) * n], part, epoch, index, name == 'mask')
                mine = now[i * n : (i + 1) * n]
                values += [a - b for a, b in zip(mine, was[i * n : (i + 1) * n])]
                same += mine == was[i * n : (i + 1) * n]
                # The noise's factor is a rounded constant there: a few are one float apart.
                bad = sum(
                    a != b and not ('noise' in asked and abs(a - b) <= 2**-22 * max(1, abs(a)))
                    for a, b in zip(mine, want)
                )
                if bad:
                    wrong.append('%s, step %d, row %d: %d of %d' % (name, step, index, bad, n))
    none(wrong, '%s: %s, each row as Philox says' % (what, text))
    ok(same < 6, '%s: they do change' % what, same)
    return values


judge(
    'moves', '--model unet:levels=1,width=0.1 --data scenes:size=8', 'crop:2,flip', {'crop': 2, 'flip': 1}, (8, 8, 3),
    mask=True
)
judge(
    'all', '--model resnet:depth=10,width=0.05 --data size=9', 'flip,noise:0.25,crop,shift:3,scale',
    {'crop': 2, 'shift': 3, 'flip': 1, 'scale': 0.2, 'noise': 0.25}, (9, 9, 1)
)
asked = {'crop': 63, 'shift': 63, 'scale': 0.5}
judge('signal', '--model resnet1d:width=0.02', 'crop,shift,scale:0.5', asked, (1, 500, 2))
noise = judge('noise', '--model resnet1d:width=0.02', 'noise:0.5', {'noise': 0.5}, (1, 500, 2)) or [0]
mean = sum(noise) / len(noise)
deviation = math.sqrt(sum((x - mean) ** 2 for x in noise) / len(noise))
ok(
    abs(mean) < 5 * 0.5 / math.sqrt(len(noise)) and abs(deviation - 0.5) < 0.02,
    'noise: mean %.4f, standard deviation %.4f' % (mean, deviation),
)


def digests(run):
    rows = [x.rstrip('\n').split('\t') for x in open(os.path.join(folder, run, 'metrics.tsv')) if x[0] != '#']
    return [[r[rows[0].index(c)] for c in ('loss', 'eval_loss', 'digest')] for r in rows[1:]]


MORE = '--model mlp:width=0.05 --data size=9'
train('one', MORE, '--augment', 'crop,noise', '--threads', '1', '--checkpoint-every', '1')
for threads in ('2', '3'):
    train('t' + threads, MORE, '--augment', 'crop,noise', '--threads', threads)
    ok(digests('one') == digests('t' + threads), '%s threads: the same bits' % threads)
# Taken back to its third step, as if it had been killed there
run = os.path.join(folder, 'one')
whole = digests('one')
last = max(int(f[5:11]) for f in os.listdir(run + '/checkpoint'))
os.remove(run + '/checkpoint/step-%06d.safetensors' % last)
manifest = json.load(open(run + '/manifest.json'))
manifest['finished'], manifest['steps_done'] = False, last - 1
manifest['files'] = {k: v for k, v in manifest['files'].items() if '%06d' % last not in k and k.endswith('safetensors')}
json.dump(manifest, open(run + '/manifest.json', 'w'))
got = halfulp('train', '--resume', '--quiet', run)
ok(got.returncode == 0 and digests('one') == whole, 'a resumed training has the same bits', got.stderr)
got = halfulp('verify', run)
ok(got.returncode == 0, 'and verify finds them', got.stdout + got.stderr)
for text, say in (
    ('zoom', 'one of'),
    ('crop,crop', 'twice'),
    ('flip:2', 'no number'),
    ('crop:0.5', 'whole number'),
    ('noise:-1', 'between'),
    ('crop,', 'one of'),
    ('', 'one of'),
):
    got = halfulp('train', '--augment', text, os.path.join(folder, 'refused'))
    ok(
        got.returncode == 2 and say in got.stderr and len(got.stderr.splitlines()) == 1, 'refused: --augment %s' % text,
        got.stderr
    )
got = halfulp('train', '--model', 'bert', '--augment', 'noise', os.path.join(folder, 'refused'))
ok(got.returncode == 2 and 'neither images nor signals' in got.stderr, 'refused: of text', got.stderr)
finish()
