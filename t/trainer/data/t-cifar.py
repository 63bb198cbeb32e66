# SPDX-License-Identifier: Apache-2.0
"""The data set cifar: both kinds' records reach the program as pixels / 255 in the order height, width, colour; test
files are to evaluate on; a file that is cut short, empty, absent, or has an unknown label is refused in one line."""
import os
import random
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
from tap import finish, halfulp, home, ok  # noqa: E402
from tensorsfile import Tensors  # noqa: E402

folder = home()
rng = random.Random(4)


def at(*names):
    return os.path.join(folder, *names)


def records(n, before, classes):
    """n records: bytes before the pixels, of which the last is the label."""
    made = []
    for i in range(n):
        labels = [rng.randrange(20)] * (before - 1) + [(7 * i + 3) % classes]
        made.append(bytes(labels) + rng.randbytes(3072))
    return made


def write(where, name, made):
    os.makedirs(at(where), exist_ok=True)
    open(at(where, name), 'wb').write(b''.join(made))


def train(where, run, *more):
    words = '--model mlp:width=0.01 --batch 4 --steps 1 --quiet --trace steps=0 --trace input.*'.split()
    return halfulp('train', *words, '--data', 'cifar:' + at(where), *more, at(run))


def fed(run):
    step = Tensors(at(run, 'trace', 'step-000000.safetensors'))
    return {name: (step.shape(name), step[name]) for name in ('input.x', 'input.labels')}


def float32(x):
    return struct.unpack('<f', struct.pack('<f', x))[0]


def row(record, before):
    """A record as our row: pixel by pixel red, green and blue, over 255; and its label."""
    p = record[before:]
    return tuple(float32(p[c * 1024 + i] / 255) for i in range(1024) for c in range(3)), record[before - 1]


for where, before, classes, files, test in (
    ('ten', 1, 10, ('data_batch_1.bin', 'data_batch_2.bin'), 'test_batch.bin'),
    ('hundred', 2, 100, ('train.bin',), 'test.bin'),
):
    made = records(4, before, classes)
    half = len(made) // len(files)
    for i, name in enumerate(files):
        write(where, name, made[i * half : (i + 1) * half])
    write(where, test, records(3, before, classes))
    p = train(where, where + '-run')
    ok(p.returncode == 0, '%s trains' % where, p.stderr)
    data = fed(where + '-run')
    shape, x = data['input.x']
    got = {(x[3072 * r : 3072 * (r + 1)], int(data['input.labels'][1][r])) for r in range(4)}
    ok(
        shape == [4, 32, 32, 3] and got == {row(r, before) for r in made},
        '%s: every record is a row, pixel by pixel, over 255, with its label' % where,
    )
    p = halfulp('plan', '--model', 'convnet', '--data', 'cifar:' + at(where), '--json')
    ok('"parameters"' in p.stdout, '%s: plan reads its sizes' % where, p.stderr)

p = train('ten', 'split', '--data', 'split=4')
ok(
    p.returncode == 2 and 'some must be left to evaluate' in p.stderr,
    '--data split=must leave rows to evaluate',
    p.stderr,
)

whole = records(2, 1, 10)
for what, name, made, why in (
    ('a file that is cut short', 'data_batch_1.bin', [whole[0], whole[1][:-1]], 'no whole number of records'),
    ('an empty file', 'data_batch_1.bin', [], 'no whole number of records'),
    ('an unknown label', 'data_batch_1.bin', [whole[0], b'\x0a' + whole[1][1:]], 'record 1 has the label 10'),
    ('a folder without them', 'other.bin', whole, 'neither data_batch_1.bin'),
):
    where = what.replace(' ', '-')
    write(where, name, made)
    p = train(where, where + '-run')
    refused = p.returncode == 3 and why in p.stderr and p.stderr.count('\n') == 1
    ok(refused and not os.path.exists(at(where + '-run', 'manifest.json')), what + ' is refused', p.stderr)
finish()
