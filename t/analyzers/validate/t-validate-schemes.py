#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Quantised products under validate: a small network and a convolution, computed again here from their weights and
# inputs by code of its own: ranges, scales, codes, exact sums of integers and their return to float32. Outputs are
# compared bit by bit where sums are exact. Then files of schemes by node, and what is refused. HALFULP names the
# program.
import json, math, os, random, struct, sys

sys.dont_write_bytecode = True
TOP = os.path.abspath(os.environ.get('srcdir', '.'))
sys.path.insert(0, os.path.join(TOP, 't/tool'))
import tap
from npzfile import npz, outputs
from onnxfile import *


def f(x):
    return struct.unpack('<f', struct.pack('<f', x))[0]


def rint(x):
    return float(round(x))  # Python takes ties to even


def clip(x, low, high):
    return min(max(x, low), high)


def bits(values):
    return struct.pack('<%df' % len(values), *values)


# Ranges and their methods

BINS = 2048


def histogram(values):
    amax = max(abs(v) for v in values)
    signed = [0] * (2 * BINS)
    for v in values:
        signed[min(max(math.floor((v / amax + 1) * BINS), 0), 2 * BINS - 1)] += 1
    return amax, signed, [signed[BINS + i] + signed[BINS - 1 - i] for i in range(BINS)]


def cut(values, method):
    amax, signed, counts = histogram(values)
    if method.startswith('percentile'):
        share, seen = float(method[10:] or 99.999), 0
        for i, c in enumerate(counts):
            seen += c
            if seen * 100 >= share * sum(counts):
                return amax * (i + 1) / BINS
    if method == 'mse':
        best = None
        for k in range(100, 19, -1):
            s, z = affine(values, amax * k / 100)
            e = 0.0
            for i, c in enumerate(signed):
                if c:
                    x = amax * (i + 0.5 - BINS) / BINS
                    e += c * (x - (clip(rint(x / s) + z, 0, 255) - z) * s) ** 2
            if best is None or e < best[0]:
                best = (e, amax * k / 100)
        return best[1]
    if method == 'entropy':
        # The divergence from sums over the 128 levels, each of which has one mean
        best, below, filled, logs = None, [0], [0], [0.0]
        for c in counts:
            below.append(below[-1] + c)
            filled.append(filled[-1] + (c > 0))
            logs.append(logs[-1] + (c * math.log(c) if c else 0))
        P = below[-1]
        for n in range(BINS, 127, -1):
            beyond, last = P - below[n], counts[n - 1]
            own = (
                logs[n]
                - (last * math.log(last) if last else 0)
                + ((last + beyond) * math.log(last + beyond) if last + beyond else 0)
            )
            kl, Q, each = own / P - math.log(P), below[n], n // 128
            for level in range(128):
                i, j = level * each, n if level == 127 else (level + 1) * each
                full = filled[j] - filled[i] + (j == n and not last and beyond > 0)
                p = below[j] - below[i] + (beyond if j == n else 0)
                if full:
                    mean = (below[j] - below[i]) / full
                    kl -= p / P * math.log(mean / Q if mean > 0 else 1e-4)
            if best is None or kl < best[0]:
                best = (kl, amax * n / BINS)
        return best[1]
    return amax


def affine(values, top):
    low, high = max(min(0, min(values)), -top), min(max(0, max(values)), top)
    s = f((high - low) / 255) or 1.0
    return s, int(clip(rint(-low / s), 0, 255))


def symmetric(top):
    return f(top / 127) or 1.0, 0


# Products of codes. Weights are lists of columns.


def weight_codes(columns, tensor):
    whole = max(abs(w) for c in columns for w in c)
    scales = [f((whole if tensor else max(abs(w) for w in c)) / 127) for c in columns]
    return [[clip(rint(f(w / s)), -127, 127) for w in c] for c, s in zip(columns, scales)], scales


def pairs16(q, c, zero):
    terms = [(a + zero) * b for a, b in zip(q, c)]
    return sum(clip(sum(terms[k : k + 2]), -32768, 32767) for k in range(0, len(terms), 2)) - zero * sum(c)


def product(rows, columns, scale, zero, sym=False, tensor=False, pairs=False):
    codes, scales = weight_codes(columns, tensor)
    low, high = (-128, 127) if sym else (0, 255)
    y = []
    for row in rows:
        q = [clip(rint(f(x / scale)) + zero, low, high) - zero for x in row]
        for c, s in zip(codes, scales):
            y.append(f(f(pairs16(q, c, zero) if pairs else sum(a * b for a, b in zip(q, c))) * f(scale * s)))
    return y


