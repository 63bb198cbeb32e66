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
from static_nets import FLOAT, INT64, NETS, R, r

os.chdir(tap.home())
BATCH, INPUTS = 4, 12
LEVELS = 'ORT_DISABLE_ALL', 'ORT_ENABLE_ALL'

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
# The tool's copies of a bias are named by a number behind it, whoever has that name.
model(
    [
        N('Conv', ['x', 'W', 'b'], ['c'], name='conv', pads=[1] * 4),
        N('Conv', ['x', 'W', 'b'], ['b6'], name='other', pads=[1] * 4),
        N('Neg', ['b6'], ['d'], name='neg'),
        N('Add', ['c', 'd'], ['e'], name='add'),
        N('Mul', ['e', 'b5'], ['y'], name='mul'),
    ],
    {'x': (FLOAT, ['n', 4, 8, 8])},
    ['y'],
    {'W': R(6, 4, 3, 3), 'b': R(6), 'b5': f32(0.5)},
)
data = {'x': R(4, 4, 8, 8)}
quiet(quantize_static, 'float.onnx', 'tool.onnx', Reader(batches(data, 4)))
try:
    loads = run('tool.onnx', batches(data, 4))
except Exception as e:
    loads = None
got, said = predict('ort-static', data, 4)
tap.ok(loads is None, 'onnxruntime refuses a file in which a copy of a bias has the name of a value')
tap.ok(got is None and "'b6', as a value of the model is named" in said, 'and so does ort-static', said)
model(*NETS['squeeze and excitation'][:4], 12)
got, said = predict('ort-static:per_channel', {'x': R(4, 4, 8, 8)}, BATCH)
tap.ok(got is None and 'version 13' in said, 'per_channel is refused of versions that have no axis', said)

# Models from before the first version with operators of codes are converted first, where that leaves nodes as they are.
old = [
    N('Conv', ['x', 'W', 'b'], ['c'], name='c', pads=[1] * 4),
    N('Relu', ['c'], ['r'], name='r'),
    N('GlobalAveragePool', ['r'], ['g'], name='g'),
    N('Flatten', ['g'], ['f'], name='f'),
    N('Gemm', ['f', 'V', 'd'], ['y'], name='y', transB=1),
]
held = {'W': R(6, 4, 3, 3) * f32(0.25), 'b': R(6), 'V': R(5, 6), 'd': R(5)}
data = {'x': R(8, 4, 8, 8)}
for version in 7, 9:
    model(old, {'x': (FLOAT, ['n', 4, 8, 8])}, ['y'], held, version)
    float32 = run('float.onnx', [data])
    for scheme, write in (
        ('ort-static', lambda: quantize_static('float.onnx', 'tool.onnx', Reader([data]))),
        ('ort-dynamic', lambda: quantize_dynamic('float.onnx', 'tool.onnx')),
    ):
        quiet(write)
        got, said = predict(scheme, data, 8)
        hold('%s of version %d' % (scheme, version), got, run('tool.onnx', [data]) if got else said, float32, 2e-6)
clip = N('Clip', ['x'], ['c'], name='clip', min=-1.0, max=1.0)
model([clip], {'x': (FLOAT, ['n', 4, 8, 8])}, ['c'], {}, 9)
got, said = predict('ort-static', data, 8)
named = got is None and "'clip' (Clip)" in said and 'convert_version' in said
tap.ok(named, 'what another version changes is named', said)
tap.finish()
