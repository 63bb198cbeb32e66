#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# check in statistics mode. Every aggregate is computed again from the files of the runs, and every limit from its
# formula, with Python's standard library alone: Student's t by Simpson's rule.
import json
import math
import os
import re
import shutil
import statistics
import subprocess
import sys
import xml.etree.ElementTree

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
from statistics_again import aggregates, chi_square, limit, mean_of  # noqa: E402
from sealed import seal, unsealed  # noqa: E402
from tap import HALFULP, bail_out, finish, home, ok  # noqa: E402

os.chdir(home())


def run(*line):
    p = subprocess.run([HALFULP] + list(line), capture_output=True, text=True, stdin=subprocess.DEVNULL,
                       env=dict(os.environ, OMP_WAIT_POLICY='passive'))
    return p.returncode, p.stdout, p.stderr


def refused(code, pattern, what, *line):
    got, out, err = run(*line)
    ok(got == code and (not out or 'nothing was judged: ' in out and out.startswith('1..1\nnot ok 1 - '))
       and err.count('\n') == 1 and pattern in err, '%s: exit %d, one line' % (what, code), (got, out[:300], err))


def make(name, seed, *more):
    a = run('train', '--model', 'mlp:width=0.125', '--data', 'size=8,train=320,eval=64', '--batch', '32', '--epochs',
            '4', '--trace', 'steps=last', '--quiet', '--policy', 'mixed_float16', '--seed', str(seed), *more, name)
    b = run('analyze', name)
    if a[0] or b[0] > 1:
        bail_out(a[2] + b[2])


SEEDS = (1, 2, 3, 7)
for s in SEEDS:
    make('b%d' % s, s)
    make('c%d' % s, s, '--accumulate', 'chunk:8')
for name, seed, more in (
    ('kahan1', 1, ['--accumulate', 'kahan']),
    ('kahan2', 2, ['--accumulate', 'kahan']),
    ('fast1', 1, ['--optimizer', 'lr=0.003']),
    ('fast2', 2, ['--optimizer', 'lr=0.003']),
    ('fresh', 9, []),
    ('short1', 1, ['--accumulate', 'fma,acc=fp16']),
):
    make(name, seed, *more)
runs = ['%s%d' % (k, s) for s in SEEDS for k in 'bc']
WRITE = ['-o', 's.tsv', '--statistics', '--reason', 'a test']

refused(2, 'at least 3 seeds', 'two seeds', 'baseline', 'b1', 'c1', 'b2', 'c2', *WRITE)
refused(2, 'seed 3 was trained once', 'a seed without its repeat', 'baseline', 'b1', 'c1', 'b2', 'c2', 'b3', *WRITE)
refused(2, 'in the same order of sums', 'a repeat that sums in the same order', 'baseline', 'b1', 'fast1', 'b2', 'c2',
        'b3', 'c3', *WRITE)
refused(2, 'third run of seed 1', 'a third run of a seed', 'baseline', 'b1', 'c1', 'kahan1', 'b2', 'c2', 'b3', 'c3',
        *WRITE)
refused(2, '--reason', 'no reason', 'baseline', *runs, '-o', 's.tsv', '--statistics')
refused(2, "unknown or ambiguous option '--statistics'", 'check --statistics', 'check', 'b1', '--baseline', 's.tsv',
        '--statistics')
refused(2, '--ulps has no effect', '--ulps beside it', 'baseline', *runs, *WRITE, '--ulps', '2')
ok(not os.path.exists('s.tsv'), 'nothing was written')
code, out, err = run('baseline', *runs, *WRITE)
ok(code == 0 and 'of 4 seeds recorded in s.tsv\nwith fewer than 5 seeds more of what moved stays unseen\n' in out,
   'four seeds are recorded', (code, out, err))
RECORDED = out

# --- the aggregates, from the runs' own files
# ---------------------------------------------------------------------------
lines = open('s.tsv').read().splitlines()
table = [l.split('\t') for l in lines if not l.startswith('#')]
head, rows = table[0], {r[0]: r for r in table[1:]}
ok(
    head[:5] == ['quantity', 'kind', 'better', 'spread', 'order']
    and head[5:] == ['%s:%d' % (k, s) for s in SEEDS for k in ('seed', 'other')],
    'a row a quantity, with every run',
    head,
)


