#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# check of whole trainings: the score of the last evaluation of several seeds, a one-sided test, and its power. Means,
# limits and the olympic mean's test are computed again with Python's standard library: t by Simpson's rule in the
# angle, the noncentral t by the series over incomplete beta functions (Lenth, AS 243, 1989), not by the program's
# integral. What is published is R's: power.t.test (power = .90, delta = 1, alternative = "one.sided") has n = 17.84713,
# an example of its documentation.
import json
import math
import os
import re
import shutil
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
from tap import bail_out, finish, halfulp, home, none, ok  # noqa: E402

os.chdir(home())
ALPHA, POWER = 0.01, 0.9


def refused(code, words, what, *line):
    p = halfulp(*line)
    ok(
        p.returncode == code and p.stderr.count('\n') == 1 and words in p.stderr,
        '%s: exit %d, one line' % (what, code), (p.returncode, p.stdout[-300:], p.stderr)
    )


OPTIONS = '--model mlp:width=0.0625 --data size=8,train=64,eval=32 --steps 2 --trace steps=none'.split()


def train(name, seed, *more):
    p = halfulp('train', *OPTIONS, '--quiet', '--seed', str(seed), *more, name)
    if p.returncode:
        bail_out(p.stderr)


# --- distributions ------------------------------------------------------------
def tail(t, n):
    """P(T > t): T = sqrt(n) tan(u) has the density cos(u)^(n-1)."""
    c, a, steps = (math.exp(math.lgamma((n + 1) / 2) - math.lgamma(n / 2)) / math.sqrt(math.pi),
                   math.atan(t / math.sqrt(n)), 2000)
    h, f = (math.pi / 2 - a) / steps, lambda u: max(math.cos(u), 0) ** (n - 1)
    return (c * h / 3 * (f(a) + f(math.pi / 2) + 4 * math.fsum(f(a + i * h) for i in range(1, steps, 2)) + 2
                         * math.fsum(f(a + i * h) for i in range(2, steps, 2))))


def bisect(f, low=0.0, high=1.0):
    """The x where the rising f is 0."""
    while f(high) < 0:
        high *= 2
    for _ in range(60):
        mid = (low + high) / 2
        low, high = (low, mid) if f(mid) > 0 else (mid, high)
    return high


def beta_share(x, a, b):
    """The regularised incomplete beta function, by its continued fraction (Lentz)."""
    if x > (a + 1) / (a + b + 2):
        return 1 - beta_share(1 - x, b, a)
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    h = d
    for m in range(1, 60):
        for e in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d, c = 1 / (1 + e * d), 1 + e / c
            h *= c * d
    return (math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log(1 - x))
            * h / a)


def power(t, n, d):
    """P(T > t) of the noncentral t, t > 0, d > 0."""
    x, lam, total = t * t / (t * t + n), d * d / 2, 0
    for j in range(80):
        p = math.exp(-lam + j * math.log(lam) - math.lgamma(j + 1)) / 2
        q = math.exp(-lam + j * math.log(lam) - math.lgamma(j + 1.5)) * d / (2 * math.sqrt(2))
        total += p * beta_share(x, j + 0.5, n / 2) + q * beta_share(x, j + 1, n / 2)
    return 1 - (math.erfc(d / math.sqrt(2)) / 2 + total)


ok(
    abs(bisect(lambda t: 0.01 - tail(t, 8)) - 2.896459) < 1e-5
    and abs(bisect(lambda t: 0.01 - tail(t, 3)) - 4.540703) < 1e-5,
    "this test's limits are those of the tables",
)
at = {n: power(bisect(lambda t: 0.05 - tail(t, 2 * n - 2)), 2 * n - 2, math.sqrt(n / 2)) for n in (17, 18)}
between = 17 + (0.9 - at[17]) / (at[18] - at[17])
ok(abs(between - 17.84713) < 0.01, "and its power is R's: n = %.4f, published 17.84713" % between)


def side(values, olympic):
    v = sorted(values)
    kept = v[1:-1] if olympic else v
    wins = [v[1]] + v[1:-1] + [v[-2]] if olympic else v
    return statistics.fmean(kept), sum((x - statistics.fmean(wins)) ** 2 for x in wins), len(kept)


def judged(was, now, better, olympic):
    (a, qa, n), (b, qb, k) = side(was, olympic), side(now, olympic)
    error = math.sqrt((qa + qb) / (n + k - 2) * (1 / n + 1 / k))
    limit = bisect(lambda t: ALPHA - tail(t, n + k - 2))
    return {
        'was': a,
        'is': b,
        'degrees': n + k - 2,
        't': better * (a - b) / error,
        'limit': limit,
        'allowed': limit * error,
    }, error


# --- runs whose scores are written by hand --------------------------------------------------------
train('one', 1)
MANIFEST, METRICS = open('one/manifest.json').read(), open('one/metrics.tsv').read()


