#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Block formats on both sides of a product under validate (mxfp8:dynamic, nvfp4:dynamic, ...): a network of two products
# and a convolution, computed again here: scales by each rule, elements, sums of what remains. Then what is refused.
import json, math, os, random, struct, sys

sys.dont_write_bytecode = True
TOP = os.path.abspath(os.environ.get('srcdir', '.'))
sys.path.insert(0, os.path.join(TOP, 't/tool'))
import tap
from npzfile import npz, outputs
from onnxfile import *


def f(x):
    return struct.unpack('<f', struct.pack('<f', x))[0]


def table(exponent, fraction, bias, largest):
    """The magnitudes of a format, in the order of their codes."""
    v = [m * 2.0 ** (1 - bias - fraction) for m in range(2**fraction)]
    v += [(1 + m / 2**fraction) * 2.0 ** (e - bias) for e in range(1, 2**exponent) for m in range(2**fraction)]
    return [x for x in v if x <= largest]


E2M1, E3M2, E4M3 = table(2, 1, 1, 6), table(3, 2, 3, 28), table(4, 3, 7, 448)
ELEMENTS = {'mxfp4': (E2M1, 2, 1), 'mxfp6': (E3M2, 4, 2), 'mxfp8': (E4M3, 8, 3)}  # with emax and the fraction's bits


def nearest(x, values):
    a = min(abs(x), values[-1])
    near = min(range(len(values)), key=lambda i: (abs(a - values[i]), i % 2))
    return math.copysign(values[near], x)


def code_of_scale(rule, amax, element):
    """The exponent of an E8M0 scale: of amax's own bits but for rceil, which rounds a quotient up."""
    values, emax, bits = element
    word = struct.unpack('<I', struct.pack('<f', amax))[0]
    if rule == 'ceil':
        word += 0x7FFFFF
    if rule == 'even':
        word += 1 << (22 - bits)
    if rule == 'rceil':
        word, emax = struct.unpack('<I', struct.pack('<f', f(amax * f(1 / values[-1]))))[0] + 0x7FFFFF, 0
    return (word >> 23) - 127 - emax


def blocks(row, p, whole):
    """What remains of a row in the format; WHOLE is the largest magnitude of its tensor."""
    name, *words = p.split(':')
    size = {'nvfp4': 16, 'fp8blockx8': 8}.get(name, 32)
    out = []
    for k in range(0, len(row), size):
        g = row[k : k + size]
        amax = max(map(abs, g))
        if name == 'fp8blockx8':
            s = f(amax / 448)
            out += [f(nearest(f(x * f(1 / s)), E4M3) * s) if s else 0.0 for x in g]
        elif name == 'nvfp4':
            all_ = f(whole / 2688)
            s = nearest(amax / (6 * all_), E4M3) * all_
            out += [nearest(x / s, E2M1) * s if s else 0.0 for x in g]
        else:
            element = ELEMENTS[name]
            s = 2.0 ** max(code_of_scale(words[0] if words else 'floor', amax, element), -127)
            out += [nearest(x / s, element[0]) * s for x in g]
    return out


os.chdir(tap.home())
random.seed(5)
N, I, H, C, B = 20, 70, 40, 5, 8
draw = lambda n, s: [f(random.gauss(0, s) * 2.0 ** random.randint(-3, 3)) for _ in range(n)]
w1, w2, x = draw(H * I, 0.4), draw(H * C, 0.35), draw(N * I, 1)
CI, CO, E, K = 40, 3, 4, 2  # a convolution of CI channels and E x E pixels
wc, xc = draw(CO * CI * K * K, 0.2), draw(N * CI * E * E, 1)
write('mlp.onnx', graph([node('Gemm', 'x w1', 'h', name='first', transB=1), node('Relu', 'h', 'r', name='relu'),
                         node('MatMul', 'r w2', 'y', name='second')],
                        [floats('w1', [H, I], w1), floats('w2', [H, C], w2)],
                        [value('x', ['batch', I])], [value('y', ['batch', C]), value('r', ['batch', H])]))  # fmt: skip
write('conv.onnx', graph([node('Conv', 'x w', 'y', name='conv', kernel_shape=[K, K])],
                         [floats('w', [CO, CI, K, K], wc)], [value('x', ['batch', CI, E, E])],
                         [value('y', ['batch', CO, E - 1, E - 1])]))  # fmt: skip
npz('x.npz', x=([N, I], x))
npz('xc.npz', x=([N, CI, E, E], xc))
policies = ['%s%s' % (name, rule) for name in ELEMENTS for rule in ('', ':floor', ':ceil', ':rceil', ':even')]
policies += ['nvfp4', 'fp8blockx8:share']


