# SPDX-License-Identifier: Apache-2.0
# The work of analyze cut into shards: every table and the summary are those of one process, byte for byte, for every
# number of shards; parts that do not belong together, were changed or are missing are refused in one line.
import glob
import heapq
import json
import math
import os
import random
import re
import shutil
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
from analyzed import CUT, CUT_MORE, CUT_OPS, SMALL, cut_ops, forget, tables  # noqa: E402
from independent.training import fnv64, mix64  # noqa: E402
from tap import bail_out, finish, halfulp, home, none, ok  # noqa: E402
from tensorsfile import Tensors  # noqa: E402

folder, begun = home(), time.monotonic()
ROWS = folder + '/*.rows*'


def run(*words, code=0):
    r = halfulp(*words, cwd=folder)
    if r.returncode != code:
        bail_out('halfulp %s: exit %d: %s' % (' '.join(words), r.returncode, r.stderr.strip()))
    return r


def said(text):
    return re.sub(r' *\(\d+\.\d s\)', '', text)


def shards(name, n, options, **how):
    for i in range(1, n + 1):
        run('analyze', '--shard', '%d/%d' % (i, n), '--threads', '1', *options, name)
    return run('merge', name, **how)


def same(name, options, numbers, code=0, least=6):
    """Whether any of the numbers of shards make the tables of one process, which are returned; the last one's parts are
    left."""
    path = os.path.join(folder, name)
    forget(path, ROWS)
    whole = run('analyze', *options, name, code=code)
    want = tables(path, ROWS)
    for n in numbers:
        forget(path, ROWS)
        merged = shards(name, n, options, code=code)
        got = tables(path, ROWS)
        wrong = sorted(k for k in set(want) | set(got) if want.get(k) != got.get(k))
        ok(
            len(want) >= least and not wrong and said(merged.stdout) == said(whole.stdout),
            '%s, %s: %d shards make the %d files of one process, byte for byte'
            % (name, ' '.join(options), n, len(want)),
            wrong,
        )
    return want


def refused(what, words, *texts, code=3):
    r = halfulp(*words, cwd=folder)
    ok(r.returncode == code and r.stderr.count('\n') == 1 and all(t in r.stderr for t in texts)
       and not os.path.exists(folder + '/run/analysis/replay.tsv'), '%s: exit %d, one line, no table' % (what, code),
       'exit %d: %s' % (r.returncode, r.stderr[:400]))


# What tiles have, joined, is what whole calls have: with a sample that no tensor exceeds no call is cut


def rows(got):
    """Rows of the tables, without the notes above them, which say how values were found."""
    return {k: [x for x in v.decode().splitlines() if x[:1] != '#'] for k, v in got.items() if k.endswith('.tsv')}


def alike(a, b):
    """Whether two rows agree; bounds of sums over some columns and squares in long double are added in another
    order."""
    a, b = a.split('\t'), b.split('\t')

    def close(x, y):
        try:
            return math.isclose(float(x), float(y), rel_tol=1e-12)
        except ValueError:
            return False

    return len(a) == len(b) and all(x == y or close(x, y) for x, y in zip(a, b))


def alike_whole(name, cut, *options):
    """CUT: the tables that were made of tiles."""
    forget(folder + '/' + name)
    run('analyze', '--sample', '10000000', *options, name)
    cut, whole = rows(cut), rows(tables(folder + '/' + name))
    pairs = [(k, a, b) for k in cut for a, b in zip(cut[k], whole[k])]
    wrong = ['%s: %s, %s' % x for x in pairs if not alike(*x[1:])]
    none(wrong + [k for k in cut if len(cut[k]) != len(whole[k])], '%s: joined tiles have the %d rows of whole calls'
         % (name, sum(len(x) for x in cut.values())))


def tiles(name):
    """The operators whose calls the one shard of all work has cut."""
    return cut_ops(folder + '/' + name, folder + '/' + name + '/analysis/parts/1-of-1.part')


