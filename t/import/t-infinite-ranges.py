#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Values that are infinite on calibration inputs, as the logarithm of a distance of 0 is: quantize_static writes an
# infinite scale, whose codes stand for no number. ort-static predicts that, names the value, and with the node excluded
# is onnxruntime again. Behind a mask of infinities a Softmax is NaN then, whose code is the least one in onnxruntime,
# so that the outputs are finite again, and wrong. HALFULP names the program.
import os, sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/import'))
import tap
from ort_tools import *

os.chdir(tap.home())
r = numpy.random.default_rng(29)
FLOAT = TensorProto.FLOAT
ROWS = 8
x = (1 + abs(r.standard_normal((ROWS, 4)))).astype(f32)
nought = x.copy()
nought[3, 1] = 0
table = r.standard_normal((6, 4)).astype(f32)
log = [N('Log', ['x'], ['l'], name='log')]
inverse = [N('Reciprocal', ['x'], ['l'], name='inverse')]
product = [N('Mul', ['l', 'c'], ['y'], name='mul')]
# A bucket of distances, as relative positions have it; a row of a table by its number.
bucket = [
    N('Log', ['d'], ['l'], name='log'),
    N('Mul', ['l', 'c'], ['m'], name='mul'),
    N('Cast', ['m'], ['i'], name='cast', to=TensorProto.INT64),
    N('Where', ['near', 'e', 'i'], ['w'], name='where'),
    N('Gather', ['T', 'w'], ['t'], name='gather'),
    N('ReduceMean', ['t'], ['a'], name='mean', axes=[0], keepdims=1),
    N('Add', ['x', 'a'], ['y'], name='add'),
]
positions = {'d': numpy.arange(4, dtype=f32), 'near': numpy.arange(4) < 2, 'e': numpy.arange(4), 'T': table}
CASES = {
    'an infinity below': (log + product, {}, nought, 'l', 'mul'),
    'an infinity above': (inverse + product, {}, nought, 'l', 'mul'),
    'none': (log + product, {}, x, None, None),
    'a constant one, which is an index then': (bucket, positions, x, 'l', 'mul'),
}
for name, (nodes, held, rows, value, node) in CASES.items():
    model(nodes, {'x': (FLOAT, ['n', 4])}, ['y'], held | {'c': f32(0.5)})
    feeds = [{'x': rows}]
    float32 = run('float.onnx', feeds)
    for exclude in [0, 1] if node else [0]:
        what = name + ', excluded' * exclude
        quiet(quantize_static, 'float.onnx', 'tool.onnx', Reader(feeds), nodes_to_exclude=[node] * exclude)
        got, said = ask('ort-static' + (':exclude=' + node if exclude else ''), {'x': rows}, ROWS)
        try:
            ort = run('tool.onnx', feeds)
        except Exception as e:
            refuses = got is None and "node 'gather' (Gather)" in said and said.count('\n') == 1
            tap.ok(refuses, what + ': onnxruntime refuses the index, and so does validate, in one line', [said, str(e)])
            continue
        if not tap.ok(got is not None, what + ': it runs', said):
            continue
        notes = [n for n in said['notes'] if 'infinite on calibration inputs' in n]
        finite = numpy.isfinite(ort['y'])
        tap.ok((numpy.isfinite(got['y']) == finite).all(), what + ': as many are finite as in onnxruntime', got)
        if value and not exclude:
            tap.ok(not finite.any() and "Value '%s'" % value in ''.join(notes), what + ': a note names the value', said)
        else:
            tap.ok(not notes, what + ': no note speaks of it', notes)
            same = abs(got['y'] - ort['y'])[finite].max() <= 2e-7 * abs(ort['y'][finite]).max()
            tap.ok(same, what + ': the outputs are those of onnxruntime', [got, ort])
masked = [
    N('Where', ['m', 'i', 'x'], ['w']),
    N('Softmax', ['w'], ['p'], axis=-1),
    N('MatMul', ['p', 'W'], ['y']),
]
held = {'i': f32(-numpy.inf), 'W': r.standard_normal((4, 3)).astype(f32)}
data = {'x': x, 'm': numpy.tril(numpy.ones((ROWS, 4), bool), -1)}
model(masked, {'x': (FLOAT, ['n', 4]), 'm': (TensorProto.BOOL, ['n', 4])}, ['y'], held)
feeds = [data]
float32 = run('float.onnx', feeds)
for kind, type in ('int8', QuantType.QInt8), ('uint8', QuantType.QUInt8):
    quiet(quantize_static, 'float.onnx', 'tool.onnx', Reader(feeds), activation_type=type)
    for level, runtime in ('ORT_DISABLE_ALL', ''), ('ORT_ENABLE_ALL', ':ort-cpu'):
        ort, what = run('tool.onnx', feeds, level), 'a mask, %s, %s' % (kind, level)
        got, said = predict('ort-static%s:activation_type=%s' % (runtime, kind), data, ROWS)
        hold(what, got, ort if got else said, float32)
        way = 'ort-cpu:' + level[4:].lower().removeprefix('enable_')
        got, said = predict('float32', data, ROWS, 'float.onnx', '--against', 'tool.onnx', '--runtime', way)
        hold(what + ', the file', got, ort if got else said, float32)
tap.finish()
