#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Values of attributes that ONNX does not define, or that runtimes disagree on, are refused by the attribute's name, and
# rarely used ones give what onnxruntime gives. Needs the packages onnx and onnxruntime. HALFULP names the program.
# t/import/x-schema-attributes.py tries values of every attribute of every operator.
import os, sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/import'))
import tap
from ort_tools import *

os.chdir(tap.home())
r = numpy.random.default_rng(43)
R = lambda *s: r.standard_normal(s).astype(f32)
FLOAT = TensorProto.FLOAT
IMAGE = R(2, 1, 5, 6)
GRID = (r.integers(-9, 10, (1, 4, 5, 2)) / f32(4)).astype(f32)  # many places between two pixels
GRU = {'W': R(1, 6, 6), 'R': R(1, 6, 2)}
# The node, its constants, a word of the refusal.
REFUSED = {
    'a truth value of 2': (N('ReduceMean', ['x'], ['y'], keepdims=2), {}, "'keepdims' is 2; 0 and 1"),
    'a layout of 3': (N('GRU', ['s', 'W', 'R'], ['y'], hidden_size=2, layout=3), GRU, "'layout' is 3; 0 and 1"),
    'fmod of -1': (N('Mod', ['x', 'k'], ['y'], fmod=-1), {'k': f32(2)}, "'fmod' is -1; 0 and 1"),
    'a word of another operator': (
        N('RoiAlign', ['x', 'r', 'i'], ['y'], mode='bicubic'),
        {'r': numpy.zeros((1, 4), f32), 'i': numpy.array([0])},
        "'mode' is 'bicubic'; possible are: avg max",
    ),
    'padding of two kinds': (
        N('ConvTranspose', ['x', 'w'], ['y'], auto_pad='SAME_UPPER', pads=[1, 2, 1, 2]),
        {'w': R(1, 2, 3, 3)},
        'both pads and auto_pad',
    ),
    'SAME with dilations': (
        N('AveragePool', ['x'], ['y'], kernel_shape=[2, 2], auto_pad='SAME_UPPER', dilations=[2, 2]),
        {},
        'SAME_UPPER beside dilations',
    ),
    'a region that is absent': (
        N('Resize', ['x', '', 'k'], ['y'], coordinate_transformation_mode='tf_crop_and_resize'),
        {'k': numpy.array([1, 1, 2, 2], f32)},
        'roi is absent',
    ),
    'whole numbers of codes': (
        N('DequantizeLinear', ['q', 'k'], ['y'], output_dtype=3),
        {'q': numpy.arange(6, dtype=numpy.int8), 'k': f32(0.5)},
        'output_dtype is INT8',
    ),
    'no elements, of a type that has no numbers': (
        N('ConstantOfShape', ['k'], ['y'], value=TensorProto(data_type=8, dims=[1], string_data=[b'a'])),
        {'k': numpy.array([0])},
        ': elements of type STRING are no numbers',
    ),
    'a division by alpha': (N('Celu', ['x'], ['y'], alpha=0.0), {}, 'alpha is 0'),
}
SAME = {
    'nearest pixels between mirrors': (
        N('GridSample', ['x', 'g'], ['y'], mode='nearest', padding_mode='reflection'),
        {'g': GRID},
    ),
    'nearest pixels of an old TensorFlow': (
        N('Resize', ['x', 'roi', 'k'], ['y'], coordinate_transformation_mode='tf_half_pixel_for_nn', mode='nearest'),
        {'roi': numpy.zeros(0, f32), 'k': numpy.array([1, 1, 2, 0.6], f32)},
    ),
    'places of an old TensorFlow, linear': (
        N('Resize', ['x', 'roi', 'k'], ['y'], coordinate_transformation_mode='tf_half_pixel_for_nn', mode='linear'),
        {'roi': numpy.zeros(0, f32), 'k': numpy.array([1, 1, 1.5, 2], f32)},
    ),
}


def write(node, held, opset):
    inputs = {'s': (FLOAT, [3, 2, 6])} if 's' in node.input else {'x': (FLOAT, ['n', 1, 5, 6])}
    data = {k: (R(3, 2, 6) if k == 's' else IMAGE) for k in inputs}
    model([node], inputs, ['y'], held, opset)
    numpy.savez('data.npz', **data)
    return data


for name, (node, held, why) in REFUSED.items():
    write(node, held, 24 if 'output_dtype' in why else 19)
    p = tap.halfulp(*'validate float.onnx --data data.npz --policy float32'.split())
    tap.ok(p.returncode in (3, 4) and why in p.stderr, '%s: %s' % (name, why), [p.returncode, p.stderr])
for name, (node, held) in SAME.items():
    data = write(node, held, 16 if node.op_type == 'GridSample' else 11)
    got, said = predict('float32', data, 1)
    y = run('float.onnx', batches(data, 1))['y']
    tap.ok(got is not None and abs(got['y'].reshape(y.shape) - y).max() < 1e-6, name + ': as onnxruntime has it', said)
tap.finish()
