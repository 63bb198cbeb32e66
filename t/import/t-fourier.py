#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# DFT: real and complex samples, along any axis, padded or cut to a length, one half of a transform, and the way back,
# against sums of complex exponentials in double precision.
import cmath, os, random, sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
import tap
from npzfile import npz, outputs
from onnxfile import *

os.chdir(tap.home())
random.seed(20)


def transform(x, n, m, sign):
    x = (x + [0] * n)[:n]
    y = [sum(v * cmath.exp(sign * 2j * cmath.pi * i * k / n) for i, v in enumerate(x)) for k in range(m)]
    return [v / n for v in y] if sign > 0 else y


for version in (17, 20):
    for axis, parts, length, more in ((2, 1, None, {}), (2, 2, None, {}), (1, 2, None, {'inverse': 1}), (1, 1,
            None, {'onesided': 1}),
                                      (2, 1, 9, {}), (2, 2, 4, {}), (1, 1, 8, {'onesided': 1})):
        shape = [3, 5, 6, parts]
        x = [random.gauss(0, 1) for _ in range(3 * 5 * 6 * parts)]
        n = length or shape[axis]
        m = n // 2 + 1 if 'onesided' in more else n
        tensors = [ints('n', [], [n])] * bool(length) + [ints('axis', [], [axis])] * (version > 17)
        operands = 'x ' + ('n' if length else '-') + (' axis' if version > 17 else '')
        attributes = dict(more, axis=axis) if version == 17 else more
        write('d.onnx', graph([node('DFT', operands.replace(' -', '') if operands.endswith('-') else operands, 'y',
                name='d',
                                    **attributes)], tensors, [value('x', ['b'] + shape[1:])], [value('y')]),
              opset=version)
        npz('x.npz', x=(shape, x))
        ran = tap.halfulp('validate', 'd.onnx', '--data', 'x.npz', '--policy', 'float32', '--exact', '0',
                '--outputs', 'o',
                          '--decision', 'none')
        text = 'opset %d, axis %d, %d part%s%s%s' % (version, axis, parts, 's' * (parts > 1),
                ', length %d' % length if length else '',
                                                     ''.join(', ' + k for k in more))
        if not tap.ok(ran.returncode == 0, text + ' runs', ran.stderr):
            continue
        got_shape, got = outputs('o/float32.npz')['y']
        want, far = [], 0
        size = list(shape[:3])
        size[axis] = m
        each = {}
        for b in range(3):
            for o in range(shape[3 - axis]):
                at = lambda i: ((b * 5 + (i if axis == 1 else o)) * 6 + (o if axis == 1 else i)) * parts
                line = [complex(x[at(i)], x[at(i) + 1] if parts > 1 else 0) for i in range(shape[axis])]
                each[b, o] = transform(line, n, m, 1 if 'inverse' in more else -1)
        for b in range(3):
            for p in range(size[1]):
                for q in range(size[2]):
                    v = each[b, q][p] if axis == 1 else each[b, p][q]
                    want += [v.real, v.imag]
        far = sum((a - w) ** 2 for a, w in zip(got, want)) ** 0.5 / sum(w * w for w in want) ** 0.5
        tap.ok(list(got_shape) == size + [2] and len(got) == len(want) and far < 3e-7, '%s: %.2g off' % (text,
                far), got_shape)
tap.finish()
