#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# A bilinear Resize of codes, as quantize_static writes it in the format QOperator: onnxruntime adds four products in
# float32 and cuts off the fraction, so that codes differ from rounded ones by one in half of all places. Every element
# is onnxruntime's, at both levels; the scheme of the tool and --against of its file have its outputs. HALFULP names the
# program.
import os, sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/import'))
import tap
from ort_tools import *

os.chdir(tap.home())
r = numpy.random.default_rng(4)
PLACES = 'coordinate_transformation_mode'
SIZES = (5, 7, 10, 14), (5, 7, 9, 20), (8, 8, 4, 4), (6, 6, 7, 11), (3, 4, 12, 13)
for codes in numpy.uint8, numpy.int8:
    for height, width, *to in SIZES:
        for where in 'half_pixel', 'align_corners', 'asymmetric', 'pytorch_half_pixel':
            nodes = [
                N('QuantizeLinear', ['x', 's', 'z'], ['q'], name='q'),
                N('Resize', ['q', '', '', 'size'], ['i'], name='i', mode='linear', **{PLACES: where}),
                N('DequantizeLinear', ['i', 's', 'z'], ['y'], name='y'),
            ]
            held = {'s': f32(1), 'z': codes(0), 'size': numpy.array([1, 3, *to])}
            model(nodes, {'x': (TensorProto.FLOAT, [1, 3, height, width])}, ['y'], held)
            low, high = numpy.iinfo(codes).min, numpy.iinfo(codes).max
            x = r.integers(low, high + 1, (2, 3, height, width)).astype(f32)
            x[0, 0] = 100
            feeds = [{'x': x[:1]}, {'x': x[1:]}]
            y, more = (run('float.onnx', feeds, level)['y'] for level in ('ORT_DISABLE_ALL', 'ORT_ENABLE_ALL'))
            got, said = predict('float32', {'x': x}, 1)
            differ = -1 if got is None else (got['y'].reshape(y.shape) != y).sum()
            what = '%s of %d x %d to %d x %d, %s' % (codes.__name__, height, width, *to, where)
            tap.ok(differ == 0 and (more == y).all(), what, said if differ < 0 else '%d differ' % differ)
nodes = [
    N('Conv', ['x', 'W', 'b'], ['c'], name='c', strides=[2, 2], pads=[1] * 4),
    N('Resize', ['c', '', 'scales'], ['u'], name='up', mode='linear'),
    N('Conv', ['u', 'V', 'd'], ['y'], name='head', pads=[1] * 4),
]
R = lambda *s: r.standard_normal(s).astype(f32)
held = {'W': R(6, 3, 3, 3), 'b': R(6), 'V': R(4, 6, 3, 3), 'd': R(4), 'scales': numpy.array([1, 1, 2, 2], f32)}
model(nodes, {'x': (TensorProto.FLOAT, ['n', 3, 8, 8])}, ['y'], held)
data = {'x': R(8, 3, 8, 8)}
feeds = batches(data, 4)
how = {'quant_format': QuantFormat.QOperator, 'activation_type': QuantType.QUInt8}
quiet(quantize_static, 'float.onnx', 'tool.onnx', Reader(feeds), **how)
float32, ort = run('float.onnx', feeds), run('tool.onnx', feeds, 'ORT_ENABLE_ALL')
file = ('float32', data, 4, 'float.onnx', '--against', 'tool.onnx', '--runtime', 'ort-cpu:all')
for words in ('ort-static:qoperator:activation_type=uint8', data, 4), file:
    got, said = predict(*words)
    hold(words[0] + ' of a network that doubles an image', got, ort if got else said, float32, axis=1)
cubic = N('Resize', ['c', '', 'scales'], ['y'], name='up', mode='cubic')
model([nodes[0], cubic], {'x': (TensorProto.FLOAT, ['n', 3, 8, 8])}, ['y'], held)
got, said = predict('ort-static:qoperator:activation_type=uint8', data, 4)
tap.ok(got is None and "'up'" in said and 'cubic' in said, 'what onnxruntime has no kernel for is named', said)
tap.finish()
