#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Nodes of signals, deformable convolutions and caches against their definitions in double precision: STFT with and
# without a window, of real and complex samples; windows of cosines; the way back of a one-sided DFT; DeformConv with
# groups of weights and of offsets, a mask, strides, dilations and pads; TensorScatter, linear and around the end.
import cmath
import math
import os
import random
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
import tap
from npzfile import npz, outputs
from onnxfile import *

os.chdir(tap.home())
random.seed(36)
noise = lambda n: [random.gauss(0, 1) for _ in range(n)]


def run(text, nodes, tensors, inputs, want, opset):
    """inputs: {name: (shape with the rows first, values)}; want: the values of output y."""
    ports = [value(k, ['b'] + shape[1:]) for k, (shape, _) in inputs.items()]
    write('s.onnx', graph(nodes, tensors, ports, [value('y')]), opset=opset)
    npz('x.npz', **inputs)
    ran = tap.halfulp('validate', 's.onnx', '--data', 'x.npz', '--policy', 'float32', '--exact', '0', '--outputs',
        'o', '--decision', 'none')
    if not tap.ok(ran.returncode == 0, text + ' runs', ran.stderr):
        return
    got = outputs('o/float32.npz')['y'][1]
    most = max(map(abs, want))
    # Sums of at most 64 products and some steps before them, each within 2^-24.
    far = max(abs(a - b) for a, b in zip(got, want)) / most if len(got) == len(want) else math.inf
    tap.ok(far <= 80 * 2.0**-24, text + ' is what its definition says', 'off by %g of the largest' % far)


def window(name, n, turns):
    a = {'HannWindow': (0.5, 0.5, 0), 'HammingWindow': (25 / 46, 21 / 46, 0), 'BlackmanWindow': (0.42, 0.5, 0.08)}[name]
    angles = [2 * math.pi * i / turns for i in range(n)]
    return [a[0] - a[1] * math.cos(t) + a[2] * math.cos(2 * t) for t in angles]


