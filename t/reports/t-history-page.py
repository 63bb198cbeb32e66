#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# report --history on a drawn repository of ten commits, of which the seventh changes the learning rate: every value and
# limit of the page is that of history.tsv, limits are those of the baseline's rows, the change points and the places in
# the pictures are computed again, and the seventh commit is the one that is named. HALFULP names the program.
import html, json, math, os, re, shutil, subprocess, sys
from fractions import Fraction as Q

sys.dont_write_bytecode = True
TOP = os.path.abspath(os.environ.get('srcdir', '.'))
sys.path[:0] = [TOP + '/t/tool', TOP + '/t/reports']
import svgtext
import tap

os.chdir(tap.home())
if not shutil.which('git'):
    tap.skip_all('git is absent')
TRAIN = ['--model', 'mlp:width=0.125', '--data', 'digits:size=8,train=128,eval=32', '--batch', '32', '--epochs', '2',
         '--trace', 'steps=0,7', '--quiet', '--policy', 'mixed_float16']
for name, more in (('a', []), ('b', ['--optimizer', 'lr=0.002'])):
    for words in (['train', *TRAIN, *more, name], ['analyze', name]):
        ran = tap.halfulp(*words)
        if ran.returncode > 1:
            tap.bail_out(ran.stderr)
ran = tap.halfulp('baseline', 'a', '-o', 'base.tsv', '--ulps', '4', '--reason', 'first')
tap.ok(ran.returncode == 0, 'a baseline with limits', ran.stderr)

# Ten commits, the seventh with a step
git = lambda *w: subprocess.run(['git', '-C', 'repo', '-c', 'user.name=n', '-c', 'user.email=n@n', *w], check=True,
                                capture_output=True, text=True).stdout.strip()
os.makedirs('repo')
git('init', '-q')
STEP, commits, failed = 6, [], 0
env = {k: v for k, v in os.environ.items() if k not in ('GITHUB_SHA', 'CI_COMMIT_SHA', 'GIT_DIR')}
for i in range(10):
    with open('repo/rate', 'w') as f:
        f.write('%d\n' % i)
    git('add', '-A')
    git('commit', '-qm', 'commit %d' % i)
    commits.append(git('rev-parse', 'HEAD'))
    ran = tap.halfulp('check', '../a' if i < STEP else '../b', '--baseline', '../base.tsv', '--history', '../kept',
                      cwd='repo', env=env)
    failed += ran.returncode == 1
tap.ok(failed == 4, 'the last four commits fail', ran.stderr)


def table(path):
    rows = [line.split('\t') for line in open(path).read().splitlines() if not line.startswith('#')]
    return [dict(zip(rows[0], r)) for r in rows[1:]]


rows = table('kept/history.tsv')
gated = table('kept/gated.tsv')
short = lambda c: next((x for x in commits if x.startswith(c)), None)
tap.ok([short(c) for c in dict.fromkeys(r['commit'] for r in rows)] == commits, 'a history of ten commits')


# Limits, from the baseline
def ulp(x, fmt):
    p, emin = {'fp16': (11, -14), 'bf16': (8, -126), 'fp32': (24, -126), 'fp64': (53, -1022)}[fmt]
    e = math.frexp(x)[1] - 1 if x else emin
    return 2.0 ** (max(e, emin) - p + 1)


want = {r['quantity']: r for r in table('base.tsv')}
num = lambda s: math.nan if s == '-' else float(s)
same = lambda x, y: x == y or math.isnan(x) and math.isnan(y)
wrong, sides = [], set()
for r in rows + gated:
    w = want.get(r['quantity'])
    low = high = math.nan
    if w and w['must_not_move'] != 'any' and math.isfinite(float(w['value'])):
        v = float(w['value'])
        allowed = max(float(w['tolerance']), float(w['ulps']) * ulp(v, w['ulps_of']))
        low, high = (-math.inf if w['must_not_move'] == 'up' else v - allowed,
                     math.inf if w['must_not_move'] == 'down' else v + allowed)
        sides.add(w['must_not_move'])
    if not same(low, num(r['low'])) or not same(high, num(r['high'])):
        wrong.append([r, w])