def validated(model, data):
    got = tap.halfulp('validate', model, '--data', data, '--policy', ','.join(p + ':dynamic' for p in policies),
                      '--batch', str(B), '--exact', '0', '--json', '--outputs', 'out-' + model)  # fmt: skip
    tap.ok(got.returncode == 0, '%s runs in %d formats' % (model, len(policies)), got.stderr)
    if got.returncode:
        tap.finish()
    return {r['policy']: r for r in json.loads(got.stdout)['policies']}


def told(model, p):
    return outputs('out-%s/%s.npz' % (model, (p + ':dynamic').replace(':', '_')))


def chunks(values, each):
    return [values[i : i + each] for i in range(0, len(values), each)]


def product(rows, columns, p, everything):
    """Rows in batches of B, each a tensor of its own, by columns of weights."""
    w = [blocks(c, p, max(map(abs, everything))) for c in columns]
    y = []
    for batch in chunks(rows, B):
        whole = max(abs(v) for row in batch for v in row)
        for row in batch:
            a = blocks(row, p, whole)
            y += [math.fsum(u * v for u, v in zip(a, c)) for c in w]
    return y


def far(got, want):
    return max(abs(a - b) for a, b in zip(got, want)) / max(map(abs, want))


rows = validated('mlp.onnx', 'x.npz')
alone = tap.halfulp(*'validate mlp.onnx --data x.npz --exact 0 --json --policy'.split(), ','.join(policies))
alone = {r['policy']: r for r in json.loads(alone.stdout)['policies']}
wrong = []
for p in policies:
    r = told('mlp.onnx', p)['r'][1]
    h = [max(v, 0.0) for v in product(chunks(x, I), chunks(w1, I), p, w1)]
    y = product(chunks(list(r), H), [w2[j::C] for j in range(C)], p, w2)
    if far(r, h) > 1e-6 or far(told('mlp.onnx', p)['y'][1], y) > 1e-6:
        wrong.append('%s: %g %g' % (p, far(r, h), far(told('mlp.onnx', p)['y'][1], y)))
    if not rows[p + ':dynamic']['rel_l2'] > alone[p]['rel_l2']:
        wrong.append('%s is no worse with activations than with weights alone' % p)
    if rows[p + ':dynamic']['weight_bytes'] != alone[p]['weight_bytes']:
        wrong.append('%s: weights take other bytes' % p)
tap.none(wrong, 'products of matrices are those of what remains of both operands, in %d formats' % len(policies))
many = {json.dumps(rows[p + ':dynamic']['rel_l2']) for p in policies}
tap.ok(len(many) >= 12, 'the rules give %d different answers' % len(many))

# The convolution: activations in blocks of channels at each pixel, weights along the terms in the order of OIHW
validated('conv.onnx', 'xc.npz')
wrong = []
for p in policies:
    whole = max(map(abs, wc))
    w = [blocks(c, p, whole) for c in chunks(wc, CI * K * K)]
    y = []
    for batch in chunks(chunks(xc, CI * E * E), B):
        top = max(abs(v) for image in batch for v in image)
        for image in batch:
            a = {(i, j): blocks(image[i * E + j :: E * E], p, top) for i in range(E) for j in range(E)}
            y += [math.fsum(w[o][(c * K + r) * K + s] * a[i + r, j + s][c]
                            for c in range(CI) for r in range(K) for s in range(K))
                  for o in range(CO) for i in range(E - 1) for j in range(E - 1)]  # fmt: skip
    if far(told('conv.onnx', p)['y'][1], y) > 1e-6:
        wrong.append('%s: %g' % (p, far(told('conv.onnx', p)['y'][1], y)))
tap.none(wrong, 'so are those of a convolution')

for p, needle in (('nvfp4x16x16:dynamic', 'tiles of several rows'), ('mxfp4:static', 'mxfp4'), ('bf16:dynamic', ''),
                  ('float32,recipe=nvfp4,hadamard=wgrad,signs=drawn', 'draws signs in the steps of a training')):
    r = tap.halfulp('validate', 'mlp.onnx', '--data', 'x.npz', '--policy', p)
    tap.ok(r.returncode == 2 and needle in r.stderr and r.stderr.count('\n') == 1, '%s is refused' % p, r.stderr)
r = tap.halfulp(*'advise mlp.onnx --data x.npz --format mxfp8:dynamic --accept rel_l2<=1'.split())
tap.ok(r.returncode == 2 and 'dynamic' in r.stderr, 'advise writes no file of it', r.stderr)
tap.finish()