def stft(x, batch, length, parts, step, n, m, w):
    y = []
    for b in range(batch):
        for f in range((length - n) // step + 1):
            at = [((b * length) + f * step + i) * parts for i in range(n)]
            line = [w[i] * complex(x[k], x[k + 1] if parts > 1 else 0) for i, k in enumerate(at)]
            for k in range(m):
                v = sum(z * cmath.exp(-2j * cmath.pi * i * k / n) for i, z in enumerate(line))
                y += [v.real, v.imag]
    return y


for name, periodic in (('HannWindow', 1), ('HammingWindow', 0), ('BlackmanWindow', 1), (None, 1)):
    for parts in (1, 2):
        n, step, length = 10, 3, 31
        x = noise(3 * length * parts)
        w = window(name, n, n - (not periodic)) if name else [1] * n
        half = parts == 1 and name != 'BlackmanWindow'
        nodes = [node(name, 'size', 'w', name='w', periodic=periodic)] if name else []
        operands = 'x step w n' if name else 'x step - n'
        nodes.append(node('STFT', operands, 'y', name='stft', onesided=int(half)))
        sizes = [ints('size', [], [n]), ints('step', [], [step]), ints('n', [], [n])]
        run('STFT of %d parts, %s' % (parts, name or 'no window'), nodes, sizes, {'x': ([3, length, parts], x)},
            stft(x, 3, length, parts, step, n, n // 2 + 1 if half else n, w), 17)

for n in (8, 9):
    m = n // 2 + 1
    x = noise(2 * m * 2)
    want = []
    for b in range(2):
        z = [complex(x[(b * m + i) * 2], x[(b * m + i) * 2 + 1]) for i in range(m)]
        z = [z[0].real] + z[1:m - 1] + [z[-1].real if n % 2 == 0 else z[-1]]
        all = z + [v.conjugate() for v in reversed(z[1:(n + 1) // 2])]
        want += [(sum(v * cmath.exp(2j * cmath.pi * i * k / n) for i, v in enumerate(all)) / n).real for k in range(n)]
    run('a one-sided DFT of %d values turned back' % m, [node('DFT', 'x n axis', 'y', name='d', inverse=1, onesided=1)],
        [ints('n', [], [n]), ints('axis', [], [1])], {'x': ([2, m, 2], x)}, want, 20)


def deform(x, w, o, b, mask, N, C, H, W, M, k, stride, dilation, pad, group, og):
    """Images N x C x H x W, weights M x C/group x k x k."""
    out = lambda n: (n + 2 * pad - dilation * (k - 1) - 1) // stride + 1
    R, S, y = out(H), out(W), []
    at = lambda n, c, i, j: x[((n * C + c) * H + i) * W + j] if 0 <= i < H and 0 <= j < W else 0
    for n in range(N):
        for f in range(M):
            for r in range(R):
                for s in range(S):
                    sum = b[f]
                    for c in range(C // group):
                        ch = f // (M // group) * (C // group) + c
                        g = ch // (C // og)
                        for t in range(k * k):
                            place = lambda a: o[(((n * og + g) * k * k + t) * 2 + a) * R * S + r * S + s]
                            v = r * stride - pad + t // k * dilation + place(0)
                            h = s * stride - pad + t % k * dilation + place(1)
                            i, j = math.floor(v), math.floor(h)
                            p, q = v - i, h - j
                            z = ((1 - p) * ((1 - q) * at(n, ch, i, j) + q * at(n, ch, i, j + 1)) + p *
                                ((1 - q) * at(n, ch, i + 1, j) + q * at(n, ch, i + 1, j + 1)))
                            m = mask[((n * og + g) * k * k + t) * R * S + r * S + s] if mask else 1
                            sum += z * m * w[((f * (C // group) + c) * k + t // k) * k + t % k]
                    y.append(sum)
    return y


single = lambda list: [struct.unpack('f', struct.pack('f', v))[0] for v in list]
CASES = (1, 1, 1, 1, 1, 0), (2, 1, 2, 1, 0, 1), (1, 2, 1, 2, 2, 1), (2, 4, 2, 1, 1, 1)
for group, og, stride, dilation, pad, masked in CASES:
    N, C, H, W, M, k = 2, 4, 7, 6, 4, 3
    R, S = [(n + 2 * pad - dilation * (k - 1) - 1) // stride + 1 for n in (H, W)]
    x, w, b = noise(N * C * H * W), single(noise(M * C // group * k * k)), single(noise(M))
    o = [1.5 * v for v in noise(N * og * k * k * 2 * R * S)]
    mask = noise(N * og * k * k * R * S) if masked else None
    x, o, mask = single(x), single(o), single(mask) if masked else None
    inputs = {'x': ([N, C, H, W], x), 'o': ([N, og * k * k * 2, R, S], o)}
    if masked:
        inputs['m'] = ([N, og * k * k, R, S], mask)
    run('DeformConv, %d groups, %d of offsets, stride %d, dilation %d, pad %d' % (group, og, stride, dilation, pad),
        [node('DeformConv', 'x w o b' + ' m' * masked, 'y', name='d', group=group, offset_group=og,
            strides=[stride] * 2, dilations=[dilation] * 2, pads=[pad] * 4, kernel_shape=[k, k])],
        [floats('w', [M, C // group, k, k], w), floats('b', [M], b)], inputs,
        deform(x, w, o, b, mask, N, C, H, W, M, k, stride, dilation, pad, group, og), 19)

for mode, first in (('linear', [0, 3, 1]), ('circular', [4, 1, 3])):
    past, new = noise(3 * 2 * 5 * 4), noise(3 * 2 * 2 * 4)
    want = list(past)
    for n in range(3):
        for h in range(2):
            for i in range(2):
                row = (first[n] + i) % 5
                a, u = ((n * 2 + h) * 5 + row) * 4, ((n * 2 + h) * 2 + i) * 4
                want[a:a + 4] = new[u:u + 4]
    run('TensorScatter, ' + mode, [node('Cast', 'at', 'place', name='c', to=INT64),
            node('TensorScatter', 'past new place', 'y', name='t', mode=mode)], [],
        {'past': ([3, 2, 5, 4], past), 'new': ([3, 2, 2, 4], new), 'at': ([3], [float(v) for v in first])}, want, 24)
tap.finish()
