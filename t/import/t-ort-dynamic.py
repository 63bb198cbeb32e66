#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The scheme ort-dynamic against quantize_dynamic itself, whose files onnxruntime runs with all its optimisations and
# with none: the sums are of integers, so the prediction has its numbers where no float operator stands between. The
# scale of an activation is that of the batch, so the test has both run the same batches. HALFULP names the program.
import os, sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/import'))
import tap
from ort_tools import *

os.chdir(tap.home())
r = numpy.random.default_rng(37)
R = lambda *s: r.standard_normal(s).astype(f32)
FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64
BATCH, INPUTS = 3, 9
ids = {'ids': (INT64, ['n', 5])}
table = {'E': R(30, 16), 'V': R(16, 12), 'k': R(12)}
NETS = {
    'MatMul and Add': (
        [N('MatMul', ['x', 'V'], ['m'], name='mm'), N('Add', ['m', 'k'], ['y'], name='add')],
        {'x': (FLOAT, ['n', 7, 16])},
        {'V': R(16, 12) * f32(0.1), 'k': R(12)},
    ),
    'Conv with a bias, Relu, Conv': (
        [
            N('Conv', ['x', 'W', 'b'], ['c'], name='cv', pads=[1] * 4),
            N('Relu', ['c'], ['r'], name='r'),
            N('Conv', ['r', 'U'], ['y'], name='cw', strides=[2, 2]),
        ],
        {'x': (FLOAT, ['n', 6, 9, 9])},
        {'W': R(8, 6, 3, 3) * numpy.geomspace(0.1, 3, 8).astype(f32).reshape(8, 1, 1, 1), 'b': R(8)}
        | {'U': R(4, 8, 3, 3)},
    ),
    'Conv without a bias, whose weight no initialiser is': (
        [
            N('Constant', [], ['K'], name='ct', value=numpy_helper.from_array(R(8, 6, 3, 3), 'K')),
            N('Conv', ['x', 'K'], ['c'], name='cv', pads=[1] * 4),
            N('Identity', ['U'], ['V'], name='id'),
            N('Conv', ['c', 'V'], ['y'], name='cw', strides=[2, 2]),
        ],
        {'x': (FLOAT, ['n', 6, 9, 9])},
        {'U': R(4, 8, 3, 3)},
    ),
    'Gemm, and Gemm with a factor': (
        [
            N('Gemm', ['x', 'A', 'c1'], ['h'], name='g1', transB=1),
            N('Relu', ['h'], ['q'], name='re'),
            N('Gemm', ['q', 'B', 'c2'], ['z'], name='g2', beta=0.5),
            N('Gemm', ['z', 'A', 'c1'], ['y'], name='g3', transB=1),
        ],
        {'x': (FLOAT, ['n', 16])},
        {'A': R(24, 16), 'c1': R(24), 'B': R(24, 16), 'c2': R(16)},
    ),
    'a table that Gather and MatMul share': (
        [
            N('Gather', ['E', 'ids'], ['e'], name='ga'),
            N('MatMul', ['e', 'V'], ['m'], name='mm'),
            N('Transpose', ['E'], ['F'], name='tr', perm=[1, 0]),
            N('Gather', ['E', 'ids'], ['f'], name='gb'),
            N('MatMul', ['f', 'F'], ['w'], name='tied'),
            N('Concat', ['m', 'w'], ['y'], name='c', axis=2),
        ],
        ids,
        table,
    ),
    'Transpose of what is quantised, and of what is not': (
        [
            N('MatMul', ['x', 'V'], ['m'], name='mm'),
            N('Transpose', ['x'], ['t'], name='tr', perm=[0, 2, 1]),
            N('Transpose', ['m'], ['u'], name='ts', perm=[0, 2, 1]),
            N('Concat', ['t', 'u'], ['y'], name='c', axis=1),
        ],
        {'x': (FLOAT, ['n', 5, 16])},
        {'V': R(16, 16)},
    ),
    'LSTM and a product': (
        [
            N('Transpose', ['x'], ['t'], name='tr', perm=[1, 0, 2]),
            N('LSTM', ['t', 'LW', 'LR', 'LB'], ['l', '', ''], name='lstm', hidden_size=8),
            N('Squeeze', ['l', 'one'], ['s'], name='sq'),
            N('Transpose', ['s'], ['u'], name='back', perm=[1, 0, 2]),
            N('MatMul', ['u', 'O'], ['y'], name='o'),
        ],
        {'x': (FLOAT, ['n', 6, 10])},
        {'LW': R(1, 32, 10), 'LR': R(1, 32, 8), 'LB': R(1, 64), 'O': R(8, 5), 'one': numpy.array([1])},
    ),
}
OPTIONS = [
    ('', {}),
    (':per_channel', {'per_channel': True}),
    (':reduce_range', {'reduce_range': True}),
    (':weight_type=uint8', {'weight_type': QuantType.QUInt8}),
    (':op_types=MatMul', {'op_types_to_quantize': ['MatMul']}),
    (':exclude=mm+cv+g1_MatMul', {'nodes_to_exclude': ['mm', 'cv', 'g1_MatMul']}),
]
for name, (nodes, inputs, weights) in NETS.items():
    model(nodes, inputs, ['y'], weights)
    data = {
        k: r.integers(0, 30, [INPUTS] + d[1:]) if t == INT64 else R(INPUTS, *d[1:]) for k, (t, d) in inputs.items()
    }
    feeds = batches(data, BATCH)
    float32 = run('float.onnx', feeds)
    for words, options in OPTIONS:
        quiet(quantize_dynamic, 'float.onnx', 'tool.onnx', **options)
        got, said = predict('ort-dynamic' + words, data, BATCH)
        for level in 'ORT_DISABLE_ALL', 'ORT_ENABLE_ALL':
            what = 'ort-dynamic%s at %s: %s' % (words, level, name)
            hold(what, got, run('tool.onnx', feeds, level) if got else said, float32, 1e-6, 0.005)

# A weight that two convolutions share by an Identity, as torch exports equal ones: the tool fails.
nodes = [N('Identity', ['W'], ['V'], name='id'), N('Conv', ['x', 'V', 'b'], ['y'], name='cv')]
model(nodes, {'x': (FLOAT, ['n', 6, 9, 9])}, ['y'], {'W': R(8, 6, 3, 3), 'b': R(8)})
got, said = predict('ort-dynamic', {'x': R(3, 6, 9, 9)}, 3)
tap.ok(got is None and "node 'cv'" in said and said.count('\n') == 1, 'a Conv whose weight is no initialiser', said)
try:
    quiet(quantize_dynamic, 'float.onnx', 'tool.onnx')
    tap.ok(False, 'the tool fails there')
except ValueError as e:
    tap.ok('to be an initializer' in str(e), 'the tool fails there', str(e))
tap.finish()
