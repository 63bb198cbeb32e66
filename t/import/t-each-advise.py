#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# advise on models whose inputs have a program each: the plan is the cheapest of all that validate says keep the budget,
# and the files and lists that it writes keep it in onnxruntime on the inputs held apart.
import itertools
import json
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
import tap

try:
    import numpy as np, onnx, onnxruntime as ort
    from onnx import helper, numpy_helper
    from onnxruntime.quantization import CalibrationDataReader, quantize_static
    from onnxconverter_common import float16
except ImportError as e:
    tap.skip_all('no %s' % e.name)
os.chdir(tap.home())
ort.set_default_logger_severity(4)
rng = np.random.default_rng(364)
N, HALF = 32, 16
R = lambda *s: rng.standard_normal(s).astype('f4')
node, value = helper.make_node, helper.make_tensor_value_info
X = R(N, 6)
np.savez('m.npz', x=X)
for h in range(2):
    np.savez('half%d.npz' % h, x=X[h * HALF:(h + 1) * HALF])


def write(path, nodes, outs, held):
    read = lambda ns: {i for n in ns for i in list(n.input) + list(read([m for a in n.attribute
        if a.HasField('g') for m in a.g.node]))}
    inits = [numpy_helper.from_array(np.asarray(v), k) for k, v in held.items() if k in read(nodes)]
    g = helper.make_graph(nodes, 'g', [value('x', 1, ['n', 6])], [value(o, t, None) for o, t in outs.items()], inits)
    m = helper.make_model(g, opset_imports=[helper.make_opsetid('', 17)], ir_version=8)
    onnx.save(m, path)


def theirs(path, rows):
    o = ort.SessionOptions()
    o.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    s = ort.InferenceSession(path, o, providers=['CPUExecutionProvider'])
    return [s.run(None, {'x': r[None]}) for r in rows]


def flips(got, want):
    """Inputs whose shapes or whole numbers differ."""
    same = lambda a, b: a.shape == b.shape and (a.dtype.kind == 'f' or (a == b).all())
    return sum(not all(same(a, b) for a, b in zip(g, w)) for g, w in zip(got, want))


def distance(got, want):
    pairs = [(a.astype('f8'), b.astype('f8')) for g, w in zip(got, want) for a, b in zip(g, w)
        if a.shape == b.shape and a.dtype.kind == 'f']
    return (sum(((a - b) ** 2).sum() for a, b in pairs) / sum((b ** 2).sum() for _, b in pairs)) ** 0.5


class Rows(CalibrationDataReader):
    def __init__(self, rows):
        self.rows = iter([{'x': r[None]} for r in rows])

    def get_next(self):
        return next(self.rows, None)


branch = lambda n: helper.make_graph(n, 'b', [], [value('r', 1, None)])
HELD = dict(w=R(6, 12), u=R(12, 12), v=R(12, 4), k=R(12, 6), q=R(4, 8), zero=np.float32(0), big=np.float32(3))
stem = [node('MatMul', ['x', 'w'], ['s'], name='first'), node('Tanh', ['s'], ['t'], name='squash'),
    node('MatMul', ['t', 'u'], ['h'], name='second'), node('Relu', ['h'], ['g'], name='relu'),
    node('MatMul', ['g', 'v'], ['y'], name='head')]
pick = [node('Greater', ['h', 'big'], ['m'], name='above'), node('NonZero', ['m'], ['at0'], name='places'),
    node('Transpose', ['at0'], ['at1'], name='turn'), node('GatherND', ['g', 'at1'], ['c'], name='take')]
# Products behind a choice: the program of an input has one of both, in the main graph and within the If.
choice = [node('ReduceSum', ['s'], ['sum'], name='sum', keepdims=0),
    node('Greater', ['sum', 'zero'], ['is'], name='is'),
    node('If', ['is'], ['r0'], name='if', then_branch=branch([node('MatMul', ['g', 'v'], ['r'], name='yes')]),
        else_branch=branch([node('MatMul', ['g', 'k'], ['r'], name='no')])),
    node('ReduceMax', ['r0'], ['z'], name='most', axes=[1]), node('Tanh', ['z'], ['y'], name='end')]
