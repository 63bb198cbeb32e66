# SPDX-License-Identifier: Apache-2.0
# check --history: what it keeps of each commit is the run's headline quantities; the change points and the growth that
# it tells are computed again here, in fractions, from the table.
import json
import math
import os
import re
import subprocess
import sys
from fractions import Fraction as Q

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
from tap import HALFULP, bail_out, finish, halfulp, home, none, ok  # noqa: E402

os.chdir(home())
TRAIN = ['--model', 'mlp', '--model', 'width=0.125', '--data', 'size=8', '--data', 'train=128', '--data', 'eval=32',
         '--batch', '32', '--epochs', '2', '--trace', 'steps=0,7', '--quiet', '--policy', 'mixed_float16']


def make(name, *words):
    for r in (halfulp('train', *TRAIN, *words, name), halfulp('analyze', name)):
        if r.returncode > 1:
            bail_out(r.stderr)


def table(path):
    rows = [line.split('\t') for line in open(path).read().splitlines() if not line.startswith('#')]
    return [dict(zip(rows[0], r)) for r in rows[1:]]


def check(run, commit, *more, folder='history', **env):
    return subprocess.run(
        [HALFULP, 'check', run, '--baseline', 'base.tsv', '--history', folder, *more], stdin=subprocess.DEVNULL,
        capture_output=True, text=True, env={**os.environ, 'GITHUB_SHA': '', 'CI_COMMIT_SHA': commit, **env}
    )


def courses(path):
    q = {}
    for row in table(path):
        if math.isfinite(float(row['value'])):
            q.setdefault(row['quantity'], []).append((row['commit'], Q(float(row['value']))))
    return q


def told(path):
    """The lines that must be said, whose numbers may be written with fewer digits: (beginning, numbers, end)."""
    lines = []
    for key, course in courses(path).items():
        x, n = [v for _, v in course], len(course)

        def within(part):
            mean = sum(part) / len(part)
            return sum((v - mean) ** 2 for v in part), mean

        total = within(x)[0]
        if total > 0:
            k = min(range(1, n), key=lambda k: within(x[:k])[0] + within(x[k:])[0])
            (a, before), (b, after) = within(x[:k]), within(x[k:])
            if a + b == 0 or (total - a - b) * (n - 2) > 30 * (a + b):
                lines.append(('%s moved at commit %s: ' % (key, course[k][0][:12]), [before, after],
                              ' (mean of %d commits, and of %d since)' % (k, n - k)))
        if (
            n > 2
            and 'share' in key.rsplit('/', 1)[1]
            and x[-1] < Q(1, 2)
            and all(b >= a for a, b in zip(x, x[1:]))
            and x[-1] > x[0]
        ):
            lines.append(
                (
                    '%s has only grown, to ' % key,
                    [x[-1], math.ceil((Q(1, 2) - x[-1]) / (x[-1] - x[0]) * (n - 1))],
                    ' commits',
                )
            )
    return lines


def compare(r, path, what):
    said = [line[2:] for line in r.stdout.splitlines() if re.search(' moved at commit | has only grown, to ', line)]
    want, wrong = told(path), []
    for line, (start, numbers, end) in zip(said, want):
        got = [float(x) for x in re.findall(r'-?[0-9.]+(?:e[-+][0-9]+)?(?= -> | \(|: | commits)',
                                            (line[len(start) :].replace(': at its pace it is one half in', ' (')
                                             if 'grown' in line else line[len(start) :]))]
        if not (
            line.startswith(start)
            and line.endswith(end)
            and len(got) >= 2
            and got[0] != got[1]
            and all(math.isclose(g, float(m), rel_tol=1e-2 if 'grown' in line else 1e-5) for g, m in zip(got, numbers))
        ):
            wrong.append('%r there, %s %s %s here; %s' % (line, start, [float(m) for m in numbers], end, got))
    if len(said) != len(want):
        wrong.append('%d lines there, %d here: %s' % (len(said), len(want), said[:3]))
    none(wrong, '%s: %d lines' % (what, len(want)))
    return len(want)


make('a')
make('faster', '--optimizer', 'lr=0.002')
halfulp('baseline', 'a', '-o', 'base.tsv', '--reason', 'first')
r = check('a', 'c1aaaaaaaaaaaaaaaa')
rows = table('history/history.tsv')
base = [line.split('\t')[:2] for line in open('base.tsv').read().split('# the ')[0].splitlines()
        if not line.startswith('#')][1:]
