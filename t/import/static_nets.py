# SPDX-License-Identifier: Apache-2.0
# For tests of quantize_static's schemes: small networks of all operators that the tool treats in a way of its own.
# Inputs and weights are multiples of 2^-6 and 2^-5, so that float32's sums are exact in any order.
from ort_tools import *

r = numpy.random.default_rng(36)
R = lambda *s: (numpy.rint(r.standard_normal(s) * 32) / 32).astype(f32)
FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


def conv(out='c'):
    return N('Conv', ['x', 'W', 'b'], [out], name='conv', pads=[1] * 4)


image = {'x': (FLOAT, ['n', 4, 8, 8])}
row = {'x': (FLOAT, ['n', 16])}
held = {'W': R(6, 4, 3, 3) * f32(0.25), 'b': R(6)}
limits = {'lo': f32(0), 'hi': f32(6)}
norm = {'s1': abs(R(6)), 'b1': R(6), 'mu': R(6), 'va': abs(R(6)) + f32(0.5)}
word = {'E': R(30, 16), 'Wq': R(16, 16), 'g': R(16), 'be': R(16), 'Wo': R(16, 12), 'bo': R(12)}

# Name: nodes, inputs, outputs, initialisers, the version of operators.
SHAPES = {
    'one': numpy.int64(1),
    'two': numpy.int64(2),
    'first': numpy.array([0]),
    'any': numpy.array([-1]),
    'w': numpy.array([2, 4]),
}
NETS = {
    'squeeze and excitation': (
        [
            conv(),
            N('Relu', ['c'], ['r'], name='relu'),
            N('GlobalAveragePool', ['r'], ['g'], name='gap'),
            N('Sigmoid', ['g'], ['s'], name='sig'),
            N('Mul', ['r', 's'], ['y'], name='mul'),
        ],
        image,
        ['y'],
        held,
        17,
    ),
    'shared scales': (
        [
            conv(),
            N('AveragePool', ['c'], ['a'], name='ap', kernel_shape=[2, 2]),
            N('Transpose', ['a'], ['t'], name='tr', perm=[0, 2, 3, 1]),
            N('Softmax', ['t'], ['p'], name='sm'),
            N('Concat', ['t', 'p'], ['y'], name='cat', axis=-1),
        ],
        image,
        ['y'],
        held,
        17,
    ),
    'a Relu whose input has another reader': (
        [conv(), N('Relu', ['c'], ['r'], name='relu'), N('Add', ['c', 'r'], ['y'], name='add')],
        image,
        ['y'],
        held,
        17,
    ),
    'Clip(1, 6), which vanishes': (
        [conv(), N('Clip', ['c', 'one', 'hi'], ['y'], name='clip')],
        image,
        ['y'],
        held | {'one': f32(1), 'hi': f32(6)},
        17,
    ),
    'two Relus in a row, and one of a graph output': (
        [
            conv(),
            N('Clip', ['c', 'lo', 'hi'], ['d'], name='clip'),
            N('Relu', ['d'], ['e'], name='r1'),
            N('Relu', ['e'], ['y'], name='r2'),
        ],
        image,
        ['y', 'e'],
        held | limits,
        17,
    ),
    'a bias beyond 32 bits, whose weight grows': (
        [conv()],
        image,
        ['c'],
        {'W': held['W'] * f32(2**-17), 'b': held['b'] * 64},
        17,
    ),
    'attention with a table, and LayerNormalization': (
        [
            N('Gather', ['E', 'ids'], ['e'], name='gather'),
            N('MatMul', ['e', 'Wq'], ['q'], name='q'),
            N('Transpose', ['e'], ['et'], name='t', perm=[0, 2, 1]),
            N('MatMul', ['q', 'et'], ['qk'], name='qk'),
            N('Softmax', ['qk'], ['p'], name='sm'),
            N('MatMul', ['p', 'e'], ['pv'], name='pv'),
            N('LayerNormalization', ['pv', 'g', 'be'], ['ln'], name='ln'),
            N('MatMul', ['ln', 'Wo'], ['z'], name='o'),
            N('Add', ['z', 'bo'], ['y'], name='ao'),
        ],
        {'ids': (INT64, ['n', 5])},
        ['y'],
        word,
        17,
    ),
    'a Shape of codes that goes where a Reshape gets a constant': (
        [
            N('MatMul', ['x', 'A'], ['m'], name='mm'),
            N('Softmax', ['m'], ['p'], name='sm'),
            N('Shape', ['m'], ['s'], name='sh'),
            N('Gather', ['s', 'one'], ['g'], name='ga'),
            N('Unsqueeze', ['g', 'first'], ['u'], name='us'),
            N('Concat', ['any', 'u', 'w'], ['t'], name='cs', axis=0),
            N('Reshape', ['p', 't'], ['r'], name='rs'),
            N('LeakyRelu', ['r'], ['y'], name='lr'),
        ],
        {'x': (FLOAT, ['n', 6, 16])},
        ['y'],
        SHAPES | {'A': R(16, 8)},
        17,
    ),
    'a Cast to float32 between two pairs of codes': (
        [
            N('MatMul', ['x', 'A'], ['m'], name='mm'),
            N('Softmax', ['m'], ['p'], name='sm'),
            N('Cast', ['p'], ['c'], name='ca', to=FLOAT),
            N('MatMul', ['c', 'B'], ['y'], name='m2'),
        ],
        row,
        ['y'],
        {'A': R(16, 32) / 16, 'B': R(32, 6)},
        17,
    ),
    'a Shape of codes that stays': (
        [
            N('MatMul', ['x', 'A'], ['m'], name='mm'),
            N('Softmax', ['m'], ['p'], name='sm'),
            N('Shape', ['m'], ['s'], name='sh'),
            N('Gather', ['s', 'one'], ['g'], name='ga'),
            N('Div', ['g', 'two'], ['h'], name='dv'),
            N('Unsqueeze', ['h', 'first'], ['u'], name='us'),
            N('Concat', ['any', 'u', 'w'], ['t'], name='cs', axis=0),
            N('Reshape', ['p', 't'], ['r'], name='rs'),
            N('LeakyRelu', ['r'], ['y'], name='lr'),
        ],
        {'x': (FLOAT, ['n', 6, 16])},
        ['y'],
        SHAPES | {'A': R(16, 8)},
        17,
    ),
    'a weight in a Constant node, and Div and Erf between codes': (
        [
            N('Constant', [], ['V'], value=numpy_helper.from_array(R(16, 8))),
            N('MatMul', ['x', 'V'], ['m'], name='mm'),
            N('Add', ['m', 'k'], ['a'], name='add'),
            N('Erf', ['a'], ['e'], name='erf'),
            N('Div', ['e', 'k'], ['y'], name='div'),
        ],
        row,
        ['y'],
        {'k': numpy.linspace(0.5, 3, 8).astype(f32)},
        17,
    ),
    'Gemm with factors, and one bias of two': (
        [
            N('Gemm', ['x', 'A', 'c1'], ['h'], name='g1', transB=1),
            N('Relu', ['h'], ['r'], name='re'),
            N('Gemm', ['r', 'B', 'c1'], ['k'], name='g2', beta=0.5),
            N('Gemm', ['k', 'C', 'c2'], ['y'], name='g3', alpha=0.25, transB=1),
        ],
        row,
        ['y'],
        {'A': R(24, 16), 'c1': R(24), 'B': R(24, 24), 'C': R(10, 24), 'c2': R(10)},
        17,
    ),
    'Pad, Slice, Split, Resize, MaxPool': (
        [
            N('Pad', ['x', 'p'], ['q'], name='pad'),
            N('Slice', ['q', 'st', 'en', 'ax'], ['s'], name='sl'),
            N('Split', ['s'], ['u', 'v'], name='sp', axis=1, num_outputs=2),
            N('LeakyRelu', ['u'], ['l'], name='lr'),
            N('Resize', ['v', '', 'sc'], ['z'], name='rs', mode='nearest'),
            N('MaxPool', ['z'], ['mp'], name='mp', kernel_shape=[2, 2], strides=[2, 2]),
            N('Concat', ['l', 'mp'], ['y'], name='c', axis=1),
        ],
        {'x': (FLOAT, ['n', 4, 6, 6])},
        ['y'],
        {
            'p': numpy.array([0, 0, 1, 1, 0, 0, 1, 1]),
            'st': numpy.array([0]),
            'en': numpy.array([8]),
            'ax': numpy.array([2]),
            'sc': numpy.array([1, 1, 2, 2], f32),
        },
        18,
    ),
    'BatchNormalization, Clip, Flatten, MatMul': (
        [
            conv(),
            N('BatchNormalization', ['c', 's1', 'b1', 'mu', 'va'], ['bn'], name='bn'),
            N('Clip', ['bn', 'lo', 'hi'], ['k'], name='clip'),
            N('Flatten', ['k'], ['f'], name='fl'),
            N('MatMul', ['f', 'V'], ['y'], name='mm'),
        ],
        image,
        ['y'],
        held | norm | limits | {'V': R(384, 10)},
        17,
    ),
    'a sum and a product of which the shape alone is read': (
        [
            conv(),
            N('Add', ['c', 'c'], ['a'], name='add'),
            N('Mul', ['a', 'c'], ['m'], name='mul'),
            N('Shape', ['m'], ['s'], name='shape'),
            N('Tanh', ['c'], ['t'], name='tanh'),
            N('Reshape', ['t', 's'], ['y'], name='reshape'),
        ],
        image,
        ['y'],
        held,
        17,
    ),
}
