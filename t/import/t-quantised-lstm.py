#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ONNX Runtime's DynamicQuantizeLSTM against its definition: inputs of all steps, and in each step the state, become
# unsigned bytes by their own ends, products are of whole numbers, and the gates are an LSTM's. HALFULP names the
# program.
import math, os, random, sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
import tap
from npzfile import npz, outputs
from onnxfile import *

os.chdir(tap.home())
random.seed(23)
S, B, I, H = 4, 3, 6, 5
G = 4 * H


def coded(rows):
    """Codes less the zero point of all ROWS together, and their scale."""
    low, high = min(0, *(v for r in rows for v in r)), max(0, *(v for r in rows for v in r))
    scale = (high - low) / 255 or 1
    zero = round(-low / scale)
    return [[min(max(round(v / scale) + zero, 0), 255) - zero for v in r] for r in rows], scale


def product(rows, codes, zero, scales):
    q, s = coded(rows)
    return [[sum(a * (codes[k][j] - zero[j]) for k, a in enumerate(r)) * s * scales[j] for j in range(G)] for r in q]


sigmoid = lambda v: 1 / (1 + math.exp(-v))
for dirs, each in (1, 0), (1, 1), (2, 0), (2, 1):
    x = [[[random.gauss(0, 1) for _ in range(I)] for _ in range(B)] for _ in range(S)]
    weights = [[[[random.randint(-120, 120) for _ in range(G)] for _ in range(n)] for _ in range(dirs)] for n in (I, H)]
    scales = [[[random.uniform(0.004, 0.01) for _ in range(G if each else 1)] for _ in range(dirs)] for _ in range(2)]
    zeros = [[[random.randint(-5, 5) for _ in range(G if each else 1)] for _ in range(dirs)] for _ in range(2)]
    bias = [[random.gauss(0, 0.3) for _ in range(2 * G)] for _ in range(dirs)]
    flat = lambda v: [n for u in v for n in flat(u)] if isinstance(v, list) else [v]
    shape = [dirs, G] if each else [dirs]
    codes = lambda name, dims, v: tensor(name, 3, dims, bytes(n & 255 for n in flat(v)))
    held = [
        codes('w', [dirs, I, G], weights[0]),
        codes('r', [dirs, H, G], weights[1]),
        floats('b', [dirs, 2 * G], flat(bias)),
        floats('ws', shape, flat(scales[0])),
        codes('wz', shape, zeros[0]),
        floats('rs', shape, flat(scales[1])),
        codes('rz', shape, zeros[1]),
    ]
    lstm = node(
        'DynamicQuantizeLSTM',
        'x w r b . . . . ws wz rs rz'.replace('.', '<none>'),
        'y',
        domain='com.microsoft',
        hidden_size=H,
        direction='bidirectional' if dirs == 2 else 'forward',
    )
    write(
        'm.onnx',
        graph([lstm.replace(b'\x0a\x06<none>', b'\x0a\x00')], held, [value('x', [S, B, I])], [value('y')]),
        domains=[('com.microsoft', 1)],
    )
    npz('x.npz', x=([S, B, I], flat(x)))
    got = tap.halfulp(
        'validate',
        'm.onnx',
        '--data',
        'x.npz',
        '--policy',
        'fp16',
        '--exact',
        '0',
        '--batch',
        str(S),
        '--outputs',
        'out',
    )
    if not tap.ok(
        got.returncode == 0,
        '%d direction%s, a scale %s: it runs' % (dirs, 's'[: dirs - 1], 'a gate' if each else 'a direction'),
        got.stderr,
    ):
        continue
    want = {}
    for d in range(dirs):
        wide = lambda v: v if each else v * G
        xw = product([r for step in x for r in step], weights[0][d], wide(zeros[0][d]), wide(scales[0][d]))
        h, c = [[0.0] * H for _ in range(B)], [[0.0] * H for _ in range(B)]
        for t in range(S)[:: -1 if d else 1]:
            hr = product(h, weights[1][d], wide(zeros[1][d]), wide(scales[1][d]))
            for n in range(B):
                g = [xw[t * B + n][j] + hr[n][j] + bias[d][j] + bias[d][G + j] for j in range(G)]
                for j in range(H):
                    c[n][j] = sigmoid(g[2 * H + j]) * c[n][j] + sigmoid(g[j]) * math.tanh(g[3 * H + j])
                    h[n][j] = sigmoid(g[H + j]) * math.tanh(c[n][j])
                    want[t, d, n, j] = h[n][j]
    y = outputs('out/float32.npz')['y'][1]
    apart = max(abs(y[((t * dirs + d) * B + n) * H + j] - v) for (t, d, n, j), v in want.items())
    tap.ok(len(y) == len(want) and apart < 1e-6, 'and its states are those of the definition, %.2g apart' % apart)
    write(
        'm.onnx',
        graph(
            [lstm.replace(b'\x0a\x06<none>', b'\x0a\x00')],
            held[:3] + [floats('ws', [1], [1.0])] + held[4:],
            [value('x', [S, B, I])],
            [value('y')],
        ),
        domains=[('com.microsoft', 1)],
    )
    if dirs == 2 or each:
        got = tap.halfulp('validate', 'm.onnx', '--data', 'x.npz', '--exact', '0', '--batch', str(S))
        tap.ok(
            got.returncode == 3 and got.stderr.count('\n') == 1, 'scales of another shape: exit 3, one line', got.stderr
        )
tap.finish()
