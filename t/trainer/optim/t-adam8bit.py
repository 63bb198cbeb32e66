#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Adam with moments in 8 and 4 bits: the maps by bitsandbytes' and torchao's definitions, written again here; moments
and weights of traced steps by them; small parameters that keep float32; what rounding to the maps loses of Gaussian
numbers; the first moment's largest magnitude where it is negative, since the map has +1 and no -1."""

import math
import os
import random
import struct
import sys

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(here, '..'), os.path.join(here, '..', '..', 'tool')]
from npzfile import npy  # noqa: E402
from tap import finish, halfulp, none, ok  # noqa: E402
from trained import Trainings  # noqa: E402


def f32(x):
    return struct.unpack('<f', struct.pack('<f', x))[0]


def dynamic(bits, signed):
    """Decades of midpoints of equal parts of 0.1 to 1, in exact numbers: 2^i, or twice as many without a sign."""
    values = [0.0, 1.0]
    for i in range(bits - 1):
        n = 2**i if signed else 2 ** (i + 1)
        for k in range(n):
            v = (0.1 + 0.9 * (k + 0.5) / n) * 10.0 ** (i - bits + 2)
            values += [v, -v] if signed else [v]
    return sorted(values)


MAPS = {'dynamic8': dynamic(8, True), 'dynamic8u': dynamic(8, False), 'dynamic4': dynamic(4, True),
        'linear4u': [k / 16 for k in range(1, 17)]}
ok([len(m) for m in MAPS.values()] == [256, 256, 16, 16], 'the maps have 256 and 16 values')
published = [0, 0.0055, 0.0325, 0.0775, 0.2125, 0.4375, 0.6625, 0.8875, 1]
ok(max(abs(a - b) for a, b in zip(sorted(v for v in MAPS['dynamic4'] if v >= 0), published)) < 1e-12,
   'dynamic4 is the list that torchao prints')
ok(abs(min(v for v in MAPS['dynamic8'] if v > 0) - 5.5e-7) < 1e-12 and MAPS['dynamic8'][0] > -0.9999,
   'the smallest value of dynamic8 is 5.5e-7, and -1 is none')
where = Trainings('')


def cast(values, name, size):
    path, out = where.at('x.npy'), where.at('y.npy')
    with open(path, 'wb') as f:
        f.write(npy((len(values),), values))
    halfulp('op', 'map_cast', '--in', 'a=' + path, '--set', 'map=' + name, '--set', 'size=%d' % size, '--out', out)
    data = open(out, 'rb').read()
    return list(struct.unpack('<%df' % len(values), data[-4 * len(values) :]))


def wrong_of(x, y, table, size):
    """Elements that are not within float32's roundings of the value of the map next to x."""
    wrong = []
    for at in range(0, len(x), size):
        block = x[at : at + size]
        s = max(max(map(abs, block)), 1e-12)
        for a, b in zip(block, y[at : at + size]):
            near = min(abs(v - a / s) for v in table) * s
            if not abs(b - a) <= near + 4e-7 * s * abs(b / s if b else 1) + 1e-20:
                wrong.append('%r became %r' % (a, b))
            if min(abs(v - b / s) / (abs(v) + 1e-30) for v in table) > 4e-7 and b:
                wrong.append('%r is no value of the map' % b)
    return wrong


random.seed(7)
gauss = [f32(random.gauss(0, 1)) for _ in range(256 * 48)]
squares = [f32(x * x) for x in gauss]
for name, x, size in (('dynamic8', gauss, 256), ('dynamic8u', squares, 256), ('dynamic4', gauss, 128),
                      ('linear4u', squares, 128)):
    part = x[: 4 * size]
    none(wrong_of(part, cast(part, name, size), MAPS[name], size)[:5], '%s: each element is the nearest value' % name)


def loss(x, y):
    return math.sqrt(sum((a - b) ** 2 for a, b in zip(x, y)) / sum(a * a for a in x))


m, v = cast(gauss, 'dynamic8', 256), cast(squares, 'dynamic8u', 256)
ok(
    0.0100 < loss(gauss, m) < 0.0118,
    'Gaussian first moments lose 1.09 %% in the root mean square (%.4f)' % loss(gauss, m),
)
ok(0.0058 < loss(squares, v) < 0.0070, 'their squares lose 0.64 %% (%.4f)' % loss(squares, v))
lost = sum(a != 0 and b == 0 for a, b in zip(squares, v)) / len(v)
ok(0.0003 < lost < 0.0020, 'and some 0.095 %% of these become 0 (%.3f %%)' % (100 * lost))
one = cast([-1.0, 0.5, 0.25], 'dynamic8', 256)
ok(
    -1 < one[0] < -0.99 and cast([1.0, 0.5], 'dynamic8', 256)[0] == 1,
    'a block whose largest magnitude is negative loses it',
    str(one),
)

runs = Trainings(
    '--model mlp --data size=16 --model width=1 --data train=48,eval=8 --batch 8 --quiet --policy float32 '
)
LR, B1, B2, EPS = 0.01, 0.875, 0.96875, 1e-8
for optimizer, maps, size in (
    ('adam8bit', ('dynamic8', 'dynamic8u'), 256),
    ('adam4bit', ('dynamic4', 'linear4u'), 128),
):
    words = ':beta1=%g,beta2=%g,eps=%g,weight_decay=0.03,lr=%g --steps 4 --trace steps=0,3' % (B1, B2, EPS, LR)
    if not runs.train('--optimizer ' + optimizer + words, optimizer):
        continue
    names = {t['name']: t for t in runs.program(optimizer)['tensors']}
    large = [n for n in names if n + '_m_coded' in names]
    small = [n for n in names if n + '_m' in names and n not in large]
    def count(n):
        return math.prod(names[n]['shape'])
    ok(large and small and min(map(count, large)) >= 4096 > max(map(count, small)),
       '%s: moments of 4096 elements and more are codes' % optimizer, '%s %s' % (large, small))
    wrong, off = [], []
    for step in (0, 3):
        t = runs.traced(optimizer, step)
        for n in large[:1]:
            g = next(t[k] for k in (n.replace('.', '.d') + s for s in ('_unscaled', '')) if k in t.head)
            m1 = [f32(B1 * a + (1 - B1) * b) for a, b in zip(t[n + '_m'], g)]
            v1 = [f32(B2 * a + (1 - B2) * b * b) for a, b in zip(t[n + '_v'], g)]
            for s, table, moved in (('_m', maps[0], m1), ('_v', maps[1], v1)):
                first = range(0, min(len(moved), 2 * size))
                kept, given = list(t[n + s + '_next']), list(t[n + s + '_moved'])
                wrong += ['%s%s of step %d: %s' % (n, s, step, x) for x in
                          wrong_of([given[i] for i in first], [kept[i] for i in first], MAPS[table], size)[:2]]
                if loss(moved, given) > 1e-6:
                    wrong.append('%s%s of step %d before it is rounded' % (n, s, step))
            c1, c2 = 1 - B1 ** (step + 1), 1 - B2 ** (step + 1)
            after = [w - LR * 0.03 * w - LR * (a / c1) / (math.sqrt(b / c2) + EPS) for w, a, b in zip(t[n], m1, v1)]
            moved = [a - b for a, b in zip(after, t[n])]
            off.append(loss(moved, [a - b for a, b in zip(t[n + '_next'], t[n])]))
    none(wrong, '%s: moments are the nearest values of their maps' % optimizer)
    ok(off and max(off) < 1e-3, '%s: the step is of the moments before they are rounded' % optimizer, str(off))
finish()
