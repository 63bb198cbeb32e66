#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Options of validate on models whose inputs have a program each: labels, classes of an output, calibration inputs of
# another file, and sensitivity, each held to what onnxruntime gives, to numpy, or to the same network without a search.
import json
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
import tap

try:
    import numpy as np, onnx, onnxruntime as ort
    from onnx import helper, numpy_helper
    from onnxruntime.quantization import CalibrationDataReader, quantize_static
except ImportError:
    tap.skip_all('numpy, onnx and onnxruntime are not installed')
os.chdir(tap.home())
ort.set_default_logger_severity(4)
rng = np.random.default_rng(363)
N = 24
R = lambda *s: rng.standard_normal(s).astype('f4')
node, value = helper.make_node, helper.make_tensor_value_info
X, OTHER = R(N, 5), 3 * R(9, 5)
HELD = dict(w=R(5, 8), u=R(8, 8), v=R(8, 3), k=R(8, 6), zero=np.float32(0), half=np.float32(0.5))
np.savez('m.npz', x=X, right=rng.integers(0, 3, N))
np.savez('other.npz', x=OTHER)


def write(path, nodes, outs):
    read = lambda ns: {i for n in ns for i in list(n.input) + list(read([m for a in n.attribute
        if a.HasField('g') for m in a.g.node]))}
    inits = [numpy_helper.from_array(np.asarray(v), k) for k, v in HELD.items() if k in read(nodes)]
    g = helper.make_graph(nodes, 'g', [value('x', 1, ['n', 5])], [value(o, t, None) for o, t in outs.items()], inits)
    m = helper.make_model(g, opset_imports=[helper.make_opsetid('', 17)], ir_version=8)
    onnx.save(m, path)


def run(path, *a):
    p = subprocess.run([tap.HALFULP, 'validate', path, '--data', 'm.npz', '--outputs', 'o', '--json', *a],
        capture_output=True, text=True)
    return (json.loads(p.stdout), None) if p.returncode < 2 and p.stdout.strip() else (None, p.stderr)


def row(o, policy):
    return next(r for r in o['policies'] if r['policy'] == policy)


stem = [node('MatMul', ['x', 'w'], ['s'], name='first'), node('Tanh', ['s'], ['t'], name='squash'),
    node('MatMul', ['t', 'u'], ['h'], name='second'), node('Relu', ['h'], ['g'], name='relu')]
plain = stem + [node('MatMul', ['g', 'v'], ['y'], name='head')]
found = [node('Greater', ['s', 'zero'], ['m'], name='above'), node('NonZero', ['m'], ['at0'], name='places'),
    node('Transpose', ['at0'], ['at1'], name='turn'), node('GatherND', ['t', 'at1'], ['c'], name='take')]
write('plain.onnx', plain, {'y': 1})
write('found.onnx', plain + found, {'y': 1, 'c': 1})
POLICY = ['--policy', 'bfloat16,e4m3,int8,int8:dynamic,int4']

# Classes decide, in the output of one shape, and labels count.
a, why = run('plain.onnx', *POLICY, '--labels', 'right', '--batch', '1', '--exact', '0')
b, why2 = run('found.onnx', *POLICY, '--labels', 'right', '--calibrate-inputs', '32')
if a and b:
    wrong = []
    base = np.load('o/float32.npz')['y']
    for r in b['policies']:
        y = np.load('o/%s.npz' % r['policy'].replace(':', '_'))['y']
        want = {'flips': int((y.argmax(1) != base.argmax(1)).sum()),
            'accuracy': float((y.argmax(1) == np.load('m.npz')['right']).mean())}
        wrong += ['%s: %s is %s and not %s' % (r['policy'], k, r[k], v) for k, v in want.items()
            if not abs(r[k] - v) < 1e-12]
        p = row(a, r['policy'])
        wrong += ['%s: %s is %s, %s without a search' % (r['policy'], k, r[k], p[k])
            for k in ('flips', 'accuracy', 'kl', 'perplexity') if r[k] != p[k]]
    wrong += [] if any(r['flips'] for r in b['policies']) else ['nothing flips']
    wrong += [] if b['decision']['kind'] == 'class' and b['output'] == 'y' else [str(b['decision'])]
    tap.none(wrong, 'classes and labels of an output that has one shape')
else:
    tap.ok(False, 'classes and labels of an output that has one shape', [why, why2])
for option, text in ((['--output', 'c'], "--output 'c': its shape differs"), (['--output', 'z'], 'z'),
    (['--exact', '1'], '--exact')):
    o, why = run('found.onnx', '--policy', 'bfloat16', *option)
    tap.ok(o is None and text in why and why.count('\n') == 1, 'refused: ' + ' '.join(option), [why])

# Static scales of another file: those that quantize_static takes from it.


