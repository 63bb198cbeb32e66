#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Products in a file that onnxruntime runs have its bits under --runtime ort-cpu, on one thread: MatMul, Gemm and Conv
# of one pixel, whose terms it adds in chunks, by weights that it packs and by others. Computed without the runtime
# those of more terms than a chunk has differ. HALFULP names the program.
import os, sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/import'))
import tap
from ort_tools import *

if 'avx2' not in flags or not onnxruntime.__version__.startswith('1.32.'):
    tap.skip_all('its bits are those of onnxruntime 1.32 on an x86 processor with AVX2')
os.chdir(tap.home())
r = numpy.random.default_rng(13)
R = lambda *s: r.standard_normal(s).astype(f32)
FLOAT = TensorProto.FLOAT


def coded(name, by):
    """Codes of a value, and what they stand for, as quantize_static's files have them."""
    q, s = name + 'q', 's' + by
    return [N('QuantizeLinear', [name, s, 'z'], [q]), N('DequantizeLinear', [q, s, 'z'], [name + 'd'])]


held = {'sx': f32(0.0371), 'sw': f32(0.0213), 'z': numpy.int8(0)}
x = coded('x', 'x') + coded('w', 'w')
CASES = {
    'MatMul': (x + [N('MatMul', ['xd', 'wd'], ['y'])], lambda k, n: (9, k), lambda k, n: (k, n)),
    'MatMul, packed': (x + [N('MatMul', ['xd', 'w'], ['y'])], lambda k, n: (9, k), lambda k, n: (k, n)),
    'MatMul, a batch': (x + [N('MatMul', ['xd', 'wd'], ['y'])], lambda k, n: (3, 5, k), lambda k, n: (3, k, n)),
    'Gemm': (x + [N('Gemm', ['xd', 'wd'], ['y'], transB=1)], lambda k, n: (k,), lambda k, n: (n, k)),
    'Conv': (x + [N('Conv', ['xd', 'wd'], ['y'])], lambda k, n: (k, n // 4, 4), lambda k, n: (24, k, 1, 1)),
}
for name, (nodes, shape, weights) in CASES.items():
    wrong, plain = [], 0
    for k, n in ((96, 20), (200, 300), (300, 200), (300, 40), (700, 16), (700, 24), (1100, 64)):
        model(nodes, {'x': (FLOAT, ['n', *shape(k, n)])}, ['y'], held | {'w': R(*weights(k, n))})
        data = {'x': R(16, *shape(k, n))}
        ort = run('float.onnx', batches(data, 8))['y']
        got, said = predict('float32', data, 8, 'float.onnx', '--runtime', 'ort-cpu:disable_all')
        off = (got['y'].reshape(ort.shape) != ort).mean() if got else said
        if not got or off:
            wrong.append('%d terms, %d columns: %s' % (k, n, off))
        elif k > 512:
            with numpy.load('out/float32.npz') as z:
                plain += (z['y'].reshape(ort.shape) != ort).mean() > 0.05
    tap.none(wrong, name + ': every element has onnxruntime\'s bits')
    tap.ok(plain > 1, name + ': computed as elsewhere %d of 3 files have others' % plain)
tap.finish()
