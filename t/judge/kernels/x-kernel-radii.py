#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Radii of operators against MPFR in as many elements as there is time for: none may lie outside. Counts are kept in
# doc/kernels-radii.tsv (row, of which test, elements that have a bound, how many of them MPFR decided, how many others
# have none, outside), which --go adds to, part by part, and which doc/kernels.md sums up. Every row gets 10^6 elements
# before any gets 10^7, and then 10^8, cheapest rows first. HALFULP_RADII_SECONDS says how long --go goes on (600); as a
# test it draws a new part of each row and holds the page to the table.
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
TESTS = ('u-kernel-radii', 'u-kernel-formulas', 'u-kernel-lines', 'u-kernel-composed')
GO, STAGES = '--go' in sys.argv, (10 ** 6, 10 ** 7, 10 ** 8)
PART, LEAST = 5 * 10 ** 6, 10 ** 5   # elements of a part
VERDICT = r'^(ok|not ok) \d+ - (%s)(?:, by tanh)?: (\d+) results lie in their balls, (\d+) have none, ' \
    r'MPFR decided (\d+)'


def names(test):
    """The rows of a test, which it prints, with few draws."""
    out = run(test, '', 1, 0)
    return sorted({found[1] for found in re.findall(VERDICT % r'\w+(?:, (?!by tanh)\w+)?', out, re.M)})


def run(test, row, draws, part):
    env = dict(os.environ, HALFULP_RADII_DRAWS=str(draws), HALFULP_RADII_PART=str(part))
    if row:
        env['HALFULP_RADII_ROW'] = row
    program = os.path.join(BUILD, 't/judge/kernels', test)
    return subprocess.run([program], env=env, capture_output=True, text=True).stdout


def table():
    with open(TABLE, encoding='utf-8') as f:
        return {(row, test): list(map(int, cells)) for row, test, *cells in
                (line.rstrip('\n').split('\t') for line in f.readlines()[1:])}


def write(rows):
    with open(TABLE + '~', 'w', encoding='utf-8') as f:
        f.write('row\ttest\telements\tby MPFR\twithout bound\toutside\tparts\n')
        for (row, test), cells in sorted(rows.items()):
            f.write('\t'.join([row, test] + list(map(str, cells))) + '\n')
    os.replace(TABLE + '~', TABLE)


def more(rows, key, draws):
    """Another part of a row: results that were held to their bounds, of which MPFR decided some, and that had none; and
    whether one lies outside."""
    row, test = key
    had = rows.setdefault(key, [0, 0, 0, 0, 0])
    out = run(test, row, draws, had[4] + 1)
    for verdict, _, n, none_, asked in re.findall(VERDICT % re.escape(row), out, re.M):
        for i, count in enumerate((int(n) - int(none_), int(asked), int(none_), verdict == 'not ok', 0)):
            had[i] += count
    had[4] += 1
    if 'not ok' in out:
        print('# ' + out.replace('\n', '\n# '), flush=True)


rows = table() if os.path.exists(TABLE) else {}
keys = [(row, test) for test in TESTS for row in names(test)]
if GO:
    end = time.time() + float(os.environ.get('HALFULP_RADII_SECONDS', 600))
    cost = {}   # seconds of an element
    while time.time() < end:
        stage = next((n for n in STAGES if any(rows.get(k, [0])[0] < n for k in keys)), 0)
        if not stage:
            break
        key = min((k for k in keys if rows.get(k, [0])[0] < stage), key=lambda k: cost.get(k, 0))
        had, start = rows.get(key, [0])[0], os.times()
        more(rows, key, max(LEAST, min(PART, stage - had)))
        cost[key] = (os.times().children_user - start.children_user) / max(rows[key][0] - had, 1)
        write(rows)
ok(len(keys) >= 180, '%d rows have a table' % len(keys))
none(sorted('%s %s' % k for k in set(keys) ^ set(rows)), 'each row stands in doc/kernels-radii.tsv, and no other')
none(['%s %s' % k for k, v in rows.items() if v[3]], 'no element was outside')
fresh = {}
for key in keys if not GO else ():
    more(fresh, key, 4096)
none(['%s %s' % k for k, v in fresh.items() if v[3] or not v[0]], 'nor is one of a new part of each row')
with open(TOP + '/doc/kernels.md', encoding='utf-8') as f:
    page = ' '.join(f.read().split())
told = re.search(r'(\d+) rows, each in at least ([\d ]+) elements, together ([\d.]+) million', page)
if told:
    ok(int(told[1]) == len(rows) and int(told[2].replace(' ', '')) <= min(v[0] for v in rows.values()) and
       float(told[3]) <= sum(v[0] for v in rows.values()) / 1e6, 'doc/kernels.md says no more than the table', told[0])
else:
    ok(False, 'doc/kernels.md says how many elements were tried')
finish()
