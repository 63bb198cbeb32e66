#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# What validate takes for a decision: classes along any axis, elements above a threshold, indices that the model finds
# itself; which labels fit; and rules that hold of one output or of each. The models pass whole numbers on, which
# bfloat16 rounds where they need more than 8 bits: every figure is computed here.
import json, math, os, random, sys

sys.dont_write_bytecode = True
TOP = os.path.abspath(os.environ.get('srcdir', '.'))
sys.path.insert(0, os.path.join(TOP, 't/tool'))
import tap
from npzfile import npz
from onnxfile import *

os.chdir(tap.home())
random.seed(36)


def bf16(v):
    """A whole number rounded to 8 significant bits, ties to even."""
    if not v:
        return 0.0
    step = 2.0 ** (math.frexp(abs(v))[1] - 8)
    return round(v / step) * step if step > 1 else v


def run(*words):
    got = tap.halfulp('validate', *words, '--policy', 'bf16', '--json')
    return json.loads(got.stdout) if got.returncode in (0, 1) else tap.bail_out(got.stderr)


def refused(text, pattern, code, *words):
    got = tap.halfulp('validate', *words, '--policy', 'bf16')
    good = got.returncode == code and got.stderr.count('\n') == 1 and pattern in got.stderr and not got.stdout
    tap.ok(good, text + ' is refused in one line', [got.returncode, got.stderr, got.stdout[:200]])


def index_of(shape, at):
    i = 0
    for d, k in zip(shape, at):
        i = i * d + k
    return i


def places(shape):
    return [()] if not shape else [(k,) + rest for k in range(shape[0]) for rest in places(shape[1:])]


def decided(values, shape, axis):
    """By input, the classes at each place without the axis."""
    all_, C = [], shape[axis]
    for at in places([d for i, d in enumerate(shape) if i != axis]):
        of = [values[index_of(shape, at[:axis] + (c,) + at[axis:])] for c in range(C)]
        all_.append(of.index(max(of)))
    return all_


def judge(text, told, want32, want, n, axis, kind='class', labels=None, ignore=None):
    """Decisions of all inputs, those of an input together, in float32 and in bfloat16."""
    low, each = told['policies'][1], len(want32) // n
    flips = sum(want32[i * each : i * each + each] != want[i * each : i * each + each] for i in range(n))
    wrong = sum(a != b for a, b in zip(want32, want))
    d = told['decision']
    tap.ok(
        (d['kind'], d['axis'], d['of_an_input']) == (kind, axis, each) and low['flips'] == flips > 0
        and low['decision_flips'] == wrong and len(low['changed']) == flips,
        '%s: %d of %d inputs flip, %d of their %d decisions' % (text, flips, n, wrong, n * each),
        [d, low],
    )
    tap.ok(told['exact']['inputs'] > 0 and not told['exact']['changed'], text + ': float32 decides as exactly')
    if labels:
        for row, got in zip(told['policies'], (want32, want)):
            kept = [(a, b) for a, b in zip(got, labels) if b != ignore]
            right = sum(a == b for a, b in kept) / len(kept)
            tap.ok(abs(row['accuracy'] - right) < 1e-12, '%s: %s is right of %.3f' % (text, row['policy'], right), row)


def passing(path, shape, *more, tensors=()):
    """A model whose output y is its input x, but for MORE nodes behind it, which read p."""
    nodes = [node('Add', 'x zero', 'p' if more else 'y', name='pass'), *more]
    write(path, graph(nodes, [floats('zero', [1], [0]), *tensors], [value('x', ['n', *shape])], [value('y')]))


N, C, H, W = 6, 3, 4, 5
shape = [N, C, H, W]
x = [float(random.randint(513, 540)) for _ in range(N * C * H * W)]
low = [bf16(v) for v in x]
passing('seg.onnx', shape[1:])
right = decided(x, shape, 1)
labels = [(a if random.random() < 0.8 else (a + 1) % C) for a in right]
npz('seg.npz', x=(shape, x), labels=([N, H, W], labels, '<i8'))
seg = 'seg.onnx', '--data', 'seg.npz'
text = tap.halfulp('validate', *seg, '--policy', 'bf16', '--decision', 'none').stdout
tap.ok('Nothing is decided, as --decision none says' in text, 'the text says that nothing is decided', text)
judge('an image', run(*seg), right, decided(low, shape, 1), N, 1)
judge('its labels', run(*seg, '--labels', 'labels'), right, decided(low, shape, 1), N, 1, labels=labels)
for words, axis in (('last', 3), ('axis=3', 3), ('axis=-1', 3), ('axis=2', 2)):
    got = run(*seg, '--decision', words)
    judge('--decision ' + words, got, decided(x, shape, axis), decided(low, shape, axis), N, axis)
