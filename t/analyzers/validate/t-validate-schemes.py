#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Quantised products under validate: a small network and a convolution, computed again here from their weights and
# inputs by code of its own (quantised_again.py). Outputs are compared bit by bit where sums are exact. HALFULP names
# the program.
import json

from quantised_mlp import *
from quantised_again import *
from npzfile import outputs

integers = [
    'int8',
    'int8:tensor',
    'int8:sym',
    'int8:mse',
    'int8:entropy',
    'int8:percentile',
    'int8:percentile97',
    'int8:dynamic',
    'int8:pairs16',
    'int8:dynamic:pairs16',
    'int8:biases',
    'int8:sym:tensor:biases',
]
weights = ['int4', 'int4:g8', 'int4:g8:asym', 'int8:weights', 'nvfp4', 'mxfp4', 'mxfp4:rceil']
weights += ['fp8blockx8:share']
floating = ['e4m3:static', 'e5m2:static', 'e4m3:channel', 'e4m3:weights']
got = tap.halfulp(
    'validate',
    'mlp.onnx',
    '--data',
    'x.npz',
    '--policy',
    ','.join(integers + weights + floating),
    '--batch',
    '8',
    '--calibrate-inputs',
    '13',
    '--exact',
    '0',
    '--json',
    '--outputs',
    'out',
)
tap.ok(got.returncode == 0, '%d schemes run' % len(integers + weights + floating), got.stderr)
o = json.loads(got.stdout)
rows = {r['policy']: r for r in o['policies']}
tap.ok(
    o['calibration'] == {'inputs': CAL, 'data': 'x.npz'},
    "as many calibration inputs as asked for, though they are no whole batches: %s" % o.get('calibration'),
)
tap.ok(
    all(rows[p]['quantised'] == rows[p]['products'] == 2 for p in integers + weights + floating),
    'both products are quantised',
)
r32 = outputs('out/float32.npz')['r'][1]
for p in integers:
    words = p.split(':')[1:]
    sym, tensor, method = (
        'sym' in words,
        'tensor' in words,
        ([w for w in words if w not in ('sym', 'tensor', 'pairs16', 'biases')] or ['max'])[0],
    )

    def layer(rows, columns, seen, bias=()):
        """The products of the rows, and what is added to them: the biases, or what their codes are worth."""
        y = []
        for first in range(0, N, 8):  # batches, which dynamic scales belong to
            batch = rows[first : first + 8]
            if method == 'dynamic':
                s, z = dynamic([v for r in batch for v in r])
            else:
                top = cut(seen, method)
                s, z = symmetric(top) if sym else affine(seen, top)
            y += product(batch, columns, s, z, sym, tensor, 'pairs16' in words)
        if 'biases' in words:
            units = [f(s * of) for of in weight_codes(columns, tensor)[1]]
            bias = [f(f(rint(f(b / u))) * u) for b, u in zip(bias, units)]
        return y, bias

    h, added = layer(X, W1, x[: CAL * I], b1)
    r = [max(f(v + added[i % H]), 0.0) for i, v in enumerate(h)]
    y, _ = layer([r[i * H : i * H + H] for i in range(N)], W2, r32[: CAL * H])
    out = outputs('out/%s.npz' % p.replace(':', '_'))
    if 'pairs16' in words:
        tap.ok(
            bits(r) != bits(outputs('out/%s.npz' % p.replace(':pairs16', '').replace(':', '_'))['r'][1]),
            '%s: some pairs do saturate' % p,
        )
    if p == 'int8:biases':
        tap.ok(bits(r) != bits(outputs('out/int8.npz')['r'][1]), '%s: some biases are others' % p)
    tap.ok(
        bits(out['r'][1]) == bits(r) and bits(out['y'][1]) == bits(y),
        '%s: all %d values are those computed here, bit by bit' % (p, len(r + y)),
        ['%r %r' % ab for ab in zip(out['r'][1] + out['y'][1], r + y) if ab[0] != ab[1]],
    )

for p in weights + ['e4m3:weights']:
    h = plain(X, [remains(c, p, w1) for c in W1])
    r = [max(v + b1[i % H], 0.0) for i, v in enumerate(h)]
    y = plain([r[i * H : i * H + H] for i in range(N)], [remains(c, p, w2) for c in W2])
    worst = max(abs(a - b) for a, b in zip(outputs('out/%s.npz' % p.replace(':', '_'))['y'][1], y))
    tap.ok(worst < 1e-5, '%s: outputs are within %.1g of the sums of what remains of the weights' % (p, worst))

for p, table in (('e4m3:static', E4M3), ('e5m2:static', E5M2), ('e4m3:channel', E4M3)):
    h = scaled(X, W1, x[: CAL * I], table, 'channel' in p)
    r = [max(v + b1[i % H], 0.0) for i, v in enumerate(h)]
    out = outputs('out/%s.npz' % p.replace(':', '_'))
    y = scaled([out['r'][1][i * H : i * H + H] for i in range(N)], W2, r32[: CAL * H], table, 'channel' in p)
    worst = max(abs(a - b) for a, b in zip(out['r'][1] + out['y'][1], r + y))
    tap.ok(worst < 1e-5, '%s: values are within %.1g of the sums of its codes' % (p, worst))