known = {r: aggregates(r) for r in runs + ['kahan1', 'kahan2', 'fast1', 'fast2', 'fresh', 'short1']}
near = lambda x, y: abs(x - y) <= 1e-9 * max(1, abs(y))
wrong = [
    (q, s, k)
    for q in rows
    for i, s in enumerate(SEEDS)
    for j, k in enumerate('bc')
    if not near(float(rows[q][5 + 2 * i + j]), known['%s%d' % (k, s)][q])
]
ok(
    not wrong and len(rows) >= 25, 'every aggregate of every run, recomputed',
    [(q, rows[q][5:], [known[r][q] for r in runs]) for q, _, _ in wrong[:3]]
)
missing = [q for q in known['b1'] if q not in rows and all(math.isfinite(known[r][q]) for r in runs)]
ok(not missing, 'none is left out that all runs have', missing)
FLOOR = {'loss': 1e-4, 'norm': 1e-3, 'error': 5e-3, 'share': .05, 'exact': 0, 'start': 0}


def floor(q, paired=True):
    """Of the accuracy one of 64 samples more: the slope of ln((right + 1/2)/(64 - right + 1/2)) at the mean of the
    baseline; of unpaired runs a binomial's standard deviation."""
    right = 65 / (1 + math.exp(-mean_of([known['b%d' % s]['eval_accuracy/last'] for s in SEEDS])))
    one = 1 / right + 1 / (65 - right)
    return FLOOR[rows[q][1]] if q != 'eval_accuracy/last' else one if paired else math.sqrt(one)


spread = {q: (math.hypot(statistics.stdev(known['b%d' % s][q] for s in SEEDS), floor(q)),
              math.sqrt(mean_of([(known['c%d' % s][q] - known['b%d' % s][q]) ** 2 for s in SEEDS]))) for q in rows}
ok(all(near(float(rows[q][3]), spread[q][0]) and near(float(rows[q][4]), spread[q][1]) for q in rows),
   'the spread over seeds and over orders of sums')
ok(sum(float(rows[q][4]) > 0 for q in rows) > 15, 'another order of sums does move them')


# --- the limits
# ---------------------------------------------------------------------------------------------------------
ok(
    all(
        abs(chi_square(p, n) - x) < 1e-4
        for p, n, x in ((0.1, 4, 1.063623), (0.1, 3, 0.584374), (0.05, 9, 3.325113), (0.95, 2, 5.991465))
    ),
    'and so are those of the sums of squares',
)
WIDER = math.sqrt((len(SEEDS) - 1) / chi_square(.1, len(SEEDS) - 1))
ok(abs(limit(0.005, 5) - 4.032143) < 1e-5 and abs(limit(0.025, 10) - 2.228139) < 1e-5,
   "this test's own limits are those of the tables")
judged = [q for q in rows if rows[q][1] in ('loss', 'norm', 'error', 'share')]


def expected(q, candidates, paired):
    n, k, one = len(SEEDS), len(candidates), rows[q][1] in ('error', 'share')
    p, df = (.01 if one else .005) / len(judged) / (1 if paired else 2), n if paired else n + k - 2
    t = limit(p, df)
    if paired:
        d = mean_of([known[c][q] - known['b' + c[-1]][q] for c in candidates])
        most = WIDER * spread[q][0] / 2 + t * spread[q][1] / math.sqrt(k)
    else:
        d = mean_of([known[c][q] for c in candidates]) - mean_of([known['b%d' % s][q] for s in SEEDS])
        here, there = [known[c][q] for c in candidates], [known['b%d' % s][q] for s in SEEDS]
        within = math.fsum((x - mean_of(v)) ** 2 for v in (here, there) for x in v)
        most = t * math.hypot(math.sqrt(within / df), floor(q, False)) * math.sqrt(1 / n + 1 / k)
    most += math.log(1.35) if one else 0
    return d, most, (d if one else abs(d)) <= most