CASES = {
    'a search': (stem + pick, {'y': 1, 'c': 1}, 'flips<=10%', ('first', 'second', 'head')),
    'a search, by distance': (stem + pick, {'y': 1, 'c': 1}, 'sqnr>=45', ('first', 'second', 'head')),
    'a choice between products': (stem[:4] + choice, {'y': 1}, 'sqnr>=38', ('first', 'second')),
}
FORMATS = ('int8', 'fp16')
cost = {'first': 72, 'second': 144, 'head': 48}


def validated(schemes, half):
    """What validate says of a plan: the flips and the distance."""
    with open('one.json', 'w') as f:
        json.dump({'name': 'one', 'nodes': {k: v for k, v in schemes.items() if v != 'float32'}}, f)
    p = subprocess.run([tap.HALFULP, 'validate', 'm.onnx', '--data', 'half%d.npz' % half, '--policy', './one.json',
        '--calibrate', 'half0.npz', '--json'], capture_output=True, text=True)
    if p.returncode:  # without int8 there is nothing to calibrate
        p = subprocess.run([tap.HALFULP, 'validate', 'm.onnx', '--data', 'half%d.npz' % half, '--policy', './one.json',
            '--json'], capture_output=True, text=True)
    return json.loads(p.stdout)['policies'][-1]


for name, (nodes, outs, rule, products) in CASES.items():
    write('m.onnx', nodes, outs, HELD)
    words = [tap.HALFULP, 'advise', 'm.onnx', '--data', 'm.npz', '--accept', rule, '--json', '--format',
        ','.join(FORMATS)]
    p = subprocess.run(words + ['--out', 'd'], capture_output=True, text=True)
    if p.returncode or not p.stdout:
        tap.ok(False, name, [p.stderr, p.stdout[-400:]])
        continue
    o = json.loads(p.stdout)
    if o['broken_by_runtime']:  # without a file nothing but the budget decides
        o |= json.loads(subprocess.run(words, capture_output=True, text=True).stdout) | {
            k: o[k] for k in ('block_list', 'nodes_to_quantize')}
    plan = {n['node']: n['scheme'] for n in o['nodes']}
    most = lambda: 10 ** (-float(rule[6:]) / 20)
    keeps = lambda r: r['flips'] <= 0.1 * HALF if rule.startswith('flips') else r['rel_l2'] <= most()
    bytes_of = lambda c: sum({'int8': 1, 'fp16': 2, 'float32': 4}[s] * cost[k] for k, s in c.items())
    best = None
    for c in itertools.product(*[('float32',) + FORMATS] * len(products)):
        c = dict(zip(products, c))
        if (best is None or bytes_of(c) < best) and all(keeps(validated(c, h)) for h in range(2)):
            best = bytes_of(c)
    wrong = [] if set(plan) == set(products) else ['decided on %s' % plan]
    wrong += wrong or ([] if best == bytes_of(plan) else ['%s takes %d, and %s do' % (plan, bytes_of(plan), best)])
    for h, key in enumerate(('searched', 'held_apart')) if not wrong else ():
        r = validated(plan, h)
        wrong += ['%s: %s is %s, validate says %s' % (key, k, o[key][k], r[k]) for k in ('flips', 'rel_l2')
            if o[key][k] is not None and not abs(o[key][k] - r[k]) <= 1e-9 * max(r[k], 1)]
    wrong += [] if len(set(plan.values())) > 1 or 'float32' not in plan.values() else ['nothing is chosen']
    tap.none(wrong, name + ': the plan is the cheapest that keeps the budget')

    # The file, and the lists as their tools apply them.
    apart = X[HALF:]
    want = theirs('m.onnx', apart)

    def holds(path, what):
        got = theirs(path, apart)
        is_ = flips(got, want) if rule.startswith('flips') else -20 * np.log10(max(distance(got, want), 1e-30))
        kept = is_ <= 0.1 * HALF if rule.startswith('flips') else is_ >= float(rule[6:])
        tap.ok(kept, '%s: %s keeps the budget in onnxruntime' % (name, what), ['%s is %s' % (rule, is_)])

    holds('d/model.onnx', 'the typed model')
    lists = {}
    exec(open('d/block_list.txt').read(), lists)
    tap.ok('block_list' in lists and o['nodes_to_quantize']['nodes'] is not None,
        name + ': lists were looked for', [open('d/block_list.txt').read()])
    if lists.get('nodes'):
        quantize_static('m.onnx', 'q.onnx', Rows(X[:HALF]), nodes_to_quantize=lists['nodes'])
        holds('q.onnx', 'the list for quantize_static')
    if 'block_list' in lists:
        m = onnx.shape_inference.infer_shapes(onnx.load('m.onnx'))
        m = float16.convert_float_to_float16(m, keep_io_types=True, node_block_list=lists['block_list'])
        onnx.save(m, 'h.onnx')
        holds('h.onnx', 'the list for the converter to float16')
    told = subprocess.run([tap.HALFULP, 'advise', 'm.onnx', '--data', 'm.npz', '--accept', rule, '--format', 'int8',
        '--out', 'd2'], capture_output=True, text=True).stdout
    tap.ok(('inside If, Loop or Scan' in told) == ('choice' in name), name + ': products that no file has are told',
        [told])

