#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Radii of single operators against MPFR in as many elements as there is time for: none may lie outside. Counts are kept
# in doc/kernels-radii.tsv (row, of which test, elements, outside), which --go adds to, cheapest rows first, and which
# doc/kernels.md sums up. HALFULP_RADII_SECONDS says how long --go goes on (600); as a test it draws a new part of each
# row and holds the page to the table.
import os
import re
import subprocess
import sys
import time

sys.dont_write_bytecode = True
TOP = os.path.abspath(os.environ.get('srcdir', '.'))
sys.path.insert(0, TOP + '/t/tool')
from tap import finish, none, ok  # noqa: E402

BUILD = os.environ.get('top_builddir', 'build')
TABLE = TOP + '/doc/kernels-radii.tsv'
TESTS = ('u-kernel-radii', 'u-kernel-formulas')
GO, WANTED = '--go' in sys.argv, 10 ** 8


def names(test):
    """The rows of a test, which it prints, with few draws."""
    out = run(test, '', 1, 0)
    return sorted(set(re.findall(r'^ok \d+ - (\w+)(?:, by tanh)?: \d+ results', out, re.M)))


def run(test, row, draws, part):
    env = dict(os.environ, HALFULP_RADII_DRAWS=str(draws), HALFULP_RADII_PART=str(part))
    if row:
        env['HALFULP_RADII_ROW'] = row
    program = os.path.join(BUILD, 't/judge/kernels', test)
    return subprocess.run([program], env=env, capture_output=True, text=True).stdout


def table():
    with open(TABLE, encoding='utf-8') as f:
        return {(row, test): [int(n), int(bad), int(parts)] for row, test, n, bad, parts in
                (line.rstrip('\n').split('\t') for line in f.readlines()[1:])}


def write(rows):
    with open(TABLE + '~', 'w', encoding='utf-8') as f:
        f.write('row\ttest\telements\toutside\tparts\n')
        for (row, test), cells in sorted(rows.items()):
            f.write('\t'.join([row, test] + list(map(str, cells))) + '\n')
    os.replace(TABLE + '~', TABLE)


def more(rows, key, draws):
    """Another part of a row: how many results were in their balls or had none, and how many lie outside."""
    row, test = key
    had = rows.setdefault(key, [0, 0, 0])
    out = run(test, row, draws, had[2] + 1)
    for verdict, n in re.findall(r'^(ok|not ok) \d+ - %s(?:, by tanh)?: (\d+) results' % re.escape(row), out, re.M):
        had[0] += int(n)
        had[1] += verdict == 'not ok'
    had[2] += 1


rows = table() if os.path.exists(TABLE) else {}
keys = [(row, test) for test in TESTS for row in names(test)]
if GO:
    end = time.time() + float(os.environ.get('HALFULP_RADII_SECONDS', 600))
    cost = {}
    while time.time() < end:
        left = [k for k in keys if rows.get(k, [0])[0] < WANTED]
        if not left:
            break
        key = min(left, key=lambda k: (cost.get(k, 0), rows.get(k, [0])[0]))
        start = os.times()
        more(rows, key, 10 ** 6 if rows.get(key, [0])[0] else 30000)   # each row once, before any has many
        cost[key] = os.times().children_user - start.children_user
        write(rows)
ok(len(keys) >= 120, '%d rows have a table' % len(keys))
none(sorted('%s %s' % k for k in set(keys) ^ set(rows)), 'each row stands in doc/kernels-radii.tsv, and no other')
none(['%s %s' % k for k, v in rows.items() if v[1]], 'no element was outside')
fresh = {}
for key in keys if not GO else ():
    more(fresh, key, 4096)
none(['%s %s' % k for k, v in fresh.items() if v[1] or not v[0]], 'nor is one of a new part of each row')
with open(TOP + '/doc/kernels.md', encoding='utf-8') as f:
    told = re.search(r'(\d+) rows, each in at least ([\d ]+) elements, together ([\d.]+) million', f.read())
if told:
    ok(int(told[1]) == len(rows) and int(told[2].replace(' ', '')) <= min(v[0] for v in rows.values()) and
       float(told[3]) <= sum(v[0] for v in rows.values()) / 1e6, 'doc/kernels.md says no more than the table', told[0])
else:
    ok(False, 'doc/kernels.md says how many elements were tried')
finish()
