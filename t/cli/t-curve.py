#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# doc/gate.md's tables of how often `check` in statistics mode is red are those that bench/operating-curve.py makes of
# its last output, doc/operating-curve.tsv, and that output keeps what the page says of the mode.
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tool'))
from tap import TOP, finish, none, ok  # noqa: E402

CURVE = os.path.join(TOP, 'doc', 'operating-curve.tsv')
page = open(os.path.join(TOP, 'doc', 'gate.md'), encoding='utf-8').read()
p = subprocess.run(
    [sys.executable, '-B', os.path.join(TOP, 'bench', 'operating-curve.py'), '--from', CURVE],
    capture_output=True,
    text=True,
    encoding='utf-8',
    env=dict(os.environ, PYTHONIOENCODING='utf-8'),
)
tables = p.stdout.strip().split('\n')
ok(p.returncode == 0 and len(tables) > 20, 'the tables are made', p.stderr)
none([line for line in tables if line and line not in page.split('\n')], 'and stand on the page')

lines = open(CURVE).read().splitlines()
head = lines[1].split('\t')
rows = [dict(zip(head, l.split('\t'))) for l in lines[2:]]
rate = {
    (r['setup'], r['change'], r['mode'], int(r['n']), int(r['k'])): 100 * int(r['red']) / int(r['trials']) for r in rows
}
setups = sorted({r['setup'] for r in rows})
ok(len(setups) >= 7, 'seven set-ups or more', setups)
agreed = re.search(r'agreed with (\d+) of (\d+) verdicts', lines[0])
ok(agreed and agreed[1] == agreed[2], "the program's verdicts are those computed there", lines[0])
none([k for k, x in rate.items() if k[1:3] == ('none', 'paired') and k[3] >= 5 and x > 2], 'unchanged: at most 2 % red')
if ' unpaired;' in lines[0]:  # with seeds of their own, 40 of each set-up
    loud = [(k, x) for k, x in rate.items() if k[1:3] == ('none', 'unpaired') and k[3] >= 5 and x > 2]
    none(loud, 'unchanged and unpaired: at most 2 % red')
quiet = [r for r in rows if r['change'] == 'none' and (r['mode'], r['n'], r['k']) == ('paired', '5', '1')]
of = [sum(int(r[c]) for r in quiet) for c in ('runs', 'trials', 'red')]
ok(of[0] >= 149 and of[1] >= 1000 and of[2] <= 0.02 * of[1], 'of 149 distinct runs and 1000 trials or more', of)
MUST = [
    k[:2] for k in rate if k[1] in ('fp16 second moment', 'fp16 momentum', 'scale 2^20') and k[2:] == ('paired', 5, 1)
]
MLP = ('float32', 'float16', 'bfloat16', 'sgd')
MUST += [(s, c) for s in MLP for c in ('lr +20 %', 'lr -20 %', 'eps 1e-3', 'beta2 0.9', 'no decay')]
MUST += [(s, 'fp16 sums') for s in ('float32', 'float16', 'sgd', 'convnet', 'unet')]
found = {k: rate[k + ('paired', 5, 1)] for k in MUST if k + ('paired', 5, 1) in rate}
none([(k, x) for k, x in found.items() if x < 100], 'what must be red with one candidate of five seeds')
ok(len(found) > 30, 'which are %d' % len(found))
none([k for k, x in rate.items() if k[1:] == ('RZ casts', 'paired', 5, 5) and x < 100], 'casts toward zero with five')
none([k for k, x in rate.items() if k[1:] == ('lr +1 %', 'paired', 5, 1) and x > 6], 'lr +1 %: red in at most 6 %')
finish()
