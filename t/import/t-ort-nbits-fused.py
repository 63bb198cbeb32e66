#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Products whose weights are codes behind a DequantizeLinear, while the other operand is none: onnxruntime makes
# MatMulNBits with accuracy level 4 of some, which rounds the other operand to codes too, and leaves the others as they
# are. --against of the file under --runtime ort-cpu:all has its outputs, up to the order of float32 sums, in both.
import itertools, os, sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/import'))
import tap
from ort_tools import *

os.chdir(tap.home())
r = numpy.random.default_rng(40)
TYPES = {
    'int4': (TensorProto.INT4, -8, 8),
    'uint4': (TensorProto.UINT4, 0, 16),
    'int8': (TensorProto.INT8, -128, 128),
    'uint8': (TensorProto.UINT8, 0, 256),
}


def written(kind, k, n, block=0, axis=None, zero=False, gemm=None, through=False, readers=1, half=False):
    """float.onnx and tool.onnx, which may be of float16: the product of x [rows, k] with weights [k, n] of these
    codes."""
    dtype, low, high = TYPES[kind]
    shape = [n, k] if through else [k, n]
    scaled = [] if axis is None else [shape[axis]]
    if block:
        scaled = list(shape)
        scaled[axis] = -(-shape[axis] // block)
    real, name = (numpy.float16, TensorProto.FLOAT16) if half else (f32, TensorProto.FLOAT)
    codes, scale = r.integers(low, high, shape), (r.random(scaled) * 0.1 + 0.01).astype(real).astype(f32)
    zeros = r.integers(max(low, -3), 4, scaled) if zero else numpy.zeros(scaled, int)

    def spread(a):
        if block:
            return numpy.repeat(a, block, axis)[: shape[0], : shape[1]]
        return a if axis is None else numpy.expand_dims(a, 1 - axis)

    weight = ((codes - spread(zeros)) * spread(scale)).astype(f32)
    weight = weight.T if through else weight
    bias = r.standard_normal(n).astype(real).astype(f32)
    held = [helper.make_tensor('C', dtype, shape, codes.ravel().tolist())]
    held.append(numpy_helper.from_array(scale.astype(real), 's'))
    if zero:
        held.append(helper.make_tensor('z', dtype, scaled, zeros.ravel().tolist()))
    words = {} if axis is None else {'axis': axis, **({'block_size': block} if block else {})}
    nodes = [N('DequantizeLinear', ['C', 's'] + ['z'] * zero, ['t' if through else 'W'], name='dq', **words)]
    if through:
        nodes.append(N('Transpose', ['t'], ['W'], name='t', perm=[1, 0]))
    products = [N('MatMul', ['x', 'W'], ['y'], name='m')]
    if gemm is not None:
        products = [N('Gemm', ['x', 'W', 'b'], ['y'], name='m', **gemm)]
    if readers > 1:
        products.append(N('MatMul', ['x', 'W'], ['u'], name='m2'))
    outputs = ['y', 'u'][:readers]
    model(products, {'x': (TensorProto.FLOAT, ['n', k])}, outputs, {'W': weight, 'b': bias})
    held.append(numpy_helper.from_array(bias.astype(real), 'b'))
    g = helper.make_graph(
        nodes + products,
        'g',
        [helper.make_tensor_value_info('x', name, ['n', k])],
        [helper.make_tensor_value_info(o, name, None) for o in outputs],
        held,
    )
    m = helper.make_model(g, opset_imports=[helper.make_opsetid('', 21)])
    m.ir_version = 10
    onnx.save(m, 'tool.onnx')


# By kind of codes: what is fused, and what is not.
FUSED = {
    'blocks of 32': dict(block=32, axis=0),
    'blocks of 16 with zero points': dict(block=16, axis=0, zero=True),
    'a short last block': dict(block=32, axis=0, k=100, zero=True),
    'one block of 128': dict(block=128, axis=0),
    'a scale for each column': dict(axis=1),
    'a scale and a zero point for each column, a short block': dict(axis=1, zero=True, k=100),
    'one scale': dict(),
    'Gemm with a bias': dict(block=32, axis=0, gemm={}),
}
WHOLE = {
    'blocks of 8': dict(block=8, axis=0),
    'blocks of 24': dict(block=24, axis=0),
    'blocks along a row': dict(block=32, axis=1, n=64),
    'a scale for each row': dict(axis=0),
    'Gemm with a factor': dict(block=32, axis=0, gemm={'alpha': 0.5}),
    'two readers': dict(block=32, axis=0, readers=2),
    'blocks through a Transpose': dict(block=32, axis=1, through=True),
}
for kind, half in itertools.product(TYPES, (False, True)):
    for cases, fused in ((FUSED, True), (WHOLE, False)):
        cases = dict(cases)
        if fused == kind.endswith('8'):
            cases['a scale for each column through a Transpose'] = dict(axis=0, through=True)
        for name, how in cases.items():
            written(kind, half=half, **{'k': 96, 'n': 24, **how})
            x = r.standard_normal((12, how.get('k', 96))) * 2.0 ** r.integers(-4, 4, (12, 1))
            x = x.astype(numpy.float16 if half else f32)
            feeds, data = batches({'x': x}, 4), {'x': x.astype(f32)}
            typed, ort = run('tool.onnx', feeds), run('tool.onnx', feeds, 'ORT_ENABLE_ALL')
            got, said = predict('float32', data, 4, 'float.onnx', '--against', 'tool.onnx', '--runtime', 'ort-cpu:all')
            what = '%s, %s, %s%s' % (kind, name, 'fused' if fused else 'as it is typed', ', in float16' if half else '')
            if got is None:
                tap.ok(False, what, said)
                continue
            # Sums of float32 in another order may round to another float16.
            close = 2**-11 if half else 1e-6
            got = {k: got[k].reshape(v.shape) for k, v in ort.items()}
            far, apart = (max(rel(o[k], v) for k, v in ort.items()) for o in (got, typed))
            same = min((got[k] == v).mean() for k, v in ort.items()) if half else 1
            right = far < close and same > 0.99 and (apart > 1e-4) == fused
            tap.ok(right, what, 'off %.1e, %.4f the same, fused off %.1e' % (far, same, apart))
tap.finish()
