#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Elementary functions and Softmax of codes in a file that onnxruntime runs have its bits under --runtime ort-cpu:
# Exp, Erf, Tanh and Sigmoid of many numbers, and Softmax of rows of drawn lengths. Computed without the runtime many
# differ. HALFULP names the program.
import os, sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/import'))
import tap
from ort_tools import *

if 'avx2' not in flags or not onnxruntime.__version__.startswith('1.32.'):
    tap.skip_all('its bits are those of onnxruntime 1.32 on an x86 processor with AVX2')
os.chdir(tap.home())
SEED = 37
r = numpy.random.default_rng(SEED)
R = lambda *s: r.standard_normal(s).astype(f32)
FLOAT = TensorProto.FLOAT
coded = [N('QuantizeLinear', ['x', 's', 'z'], ['q']), N('DequantizeLinear', ['q', 's', 'z'], ['d'])]
held = {'s': f32(0.0371), 'z': numpy.int8(3)}


def compared(nodes, shape, data, runtime):
    """Which elements differ from onnxruntime's, as it runs the file and as computed elsewhere; what is said if not."""
    model(nodes, {'x': (FLOAT, ['n', *shape])}, ['y'], held)
    ort = run('float.onnx', batches(data, 8))['y']
    got, said = predict('float32', data, 8, 'float.onnx', '--runtime', runtime)
    if got is None:
        return said, 0
    with numpy.load('out/float32.npz') as z:
        return (got['y'].reshape(ort.shape) != ort).mean(), (z['y'].reshape(ort.shape) != ort).mean()


print('# seed', SEED)
# A factor of its own for each element, so that a code stands for many numbers.
spread = coded + [N('Mul', ['d', 'x'], ['m'])]
for op, scale in (('Exp', 3), ('Erf', 0.7), ('Tanh', 1), ('Sigmoid', 2)):
    data = {'x': R(24, 7, 61) * f32(scale)}
    off, plain = compared(spread + [N(op, ['m'], ['y'])], (7, 61), data, 'ort-cpu:disable_all')
    tap.ok(off == 0, '%s: every element has onnxruntime\'s bits' % op, off)
    tap.ok(plain > 0.02, '%s: computed as elsewhere %.3f differ' % (op, plain))
wrong, others = [], []
for n in (2, 7, 8, 16, 17, 31, 48, 50, *(int(k) for k in r.integers(51, 400, 5))):
    data = {'x': R(16, 5, n) * f32(r.choice((1, 3)))}
    off, plain = compared(spread + [N('Softmax', ['m'], ['y'])], (5, n), data, 'ort-cpu:disable_all')
    if off != 0:
        wrong.append('rows of %d: %s' % (n, off))
    others.append(plain)
tap.none(wrong, 'Softmax: every element has onnxruntime\'s bits')
tap.ok(max(others) > 0.02, 'Softmax: computed as elsewhere up to %.3f differ' % max(others))
tap.finish()
