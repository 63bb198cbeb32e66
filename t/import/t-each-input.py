#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Models whose shapes or choices follow from values have a program for each input: what they give is what onnxruntime
# gives of that input, under policies as well, and what changed in lists of boxes is counted here once more.
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
except ImportError:
    tap.skip_all('numpy, onnx and onnxruntime are not installed')
os.chdir(tap.home())
ort.set_default_logger_severity(4)
rng = np.random.default_rng(36)
node, value = helper.make_node, helper.make_tensor_value_info
N, BOXES = 6, 12
X = rng.standard_normal((N, 5)).astype('f4')
F = dict(w=rng.standard_normal((5, 8)).astype('f4'), zero=np.float32(0), v=rng.standard_normal((8, 3)).astype('f4'))


def write(path, nodes, outs, consts, x=X):
    """A model of x: one input; consts: those of them that its nodes, and the graphs in these, read."""
    read = lambda ns: {i for n in ns for i in list(n.input) + list(read([m for a in n.attribute
        if a.HasField('g') for m in a.g.node]))}
    inits = [numpy_helper.from_array(np.asarray(v), k) for k, v in consts.items() if k in read(nodes)]
    g = helper.make_graph(nodes, 'g', [value('x', 1, ['n'] + list(x.shape[1:]))],
        [value(o, t, None) for o, t in outs.items()], inits)
    m = helper.make_model(g, opset_imports=[helper.make_opsetid('', 17)])
    m.ir_version = 8
    onnx.save(m, path)
    np.savez('m.npz', x=x)


def run(*a, model='m.onnx'):
    return subprocess.run([tap.HALFULP, 'validate', model, '--data', 'm.npz', '--outputs', 'o', *a],
        capture_output=True, text=True)


def theirs(path, feeds):
    o = ort.SessionOptions()
    o.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    s = ort.InferenceSession(path, o, providers=['CPUExecutionProvider'])
    return [dict(zip([v.name for v in s.get_outputs()], s.run(None, f))) for f in feeds]


def ours(policy, outs, n=N):
    z = np.load('o/%s.npz' % policy)
    return [{k: z[k][z[k + '.input'] == i] for k in outs} for i in range(n)]


def same(name, p, got, want, bound=1e-6):
    if p.returncode:
        return tap.ok(False, name, [p.stderr])
    wrong = []
    for i, (g, w) in enumerate(zip(got, want)):
        for k, v in w.items():
            v = np.atleast_1d(v) if v.ndim == g[k].ndim or not v.ndim else v.reshape(-1)  # rows of several shapes
            if g[k].shape != v.shape:
                wrong += ['input %d: %s has the shape %s and not %s' % (i, k, g[k].shape, v.shape)]
            elif v.size and not np.abs(g[k] - v).max() <= bound * np.abs(v).max():
                wrong += ['input %d: %s is off' % (i, k)]
    tap.none(wrong, name)


body = helper.make_graph(
    [node('Cast', ['i'], ['f'], to=1), node('Mul', ['carried', 'half'], ['next']), node('Add', ['next', 'f'], ['row']),
        node('Identity', ['go'], ['on'])], 'b',
    [value('i', 7, []), value('go', 9, []), value('carried', 1, None)],
    [value('on', 9, []), value('next', 1, None), value('row', 1, None)])
branch = lambda n: helper.make_graph([n], 'b', [], [value('r', 1, None)])
ends = helper.make_graph(
    [node('Mul', ['carried', 'half'], ['next']), node('ReduceMax', ['next'], ['top'], keepdims=0),
        node('Greater', ['top', 'little'], ['on']), node('Identity', ['next'], ['row'])], 'b',
    [value('i', 7, []), value('go', 9, []), value('carried', 1, None)],
    [value('on', 9, []), value('next', 1, None), value('row', 1, None)])
C = F | dict(half=np.float32(0.5), yes=np.bool_(True), little=np.float32(0.2), most=np.int64(40), ax=np.int64([1]),
    two=np.float32(2), three=np.int64([3]), six=np.int64([-1, 2]))
