#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The mean of a window of codes that keeps their scale is a tie of two codes now and then, which the order of the sum
# decides: codes are those of onnxruntime, in files of quantize_static that it runs node by node, where small windows
# are summed by columns and others row by row, and with all optimisations, where a kernel of codes sums row by row.
import itertools, os, sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/import'))
import tap
from ort_tools import *

os.chdir(tap.home())
rng = numpy.random.default_rng(34)
POOLS = {
    '3 x 3': ((24, 24), dict(kernel_shape=[3, 3])),
    '3 x 3, padding that does not count': ((24, 24), dict(kernel_shape=[3, 3], pads=[1] * 4)),
    '3 x 3, padding that counts': ((24, 24), dict(kernel_shape=[3, 3], pads=[1] * 4, count_include_pad=1)),
    '2 x 2, stride 2': ((24, 24), dict(kernel_shape=[2, 2], strides=[2, 2])),
    '2 x 4, stride 2': ((24, 24), dict(kernel_shape=[2, 4], strides=[2, 2])),
    '4 x 2, stride 3': ((24, 24), dict(kernel_shape=[4, 2], strides=[3, 3])),
    '6 x 6, stride 2, padding': ((24, 24), dict(kernel_shape=[6, 6], strides=[2, 2], pads=[2] * 4)),
    '4 x 3, stride 4': ((24, 24), dict(kernel_shape=[4, 3], strides=[4, 4])),
    '3 x 2 of a wide image': ((3, 3000), dict(kernel_shape=[3, 2])),
    '40 x 2': ((48, 24), dict(kernel_shape=[40, 2])),
    '6 of a sequence': ((400,), dict(kernel_shape=[6], strides=[2])),
}
U8 = {'activation_type': QuantType.QUInt8}
for (name, (size, pool)), version in itertools.product(POOLS.items(), (17, 19)):
    shape = (4, 4, *size)
    nodes = [N('Mul', ['x', 'm'], ['a'], 'a'), N('AveragePool', ['a'], ['y'], 'p', **pool)]
    model(nodes, {'x': (TensorProto.FLOAT, ['n', *shape[1:]])}, ['y'], {'m': f32([1.5])}, version)
    data = {'x': rng.standard_normal(shape).astype(f32)}
    feeds = batches(data, 4)
    for scheme, options, level in (
        ('ort-static', {}, 'ORT_DISABLE_ALL'),
        ('ort-static:ort-cpu:activation_type=uint8', U8, 'ORT_ENABLE_ALL'),
    ):
        quiet(quantize_static, 'float.onnx', 'tool.onnx', Reader(feeds), **options)
        ort = run('tool.onnx', feeds, level)['y']
        got, said = predict(scheme, data, 4, 'float.onnx', '--decision', 'none')
        off = -1 if got is None else (abs(got['y'].reshape(ort.shape) - ort) > 1e-6 * abs(ort).max()).sum()
        what = '%s, version %d, %s: %d elements, %d differ' % (scheme, version, name, ort.size, off)
        tap.ok(off == 0, what, said if got is None else '')
tap.finish()