tap.none(wrong, 'limits of %d rows, sides %s' % (len(rows), sorted(sides)))
tap.ok(len(sides) > 1, 'limits of more than one kind', sides)
numeric = {k for k, w in want.items() if re.fullmatch(r'-?[0-9.]+(e[-+]?[0-9]+)?', w['value'])}
head = {r['quantity'] for r in rows}
held = {k for k in numeric if want[k]['must_not_move'] != 'any'} - head
lists = {c: {r['quantity'] for r in gated if short(r['commit']) == c} for c in commits}
tap.none([c for c in commits if lists[c] != held], 'gated.tsv has all %d other quantities that are held to '
         'limits, of each commit' % len(held))
places = {'step': 1, 'call': 3}
wrong = [r for r in gated for name, at in places.items()
         if r['quantity'].startswith('replay/') and r[name] != r['quantity'].split('/')[at]]
tap.none(wrong, 'and their places in the program')

# The page
ran = tap.halfulp('report', '--history', 'kept', '--json')
page = svgtext.plain(open('kept/index.html').read()) if ran.returncode == 0 else ''
told = re.findall(r'<abbr title="([0-9a-f]+)">([0-9a-f]+)</abbr>', page)
tap.ok({c for c, _ in told} == set(commits) and all(c.startswith(x) and len(x) == 10 for c, x in told),
       'a commit is told by the first ten letters of its hash, which has all of them', told[:3])
page = re.sub(r'<abbr title="([^"]*)">[^<]*</abbr>', r'\1', page)
tap.ok(ran.returncode == 0 and json.loads(ran.stdout) == {'page': 'kept/index.html'}, 'a page', ran.stderr)
tap.ok(not re.search(r'src=|href=(?!"#)|url\(|<script[^>]', page) and "default-src 'none'" in page,
       'which loads nothing')
tap.ok('<pre>halfulp report --history=kept --json</pre>' in page, 'and says the command that made it')
text = lambda s: ' '.join(html.unescape(re.sub(r'<[^>]*>', ' ', s)).split())
course = {}
for r in rows + gated:
    if math.isfinite(float(r['value'])):
        course.setdefault(r['quantity'], []).append(r)
figures = {text(re.search(r'<b>(.*?)</b>', f)[1]): f
           for f in re.findall(r'<figure class="course">.*?</figure>', page, re.S)}


def split(x):
    within = lambda p: sum((v - sum(p) / len(p)) ** 2 for v in p)
    n, total = len(x), within(x)
    if not total:
        return 0
    k = min(range(1, n), key=lambda k: within(x[:k]) + within(x[k:]))
    left = within(x[:k]) + within(x[k:])
    return k if left == 0 or (total - left) * (n - 2) > 30 * left else 0


# What is drawn: each quantity that stands first, and of the others the 48 that moved first
splits = {key: split([Q(float(r['value'])) for r in c]) for key, c in course.items()}
order = {c: i for i, c in enumerate(commits)}
rank = lambda key: tuple(math.inf if gate[key][n] == '-' else float(gate[key][n]) for n in ('step', 'call'))
gate = {r['quantity']: r for r in gated}
at = list(course)
others = sorted((k for k in course if k not in head and splits[k]),
                key=lambda k: (order[short(course[k][splits[k]]['commit'])], *rank(k), at.index(k)))
tap.ok(list(k for k in figures if k not in head) == others[:48]
       and set(figures) == set(course) & head | set(others[:48]) and len(others) > 48,
       'pictures of %d that stand first and of 48 of %d others that moved'
       % (len(set(course) & head), len(others)), list(figures)[:5])
tap.ok('%d more moved,' % (len(others) - 48) in text(page), 'how many are not drawn is said')
listed = re.search(r'<table class="all">.*?<tbody>(.*?)</tbody>', page, re.S)[1]
listed = [[(text(c), v) for v, c in re.findall(r'<t[hd][^>]*?(?: data-v="([^"]*)")?>(.*?)</t[hd]>', r)]
          for r in re.findall(r'<tr[^>]*>(.*?)</tr>', listed, re.S)]