text = tap.halfulp('validate', *seg, '--policy', 'bf16').stdout
flips = sum(a != b for a, b in zip(right, decided(low, shape, 1)))
tap.ok(
    "the largest of the 3 values along axis 1 of output 'y'" in text
    and 'An input has 20 such decisions. bf16 changes %d of all 120.' % flips in text,
    'the text says which axis, and how many pixels',
    text,
)
s = run(*seg, '--sensitivity')['policies'][1]
tap.ok(
    [n['low_flips'] for n in s['sensitivity']['nodes']] == [s['flips']],
    'the flips of the only node alone are those of all',
    s['sensitivity'],
)
got = run(*seg, '--decision', 'none')
r = got['policies'][1]
tap.ok(got['decision'] is r['flips'] is r['decision_flips'] is None and r['rel_l2'] > 0, 'none decides nothing', got)

for bad in ('axis=0', 'axis=4', 'axis=1,last', 'axis=x', 'threshold=', 'threshold=nan', 'first', 'none,threshold=1'):
    refused('--decision ' + bad, '--decision', 2, *seg, '--decision', bad)
refused('labels where nothing decides', '--labels', 2, *seg, '--labels', 'labels', '--decision', 'none')
refused('labels along another axis', 'N x 4 x 5 of them', 3, *seg, '--labels', 'labels', '--decision', 'last')
for name, shape_, values in (
    ('too few axes', [N, H], [0] * (N * H)),
    ('turned', [N, W, H], labels),
    ('a class too many', [N, H, W], labels[:-1] + [C]),
    ('a class below 0', [N, H, W], [-1] + labels[1:]),
):
    npz('bad.npz', x=(shape, x), labels=(shape_, values, '<i8'))
    refused('labels: ' + name, '--labels', 3, 'seg.onnx', '--data', 'bad.npz', '--labels', 'labels')
holes = [-1 if i % 7 == 0 else v for i, v in enumerate(labels)]
npz('holes.npz', x=(shape, x), labels=([N, H, W], holes, '<i8'))
got = run('seg.onnx', '--data', 'holes.npz', '--labels', 'labels', '--decision', 'axis=1,ignore=-1')
judge('labels that are left out', got, right, decided(low, shape, 1), N, 1, labels=holes, ignore=-1)

# Channels last, which only the labels say
last = decided(x, [N, H, W, C], 3)
passing('last.onnx', [H, W, C])
npz('last.npz', x=([N, H, W, C], x), labels=([N, H, W], last, '<i8'))
got = run('last.onnx', '--data', 'last.npz', '--labels', 'labels')
judge('channels last', got, last, decided(low, [N, H, W, C], 3), N, 3, labels=last)

# A sequence with the classes last, and one whose Softmax names axis 1
t = [N, 4, 15]
npz('t.npz', x=(t, x))
passing('t.onnx', t[1:])
judge('a sequence', run('t.onnx', '--data', 't.npz'), decided(x, t, 2), decided(low, t, 2), N, 2)
passing('soft.onnx', t[1:], node('Div', 'p k', 'q'), node('Softmax', 'q', 'y', axis=1),
        tensors=[floats('k', [1], [64])])
judge('a Softmax', run('soft.onnx', '--data', 't.npz'), decided(x, t, 1), decided(low, t, 1), N, 1)

# Rows in ascending order, so that the last element rounds to what others before it do
x = [v for i in range(N) for v in sorted(x[60 * i : 60 * i + 60])]
low = [bf16(v) for v in x]