want = {k: v for k, v in base if re.fullmatch(r'-?[0-9.]+(e[-+]?[0-9]+)?|inf|nan', v)}
ok(
    r.returncode == 0
    and {x['quantity']: x['value'] for x in rows} == want
    and {x['commit'] for x in rows} == {'c1aaaaaaaaaaaaaaaa'}
    and len(want) > 15,
    'a commit: the rows that a reviewer reads first',
    (r.stderr, len(rows), len(want)),
)
ok('# history/history.tsv has 1 commits\n' in r.stdout and compare(r, 'history/history.tsv', 'one commit') == 0,
   'nothing moved')
for c in ('c2', 'c3'):
    r = check('a', c)
ok(compare(r, 'history/history.tsv', 'three equal commits') == 0 and r.returncode == 0, 'equal commits: nothing moved')
before = open('history/history.tsv').read()
check('a', 'c3')
ok(open('history/history.tsv').read() == before, 'a commit that is checked again has its rows once')
for c in ('c4', 'c5'):
    r = check('faster', c)
ok(r.returncode == 1 and '# history/history.tsv has 5 commits\n' in r.stdout
   and re.search(r'^# metrics/7/eval_loss moved at commit c4: ', r.stdout, re.M),
   'another learning rate from the fourth commit on', r.stdout[-600:])
compare(r, 'history/history.tsv', 'a change point')
j = json.loads(check('faster', 'c5', '--format', 'json').stdout)
ok(j['history'].startswith('history/history.tsv has 5 commits\n') and 'moved at commit c4' in j['history'],
   'JSON has it too')
if subprocess.run('command -v "${GNUPLOT:-gnuplot}"', shell=True, capture_output=True).returncode == 0:
    import xml.etree.ElementTree

    text = ' '.join(xml.etree.ElementTree.parse('history/history.svg').getroot().itertext())
    ok('metrics/7/eval_loss' in text and 'c4' in text, 'the figure has what moved, over commits')
    q = courses('history/history.tsv')
    moved = [start.split(' ')[0] for start, _, _ in told('history/history.tsv') if ' moved at ' in start]
    parts = [part.splitlines() for part in open('history/history.data').read().split('\n\n\n')]
    drawn = {part[0][2:]: [(c, Q(float(x))) for c, x in (row.split('\t') for row in part[1:])] for part in parts}
    most = len(parts)
    of = lambda key, x: Q(1 - float(x)) if key.endswith('cosine') else x
    wrong = [key for key in drawn if drawn[key] != [(c[:8], of(key, x)) for c, x in q[key]]]
    none(wrong + [key for key, at in zip(drawn, moved) if key != at],
         'its data: %d of %d that moved, commit by commit' % (most, len(moved)))
else:
    ok(not os.path.exists('history/history.svg'), 'no figure without gnuplot')

# Shares that grow: the loss scale falls commit by commit, so that casts flush more and more
for i, scale in enumerate(('1', '2^-2', '2^-4', '2^-6')):
    make('s%d' % i, '--loss-scale', 'init=' + scale)
    r = check('s%d' % i, 'd%d' % i, folder='falling')
grown = [x for x in told('falling/history.tsv') if 'only grown' in x[0]]
compare(r, 'falling/history.tsv', 'flushed shares that grow')
ok(any(x[0].startswith('summary/underflow/') for x in grown), 'when they reach one half is told', grown)

r = check('a', '', folder='none')
ok(r.returncode == 3 and r.stderr.count('\n') == 1 and 'no commit is checked out here' in r.stderr
   and not os.path.exists('none/history.tsv'), 'no commit: exit 3, one line', r.stderr)
subprocess.run('git init -q . && git -c user.name=x -c user.email=x@y commit -q --allow-empty -m x', shell=True,
               capture_output=True)
head = subprocess.run('git rev-parse HEAD', shell=True, capture_output=True, text=True)
if head.returncode == 0:
    r = check('a', '', folder='git')
    ok({x['commit'] for x in table('git/history.tsv')} == {head.stdout.strip()}, 'the commit that is checked out',
       r.stderr)
else:
    ok(True, 'the commit that is checked out # SKIP git is absent')
os.mkdir('other')
open('other/history.tsv', 'w').write('a\tb\n1\t2\n')
r = check('a', 'c1', folder='other')
ok(r.returncode == 3 and 'no history of check' in r.stderr and open('other/history.tsv').read() == 'a\tb\n1\t2\n',
   'another table of that name is left as it is', r.stderr)
r = check('a', 'c1', folder='base.tsv')
ok(
    r.returncode == 4 and 'nothing was judged' in r.stdout, 'a folder that cannot be made: exit 4',
    (r.returncode, r.stderr)
)
finish()