def make(name, seed, **score):
    """A finished run with these cells in its last row, and a manifest that lists what the files are."""
    os.makedirs(name, exist_ok=True)
    for f in os.listdir('one'):
        if not os.path.exists(os.path.join(name, f)):
            (shutil.copytree if os.path.isdir(os.path.join('one', f)) else shutil.copy)(
                os.path.join('one', f), os.path.join(name, f)
            )
    m = json.loads(MANIFEST)
    m['seed'] = m['config']['seed'] = seed
    m.get('files', {}).pop('metrics.tsv', None)
    json.dump(m, open(os.path.join(name, 'manifest.json'), 'w'))
    lines = METRICS.rstrip('\n').split('\n')
    head = next(l for l in lines if not l.startswith('#')).split('\t')
    cells = lines[-1].split('\t')
    for column, x in score.items():
        cells[head.index(column)] = repr(x)
    open(os.path.join(name, 'metrics.tsv'), 'w').write('\n'.join(lines[:-1] + ['\t'.join(cells)]) + '\n')


WAS = [0.923, 0.931, 0.927, 0.919, 0.934, 0.9268]
SAME = [0.925, 0.929, 0.9205, 0.9315, 0.9]
DROP = [0.901, 0.909, 0.895, 0.898, 0.912]
for i, x in enumerate(WAS):
    make('w%d' % i, i + 1, eval_accuracy=x, eval_loss=1 - x)
for name, values in (('s', SAME), ('d', DROP)):
    for i, x in enumerate(values):
        make('%s%d' % (name, i), 20 + i, eval_accuracy=x, eval_loss=1 - x)
was, same, drop = ['w%d' % i for i in range(6)], ['s%d' % i for i in range(5)], ['d%d' % i for i in range(5)]
REASON = ['--reason', 'six seeds']

refused(2, '65 runs: at most 64', 'too many runs', 'baseline', *['w0'] * 65, '-o', 'a.tsv', '--score', 'accuracy',
        *REASON)
refused(2, 'at least 3 seeds', 'two runs', 'baseline', *was[:2], '-o', 'a.tsv', '--score', 'accuracy', *REASON)
refused(2, 'has seed 1 as a run before it', 'one seed twice', 'baseline', 'w0', 'w1', 'w0', '-o', 'a.tsv', '--score',
        'accuracy', *REASON)
refused(2, 'accuracy, precision, recall', 'a score that is none', 'baseline', *was, '-o', 'a.tsv', '--score', 'speed',
        *REASON)
refused(2, 'has no eval_dice', "another model's score", 'baseline', *was, '-o', 'a.tsv', '--score', 'dice', *REASON)
refused(2, '--reason TEXT is needed', 'no reason', 'baseline', *was, '-o', 'a.tsv', '--score', 'accuracy')
refused(2, '--score has no effect', '--score beside --statistics', 'baseline', *was, '-o', 'a.tsv', '--score',
        'accuracy', '--statistics', *REASON)
for i in range(3):
    make('e%d' % i, i + 1, eval_accuracy=0.5)
refused(2, 'every run has the same eval_accuracy, 0.5', 'runs that do not differ', 'baseline', 'e0', 'e1', 'e2', '-o',
        'a.tsv', '--score', 'accuracy', *REASON)
make('nan', 9, eval_accuracy=math.nan)
refused(2, 'eval_accuracy of seed 9 is not finite', 'a score that is NaN', 'baseline', 'nan', 'w0', 'w1', '-o',
        'a.tsv', '--score', 'accuracy', *REASON)
ok(not os.path.exists('a.tsv'), 'nothing was written')

p = halfulp('baseline', *was, '-o', 'a.tsv', '--score', 'accuracy', *REASON)
lines = p.stdout.splitlines()


def told(line, k):
    """Whether the drop of this line is the one with a power of 90 %, to its last digit."""
    words = re.fullmatch(
        r'%d candidate%s a drop of ([0-9.]+) points with 90 %%' % (k, ' detects' if k == 1 else 's detect'), line
    )
    (_, squares, n), limit = side(WAS, False), bisect(lambda t: ALPHA - tail(t, 6 + k - 2))
    error = 100 * math.sqrt(squares / (n - 1) * (1 / n + 1 / k))
    return words and power(limit, n + k - 2, (float(words[1]) - 0.006) / error) < POWER < power(
        limit, n + k - 2, (float(words[1]) + 0.006) / error
    )


ok(
    p.returncode == 0
    and lines[0] == 'eval_accuracy of 6 seeds recorded in a.tsv'
    and len(lines) == 5
    and all(told(l, k) for l, k in zip(lines[1:], (1, 3, 5, 10))),
    'six seeds are recorded, and the power of 1 to 10 candidates is told',
    (p.stdout, p.stderr),
)
rows = [l.split('\t') for l in open('a.tsv') if not l.startswith('#')]
none(
    (
        [r for r in zip(rows[1:], WAS) if float(r[0][1]) != r[1]]
        if [c.strip() for c in rows[0]] == ['seed', 'eval_accuracy'] and len(rows) == 7
        else rows
    ),
    'a row a seed',
)

