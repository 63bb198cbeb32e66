#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Changes of the graph that advise proposes where a whole model in float16 breaks the budget: an eps that is 0 there, a
# mask that is infinite, squares, a residual stream or the sum of a long mean that overflow. The model that it writes is
# loaded by onnxruntime, and in float16, node by node in ONNX's reference evaluator and converted by
# onnxconverter-common, it keeps the budget on inputs held apart, which the model as it was breaks there. HALFULP names
# the program.
import os, sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/import'))
import tap
from ort_tools import *

try:
    from onnxconverter_common import float16 as occ
    from onnx.reference import ReferenceEvaluator
    from onnx.reference.op_run import OpRun
except ImportError as e:
    tap.skip_all('no %s' % e.name)
os.chdir(tap.home())
r = numpy.random.default_rng(41)
R = lambda *s: r.standard_normal(s).astype(f32)
FLOAT = TensorProto.FLOAT
LEAST = 30  # dB
A, B = R(16, 16) / 4, R(16, 5)

norm = lambda square: [
    N('MatMul', ['x', 'A'], ['h'], name='up'),
    N('Mul', ['h', 'k'], ['g'], name='scale'),
    square,
    N('ReduceMean', ['p'], ['v'], name='mean', axes=[-1], keepdims=1),
    N('Add', ['v', 'eps'], ['w'], name='eps'),
    N('Sqrt', ['w'], ['s'], name='root'),
    N('Div', ['g', 's'], ['n'], name='norm'),
    N('MatMul', ['n', 'B'], ['y'], name='down'),
]
unit = [
    N('MatMul', ['x', 'A'], ['h'], name='up'),
    N('Abs', ['h'], ['a'], name='abs'),
    N('ReduceSum', ['a', 'axis'], ['l'], name='length'),
    N('Clip', ['l', 'eps'], ['c'], name='least'),
    N('Div', ['h', 'c'], ['u'], name='unit'),
    N('MatMul', ['u', 'B'], ['y'], name='down'),
]
mask = [
    N('MatMul', ['x', 'A'], ['h'], name='scores'),
    N('Sub', ['one', 'm'], ['o'], name='out'),
    N('Mul', ['o', 'low'], ['b'], name='low'),
    N('Add', ['h', 'b'], ['s'], name='masked'),
    N('Softmax', ['s'], ['p'], name='softmax', axis=-1),
    N('MatMul', ['p', 'B'], ['y'], name='down'),
]
stream = [
    N('MatMul', ['x', 'A'], ['h'], name='up'),
    N('Relu', ['h'], ['t'], name='act'),
    N('MatMul', ['t', 'W'], ['o'], name='out'),
    N('Add', ['x', 'o'], ['r'], name='first'),
    N('LayerNormalization', ['r', 'g', 'b'], ['n'], name='norm', epsilon=1e-3),
    N('MatMul', ['n', 'A'], ['h2'], name='up2'),
    N('MatMul', ['h2', 'V'], ['o2'], name='out2'),
    N('Add', ['r', 'o2'], ['r2'], name='second'),
    N('MatMul', ['r2', 'U'], ['m'], name='side'),
    N('LayerNormalization', ['r2', 'g', 'b'], ['n2'], name='norm2'),
    N('Add', ['n2', 'm'], ['s'], name='joined'),
    N('MatMul', ['s', 'B'], ['y'], name='down'),
]
long = lambda *behind: [
    N('MatMul', ['x', 'A'], ['h'], name='up'),
    N('Abs', ['h'], ['a'], name='abs'),
    N('MatMul', ['a', 'W'], ['t'], name='wide'),
    N('ReduceSum', ['t', 'axis'], ['l'], name='sum'),
    N(*behind, name='mean'),
    N('Mul', ['h', 'v'], ['u'], name='gate'),
    N('MatMul', ['u', 'B'], ['y'], name='down'),
]
terms = {'A': A, 'B': B / 30, 'W': 2 + abs(R(16, 4096)), 'axis': numpy.array([-1])}
plain = [N('MatMul', ['x', 'A'], ['h'], name='up'), N('Relu', ['h'], ['t'], name='act'),
         N('MatMul', ['t', 'B'], ['y'], name='down')]
