#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The scheme ort-static against quantize_static itself: small networks of all operators that the tool treats in a way of
# its own, drawn weights, the tool's options. onnxruntime runs the tool's file node by node (ORT_DISABLE_ALL), and the
# prediction has its numbers: codes are the same, and float operators between codes differ by float32's last digits.
# Inputs and weights are multiples of 2^-6 and 2^-5, so that float32's sums are exact in any order and calibration finds
# the same ends; elsewhere the last digit of an end decides ties, such as the mean of four codes is in one of four.
# HALFULP names the program.
import os, sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/import'))
import tap
from ort_tools import *

os.chdir(tap.home())
r = numpy.random.default_rng(36)
R = lambda *s: (numpy.rint(r.standard_normal(s) * 32) / 32).astype(f32)
FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64
BATCH, INPUTS = 4, 12
LEVELS = 'ORT_DISABLE_ALL', 'ORT_ENABLE_ALL'


def conv(out='c'):
    return N('Conv', ['x', 'W', 'b'], [out], name='conv', pads=[1] * 4)


image = {'x': (FLOAT, ['n', 4, 8, 8])}
row = {'x': (FLOAT, ['n', 16])}
held = {'W': R(6, 4, 3, 3) * f32(0.25), 'b': R(6)}
limits = {'lo': f32(0), 'hi': f32(6)}
norm = {'s1': abs(R(6)), 'b1': R(6), 'mu': R(6), 'va': abs(R(6)) + f32(0.5)}
word = {'E': R(30, 16), 'Wq': R(16, 16), 'g': R(16), 'be': R(16), 'Wo': R(16, 12), 'bo': R(12)}

# Name: nodes, inputs, outputs, initialisers, the version of operators.
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
}

# Words of the scheme, and the tool's options.
OPTIONS = [
    ('', {}),
    (':per_channel:activation_type=uint8', {'per_channel': True, 'activation_type': QuantType.QUInt8}),
    (':symmetric_activations:reduce_range', {'reduce_range': True, 'extra_options': {'ActivationSymmetric': True}}),
    (':moving_average', {'extra_options': {'CalibMovingAverage': True}}),
    (
        ':weight_type=uint8:activation_type=uint8',
        {'weight_type': QuantType.QUInt8, 'activation_type': QuantType.QUInt8},
    ),
    (':op_types=MatMul+Conv+Gemm', {'op_types_to_quantize': ['MatMul', 'Conv', 'Gemm']}),
    (':exclude=conv+q+g1', {'nodes_to_exclude': ['conv', 'q', 'g1']}),
    (':nodes=conv+q+g1+relu', {'nodes_to_quantize': ['conv', 'q', 'g1', 'relu']}),
]

for name, (nodes, inputs, outputs, weights, opset) in NETS.items():
    model(nodes, inputs, outputs, weights, opset)
    shape = lambda d: [INPUTS] + d[1:]
    data = {k: r.integers(0, 30, shape(d)) if t == INT64 else R(*shape(d)) for k, (t, d) in inputs.items()}
    feeds = batches(data, BATCH)
    float32 = run('float.onnx', feeds)
    for words, options in OPTIONS:
        if 'per_channel' in words and opset < 13:
            continue
        quiet(quantize_static, 'float.onnx', 'tool.onnx', Reader(feeds), **options)
        got, said = predict('ort-static' + words, data, BATCH)
        # A code at a tie of float operators' results may be the next one.
        hold('ort-static%s: %s' % (words, name), got, run('tool.onnx', feeds) if got else said, float32, 4e-7, 0.002)

# Faults of the tool are named, each where a model meets it.
FAULTS = {
    'Clip(1, 6), which vanishes': ("Clip 'clip' is removed, and its output reaches 0 below its limit of 1.",),
    'shared scales': ("Softmax 'sm': with its optimisations onnxruntime reads a certain class as 254/255.",),
    'Gemm with factors, and one bias of two': (
        "Gemm 'g2': with its optimisations onnxruntime adds the bias without its factor of 0.5.",
    ),
    'a bias beyond 32 bits, whose weight grows': ("The bias 'b' would leave 32 bits: the scale of its weight grows.",),
    'squeeze and excitation': (),
}
for name, sentences in FAULTS.items():
    model(*NETS[name])
    shape = lambda d: [INPUTS] + d[1:]
    given = {k: R(*shape(d)) for k, (t, d) in NETS[name][1].items()}
    notes = predict('ort-static', given, BATCH)[1]['notes']
    tap.ok(all(s in notes for s in sentences) and bool(notes) == bool(sentences), name + ': its notes', notes)
    if 'Gemm' in name:
        feeds = batches(given, BATCH)
        quiet(quantize_static, 'float.onnx', 'tool.onnx', Reader(feeds))
        plain, fast = (rel(run('tool.onnx', feeds, k)['y'], run('float.onnx', feeds)['y']) for k in LEVELS)
        tap.ok(fast > 2 * plain, 'and onnxruntime is wrong there: %.3g with optimisations, %.3g without' % (fast, plain))

# Node lists from a file, and what cannot be.
model(nodes, inputs, outputs, weights, opset)
with open('names.json', 'w') as f:
    json.dump(['mm'], f)
got, said = predict('ort-static:exclude=@names.json', data, BATCH)
feeds = batches(data, BATCH)
quiet(quantize_static, 'float.onnx', 'tool.onnx', Reader(feeds), nodes_to_exclude=['mm'])
hold('ort-static:exclude=@FILE', got, run('tool.onnx', feeds), float32, 4e-7, 0.002)
for scheme, says in (
    ('ort-static:per_chanel', "'per_chanel' is no word of ort-static"),
    ('ort-static:', 'ends in a colon'),
    ('ort-static:activation_type=int4', 'neither int8 nor uint8'),
    ('ort-static:percentile30', 'a percentile is above 50'),
    ('ort-static:percentile99:moving_average', 'a percentile replaces'),
    ('ort-dynamic:percentile', "'percentile' is no word of ort-dynamic"),
    ('ort-static:exclude=@nowhere.json', 'nowhere.json'),
):
    got, said = predict(scheme, data, BATCH)
    tap.ok(got is None and says in said and said.count('\n') == 1, '%s is refused in one line' % scheme, said)
model(*NETS['squeeze and excitation'][:4], 12)
got, said = predict('ort-static:per_channel', {'x': R(4, 4, 8, 8)}, BATCH)
tap.ok(got is None and 'version 13' in said, 'per_channel is refused of versions that have no axis', said)
tap.finish()
