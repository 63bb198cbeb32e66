#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Norms and means of codes in a file that onnxruntime runs: LayerNormalization, BatchNormalization, GlobalAveragePool,
# ReduceMean, ReduceSum, ReduceL2 and ReduceSumSquare. Their float32 outputs have onnxruntime's bits under the option
# --runtime ort-cpu, of LayerNormalization where rows are multiples of four long, and nearly all of them elsewhere.
# Computed without the runtime some differ. HALFULP names the program.
import os, sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/import'))
import tap
from ort_tools import *

if 'avx2' not in flags or not onnxruntime.__version__.startswith('1.32.'):
    tap.skip_all('its bits are those of onnxruntime 1.32 on an x86 processor with AVX2')
os.chdir(tap.home())
r = numpy.random.default_rng(8)
R = lambda *s: r.standard_normal(s).astype(f32)
FLOAT = TensorProto.FLOAT
coded = [N('QuantizeLinear', ['x', 's', 'z'], ['q']), N('DequantizeLinear', ['q', 's', 'z'], ['d'])]
FOUR = {k: abs(R(6)) + f32(0.2) for k in 'gbmv'}
CASES = [
    ('BatchNormalization', {}, 'dgbmv', (6, 5, 7), FOUR),
    ('GlobalAveragePool', {}, 'd', (6, 14, 14), {}),
    ('GlobalAveragePool', {}, 'd', (6, 7, 7), {}),
    ('ReduceMean', {'axes': [-1]}, 'd', (6, 196), {}),
    ('ReduceMean', {'axes': [-1]}, 'd', (6, 384), {}),
    # Rows of other lengths begin elsewhere in a register; columns are added by fours.
    ('ReduceMean', {'axes': [2, 3]}, 'd', (6, 7, 7), {}),
    ('ReduceMean', {'axes': [2, 3], 'keepdims': 0}, 'd', (16, 2, 3), {}),
    ('ReduceMean', {'axes': [-1]}, 'd', (7, 3, 10), {}),
    ('ReduceMean', {'axes': [1]}, 'd', (13, 48), {}),
    ('ReduceSum', {}, 'da', (5, 3, 11), {'a': numpy.array([2, 3])}),
    ('ReduceSum', {}, 'da', (5, 51, 7), {'a': numpy.array([2])}),
    ('ReduceL2', {'axes': [-1]}, 'd', (6, 196), {}),
    ('ReduceSumSquare', {'axes': [-1]}, 'd', (6, 61), {}),
]
for op, words, names, shape, more in CASES:
    held = {'s': f32(0.037), 'z': numpy.int8(3)} | more
    model(coded + [N(op, list(names), ['y'], name='node', **words)], {'x': (FLOAT, ['n', *shape])}, ['y'], held)
    data = {'x': R(24, *shape)}
    ort = run('float.onnx', batches(data, 8))['y']
    got, said = predict('float32', data, 8, 'float.onnx', '--runtime', 'ort-cpu:disable_all')
    off = (got['y'].reshape(ort.shape) != ort).mean() if got else said
    tap.ok(got and off == 0, '%s of %s: every element has the bits' % (op, shape), off)
    with numpy.load('out/float32.npz') as z:
        plain = (z['y'].reshape(ort.shape) != ort).mean()
    tap.ok(plain > 0.1, 'computed as elsewhere %.3f of them differ' % plain)
for n, bias, most in ((8, 1, 0), (64, 1, 0), (384, 1, 0), (1024, 1, 0), (96, 0, 0), (100, 1, 0), (63, 1, 0.02)):
    names = ['d', 'g', 'b'][: 2 + bias]
    nodes = coded + [N('LayerNormalization', names, ['y'], name='norm', axis=-1, epsilon=1e-5)]
    held = {'s': f32(0.037), 'z': numpy.int8(3), 'g': R(n), 'b': R(n)}
    held = {k: v for k, v in held.items() if bias or k != 'b'}
    model(nodes, {'x': (FLOAT, ['n', 16, n])}, ['y'], held)
    data = {'x': R(24, 16, n) + f32(0.7)}
    ort = run('float.onnx', batches(data, 8))['y']
    got, said = predict('float32', data, 8, 'float.onnx', '--runtime', 'ort-cpu:disable_all')
    if got is None:
        tap.ok(False, 'rows of %d run' % n, said)
        continue
    off = (got['y'].reshape(ort.shape) != ort).mean()
    tap.ok(off <= most, 'rows of %d%s: %.4f of the elements differ' % (n, '' if bias else ' without a bias', off))
    with numpy.load('out/float32.npz') as z:
        plain = (z['y'].reshape(ort.shape) != ort).mean()
    tap.ok(plain > 0.02 or n == 8, 'computed as elsewhere %.3f of them do' % plain)
tap.finish()
