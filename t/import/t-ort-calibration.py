#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# quantize_static calibrates by onnxruntime, whose order of sums decides the last place of a range, and so a scale's,
# and so codes: ort-static's outputs are onnxruntime's own, to the last bit, of drawn networks with convolutions,
# products, means and norms, whose values in between are outputs too; by each method of calibration. HALFULP names the
# program.
import os, sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/import'))
import tap
from ort_tools import *

os.chdir(tap.home())
FLOAT = TensorProto.FLOAT
ROWS, BATCH = 24, 8


def convolutions(r):
    w = lambda *d: (r.standard_normal(d) / (numpy.prod(d[1:]) ** 0.5)).astype(f32)
    nodes = [
        N('Conv', ['x', 'a', 'A'], ['c'], pads=[1] * 4),
        N('Relu', ['c'], ['d']),
        N('Conv', ['d', 'b', 'B'], ['e'], pads=[1] * 4, strides=[2, 2]),
        N('Add', ['e', 'E'], ['f']),
        N('Conv', ['f', 'h'], ['i'], group=16, pads=[1] * 4),
        N('GlobalAveragePool', ['i'], ['g']),
        N('Flatten', ['g'], ['k']),
        N('Gemm', ['k', 'W', 'V'], ['y'], transB=1),
    ]
    held = {'a': w(16, 8, 3, 3), 'A': w(16), 'b': w(16, 16, 3, 3), 'B': w(16), 'E': w(16, 1, 1), 'h': w(16, 1, 3, 3)}
    return nodes, held | {'W': w(10, 16), 'V': w(10)}, (8, 12, 12), ['e', 'i', 'g', 'y']


def products(r):
    w = lambda *d: (r.standard_normal(d) / d[0] ** 0.5).astype(f32)
    nodes = [
        N('MatMul', ['x', 'a'], ['b']),
        N('LayerNormalization', ['b', 's', 't'], ['c'], axis=-1),
        N('Erf', ['c'], ['e']),
        N('MatMul', ['e', 'd'], ['f']),
        N('Softmax', ['f'], ['p'], axis=-1),
        N('MatMul', ['p', 'h'], ['y']),
    ]
    held = {'a': w(200, 64), 's': 1 + w(64), 't': w(64), 'd': w(64, 48), 'h': w(48, 12)}
    return nodes, held, (5, 200), ['b', 'c', 'f', 'y']


# By quantize_static's options: the words of the scheme.
METHODS = {
    'ort-static': {},
    'ort-static:moving_average': {'extra_options': {'CalibMovingAverage': True}},
    'ort-static:percentile': {'calibrate_method': CalibrationMethod.Percentile},
    'ort-static:percentile98.5': {
        'calibrate_method': CalibrationMethod.Percentile,
        'extra_options': {'CalibPercentile': 98.5},
    },
}
for seed in range(6):
    for net in convolutions, products:
        r = numpy.random.default_rng(seed)
        nodes, held, shape, outputs = net(r)
        x = r.standard_normal((ROWS, *shape)).astype(f32)
        model(nodes, {'x': (FLOAT, ['n', *shape])}, outputs, held)
        feeds = batches({'x': x}, BATCH)
        float32 = run('float.onnx', feeds)
        for scheme, options in METHODS.items():
            quiet(quantize_static, 'float.onnx', 'tool.onnx', Reader(feeds), **options)
            ort = run('tool.onnx', feeds)
            got, said = predict(scheme, {'x': x}, BATCH)
            hold('%s, draw %d, %s' % (net.__name__, seed, scheme), got, ort if got else said, float32, close=0)
tap.finish()