class Rows(CalibrationDataReader):
    def __init__(self):
        self.rows = iter([{'x': r[None]} for r in OTHER])

    def get_next(self):
        return next(self.rows, None)


quantize_static('found.onnx', 'q.onnx', Rows())
o, why = run('found.onnx', '--policy', 'ort-static,int8', '--calibrate', 'other.npz')
p, why2 = run('found.onnx', '--policy', 'ort-static')
if o and p:
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    s = ort.InferenceSession('q.onnx', options, providers=['CPUExecutionProvider'])
    want = np.concatenate([s.run(['y'], {'x': r[None]})[0] for r in X])
    run('found.onnx', '--policy', 'ort-static,int8', '--calibrate', 'other.npz')
    got = np.load('o/ort-static.npz')['y']
    far = np.abs(got - want).max() / np.abs(want).max()
    tap.ok(far < 1e-5, 'calibration on the inputs of another file is what quantize_static does with it', [str(far)])
    tap.ok(row(o, 'ort-static')['rel_l2'] != row(p, 'ort-static')['rel_l2'] and o['calibration']['inputs'] == 9
        if isinstance(o.get('calibration'), dict) else row(o, 'ort-static')['rel_l2'] != row(p, 'ort-static')['rel_l2'],
        'other inputs have other scales')
else:
    tap.ok(False, 'calibration on the inputs of another file', [why, why2])

# Nodes: what the search reads is the network's own, so that nodes do what they do without it.
FIGURES = ('low_rel_l2', 'low_flips', 'high_rel_l2', 'high_flips', 'local_rel_l2', 'joint_rel_l2', 'amax', 'p99_9',
    'operands', 'zeroed', 'saturated', 'outlier_channels')
write('found.onnx', plain + [node('Greater', ['s', 'zero'], ['m'], name='above'),
    node('NonZero', ['m'], ['at'], name='places')], {'y': 1, 'at': 7})
LOW = ['--policy', 'int4,fp16,e4m3:static,int8', '--sensitivity', '--sensitivity-inputs', '11']
a, why = run('plain.onnx', *LOW, '--batch', '1', '--exact', '0')
b, why2 = run('found.onnx', *LOW, '--output', 'y')
if a and b:
    wrong, shown = [], 0
    for r in a['policies']:
        for n in (r.get('sensitivity') or {'nodes': ()})['nodes']:
            m = next((m for m in row(b, r['policy'])['sensitivity']['nodes'] if m['node'] == n['node']), {})
            wrong += ['%s, %s: %s is %s, %s without a search' % (r['policy'], n['node'], k, m.get(k), n[k])
                for k in FIGURES if m.get(k) != n[k] and not abs(m.get(k, np.inf) - n[k]) <= 1e-12 * abs(n[k])]
            shown += n['low_rel_l2'] > 0
    tap.none(wrong, 'nodes beside a search do what they do without it')
    tap.ok(shown >= 8, '%d nodes have an error of their own' % shown)
else:
    tap.ok(False, 'nodes beside a search', [why, why2])

# Of nodes in branches that inputs choose: a policy for one node alone, which runs all inputs anew, has the same error.
branch = lambda n: helper.make_graph(n, 'b', [], [value('r', 1, None)])
write('found.onnx', stem + [node('ReduceSum', ['s'], ['sum'], name='sum', keepdims=0),
    node('Greater', ['sum', 'zero'], ['is'], name='is'), node('If', ['is'], ['r0'], name='if',
    then_branch=branch([node('MatMul', ['g', 'v'], ['r'], name='yes')]),
    else_branch=branch([node('MatMul', ['g', 'k'], ['r'], name='no')])),
    node('ReduceMean', ['r0'], ['y'], name='end', axes=[1])],
    {'y': 1})
o, why = run('found.onnx', '--policy', 'int4', '--sensitivity', '--sensitivity-inputs', str(N))
if o:
    nodes, wrong = row(o, 'int4')['sensitivity']['nodes'], []
    ends = [n for n in nodes if n['node'].split('/')[-1] in ('yes', 'no', 'second')]
    for n in ends:
        with open('one.json', 'w') as f:
            json.dump({'name': 'one', 'nodes': {n['node']: 'int4'}}, f)
        p, why = run('found.onnx', '--policy', './one.json')
        far = p and [r for r in p['policies'] if r['policy'] != 'float32'][0]['rel_l2']
        wrong += [] if p and abs(far - n['low_rel_l2']) <= 1e-9 * far else ['%s: %s and not %s %s' % (n['node'],
            n['low_rel_l2'], far, why)]
    tap.none(wrong + ([] if len(ends) == 3 else [str([n['node'] for n in nodes])]),
        'nodes of both branches do what a policy for each alone does')
else:
    tap.ok(False, 'nodes of both branches', [why])
tap.finish()
