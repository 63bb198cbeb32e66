#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The schemes ort-w8a8 and ort-w4a8 against MatMulNBitsQuantizer itself: small networks, drawn weights whose blocks may
# be short, constant, one-sided or on ties, the tool's options, batches of one row and more. Weights' codes are the
# tool's exactly; sums are of whole numbers within a block, and of float32 in an order of onnxruntime's own between
# blocks. HALFULP names the program.
import os, sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/import'))
import tap
from ort_tools import *

import types

try:
    import onnx_ir
except ImportError:  # the tool reads and writes tensors by it, and by nothing else of it
    ir = sys.modules['onnx_ir'] = types.ModuleType('onnx_ir')
    ir.from_proto = lambda t: types.SimpleNamespace(numpy=lambda: numpy_helper.to_array(t))
    ir.Tensor = lambda a, name: numpy_helper.from_array(a, name)
    ir.serde = types.SimpleNamespace(serialize_tensor=lambda t: t)
try:
    from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer
except ImportError as e:
    tap.skip_all('no %s' % e.name)
os.chdir(tap.home())
r = numpy.random.default_rng(40)
R = lambda *s: r.standard_normal(s).astype(f32)
FLOAT = TensorProto.FLOAT
row = {'x': (FLOAT, ['n', 200])}
tokens = {'x': (FLOAT, ['n', 3, 128])}
odd = R(200, 33)
odd[:, 0], odd[:, 1], odd[:, 2] = 0, abs(odd[:, 1]), numpy.rint(odd[:, 2] * 8) / 8
NETS = {
    'two products, the rows of one in whole blocks': (
        [
            N('MatMul', ['x', 'A'], ['a'], name='m1'),
            N('Relu', ['a'], ['b'], name='r'),
            N('MatMul', ['b', 'B'], ['y'], name='m2'),
        ],
        tokens,
        {'A': R(128, 256) * f32(0.1), 'B': R(256, 40)},
    ),
    'a short last block, a column of zeros, one without a sign, one on ties': (
        [N('MatMul', ['x', 'A'], ['y'], name='m1')],
        row,
        {'A': odd},
    ),
    'one weight of two products, and a product of activations': (
        [
            N('MatMul', ['x', 'A'], ['a'], name='m1'),
            N('MatMul', ['a', 'A'], ['b'], name='m2'),
            N('Transpose', ['b'], ['t'], name='t', perm=[0, 2, 1]),
            N('MatMul', ['b', 't'], ['y'], name='bt'),
        ],
        tokens,
        {'A': R(128, 128) * f32(0.1)},
    ),
    'a weight of three axes, whose product gets three': (
        [N('MatMul', ['x', 'A'], ['a'], name='m1'), N('Relu', ['a'], ['y'], name='r')],
        row,
        {'A': odd[None]},
    ),
    'a weight with batches, a Gemm and a weight of one axis, which stay': (
        [
            N('MatMul', ['x', 'A'], ['a'], name='m1'),
            N('MatMul', ['a', 'v'], ['b'], name='m2'),
            N('Flatten', ['b'], ['c'], name='f'),
            N('Gemm', ['c', 'B'], ['y'], name='g'),
        ],
        {'x': (FLOAT, ['n', 2, 3, 128])},
        {'A': R(2, 128, 16), 'v': R(16), 'B': R(6, 8)},
    ),
}
OPTIONS = [
    ('', {}),
    (':block_size=32', {'block_size': 32}),
    (':block_size=16:is_symmetric', {'block_size': 16, 'is_symmetric': True}),
    (':is_symmetric', {'is_symmetric': True}),
    (':block_size=256:accuracy_level=0', {'block_size': 256, 'accuracy_level': 0}),
    (':exclude=m1', {'nodes_to_exclude': ['m1']}),
]
for name, (nodes, inputs, held) in NETS.items():
    model(nodes, inputs, ['y'], held)
    for batch in 1, 4:
        x = R(8, *inputs['x'][1][1:])
        data = {'x': x * numpy.geomspace(0.1, 10, x.shape[-1]).astype(f32)}
        feeds = batches(data, batch)
        float32 = run('float.onnx', feeds)
        for tool, bits in ('ort-w8a8', 8), ('ort-w4a8', 4):
            for words, options in OPTIONS:
                q = MatMulNBitsQuantizer('float.onnx', **({'bits': bits, 'accuracy_level': 4} | options))
                quiet(q.process)
                onnx.save(q.model.model, 'tool.onnx')
                got, said = predict(tool + words, data, batch)
                for level in 'ORT_DISABLE_ALL', 'ORT_ENABLE_ALL':
                    what = '%s%s at %s, batches of %d: %s' % (tool, words, level, batch, name)
                    # Behind the first product activations are codes again: one on a tie moves a row, and where rows
                    # are multiplied by each other, a row and a column.
                    moved = 0 if len(nodes) < 3 else 0.1 if 'activations' in name else 0.05
                    hold(what, got, run('tool.onnx', feeds, level) if got else said, float32, 1e-6, moved)
    q = MatMulNBitsQuantizer('float.onnx', block_size=32, accuracy_level=4)
    quiet(q.process)
    onnx.save(q.model.model, 'tool.onnx')
    if any(n.op_type == 'MatMulNBits' for n in q.model.model.graph.node):
        got, said = predict('float32', data, 4, 'float.onnx', '--against', 'tool.onnx', '--runtime', 'ort-cpu:all')
        ort = run('tool.onnx', feeds, 'ORT_ENABLE_ALL')
        hold("the tool's file by --against: " + name, got, ort if got else said, float32, 1e-6, moved)
for scheme, says in (
    ('ort-w4a8:block_size=33', 'a block has 16, 32'),
    ('ort-w4a8:block_size', "'block_size' is no word"),
    ('ort-w4a8:accuracy_level=5', 'an accuracy level is'),
    ('ort-w8a8:per_channel', "'per_channel' is no word of ort-w8a8"),
):
    got, said = predict(scheme, data, 3)
    tap.ok(got is None and says in said and said.count('\n') == 1, '%s is refused in one line' % scheme, said)
tap.finish()
