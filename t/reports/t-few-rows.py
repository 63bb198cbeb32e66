#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Reports of runs whose tables have one row, or a few: of a run that traced one tensor, or a model of one layer. gnuplot
# 5.4 ends by a fault where a table's only row gives a plot of labels no place.
import os
import random
import shutil
import sys

sys.path.insert(0, os.path.join(os.environ.get('srcdir', '.'), 't', 'tool'))
from sealed import seal, unsealed  # noqa: E402
from tap import finish, halfulp, home, none, ok, skip_all

if not shutil.which(os.environ.get('GNUPLOT') or 'gnuplot'):
    skip_all('there is no gnuplot')
os.chdir(home())
halfulp(*'train --policy mixed_float16 --steps 6 --data train=96,eval=32 --batch 16 --quiet --trace steps=2,5 run'.split())
halfulp('analyze', 'run')
tables = [name for name in sorted(os.listdir('run/analysis')) if name.endswith('.tsv')]
whole = {name: open('run/analysis/' + name).read().splitlines(True) for name in tables}
ok(len(tables) > 8, 'a run with %d tables' % len(tables), tables)


def cut(name, dice, n):
    """Leaves N rows of the table, drawn."""
    head = next(i for i, line in enumerate(whole[name]) if not line.startswith('#')) + 1
    rows = whole[name][head:]
    keep = sorted(dice.sample(range(len(rows)), min(n, len(rows))))
    with open('run/analysis/' + name, 'w') as f:
        f.write(seal(unsealed(''.join(whole[name][:head] + [rows[k] for k in keep]))))


for n, trials in (1, 8), (2, 3), (3, 3):
    wrong = []
    for trial in range(trials):
        dice = random.Random(100 * n + trial)
        for name in tables:
            cut(name, dice, n)
        p = halfulp('report', 'run', '--format', 'svg')
        if p.returncode or 'index.html' not in p.stdout:
            wrong.append('seed %d: exit %d: %s' % (100 * n + trial, p.returncode, p.stderr))
        shutil.rmtree('run/report', ignore_errors=True)
    none(wrong, '%d reports of tables of %d rows' % (trials, n))

# What nobody can mend is said as it is
with open('faulty', 'w') as f:
    f.write('#!/bin/sh\ncase "$*" in *--version*) exit 0;; esac\nkill -s SEGV $$\n')
os.chmod('faulty', 0o755)
p = halfulp('report', 'run', env=dict(os.environ, GNUPLOT=os.path.abspath('faulty')))
ok(
    p.returncode == 4 and 'gnuplot was ended by signal 11' in p.stderr and p.stderr.count('\n') == 1,
    'a gnuplot that ends by a fault: one line that says so, exit 4',
    p.stderr,
)
finish()