big = {'A': A, 'B': B, 'k': f32(300), 'two': f32(2), 'eps': f32(1e-5)}
zero = R(32, 16)
zero[::5] = 0
x = {'x': R(32, 16)}
kept = (r.random((32, 16)) < 0.7).astype(f32)
kept[:, 0] = 1
# Name: nodes, constants, inputs, the remedy, and the ways that break the budget without it.
CASES = {
    'a square of Pow': (norm(N('Pow', ['g', 'two'], ['p'], name='square')), big, x, 'squares', {'fp16', 'occ-fp16'}),
    'a square of Mul': (norm(N('Mul', ['g', 'g'], ['p'], name='square')), big, x, 'squares', {'fp16', 'occ-fp16'}),
    'an eps of a divisor': (
        unit,
        {'A': A, 'B': B, 'axis': numpy.array([-1]), 'eps': f32(1e-12)},
        {'x': zero},
        'eps',
        {'fp16'},
    ),
    'a mask': (
        mask,
        {'A': A, 'B': B, 'one': f32(1), 'low': f32(-3.4e38)},
        x | {'m': kept},
        'mask',
        {'fp16'},
    ),
    'a stream': (
        stream,
        {'A': A, 'B': B, 'W': R(16, 16) * f32(6e4), 'V': R(16, 16), 'U': R(16, 16) * f32(1e-5)}
        | {'g': 1 + R(16) / 8, 'b': R(16)},
        x,
        'stream',
        {'fp16', 'occ-fp16'},
    ),
    'a mean of Div': (long('Div', ['l', 'count'], ['v']), terms | {'count': f32(4096)}, x, 'means',
        {'fp16', 'occ-fp16'}),
    'a mean of a-Mul': (long('Mul', ['share', 'l'], ['v']), terms | {'share': f32(1 / 4096)}, x, 'means',
        {'fp16', 'occ-fp16'}),
    'nothing to remedy': (plain, {'A': A, 'B': B}, x, None, set()),
}


def sqnr(a, b):
    return -20 * numpy.log10(max(rel(a, b), 1e-30)) if numpy.isfinite(a).all() else -numpy.inf


class LayerNormalization(OpRun):
    """With statistics in float32, as stash_type says and the evaluator's own has not."""
    op_domain = ''

    def _run(self, x, g, b=None, axis=-1, epsilon=1e-5, stash_type=1):
        v = x.astype(f32)
        d = v - v.mean(-1, keepdims=True)
        v = d / numpy.sqrt((d * d).mean(-1, keepdims=True) + f32(epsilon)) * g.astype(f32) + b.astype(f32)
        return (v.astype(x.dtype),)


def half(path, data, **options):
    """The reference evaluator's outputs of the whole model in float16."""
    m = quiet(occ.convert_float_to_float16, onnx.load(path), **options)
    with numpy.errstate(all='ignore'):
        feeds = {k: v.astype(numpy.float16) for k, v in data.items()}
        y = ReferenceEvaluator(m, new_ops=[LayerNormalization]).run(None, feeds)
    return y[0].astype(numpy.float64)


ALL = dict(op_block_list=[], min_positive_val=2.0**-24, max_finite_val=65504)
for name, (nodes, held, data, remedy, breaks) in CASES.items():
    model(nodes, {k: (FLOAT, ['n', 16]) for k in data}, ['y'], held)
    numpy.savez('data.npz', **data)
    out = name.split()[-1]
    words = 'advise float.onnx --data data.npz --format fp16 --out'.split() + [out]
    budget = ['--accept', 'sqnr>=%d' % LEAST, '--accept', 'nonfinite<=0']
    got = tap.halfulp(*words, *budget, '--json')
    if not tap.ok(got.returncode == 0, name + ': advise finds a plan', got.stderr):
        continue
    ways = {w['way']: w for w in json.loads(got.stdout)['remedies']}
    tap.ok(set(ways) == {'fp16', 'occ-fp16'}, name + ': both ways are told', list(ways))
    tap.ok({k for k, w in ways.items() if w['needed']} == breaks, name + ': these break the budget: %s' % breaks, ways)
    apart = {k: v[16:] for k, v in data.items()}
    float32 = run('float.onnx', [apart])['y']
    for way, w in ways.items():
        if way not in breaks:
            tap.ok(w['model'] is None and not w['remedies'], '%s, %s: nothing is changed' % (name, way), w)
            continue
        what = '%s, %s' % (name, way)
        if not tap.ok([k['remedy'] for k in w['remedies']] == [remedy] and w['keeps'], what + ': ' + remedy, w):
            continue
        y = run(w['model'], [apart])['y']
        tap.ok(sqnr(y, float32) >= 60, what + ': onnxruntime has the same outputs of the file', sqnr(y, float32))
        options = ALL if way == 'fp16' else {}
        y, told = half(w['model'], apart, **options), w['after']['held_apart']['sqnr_db']
        tap.ok(
            sqnr(y, float32) >= LEAST and abs(sqnr(y, float32) - told) < 3,
            what + ': in float16 the budget is kept on inputs held apart',
            '%.1f dB, and %.1f were promised' % (sqnr(y, float32), told),
        )
        if way == 'occ-fp16' or remedy in ('squares', 'stream', 'means'):
            was = half('float.onnx', apart, **options)
            tap.ok(sqnr(was, float32) < LEAST, what + ': without the change it is broken', sqnr(was, float32))
    text = tap.halfulp(*words, *budget).stdout
    tap.ok(('remedied_' in text) == bool(breaks), name + ': the file is named', text)
    tap.ok(not [f for f in os.listdir(out) if f.endswith(('.try', '.0'))], name + ': no attempt is left behind')
print('# ' + text.replace('\n', '\n# '))
tap.finish()