# What recording says it does not see: the same limits, in percent
unseen = []
for q, words in (
    ('eval_loss/last', 'what moves the loss of the last evaluation'),
    ('error/casts', 'what raises the error of casts'),
    ('error/products_forward', 'what raises the error of forward products'),
    ('error/products_forward_p99', 'what raises the 99th percentile of their errors in ulps'),
    ('error/weights', 'what raises the error of updates'),
):
    found = re.search(words + r' by less than (\S+) % passes \((\S+) % with five candidates\), as', RECORDED)
    one = rows[q][1] == 'error'
    p = (.01 if one else .005) / len(judged)
    t = limit(p, len(SEEDS))
    want = [
        100 * math.expm1(WIDER * spread[q][0] / 2 + t * spread[q][1] / math.sqrt(k) + (math.log(1.35) if one else 0))
        for k in (1, 5)
    ]
    if not found or any(abs(float(x) - y) > .006 * y for x, y in zip(found.groups(), want)):
        unseen.append((q, found and found.groups(), want))
ok(not unseen, 'recording says by how much each may be moved, of one candidate and of five', unseen)
ok('a finite check that never fires passes' in RECORDED
   and RECORDED.endswith('of a run with --exercise sees all of that\n'), 'and that no step was skipped', RECORDED)

for candidates, paired, red in (
    (['kahan1'], True, False),
    (['kahan1', 'kahan2'], True, False),
    (['fast1'], True, True),
    (['fast1', 'fast2'], True, True),
    (['short1'], True, True),
    (['fresh'], False, False),
    (['fresh', 'kahan1'], False, False),
    (['fast1', 'fast2', 'fresh'], False, False),
):
    code, out, err = run('check', *candidates, '--baseline', 's.tsv', '--json')
    j = json.loads(out)
    found = {f['quantity']: f for f in j['findings']}
    n, k = len(SEEDS), len(candidates)
    told = '%d of %d quantities failed\n' % (sum(not f['ok'] for f in j['findings']), len(j['findings']))
    if paired:
        told += (
            'paired: the candidates train baseline seeds, and their first losses agree to 2e-3\n%d baseline seeds, %d'
            ' candidate%s, 0.5 %% over %d quantities' % (n, k, 's' * (k > 1), len(judged))
        )
    else:
        told += (
            'unpaired: a seed is not in the baseline, or a first loss is another\n%d baseline seeds, %d candidate%s:'
            ' only what moves a quantity by more than ' % (n, k, 's' * (k > 1))
        )
        told += '%.1f times its spread over seeds is seen; candidates of baseline seeds see %.1f times' % (
            limit(.005 / len(judged) / 2, n + k - 2) * math.sqrt(1 / n + 1 / k), WIDER / 2)
    ok(j['summary'].split('\n')[: told.count('\n') + 1] == told.split('\n'), '%s: the summary' % ' '.join(candidates),
       (j['summary'], told))
    wrong = []
    for q in judged:
        d, most, holds = expected(q, candidates, paired)
        f = found[q]
        if not (
            abs(f['moved'] - d) <= 1e-9 * max(1, abs(d))
            and abs(f['allowed'] - most) <= 1e-6 * most
            and f['ok'] == holds
        ):
            wrong.append((q, f, d, most))
    ok(not wrong and set(found) == set(rows) - {'start/loss'}, '%s, %s: every quantity as computed here'
       % (' '.join(candidates), 'paired' if paired else 'unpaired'), wrong[:2])
    ok((code == 1) == red and (('paired: the candidates' in j['summary']) == paired) and (j['failed'] > 0) == red
       and [f['ok'] for f in j['findings']] == sorted(f['ok'] for f in j['findings']), '%s: exit %d, failures first'
       % (' '.join(candidates), code), j['summary'])