run('train', *SMALL, '--steps', '4', '--trace', 'steps=0,3', '--policy', 'mixed_float16', '--loss-scale',
    'init=16777216', 'run')
same('run', ['--sample', '12', '--elements', 'each.rows', '--accumulate', 'fma,acc=fp16'], [1, 4, 7])
same('run', ['--sample', 'all'], [3])

# A call that is cut into tiles, so that no shard has all of it
WORDS = ['--quiet', '--model', 'mlp:width=0.2', '--data', 'train=400,eval=8', '--batch', '400']
run('train', *WORDS, '--steps', '1', '--trace', 'steps=0', '--policy', 'mixed_float16', 'tiles')
same('tiles', ['--sample', 'all', '--no-propagate', '--only', 'replay,swamping,underflow'], [2])
forget(folder + '/tiles')
run('analyze', '--shard', '1/2', '--sample', 'all', '--no-propagate', '--only', 'replay,swamping', 'tiles')
cut = [x.split('\t')[0] for x in open(folder + '/tiles/analysis/parts/1-of-2.part') if x[0] != '#']
ok(any(x.endswith('.1') for x in cut) and any(x.endswith('.0') for x in cut),
   'a product of 400 x 784 x 51 is cut into tiles')

# Calls of every kind that can be cut: every analyzer's joins
run('train', *CUT, 'kinds')
cut = same('kinds', ['--sample', 'all', '--no-propagate'], [7, 4, 1])
some = tiles('kinds')
none(sorted(CUT_OPS - some), 'operators whose calls have tiles: %s' % ', '.join(sorted(some)))
alike_whole('kinds', cut, '--no-propagate')

# Calls that take more elements; products that are summed again by other models
for name, (words, ops) in CUT_MORE.items():
    run('train', *words, name)
    cut = same(name, ['--sample', 'all', '--no-propagate'], [4, 1], least=4)
    some = tiles(name)
    none(sorted(ops - some), 'operators whose calls have tiles: %s' % ', '.join(sorted(some)))
    alike_whole(name, cut, '--no-propagate')
WHAT_IF = ['--sample', 'all', '--only', 'accumulate-what-if', '--accumulate', 'fma,acc=fp16']
cut = same('tiles', WHAT_IF, [4, 1], least=2)
some = tiles('tiles')
alike_whole('tiles', cut, *WHAT_IF[2:])
ok('matmul' in some, 'products that are summed again are cut')

# One huge call: its tiles are dealt, so that no shard has much more to do than another
HUGE = ['--model', 'mlp:width=1', '--data', 'train=3200,eval=8', '--batch', '3200', '--quiet']
run('train', *HUGE, '--steps', '1', '--trace', 'steps=0', '--trace', 'dense1.*,input.*', 'huge')
cost, told, each = [], [], {}
for i in range(3):
    only = ['--json', '--sample', 'all', '--no-propagate', '--only', 'replay', 'huge']
    told.append(json.loads(halfulp('analyze', '--shard', '%d/3' % (i + 1), *only, cwd=folder).stdout)['imbalance'])
    rows = [x.split('\t') for x in open(folder + '/huge/analysis/parts/%d-of-3.part' % (i + 1)) if x[0] not in '#u']
    cost.append(sum(float(x[1]) for x in rows))
    for unit, expected in (x[:2] for x in rows):
        call = unit.split('.')[1]
        each[call] = each.get(call, 0) + float(expected)
program = json.load(open(folder + '/huge/program-train.json'))
name = {t['id']: t['name'] for t in program['tensors']}
there = set(Tensors(folder + '/huge/trace/step-000000.safetensors').head)
whole = {str(c['id']): all(name[t] in there for t in c['in'] + c['out']) for c in program['calls']}
none(['call %s: %g s' % (c, each[c]) for c, w in whole.items() if w != (each[c] > 1e-3)],
     'work is expected of %d calls alone, whose tensors are in the trace, of %d' % (sum(whole.values()), len(whole)))
