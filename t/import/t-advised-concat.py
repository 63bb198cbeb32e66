#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Products of a Concat that advise splits where the whole model breaks the budget as quantize_static writes it: the
# model that it writes is float32's by onnxruntime, and quantised by the tool itself it keeps the budget on inputs held
# apart, which the model as it was breaks there. HALFULP names the program.
import os, sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/import'))
import tap
from ort_tools import *

os.chdir(tap.home())
r = numpy.random.default_rng(44)
R = lambda *s: r.standard_normal(s).astype(f32)
FLOAT = TensorProto.FLOAT
ROWS, LEAST = 48, 25  # dB
SMALL = 200  # times as small is the second part, and its weights are as many times as large


def vectors(product, held, axis=1):
    """Two parts of a row, and what reads them."""
    return [N('MatMul', ['x', 'A'], ['p'], name='wide'), N('MatMul', ['x', 'B'], ['q'], name='small'),
        N('Tanh', ['q'], ['q2'], name='tanh'), N('Mul', ['q2', 'less'], ['q3'], name='less'),
        N('Concat', ['p', 'q3'], ['c'], name='join', axis=axis), product, N('Sigmoid', ['h'], ['y'], name='end')], held


W = R(20, 6)
W[8:] *= SMALL
base = {'A': R(12, 8), 'B': R(12, 12) / 4, 'less': f32(1 / SMALL)}
K = R(5, 8, 3, 3) / 3
K[:, 4:] *= SMALL
three = N('Conv', ['x', 'P'], ['p'], name='wide'), N('Conv', ['x', 'Q'], ['q'], name='small')
images = [*three, N('Tanh', ['q'], ['q2'], name='tanh'), N('Mul', ['q2', 'less'], ['q3'], name='less'),
    N('Relu', ['p'], ['p1'], name='relu'), N('Neg', ['p'], ['p2'], name='neg'), N('Concat', ['p1', 'q3', 'p2'], ['c'],
        name='join', axis=1), N('Conv', ['c', 'K', 'k'], ['h'], name='reads', strides=[2, 2], pads=[1, 1, 1, 1]),
    N('Sigmoid', ['h'], ['y'], name='end')]
K3 = numpy.concatenate([K, R(5, 4, 3, 3) / 3], 1)
# Name: nodes, initialisers, the input's shape, whether a product is split.
CASES = {
    'MatMul': (*vectors(N('MatMul', ['c', 'W'], ['h'], name='reads'), base | {'W': W}), [12], True),
    'Gemm': (*vectors(N('Gemm', ['c', 'W', 'b'], ['h'], name='reads', transB=1, alpha=0.5),
        base | {'W': W.T.copy(), 'b': R(6)}, -1), [12], True),
    'Conv of three parts': (images, {'P': R(4, 3, 1, 1), 'Q': R(4, 3, 1, 1) / 4, 'less': f32(1 / SMALL), 'K': K3,
        'k': R(5)}, [3, 8, 8], True),
}
CASES['parts of one magnitude'] = (*vectors(N('MatMul', ['c', 'W'], ['h'], name='reads'), {'A': R(12, 8),
    'B': R(12, 12) / 4, 'less': f32(9), 'W': R(20, 6) * numpy.logspace(0, 3, 6).astype(f32)}), [12], False)


def sqnr(a, b):
    return -20 * numpy.log10(max(rel(a, b), 1e-30))


def tool(path, rows):
    quiet(quantize_static, path, 'tool.onnx', Reader([{'x': rows[i : i + 8]} for i in range(0, ROWS // 2, 8)]))
    return run('tool.onnx', [{'x': rows[ROWS // 2 :]}])['y']


for name, (nodes, held, shape, splits) in CASES.items():
    model(nodes, {'x': (FLOAT, ['n', *shape])}, ['y'], held)
    rows = R(ROWS, *shape)
    numpy.savez('data.npz', x=rows)
    least = LEAST if splits else 60
    got = tap.halfulp(*('advise float.onnx --data data.npz --format int8 --accept sqnr>=%d --batch 8 --out out --json' %
        least).split())
    if not tap.ok(got.returncode == 0, name + ': advise finds a plan', got.stderr):
        continue
    w = json.loads(got.stdout)['remedies'][0]
    found = [k['remedy'] for k in w['remedies']]
    if not splits:
        tap.ok(w['needed'] and 'concat' not in found, name + ': no product is split', w)
        continue
    tap.ok(w['needed'] and found[:1] == ['concat'] and w['keeps'], name + ': a split keeps the budget', w)
    if not found:
        continue
    tap.ok("node 'reads'" in w['remedies'][0]['places'], name + ': the node is named', w['remedies'])
    float32 = run('float.onnx', [{'x': rows[ROWS // 2 :]}])['y']
    same = run(w['model'], [{'x': rows[ROWS // 2 :]}])['y']
    tap.ok(rel(same, float32) < 1e-6, name + ': in float32 the outputs are the same', rel(same, float32))
    before, after = sqnr(tool('float.onnx', rows), float32), sqnr(tool(w['model'], rows), float32)
    says = '%.1f dB before and %.1f after' % (before, after)
    tap.ok(before < LEAST <= after, name + ": the tool's own files, on inputs held apart: " + says)
    tap.ok(abs(after - w['after']['held_apart']['sqnr_db']) < 0.5, name + ': as was promised', w['after'])
tap.finish()
