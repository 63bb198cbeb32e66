#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# validate --against: another file of the same network, value by value. A file with codes is written by hand here, and
# every figure is computed again; where onnxruntime is installed, files of its own tools are held to what it returns.
import json, math, os, random, struct, sys

sys.dont_write_bytecode = True
TOP = os.path.abspath(os.environ.get('srcdir', '.'))
sys.path.insert(0, os.path.join(TOP, 't/tool'))
import tap
from npzfile import npz, outputs
from onnxfile import *

os.chdir(tap.home())
random.seed(36)


def f32(x):
    return struct.unpack('<f', struct.pack('<f', x))[0]


def run(*words):
    got = tap.halfulp('validate', *words, '--json', '--exact', '0', '--policy', 'float32')
    return json.loads(got.stdout) if got.returncode in (0, 1) else tap.bail_out(got.stderr)


# All numbers are multiples of powers of two, so that float32's sums are exact.
N, K, M = 12, 4, 3
x = [random.randrange(-64, 65) / 16 for _ in range(N * K)]
W = [random.randrange(-100, 101) / 64 for _ in range(K * M)]
b = [random.randrange(-16, 17) / 16 for _ in range(M)]
SX, SW, SR = 1 / 32, 1 / 32, 1 / 8  # the codes' scales


def code(v, s, low, high):
    return min(max(round(v / s), low), high)  # Python rounds to nearest, ties to even, as ONNX does


def product(x, W):
    return [f32(sum(x[i * K + k] * W[k * M + j] for k in range(K)) + b[j]) for i in range(N) for j in range(M)]


wq = [code(v, SW, -127, 127) for v in W]
port = lambda name, n: value(name, ['n', n])
write('f.onnx', graph([node('MatMul', 'x W', 'a', name='mm'), node('Add', 'a b', 'c', name='add'), node('Relu',
        'c', 'r', name='relu'),
                       node('Mul', 'r two', 'm', name='twice'), node('Tanh', 'm', 'y', name='out')],
                      [floats('W', [K, M], W), floats('b', [M], b), floats('two', [], [2.0])], [port('x',
                              K)], [port('y', M)]))
scale = lambda name, s: floats(name, [], [s])
q = lambda v, s: [node('QuantizeLinear', '%s %s z' % (v, s), v + '_QuantizeLinear_Output'),
                  node('DequantizeLinear', '%s_QuantizeLinear_Output %s z' % (v, s), v + '_DequantizeLinear_Output')]
write('q.onnx', graph(
    q('x', 'sx') + [node('DequantizeLinear', 'Wq sw', 'Wd'), node('MatMul', 'x_DequantizeLinear_Output Wd', 'mm_out'),
                    node('Add', 'mm_out b', 'r', name='add')] + q('r', 'sr')
    + [node('Neg', 'r_DequantizeLinear_Output', 'c'),  # c has another value here
       node('Neg', 'c', 'd'), node('Mul', 'd two', 'm', name='twice'), node('Tanh', 'm', 'y', name='out')],
    [tensor('Wq', INT8, [K, M], struct.pack('<%db' % len(wq), *wq)), scale('sx', SX), scale('sw', SW), scale('sr',
            SR),
     tensor('z', UINT8, [], bytes([0])), floats('b', [M], b), floats('two', [], [2.0])], [port('x', K)], [port('y',
             M)]))
npz('x.npz', x=((N, K), x))

# x's codes begin at 0, so that all that is below is saturated; what lies beyond 255 SR of r too.
xq = [code(v, SX, 0, 255) * SX for v in x]
c = product(x, W)
r = [max(v, 0.0) for v in c]
own_r = [code(v, SR, 0, 255) * SR for v in product(x, [v * SW for v in wq])]
all_r = [code(v, SR, 0, 255) * SR for v in product(xq, [v * SW for v in wq])]


def rel(is_, was):
    return math.sqrt(sum((p - w) ** 2 for p, w in zip(is_, was)) / sum(w * w for w in was))


told = run('f.onnx', '--data', 'x.npz', '--against', 'q.onnx', '--batch', '5', '--outputs', 'out')
rows = {v['value']: v for v in told['against'][0]['values']}
near = lambda p, q: abs(p - q) <= 1e-6 * max(abs(q), 1e-3)
tap.ok(list(rows) == ['x', 'a', 'c', 'r', 'm', 'y'] and told['against'][0]['inputs'] == N,
        'each value of the float network has a row',
       list(rows))
