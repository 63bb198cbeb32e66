#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Operators on elements of which an operand is one number, which is read in place where there are many elements, and
# repeated where there are few: each has NumPy's float32 numbers at both sizes, with the number on either side, as a
# scalar or of several dimensions, behind a convolution too, whose results have their channels last; and so have
# QuantizeLinear and DequantizeLinear of every type of codes, infinities and NaN included. HALFULP names the program.
import os, sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/import'))
import tap
from ort_tools import *

os.chdir(tap.home())
r = numpy.random.default_rng(16)
numpy.seterr(all='ignore')
MANY, FEW = (2, 5, 40, 50), (2, 5, 4, 5)
NUMBER = f32(0.3)
CODES = {numpy.dtype(k).type: helper.np_dtype_to_tensor_dtype(numpy.dtype(k)) for k in ('u1', 'i1', 'u2', 'i2')}
OPERATORS = {
    'Add': numpy.add,
    'Sub': numpy.subtract,
    'Mul': numpy.multiply,
    'Div': numpy.divide,
    'Max': numpy.maximum,
    'Min': numpy.minimum,
    'Less': lambda a, b: (a < b).astype(f32),
    'Greater': lambda a, b: (a > b).astype(f32),
}


def values(shape):
    x = r.standard_normal(shape).astype(f32)
    x.reshape(-1)[:4] = numpy.nan, numpy.inf, -numpy.inf, -0.0
    return x


def same(got, want):
    return got is not None and numpy.array_equal(got.reshape(want.shape).view('u4'), want.view('u4'))


def canonical(x):
    return numpy.where(x == x, x, f32(numpy.nan)).astype(f32)


def check(what, nodes, held, x, want):
    model(nodes, {'x': (TensorProto.FLOAT, ['n', *x.shape[1:]])}, ['y'], held)
    got, said = predict('float32', {'x': x}, x.shape[0])
    got = got and got['y'].astype(f32)
    tap.ok(same(got, canonical(want)), what, said)


for shape in MANY, FEW:
    x = values(shape)
    for op, function in OPERATORS.items():
        for k, number in enumerate((NUMBER, numpy.full((1, 1, 1), NUMBER))):
            truth = [N('Cast', ['t'], ['y'], to=TensorProto.FLOAT)] if op in ('Less', 'Greater') else []
            for names, pair in (('x k', (x, NUMBER)), ('k x', (NUMBER, x))):
                node = N(op, names.split(), ['t' if truth else 'y'], name='node')
                what = '%s of %s, %s, of %d numbers' % (op, names, ('a scalar', 'of rank 3')[k], x.size)
                check(what, [node] + truth, {'k': number}, x, function(*pair))
    where = [
        N('Less', ['x', 'k'], ['m'], name='less'),
        N('Where', ['m', 'low', 'x'], ['a'], name='where'),
        N('Where', ['m', 'a', 'high'], ['y'], name='other'),
    ]
    mask = x < NUMBER
    held = {'k': NUMBER, 'low': f32(-1), 'high': f32(7)}
    check('Where of %d numbers' % x.size, where, held, x, numpy.where(mask, f32(-1), f32(7)))
    clip = [N('Clip', ['x', 'low', 'high'], ['y'], name='clip')]
    held = {'low': f32(-0.5), 'high': NUMBER}
    check('Clip of %d numbers' % x.size, clip, held, x, numpy.minimum(numpy.maximum(x, f32(-0.5)), NUMBER))
    for codes in numpy.uint8, numpy.int8, numpy.uint16, numpy.int16:
        low, high = numpy.iinfo(codes).min, numpy.iinfo(codes).max
        for zero in None, 0, high // 2 + 3:
            point = ['z'] * (zero is not None)
            typed = {} if point else {'output_dtype': CODES[codes]}
            nodes = [
                N('QuantizeLinear', ['x', 's'] + point, ['q'], name='q', **typed),
                N('DequantizeLinear', ['q', 's'] + point, ['y'], name='d'),
            ]
            held = {'s': f32(0.011)} | ({'z': codes(zero)} if point else {})
            q = numpy.rint(x / f32(0.011)) + f32(zero or 0)
            q = numpy.where(q > low, numpy.minimum(q, f32(high)), f32(low)).astype(f32)
            want = (q - f32(zero or 0)) * f32(0.011)
            what = 'QuantizeLinear of %d numbers to %s, zero point %s' % (x.size, codes.__name__, zero)
            check(what, nodes, held, x, want)
    image = numpy.where(numpy.isfinite(x), x, f32(0))
    nodes = [
        N('Conv', ['x', 'W'], ['c'], name='conv'),
        N('Mul', ['k', 'c'], ['m'], name='mul'),
        N('Sub', ['k', 'm'], ['y'], name='sub'),
    ]
    turn = numpy.eye(5, dtype=f32)[::-1].reshape(5, 5, 1, 1).copy()
    want = NUMBER - NUMBER * image[:, ::-1]
    check('behind a convolution, %d numbers' % x.size, nodes, {'W': turn, 'k': NUMBER}, image, want)
tap.finish()
