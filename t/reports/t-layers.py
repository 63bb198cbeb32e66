#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The tables of a report's layers and calls: every cell is computed again from the run's analysis tables. Where Chromium
# is, headings sort by all digits, words choose rows, and a layer's name leads to its calls.
import html
import json
import math
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
TOP = os.path.abspath(os.environ.get('srcdir', '.'))
sys.path[:0] = [TOP + '/t/tool']
import tap
from tap import none, ok

if not shutil.which(os.environ.get('GNUPLOT') or 'gnuplot'):
    tap.skip_all('gnuplot is absent')
home = tap.home()
os.chdir(home)
for words in (
    ['train', '--model', 'mlp', '--policy', 'float16', '--steps', '4', '--trace', 'steps=0,3', '--quiet', 'r'],
    ['analyze', '--sample', '256', 'r'],
    ['report', 'r', '--format', 'svg'],
):
    p = tap.halfulp(*words)
    if p.returncode > 1:
        tap.bail_out(' '.join(words) + ': ' + p.stderr)
page = open('r/report/index.html', encoding='utf-8').read()


def table(name):
    rows = [x.rstrip('\n').split('\t') for x in open('r/analysis/%s.tsv' % name) if not x.startswith('#')]
    return [dict(zip(rows[0], r)) for r in rows[1:]]


replay, swamping = table('replay'), [r for r in table('swamping') if r['call'] != '-']
flushed = [r for r in table('underflow') if r['call'] != '-' and r['from'] != 'exact']
finite = lambda rows, c: [float(r[c]) for r in rows if r[c] != '-' and math.isfinite(float(r[c]))]
most = lambda rows, c: max(finite(rows, c), default=None)
total = lambda rows, c: sum(finite(rows, c)) if finite(rows, c) else None
share = lambda rows, c, of: total(rows, c) / total(rows, of) if rows and total(rows, of) else None


def mean(rows):
    pairs = [(float(r['ulp_mean']), float(r['sampled'])) for r in rows if finite([r], 'ulp_mean')]
    return sum(x * n for x, n in pairs) / sum(n for _, n in pairs) if pairs else None


def measures(mine):
    """What a row should hold; mine(row) tells the rows of a table that belong to it."""
    here, casts, adds = ([r for r in t if mine(r)] for t in (replay, flushed, swamping))
    return [most(here, 'ulp_max'), mean(here), most(here, 'bound_ratio_max'), total(here, 'over_bound'),
            most(here, 'propagated_rel_normwise'), share(casts, 'became_zero', 'nonzeros'), total(casts, 'overflow'),
            share(adds, 'swamped', 'additions')]


def shown(kind):
    """Rows of a table of the page: names as texts, then (all digits, text)."""
    body = re.search(r'<table class="%s">.*?<tbody>\n(.*?)</tbody>' % kind, page, re.S)[1]
    strip = lambda s: html.unescape(re.sub('<[^>]*>', '', s))
    for line in body.splitlines():
        names = [strip(x) for x in re.findall(r'<(?:th scope="row"|td class="left")>(.*?)</t[hd]>', line)]
        yield names, [(v, strip(t)) for v, t in re.findall(r'<td data-v="([^"]*)">(.*?)</td>', line)], line


def differ(cells, want):
    wrong = []
    for k, ((digits, text), x) in enumerate(zip(cells, want)):
        got = float(digits)
        if x is None or math.isnan(got):
            same = x is None and math.isnan(got) and text == '–'
        else:  # sums of up to a thousand terms, each rounded once
            same = abs(got - x) <= 1e-12 * abs(x)
            plain = re.fullmatch(r'(-?[\d.]+)(\s*%)?', text)
            least = 5.1e-3 if text.endswith('%') else 5.1e-4  # three digits of a share, four of a number
            same &= not plain or abs(float(plain[1]) / (100 if plain[2] else 1) - x) <= least * abs(x)
        if not same:
            wrong.append('column %d: %s (%s), but %r' % (k, digits, text, x))
    return wrong + ['%d cells' % len(cells)] * (len(cells) != len(want))


order = list(dict.fromkeys(r['layer'] for r in replay))
rows = list(shown('layers'))
ok([n[0] for n, _, _ in rows] == order and len(order) >= 5, 'every layer has a row, in the order of the calls', rows)
none([n + differ(c, measures(lambda r: r['layer'] == n[0])) for n, c, _ in rows
      if differ(c, measures(lambda r: r['layer'] == n[0]))], 'a layer has what the tables say of its calls')
keys = list(dict.fromkeys((r['call'], r['op'], r['phase'], r['layer'], r['tensor'], r['format']) for r in replay))
calls = list(shown('calls'))
ok([tuple(n) for n, _, _ in calls] == keys and len(keys) >= 40, 'every result of a call has a row, in their order')
of = lambda n: measures(lambda r: r['call'] == n[0] and r['tensor'] == n[4])
none([n + differ(c, of(n)) for n, c, _ in calls if differ(c, of(n))], 'a call has what the tables say of it')
filled = [sum(c[k][0] not in ('nan', '0') for _, c, _ in calls) for k in range(8)]
ok(all(n > 3 for k, n in enumerate(filled) if k not in (3, 6)), 'no column is empty', filled)
first = {n[0]: n[0] for n, _, line in calls if ' id="call-%s"' % n[0] in line}
links = re.findall(r'<a href="#call-(\d+)" data-column="layer" data-is="([^"]*)">', page)
ok([b for _, b in links] == order and all(a in first and next(n[0] for n, _, _ in calls if n[3] == b) == a
                                         for a, b in links), 'a layer leads to the first of its calls', links)