head = [node('MatMul', ['x', 'w'], ['s']), node('Tanh', ['s'], ['t'])]
MODELS = {
    'NonZero': head + [node('Greater', ['s', 'zero'], ['m']), node('NonZero', ['m'], ['at']),
        node('Transpose', ['at'], ['row']), node('GatherND', ['t', 'row'], ['c']), node('Exp', ['c'], ['y'])],
    'Compress': head + [node('Greater', ['s', 'zero'], ['m']), node('Squeeze', ['m'], ['flat']),
        node('Compress', ['t', 'flat'], ['y'], axis=1)],
    'a Loop that takes a computed number of steps': head + [node('ReduceMax', ['s'], ['top'], keepdims=0),
        node('Ceil', ['top'], ['up']), node('Cast', ['up'], ['k'], to=7),
        node('Loop', ['k', 'yes', 't'], ['last', 'rows'], body=body), node('Concat', ['rows', 'rows'], ['y'], axis=0)],
    'a Loop that ends by what it computes': head + [node('Abs', ['s'], ['a']),
        node('Loop', ['most', 'yes', 'a'], ['last', 'y'], body=ends)],
    'If between values of two shapes': head + [node('ReduceSum', ['s'], ['sum'], keepdims=0),
        node('Greater', ['sum', 'zero'], ['is']), node('If', ['is'], ['r0'],
        then_branch=branch(node('MatMul', ['t', 'v'], ['r'])), else_branch=branch(node('Mul', ['t', 'two'], ['r']))),
        node('Relu', ['r0'], ['y'])],
    'a computed shape': head + [node('ReduceMax', ['s'], ['top'], keepdims=0), node('Abs', ['top'], ['abs']),
        node('Ceil', ['abs'], ['up']), node('Cast', ['up'], ['k0'], to=7), node('Unsqueeze', ['k0', 'ax0'], ['k']),
        node('Concat', ['k', 'three'], ['shape'], axis=0), node('ReduceMean', ['t'], ['mean'], keepdims=0),
        node('Expand', ['mean', 'shape'], ['y'])],
    'nothing found': head + [node('Greater', ['s', 'big'], ['m']), node('NonZero', ['m'], ['at']),
        node('Transpose', ['at'], ['row']), node('GatherND', ['t', 'row'], ['c']), node('Reshape', ['c', 'col'], ['d']),
        node('MatMul', ['d', 'row2'], ['e']), node('Tanh', ['e'], ['g']), node('Softmax', ['g'], ['h']),
        node('Slice', ['h', 'b0', 'b1', 'ax'], ['y'])],
}
C |= dict(ax0=np.int64([0]), big=np.float32(2), col=np.int64([-1, 1]), row2=np.float32([[1, -2]]),
    b0=np.int64([0]), b1=np.int64([1]))
for name, nodes in MODELS.items():
    write('m.onnx', nodes, {'y': 1}, C)
    p = run('--policy', 'float32')
    same(name, p, ours('float32', 'y') if not p.returncode else (), theirs('m.onnx', [{'x': r[None]} for r in X]))

# Under a policy shapes follow from what the policy computes: from its own values, which --until has by the program of
# all inputs, onnxruntime goes on.
WIDE = 3000
wide = C | {'w': rng.standard_normal((5, WIDE)).astype('f4')}
write('m.onnx', MODELS['NonZero'][:-1], {'c': 1, 't': 1, 's': 1}, wide)
signs = {}
for policy in ('float16', 'e4m3', 'int8:dynamic', 'ort-dynamic', 'occ-fp16'):
    p = run('--policy', policy, '--decision', 'none', '--batch', '1')
    q = run('--policy', policy, '--decision', 'none', '--until', 's,t', '--outputs', 'u', '--exact', '0', '--batch',
        '1')
    if p.returncode or q.returncode:
        tap.ok(False, 'under ' + policy, [p.stderr, q.stderr])
        continue
    z, name = np.load('u/%s.npz' % policy.replace(':', '_')), policy.replace(':', '_')
    signs['float32'], signs[policy] = np.load('u/float32.npz')['s'] > 0, z['s'] > 0
    want = [{'s': z['s'].reshape(N, WIDE)[i][None], 't': z['t'].reshape(N, WIDE)[i][None]} for i in range(N)]
    want = [w | {'c': w['t'][w['s'] > 0]} for w in want]
    same('under %s values choose as %s has them' % (policy, policy), p, ours(name, 'cts'), want, 0)

tap.none([k for k, v in signs.items() if k != 'float32' and (v == signs['float32']).all()],
    'each policy chooses other values than float32')