# Delayed scaling: batches of 8, of which the last ones' maxima count
kinds = (('e4m3:history', E4M3, 3, 0), ('e4m3:history2', E4M3, 2, 0), ('e5m2:history1:margin2', E5M2, 1, 2))
got = tap.halfulp(
    *'validate mlp.onnx --data x.npz --calibrate x.npz --calibrate-inputs 24 --batch 8 --exact 0'.split(),
    *('--outputs', 'delayed', '--policy', ','.join(p for p, *_ in kinds)),
)
for p, table, batches, margin in kinds:
    out = outputs('delayed/%s.npz' % p.replace(':', '_')) if got.returncode == 0 else {'r': [0, []], 'y': [0, []]}
    seen = lambda v, each: [v * 2**margin for v in v[(24 - 8 * batches) * each : 24 * each]]
    h = scaled(X, W1, seen(x, I), table, False)
    r = [max(v + b1[i % H], 0.0) for i, v in enumerate(h)]
    y = (
        scaled([out['r'][1][i * H : i * H + H] for i in range(N)], W2, seen(r32, H), table, False)
        if out['y'][1]
        else []
    )
    worst = max([abs(a - b) for a, b in zip(out['r'][1] + out['y'][1], r + y)] or [1])
    tap.ok(worst < 1e-5, '%s: values are within %.1g of the sums of its codes' % (p, worst), got.stderr)

size = lambda each, scales: (H * I + H * C) * each / 8 + 4 * scales + 4 * H
tap.ok(
    [rows[p]['weight_bytes'] for p in ('int8', 'int8:tensor', 'int4:g8', 'int4:g8:asym', 'nvfp4')]
    == [
        size(8, H + C),
        size(8, 2),
        size(4, H * 3 + C * 2),
        size(4, H * 3 + C * 2) + (H * 3 + C * 2) / 2,
        size(4, 2) + H * 2 + C,
    ],
    'weights take their codes, scales and zero points',
    [str(rows[p]['weight_bytes']) for p in ('int8', 'int8:tensor', 'int4:g8', 'int4:g8:asym', 'nvfp4')],
)

# A convolution in groups with padding, whose sums are exact
ci, co, g, n = 4, 6, 2, 5
wc, bc, im = draw(co * ci // g * 9, 0.3), draw(co, 0.1), draw(n * ci * 36, 1)
write(
    'conv.onnx',
    graph(
        [node('Conv', 'x w b', 'y', name='conv', group=g, pads=[1, 0, 1, 1], strides=[2, 1], kernel_shape=[3, 3])],
        [floats('w', [co, ci // g, 3, 3], wc), floats('b', [co], bc)],
        [value('x', ['n', ci, 6, 6])],
        [value('y')],
    ),
)
npz('im.npz', x=([n, ci, 6, 6], im))
got = tap.halfulp(
    'validate', 'conv.onnx', '--data', 'im.npz', '--policy', 'int8,int4:g6', '--exact', '0', '--outputs', 'conv'
)
s, z = affine(im, max(map(abs, im)))
columns = [wc[o * 18 : o * 18 + 18] for o in range(co)]


def convolve(w, v):
    """Each output's channel and its sum over the window, terms in OIHW's order."""
    for i in range(n):
        for o in range(co):
            for r in range((6 + 2 - 3) // 2 + 1):
                for c in range((6 + 1 - 3) + 1):
                    acc = 0
                    for k in range(18):
                        ch, a, b = o // (co // g) * (ci // g) + k // 9, r * 2 - 1 + k % 9 // 3, c + k % 3
                        if 0 <= a < 6 and 0 <= b < 6:
                            acc += w[o][k] * v[((i * ci + ch) * 6 + a) * 6 + b]
                    yield o, acc


codes, scales = weight_codes(columns, False)
y = [
    f(f(f(acc) * f(s * scales[o])) + bc[o])
    for o, acc in convolve(codes, [clip(rint(f(v / s)) + z, 0, 255) - z for v in im])
]
tap.ok(
    got.returncode == 0 and bits(outputs('conv/int8.npz')['y'][1]) == bits(y),
    'int8: a convolution in groups, padded, bit by bit',
    got.stderr,
)
y = [acc + bc[o] for o, acc in convolve([remains(c, 'int4:g6', wc) for c in columns], im)]
worst = max(
    abs(a - b)
    for a, b in zip(
        outputs('conv/int4_g6.npz')['y'][1], y
    )
)
tap.ok(worst < 1e-5, 'int4:g6: groups along the terms of OIHW, within %.1g' % worst)

# A product of two activations: both become codes with their own static scales
write(
    'both.onnx',
    graph(
        [node('Transpose', 'x', 't', perm=[0, 2, 1]), node('MatMul', 'x t', 'y', name='scores')],
        [],
        [value('x', ['n', 3, 8])],
        [value('y')],
    ),
)
npz('both.npz', x=([6, 3, 8], x[:144]))
got = tap.halfulp(
    'validate', 'both.onnx', '--data', 'both.npz', '--policy', 'int8', '--exact', '0', '--outputs', 'both'
)
s, z = affine(x[:144], max(map(abs, x[:144])))
q = [clip(rint(f(v / s)) + z, 0, 255) - z for v in x[:144]]
y = [
    f(f(sum(q[(i * 3 + a) * 8 + k] * q[(i * 3 + b) * 8 + k] for k in range(8))) * f(s * s))
    for i in range(6)
    for a in range(3)
    for b in range(3)
]
tap.ok(
    got.returncode == 0 and bits(outputs('both/int8.npz')['y'][1]) == bits(y),
    'int8: a product of two activations, bit by bit',
    got.stderr,
)
tap.finish()
