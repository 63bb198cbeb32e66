# SPDX-License-Identifier: Apache-2.0
"""The data set udata: ratings in each of MovieLens's three forms are the same data; rows to train on are choices and
items not chosen, the last choice of each user by its time is never among them, and wrong lines are refused in one."""

import json
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
from tap import finish, halfulp, home, ok  # noqa: E402
from tensorsfile import Tensors  # noqa: E402

folder = home()
rng = random.Random(8)


def at(*names):
    return os.path.join(folder, *names)


def write(name, text):
    with open(at(name), 'w') as f:
        f.write(text)


def train(name, run, *more):
    words = '--model ncf:hidden=2 --steps 1 --batch 4000 --quiet --trace steps=0 --trace input.*'.split()
    return halfulp('train', *words, '--data', 'train=4000', '--data', 'udata:' + at(name), *more, at(run))


# Users and items with gaps between their numbers; one user rates once, one rates an item twice, and one alone the first
# item. Most times are those of several lines, of which the last one counts as the latest: at the end of the file one
# user rates an item, another one and the first one again, all at one time
users, items, lines = rng.sample(range(1, 900), 12), rng.sample(range(1, 5000), 30), []
for u in users:
    for i in rng.sample(items, rng.randrange(2, 20)):
        lines.append((u, i, rng.randrange(1, 6), 0))
lines.append((950, items[0], 3, 0))
lines.append((users[3], 0, 2, 0))
lines.append((lines[0][0], lines[0][1], 1, 0))
times = [10**8 + rng.randrange(4) for _ in lines]
lines = [(u, i, r, t) for (u, i, r, _), t in zip(lines, times)]
rng.shuffle(lines)
lines += [(users[5], items[k], 4, 10**9) for k in (0, 1, 0)]
write('u.data', ''.join('%d\t%d\t%d\t%d\n' % x for x in lines))
write('ratings.dat', '\r\n'.join('%d::%d::%d::%d' % x for x in lines))
write('ratings.csv', 'userId,movieId,rating,timestamp\n' + ''.join('%d,%d,%.1f,%d\n' % x for x in lines))
write('untimed', ''.join('%d,%d,%d\n' % x[:3] for x in sorted(lines, key=lambda x: x[3])))
found = []
for name in ('u.data', 'ratings.dat', 'ratings.csv', 'untimed'):
    got = train(name, name + '-run')
    data = json.load(open(at(name + '-run', 'manifest.json')))['dataset'] if got.returncode == 0 else got.stderr
    found.append((data['digest'], data['train'], data['eval']) if isinstance(data, dict) else data)
ok(len(set(found)) == 1 and found[0][1:] == (4000, 1200), 'the same data in each form, and by order without times',
   found)

latest = {}
for place, (u, i, _, t) in enumerate(lines):
    latest[u, i] = max((t, place), latest.get((u, i), (0, 0)))
number = {i: k for k, i in enumerate(sorted({x[1] for x in lines}))}
chosen, held = [], []
for u in sorted({x[0] for x in lines}):
    mine = sorted((t, number[i]) for (v, i), t in latest.items() if v == u)
    if len(mine) > 1:
        chosen.append({i for _, i in mine[:-1]})
        held.append(mine[-1][1])
step = Tensors(at('u.data-run', 'trace', 'step-000000.safetensors'))
rows = [tuple(int(v) for v in row) for row in zip(*(step['input.' + n] for n in ('users', 'items', 'labels')))]
wrong = [r for r in rows if r[2] != (r[1] in chosen[r[0]]) or r[1] == held[r[0]]]
ones = {(u, i) for u, i, one in rows if one}
every = {(u, i) for u in range(len(chosen)) for i in chosen[u]}
ok(not wrong and sum(r[2] for r in rows) == 800, 'a choice and four items that were not chosen, never the held one',
   wrong)
ok({r[1] for r in rows} == set(range(len(number))), 'items are numbered without a gap', sorted({r[1] for r in rows}))
ok(ones == every, 'every choice but the held ones occurs', sorted(every - ones))
got = halfulp('verify', at('u.data-run'))
ok(got.returncode == 0, 'verify finds the run again', got.stdout + got.stderr)

GOOD = '1\t2\t3\t4\n1\t3\t3\t5\n2\t2\t3\t4\n2\t4\t3\t4\n'
for text, say in (
    ('', 'there is no rating'),
    (GOOD + '1 2', 'line 5: a user, an item and a rating'),
    (GOOD + 'one\t2\t3\t4\n', 'line 5: a user, an item and a rating'),
    (GOOD + '1\t2\t', 'line 5: a user, an item and a rating'),
    (GOOD + '1.5\t2\t3\t4', 'line 5: user 1.5'),
    (GOOD + '-1\t2\t3\t4', 'line 5: user -1'),
    (GOOD + '1\t2\t881250949\t3', 'line 5: the rating 8.81251e+08 is not from 0 to 100'),
    (GOOD + '1\t2\tnan\t3', 'line 5: the rating nan'),
    (GOOD + '1\t2\t3\tnoon', 'line 5: what follows the rating'),
    (GOOD + '1\t2\t3\t4 x', 'line 5: what follows the rating'),
    (GOOD + '1\t2\t3\t4\t5', 'line 5: what follows the rating'),
    (GOOD + '1\t2\t3\tinf', 'line 5: what follows the rating'),
    ('1\t2\t3\t4\n2\t3\t3\t4\n', '0 users have rated two items'),
    ('1\t2\t3\t4\n1\t3\t3\t5\n2\t2\t3\t4\n2\t3\t3\t4\n', 'user 1 rated all of the 2 items'),
    ('1\t2\0', 'byte 3 is 0'),
):
    write('bad', text)
    got = train('bad', 'refused')
    ok(got.returncode == 3 and say in got.stderr and len(got.stderr.splitlines()) == 1, 'refused in one line: ' + say,
       got.stderr)
finish()
