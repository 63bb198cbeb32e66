#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The scheme ort-static:qoperator against quantize_static itself in its format QOperator: onnxruntime runs the tool's
# file with all optimisations and with none, and the prediction has its codes. What the tool's file does wrong, and what
# onnxruntime refuses, is named. HALFULP names the program.
import os, sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/import'))
import tap
from ort_tools import *
from static_nets import FLOAT, INT64, NETS, R, conv, held, image, r, row

os.chdir(tap.home())
BATCH, INPUTS = 4, 12
OPERATOR = {'quant_format': QuantFormat.QOperator}
OPTIONS = [
    (':activation_type=uint8', {'activation_type': QuantType.QUInt8}),
    ('', {}),
    (':per_channel:activation_type=uint8', {'per_channel': True, 'activation_type': QuantType.QUInt8}),
    (
        ':weight_type=uint8:activation_type=uint8',
        {'weight_type': QuantType.QUInt8, 'activation_type': QuantType.QUInt8},
    ),
    (':symmetric_activations:reduce_range', {'reduce_range': True, 'extra_options': {'ActivationSymmetric': True}}),
    (':op_types=MatMul+Conv+Gemm', {'op_types_to_quantize': ['MatMul', 'Conv', 'Gemm']}),
    (':exclude=conv+q+g1', {'nodes_to_exclude': ['conv', 'q', 'g1']}),
]
NETS = NETS | {
    'a bias and a weight of two convolutions': (
        [
            conv(),
            N('Relu', ['c'], ['d'], name='r1'),
            N('Conv', ['x', 'W', 'b'], ['e'], name='c2', pads=[1] * 4),
            N('Conv', ['d', 'U', 'b'], ['f'], name='c3', pads=[1] * 4),
            N('Mul', ['e', 'f'], ['y'], name='mul'),
        ],
        image,
        ['y'],
        held | {'U': R(6, 6, 3, 3)},
        17,
    ),
    'a Clip whose input has another reader, and pooling': (
        [
            conv(),
            N('Clip', ['c', 'lo', 'hi'], ['k'], name='clip'),
            N('Sigmoid', ['c'], ['s'], name='sig'),
            N('MaxPool', ['k'], ['m'], name='mp', kernel_shape=[2, 2]),
            N('AveragePool', ['s'], ['a'], name='ap', kernel_shape=[2, 2]),
            N('Add', ['m', 'a'], ['y'], name='add'),
        ],
        image,
        ['y'],
        held | {'lo': f32(0), 'hi': f32(6)},
        17,
    ),
    'Where, an operand of which has codes alone': (
        [conv(), N('Greater', ['x4', 'z'], ['g'], name='gr'), N('Where', ['g', 'c', 'z'], ['y'], name='wh')],
        image | {'x4': (FLOAT, ['n', 6, 8, 8])},
        ['y'],
        held | {'z': f32(0)},
        17,
    ),
}

refused = 0
for name, (nodes, inputs, outputs, weights, opset) in NETS.items():
    model(nodes, inputs, outputs, weights, opset)
    shape = lambda d: [INPUTS] + d[1:]
    data = {k: r.integers(0, 30, shape(d)) if t == INT64 else R(*shape(d)) for k, (t, d) in inputs.items()}
    feeds = batches(data, BATCH)
    float32 = run('float.onnx', feeds)
    for words, options in OPTIONS:
        scheme = 'ort-static:qoperator' + words
        got, said = predict(scheme, data, BATCH)
        try:
            quiet(quantize_static, 'float.onnx', 'tool.onnx', Reader(feeds), **(OPERATOR | options))
            run('tool.onnx', feeds)
        except Exception as e:
            refused += 1
            tap.ok(got is None, '%s: %s: onnxruntime refuses the file' % (scheme, name), [said, str(e)[:200]])
            continue
        if 'weight_type=uint8' in words and 'beyond' in name:
            # onnxruntime's sums wrap around, which is not emulated, and the note says so.
            tap.ok(bool(got) and any('may wrap around' in n for n in said['notes']), '%s: %s' % (scheme, name), said)
            continue
        for level in 'ORT_DISABLE_ALL', 'ORT_ENABLE_ALL':
            if level == 'ORT_ENABLE_ALL' and 'op_types' in words and ('attention' in name or 'Cast' in name):
                continue  # onnxruntime fuses the DequantizeLinear and QuantizeLinear around Softmax
            what = '%s at %s: %s' % (scheme, level, name)
            hold(what, got, run('tool.onnx', feeds, level) if got else said, float32, 4e-7, 0.002)
tap.ok(refused, 'onnxruntime refuses files of the tool, and %d were tried' % refused)

# The tool's faults are named where a model meets them, and nothing is said of others.
FAULTS = {
    'Gemm with factors, and one bias of two': ("Gemm 'g2': onnxruntime adds the bias without its factor of 0.5.",),
    'a Relu whose input has another reader': ("Relu 'relu' vanishes, though others read its input",),
    'a bias and a weight of two convolutions': ("The bias 'b' of Conv 'c3' is another node's too",),
    'a bias beyond 32 bits, whose weight grows': ("The bias 'b' would leave 32 bits: the scale of its weight grows.",),
    'squeeze and excitation': (),
}
for name, sentences in FAULTS.items():
    model(*NETS[name])
    given = {k: R(*([INPUTS] + d[1:])) for k, (t, d) in NETS[name][1].items()}
    got, said = predict('ort-static:qoperator:activation_type=uint8', given, BATCH)
    notes = [n for n in said['notes'] if 'VNNI' not in n] if got else said  # which is of this processor
    said_all = bool(got) and all(any(s in n for n in notes) for s in sentences)
    tap.ok(said_all and bool(notes) == bool(sentences), name + ': its notes', notes)
tap.finish()
