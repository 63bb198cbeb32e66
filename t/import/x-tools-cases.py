#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The small graphs that settle what tools write and what onnxruntime computes, where their generator lies beside the
# data: CASES/make_tools_cases.py writes each graph, its inputs, and onnxruntime's outputs without optimisations.
# validate's outputs have the same codes, and floating-point numbers to 4e-7 of the largest, or 6e-7 where onnxruntime
# sums blocks of codes in an order of its own. HALFULP names the program, HALFULP_DATA the folder of data, beside which
# cases/onnx lies.
import os, subprocess, sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/import'))
import tap
from ort_tools import *

data = os.environ.get('HALFULP_DATA') or os.path.join(tap.TOP, '../shared/data')
generator = os.path.abspath(os.path.join(data, '../cases/onnx/make_tools_cases.py'))
if not os.path.exists(generator):
    tap.skip_all('no cases beside the data')
os.chdir(tap.home())
r = subprocess.run([sys.executable, generator, '--out', 'cases'], capture_output=True, text=True)
found = sorted(d for d, _, files in os.walk('cases') if 'ort.npz' in files)
tap.ok(len(found) > 30, 'the generator writes %d graphs' % len(found), r.stderr)
for folder in found:
    path, feeds = folder + '/model.onnx', dict(numpy.load(folder + '/inputs.npz'))
    ort, outputs = numpy.load(folder + '/ort.npz'), [o.name for o in onnx.load(path).graph.output]
    typed = ['--runtime', 'ort-cpu'] if 'float16' in folder else []
    first = next(iter(feeds.values()))
    for batch in 1, len(first) if first.ndim else 1:
        got, said = predict('float32', feeds, batch, path, *typed)
        if typed and got:
            with numpy.load('out/as_typed.npz') as z:
                got = {k: z[k].astype(numpy.float64) for k in z.files}
        fits = got and all(k in got and got[k].size == ort['OFF_%d' % i].size for i, k in enumerate(outputs))
        if fits:
            break
    if not fits:
        tap.ok(False, folder, said)
        continue
    wrong = []
    for i, k in enumerate(outputs):
        y = ort['OFF_%d' % i].astype(numpy.float64)
        off, codes = abs(got[k].reshape(y.shape) - y).max(initial=0), ort['OFF_%d' % i].dtype.kind in 'iu'
        most = 0 if codes else (6e-7 if 'nbits' in folder else 4e-7) * abs(y).max(initial=0)
        if not off <= most:
            wrong.append('%s is %.3g off, and %.3g is possible' % (k, off, most))
    tap.none(wrong, folder)
tap.finish()