for candidates, values, olympic, red in (
    (same, SAME, False, False),
    (drop, DROP, False, True),
    (same, SAME, True, False),
    (drop, DROP, True, True),
    (['s0'], SAME[:1], False, False),
    (['s4'], SAME[4:], False, True),
):
    p = halfulp('check', *candidates, '--baseline', 'a.tsv', '--json', *(['--olympic'] if olympic else []))
    j, (want, error) = json.loads(p.stdout), judged(WAS, values, 1, olympic)
    found = power(want['limit'], want['degrees'], j['detected'] / error)
    none([(k, j[k], want[k]) for k in want if abs(j[k] - want[k]) > 1e-6 * max(1e-3, abs(want[k]))] + [found]
         * (abs(found - POWER) > 1e-6), '%s%s: means, t, limit, degrees and power, computed here'
         % (' '.join(candidates), ', olympic' if olympic else ''))
    ok(
        p.returncode == red
        and (want['t'] > want['limit']) == red
        and j['ok'] != red
        and (j['candidates'], j['recorded']) == (len(values), 6),
        '%s: exit %d' % (' '.join(candidates), red),
        j,
    )
want = judged(WAS, DROP, 1, False)[0]
p = halfulp('check', *drop, '--baseline', 'a.tsv')
ok(p.stdout.startswith('1..1\nnot ok 1 - eval_accuracy: ')
   and '%.2f %% is the mean of 5 runs, %.2f points worse than the %.2f %% of 6 in the baseline; %.2f points less is '
   'allowed' % (100 * want['is'], 100 * (want['was'] - want['is']), 100 * want['was'], 100
                * want['allowed']) in p.stdout, 'TAP: how much worse, and what is allowed', p.stdout)
ok('5 candidates against 6 baseline runs detect a drop of 1.6' in p.stdout and ' points with 90 %' in p.stdout,
   'and what such a check detects', p.stdout)
p = halfulp('baseline', *was, '-o', 'l.tsv', '--score', 'loss', *REASON)
p = halfulp('check', *drop, '--baseline', 'l.tsv', '--json')
j, want = json.loads(p.stdout), judged([1 - x for x in WAS], [1 - x for x in DROP], -1, False)[0]
ok(p.returncode == 1 and abs(j['t'] - want['t']) < 1e-6 * want['t'], 'a loss that rose is red', j)
p = halfulp('check', *was, '--baseline', 'l.tsv', '--format', 'junit')
ok(p.returncode == 0 and '<testsuite' in p.stdout and 'eval_loss' in p.stdout, 'JUnit too', p.stdout)
refused(2, '4 candidates against 4 baseline runs', '--olympic of three', 'check', *drop[:3], '--baseline', 'a.tsv',
        '--olympic')
refused(2, "unknown or ambiguous option '--bless'", '--bless of a score', 'check', *was, '--baseline', 'b.tsv',
        '--bless')

# --- the file ------------------------------------------------------------
text = open('a.tsv').read()
for name, spoilt in (
    ('cut', text[:-20]),
    ('changed', text.replace('0.923', '0.823')),
    ('newer', text.replace('halfulp scores: 1', 'halfulp scores: 2')),
):
    open(name + '.tsv', 'w').write(spoilt)
    refused(3, name + '.tsv', 'a file that is ' + name, 'check', 's0', '--baseline', name + '.tsv')
train('half', 1, '--policy', 'mixed_float16')
ok(halfulp('check', 'half', '--baseline', 'a.tsv').returncode in (0, 1),
   'another policy is held to it: that is what it is for')
train('other', 1, '--model', 'convnet')
refused(3, 'is a baseline of model mlp', 'another model is not', 'check', 'other', '--baseline', 'a.tsv')

# --- gate trains them itself ------------------------------------------------------------
p = halfulp('gate', '--baseline', 'a.tsv', '--runs', '3', '-o', 'junit=j.xml', 'g', '--', *OPTIONS)
ok(p.returncode == 1 and sorted(f for f in os.listdir('.') if f.startswith('g-')) == ['g-1', 'g-2', 'g-3']
   and [json.load(open('g-%d/manifest.json' % s))['seed'] for s in (1, 2, 3)] == [1, 2, 3],
   'gate --runs 3 trains three seeds', (p.returncode, p.stdout, p.stderr))
ok('is the mean of 3 runs' in p.stdout and 'eval_accuracy' in open('j.xml').read(), 'and holds their mean', p.stdout)
again = halfulp('gate', '--baseline', 'a.tsv', '--runs', '3', 'g')
ok(again.returncode == 1 and again.stdout == p.stdout, 'runs that are there are taken as they are')
refused(2, '--seed', 'a seed beside --runs', 'gate', '--baseline', 'a.tsv', '--runs', '2', 'h', '--', '--seed', '4')
finish()