def dynamic(values):
    low, high = min(0, min(values)), max(0, max(values))
    s = f(f(high - low) / 255.0) or 1.0
    return s, int(clip(rint(f(-low / s)), 0, 255))


# A network of two products whose inner values are an output too

where = tap.home()
os.chdir(where)
random.seed(11)
N, I, H, C, CAL = 40, 24, 12, 5, 13
draw = lambda n, s: [f(random.gauss(0, s)) for _ in range(n)]
w1, b1, w2, x = draw(H * I, 0.4), draw(H, 0.1), draw(H * C, 0.35), draw(N * I, 1)
write(
    'mlp.onnx',
    graph(
        [
            node('Gemm', 'x w1 b1', 'h', name='first', transB=1),
            node('Relu', 'h', 'r', name='relu'),
            node('MatMul', 'r w2', 'y', name='second'),
        ],
        [floats('w1', [H, I], w1), floats('b1', [H], b1), floats('w2', [H, C], w2)],
        [value('x', ['batch', I])],
        [value('y', ['batch', C]), value('r', ['batch', H])],
    ),
)
npz('x.npz', x=([N, I], x))
X = [x[i * I : i * I + I] for i in range(N)]
W1 = [w1[j * I : j * I + I] for j in range(H)]
W2 = [[w2[k * C + j] for k in range(H)] for j in range(C)]
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

# Weights alone: what remains of them, then sums in doubles


def values_of(exponent_bits, mantissa, bias, top):
    v = {0.0}
    for e in range(1 << exponent_bits):
        for m in range(1 << mantissa):
            x = m * 2.0 ** (1 - bias - mantissa) if not e else (1 + m / 2**mantissa) * 2.0 ** (e - bias)
            if x <= top:
                v.add(x)
    return sorted(v)


E4M3, E5M2, E2M1 = values_of(4, 3, 7, 448), values_of(5, 2, 15, 57344), values_of(2, 1, 1, 6)


def nearest(x, table):
    a = min(abs(x), table[-1])
    d = min(abs(a - v) for v in table)
    at = [i for i, v in enumerate(table) if abs(a - v) == d]
    return math.copysign(table[at[0] if len(at) == 1 or at[0] % 2 == 0 else at[1]], x)


def remains(column, p, everything):
    sizes = {'nvfp4': 16, 'mxfp4': 32, 'mxfp4:rceil': 32, 'fp8blockx8:share': 8}
    out, size = [], sizes.get(p) or int(next((w[1:] for w in p.split(':') if w[0] == 'g'), 128))
    if p == 'int8:weights':
        s = f(max(map(abs, column)) / 127)
        return [f(rint(f(w / s)) * s) for w in column]
    if p == 'e4m3:weights':
        s = f(max(map(abs, everything)) / 448)
        return [f(nearest(f(w / s), E4M3) * s) for w in column]
    for k in range(0, len(column), size):
        g = column[k : k + size]
        if p == 'mxfp4':
            s = 2.0 ** (math.floor(math.log2(max(map(abs, g)))) - 2)
            out += [nearest(w / s, E2M1) * s for w in g]
        elif p == 'mxfp4:rceil':
            s = 2.0 ** math.ceil(math.log2(f(max(map(abs, g)) * f(1 / 6))))
            out += [nearest(w / s, E2M1) * s for w in g]
        elif p == 'fp8blockx8:share':
            s = f(max(map(abs, g)) / 448)
            out += [f(nearest(f(w * f(1 / s)), E4M3) * s) for w in g]
        elif p == 'nvfp4':
            whole = f(max(map(abs, everything)) / 2688)
            s = nearest(max(map(abs, g)) / (6 * whole), E4M3) * whole
            out += [nearest(w / s, E2M1) * s for w in g]
        else:
            low, high = min(g + [0.0]), max(g + [0.0])
            if 'asym' in p:
                s = f(f(high - low) / 15)
                z = rint(f(-low / s))
            else:
                s, z = f((high if high > -low else low) / -8), 8
            inverse = f(1 / s)
            out += [f((clip(math.floor(f(f(w * inverse) + z) + 0.5), 0, 15) - z) * s) for w in g]
    return out


def plain(rows, columns):
    return [math.fsum(a * b for a, b in zip(r, c)) for r in rows for c in columns]


