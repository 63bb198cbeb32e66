#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Updates that are added, multiplied or compared where they are scattered to, in float16: onnxruntime's CPU has such
# kernels for few reductions, and fails in files with the others. The schemes that say what it does refuse these and
# predict the rest; the scheme that says what a GPU does runs all of them. HALFULP names the program.
import os, sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/import'))
import tap
from ort_tools import *

try:
    from onnxconverter_common import float16 as occ
except ImportError as e:
    tap.skip_all('no %s' % e.name)
os.chdir(tap.home())
r = numpy.random.default_rng(44)
FLOAT = TensorProto.FLOAT
x, up = (r.standard_normal((2, 3, 4)).astype(f32) for k in range(2))
PLACES = {'ScatterElements': r.integers(0, 3, (1, 3, 4)), 'ScatterND': numpy.array([[[0, 1], [0, 1], [0, 2]]])}
failed = set()
for op, at in PLACES.items():
    for how in 'none', 'add', 'mul', 'max', 'min':
        if op == 'ScatterND' and how == 'none':
            at = numpy.array([[[0, 0], [0, 1], [0, 2]]])  # where a place is written twice the order is not said
        options = {'axis': 1} if op == 'ScatterElements' else {}
        if op == 'ScatterElements' and how == 'none':
            at = numpy.tile(numpy.arange(3)[None, :, None], (1, 1, 4))
        node = N(op, ['x', 'at', 'up'], ['y'], name='scatter', reduction=how, **options)
        shape = [1, 3, 4]
        model([node], {'x': (FLOAT, shape), 'up': (FLOAT, shape)}, ['y'], {'at': at}, 18)
        data = {'x': x, 'up': up}
        onnx.save(quiet(occ.convert_float_to_float16, onnx.load('float.onnx')), 'half.onnx')
        feeds = [{k: v.astype(numpy.float16) for k, v in f.items()} for f in batches(data, 1)]
        try:
            y = run('half.onnx', feeds)['y']
        except Exception:
            y = None
            failed.add((op, how))
        got, said = predict('occ-fp16:ort-cpu-disable_all', data, 1)
        what = '%s, %s: ' % (op, how)
        if y is None:
            tap.ok(got is None and "node 'scatter'" in said, what + 'onnxruntime fails, and the scheme refuses', said)
        else:
            same = got is not None and numpy.array_equal(got['y'].reshape(y.shape), y)
            tap.ok(same, what + 'as onnxruntime has it', said)
        file = '--against', 'half.onnx', '--runtime', 'ort-cpu:disable_all'
        got, said = predict('float32', data, 1, 'float.onnx', *file)
        if y is None:
            refused = got is None and "'scatter'" in said and '--runtime strict' in said
            tap.ok(refused, what + 'the file is refused with --runtime ort-cpu', said)
        else:
            same = got is not None and numpy.array_equal(got['y'].reshape(y.shape), y)
            tap.ok(same, what + 'so has the file with --runtime ort-cpu', said)
        got, said = predict('float32', data, 1, 'float.onnx', '--against', 'half.onnx')
        tap.ok(got is not None, what + 'the file runs with --runtime strict', said)
        got, said = predict('occ-fp16', data, 1)
        tap.ok(got is not None, what + 'a GPU runs it', said)
tap.ok(len(failed) < 9 and len(failed) > 0, 'onnxruntime fails in some of them', sorted(failed))
tap.finish()