# Exact quantities, at their edges: copies of runs whose tables say that steps were skipped, and what else is exact
def edited(name, of, table, row, **cells):
    if not os.path.isdir(name):
        shutil.copytree(of, name)
        manifest = json.load(open(name + '/manifest.json'))
        del manifest['files']['metrics.tsv']  # whose checksum is another now
        json.dump(manifest, open(name + '/manifest.json', 'w'))
    path = '%s/%s' % (name, table)
    lines = open(path).read().splitlines()
    at = [i for i, l in enumerate(lines) if not l.startswith('#')]
    row, head = at[row], lines[at[0]].split('\t')
    values = lines[row].split('\t')
    for k, v in cells.items():
        values[head.index(k)] = v
    lines[row] = '\t'.join(values)
    text = '\n'.join(lines) + '\n'
    open(path, 'w').write(seal(unsealed(text)) if table.startswith('analysis/') else text)


edges, scale = [], float(rows['exact/last_loss_scale'][5])
for of, paired in ('kahan1', True), ('fresh', False):
    for skips, times, bad, over in ((0, 1, 0, 0), (1, 2, 0, 0), (2, 4, 0, 1), (1, .5, 1, 0), (0, .25, 2, 2)):
        name = 'edge%d-%s' % (len(edges), of)
        edited(name, of, 'metrics.tsv', -1, loss_scale='%.17g' % (scale * times))
        for k in range(skips):
            edited(name, of, 'metrics.tsv', k + 3, skipped='1')
        for k in range(bad):
            edited(name, of, 'metrics.tsv', k + 7, loss='nan', skipped='0')
        for k in range(over):
            edited(name, of, 'analysis/replay.tsv', k + 1, over_bound='3')
        edges.append(
            (
                name,
                paired,
                {
                    'exact/skipped_steps': skips,
                    'exact/last_loss_scale': scale * times,
                    'exact/nonfinite_losses': bad,
                    'exact/outputs_over_bound': over,
                },
            )
        )
# evaluated behind the first step
edited('edge0-kahan1', 'kahan1', 'metrics.tsv', 1, eval_loss='1.5', eval_accuracy='0.25')
wrong = []
for name, paired, of in edges:
    code, out, err = run('check', name, '--baseline', 's.tsv', '--json')
    found = {f['quantity']: f for f in json.loads(out)['findings']}
    if name == 'edge0-kahan1':
        known[name] = aggregates(name)
        for q in ('eval_loss/first', 'eval_loss/last', 'eval_accuracy/last'):
            if (
                not near(found[q]['moved'], expected(q, [name], True)[0])
                or q == 'eval_loss/first'
                and known[name][q] != math.log(1.5)
            ):
                wrong.append((name, q, found[q], known[name][q]))
    for q, x in of.items():
        recorded = [float(v) for v in rows[q][5:]]
        low, high, chance = min(recorded), max(recorded), ''
        least, most = (low, high) if q in ('exact/skipped_steps', 'exact/last_loss_scale') else (-math.inf, high)
        if not paired and q == 'exact/skipped_steps':
            least, most, chance = low - 1, high + 1, ' give or take one, the seeds being others'
        if not paired and q == 'exact/last_loss_scale':
            least, most, chance = low / 2, high * 2, ' give or take a factor of 2, the seeds being others'
        good = least <= x <= most
        words = "within the baseline runs' " if good else '%g, and the baseline runs have ' % x
        words += '%g to %g%s' % (low, high, chance)
        if found[q]['ok'] != good or words not in found[q].values():
            wrong.append((name, q, x, good, found[q]))
ok(not wrong and len(edges) == 10,
   'exact quantities: what no baseline run had fails, and of other seeds a step or a factor of 2 is chance',
   wrong[:3])
code, out, err = run('check', 'fast1', '--baseline', 's.tsv')
ok(out.startswith('1..') and 'not ok 1 - ' in out and '; it helps' in out
   and '# optimizer:lr: 0.001 in the baseline, 0.003' in out, 'TAP: what moved, that it helps, and the option', out)
code, out, err = run('check', 'short1', '--baseline', 's.tsv')
ok('not ok 1 - error/products_' in out, 'sums in fp16 are told by the errors of products', out[:300])
code, out, err = run('check', 'fresh', '--baseline', 's.tsv')
ok('times its spread over seeds is seen' in out, 'an unpaired check says what it can see')
# gate --runs trains the seeds 1 and 2, and says what check says of the two runs
OPTIONS = ['--model', 'mlp:width=0.125', '--data', 'size=8,train=320,eval=64', '--batch', '32', '--epochs', '4',
           '--trace', 'steps=last', '--policy', 'mixed_float16']
