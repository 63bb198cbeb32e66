#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# A quantised file beside the float model, as onnxruntime runs it at each of its levels of optimisation: --runtime
# ort-cpu:disable_all and :basic node by node, :extended and :all with kernels of codes, which are what ort-cpu alone
# means. Each is held to onnxruntime at that level, and the answer names it. Where the quantised file is the model
# itself, its row "as typed" is the same. HALFULP names the program.
import os, sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/import'))
import tap
from ort_tools import *
from static_nets import INT64, NETS, R, r

os.chdir(tap.home())
BATCH, INPUTS = 4, 12
LEVELS = {
    'disable_all': 'ORT_DISABLE_ALL',
    'basic': 'ORT_ENABLE_BASIC',
    'extended': 'ORT_ENABLE_EXTENDED',
    'all': 'ORT_ENABLE_ALL',
}
U8 = {'activation_type': QuantType.QUInt8}
differ = 0
for name, (nodes, inputs, outputs, weights, opset) in NETS.items():
    model(nodes, inputs, outputs, weights, opset)
    shape = lambda d: [INPUTS] + d[1:]
    data = {k: r.integers(0, 30, shape(d)) if t == INT64 else R(*shape(d)) for k, (t, d) in inputs.items()}
    feeds = batches(data, BATCH)
    float32 = run('float.onnx', feeds)
    for kind, options in (('int8', {}), ('uint8', U8)):
        quiet(quantize_static, 'float.onnx', 'tool.onnx', Reader(feeds), **options)
        found = {}
        for level, words in LEVELS.items():
            runtime = 'ort-cpu:' + level
            got, said = predict('float32', data, BATCH, 'float.onnx', '--against', 'tool.onnx', '--runtime', runtime)
            ort = run('tool.onnx', feeds, words)
            hold('%s, %s, %s' % (name, kind, level), got, ort if got else said, float32, 4e-7, 0.002)
            found[level] = got
        own, said = predict('float32', data, BATCH, 'tool.onnx', '--runtime', 'ort-cpu')
        same = own and all((own[k] == found['all'][k]).all() for k in found['all'])
        tap.ok(same, '%s, %s: the file alone runs as it does beside the float one' % (name, kind), said)
        for k in found['all']:
            differ += (found['all'][k] != found['disable_all'][k]).any()
tap.ok(differ > 5, 'kernels of codes change %d outputs' % differ)
say = ['validate', 'float.onnx', '--data', 'data.npz', '--policy', 'float32', '--against', 'tool.onnx']
for words, named in (('ort-cpu', 'ort-cpu:all'), ('ort-cpu:basic', 'ort-cpu:basic')):
    told = tap.halfulp(*say, '--runtime', words, '--json')
    text = tap.halfulp(*say, '--runtime', words)
    tap.ok(json.loads(told.stdout)['runtime'] == named, words + ' is named as ' + named, told.stdout)
    tap.ok('Runtime %s' % named in text.stdout, words + ': the answer says which level', text.stdout)
text = tap.halfulp('validate', 'tool.onnx', '--data', 'data.npz', '--policy', 'float32', '--runtime', 'ort-cpu').stdout
tap.ok('as typed' in text and 'its nodes one by one' in text, 'of the file alone the answer says what is what', text)
told = tap.halfulp('validate', 'float.onnx', '--data', 'data.npz', '--policy', 'float32', '--runtime', 'ort-cpu')
tap.ok(told.returncode == 2 and 'codes' in told.stderr, 'without codes there is no such choice', told.stderr)
told = tap.halfulp(*say, '--runtime', 'ort-cpu:most')
tap.ok(told.returncode == 2 and 'extended' in told.stderr, 'another level is refused', told.stderr)
tap.finish()
