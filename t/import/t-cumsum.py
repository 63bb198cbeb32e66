#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ONNX's CumSum along every axis, from either end, with and without each element's own term: onnxruntime's bits at
# float32, since both add one term after another; whole numbers of 64 bits exactly; and with --reductions the sums by
# each order of the model that is named, computed again here in 16 bits.
import os, sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/import'))
import tap
from ort_tools import *

os.chdir(tap.home())
rng = numpy.random.default_rng(29)
WAYS = [(exclusive, reverse) for exclusive in (0, 1) for reverse in (0, 1)]
SHAPE = [3, 40, 5]


def save(axis, exclusive, reverse, kind=TensorProto.FLOAT):
    """x of SHAPE behind the inputs' axis; y are the sums along one of the others."""
    g = helper.make_graph(
        [N('CumSum', ['x', 'k'], ['y'], exclusive=exclusive, reverse=reverse)],
        'g',
        [helper.make_tensor_value_info('x', kind, ['n', *SHAPE])],
        [helper.make_tensor_value_info('y', kind, None)],
        [numpy_helper.from_array(numpy.array(axis, numpy.int32), 'k')],
    )
    onnx.save(helper.make_model(g, opset_imports=[helper.make_opsetid('', 17)], ir_version=10), 'float.onnx')


def scanned(x, axis, exclusive, reverse, scan):
    """The list SCAN(terms) of prefixes along the axis."""
    y = numpy.moveaxis(x, axis, -1)
    y = y[..., ::-1] if reverse else y
    sums = numpy.apply_along_axis(scan, -1, y)
    if exclusive:
        sums = numpy.concatenate([numpy.zeros_like(sums[..., :1]), sums[..., :-1]], -1)
    return numpy.moveaxis(sums[..., ::-1] if reverse else sums, -1, axis)


h = lambda v: numpy.float16(v)


def chain(terms):
    acc, y = numpy.float16(0), []
    for t in terms:
        acc = h(acc + h(t))
        y.append(float(acc))
    return numpy.array(y)


def blocks(terms, n=8):
    y = []
    for k in range(0, len(terms), n):
        y += [float(h(h(y[k - 1] if k else 0) + h(s))) for s in chain(terms[k : k + n])]
    return numpy.array(y)


def halves(terms):
    """Sklansky's scan: both halves, the first the largest power of two, and the first's sum added to the second's."""
    if len(terms) == 1:
        return numpy.array([float(h(terms[0]))])
    n = 1
    while 2 * n < len(terms):
        n *= 2
    a, b = halves(terms[:n]), halves(terms[n:])
    return numpy.concatenate([a, [float(h(h(a[-1]) + h(s))) for s in b]])


x = (rng.standard_normal([2, *SHAPE]) * 4).astype(f32)
small = x.astype(numpy.float16).astype(f32)
wrong, count = [], 0
for axis in (1, 2, -1, 3):
    for way in WAYS:
        save(axis, *way)
        want, (got, said) = run('float.onnx', [{'x': x}])['y'], predict('float32', {'x': x}, 1)
        count += want.size
        if got is None or (got['y'] != want).any():
            wrong.append('axis %d, exclusive and reverse %s: %s' % (axis, way, said if got is None else 'other bits'))
tap.none(wrong, '%d sums of float32 have the bits of onnxruntime' % count)

wrong = []
big = rng.integers(-(2**46), 2**46, [2, *SHAPE]) | 1  # 40 of them stay within 2^53, where doubles are exact
for way in WAYS:
    save(2, *way, TensorProto.INT64)
    want = scanned(big, 2, *way, numpy.cumsum)
    for words in [], ['--reductions', 'sequential,acc=fp16'], ['--accumulate', 'sequential,acc=fp16']:
        got, said = predict('compute=float32', {'x': big}, 1, 'float.onnx', '--decision', 'none', *words)
        if got is None or (got['y'] != want).any():
            wrong.append('%s %s: %s' % (way, words, said if got is None else 'not exact'))
tap.none(wrong, 'whole numbers of 46 bits have exact sums whatever model the other sums have')

ends = set()
for name, scan in ('sequential,acc=fp16', chain), ('chunk:8,acc=fp16', blocks), ('pairwise,acc=fp16', halves):
    wrong = []
    for axis, way in zip((1, 2, 3, 2), WAYS):
        save(axis, *way)
        want = scanned(small.astype(numpy.float64), axis, *way, scan)
        got, said = predict('compute=float32', {'x': small}, 1, 'float.onnx', '--reductions', name)
        if got is None or (got['y'] != want).any():
            wrong.append('axis %d, %s: %s' % (axis, way, said if got is None else abs(got['y'] - want).max()))
    ends.add(float(abs(got['y']).sum()) if got else 0)
    tap.none(wrong, '--reductions %s adds in the order that is written out here' % name)
tap.ok(len(ends) == 3, 'and no two of these orders end alike')
save(2, 0, 0)
plain, named = predict('compute=float32', {'x': x}, 1)[0], predict('compute=float32', {'x': x}, 1, 'float.onnx',
    '--accumulate', 'sequential,acc=fp16')[0]
tap.ok((plain['y'] == named['y']).all(), 'a model of products alone changes no sum of CumSum')
got, said = predict('compute=float32', {'x': x}, 1, 'float.onnx', '--reductions', 'tc:hopper,in=fp16')
tap.ok(got is None and 'adds terms' in said and 'sequential' in said, 'tensor cores add no terms', said)
tap.finish()