wrong = [] if {r[0][0] for r in listed} == set(course) and len(listed) == len(course) else ['not all are listed']
for r in listed:
    c, k = course[r[0][0]], splits[r[0][0]]
    mean = lambda p: sum(float(x['value']) for x in p) / len(p)
    limits = [num(c[-1][n]) for n in ('low', 'high')]
    want_row = [mean(c[:k]) if k else math.nan, mean(c[k:]) if k else math.nan, float(c[-1]['value']), *limits]
    is_beyond = want_row[2] < limits[0] or want_row[2] > limits[1]
    word = 'beyond' if is_beyond else 'within' if any(map(math.isfinite, limits)) else 'none'
    near = lambda cell, x: (math.isclose(float(cell[1]), x, rel_tol=1e-9) if math.isfinite(x)
                            else cell == ('–', ''))
    if (r[1][0] != (c[k]['commit'] if k else '–') or r[7][0] != word
            or not all(map(near, r[2:7], want_row))):
        wrong.append([r, want_row, word])
tap.none(wrong, 'the table lists all %d quantities, with where they moved, the last value and its limits' % len(course))
spots = re.search(r'<table class="commits">.*?<tbody>(.*?)</tbody>', page, re.S)[1]
spots = [[text(c) for c in re.findall(r'<t[hd][^>]*>(.*?)</t[hd]>', r)]
         for r in re.findall(r'<tr>(.*?)</tr>', spots, re.S)]
by = {}
for key, k in splits.items():
    if k:
        by.setdefault(short(course[key][k]['commit']), []).append(key)
want_spots = [[c, by[c][0] and next(r['date'] for r in rows if short(r['commit']) == c), str(len(by[c])),
               next((k for k in others if k in by[c]), None)] for c in commits if c in by]
tap.ok([[short(s[0]), *s[1:]] for s in spots] == want_spots, 'the commits where they moved, and what moved first there',
       [spots, want_spots])

wrong, moved, outside = [], 0, 0
fin = lambda s: '%.9g' % float(s) if s != '-' and math.isfinite(float(s)) else '–'
for key in figures:
    c, f = course[key], figures[key]
    got = [[text(x) for x in re.findall(r'<t[hd][^>]*>(.*?)</t[hd]>', r)]
           for r in re.findall(r'<tr[^>]*>(.*?)</tr>', f, re.S)]
    if got[1:] != [[r['commit'], r['date'], '%.9g' % float(r['value']), fin(r['low']), fin(r['high'])] for r in c]:
        wrong.append([key, 'values', got[1:3]])
    k = split([Q(float(r['value'])) for r in c])
    says = re.search(r'It moved at commit (\w+) , from (\S+) to (\S+) on average \((\d+) commits before, (\d+) since\)',
                     text(f))
    if bool(says) != bool(k) or ('It did not move.' in text(f)) == bool(k):
        wrong.append([key, 'moved', k, text(f)[:200]])
    if k and says:
        moved += k == STEP
        mean = lambda p: sum(float(r['value']) for r in p) / len(p)
        if (short(says[1]) != commits[k] or [int(says[4]), int(says[5])] != [k, len(c) - k]
                or not all(math.isclose(float(s), m, rel_tol=1e-3)
                           for s, m in zip(says.groups()[1:3], (mean(c[:k]), mean(c[k:]))))):
            wrong.append([key, says.groups()])
    beyond = [i for i, r in enumerate(c) if float(r['value']) < num(r['low']) or float(r['value']) > num(r['high'])]
    outside += len(beyond)
    if ('%d of %d commits %s beyond the limits.' % (len(beyond), len(c), 'is' if len(beyond) == 1 else 'are')
            in text(f)) != bool(beyond) or f.count('<rect class="beyond"') != len(beyond):
        wrong.append([key, 'beyond', beyond])
    # Places in the picture: all values and finite limits on one axis
    view = (lambda x: 1 - x) if key.endswith('cosine') else (lambda x: x)
    all_ = [view(x) for r in c for x in (float(r['value']), num(r['low']), num(r['high'])) if math.isfinite(x)]
    span = max(all_) - min(all_)
    room = 0.08 * span if span else 0.1 * abs(max(all_)) if max(all_) else 1
    top, bottom = max(all_) + room, min(all_) - room
    across = lambda k: 84 + (k / (len(c) - 1) if len(c) > 1 else 0.5) * 322
    down = lambda x: 22 + (top - view(x)) / (top - bottom) * 122
    points = [tuple(map(float, p.split(',')))
              for p in re.search(r'<polyline class="value" points="([^"]*)"', f)[1].split()]
    near = lambda p, q: abs(p - q) < 0.07
    if len(points) != len(c) or not all(near(p[0], across(i)) and near(p[1], down(float(r['value'])))
                                        for i, (p, r) in enumerate(zip(points, c))):
        wrong.append([key, 'places', points[:3]])
    for which, path in zip(('low', 'high'), re.findall(r'<path class="limit" d="([^"]*)"', f)):
        ys = [float(y) for y in re.findall(r'[ML][-\d.]+ ([-\d.]+)H', path)]
        at = [down(num(r[which])) for r in c if math.isfinite(num(r[which]))]
        if len(ys) != len(at) or not all(map(near, ys, at)):
            wrong.append([key, which, ys, at])
    line = re.search(r'<line class="moved" x1="([\d.]+)"', f)
    if bool(line) != bool(k) or line and not near(float(line[1]), across(k - 0.5)):
        wrong.append([key, 'line', k])
