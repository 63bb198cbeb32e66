#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# What validate says of next tokens: the perplexity of the labels under each policy, by logits and by probabilities, and
# how many of all tokens change. The model passes numbers on that bfloat16 rounds; every figure is computed here.
import json
import math
import os
import random
import struct
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
import tap
from npzfile import npz
from onnxfile import *

os.chdir(tap.home())
random.seed(5)
N, T, V = 8, 5, 6
f32 = lambda v: struct.unpack('<f', struct.pack('<f', v))[0]


def bf16(v):
    step = 2.0 ** (math.frexp(v)[1] - 8) if v else 1
    return round(v / step) * step


def perplexity(rows, labels):
    nats = [math.log(sum(math.exp(v - max(r)) for v in r)) - r[k] + max(r) for r, k in zip(rows, labels) if k >= 0]
    return math.exp(math.fsum(nats) / len(nats))


def run(*words):
    return tap.halfulp('validate', 'm.onnx', '--data', 'm.npz', '--policy', 'bf16', '--exact', '0', *words)


rows = [[f32(random.uniform(3.9, 4.1)) for _ in range(V)] for _ in range(N * T)]
low = [[bf16(v) for v in r] for r in rows]
labels = [random.choice([-100] + list(range(V))) for _ in rows]
npz('m.npz', x=([N, T, V], [v for r in rows for v in r]), labels=([N, T], labels, '<i8'))
write('m.onnx', graph([node('Identity', 'x', 'p'), node('Add', 'p zero', 'y', name='pass')], [floats('zero', [1], [0])],
                      [value('x', ['n', T, V])], [value('y')]))
words = '--labels', 'labels', '--decision', 'last,ignore=-100'
got = run(*words, '--json')
told = json.loads(got.stdout) if got.returncode == 0 else tap.bail_out(got.stderr)
want = [perplexity(rows, labels), perplexity(low, labels)]
is_ = [p['perplexity'] for p in told['policies']]
tap.ok(all(abs(a / b - 1) < 1e-9 for a, b in zip(is_, want)) and want[0] != want[1], 'the perplexity of the labels',
    [is_, want])
tokens = sum(a.index(max(a)) != b.index(max(b)) for a, b in zip(rows, low))
tap.ok(told['policies'][1]['decision_flips'] == tokens > 0, '%d of %d tokens change' % (tokens, N * T))
text = run(*words).stdout
tap.ok('is float32 %.6g, bf16 %.6g.\n' % tuple(want) in text, 'the text says it', [text])
tap.ok('bf16 changes %d of all %d.' % (tokens, N * T) in text, 'and how many of all tokens change', [text])
for limit, code in ((max(want) + 0.01, 0), (min(want) - 0.01, 1)):
    p = run(*words, '--accept', 'perplexity<=%r' % limit)
    tap.ok(p.returncode == code, 'a rule on the perplexity, exit code %d' % code, [p.stdout, p.stderr])
for wrong, text, more in (('perplexity<=9', '--labels', ()), ('perplexity<=9%', 'are shares', words),
    ('perplexity<=9', 'have a perplexity', ('--labels', 'labels', '--decision', 'threshold=0'))):
    if 'threshold' in str(more):
        npz('m.npz', x=([N, T, V], [v for r in rows for v in r]), labels=([N, T, V], [0] * N * T * V, '<i8'))
    p = run('--accept', wrong, *more)
    tap.ok(p.returncode == 2 and text in p.stderr and p.stderr.count('\n') == 1, 'refused: ' + text, [p.stderr])
tap.ok(json.loads(run('--json').stdout)['policies'][0]['perplexity'] is None, 'without labels there is none')

# The same by probabilities: a Softmax ends the graph.
npz('m.npz', x=([N, T, V], [v for r in rows for v in r]), labels=([N, T], labels, '<i8'))
write('m.onnx', graph([node('Softmax', 'x', 'y', name='pass', axis=2)], [], [value('x', ['n', T, V])], [value('y')]))
got = run(*words, '--json')
is_ = json.loads(got.stdout)['policies'][0]['perplexity'] if got.returncode == 0 else tap.bail_out(got.stderr)
tap.ok(abs(is_ / want[0] - 1) < 1e-6, 'by probabilities', [is_, want[0]])
tap.finish()
