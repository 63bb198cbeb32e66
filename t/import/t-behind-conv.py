#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Operators with an axis that read what a convolution made, which is held with channels last: along every axis, of
# images and of volumes, onnxruntime's values at float32.
import os, sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/import'))
import tap
from ort_tools import *

os.chdir(tap.home())
rng = numpy.random.default_rng(21)
I = numpy.int64
NORM = {'epsilon': 1e-3}


def cases(rank):
    """Name: nodes that make y of c (channels 6; 4 along the other axes), and their initialisers."""
    one = lambda op, names='', **at: [N(op, ['c'] + names.split(), ['y'], **at)]
    fused = dict(domain='com.microsoft', alpha=0.5, transB=1)
    yield 'FusedMatMul', [N('FusedMatMul', ['c', 'c'], ['y'], **fused)], {}
    yield 'Flatten and Gemm', [N('Flatten', ['c'], ['f']), N('Gemm', ['f', 'f'], ['y'], alpha=0.5, transB=1)], {}
    for k in range(-1, rank):
        at = {'axis': k}
        for op in ('Softmax', 'LogSoftmax', 'Hardmax', 'LpNormalization'):
            yield '%s %d' % (op, k), one(op, **at), {}
        yield 'Softmax of a sum %d' % k, [N('Add', ['c', 'c'], ['s']), N('Softmax', ['s'], ['y'], **at)], {}
        for op in ('ArgMax', 'ArgMin'):
            yield '%s %d' % (op, k), one(op, keepdims=k % 2, **at), {}
        for op in ('ReduceMean', 'ReduceL2', 'ReduceMax', 'ReduceLogSumExp'):
            yield '%s %d' % (op, k), one(op, axes=[k], keepdims=k % 2), {}
        yield 'ReduceSum %d' % k, one('ReduceSum', 'k', keepdims=0), {'k': numpy.array([k], I)}
        yield 'CumSum %d' % k, one('CumSum', 'k'), {'k': numpy.array(k, I)}
        yield 'Concat %d' % k, [N('Concat', ['c', 'c'], ['y'], **at)], {}
        yield 'Gather %d' % k, one('Gather', 'i', **at), {'i': numpy.array([1, 0, -1], I)}
        yield 'Split %d' % k, [N('Split', ['c', 's'], ['a', 'b'], axis=k), N('Concat', ['b', 'a'], ['y'], **at)], {
            's': numpy.array([1, 5 if k == 1 else 2 if k == 0 else 3], I)}
        yield 'TopK %d' % k, [N('TopK', ['c', 'n'], ['y', 'at'], **at)], {'n': numpy.array([2], I)}
        yield 'GatherElements %d' % k, one('GatherElements', 'i', **at), {
            'i': rng.integers(0, 3, [3, 6] + [4] * (rank - 2)).astype(I)}
        wide = [(3, 6, *[4] * (rank - 2))[i] for i in range(rank)][k:]
        yield 'LayerNormalization %d' % k, one('LayerNormalization', 'g', **at, **NORM), {
            'g': rng.standard_normal(wide).astype(f32)}


for rank in (4, 5):
    wrong, count = [], 0
    weight = rng.standard_normal([6, 3] + [2] * (rank - 2)).astype(f32)
    x = rng.standard_normal([3, 3] + [5] * (rank - 2)).astype(f32)
    before = [N('Squeeze', ['x', 'first'], ['z']), N('Conv', ['z', 'w'], ['c'])]
    for what, nodes, held in cases(rank):
        kind = TensorProto.INT64 if 'Arg' in what else TensorProto.FLOAT
        g = helper.make_graph(
            [*before, *nodes, N('Unsqueeze', ['y', 'first'], ['r'])],
            'g',
            [helper.make_tensor_value_info('x', TensorProto.FLOAT, (1, *x.shape))],
            [helper.make_tensor_value_info('r', kind, None)],
            [numpy_helper.from_array(v, k) for k, v in {'w': weight, 'first': numpy.array([0], I), **held}.items()],
        )
        domains = [helper.make_opsetid('', 17), helper.make_opsetid('com.microsoft', 1)]
        onnx.save(helper.make_model(g, opset_imports=domains, ir_version=10), 'float.onnx')
        count += 1
        want = run('float.onnx', [{'x': x[None]}])['r']
        got, said = predict('float32', {'x': x[None]}, 1, 'float.onnx', '--decision', 'none')
        if got is None:
            wrong.append('%s: %s' % (what, said.strip()[-160:]))
        elif not abs(got['r'].reshape(want.shape) - want).max() <= 1e-5 * abs(want).max():
            wrong.append('%s: %.3g off' % (what, abs(got['r'].reshape(want.shape) - want).max()))
    tap.none(wrong, '%d operators behind a convolution of %d axes' % (count, rank))
tap.finish()
