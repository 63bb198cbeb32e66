# SPDX-License-Identifier: Apache-2.0
# For tests of modelopt-int8: small networks of the shapes that nvidia-modelopt looks for, each with the operands that
# version 0.47 gives codes, NODE:OPERANDS, read from the file that it wrote. Weights are multiples of 2^-5.
from ort_tools import *

r = numpy.random.default_rng(47)
R = lambda *s: (numpy.rint(r.standard_normal(s) * 16) / 32).astype(f32)
FLOAT = TensorProto.FLOAT


def conv(x, y, w='W', b='b', name=None, **more):
    return N('Conv', [x, w, b], [y], name=name or y, kernel_shape=[3, 3], pads=[1] * 4, **more)


image = {'x': (FLOAT, ['n', 16, 8, 8])}
words = {'x': (FLOAT, ['n', 16, 32])}
held = {'W': R(16, 16, 3, 3) * f32(0.25), 'b': R(16), 'V': R(16, 16, 3, 3) * f32(0.25), 'd': R(16)}
scale = {'g': abs(R(32)) + f32(0.5), 'h': R(32)}

# Name: nodes, inputs, initialisers, and of each node that reads codes the operands that are.
NETS = {
    'a block with a residual, and a pool': (
        [
            conv('x', 'a'),
            N('Relu', ['a'], ['ra'], name='ra'),
            N('MaxPool', ['ra'], ['p'], name='p', kernel_shape=[2, 2], strides=[2, 2]),
            conv('p', 'c', 'V', 'd'),
            N('Relu', ['c'], ['rc'], name='rc'),
            conv('rc', 'e', 'W2', 'd'),
            N('Add', ['e', 'p'], ['s'], name='s'),
            N('Relu', ['s'], ['rs'], name='rs'),
            N('GlobalAveragePool', ['rs'], ['q'], name='q'),
            N('Flatten', ['q'], ['f'], name='f'),
            N('Gemm', ['f', 'G', 'gb'], ['y'], name='y', transB=1),
        ],
        image,
        held | {'W2': R(16, 16, 3, 3) * f32(0.25), 'G': R(24, 16), 'gb': R(24)},
        'a:01 p:0 c:01 e:01 s:1 q:0 y:01',
    ),
    'squeeze and excitation, and a hard swish': (
        [
            conv('x', 'a'),
            N('HardSwish', ['a'], ['k'], name='k'),
            N('GlobalAveragePool', ['k'], ['q'], name='q'),
            N('Conv', ['q', 'S', 'sb'], ['t'], name='t'),
            N('Sigmoid', ['t'], ['u'], name='u'),
            N('Mul', ['k', 'u'], ['m'], name='m'),
            conv('m', 'y', 'V', 'd'),
        ],
        image,
        held | {'S': R(16, 16, 1, 1), 'sb': R(16)},
        'a:01 k:0 q:0 t:01 m:01 y:01',
    ),
    'attention with a mask, and GELU': (
        [
            N('LayerNormalization', ['x', 'g', 'h'], ['n'], name='n'),
            N('MatMul', ['n', 'Q'], ['q'], name='q'),
            N('MatMul', ['n', 'K'], ['k'], name='k'),
            N('MatMul', ['n', 'P'], ['v'], name='v'),
            N('Transpose', ['k'], ['kt'], name='kt', perm=[0, 2, 1]),
            N('MatMul', ['q', 'kt'], ['a'], name='a'),
            N('Mul', ['a', 'c'], ['ac'], name='ac'),
            N('Add', ['ac', 'mask'], ['am'], name='am'),
            N('Softmax', ['am'], ['p'], name='p', axis=-1),
            N('MatMul', ['p', 'v'], ['o'], name='o'),
            N('MatMul', ['o', 'O'], ['oo'], name='oo'),
            N('Add', ['oo', 'h'], ['ob'], name='ob'),
            N('Add', ['x', 'ob'], ['s'], name='s'),
            N('MatMul', ['s', 'U'], ['u'], name='u'),
            N('Div', ['u', 'root'], ['ud'], name='ud'),
            N('Erf', ['ud'], ['ue'], name='ue'),
            N('Add', ['ue', 'one'], ['ua'], name='ua'),
            N('Mul', ['u', 'ua'], ['um'], name='um'),
            N('Mul', ['um', 'half'], ['uh'], name='uh'),
            N('MatMul', ['uh', 'D'], ['w'], name='w'),
            N('Add', ['s', 'w'], ['t'], name='t'),
            N('MatMul', ['t', 'L'], ['y'], name='y'),
        ],
        words,
        scale
        | {k: R(32, 32) for k in 'QKPO'}
        | {'U': R(32, 64), 'D': R(64, 32), 'L': R(32, 20), 'c': f32(0.25), 'mask': R(1, 16, 16)}
        | {'root': f32(1.5), 'one': f32(1), 'half': f32(0.5)},
        'n:0 q:01 k:01 v:01 a:01 o:01 oo:01 s:01 u:01 w:01 t:01 y:01',
    ),
    'attention with a mask that is a value': (
        [
            N('MatMul', ['x', 'Q'], ['q'], name='q'),
            N('MatMul', ['x', 'K'], ['k'], name='k'),
            N('Transpose', ['k'], ['kt'], name='kt', perm=[0, 2, 1]),
            N('MatMul', ['q', 'kt'], ['a'], name='a'),
            N('Add', ['a', 'z'], ['am'], name='am'),
            N('Softmax', ['am'], ['p'], name='p', axis=-1),
            N('MatMul', ['p', 'x'], ['y'], name='y'),
        ],
        words | {'z': (FLOAT, ['n', 16, 16])},
        {'Q': R(32, 32), 'K': R(32, 32)},
        'q:01 k:01 y:1',
    ),
    'small channels, a transposed convolution, a norm behind a convolution': (
        [
            N('Conv', ['x', 'N', 'nb'], ['a'], name='a', kernel_shape=[1, 1]),
            N('Relu', ['a'], ['ra'], name='ra'),
            N('Conv', ['ra', 'M', 'b'], ['c'], name='c', kernel_shape=[1, 1]),
            N('ConvTranspose', ['c', 'T', 'd'], ['t'], name='t', strides=[2, 2]),
            N('BatchNormalization', ['t', 's', 'b', 'mu', 'va'], ['bn'], name='bn'),
            N('LeakyRelu', ['bn'], ['l'], name='l'),
            N('AveragePool', ['l'], ['v'], name='v', kernel_shape=[2, 2], strides=[2, 2]),
            conv('v', 'e', 'W', 'b'),
            N('Transpose', ['e'], ['et'], name='et', perm=[0, 2, 3, 1]),
            N('LayerNormalization', ['et', 'ls', 'lb'], ['ln'], name='ln'),
            N('MatMul', ['ln', 'L'], ['y'], name='y'),
        ],
        image,
        held
        | {'N': R(12, 16, 1, 1), 'nb': R(12), 'M': R(16, 12, 1, 1), 'T': R(16, 16, 2, 2), 's': abs(R(16))}
        | {'mu': R(16), 'va': abs(R(16)) + f32(0.5), 'ls': R(16), 'lb': R(16), 'L': R(16, 18)},
        'a:01 c:01 t:01 v:0 e:01 ln:0 y:01',
    ),
    'a Concat of codes behind a Resize': (
        [
            conv('x', 'a'),
            N('Relu', ['a'], ['ra'], name='ra'),
            N('MaxPool', ['ra'], ['p'], name='p', kernel_shape=[2, 2], strides=[2, 2]),
            conv('p', 'c', 'V', 'd'),
            N('Relu', ['c'], ['rc'], name='rc'),
            N('Resize', ['rc', '', 'up'], ['z'], name='z', mode='nearest'),
            N('Concat', ['z', 'ra'], ['k'], name='k', axis=1),
            conv('k', 'e', 'B', 'b'),
            conv('ra', 'i', 'V', 'd'),
            N('Add', ['e', 'i'], ['s'], name='s'),
            N('Clip', ['s', 'low', 'high'], ['y'], name='y'),
        ],
        image,
        held | {'up': numpy.array([1, 1, 2, 2], f32), 'B': R(16, 32, 3, 3) * f32(0.25), 'low': f32(0), 'high': f32(6)},
        'a:01 p:0 i:01 c:01 z:0 k:1 e:01 s:1',
    ),
    'a constant of two readers, and outputs that are added': (
        [
            N('MatMul', ['x', 'Q'], ['q'], name='q'),
            N('Mul', ['x', 'Qs'], ['m'], name='m'),
            N('Add', ['m', 'Qs'], ['ma'], name='ma'),
            N('MatMul', ['ma', 'K'], ['k'], name='k'),
            N('Add', ['q', 'k'], ['s'], name='s'),
            N('Tanh', ['s'], ['t'], name='t'),
            N('MatMul', ['t', 'Q'], ['u'], name='u'),
            N('Sub', ['u', 'Qs'], ['us'], name='us'),
            N('Add', ['us', 'q'], ['y'], name='y'),
        ],
        words,
        {'Q': R(32, 32), 'Qs': R(32), 'K': R(32, 32)},
        'q:01 m:0 k:01 s:01 u:01 y:1',
    ),
}