tap.ok([rows[k]['pair'] for k in rows] == ['same', 'missing', 'renamed', 'same', 'same', 'same']
       and rows['r']['as'] == 'r_DequantizeLinear_Output' and rows['m']['as'] == 'm',
       'values pair as their readers see them; one is missing, and one has another\'s name', list(rows.values()))
tap.ok(near(rows['x']['own'], rel(xq, x)) and near(rows['x']['arrived'], rel(xq, x)),
        'an input is off by its codes', rows['x'])
tap.ok(near(rows['r']['own'], rel(own_r, r)) and near(rows['r']['arrived'], rel(all_r, r)) and rel(own_r,
        r) < rel(all_r, r) / 2,
       'a node is off by its weight\'s and its own codes, and by what arrives', [rows['r'], rel(own_r, r),
               rel(all_r, r)])
tap.ok(rows['m']['own'] == 0 and near(rows['m']['arrived'], rel(all_r, r)), 'a node of float32 adds nothing',
        rows['m'])
tap.ok(rows['x']['saturated'] == sum(abs(p - w) > SX / 2 for p, w in zip(xq, x)) > 5
       and rows['x']['zeroed'] == sum(p == 0 != w for p, w in zip(xq,
               x)) > 5, 'saturated and zeroed elements are counted', rows['x'])
raw_r = product(x, [v * SW for v in wq])
over = [min(abs(p - v), abs(p - w)) > 0.501 * SR for p, v, w in zip(own_r, raw_r, r)]
zeroed = sum(p == 0 < w and v != 0 for p, v, w in zip(own_r, raw_r, r))
tap.ok([rows['r'][k] for k in ('saturated', 'zeroed')] == [sum(over), zeroed] and sum(v < -SR for v in raw_r) > 5,
       'what a Relu zeroes is no loss of the codes that take its place', [rows['r'], sum(over)])
want = [math.tanh(2 * v) for v in all_r]
row = told['policies'][1]
tap.ok(row['policy'] == 'q.onnx' and near(row['rel_l2'], rel(want, [math.tanh(2 * v) for v in r])),
        'and the file has a row of outputs', row)
each = lambda y: [max(range(M), key=lambda j: (y[i * M + j], -j)) for i in range(N)]
got = outputs('out/q.onnx.npz')['y'][1]
tap.ok(row['flips'] == sum(p != w for p, w in zip(each(got), each(outputs('out/float32.npz')['y'][1]))),
        'whose flips are right', row['flips'])
ports = graph([node('Tanh', 'x', 'z')], [], [port('x', K)], [port('z', K)])
write('p.onnx', ports)
write('w.onnx', graph([node('Tanh', 'x', 'y')], [], [port('x', K)], [port('y', K)]))
for words, code_, text in ((['p.onnx'], 3, "no output 'y'"), (['w.onnx'], 3, 'another shape'), (['q.onnx',
        '--against', 'q.onnx'], 2, 'twice'),
                           (['gone.onnx'], 3, 'gone.onnx')):
    got = tap.halfulp('validate', 'f.onnx', '--data', 'x.npz', '--against', *words)
    tap.ok(got.returncode == code_ and text in got.stderr and got.stderr.count('\n') == 1, 'refused: %s' % text,
            [got.returncode, got.stderr])
text = tap.halfulp('validate', 'f.onnx', '--data', 'x.npz', '--against', 'q.onnx').stdout
tap.ok("has another value for 'c'" in text and "no value called 'a'" in text
        and '4 of 6 values have a pair' in text, 'the text says so too', text)

try:
    import numpy as np, onnx, onnxruntime as ort
    from onnxruntime.quantization import (CalibrationDataReader, QuantFormat, QuantType, quantize_dynamic,
                                          quantize_static)
except ImportError:
    tap.skip('files that tools write', 'onnx and onnxruntime are not installed')
    tap.finish()
import contextlib, io, logging

