#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Convolutions of drawn shapes in a file of codes that onnxruntime runs have its bits under --runtime ort-cpu, at no
# optimisation and at its default: of several pixels, with strides, dilations, padding and groups, of one filter for
# each channel, and of sequences. Computed without the runtime they have others. HALFULP names the program.
import os, sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/import'))
import tap
from ort_tools import *

if 'avx2' not in flags or not onnxruntime.__version__.startswith('1.32.'):
    tap.skip_all('its bits are those of onnxruntime 1.32 on an x86 processor with AVX2')
os.chdir(tap.home())
SEED = 36
r = numpy.random.default_rng(SEED)
R = lambda *s: r.standard_normal(s).astype(f32)
FLOAT = TensorProto.FLOAT


def coded(name, by):
    q, s = name + 'q', 's' + by
    return [N('QuantizeLinear', [name, s, 'z'], [q]), N('DequantizeLinear', [q, s, 'z'], [name + 'd'])]


def drawn(kind):
    """Attributes, the image's shape and the weights'."""
    pick = lambda *a: int(r.choice(a))
    axes = 1 if kind == 'a sequence' else 2
    k = [pick(3, 5, 7) if kind == 'depthwise' else pick(2, 3, 5) for _ in range(axes)]
    pads = [pick(0, 1, 2) for _ in range(2 * axes)]
    size = [pick(7, 9, 14, 20) for _ in range(axes)]
    words = {'strides': [pick(1, 1, 2) for _ in range(axes)], 'pads': pads, 'kernel_shape': k}
    if kind != 'depthwise' and r.random() < 0.3:
        words['dilations'] = [2] * axes
        size = [n + 8 for n in size]
    group = pick(2, 4) if kind == 'groups' else pick(5, 16, 24) if kind == 'depthwise' else 1
    if group > 1:
        words['group'] = group
    each, filters = (1, group) if kind == 'depthwise' else (pick(2, 3, 16, 40), group * pick(2, 8, 24, 150))
    return words, [group * each, *size], [filters, each, *k]


def elements(y, ort):
    return (y.reshape(ort.shape) != ort).mean()


print('# seed', SEED)
for kind, n in (('dense', 6), ('groups', 4), ('depthwise', 6), ('a sequence', 4)):
    wrong, plain = [], 0
    for _ in range(n):
        words, shape, w = drawn(kind)
        bias = ['b'] if r.random() < 0.5 else []
        held = {'sx': f32(0.0371), 'sw': f32(0.0213), 'z': numpy.int8(0), 'w': R(*w), 'b': R(w[0])}
        node = N('Conv', ['xd', 'wd'] + bias, ['y'], **words)
        held = {k: v for k, v in held.items() if k != 'b' or bias}
        model(coded('x', 'x') + coded('w', 'w') + [node], {'x': (FLOAT, ['n', *shape])}, ['y'], held)
        data = {'x': R(4, *shape)}
        for level in 'DISABLE_ALL', 'ENABLE_ALL':
            ort = run('float.onnx', batches(data, 2), 'ORT_' + level)['y']
            runtime = 'ort-cpu:disable_all' if level == 'DISABLE_ALL' else 'ort-cpu'
            got, said = predict('float32', data, 2, 'float.onnx', '--runtime', runtime)
            off = elements(got['y'], ort) if got else said
            if not got or off:
                wrong.append('%s of %s by %s, %s: %s' % (words, shape, w, level, off))
        if os.path.exists('out/float32.npz'):
            with numpy.load('out/float32.npz') as z:
                plain += elements(z['y'], ort) > 0.05
    tap.none(wrong, '%s: every element of %d has onnxruntime\'s bits' % (kind, n))
    tap.ok(plain > n // 2, '%s: computed as elsewhere %d of %d files have others' % (kind, plain, n))
tap.finish()
