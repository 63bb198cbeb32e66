#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# validate --sensitivity: what each node's results and operands hold, and how its errors arrive, computed again from the
# outputs that --outputs writes, for a network all of whose tensors are outputs. HALFULP names the program.
import json, math, os, random, struct, sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
import tap
from npzfile import npz, outputs
from onnxfile import *

os.chdir(tap.home())
random.seed(11)
N, I, H, C = 600, 5, 8, 4
f32 = lambda values: [struct.unpack('<f', struct.pack('<f', v))[0] for v in values]
x = f32(random.gauss(0, 1) for _ in range(N * I))
# Half of the channels 30 times as large as the others, of which the median of an even number is the larger
SCALES = {'tiny': [1e-7, 30, 1, 900, 30, 1, 1, 30], 'huge': [1, 30, 1, 7e4, 30, 1, 1, 30]}
w2 = f32(random.gauss(0, 0.5) for _ in range(H * C))


def half(v):
    try:
        return struct.unpack('<e', struct.pack('<e', v))[0]
    except OverflowError:
        return math.copysign(math.inf, v)


def rel(a, b):
    """The relative L2 error of a against b."""
    return math.sqrt(math.fsum((p - q) ** 2 for p, q in zip(a, b)) / math.fsum(q * q for q in b))


near = lambda a, b: abs(a - b) <= 1e-9 * abs(b)
for what, scale in SCALES.items():
    w1 = f32(random.gauss(0, 0.5) * scale[h] for _ in range(I) for h in range(H))
    layers = [node('MatMul', 'x w1', 'h'), node('Relu', 'h', 'r'), node('MatMul', 'r w2', 'm'), node('Relu', 'm', 'y')]
    shapes = [value('y', ['n', C]), value('h', ['n', H]), value('r', ['n', H]), value('m', ['n', C])]
    weights = [floats('w1', [I, H], w1), floats('w2', [H, C], w2)]
    write('m.onnx', graph(layers, weights, [value('x', ['n', I])], shapes))
    npz('x.npz', x=([N, I], x))
    words = '--policy fp16 --exact 0 --sensitivity --batch 8 --json'.split() + ['--sensitivity-inputs', str(N)]
    got = tap.halfulp('validate', 'm.onnx', '--data', 'x.npz', *words, '--outputs', what)
    of = json.loads(got.stdout)['policies'][1]['sensitivity'] if got.returncode == 0 else tap.bail_out(got.stderr)
    wide, low = outputs(what + '/float32.npz'), outputs(what + '/fp16.npz')
    nodes, wrong = of['nodes'], []
    for n in nodes:
        t = wide[n['node']][1]
        c = len(t) // N
        most = [max(abs(v) for v in t[k::c]) for k in range(c)]
        median = sorted(most)[c // 2]
        operand = wide[{'h': 'x', 'r': 'h', 'm': 'r', 'y': 'm'}[n['node']]][1] if n['node'] != 'h' else []
        rank = sorted(map(abs, t))[math.ceil(0.999 * len(t)) - 1]
        want = {
            'amax': max(most),
            'channels': c,
            'channel_amax': most,
            'outlier_channels': sum(m > 8 * median for m in most),
            'operands': len(operand),
            'zeroed': sum(v != 0 and half(v) == 0 for v in operand),
            'saturated': sum(abs(v) > 65504.5 for v in operand),
            'position': ['h', 'r', 'm', 'y'].index(n['node']),
        }
        wrong += [(n['node'], k, n[k], v) for k, v in want.items() if n[k] != v]
        if not abs(n['p99_9'] - rank) <= max(most) / 1000:
            wrong.append((n['node'], 'p99_9', n['p99_9'], rank))
        if what == 'tiny':
            if not near(n['joint_rel_l2'], rel(low[n['node']][1], t)):
                wrong.append((n['node'], 'joint', n['joint_rel_l2'], rel(low[n['node']][1], t)))
            if not near(n['amplification'], n['low_rel_l2'] / n['local_rel_l2']):
                wrong.append((n['node'], 'amplification', n['amplification']))
    tap.none(wrong, '%s values: ranges, channels and lost operands of %d nodes' % (what, len(nodes)))
    tap.ok(
        of['first_nonfinite'] == (None if what == 'tiny' else 'h'), 'the first node that makes what is not finite', of
    )
    if what == 'tiny':
        tap.ok(
            near(of['additive_rel_l2'], math.sqrt(sum(n['low_rel_l2'] ** 2 for n in nodes)))
            and near(
                of['joint_rel_l2'], rel(sum((low[k][1] for k in 'yhrm'), ()), sum((wide[k][1] for k in 'yhrm'), ()))
            ),
            'errors as if they were independent, and all together',
            of,
        )
        harm = [n['low_rel_l2'] for n in nodes]
        tap.ok(
            len(nodes) == 4 and harm == sorted(harm, reverse=True) and [n['position'] for n in nodes] != [0, 1, 2, 3],
            'the node that does most comes first',
            harm,
        )
        tap.ok(sum(n['zeroed'] for n in nodes) > 100, 'values became 0')
    else:
        tap.ok(sum(n['saturated'] for n in nodes) > 100, 'values are beyond fp16')

# Nodes whose damage is no number come first, wherever they stand
chain = ['Relu', 'Exp', 'Sub', 'Abs', 'Neg', 'Tanh', 'Sigmoid', 'Exp']
nodes = [node(op, ('v%d ' % i) * (2 if op == 'Sub' else 1), 'v%d' % (i + 1), name=op) for i, op in enumerate(chain)]
write('nan.onnx', graph(nodes, [], [value('v0', ['n', 3])], [value('v8', ['n', 3])]))
npz('nan.npz', v0=([4, 3], [20, 5, 3, 1, 12, 3, 9, 2, 1, 0.5, 0.25, 0.125]))
got = tap.halfulp('validate', 'nan.onnx', '--data', 'nan.npz', '--policy', 'fp16', '--sensitivity', '--json')
of = json.loads(got.stdout)['policies'][1]['sensitivity']['nodes'] if got.returncode == 0 else []
worse = {'nan': (2, 0), 'inf': (1, 0)}  # what is not finite is a text
harm = [worse.get(n['low_rel_l2'], (0, n['low_rel_l2'])) for n in of]
tap.ok(sum(h[0] for h in harm) > 1 and harm == sorted(harm, reverse=True), 'what is no number is the worst', harm)

# Rows that fill a batch count nowhere: the first five of seven inputs are what they are one by one
npz('seven.npz', v0=([7, 3], [3e-8 * 7**k for k in range(21)]))
words = '--data seven.npz --policy fp16 --sensitivity --sensitivity-inputs 5 --json'.split()
both = []
for more in ((), ('--batch', '1')):
    got = tap.halfulp('validate', 'nan.onnx', *words, *more)
    of = json.loads(got.stdout)['policies'][1]['sensitivity']['nodes'] if got.returncode == 0 else got.stderr
    both.append([(n['node'], n['operands'], n['zeroed'], n['saturated'], n['p99_9'], n['local_rel_l2']) for n in of])
tap.ok(both[0] == both[1] and any(n[3] for n in both[0]), 'five of seven inputs are themselves alone', both)

# A constant that float16 has no value for is named where something is not finite behind it
write(
    'eps.onnx',
    graph(
        [node('Mul', 'x half', 'm'), node('Add', 'm eps', 'a', name='safe'), node('Log', 'a', 'y', name='log')],
        [floats('half', [1], [0.5]), floats('eps', [1], [1e-10])],
        [value('x', ['n', 3])],
        [value('y', ['n', 3])],
    ),
)
npz('eps.npz', x=([2, 3], [0, 1, 2, 3, 0, 4]))
got = tap.halfulp('validate', 'eps.onnx', '--data', 'eps.npz', '--policy', 'fp16,bf16', '--json')
low = json.loads(got.stdout)['policies'][1:] if got.returncode == 0 else []
lost = [
    (p['policy'], l['layer'], l['is'], l['format'], abs(l['was'] * 1e10 - 1) < 1e-6)
    for p in low
    for l in p['lost_constants']
]
tap.ok(
    [p['nonfinite'] for p in low] == [2, 0] and lost == [('fp16', 'safe', 0, 'fp16', True)],
    'an epsilon that is 0 is named: %s' % lost,
    got.stderr + got.stdout,
)
write(
    'bias.onnx',
    graph(
        [node('Gemm', 'x w b', 'y', name='fc')],
        [floats('w', [3, 3], [1, 0, 0, 0, 1, 0, 0, 0, 1]), floats('b', [3], [65520, 7, -1e5])],
        [value('x', ['n', 3])],
        [value('y', ['n', 3])],
    ),
)
got = tap.halfulp('validate', 'bias.onnx', '--data', 'eps.npz', '--policy', 'fp16,bf16', '--json')
low = json.loads(got.stdout)['policies'][1:] if got.returncode == 0 else [{'lost_constants': None}] * 2
want = [{'was': -1e5, 'format': 'fp16', 'layer': 'fc', 'is': '-inf', 'elements': 2, 'of': 3}]
tap.ok(
    [p['lost_constants'] for p in low] == [want, []],
    'elements of a bias beyond a format are counted, and the largest named',
    got.stderr + str([p['lost_constants'] for p in low]),
)
bias = tap.halfulp('validate', 'bias.onnx', '--data', 'eps.npz', '--policy', 'fp16').stdout
tap.ok('2 of 3 elements of a constant of layer fc are infinite in fp16, of which the largest is -100000.' in bias,
    'the text says so', bias)
text = tap.halfulp('validate', 'eps.onnx', '--data', 'eps.npz', '--policy', 'fp16').stdout
tap.ok('fp16: on the way there the constant 1e-10 of layer safe is 0 in fp16.' in text, 'and the text says so', text)
tap.finish()
