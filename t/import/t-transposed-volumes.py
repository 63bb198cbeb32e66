#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Transposed convolutions of volumes with drawn kernels, strides, dilations, groups and padding: sums of multiples of
# 2^-8 are exact in any order, and every element is onnxruntime's. So it is in quantize_static's file of a network that
# halves and doubles a volume. HALFULP names the program.
import os, sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/import'))
import tap
from ort_tools import *

os.chdir(tap.home())
r = numpy.random.default_rng(4)
R = lambda *s: (numpy.rint(r.standard_normal(s) * 16) / 16).astype(f32)
three = lambda low, high: [int(v) for v in r.integers(low, high, 3)]
compared = 0
for trial in range(24):
    groups = int(r.choice([1, 1, 2, 3]))
    ins, outs = groups * int(r.integers(1, 4)), int(r.integers(1, 4))
    how = {'strides': three(1, 4), 'dilations': three(1, 3), 'group': groups}
    if r.random() < 0.7:
        how['pads'] = [int(v) for v in r.integers(0, 2, 6)]
    if r.random() < 0.5:
        most = [max(s, d) for s, d in zip(how['strides'], how['dilations'])]
        how['output_padding'] = [int(r.integers(0, m)) for m in most]
    held = {'W': R(ins, outs, *three(1, 4)), 'b': R(outs * groups)}
    x = {'x': R(3, ins, *three(2, 5))}
    node = N('ConvTranspose', ['x', 'W', 'b'], ['y'], name='up', **how)
    model([node], {'x': (TensorProto.FLOAT, ['n', *x['x'].shape[1:]])}, ['y'], held)
    try:
        y = run('float.onnx', [x])['y']
    except Exception:
        continue  # nothing is left of an axis
    got, said = predict('float32', x, 3)
    same = got is not None and (got['y'].reshape(y.shape) == y).all()
    tap.ok(same, 'drawn transposed convolution %d, %s' % (trial, how), said)
    compared += 1
tap.ok(compared >= 16, 'most drawn nodes have an output', str(compared))
nodes = [
    N('Conv', ['x', 'V'], ['c'], name='down', strides=[2] * 3, pads=[1] * 6),
    N('Relu', ['c'], ['h'], name='relu'),
    N('ConvTranspose', ['h', 'W', 'b'], ['u'], name='up', strides=[2] * 3),
    N('Concat', ['u', 'x'], ['z'], name='cat', axis=1),
    N('Conv', ['z', 'U'], ['y'], name='head'),
]
held = {'V': R(6, 2, 3, 3, 3), 'W': R(6, 3, 2, 2, 2), 'b': R(3), 'U': R(4, 5, 1, 1, 1)}
model(nodes, {'x': (TensorProto.FLOAT, ['n', 2, 4, 6, 8])}, ['y'], {k: v / 4 for k, v in held.items()})
data = {'x': R(6, 2, 4, 6, 8)}
feeds = batches(data, 3)
float32 = run('float.onnx', feeds)
for scheme, options in (('ort-static', {}), ('ort-static:per_channel', {'per_channel': True})):
    quiet(quantize_static, 'float.onnx', 'tool.onnx', Reader(feeds), **options)
    got, said = predict(scheme, data, 3)
    hold(scheme + ' of a network of volumes', got, run('tool.onnx', feeds) if got else said, float32, axis=1)
tap.finish()
