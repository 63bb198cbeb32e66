#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Training in block formats: which operands of which products are quantised, from which tensors and along which axis, to
# which values; that Hadamard transforms cancel in a product; and which layers a policy leaves alone.
import json
import os
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
from tap import HALFULP, finish, home, none, ok  # noqa: E402
from tensorsfile import Tensors  # noqa: E402

where = home()
E4M3 = [m * 2.0**-9 for m in range(8)] + [(8 + m) * 2.0 ** (e - 10) for e in range(1, 16) for m in range(8)][:-1]


def f32(x):
    return struct.unpack('<f', struct.pack('<f', x))[0]


def train(policy, name):
    run = os.path.join(where, name)
    line = [HALFULP, 'train', '--model', 'mlp:width=0.25', '--policy', policy, '--steps', '1', '--batch', '40']
    done = subprocess.run([*line, '--trace', 'steps=0', '--quiet', run], capture_output=True, text=True)
    if not ok(done.returncode == 0, '%s: trains' % policy, done.stderr):
        finish()
    program = json.load(open(os.path.join(run, 'program-train.json')))
    names = [t['name'] for t in program['tensors']]
    traced = Tensors(os.path.join(run, 'trace', 'step-000000.safetensors'))
    calls = [dict(c, i=[names[k] for k in c['in']], o=[names[k] for k in c['out']]) for c in program['calls']]
    kept = [n for n in names if n in traced.head and traced.head[n]['dtype'] in ('F32', 'BF16')]
    return calls, {n: (traced.shape(n), list(traced[n])) for n in kept}


def mxfp8(x):
    """A block of 32: Transformer Engine's scale, e4m3 to nearest even."""
    most = f32(max(map(abs, x)) * f32(1 / 448))
    scale = 2.0**-127
    while scale < most:
        scale *= 2
    out = []
    for v in x:
        a = abs(v) / scale
        k = min(range(len(E4M3)), key=lambda i: (abs(E4M3[i] - a), i % 2))
        out.append(E4M3[k] * scale if v >= 0 else -E4M3[k] * scale)
    return out


def rows(last, values, across):
    if across:
        return [values[k::last] for k in range(last)]
    return [values[k : k + last] for k in range(0, len(values), last)]


calls, value = train('mxfp8', 'mx')
made = {c['o'][0]: c for c in calls if c['op'] == 'block_cast'}
products = [c for c in calls if c['op'] == 'matmul']
none(
    ['%s of %s' % (n, c['o'][0]) for c in products for n in c['i'][:2] if n not in made],
    'mxfp8: both operands of each of %d products are quantised' % len(products),
)
none(
    [c['i'][0] for c in made.values() if c['i'][0] in made],
    'mxfp8: from the tensors as they were, none from a quantised one',
)
wrong = []
for c in products:
    for k, n in enumerate(c['i'][:2]):
        turned = c['attr'].get('tb' if k else 'ta', 0) != 0
        along_last = turned if k else not turned
        if (made[n]['attr'].get('across', 0) == 0) != along_last:
            wrong.append('%s of %s' % (n, c['o'][0]))
        second, size = value[c['i'][1]], len(value[n][1])
        last = second[0][-1]
        terms = last if c['attr'].get('tb', 0) else len(second[1]) // last
        columns = made[n]['attr']['columns']
        if (columns if along_last else size // columns) != terms:
            wrong.append('%s of %s: blocks along %d of %d terms' % (n, c['o'][0], columns, terms))
none(wrong, 'mxfp8: blocks run along the terms of the sums, all of them')
wrong = []
for name, c in made.items():
    if c['i'][0] not in value or name not in value:
        wrong.append('%s is not traced' % name)
        continue
    x = value[c['i'][0]][1]
    across, columns = c['attr'].get('across', 0), c['attr']['columns']
    got = rows(columns, value[name][1], across)
    for r, (line, have) in enumerate(zip(rows(columns, x, across), got)):
        want = [v for k in range(0, len(line), 32) for v in mxfp8(line[k : k + 32])]
        if want != have:
            wrong.append('%s, row %d' % (name, r))
            break
none(wrong, "mxfp8: all %d quantised tensors are the values of Transformer Engine's rule" % len(made))

calls, value = train('nvfp4', 'nv')
made = {c['o'][0]: c for c in calls if c['op'] == 'block_cast'}
weights = sorted(n for n in made if '.w@nvfp4' in n)
pairs = [(a, b) for a in weights for b in weights if b == a + '_across']
none([a for a, b in pairs if value[a][1] != value[b][1]], 'nvfp4: weights are the same in both directions')
ok(len(pairs) >= 2, 'nvfp4: which %d weights have' % len(pairs))
turned = [c for c in calls if c['op'] == 'hadamard']
wide = [c for c in calls if c['op'] == 'matmul' and c['o'][0].split('.')[1].startswith('dw')]
ok(len(turned) == 2 * len(wide) and wide, 'nvfp4: both operands of each dw are transformed')
wrong = []
for c in wide:
    source = []
    for n in c['i'][:2]:
        before = made[n]['i'][0]
        source.append(next(t['i'][0] for t in turned if t['o'][0] == before))
    (xs, x), (gs, g) = value[source[0]], value[source[1]]
    k, n = xs[0], gs[-1]
    m = len(x) // k
    got = value[c['o'][0]][1]
    exact = [0.0] * (m * n)
    for t in range(k):
        for i in range(m):
            a = x[t * m + i]
            if a:
                for j in range(n):
                    exact[i * n + j] += a * g[t * n + j]
    error = sum((p - q) ** 2 for p, q in zip(got, exact)) / sum(q * q for q in exact)
    if not 1e-4 < error < 0.1:
        wrong.append('%s: relative square error %g' % (c['o'][0], error))
none(wrong, 'nvfp4: transforms cancel: each dw is within FP4 rounding of the product of what was quantised')

calls, _ = train('mxfp8,layer:dense3=float32', 'kept')
layers = {c['layer'] for c in calls if c['op'] == 'block_cast'}
ok(layers == {'dense1', 'dense2'}, 'a layer that an override computes in another format is left as it is', str(layers))
finish()