above = 3 * max(cost) / sum(cost) - 1
ok(
    above < 0.05 and all(abs(x - above) < 1e-6 for x in told),
    'of three shards of a trace with one huge call the largest is less than 5 %% above the mean: %.3f %%'
    % (100 * above),
    [cost, told],
)

some = {
    op for i in range(3) for op in cut_ops(folder + '/huge', folder + '/huge/analysis/parts/%d-of-3.part' % (i + 1))
}
none(sorted({'matmul', 'bias', 'bias_db'} - some), 'its product, its bias and the sum of its gradient have tiles')
same('huge', ['--sample', 'all', '--no-propagate', '--only', 'replay,underflow'], [4], least=4)

# What cannot be joined
analysis = os.path.join(folder, 'run/analysis')
forget(folder + '/run', ROWS)
run('analyze', 'run')
want = tables(folder + '/run', ROWS)
forget(folder + '/run', ROWS)
refused('no parts', ['merge', 'run'], 'run/analysis/parts: no part is there')
for i in (1, 3):
    run('analyze', '--shard', '%d/3' % i, 'run')
part = folder + '/run/analysis/parts/1-of-3.part'
missing = 'halfulp merge: ', 'there are no parts of the shards 2/3'
refused('a shard is missing', ['merge', 'run'], *missing)
refused('and where parts are named', ['merge', *sorted(glob.glob(folder + '/run/analysis/parts/*.part'))], *missing)
refused('--list, and a shard is missing', ['merge', '--list', 'run'], *missing)
r = halfulp('merge', '--list', 'run', cwd=folder), halfulp('merge', '--list', '--json', 'run', cwd=folder)
ok(re.findall(r'^[13]/3 ', r[0].stdout, re.M) == ['1/3 ', '3/3 '] and 'processes' not in r[0].stdout
   and not r[1].stdout, 'what is there is listed, and no schedule is made of some of the units', r[0].stdout
   + r[1].stdout)
before = open(part).read()
run('analyze', '--shard', '2/3:part=other.part', '--seed', '2', 'run')
refused('a part with other options', ['merge', part, 'other.part'], 'halfulp merge: other.part: its work is',
        'seed 2', 'seed 1')
refused('a shard of other work than the part that is there', ['analyze', '--shard', '1/3', '--sample', '7', 'run'],
        'run/analysis/parts/1-of-3.part: it is there already', 'sample 7', 'sample 2048', '--shard I/N:part=FILE')
ok(open(part).read() == before, 'and the part is as it was')
run('analyze', '--shard', '2/3:part=two.part', 'run')
for i, text in enumerate(
    (before, open(folder + '/two.part').read(), open(folder + '/run/analysis/parts/3-of-3.part').read())
):
    open(folder + '/odd-%d.part' % i, 'w').write(text.replace('# part of: analyze\n', '# part of: formats\n'))
refused('parts of a command without shards', ['merge', 'odd-0.part', 'odd-1.part', 'odd-2.part'],
        '"# command:" is none of a command that can be cut')
open(part, 'w').write(before.replace('# halfulp: ', '# halfulp: 9.'))
refused('a part of another version', ['merge', part, 'two.part'], 'parts of one version belong together')
open(part, 'w').write(re.sub(r'\t(\d+)\b([^\t]*)\n', lambda m: '\t%d%s\n' % (int(m[1]) + 1, m[2]), before, count=1))
refused('a number that was changed', ['merge', part, 'two.part', 'run/analysis/parts/3-of-3.part'],
        'was changed since it was written')

# Counts that no analysis could have found are refused though their check is right: more outputs than the tensor has,
# and of a second tile fewer than of the first


def forged(text, unit, add):
    """The first row of such a unit with so many more outputs than it has, and the check of what it now says."""
    lines = text.splitlines(True)
    at, row = next((i, x) for i, x in enumerate(lines) if re.match(unit + r'\t([^\t]*\t){3}(\d+) \2 \d+ 0x', x))
    cells = row.rstrip('\n').split('\t')
    n, _, of, rest = cells[4].split(' ', 3)
    more = int(of) + add if add > 0 else int(n) + add
    cells[4] = '%d %d %s %s' % (more, more, of, rest)
    cells[3] = '%016x' % mix64(fnv64(cells[4]) ^ mix64((fnv64(cells[0]) + len(cells[4])) % 2**64))
    return ''.join(lines[:at] + ['\t'.join(cells) + '\n'] + lines[at + 1 :])


