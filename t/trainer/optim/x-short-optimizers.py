#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The table of doc/train.md on weights in bfloat16: forty steps of a small gpt with Adam, rounded to nearest,
# stochastically, with Kahan's compensation, and with float32 masters, over five seeds. What the page says is computed
# again, and the order of the four is judged for every seed.
import json
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
from tap import HALFULP, TOP, finish, home, none, ok  # noqa: E402

where = home()
MODEL = '--model gpt:layers=2,hidden=64,heads=4 --steps 40 --trace steps=39 --quiet'.split()
KINDS = (
    ('to nearest', 'bfloat16,constants=double', 'adam'),
    ('stochastically', 'bfloat16,constants=double', 'adam:update=sr'),
    ('with a compensation', 'bfloat16,constants=double', 'adam:update=kahan'),
    ('float32 masters', 'mixed_bfloat16', 'adam'),
)
SEEDS = range(1, 6)


def measured(policy, optimizer, seed):
    run = os.path.join(where, 'run')
    shutil.rmtree(run, ignore_errors=True)
    line = ['train', *MODEL, '--policy', policy, '--optimizer', optimizer, '--seed', str(seed), run]
    for words in (line, ['analyze', '--only', 'swamping,weights,stochastic,summary', run]):
        done = subprocess.run([HALFULP, *words], capture_output=True, text=True)
        if not ok(done.returncode == 0, ' '.join(words[:-1]), done.stderr):
            finish()
    s = json.load(open(os.path.join(run, 'analysis', 'summary.json')))
    n = s['numbers']
    whole = n['update_cosine_expected'] if n['update_cosine_expected'] is not None else n['update_cosine']
    return 100 * n['swamped_share_updates'], n['update_cosine'], whole, s['verdict_word']


found = {name: [measured(policy, optimizer, k) for k in SEEDS] for name, policy, optimizer in KINDS}
page = open(os.path.join(TOP, 'doc', 'train.md')).read()
wrong = []
for name, rows in found.items():
    cells = re.search(r'^\| %s \|(.*)\|$' % name, page, re.M)
    told = [c.strip() for c in cells[1].split('|')] if cells else []
    swamped, one, whole = ([r[k] for r in rows] for k in range(3))
    want = [
        '%.4g to %.4g %%' % (min(swamped), max(swamped)),
        '%.4f to %.4f' % (min(one), max(one)),
        '%.4f to %.4f' % (min(whole), max(whole)),
        ', '.join(sorted({r[3] for r in rows})),
    ]
    if told != want:
        wrong.append('%s: | %s |, and the page has | %s |' % (name, ' | '.join(want), ' | '.join(told)))
none(wrong, 'the rows of doc/train.md are these')
nearest, drawn, kahan, masters = (found[name] for name, _, _ in KINDS)
ok(abs(nearest[0][0] - 44.8) < 0.05 and abs(nearest[0][1] - 0.923) < 0.0005,
   'seed 1: 44.8 % of the updates are swamped, and the cosine is 0.923', str(nearest[0]))  # fmt: skip
ok(all(d[1] < n[1] < 0.94 and d[2] > 0.999 for n, d in zip(nearest, drawn)),
   'one stochastic draw is further off than rounding to nearest, the mean of draws is whole')  # fmt: skip
ok(all(k[1] > 0.999 and k[0] < 0.1 for k in kahan + masters), 'compensated weights and masters take their updates')
finish()
