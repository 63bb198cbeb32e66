#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# How far the expected outputs of ONNX's own node tests lie from the exact results of their operators: a row an operator
# with its float32 values, how many are further than half an ulp of float32 from the exact one (so that the value is not
# the exact one rounded), the share, and the largest distance in ulps. The exact results are those of halfulp validate
# --exact, in doubles. A test counts where it is of one node, its outputs are float32, and the exact ones are known. Needs
# the Python package onnx 1.22. Run by itself it writes doc/onnx-expected.tsv and the table of doc/onnx.md; with
# operators as arguments their rows alone.
import collections
import os
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import nodetests

DOC = os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 'doc')
TABLE, PAGE = DOC + '/onnx-expected.tsv', DOC + '/onnx.md'
HEAD = ['operator', 'tests', 'values', 'beyond_half_ulp', 'share', 'largest_ulp']
NAMED = {'NegativeLogLikelihoodLoss': 'nllloss', 'SoftmaxCrossEntropyLoss': 'sce'}  # as tests' names have them
BEGIN, END = '<!-- half an ulp -->', '<!-- until here -->'


def ulps(value, exact):
    """Distances in ulps of float32 at the exact value, no ulp smaller than that of float32's smallest number."""
    import numpy

    _, e = numpy.frexp(numpy.abs(exact))
    ulp = numpy.ldexp(1.0, numpy.maximum(e - 24, -149))
    return numpy.abs(value.astype(numpy.float64) - exact) / ulp


def measured(name, dir):
    """The operator and the distances of all values, or why there are none."""
    import numpy

    t = nodetests.load(name)
    if isinstance(t, str):
        return t
    nodes = t.model.graph.node
    if len(nodes) != 1 or any(a.dtype != numpy.float32 for a in t.wants):
        return 'not one node with float32 outputs'
    why = nodetests.run(t, dir, '1')
    if why:
        return why
    if not os.path.exists(dir + '/out/exact.npz'):
        return 'no exact values'
    with numpy.load(dir + '/out/exact.npz') as got:
        far = []
        for v, want in zip(t.model.graph.output, t.wants):
            if v.name not in got or got[v.name].size != want.size:
                return 'no exact values'
            exact = got[v.name].reshape(want.shape)
            both = numpy.isfinite(want) & numpy.isfinite(exact)
            far.append(ulps(want[both], exact[both]))
    return nodes[0].op_type, numpy.concatenate([f.ravel() for f in far])


def rows_of(operators=None, say=lambda left: None):
    """The table's rows, sorted by operator; of these operators alone where they are given."""
    dir = tempfile.mkdtemp(prefix='halfulp-half-ulps-')
    far, left = collections.defaultdict(list), collections.Counter()
    for name in nodetests.names():
        if operators and not any(name.startswith('test_' + NAMED.get(op, op.lower())) for op in operators):
            continue
        got = measured(name, dir)
        if isinstance(got, str):
            left[got] += 1
        elif not operators or got[0] in operators:
            far[got[0]].append(got[1])
    shutil.rmtree(dir)
    say(left)
    for op, of in sorted(far.items()):
        n, beyond = sum(f.size for f in of), sum(int((f > 0.5).sum()) for f in of)
        largest = max((float(f.max()) for f in of if f.size), default=0)
        if n:
            yield [op, str(len(of)), str(n), str(beyond), '%.4f' % (beyond / n), '%.4g' % largest]


def read(path):
    return [x.rstrip('\n').split('\t') for x in open(path)][1:]


def page(rows):
    """The part of doc/onnx.md that holds numbers: sentences, and the operators with values beyond half an ulp."""
    tests, values, beyond = (sum(int(r[k]) for r in rows) for k in (1, 2, 3))
    some = sorted((r for r in rows if int(r[3])), key=lambda r: -int(r[3]) / int(r[2]))
    out = [
        'Of %d values in %d tests of %d operators, %d (%.1f %%) are further than half an ulp of float32 from the exact'
        % (values, tests, len(rows), beyond, 100 * beyond / values),
        'result; %d operators have none such.' % (len(rows) - len(some)),
        '',
        '| operator | tests | values | beyond half an ulp | share | largest distance, ulp |',
        '|---|---|---|---|---|---|',
    ]
    return out + ['| %s | %s | %s | %s | %.1f %% | %s |' % (*r[:4], 100 * float(r[4]), r[5]) for r in some]


def write(operators):
    """Measures all or these, and writes doc/onnx-expected.tsv and the page's part between its marks."""
    kept = [r for r in read(TABLE) if r[0] not in operators] if operators else []
    say = lambda left: print('%d tests left out:' % sum(left.values()), left.most_common(5))
    rows = sorted(kept + list(rows_of(operators, say)))
    with open(TABLE, 'w') as f:
        f.write('\n'.join('\t'.join(r) for r in [HEAD] + rows) + '\n')
    text = open(PAGE, encoding='utf-8').read()
    before, rest = text.split(BEGIN)
    with open(PAGE, 'w', encoding='utf-8') as f:
        f.write(before + BEGIN + '\n'.join([''] + page(rows) + ['']) + END + rest.split(END)[1])


if __name__ == '__main__':
    write(sys.argv[1:])