p = run('--policy', 'e4m3')
flips = [i for i in range(N) if (signs['e4m3'].reshape(N, -1)[i] != signs['float32'].reshape(N, -1)[i]).any()]
text = 'e4m3 changes shapes or whole numbers of input %s' % ', '.join(map(str, flips[:4]))
tap.ok(text in p.stdout, 'inputs whose shapes change are named', [p.stdout, p.stderr, str(flips)])

# A search beside the network changes none of its numbers: they are those of the network alone.
net = head + [node('MatMul', ['t', 'v'], ['y'])]
write('a.onnx', net, {'y': 1}, C)
write('m.onnx', net + [node('Greater', ['s', 'zero'], ['m']), node('NonZero', ['m'], ['at'])], {'y': 1, 'at': 7}, C)
POLICIES = 'bfloat16,mixed_float16,fp8,int8,int8:dynamic,int4:g4,nvfp4,ort-static,ort-dynamic'
p, q = run('--policy', POLICIES), run('--policy', POLICIES, '--outputs', 'a', '--exact', '0', '--batch', '1',
    model='a.onnx')
wrong = [p.stderr, q.stderr] if p.returncode or q.returncode else []
for f in sorted(os.listdir('a')) if not wrong else ():
    if f.endswith('.npz'):
        a, b = np.load('a/' + f)['y'], np.load('o/' + f)['y']
        wrong += [f] if a.reshape(b.shape).tobytes() != b.tobytes() else []
tap.none(wrong, 'a search beside a network changes none of its numbers, under any policy')

# Boxes.
D = dict(wb=rng.standard_normal((5, 4 * BOXES)).astype('f4'), ws=rng.standard_normal((5, 2 * BOXES)).astype('f4') * 0.5,
    to_boxes=np.int64([1, BOXES, 4]), to_scores=np.int64([1, 2, BOXES]), per=np.int64([3]), iou=np.float32([0.3]),
    low=np.float32([0.6]), c1=np.int64(1), c2=np.int64(2), flat=np.int64([-1]), rows4=np.int64([-1, 4]),
    st=np.int64([0, 0]), one=np.float32(1))
detect = [node('MatMul', ['x', 'wb'], ['b0']), node('Reshape', ['b0', 'to_boxes'], ['b1']),
    node('Split', ['b1'], ['corner', 'size0'], axis=2), node('Exp', ['size0'], ['size']),
    node('Add', ['corner', 'size'], ['far']), node('Concat', ['corner', 'far'], ['boxes'], axis=2),
    node('MatMul', ['x', 'ws'], ['s0']), node('Reshape', ['s0', 'to_scores'], ['s1']),
    node('Sigmoid', ['s1'], ['scores']),
    node('NonMaxSuppression', ['boxes', 'scores', 'per', 'iou', 'low'], ['kept']),
    node('Gather', ['kept', 'c2'], ['place'], axis=1), node('Gather', ['kept', 'c1'], ['label'], axis=1),
    node('Squeeze', ['boxes', 'ax0'], ['all']), node('Gather', ['all', 'place'], ['box']),
    node('Gather', ['kept', 'pair'], ['at'], axis=1), node('Squeeze', ['scores', 'ax0'], ['grid']),
    node('GatherND', ['grid', 'at'], ['score'])]
D |= dict(ax0=np.int64([0]), pair=np.int64([1, 2]))
OUT = {'box': 1, 'label': 7, 'score': 1}
write('m.onnx', detect, OUT, D)
want = theirs('m.onnx', [{'x': r[None]} for r in X])
p = run('--policy', 'float32,e4m3,float16,int8', '--json')
same('NonMaxSuppression', p, ours('float32', OUT), want)
tap.ok(len({len(w['label']) for w in want}) > 1, 'lists have several lengths')


def overlap(a, b):
    both = np.prod(np.maximum(np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2]), 0))
    return both / (np.prod(a[2:] - a[:2]) + np.prod(b[2:] - b[:2]) - both)


def matched(got, base, above):
    """(flips, boxes in one list alone, relative L2 distance of the boxes and scores that are in both)"""
    flips = alone = error = all = 0
    for g, w in zip(got, base):
        left, pairs = [j for j in range(len(g['label'])) if not g['score'][j] <= above], 0
        mine = [i for i in range(len(w['label'])) if not w['score'][i] <= above]
        n = len(left) + len(mine)
        for i in mine:
            fits = [(overlap(g['box'][j].astype('f8'), w['box'][i].astype('f8')), -j) for j in left
                if g['label'][j] == w['label'][i]]
            best = max(fits, default=(0, 0))
            if best[0] < 0.5:
                continue
            left.remove(-best[1])
            pairs += 1
            for k in ('box', 'score'):
                d = g[k][-best[1]].astype('f8') - w[k][i]
                error += np.sum(d * d)
                all += np.sum(w[k][i].astype('f8') ** 2)
        alone += n - 2 * pairs
        flips += n > 2 * pairs
    return flips, alone, (error / all) ** 0.5


