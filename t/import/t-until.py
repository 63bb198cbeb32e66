#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# A model in which shapes follow from values, or with an operator that is not known, says so, and with --until what is
# computed before is judged: the named values are those that ONNX Runtime computes. Values without elements, as a search
# that finds nothing gives them, pass through the operators that only choose elements.
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
import tap

try:
    import numpy as np, onnx, onnxruntime as ort
    from onnx import helper, numpy_helper
except ImportError:
    tap.skip_all('numpy, onnx and onnxruntime are not installed')
os.chdir(tap.home())
ort.set_default_logger_severity(4)
rng = np.random.default_rng(4)
node, value = helper.make_node, helper.make_tensor_value_info
X = rng.standard_normal((6, 5)).astype('f4')


def write(path, nodes, outs, consts):
    inits = [numpy_helper.from_array(np.asarray(v), k) for k, v in consts.items()]
    shape = ['n'] + list(X.shape[1:])
    g = helper.make_graph(nodes, 'g', [value('x', 1, shape)], [value(o, t, None) for o, t in outs.items()], inits)
    m = helper.make_model(g, opset_imports=[helper.make_opsetid('', 17)])
    m.ir_version = 8
    onnx.save(m, path)
    np.savez('m.npz', x=X)


def run(*a):
    return subprocess.run([tap.HALFULP, 'validate', 'm.onnx', '--data', 'm.npz', '--policy', 'float32', '--exact',
        '0', '--outputs', 'o', *a], capture_output=True, text=True)


def theirs(path):
    o = ort.SessionOptions()
    o.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    s = ort.InferenceSession(path, o, providers=['CPUExecutionProvider'])
    return dict(zip([v.name for v in s.get_outputs()], s.run(None, {'x': X})))


def same(name, p, want):
    if p.returncode:
        return tap.ok(False, name, [p.stderr])
    got, wrong = np.load('o/float32.npz'), []
    wrong += ['%s for %s' % (sorted(got.files), sorted(want))] if sorted(got.files) != sorted(want) else []
    for k, w in want.items() if not wrong else ():
        far = np.abs(got[k].reshape(w.shape).astype('f8') - w).max() if w.size else 0
        wrong += [] if far <= 1e-6 * np.abs(w).max() else ['%s is %g off' % (k, far)]
    tap.none(wrong, name)


W = {'w': rng.standard_normal((5, 4)).astype('f4'), 'zero': np.float32(0),
    'v': rng.standard_normal((4, 3)).astype('f4')}
head = [node('MatMul', ['x', 'w'], ['s']), node('Tanh', ['s'], ['t']), node('MatMul', ['t', 'v'], ['b'])]
choice = [node('Greater', ['s', 'zero'], ['m']), node('NonZero', ['m'], ['at']), node('Transpose', ['at'], ['row']),
    node('GatherND', ['t', 'row'], ['chosen']), node('Exp', ['chosen'], ['y']), node('Relu', ['b'], ['z'])]
write('m.onnx', head + choice, {'y': 1, 'z': 1}, W)
write('head.onnx', head + choice, {'t': 1, 'z': 1, 's': 1, 'y': 1}, W)
all = theirs('head.onnx')
p = run()
tap.ok(not p.returncode and "shapes or choices follow from 1 value: 'm'" in p.stdout,
    'each input has a program of its own', [p.stdout, p.stderr])
p = run('--until', 'auto')
same('--until auto judges what such nodes read, and outputs before them', p, {k: all[k] for k in 'tz'})
p = run('--until', 's,t')
same('--until judges the values that it names', p, {k: all[k] for k in 'st'})
for text, names in (("no node of the main graph makes a value 'absent'", 's,absent'), ("'s' is named twice", 's,s'),
    ("makes a value 'x'", 'x')):
    p = run('--until', names)
    tap.ok(p.returncode == 2 and text in p.stderr and p.stderr.count('\n') == 1, 'refused: --until ' + names,
        [p.stderr])
p = run('--until', 's', '--against', 'm.onnx')
tap.ok(p.returncode == 2 and '--until' in p.stderr, 'not with --against', [p.stderr])
write('m.onnx', head + [node('RandomNormalLike', ['t'], ['r']), node('Add', ['r', 'b'], ['y'])], {'y': 1}, W)
p = run()
tap.ok(p.returncode == 4 and 'RandomNormalLike' in p.stderr and '--until auto' in p.stderr,
    'an operator that is not known', [p.stderr])
same('--until auto judges what it reads', run('--until', 'auto'), {'t': all['t'],
    'b': np.tanh(X.astype('f8') @ W['w']) @ W['v']})
write('m.onnx', head, {'b': 1}, W)
p = run('--until', 'auto')
tap.ok(p.returncode == 2 and 'no value is named' in p.stderr, 'nothing is before a node of a model that runs',
    [p.stderr])

# Values without elements: a Concat with others makes them visible.
I = lambda *v: np.asarray(v, 'i8')
E = dict(none=np.zeros((3,), 'f4'), big=I(9), end=I(99), ax1=I(1), upd=np.zeros((0, 5), 'f4'),
    rows=np.zeros((0, 1), 'i8'), six=I(6, 0), flat0=I())
EMPTY = {
    'a search that finds nothing': [node('NonZero', ['none'], ['p']), node('Cast', ['p'], ['q'], to=1),
        node('Reshape', ['q', 'six'], ['q2'], allowzero=1),
        node('Concat', ['x', 'q2'], ['y'], axis=1)],
    'a slice of nothing': [node('Slice', ['x', 'big', 'end', 'ax1'], ['p']), node('Tanh', ['p'], ['q']),
        node('Concat', ['x', 'q', 'q'], ['y'], axis=1)],
    'only values without elements, joined': [node('Slice', ['x', 'big', 'end', 'ax1'], ['p']),
        node('Concat', ['p', 'p'], ['q'], axis=1), node('Concat', ['q', 'x'], ['y'], axis=1)],
    'a lookup of no places': [node('Gather', ['x', 'flat0'], ['p'], axis=1),
        node('Concat', ['p', 'x'], ['y'], axis=1)],
    'an update of nothing': [node('ScatterND', ['x', 'rows', 'upd'], ['y'])],
}
for name, nodes in EMPTY.items():
    consts = {k: v for k, v in E.items() if any(k in n.input for n in nodes)}
    write('m.onnx', nodes, {'y': 1}, consts)
    same(name, run('--decision', 'none'), theirs('m.onnx'))
tap.finish()
