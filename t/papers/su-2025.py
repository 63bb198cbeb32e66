#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# H. Su, M. Kwun, S. Gil, S. Kakade, N. Anand, Characterization and mitigation of training instabilities in
# microscaling formats, arXiv:2506.20752, 2025: scales of layer normalization are so close to each other that whole
# blocks of them lie in the binade's last bin, where OCP's scale clamps them all to one number, with an error of one
# sign; the cure is to leave such weights, or the activations, in a higher precision.
# Reproduced, on 64 vectors of 512 numbers around 0.93 in place of trained weights: with a deviation of 0.008 all
# elements of mxfp8 by OCP's rule are 0.875, those of e5m2 too, and of mxfp4 0.75; each is too small, and so is a
# layernorm's output, by 5.9 %; rounded up, elements differ and are off by half of e4m3's step of 1/16 at most, to
# either side. Vectors around 0.6 are the same by both rules.
# Not reproduced: that a training becomes unstable by it, and the share of such weights in trained models.
import os
import random
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tool'))
from npzfile import npy  # noqa: E402
from tap import finish, halfulp, home, ok, told  # noqa: E402

where = home()
random.seed(15)
ROWS, K = 64, 512


def f32(v):
    return struct.unpack('<f', struct.pack('<f', v))[0]


def op(name, operands, *words):
    given = []
    for letter, (shape, values) in zip('abc', operands):
        path = os.path.join(where, letter + '.npy')
        with open(path, 'wb') as f:
            f.write(npy(shape, values))
        given += ['--in', '%s=%s' % (letter, path)]
    p = halfulp('op', name, *given, *words, '--out', os.path.join(where, 'y.npy'))
    if p.returncode:
        ok(False, name, p.stderr)
        finish()
    count = len(operands[0][1])
    return struct.unpack('<%df' % count, open(os.path.join(where, 'y.npy'), 'rb').read()[-4 * count :])


def cast(x, blocks):
    return op('block_cast', [((ROWS, K), x)], '--set', 'blocks=' + blocks)


def mean(x):
    return sum(x) / len(x)


near = [f32(random.gauss(0.93, 0.008)) for _ in range(ROWS * K)]
far = [f32(random.gauss(0.6, 0.01)) for _ in range(ROWS * K)]
for blocks, only in (('mxfp8:floor', 0.875), ('mxfp8e5m2:floor', 0.875), ('mxfp4:floor', 0.75)):
    y = cast(near, blocks)
    off = mean(y) / mean(near) - 1
    ok(set(y) == {only} and min(near) > only, '%s: all of %d weights in (%.3f, %.3f) are %g' %
       (blocks, len(near), min(near), max(near), only))  # fmt: skip
    ok(all(a > b for a, b in zip(near, y)) and abs(off - (only / 0.93 - 1)) < 1e-3, '%s: their mean is off by %.2f %%, '
       'each by that sign' % (blocks, 100 * off))  # fmt: skip
up = cast(near, 'mxfp8:rceil')
ok(len(set(up)) > 1 and max(abs(a - b) for a, b in zip(near, up)) <= 1 / 32 and any(b > a for a, b in zip(near, up)),
   'mxfp8, rounded up: the numbers %s, off by at most 1/32 to either side' % sorted(set(up)))
ok(cast(far, 'mxfp8:floor') == cast(far, 'mxfp8:rceil'), 'both rules give weights around 0.6 the same numbers')
x = [f32(random.gauss(0, 1)) for _ in range(ROWS * K)]
zero = ((K,), [0.0] * K)
whole, clamped = (op('layernorm', [((ROWS, K), x), ((K,), w[:K]), zero]) for w in (near, cast(near, 'mxfp8:floor')))
ratio = sum(a * b for a, b in zip(whole, clamped)) / sum(a * a for a in whole)
ok(abs(ratio - 0.875 / mean(near[:K])) < 1e-3, 'a layernorm with these weights gives %.4f of its output' % ratio)
told('its output is %.1f %% too small' % (100 * (1 - ratio)))
finish()