for p in weights + ['e4m3:weights']:
    h = plain(X, [remains(c, p, w1) for c in W1])
    r = [max(v + b1[i % H], 0.0) for i, v in enumerate(h)]
    y = plain([r[i * H : i * H + H] for i in range(N)], [remains(c, p, w2) for c in W2])
    worst = max(abs(a - b) for a, b in zip(outputs('out/%s.npz' % p.replace(':', '_'))['y'][1], y))
    tap.ok(worst < 1e-5, '%s: outputs are within %.1g of the sums of what remains of the weights' % (p, worst))

# fp8 by one scale a tensor: float codes, sums in float32


def scaled(rows, columns, seen, table, channel):
    s = f(max(map(abs, seen)) / table[-1])
    all_ = max(abs(w) for c in columns for w in c)
    y = []
    sw = [f((max(map(abs, c)) if channel else all_) / table[-1]) for c in columns]
    q = [[nearest(f(w / t), table) for w in c] for c, t in zip(columns, sw)]
    for row in rows:
        a = [nearest(f(v / s), table) for v in row]
        y += [math.fsum(u * v for u, v in zip(a, c)) * f(s * t) for c, t in zip(q, sw)]
    return y


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

# Schemes by node
with open('plan.json', 'w') as file:
    json.dump({'default': 'fp16', 'nodes': {'first': 'int8', 'relu': 'float32'}}, file)
got = tap.halfulp(
    'validate',
    'mlp.onnx',
    '--data',
    'x.npz',
    '--policy',
    './plan.json,int8,layer:second=bf16',
    '--batch',
    '40',
    '--calibrate',
    'x.npz',
    '--exact',
    '0',
    '--outputs',
    'plan',
)
r = [max(f(v + b1[i % H]), 0.0) for i, v in enumerate(product(X, W1, *affine(x, max(map(abs, x)))))]
out = (
    outputs('plan/._plan_json.npz')
    if os.path.exists('plan/._plan_json.npz')
    else outputs('plan/' + next(n for n in os.listdir('plan') if 'plan' in n))
)
half = lambda v: struct.unpack('<e', struct.pack('<e', v))[0]
y = [
    half(f(v))
    for v in plain([[half(v) for v in r[i * H : i * H + H]] for i in range(N)], [[half(w) for w in c] for c in W2])
]
tap.ok(bits(out['r'][1]) == bits(r), 'a file: int8 in one node, float32 in another', got.stderr)
tap.ok(
    sum(a != b for a, b in zip(out['y'][1], y)) < N * C / 50 and all(half(v) == v for v in out['y'][1]),
    'and float16 in the third: operands and results are rounded',
)

# Sensitivity: each node's figures are those of a whole run under a file that has the node alone low, or alone high
files = {}
for low in ('first', 'second', ''):
    for high in (0, 1):
        nodes = {n: 'int8:percentile97' for n in ('first', 'second') if (n == low) != bool(high)}
        files[low, high] = './s%s%d.json' % (low, high)
        with open(files[low, high], 'w') as file:
            json.dump({'nodes': nodes}, file)
got = tap.halfulp(
    'validate',
    'mlp.onnx',
    '--data',
    'x.npz',
    '--policy',
    ','.join(['int8:percentile97'] + list(files.values())),
    '--exact',
    '0',
    '--batch',
    '8',
    '--json',
    '--sensitivity',
    '--sensitivity-inputs',
    '100',
    '--outputs',
    'sens',
)
rows = {r['policy']: r for r in json.loads(got.stdout)['policies']} if got.returncode == 0 else {}
tap.ok(
    got.returncode == 0 and 'sensitivity' not in rows['float32'], 'sensitivity of schemes, not of float32', got.stderr
)
one = rows['int8:percentile97']['sensitivity']
nodes = {n['node']: n for n in one['nodes']}
near = lambda a, b: abs(a - b) <= 1e-9 * abs(b)
wrong = [
    '%s %s' % (n, key)
    for n in nodes
    for high, key in ((0, 'low'), (1, 'high'))
    if not near(nodes[n][key + '_rel_l2'], rows[files[n, high]]['rel_l2'])
    or nodes[n][key + '_flips'] != rows[files[n, high]]['flips']
]
tap.ok(
    sorted(nodes) == ['first', 'second'] and not wrong,
    'a node low, or high, alone makes what a run under such a file makes',
    wrong,
)
# One meaning of a format's name: as a policy, in a file and node by node, whatever model the sums have
with open('half.json', 'w') as file:
    json.dump({'default': 'fp16', 'nodes': {}}, file)