# Elements above a threshold: labels are 0 and 1
above = lambda values: [int(v > 526) for v in values]
npz('multi.npz', x=([N, 60], x), labels=([N, 60], above(x), '<i8'))
passing('multi.onnx', [60])
multi = 'multi.onnx', '--data', 'multi.npz'
got = run(*multi, '--labels', 'labels', '--decision', 'threshold=526')
judge('a threshold', got, above(x), above(low), N, None, 'threshold', above(x))
r = got['policies'][1]['changed'][0]
at = r['input'] * 60 + r['row']
tap.ok(
    (r['was'], r['is'], r['margin32'], r['margin']) == (above(x)[at], above(low)[at], abs(x[at] - 526),
                                                        abs(low[at] - 526)),
    'margins are distances from the threshold',
    r,
)
refused('labels of one class an input', '--labels', 3, *multi,
        '--labels', 'seg.npz:labels', '--decision', 'threshold=526')

# Indices that the model finds itself
passing('arg.onnx', [60], node('ArgMax', 'p', 'y', axis=1, keepdims=0))
got = run('arg.onnx', '--data', 'multi.npz')
judge('an ArgMax', got, decided(x, [N, 60], 1), decided(low, [N, 60], 1), N, None, 'index')

# Rules: of one output, of each of them
nodes = [node('Add', 'x zero', 'logits', name='pass'), node('Mul', 'x none', 'big', name='exact')]
write(
    'two.onnx',
    graph(nodes, [floats('zero', [1], [0]), floats('none', [1], [0.0])], [value('x', ['n', 60])],
          [value('logits', ['n', 60]), value('big', ['n', 60])]),
)
two = 'two.onnx', '--data', 'multi.npz'
got = run(*two)
error = sum((a - b) ** 2 for a, b in zip(x, low))
of = {o['output']: o for o in got['policies'][1]['outputs']}
rel = math.sqrt(error / sum(v * v for v in x))
tap.ok(
    abs(of['logits']['rel_l2'] / rel - 1) < 1e-12
    and abs(of['logits']['sqnr_db'] + 20 * math.log10(rel)) < 1e-9
    and of['logits']['max_error'] == max(abs(a - b) for a, b in zip(x, low))
    and (of['big']['rel_l2'], of['big']['sqnr_db'], of['big']['max_error'], of['big']['nonfinite']) == (0, 'inf', 0, 0),
    'distances of each output',
    of,
)
off, sums = [b - a for a, b in zip(x, low)], [[0.0] * 128, [0.0] * 128]
for i, (a, d) in enumerate(zip(x, off)):
    sums[0][i * 128 // len(x)] += d
    sums[1][i * 128 // len(x)] += d * ((a > 0) - (a < 0))
rms = math.sqrt(error / len(x))
want = [sum(s) / len(x) / rms for s in sums] + [max(abs(sum(s)) / math.sqrt(sum(v * v for v in s)) for s in sums)]
got_bias = [of['logits'][k] for k in ('signed_share', 'outward_share', 'bias_t')]
tap.ok(all(abs(a - b) < 1e-9 for a, b in zip(want, got_bias)) and of['big']['bias_t'] is None,
       'whether the errors of each output have one direction', (got_bias, want))
db = -20 * math.log10(rel)
for rule, good in (
    ('sqnr>=%.6f' % (db - 0.001), True), ('sqnr>=%.6f' % (db + 0.001), False),
    ('logits:sqnr>=%.6f' % (db + 0.001), False), ('big:sqnr>=%.6f' % (db + 0.001), True),
    ('rel_l2<=%.9f' % (rel * 0.999), False), ('big:max_error<=0', True), ('max_error<=0', False),
    ('logits:flips<=0', False), ('logits:nonfinite<=0', True),
):
    got = tap.halfulp('validate', *two, '--policy', 'bf16', '--accept', rule)
    tap.ok(got.returncode == (0 if good else 1), '%s: %s' % (rule, 'kept' if good else 'broken'), got.stdout)
refused('a rule on decisions of another output', 'decisions are counted of', 2, *two, '--accept', 'big:flips<=0')
refused('a rule on no output', "no output 'none'", 2, *two, '--accept', 'none:sqnr>=1')
refused('a rule without a figure', '--accept', 2, *two, '--accept', 'logits:>=1')
tap.finish()