def told(above, *more):
    p = run('--policy', 'float32,e4m3,float16,int8', '--json', *more)
    o, wrong, changed = json.loads(p.stdout), [], 0
    for r in o['policies']:
        flips, alone, far = matched(ours(r['policy'], OUT), ours('float32', OUT), above)
        got = (r['flips'], r['decision_flips'], r['rel_l2'])
        wrong += [] if got[:2] == (flips, alone) and abs(got[2] - far) <= 1e-9 * far else [
            '%s: %s for %s' % (r['policy'], got, (flips, alone, far))]
        wrong += [] if sum(c['was'] + c['is'] for c in r['changed']) == alone else ['changed: %s' % r['changed']]
        changed += flips
    wrong += [] if o['decision']['kind'] == 'lists' and o['output'] == 'box' else [str(o['decision'])]
    wrong += [] if changed else ['no policy changes a list']
    tap.none(wrong, 'changed lists are those that boxes say, with scores above %g' % above)


told(-1)
told(0.5, '--decision', 'boxes=0.5')
p = run('--policy', 'e4m3', '--accept', 'flips<=0%')
tap.ok(p.returncode == 1 and 'e4m3 changes' in p.stdout and "list 'box'" in p.stdout and 'e4m3 fails flips' in p.stdout,
    'a broken budget', [p.stdout, p.stderr])
p = run('--policy', 'e4m3', '--report', 'r')
h = subprocess.run([tap.HALFULP, 'report', 'r'], capture_output=True, text=True)
tap.ok(not p.returncode and not h.returncode, 'a page', [p.stderr, h.stderr])

# Files run as they are: what quantize_static wrote, and the model itself in float16 in ONNX's reference evaluator.
from onnx.reference import ReferenceEvaluator
from onnxruntime.quantization import CalibrationDataReader, quantize_static


class Rows(CalibrationDataReader):
    def __init__(self):
        self.rows = iter([{'x': r[None]} for r in X])

    def get_next(self):
        return next(self.rows, None)


quantize_static('m.onnx', 'q.onnx', Rows())
q = onnx.load('q.onnx')
outs = list(q.graph.output)[::-1]
del q.graph.output[:]
q.graph.output.extend(outs)
onnx.save(q, 'q.onnx')
p = run('--policy', 'float32,ort-static', '--against', 'q.onnx')
same('a quantised file, its outputs in another order', p, ours('q.onnx', OUT), theirs('q.onnx',
    [{'x': r[None]} for r in X]))
same('the scheme that predicts it', p, ours('ort-static', OUT), theirs('q.onnx', [{'x': r[None]} for r in X]), 1e-5)
H = [node('Cast', ['x'], ['h'], to=10), node('MatMul', ['h', 'wh'], ['s']), node('Tanh', ['s'], ['t']),
    node('Greater', ['s', 'zeroh'], ['m']), node('NonZero', ['m'], ['at']), node('Transpose', ['at'], ['row']),
    node('GatherND', ['t', 'row'], ['c']), node('Cast', ['c'], ['y'], to=1)]
write('m.onnx', H, {'y': 1}, C | dict(wh=C['w'].astype('f2'), zeroh=np.float16(0)))
e = ReferenceEvaluator('m.onnx')
p = run('--policy', 'float32')
same('a file in float16', p, ours('as_typed', 'y'), [{'y': e.run(None, {'x': r[None]})[0]} for r in X], 5e-4)
np.save('l.npy', np.zeros(N, 'i8'))
for option in (['--labels', 'l.npy'], ['--exact', '1'], ['--decision', 'axis=1'],
    ['--output', 'score'], ['--batch', '2']):
    p = run('--policy', 'fp16', *option)
    tap.ok(p.returncode == 2 and option[0] in p.stderr and p.stderr.count('\n') == 1, 'refused: ' + ' '.join(option),
        [p.stdout[-300:], p.stderr])
tap.finish()