AS_WRITTEN = 'what was found is not as this program writes it: compute it again'
open(part, 'w').write(forged(before, r'\d+\.\d+\.\d+', 1))
refused('more outputs than there are', ['merge', part, 'two.part', 'run/analysis/parts/3-of-3.part'], AS_WRITTEN)
forget(folder + '/tiles', ROWS)
run('analyze', '--shard', '1/1', '--sample', 'all', '--no-propagate', '--only', 'replay', 'tiles')
whole = open(folder + '/tiles/analysis/parts/1-of-1.part').read()
open(folder + '/tiles/analysis/parts/1-of-1.part', 'w').write(forged(whole, r'\d+\.\d+\.1', -1))
refused('a tile of another number of outputs', ['merge', 'tiles'], AS_WRITTEN)

# Whatever happens to a part's bytes, one line says so, or the tables are the right ones
dice, wrong = random.Random(20250711), []
raw = before.encode()
for trial in range(20):
    b = bytearray(raw)
    for _ in range(dice.randrange(1, 4)):
        at = dice.randrange(len(b)) if dice.random() < 0.5 else dice.randrange(600)
        kind = dice.randrange(3)
        if kind == 0:
            b[at] = dice.randrange(256)
        elif kind == 1:
            del b[at : at + dice.randrange(1, 200)]
        else:
            b[at:at] = b[dice.randrange(len(b)) :][: dice.randrange(100)]
    open(part, 'wb').write(b)
    r = halfulp('merge', part, 'two.part', 'run/analysis/parts/3-of-3.part', cwd=folder)
    if not (
        r.returncode == 3
        and r.stderr.count('\n') == 1
        and not tables(folder + '/run', ROWS)
        or r.returncode == 0
        and tables(folder + '/run', ROWS) == want
    ):
        wrong.append('trial %d: exit %d: %s' % (trial, r.returncode, r.stderr[:300]))
    for f in tables(folder + '/run', ROWS):
        os.remove(os.path.join(analysis, f))
none(wrong, '20 damaged parts: exit 3 and one line, or only the figures of time are damaged')

open(part, 'w').write(before)
shutil.copy(folder + '/two.part', analysis + '/parts/2-of-3.part')
lists, _, model = (x.splitlines() for x in halfulp('merge', '--list', 'run', cwd=folder).stdout.partition('\n\n'))
lists, model = [x.split() for x in lists], [x.split() for x in model[1:]]
rows = [x.split('\t') for x in before.splitlines() if x[0] != '#'][1:]
ok(
    len(lists) == 4
    and lists[1][:2] == ['1/3', str(len(rows))]
    and float(lists[1][3]) == float('%.4g' % sum(float(x[2]) for x in rows)),
    'merge --list: units and seconds of each part',
    str(lists),
)
wrong, whole, parts = [], 0, {}
for path in glob.glob(analysis + '/parts/*.part'):
    head, *body = [x.rstrip('\n').split('\t') for x in open(path) if x[0] != '#']
    parts[os.path.basename(path)] = [{k: float(x[head.index(k)]) for k in ('expected_s', 'seconds')} for x in body]
    whole += sum(x['seconds'] for x in parts[os.path.basename(path)])
for shard, units, cost, seconds, share, path in lists[1:]:
    mine = parts[os.path.basename(path)]
    spent = sum(x['seconds'] for x in mine)
    if (
        int(units) != len(mine)
        or not math.isclose(float(cost), sum(x['expected_s'] for x in mine), rel_tol=1e-3)
        or not math.isclose(float(seconds), spent, rel_tol=1e-3)
        or abs(float(share) - 100 * spent / whole) > 0.006
        or not os.path.basename(path).startswith(shard.replace('/', '-of-'))
    ):
        wrong.append('%s: %s units, %s s expected, %s taken, %s' % (shard, units, cost, seconds, share))