asked = '--policy fp16,float16,./half.json --exact 0 --sensitivity --sensitivity-inputs 100 --json'.split()
for sums in [], ['--accumulate', 'chunk:4,acc=fp16']:
    got = tap.halfulp('validate', 'mlp.onnx', '--data', 'x.npz', *asked, *sums)
    told = json.loads(got.stdout)['policies'] if got.returncode == 0 else [{}] * 4
    shares = [r.get('sensitivity', {}) for r in told]
    keys = [k for k in told[1] if k not in ('policy', 'sensitivity', 'seconds')]
    tap.ok(
        got.returncode == 0
        and all(r[k] == told[1][k] for r in told[2:] for k in keys)
        and all(near(s['joint_rel_l2'], r['rel_l2']) for r, s in zip(told[1:], shares[1:]))
        and all(s['joint_flips'] == r['flips'] for r, s in zip(told[1:], shares[1:]))
        and told[1]['rel_l2'] > (5e-4 if sums else 0)
        and told[1]['traffic_bytes'] == told[0]['traffic_bytes'] / 2 + 6 * I,  # the input is cast
        'fp16, float16 and a file of it are one policy, whose nodes together make its row %s' % sums[1:],
        got.stderr + ' %s' % told,
    )
# The last batch of 40 inputs by 7 repeats rows to be full, and they do not count
told = {}
for batch in '8', '7':
    got = tap.halfulp('validate', 'mlp.onnx', '--data', 'x.npz', *asked, '--batch', batch)
    share = json.loads(got.stdout)['policies'][1]['sensitivity'] if got.returncode == 0 else {}
    told[batch] = {n['node']: n for n in share.get('nodes', [])}
wrong = [
    (n, key, told['8'][n][key], told['7'].get(n, {}).get(key))
    for n in told['8']
    for key in ('low_rel_l2', 'high_rel_l2', 'local_rel_l2', 'joint_rel_l2', 'amax')
    if not near(told['8'][n][key], told['7'].get(n, {}).get(key, -1))
]
tap.ok(len(told['8']) == 3 and not wrong, 'rows that fill the last batch up have no share in what nodes lose', wrong)
tap.ok(
    rows['int8:percentile97']['traffic_bytes'] < rows['float32']['traffic_bytes'], 'int8 moves fewer bytes than float32'
)
tap.ok(
    near(one['joint_rel_l2'], rows['int8:percentile97']['rel_l2'])
    and one['joint_flips'] == rows['int8:percentile97']['flips']
    and near(one['additive_rel_l2'], math.hypot(*(n['low_rel_l2'] for n in nodes.values()))),
    'all nodes low, and the sum of squares',
)
tap.ok(
    one['calls_run'] < one['calls_of_complete_runs'],
    '%d calls were run of the %d of complete runs' % (one['calls_run'], one['calls_of_complete_runs']),
)
y32 = outputs('sens/float32.npz')['y'][1]
alone = outputs('sens/' + next(n for n in os.listdir('sens') if 'ssecond0' in n))['y'][1]
local = math.sqrt(math.fsum((a - b) ** 2 for a, b in zip(alone, y32)) / math.fsum(b * b for b in y32))
tap.ok(
    near(nodes['second']['local_rel_l2'], local)
    and near(nodes['second']['amplification'], nodes['second']['low_rel_l2'] / local)
    and nodes['second']['amax'] == max(map(abs, y32)),
    "the last node's own error, its amplification and amax",
)
s, z = affine(r32[: 32 * H], cut(r32[: 32 * H], 'percentile97'))
q = [rint(f(v / s)) + z for v in r32]
tap.ok(
    nodes['second']['operands'] == N * H
    and nodes['second']['zeroed'] == sum(v != 0 and k == z for v, k in zip(r32, q))
    and nodes['second']['saturated'] == sum(v / s > 255 - z + 0.5 or v / s < -z - 0.5 for v in r32) > 0,
    'operands that became 0, and beyond the last code',
)