code, out, err = run('gate', '--baseline', 's.tsv', '--runs', '2', '-o', 'junit=j.xml', 'g', '--', *OPTIONS,
                     '--accumulate', 'kahan')
ok(code == 0 and out == run('check', 'g-1', 'g-2', '--baseline', 's.tsv')[1] and 'paired: the candidates' in out
   and xml.etree.ElementTree.parse('j.xml').getroot().get('failures') == '0',
   'gate --runs 2 of a baseline of statistics: green, as check of the two runs', (code, out[-300:], err))
code, out, err = run('gate', '--baseline', 's.tsv', '--runs', '2', '-o', 'junit=j.xml', 'h', '--', *OPTIONS,
                     '--optimizer', 'lr=0.003')
both = run('check', 'fast1', 'fast2', '--baseline', 's.tsv', '--json')[1]
ok(
    code == 1
    and [l for l in out.splitlines() if l.startswith('not ok')]
    == [l for l in run('check', 'fast1', 'fast2', '--baseline', 's.tsv')[1].splitlines() if l.startswith('not ok')]
    and xml.etree.ElementTree.parse('j.xml').getroot().get('failures') == str(json.loads(both)['failed']),
    'another rate: red, the same quantities as of runs that were trained by hand',
    (code, out[:600], err),
)
refused(2, 'have one seed, 1', 'two candidates of one seed', 'check', 'kahan1', 'fast1', '--baseline', 's.tsv')

# --- the file
# -----------------------------------------------------------------------------------------------------------
text = open('s.tsv').read()
row = [l for l in text.splitlines() if l.startswith('loss/last_epoch')][0]
for name, spoilt, why in (
    ('wide', text.replace(row, '\t'.join(row.split('\t')[:3] + ['9'] + row.split('\t')[4:])), 'its checksum is'),
    ('cut', text[: text.rindex('\n', 0, -1) + 1], 'cut short or changed'),
    ('half', text[:-5], 'cut short'),
    (
        'infinite', text.replace(row, '\t'.join(row.split('\t')[:3] + ['inf'] + row.split('\t')[4:])),
        'a kind or a number is none'
    ),
    ('bare', '\n'.join(l for l in text.splitlines() if not l.startswith('# env.')) + '\n', 'its checksum is'),
    (
        'loose', text.replace(row, '\t'.join(row.split('\t')[:4] + ['9'] + row.split('\t')[5:])),
        'its spreads are not those of its values'
    ),
    (
        'tight', text.replace(row, '\t'.join(row.split('\t')[:3] + ['1e-9'] + row.split('\t')[4:])),
        'its spreads are not those of its values'
    ),
    ('double', text.replace('loss/first_tenth\t', 'loss/last_epoch\t'), 'loss/last_epoch stands there twice'),
    ('one seed', text.replace('seed:2\tother:2', 'seed:1\tother:1'), 'three different seeds'),
    ('odd', text.replace(row, row.replace('\t-1\t', '\tnan\t', 1)), 'a kind or a number is none'),
    (
        'empty', ''.join(l for l in text.splitlines(True) if l.startswith(('#', 'quantity'))),
        'it has 0 quantities, and 1 to '
    ),
    ('newer', text.replace('# halfulp statistics: 2', '# halfulp statistics: 3'), 'no statistics of version 2'),
):
    open(name + '.tsv', 'w').write(spoilt)
    refused(3, why, 'a file that is ' + name, 'check', 'b1', '--baseline', name + '.tsv')
run('train', '--model', 'mlp:width=0.125', '--data', 'size=8,train=320,eval=64', '--batch', '32', '--epochs', '4',
    '--trace', 'steps=last', '--quiet', '--policy', 'float32', '--seed', '1', 'other')
run('analyze', 'other')
refused(3, 'baseline of policy mixed_float16', 'a run of another policy', 'check', 'other', '--baseline', 's.tsv')
finish()