ok(len(lists) == len(parts) + 1 and not wrong, 'merge --list: and what each takes of the whole', wrong)
took = sorted((float(x.split('\t')[2]) for f in glob.glob(analysis + '/parts/*.part') for x in open(f)
               if x[0] not in '#u'), reverse=True)
wrong = []
for n, seconds, efficiency in model:
    loads = [0.0] * int(n)
    for x in took:  # each to whoever has the least
        heapq.heapreplace(loads, loads[0] + x)
    if (
        float(seconds) != float('%.4g' % max(loads))
        or abs(float(efficiency) - 100 * sum(took) / int(n) / max(loads)) > 0.006
    ):
        wrong.append('%s: %s %s, here %r' % (n, seconds, efficiency, max(loads)))
ok([x[0] for x in model] == [str(2**k) for k in range(11)] and not wrong,
   'merge --list: what 1 to 1024 processes would take', wrong)
listed = json.loads(halfulp('merge', '--list', '--json', 'run', cwd=folder).stdout)
wrong = []
for row in listed:
    loads = [0.0] * row['processes']
    for x in took:
        heapq.heapreplace(loads, loads[0] + x)
    most = max(loads)
    due = {'seconds': most, 'efficiency': sum(took) / row['processes'] / most, 'largest_unit_s': took[0]}
    wrong += [[row, k, v] for k, v in due.items() if not math.isclose(row[k], v, rel_tol=1e-9)]
ok(len(listed) == 11 and not wrong, 'and so it is in JSON, of which the picture is drawn', wrong)

# None took longer than this test
ok(all(0 <= x <= time.monotonic() - begun for x in took), 'units took seconds of this very run', took)

# A run that was moved, whose shards called it by two names and had their options in two orders
forget(folder + '/run', ROWS)
SOME = [['--sample', '12', '--seed', '3'], ['--seed', '3', '--sample', '12']]
run('analyze', '--shard', '1/2', *SOME[0], 'run')
run('analyze', '--shard', '2/2', *SOME[1], folder + '/run')
shutil.copytree(folder + '/run', folder + '/moved')
got = {}
for name in 'run', 'moved':
    merged = run('merge', name)
    got[name] = tables(folder + '/' + name)
    forget(folder + '/' + name)
    whole = run('analyze', *SOME[0], name)
    ok(len(got[name]) >= 6 and got[name] == tables(folder + '/' + name) and said(merged.stdout) == said(whole.stdout),
       'two names of a run and two orders of options are one work, and merge %s makes the tables of analyze %s'
       % (name, name))

# A shard that was ended goes on, and one process takes over what parts have
lines = before.splitlines(True)
open('%s/half.part' % folder, 'w').write(''.join(lines[: len(lines) // 2]))
r = run('analyze', '--shard', '1/3:part=half.part', '--resume', 'run')
got = [x.split('\t')[0::4] for x in open(folder + '/half.part')]
ok(sorted(got) == sorted(x.split('\t')[0::4] for x in lines), 'a part that was cut off is completed by --resume')
open('%s/cut.part' % folder, 'w').write(''.join(lines[: len(lines) // 2]))
forget(folder + '/run', ROWS)
refused('--list of a part that was cut off', ['merge', '--list', 'cut.part', 'two.part'], 'units are in no part')
forget(folder + '/run', ROWS)
os.makedirs(analysis + '/parts')
shutil.copy(folder + '/half.part', analysis + '/parts/')
shutil.copy(folder + '/other.part', analysis + '/parts/')
r = run('analyze', '--resume', 'run')
ok(tables(folder + '/run', ROWS) == want and '1 parts in run/analysis/parts belong to other options' in r.stderr,
   'analyze --resume computes what no part has, to the same bytes')
finish()
