#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The scheme ort-static:ort-cpu against quantize_static's file in onnxruntime with all its optimisations, its default:
# nodes between DequantizeLinear and QuantizeLinear become kernels of codes, whose ties and whose Softmax are others. The
# same prediction without the word is not onnxruntime's there, so that the test can fail. HALFULP names the program.
import os, sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/import'))
import tap
from ort_tools import *
from static_nets import FLOAT, INT64, NETS, R, r

os.chdir(tap.home())
BATCH, INPUTS = 4, 12
U8 = {'activation_type': QuantType.QUInt8}
OPTIONS = [
    (':activation_type=uint8', U8),
    (':per_channel:activation_type=uint8', {'per_channel': True} | U8),
    ('', {}),
    (':op_types=MatMul+Conv+Gemm:activation_type=uint8', {'op_types_to_quantize': ['MatMul', 'Conv', 'Gemm']} | U8),
]
NETS = NETS | {
    'Gemm with a factor and without a bias, and a product whose result is float': (
        [
            N('Gemm', ['x', 'A'], ['h'], name='g1', transB=1, alpha=0.25),
            N('Relu', ['h'], ['r'], name='re'),
            N('MatMul', ['r', 'B'], ['m'], name='m'),
            N('Sub', ['m', 'c'], ['y'], name='sub'),
        ],
        {'x': (FLOAT, ['n', 16])},
        ['y'],
        {'A': R(24, 16), 'B': R(24, 8), 'c': R(8)},
        17,
    ),
}
other = 0
for name, (nodes, inputs, outputs, weights, opset) in NETS.items():
    model(nodes, inputs, outputs, weights, opset)
    shape = lambda d: [INPUTS] + d[1:]
    data = {k: r.integers(0, 30, shape(d)) if t == INT64 else R(*shape(d)) for k, (t, d) in inputs.items()}
    feeds = batches(data, BATCH)
    float32 = run('float.onnx', feeds)
    for words, options in OPTIONS:
        quiet(quantize_static, 'float.onnx', 'tool.onnx', Reader(feeds), **options)
        got, said = predict('ort-static:ort-cpu' + words, data, BATCH)
        ort = run('tool.onnx', feeds, 'ORT_ENABLE_ALL')
        hold('ort-static:ort-cpu%s: %s' % (words, name), got, ort if got else said, float32, 4e-7, 0.002)
        plain = predict('ort-static' + words, data, BATCH)[0]
        other += any((abs(plain[k].reshape(y.shape) - y) > 4e-7 * abs(y).max()).mean() > 0.002 for k, y in ort.items())
tap.ok(other > 5, 'without the word %d predictions are not onnxruntime\'s' % other)
tap.finish()