write(
    'twice.onnx',
    graph(
        [node('MatMul', 'x u', 'h', name='once'), node('MatMul', 'h u', 'y', name='again')],
        [floats('u', [I, I], draw(I * I, 0.2))],
        [value('x', ['batch', I])],
        [value('y', ['batch', I])],
    ),
)
same = ['int8', 'e4m3:static', 'int8:weights', 'nvfp4']
got = tap.halfulp(
    'validate', 'twice.onnx', '--data', 'x.npz', '--policy', ','.join(same), '--exact', '0', '--json'
)
taken = {r['policy']: r['weight_bytes'] for r in json.loads(got.stdout)['policies']}
want = {'int8': I * I + 4 * I, 'e4m3:static': I * I + 4, 'int8:weights': I * I + 4 * I}
tap.ok(
    all(taken[p] == n for p, n in want.items()) and taken['nvfp4'] < I * I,
    'weights that two products read are stored once',
    '%s %s' % (taken, want),
)
write(
    'one.onnx',
    graph(
        [node('ReduceSum', 'x a', 'y', name='s', keepdims=1)],
        [ints('a', [1], [1])],
        [value('x', ['n', I])],
        [value('y', ['n', 1])],
    ),
)
for command, rest in (('validate', ['--policy', 'fp16']), ('advise', ['--format', 'fp16'])):
    for rule in ('flips<=1%', 'top<=1%', 'kl<=1', 'accuracy>=1'):
        got = tap.halfulp(command, 'one.onnx', '--data', 'x.npz', '--accept', rule, *rest)
        if got.returncode != 2 or 'the output decides nothing' not in got.stderr:
            break
tap.ok(
    got.returncode == 2 and 'the output decides nothing' in got.stderr,
    'no rule on decisions where there are none',
    '%s %s %s' % (command, rule, got),
)
bad = {
    'node.json': {'nodes': {'third': 'int8'}},
    'relu.json': {'nodes': {'relu': 'int8'}},
    'scheme.json': {'nodes': {'first': 'int9'}},
    'key.json': {'nodes': {}, 'rest': 'int8'},
    'list.json': {'nodes': ['first']},
    'number.json': {'nodes': {'first': 8}},
}
for name, what in bad.items():
    with open(name, 'w') as file:
        json.dump(what, file)
with open('cut.json', 'w') as file:
    file.write('{"nodes": {"first"')
npz('other.npz', x=([4, I + 1], [0.0] * (4 * I + 4)))
for what, args, code, pattern in (
    ('a word that is none', ['int8:foo'], 2, 'no word of int8'),
    ('groups with activations', ['int8:g32'], 2, ':weights'),
    ('a method without static scales', ['int8:dynamic:mse'], 2, 'static'),
    ('a colon without a word', ['int8:'], 2, 'colon'),
    ('a margin without a history', ['e4m3:static:margin1'], 2, 'history'),
    ('a history of no batch', ['e4m3:history0'], 2, 'history'),
    ('a margin of half a step', ['e4m3:history:margin0.5'], 2, 'margin'),
    ('a layer that is none', ['int8,layer:zzz=fp16'], 2, "'zzz'"),
    ('a key that is none', ['int8,foo=3'], 2, 'layer:PATTERN'),
    ('biases without a scale', ['int8:dynamic:biases'], 2, 'static'),
    ('saturation of signed codes', ['int8:sym:pairs16'], 2, 'signs'),
    ('a percentile below 50', ['int8:percentile30'], 2, 'percentile'),
    ('a group of one', ['int4:g1'], 2, 'gN'),
    ('a node that is none', ['./node.json'], 2, "'third'"),
    ('int8 of no product', ['./relu.json'], 2, 'no product'),
    ('a scheme that is none', ['./scheme.json'], 3, 'int9'),
    ('an unknown key', ['./key.json'], 3, "'rest'"),
    ('nodes that are a list', ['./list.json'], 3, 'object'),
    ('a scheme that is a number', ['./number.json'], 3, 'text'),
    ('a file cut short', ['./cut.json'], 3, 'cut.json'),
    ('calibration without static scales', ['int4', '--calibrate', 'x.npz'], 2, '--calibrate'),
    ('sensitivity of a policy without schemes', ['mixed_float16,e4m3', '--sensitivity'], 2, '--sensitivity'),
    ('a rule on right answers without labels', ['int8', '--accept', 'accuracy>=0.9'], 2, '--labels'),
    ('calibration inputs of another shape', ['int8', '--calibrate', 'other.npz'], 3, 'another shape'),
):
    got = tap.halfulp('validate', 'mlp.onnx', '--data', 'x.npz', '--exact', '4', '--policy', *args)
    tap.ok(
        got.returncode == code and not got.stdout and got.stderr.count('\n') == 1 and pattern in got.stderr,
        '%s: exit %d, one line' % (what, code),
        '%d %s' % (got.returncode, got.stderr),
    )
tap.finish()