tap.none(wrong, 'values, limits, change points and places of all')
tap.ok(moved > 5 and outside > 0 and '<h2>What moved</h2>' in page,
       '%d of the pictures moved at the seventh commit' % moved)
last = [r for c in course.values() for r in c[-1:]
        if float(r['value']) < num(r['low']) or float(r['value']) > num(r['high'])]
tap.ok('%d quantities over 10 commits' % len(course) in text(page)
       and '%d moved; the last commit has %d beyond their limits.' % (sum(k > 0 for k in splits.values()), len(last))
       in text(page),
       'the head of the page', text(page)[:1500][-300:])

# Where it goes
ran = tap.halfulp('report', '--history', 'kept', '--out', 'h.html')
tap.ok(ran.stdout == 'h.html: the page of a history\n' and os.path.isfile('h.html'), 'the page as a file', ran.stderr)
for words, why in ((['--history', 'kept', '--out', 'h.md'], 'the page of a history is no Markdown'),
                   (['a', '--out', 'r.html'], 'figures stand beside the page of a run'),
                   (['a', '--out', 'r.md'], 'figures stand beside the page of a run')):
    ran = tap.halfulp('report', *words)
    tap.ok(ran.returncode == 2 and ran.stderr == 'halfulp report: --out %s: %s; name a folder\n' % (words[-1], why)
           and not os.path.exists(words[-1]), 'refused: ' + words[-1], [ran.returncode, ran.stderr])

# A history of an older version has no limits, one of a commit has a point, and what is no history is refused
os.makedirs('old')
with open('old/history.tsv', 'w') as f:
    f.write('# table\thistory\ncommit\tdate\tquantity\tvalue\n<c>1\t2026-01-01\tx/share\t0.5\n')
ran = tap.halfulp('report', '--history', 'old', '--out', 'there')
old = open('there/index.html').read() if ran.returncode == 0 else ''
tap.ok(ran.stdout == 'there/index.html: the page of a history\n' and old.count('<circle') == 1 and '<c>' not in old
       and 'nan' not in re.sub(r'<(style|script)>.*?</\1>', '', old, flags=re.S), 'without limits', ran.stderr)
ran = tap.halfulp('check', 'a', '--baseline', 'base.tsv', '--history', 'old', env={**env, 'CI_COMMIT_SHA': 'next'})
tap.ok(ran.returncode == 0 and table('old/history.tsv')[0] == {'commit': '<c>1', 'date': '2026-01-01',
       'quantity': 'x/share', 'value': '0.5', 'low': '-', 'high': '-'}, 'and check adds to it', ran.stderr)
os.makedirs('bad')
with open('bad/history.tsv', 'w') as f:
    f.write('# table\thistory\na\tb\n1\t2\n')
for words, code in ((['--history', 'bad'], 3), (['--history', 'nowhere'], 3), (['--history', 'kept', 'a'], 2),
                    (['--history', 'kept', '-o', '-'], 2), (['--history', 'kept', '--format', 'png'], 2)):
    ran = tap.halfulp('report', *words)
    tap.ok(ran.returncode == code and ran.stderr.count('\n') == 1,
           '%s: exit %d: %s' % (' '.join(words), code, ran.stderr.strip()))
tap.finish()