chromium = next(filter(None, map(shutil.which, ('chromium', 'chromium-browser', 'google-chrome'))), None)
if not chromium:
    tap.skip('tables sort and choose', 'Chromium is absent')
    tap.finish()
ASK = '''<script>
const answer = {}, calls = document.querySelector(".calls"), buttons = [...calls.querySelectorAll("th button")];
const firsts = k => [...calls.tBodies[0].rows].filter(r => !r.hidden).map(r => [r.cells[0].textContent,
	r.cells[4].textContent, r.cells[k].dataset.v]);
const field = document.querySelector("#calls .filter input"), said = document.querySelector("#calls output");
const type = text => { field.value = text; field.dispatchEvent(new Event("input")); return [firsts(6), said.value]; };
answer.heads = buttons.map(b => b.parentElement.textContent);
for (const [key, k] of [["ulp", 6], ["in_all", 10], ["tensor", 4]]) {
	answer[key] = [];
	for (let click = 0; click < 3; click++) {
		buttons[k].click();
		answer[key].push([firsts(k), buttons[k].parentElement.getAttribute("aria-sort")]);
	}
}
answer.words = type("BACKWARD dense1");
answer.exact = type('layer="dense1" phase=forward');
answer.none = type("nothinghere");
answer.all = type("");
answer.closed = document.getElementById("calls").open;
document.querySelector("a[data-is=dense1]").click();
answer.link = [document.getElementById("calls").open, firsts(6).length, field.value];
document.body.insertAdjacentHTML("beforeend", "<pre id=answer></pre>");
document.getElementById("answer").textContent = JSON.stringify(answer);
</script></body>'''
open('asked.html', 'w', encoding='utf-8').write(page.replace('</body>', ASK))
p = subprocess.run([chromium, '--headless', '--no-sandbox', '--disable-gpu', '--enable-logging=stderr', '--v=0',
    '--user-data-dir=' + home + '/profile', '--dump-dom', 'file://%s/asked.html' % home],
    capture_output=True, text=True, timeout=240)
found = re.search(r'<pre id="answer">(.*?)</pre>', p.stdout, re.S)
if not ok(found, 'a browser runs the page\'s script', re.findall('.*CONSOLE.*', p.stderr)):
    tap.finish()
said = json.loads(html.unescape(found[1]))
ok(len(said['heads']) == 14 and said['heads'][:5] == ['call', 'op', 'phase', 'layer', 'tensor'], 'every heading sorts')


def sorted_as(key, at, text):
    """The browser's three orders of a column against Python's: down, up, as before; what is missing stays last."""
    plain = [[n[0], n[4], None if at < 6 else c[at - 6][0]] for n, c, _ in calls]
    value = (lambda r: [int(x) if x.isdigit() else x for x in re.split(r'(\d+)', r[1])]) if at < 6 else (
        lambda r: float(r[2]))
    known = [r for r in plain if at < 6 or r[2] != 'nan']
    lost = [r for r in plain if r not in known]
    want = [[sorted(known, key=value, reverse=True) + lost, 'descending'],
            [sorted(known, key=value) + lost, 'ascending'], [plain, 'none']]
    got = said[key]
    if at < 6:  # a browser's order of letters is its language's: names alone, which are all different
        same = [sorted(r[1] for r in g[0]) == sorted(r[1] for r in w[0]) and g[1] == w[1] for g, w in zip(got, want)]
        same.append([r[1] for r in got[0][0]] == [r[1] for r in got[1][0]][::-1] and got[2][0] == plain)
    else:
        strip = lambda rows: [float(r[2]) if r[2] != 'nan' else None for r in rows]
        same = [strip(g[0]) == strip(w[0]) and g[1] == w[1] for g, w in zip(got, want)] + [got[2] == want[2]]
    ok(all(same), text, same)


sorted_as('ulp', 6, 'a column of numbers sorts by all their digits, down, up and as before')
sorted_as('in_all', 10, 'so does one in which numbers are missing, which stay below')
sorted_as('tensor', 4, 'a column of names sorts by letters')
kept = [[n[0], n[4]] for n, _, _ in calls if 'backward' in n[2] and any('dense1' in x for x in n)]
ok([r[:2] for r in said['words'][0]] == kept and len(kept) > 2
   and said['words'][1] == '%d of %d rows' % (len(kept), len(calls)), 'words choose the rows that have them all')
kept = [[n[0], n[4]] for n, _, _ in calls if n[3] == 'dense1' and n[2] == 'forward']
ok([r[:2] for r in said['exact'][0]] == kept and kept, 'COLUMN=TEXT chooses by a whole cell')
ok(said['none'] == [[], '0 of %d rows' % len(calls)] and len(said['all'][0]) == len(calls) and said['all'][1] == '',
   'no match shows none, no words show all')
ok(said['closed'] is False and said['link'] == [True, sum(n[3] == 'dense1' for n, _, _ in calls), 'layer="dense1"'],
   'a layer opens the table of calls with its own', said['link'])
tap.finish()
