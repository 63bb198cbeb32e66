#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Values of seven and eight axes, such as windows of a volume in video transformers: onnxruntime's values at float32 and
# in quantize_static's file, each element; and what has nine axes is refused by its name.
import os, sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/import'))
import tap
from ort_tools import *

os.chdir(tap.home())
rng = numpy.random.default_rng(8)
I = numpy.int64
data = {'x': rng.standard_normal((6, 4, 4, 6, 5)).astype(f32)}
feeds = batches(data, 2)
NETS = {
    'windows of a volume': (['Reshape', 'Transpose', 'Flat'], 8),
    'a softmax and a mean over axes of eight': (['Reshape', 'Transpose', 'Softmax', 'Mean', 'Flat'], 8),
    'a sum that is broadcast, and a slice of it': (['Reshape', 'Add', 'Slice', 'Flat'], 8),
    'nine axes': (['Reshape', 'Flat'], 9),
}
held = {
    's8': numpy.array([0, 2, 2, 2, 2, 3, 2, 5], I),
    's9': numpy.array([0, 2, 2, 2, 2, 3, 2, 5, 1], I),
    'flat': numpy.array([0, -1], I),
    'c': rng.standard_normal((2, 1, 2, 1, 2, 5)).astype(f32),
    'from': numpy.array([-1, 1], I),
    'to': numpy.array([-9, 3], I),
    'axes': numpy.array([3, 6], I),
    'steps': numpy.array([-1, 1], I),
}
for name, (words, axes) in NETS.items():
    nodes, at = [], 'x'
    for i, word in enumerate(words):
        to = 'y' if word == 'Flat' else 't%d' % i
        nodes.append(
            {
                'Reshape': lambda: N('Reshape', [at, 's%d' % axes], [to], 'into'),
                'Transpose': lambda: N('Transpose', [at], [to], perm=[0, 1, 3, 5, 2, 4, 6, 7]),
                'Softmax': lambda: N('Softmax', [at], [to], axis=5),
                'Mean': lambda: N('ReduceMean', [at], [to], axes=[1, 4], keepdims=0),
                'Add': lambda: N('Add', [at, 'c'], [to]),
                'Slice': lambda: N('Slice', [at, 'from', 'to', 'axes', 'steps'], [to]),
                'Flat': lambda: N('Reshape', [at, 'flat'], [to]),
            }[word]()
        )
        at = to
    model(nodes, {'x': (TensorProto.FLOAT, ['n', 4, 4, 6, 5])}, ['y'], held)
    got, said = predict('float32', data, 2, 'float.onnx', '--decision', 'none')
    if axes > 8:
        tap.ok(got is None and "'t0' has 9" in said and 'at most 8' in said, name + ' are refused', said)
        continue
    want = run('float.onnx', feeds)
    what = name + ': onnxruntime at float32'
    tap.ok(got is not None and abs(got['y'] - want['y']).max() <= 1e-6 * abs(want['y']).max(), what, said)
    quiet(quantize_static, 'float.onnx', 'tool.onnx', Reader(feeds))
    ort = run('tool.onnx', feeds)['y']
    got, said = predict('ort-static', data, 2, 'float.onnx', '--decision', 'none')
    differ = -1 if got is None else (abs(got['y'] - ort) > 1e-6 * abs(ort).max()).sum()
    tap.ok(differ == 0, '%s: %d of %d elements of quantize_static differ' % (name, differ, ort.size), said)
tap.finish()
