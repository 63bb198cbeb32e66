#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The files that advise writes with --out have the plan that --json prints, and what was tried to write them; a layer
# that trtexec cannot name is left out; and labels hold each half of the inputs to its own accuracy. What is printed
# stands in t/golden/outputs/validate.txt.
import ast
import json
import os
import random
import re
import sys

sys.dont_write_bytecode = True
TOP = os.path.abspath(os.environ.get('srcdir', '.'))
sys.path.insert(0, os.path.join(TOP, 't/tool'))
import tap
from npzfile import npz, outputs
from onnxfile import floats, graph, node, value, write

os.chdir(tap.home())
random.seed(3)
draw = lambda n, s: [random.gauss(0, s) for _ in range(n)]
NODES, I, H, C, N = ('/layer1/fc/MatMul', 'a:b', '/head/MatMul'), 8, 16, 4, 40
npz('x.npz', x=([N, I], draw(N * I, 1)))
for name, classes in (('m.onnx', C), ('one.onnx', 1)):
    nodes, weights, at = [], [], 'x'
    for k, (rows, columns) in enumerate(((I, H), (H, H), (H, classes))):
        weights.append(floats('w%d' % k, [rows, columns], draw(rows * columns, 0.5 / (1 + k % 2))))
        nodes.append(node('MatMul', '%s w%d' % (at, k), 'y' if k == 2 else 'h%d' % k, name=NODES[k]))
        if k < 2:
            nodes.append(node('Tanh', 'h%d' % k, 't%d' % k, name='tanh%d' % k))
            at = 't%d' % k
    write(name, graph(nodes, weights, [value('x', ['n', I])], [value('y', ['n', classes])]), opset=19)


def run(*words):
    r = tap.halfulp('advise', *words)
    return r.returncode, r.stdout


def text(path):
    with open(path) as f:
        return f.read()


for what, line, out in (
    ('classes', ('m.onnx', '--accept', 'rel_l2<=0.004', '--format', 'int8,bf16,int4:g8'), 'plan'),
    ('an output without classes', ('one.onnx', '--accept', 'sqnr>=40', '--format', 'int8,float16,e4m3:static'),
     'other'),
):
    alone = json.loads(run(*line, '--data', 'x.npz', '--json')[1])
    o = json.loads(run(*line, '--data', 'x.npz', '--out', out, '--json')[1])
    chosen = {n['node']: n['scheme'] for n in o['nodes']}
    low = {n: s for n, s in chosen.items() if s != 'float32'}
    tap.ok(json.loads(text(out + '/policy.json')) == {'name': 'advised', 'default': 'float32', 'nodes': low},
           '%s: policy.json has the %d nodes that are not float32' % (what, len(low)))
    written = json.loads(text(out + '/advice.json'))
    tried = ('block_list', 'nodes_to_quantize', 'remedies')
    tap.ok(written == o and written['command'].replace(' --out=' + out, '') == alone['command']
           and not any(alone[k] for k in tried),
           '%s: advice.json is what --json prints, and what is tried where files are written' % what)
    tap.ok(o['broken_by_runtime'] or o['nodes'] == alone['nodes'],
           '%s: the plan is another one only where a runtime breaks it' % what, o['broken_by_runtime'])
    lists = {}
    exec(text(out + '/block_list.txt'), lists)
    named = lambda v, plan: v['nodes'] if v and v['keeps'] else None if v else plan
    tap.ok(lists.get('block_list') == named(o['block_list'], [n for n in chosen if n not in low])
           and lists.get('nodes') == named(o['nodes_to_quantize'], list(low)),
           '%s: the lists for converters' % what, text(out + '/block_list.txt'))
    types = {'float32': 'fp32', 'fp16': 'fp16', 'bf16': 'bf16', 'int8': 'int8', 'float16': 'fp16'}
    layers = [(n, types.get('int8' if s.startswith('int8:') else s)) for n, s in chosen.items()]
    layers = [(n, t) for n, t in layers if t and ':' not in n]
    lines = text(out + '/trtexec.txt').split('\n')
    tap.ok(re.findall(r',([^,:]+):(\w+)', lines[-2]) == layers
           and [line.split(': ')[0][2:] for line in lines[2:-2]] == [n for n in chosen if n not in dict(layers)],
           '%s: the layers of trtexec, and who has none' % what, lines)
    modules = [n.lstrip('/').rpartition('/')[0].replace('/', '.') or n.lstrip('/') for n in chosen if n not in low]
    page = text(out + '/keep.py')
    ast.parse(page)
    tap.ok(re.findall(r'^    "([^"]*)",$', page, re.M) == modules,
           '%s: keep.py names the modules %s' % (what, ' '.join(modules)), page)

# Labels that float32 has right in both halves, and in the half to search on alone
tap.halfulp('validate', 'm.onnx', '--data', 'x.npz', '--policy', 'fp16', '--exact', '0', '--outputs', 'out')
y = outputs('out/float32.npz')['y'][1]
right = [max(range(C), key=lambda c: y[i * C + c]) for i in range(N)]
for labels, found in ((right, True), (right[: N // 2] + [(c + 1) % C for c in right[N // 2 :]], False)):
    npz('labels.npz', y=([N], labels, '<i8'))
    code, out = run('m.onnx', '--data', 'x.npz', '--labels', 'labels.npz:y', '--accept', 'accuracy>=0.99', '--format',
                    'bf16', '--json')
    tap.ok(code == (0 if found else 1) and json.loads(out)['found'] == found,
           'labels: each half is held to its own', out)

# Which runtime the files are for.
budget = ('m.onnx', '--data', 'x.npz', '--accept', 'rel_l2<=0.06', '--format', 'int8')
for words, what in ((('--runtime', 'strict'), 'without --out there is no file to run'),
                    (('--runtime', 'trt', '--out', 'none'), 'an unknown runtime is named')):
    r = tap.halfulp('advise', *budget, *words)
    tap.ok(r.returncode == 2 and r.stderr.count('\n') == 1 and '--runtime' in r.stderr and not os.path.exists('none'),
           what, r.stderr)
plans = {}
for runtime in ('strict', 'ort-cpu:all', 'ort-cpu:all:pairs16'):
    code, out = run(*budget, '--runtime', runtime, '--out', 'for', '--json')
    o = json.loads(out)
    plans[runtime] = o['bytes']
    tap.ok(code == 0 and (runtime != 'strict' or o['broken_by_runtime'] == 0),
           '%s: a plan is found, after %s that it breaks' % (runtime, o['broken_by_runtime']), o['accept'])
tap.ok(plans['strict'] <= plans['ort-cpu:all'] <= plans['ort-cpu:all:pairs16'] and
       not [f for f in os.listdir('for') if 'try' in f], 'each runtime asks no less than the one before', plans)
tap.finish()