# A change of the graph where all of it breaks the budget in float16: squares that overflow, beside a search.
norm = [node('MatMul', ['x', 'w'], ['h0'], name='up'), node('Mul', ['h0', 'wide'], ['h'], name='scale'),
    node('Pow', ['h', 'two'], ['p'], name='square'), node('ReduceMean', ['p'], ['v0'], name='mean', axes=[-1]),
    node('Add', ['v0', 'eps'], ['v1'], name='eps'), node('Sqrt', ['v1'], ['sd'], name='root'),
    node('Div', ['h', 'sd'], ['g'], name='norm'), node('MatMul', ['g', 'v'], ['y'], name='down')]
HELD |= dict(wide=np.float32(300), two=np.float32(2), eps=np.float32(1e-5), big=np.float32(5))
write('m.onnx', norm + pick, {'y': 1, 'c': 1}, HELD)
o = json.loads(subprocess.run([tap.HALFULP, 'advise', 'm.onnx', '--data', 'm.npz', '--accept', 'sqnr>=40', '--format',
    'fp16', '--out', 'd3', '--json'], capture_output=True, text=True).stdout)
way = next(w for w in o['remedies'] if w['way'] == 'fp16')
far = lambda path: json.loads(subprocess.run([tap.HALFULP, 'validate', path, '--data', 'half1.npz', '--policy', 'fp16',
    '--json'], capture_output=True, text=True).stdout)['policies'][-1]
tap.ok(way['needed'] and way['keeps'], 'a graph is changed where float16 overflows', [json.dumps(way)[:600]])
before, after = far('m.onnx'), far('d3/remedied_fp16.onnx')
told = way['after']['held_apart']['rel_l2']
tap.ok(before['rel_l2'] > 0.5 and after['rel_l2'] <= 0.01 and abs(after['rel_l2'] - told) <= 1e-9,
    'the changed graph keeps the budget on the inputs held apart', [str([before['rel_l2'], after['rel_l2'], told])])
got, want = theirs('d3/remedied_fp16.onnx', X[HALF:]), theirs('m.onnx', X[HALF:])
tap.ok(not flips(got, want) and distance(got, want) < 1e-5, 'in float32 it is the same model in onnxruntime',
    [str(distance(got, want))])
tap.finish()
