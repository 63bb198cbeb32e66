#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Decisions of detectors and of speech: at each place of [N,4+C,A] or [N,A,4+C] the class of the box or none, and texts
# that connectionist temporal classification reads. The models pass whole numbers on, which bfloat16 rounds where they
# need more than 8 bits: every figure is computed here from these.
import json
import math
import os
import random
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
import tap
from npzfile import npz
from onnxfile import *

os.chdir(tap.home())
random.seed(41)
N = 12


def bf16(v):
    """A whole number rounded to 8 significant bits, ties to even."""
    step = 2.0 ** (math.frexp(abs(v))[1] - 8) if v else 1
    return round(v / step) * step if step > 1 else float(v)


def passing(path, shape):
    """A model whose output is its input; the node between them is one that a policy rounds."""
    write(path, graph([node('Relu', 'x', 'p'), node('Identity', 'p', 'y')], [], [value('x', ['n'] + shape)],
                      [value('y')]))


def run(*words):
    got = tap.halfulp('validate', *words, '--policy', 'bf16', '--json')
    return json.loads(got.stdout) if got.returncode in (0, 1) else tap.bail_out(got.stderr)


def refused(text, pattern, code, *words):
    got = tap.halfulp('validate', *words, '--policy', 'bf16')
    good = got.returncode == code and got.stderr.count('\n') == 1 and pattern in got.stderr and not got.stdout
    tap.ok(good, text + ' is refused in one line', [got.returncode, got.stderr, got.stdout[:200]])


def judged(text, told, kind, want32, want, steps32, steps, accuracy=None):
    low, flips = told['policies'][1], sum(a != b for a, b in zip(want32, want))
    changed = sum(a != b for r, s in zip(steps32, steps) for a, b in zip(r, s))
    d = told['decision']
    good = d['kind'] == kind and d['of_an_input'] == len(steps[0])
    tap.ok(good and low['flips'] == flips > 0 and low['decision_flips'] == changed and len(low['changed']) == flips,
        '%s: %d of %d inputs flip, and %d decisions' % (text, flips, N, changed),
        [d, low['flips'], low['decision_flips']])
    tap.ok(not told['exact']['changed'], text + ': float32 decides as exactly')
    for row, right in zip(told['policies'], accuracy or ()):
        tap.ok(abs(row['accuracy'] - right) < 1e-12, '%s: %s is right of %.4f' % (text, row['policy'], right),
            [row['accuracy']])


# Boxes: four numbers and the scores of C classes at A places; scores are near the threshold and near each other.
C, A, LEAST = 3, 10, 600
boxes = [[[random.randint(0, 3000) for _ in range(4)] + [random.randint(585, 620) for _ in range(C)] for _ in range(A)]
    for _ in range(N)]
boxes[0] = [[7] * 4 + [9] * C] * A # an input without a box, and none afterwards


def found(place, f):
    scores = [f(v) for v in place[4:]] + [LEAST]
    return scores.index(max(scores))


steps32 = [[found(p, float) for p in places] for places in boxes]
steps = [[found(p, bf16) for p in places] for places in boxes]
tap.ok(any(C in s for s in steps32) and any(a == C != b for r, s in zip(steps32, steps) for a, b in zip(r, s)),
    'places without a box get one')
flat = lambda rows: [v for a in rows for b in a for v in b]
right32 = sum(a == b for r, s in zip(steps32, steps32) for a, b in zip(r, s)) / (N * A)
right = sum(a == b for r, s in zip(steps32, steps) for a, b in zip(r, s)) / (N * A)
labels = [v for s in steps32 for v in s]
npz('last.npz', x=([N, A, 4 + C], flat(boxes)), labels=([N, A], labels, '<i8'))
npz('first.npz', x=([N, 4 + C, A], flat([list(zip(*places)) for places in boxes])), labels=([N, A], labels, '<i8'),
    wrong=([N, A + 1], [0] * N * (A + 1), '<i8'), far=([N, A], [C + 1] * N * A, '<i8'))
passing('last.onnx', [A, 4 + C])
passing('first.onnx', [4 + C, A])
for name in ('last', 'first'):
    got = run(name + '.onnx', '--data', name + '.npz', '--decision', 'boxes=%d' % LEAST, '--labels', 'labels')
    judged('boxes, scores along the %s axis' % name, got, 'boxes', steps32, steps, steps32, steps, (right32, right))
    tap.ok(got['decision']['threshold'] == LEAST and got['decision']['axis'] == (2 if name == 'last' else 1),
        'and says the threshold and the axis', [got['decision']])
shown = tap.halfulp('validate', 'first.onnx', '--data', 'first.npz', '--decision', 'boxes=600', '--policy', 'bf16')
tap.ok('a place of output' in shown.stdout and 'of 3 scores along axis 1' in shown.stdout,
    'the text says what a flip is', [shown.stdout])
first = 'first.onnx', '--data', 'first.npz', '--decision', 'boxes=600'
refused('labels of other places', '--labels', 3, *first, '--labels', 'wrong')
refused('a label beyond the classes', 'classes 0 to 3', 3, *first, '--labels', 'far')
passing('thin.onnx', [4, A])
npz('thin.npz', x=([N, 4, A], [1.0] * N * 4 * A))
refused('four numbers and no class', "four numbers and its classes' scores", 2, 'thin.onnx', '--data', 'thin.npz',
    '--decision', 'boxes')

# Texts: T steps of K classes, blank among them; the largest two of a step are near each other.
T, K = 9, 4
speech = [[[random.randint(512, 530) for _ in range(K)] for _ in range(T)] for _ in range(N)]


def path(steps, f):
    return [[f(v) for v in step].index(max(f(v) for v in step)) for step in steps]


def text(path, blank):
    return [v for i, v in enumerate(path) if v != blank and (not i or path[i - 1] != v)]


paths32, paths = [path(s, float) for s in speech], [path(s, bf16) for s in speech]
passing('speech.onnx', [T, K])
passing('channels.onnx', [K, T])
for blank, words in ((0, 'ctc'), (K - 1, 'ctc=-1'), (2, 'ctc=2')):
    want32, want = [text(p, blank) for p in paths32], [text(p, blank) for p in paths]
    labels = [w + [-1] * (T - len(w)) for w in want32]
    npz('speech.npz', x=([N, T, K], flat(speech)), labels=([N, T], [v for w in labels for v in w], '<i8'))
    npz('channels.npz', x=([N, K, T], flat([list(zip(*s)) for s in speech])))
    accuracy = 1.0, sum(a == b for a, b in zip(want32, want)) / N
    got = run('speech.onnx', '--data', 'speech.npz', '--decision', words + ',ignore=-1', '--labels', 'labels')
    judged('texts with blank %d' % blank, got, 'ctc', want32, want, paths32, paths, accuracy)
    got = run('channels.onnx', '--data', 'channels.npz', '--decision', words + ',axis=1')
    judged('texts of classes along axis 1', got, 'ctc', want32, want, paths32, paths)
tap.ok(any(a != b and text(a, 2) == text(b, 2) for a, b in zip(paths32, paths)),
    'steps may change where a text does not')
refused('a blank beyond the classes', 'has classes 0 to 3', 2, 'speech.onnx', '--data', 'speech.npz', '--decision',
    'ctc=4')
refused('a letter beyond the classes', 'label', 3, 'speech.onnx', '--data', 'speech.npz', '--decision', 'ctc',
    '--labels', 'labels')
refused('two kinds at once', 'only one of', 2, 'speech.onnx', '--data', 'speech.npz', '--decision', 'ctc,last,none')
tap.finish()
