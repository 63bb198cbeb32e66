#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The page's table of where infinities and NaN came from has the rows of nonfinite.tsv, cell by cell, for causes that
# are made here; a run of finite numbers has no such table.
import html
import json
import os
import re
import shutil
import sys

sys.dont_write_bytecode = True
TOP = os.path.abspath(os.environ.get('srcdir', '.'))
sys.path[:0] = [TOP + '/t/tool']
import tap
from tap import none, ok

if not shutil.which(os.environ.get('GNUPLOT') or 'gnuplot'):
    tap.skip_all('gnuplot is absent')
os.chdir(tap.home())
SMALL = '--model mlp:width=0.03125 --data size=8,train=40,eval=8 --batch 8 --quiet'
RUNS = {
    'epsilon': '--policy float16 --optimizer eps=1e-8 --loss-scale none --steps 3 --trace steps=0,1,2',
    'scale': '--policy mixed_float16 --loss-scale init=16777216 --steps 2 --trace steps=0,1',
    'finite': '--policy mixed_float16 --steps 2 --trace steps=0,1',
}
COLUMNS = 'step made op phase layer tensor element cause operands exact nonfinite_elements'.split()
for name, words in RUNS.items():
    for line in ('train %s %s %s' % (SMALL, words, name), 'analyze ' + name, 'report %s --format svg' % name):
        p = tap.halfulp(*line.split())
        if p.returncode > 1:
            tap.bail_out('%s: %s' % (line, p.stderr))
    page = open(name + '/report/index.html', encoding='utf-8').read()
    body = re.search(r'<table class="origins">.*?<tbody>\n(.*?)</tbody>', page, re.S)
    lines = [x.rstrip('\n').split('\t') for x in open(name + '/analysis/nonfinite.tsv') if not x.startswith('#')]
    rows = [dict(zip(lines[0], x)) for x in lines[1:]]
    if name == 'finite':
        ok(not rows and body is None and 'Where infinities' not in page, 'finite numbers have no such table')
        continue
    wrong, shown = [], []
    for line in body[1].splitlines() if body else []:
        cells = re.findall(r'<td(?: data-v="([^"]*)")?[^>]*>(.*?)</td>', line)
        shown.append([v or html.unescape(re.sub('<[^>]*>', '', t)) for v, t in cells])
    for got, row in zip(shown, rows):
        for column, cell in zip(COLUMNS, got):
            want = row[column]
            try:
                same = float(cell) == float(want)
            except ValueError:
                same = cell == want or (want in ('-', 'inf', '-inf', 'nan') and cell == '–')
            if not same:
                wrong.append('%s: %s, %s' % (column, cell, want))
    none(wrong, '%s: %d rows are those of nonfinite.tsv' % (name, len(shown)))
    ok(len(shown) == len(rows) > 0, '%s: all of them' % name)
    first = json.load(open(name + '/analysis/summary.json'))['nonfinite']
    ok(first['cause'] in shown[0] and first['tensor'] in shown[0], '%s: the verdict\'s is the first' % name)
tap.finish()
