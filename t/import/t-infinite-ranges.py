#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Values that are infinite on calibration inputs, as the logarithm of a distance of 0 is: quantize_static writes an
# infinite scale, whose codes stand for no number. ort-static predicts that, names the value, and with the node excluded
# is onnxruntime again. HALFULP names the program.
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
tap.finish()
