#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# doc/gate.md's tables of how often `check` in statistics mode is red are those that bench/operating-curve.py makes of its last output,
# doc/operating-curve.tsv, and that output keeps what the project promises of the mode. What the page says of mutations adds up.
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
rate = {(r['setup'], r['change'], r['mode'], int(r['n']), int(r['k'])): 100 * int(r['red']) / int(r['trials']) for r in rows}
setups = sorted({r['setup'] for r in rows})
ok(len(setups) == 7, 'seven set-ups', setups)
agreed = re.search(r'agreed with (\d+) of (\d+) verdicts', lines[0])
ok(agreed and agreed[1] == agreed[2], "the program's verdicts are those computed there", lines[0])
none([k for k, x in rate.items() if k[1] == 'none' and k[3] >= 5 and x > 2], 'where nothing was changed at most 2 % are red')
quiet = [r for r in rows if r['change'] == 'none' and (r['mode'], r['n'], r['k']) == ('paired', '5', '1')]
ok(sum(int(r['trials']) for r in quiet) >= 1000 and sum(int(r['runs']) for r in quiet) >= 149 and not sum(int(r['red']) for r in quiet), 'of 149 distinct runs or more, and of 1000 trials or more, paired, none is')
ONES = ('float32', 'float16', 'bfloat16', 'sgd')
MUST = [(s, c) for s in ONES for c in ('lr +20 %', 'lr -20 %', 'eps 1e-3', 'beta2 0.9', 'no decay', 'fp16 second moment', 'fp16 momentum') if (s, c, 'paired', 5, 1) in rate]
MUST += [(s, 'RZ casts') for s in ('float16', 'bfloat16', 'sgd')] + [(s, 'fp16 sums') for s in ('float32', 'float16', 'sgd')] + [(s, 'scale 2^20') for s in ('float16', 'sgd')]
none(['%s, %s: %.1f %%' % (*k, rate[k + ('paired', 5, 1)]) for k in MUST if rate[k + ('paired', 5, 1)] < 100], 'what must be red is, paired with n = 5')
none([k for k, x in rate.items() if k[1] == 'lr +1 %' and k[2:] == ('paired', 5, 1) and x > 6], 'a rate that is 1 % higher is red in at most 6 %')
finish()