logging.disable(logging.WARNING)
ort.set_default_logger_severity(4)
rng = np.random.default_rng(36)
R = lambda *s: list(map(float, rng.standard_normal(s).ravel()))
I32 = lambda name, v: ints(name, [len(v)], v)
write('n.onnx', graph(
    [node('Conv', 'x W1 b1', 'c1', name='c1', pads=[1, 1, 1, 1]), node('Relu', 'c1', 'r1', name='r1'),
     node('MaxPool', 'r1', 'p1', name='p1', kernel_shape=[2, 2], strides=[2, 2]), node('Conv', 'p1 W2 b2', 'c2',
             name='c2', pads=[1, 1, 1, 1]),
     node('Sigmoid', 'c2', 's2', name='s2'), node('Mul', 'c2 s2', 'm2', name='m2'), node('Conv', 'm2 W3 b2', 'c3',
             name='c3', pads=[1, 1, 1, 1]),
     node('Add', 'c3 m2', 'a3', name='a3'), node('GlobalAveragePool', 'a3', 'g', name='g'), node('Flatten', 'g',
             'f', name='f'),
     node('Gemm', 'f W4 b4', 'y', name='fc')],
    [floats('W1', [8, 3, 3, 3], [v / 4 for v in R(8, 3, 3, 3)]), floats('b1', [8], R(8)), floats('W2', [12, 8, 3,
            3], [v / 7 for v in R(12, 8, 3, 3)]),
     floats('b2', [12], R(12)), floats('W3', [12, 12, 3, 3], [v / 9 for v in R(12, 12, 3, 3)]), floats('W4', [12,
             10], R(12, 10)),
     floats('b4', [10], [v / 20 for v in R(10)])], [value('x', ['n', 3, 12, 12])], [value('y', ['n', 10])]))
X = rng.standard_normal((64, 3, 12, 12)).astype(np.float32)
np.savez('X.npz', x=X)


class Reader(CalibrationDataReader):
    def __init__(self):
        self.left = [{'x': X[i : i + 8]} for i in range(0, 64, 8)]

    def get_next(self):
        return self.left.pop() if self.left else None


def occ(to):
    from onnxconverter_common import float16
    onnx.save(float16.convert_float_to_float16(onnx.load('n.onnx')), to)


TOOLS = {'static': lambda to: quantize_static('n.onnx', to, Reader()),
         'static-u8': lambda to: quantize_static('n.onnx', to, Reader(), activation_type=QuantType.QUInt8,
                 per_channel=True),
         'operators': lambda to: quantize_static('n.onnx', to, Reader(), activation_type=QuantType.QUInt8,
                                                 quant_format=QuantFormat.QOperator),
         'dynamic': lambda to: quantize_dynamic('n.onnx', to), 'occ': occ}


def ours(path, level=ort.GraphOptimizationLevel.ORT_DISABLE_ALL):
    o = ort.SessionOptions()
    o.graph_optimization_level = level
    s = ort.InferenceSession(path, o, providers=['CPUExecutionProvider'])
    x = X.astype(np.float16) if s.get_inputs()[0].type == 'tensor(float16)' else X
    return np.concatenate([s.run(None, {'x': x[i : i + 16]})[0] for i in range(0, 64, 16)]).astype(np.float64)


base = ours('n.onnx')
for tool, write_ in TOOLS.items():
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            write_(tool + '.onnx')
    except ImportError as why:
        tap.skip(tool, str(why))
        continue
    words = ['--runtime', 'ort-cpu'] if tool == 'occ' else []
    told = run('n.onnx', '--data', 'X.npz', '--against', tool + '.onnx', '--outputs', 'o-' + tool, *words)
    y, z = np.load('o-%s/%s.onnx.npz' % (tool, tool))['y'].astype(np.float64), ours(tool + '.onnx')
    same = (y.argmax(1) == z.argmax(1)).mean()
    norm = lambda v: np.linalg.norm(v - base) / np.linalg.norm(base)
    paired = [v['pair'] for v in told['against'][0]['values']].count('same')
    tap.ok(same >= 0.99 and abs(norm(y) / norm(z) - 1) < 0.05 and paired >= 8 and told['policies'][1]['rel_l2'] > 0,
           '%s: %.1f %% of ONNX Runtime\'s decisions, %.4g off where it is %.4g, %d values paired' % (tool,
                   100 * same, norm(y), norm(z), paired),
           [told['against'][0]['values'][:3]])
tap.finish()
