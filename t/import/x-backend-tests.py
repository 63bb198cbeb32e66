#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# All backend tests that the Python package onnx ships or makes, of nodes and of small models, run in validate: passed,
# refused by name, or wrong, of which there must be none. With --update the table of doc/onnx.md is written anew.
import collections
import os
import re
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)),
    os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool')]
import nodetests
import tap

if not nodetests.names():
    tap.skip_all('no Python package onnx')
import onnx

BEGIN, END = '<!-- backend tests -->', '<!-- backend tests end -->'
PAGE = os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 'doc/onnx.md')
DATA = os.path.join(os.path.dirname(onnx.__file__), 'backend/test/data')
KINDS = 'simple', 'pytorch-operator', 'pytorch-converted'
# Whose expected outputs say what NaN becomes in a format that has none, which ONNX does not.
UNSAID = {'test_cast%s_%s_to_FLOAT4E2M1%s' % k for k in [('', 'FLOAT16', ''), ('', 'FLOAT', '')] +
    [('like', f, e) for f in ('FLOAT16', 'FLOAT') for e in ('', '_expanded')]}


def tests(kind):
    if kind == 'node':
        return [(n, n) for n in nodetests.names()]
    dir = os.path.join(DATA, kind)
    return [(n, os.path.join(dir, n)) for n in sorted(os.listdir(dir))] if os.path.isdir(dir) else []


def kind_of(why):
    """The reason without the names of one test's node."""
    m = re.search(r'operators that are not known: (\w+)', why)
    if m:
        return 'operator %s is not known' % m.group(1)
    return re.sub(r"^halfulp validate: |node '…' |'…' |\d+", lambda m: 'N' if m.group().isdigit() else '', why)


os.chdir(tap.home())
dir = tempfile.mkdtemp(dir='.')
lines, reasons, wrong = [], collections.Counter(), []
for kind in ('node',) + KINDS:
    n = collections.Counter()
    for name, where in tests(kind):
        why = nodetests.judge(where, dir)
        what = 'passed' if not why else 'unsaid' if name in UNSAID else 'wrong' if why.startswith('WRONG') else 'refused'
        n[what] += 1
        if what == 'wrong':
            wrong.append('%s: %s' % (name, why))
        if what == 'refused':
            reasons[kind_of(why)] += 1
    lines.append('| %s | %d | %d | %d | %d | %d |' % (kind, sum(n.values()), n['passed'], n['refused'], n['unsaid'],
        n['wrong']))
table = ['| tests of onnx %s | all | passed | refused by name | NaN without a rule | wrong |' % onnx.__version__]
table += ['|---|---|---|---|---|---|'] + lines
table += ['', '| refused because | tests |', '|---|---|'] + ['| %s | %d |' % (why.replace('|', '/'), k)
    for why, k in sorted(reasons.items(), key=lambda r: (-r[1], r[0])) if k > 1]
for line in table:
    print('# ' + line)
tap.ok(not wrong, 'no test is wrong', wrong)
if '--update' in sys.argv:
    text = open(PAGE, encoding='utf-8').read()
    a, b = text.index(BEGIN) + len(BEGIN), text.index(END)
    open(PAGE, 'w', encoding='utf-8').write(text[:a] + '\n' + '\n'.join(table) + '\n' + text[b:])
shutil.rmtree(dir)
tap.finish()
