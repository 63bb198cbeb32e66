# SPDX-License-Identifier: Apache-2.0
# The runs of compare made by shards and by ranks: both tables are those of one process but for times, a run is made
# once, and what was ended goes on with --resume.
import json
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
from mpi import apart, differences, need_mpi, ranks, said  # noqa: E402
from npzfile import npz  # noqa: E402
from tap import HALFULP, finish, halfulp, home, ok  # noqa: E402

need_mpi(or_stub=True)
os.chdir(home())
WORDS = ['--policy', 'float32,mixed_float16', '--seeds', '1', '--optimizer', 'lr=0.001,2^-4', '--model',
         'mlp:width=0.05', '--data', 'size=8']
WORDS += ['--data', 'train=32,eval=16', '--batch', '8', '--steps', '3', '--threads', '3']
LONG = 'HALFULP_ALL_SHARES' in os.environ


def tables(path):
    """Both tables without the columns of times, and with the folder's name taken out."""
    all_rows = []
    for name in ('compare.tsv', 'compare-runs.tsv'):
        lines = [x.replace(path + '/', '') for x in open(os.path.join(path, name)).read().splitlines()]
        notes, rows = [x for x in lines if x[0] == '#'], [x.split('\t') for x in lines if x[0] != '#']
        keep = [k for k, column in enumerate(rows[0]) if not column.startswith('ms_a_step')]
        all_rows += notes + [[row[k] for k in keep] for row in rows]
    return all_rows


def printed(p, path):
    return [re.sub(r'( +\S+){1}(?= +\S+ kB)', ' MS', x.replace(path + '/', '')) for x in p.stdout.splitlines()]


one = halfulp('compare', *WORDS, 'one')
ok(one.returncode == 0 and len(tables('one')) == 4 + 5 + 4 + 5, 'one process makes both tables', one.stderr)

for n in (1, 2, 3, 5) if LONG else (2,):
    to = 'ranks%d' % n
    p = ranks(n, 'compare', *WORDS, to)
    ok(p.returncode == 0 and tables(to) == tables('one') and printed(p, to) == printed(one, 'one'),
       '%d ranks: the tables and the lines of one process' % n, p.stderr[:300])
runs = [os.path.basename(x) for x in os.listdir('one') if 'seed' in x]
wrong = [r for r in runs if differences('one/' + r, 'ranks2/' + r)]
ok(len(runs) == 4 and not wrong, 'and the runs are those of one process', wrong)
threads = [json.load(open('ranks2/%s/manifest.json' % r))['threads'] for r in runs]
ok(threads == [3] * 4, 'which have the threads that were asked for', threads)

for n in (1, 4, 7) if LONG else (3,):
    to = 'shards%d' % n
    for i in range(1, n + 1):
        words = WORDS if i == 1 else [x for k in range(len(WORDS) - 2, -1, -2) for x in WORDS[k : k + 2]]
        p = halfulp('compare', '--shard', '%d/%d' % (i, n), *words, to)
        made = len([x for x in os.listdir(to) if 'seed' in x])
        if i < n and n <= 4 and made == 4:
            ok(False, 'shard %d of %d made every run' % (i, n))
    p = halfulp('merge', to)
    ok(p.returncode == 0 and tables(to) == tables('one') and printed(p, to) == printed(one, 'one'),
       '%d shards and merge: the tables and the lines of one process' % n, p.stderr[:300])

# A shard with other options where the first ones' part is
OTHERS = ('its own part', ['--shard', '2/3']), ('another part', ['--shard', '1/2', '--resume'])
for where, words in OTHERS if not LONG else ():
    held = {f: open('shards3/parts/' + f).read() for f in os.listdir('shards3/parts')}
    p = halfulp('compare', *words, *WORDS, '--optimizer', 'beta1=0.5', 'shards3')
    there = {f: open('shards3/parts/' + f).read() for f in os.listdir('shards3/parts')}
    ok(p.returncode == 3 and p.stderr.count('\n') == 1 and '--optimizer=beta1=0.5' in p.stderr
       and 'choose another folder' in p.stderr and there == held,
       'a shard with other options, where %s is of the first ones: exit 3, one line, and every part is as it was'
       % where, 'exit %d: %s' % (p.returncode, p.stderr))
p = None if LONG else halfulp('compare', '--shard', '2/3', '--resume', *WORDS, 'shards3')
ok(LONG or p.returncode == 0 and tables('shards3') == tables('one'), 'and the shard goes on with its own options', p
   and p.stderr)

# The first of each list tells works apart
other = {'float32,mixed_float16': 'float64,mixed_float16', '1': '2', 'lr=0.001,2^-4': 'lr=0.002,2^-4'}
for text in other:
    words = [other[x] if x == text else x for x in WORDS]
    p = halfulp('compare', '--shard', '2/3', '--resume', *words, 'shards3') if not LONG else None
    said_so = p and p.returncode == 3 and len(said(p)) == 1 and other[text].split(',')[0].split('=')[-1] in p.stderr
    ok(LONG or said_so, 'a shard with %s for %s is refused' % (other[text], text), p and [p.returncode, p.stderr])

# A part without its last unit, and a run that was ended in its middle
part = 'one/parts/ranks.part'
lines = open(part).read().splitlines(True)
lost = lines[-1].split('\t')[0]
open(part, 'w').write(''.join(lines[:-1]))
for name in ('compare.tsv', 'compare-runs.tsv'):
    os.rename('one/' + name, name)
run = 'one/%s-%s' % (['float32', 'mixed_float16'][int(lost[0])], lost[2:].replace('^', '_').replace('.seed', '-seed'))
os.remove(run + '/metrics.tsv')
kept = {r: os.stat('one/%s/manifest.json' % r).st_mtime_ns for r in runs}
p = halfulp('compare', *WORDS, 'one')
ok(p.returncode == 2 and 'exists already' in p.stderr, 'without --resume a folder that is there is refused', p.stderr)
p = halfulp('compare', '--resume', *WORDS, 'one')
again = [r for r in runs if os.stat('one/%s/manifest.json' % r).st_mtime_ns != kept[r]]
ok(p.returncode == 0 and 'one/' + again[0] == run and len(again) == 1 and tables('one') == tables('ranks2'),
   '--resume makes the run that is missing, and no other', '%s %s' % (again, p.stderr))
p = halfulp('compare', '--resume', *WORDS, '--optimizer', 'beta1=0.5', 'one')
ok(p.returncode == 3 and p.stderr.count('\n') == 1 and 'other options' in p.stderr and os.path.exists(run),
   '--resume with other options: exit 3, one line, and every run is still there', p.stderr)
p = ranks(2, 'compare', *WORDS, 'other', last=['--optimizer', 'beta1=0.5'])
ok(p.returncode == 3 and len(said(p)) == 1 and not os.path.exists('other/compare.tsv'),
   'ranks with other options: one line')

# --- options name files: where one of these holds something else, runs would be of two works in one table
SMALL = '--data npz:d.npz --model mlp:width=0.05 --batch 8 --steps 2 --threads 1'.split()
top = os.getcwd()


def inside(place, *words):
    return ['env', '-C', os.path.join(top, place), HALFULP, *words]


def values(to, k):
    pixels = [((i * 7919 + k) % 256) / 256 for i in range(20 * 64)]
    npz(to, x=((20, 8, 8, 1), pixels), labels=((20,), [i % 3 for i in range(20)], '<i8'))


def weights(to, k):
    apart(inside('.', 'train', *SMALL, '--quiet', '--seed', str(k + 3), '%s/of%d' % (top, k)))
    shutil.copy('of%d/checkpoint/step-000002.safetensors' % k, to)


def policy(to, k):
    with open(to, 'w') as f:
        json.dump({'compute': ('float16', 'bfloat16')[k], 'variable': 'float32'}, f)


WRITE = {'d.npz': values, 'p.json': policy, 'i.st': weights}
values('d.npz', 0)
for place, other in (('a', ''), ('copy', ''), *(('other ' + name, name) for name in WRITE)):
    os.mkdir(place)
    for name, write in WRITE.items():
        write(place + '/' + name, int(name == other))
SMALL = ['compare', *SMALL, '--policy', 'p.json,float32', '--init', 'i.st']


def table(to):
    return os.path.exists(to + '/compare.tsv')


alone = ['float32' if x == 'p.json,float32' else x for x in SMALL]
p = apart(inside('a', *alone, top + '/one-policy'), inside('other d.npz', *alone, top + '/one-policy'))
ok(
    p.returncode == 3 and len(said(p)) == 1, 'nor may the data differ where there is one policy',
    [p.returncode, p.stderr]
)
for place in ('copy', *('other ' + name for name in WRITE)):
    to = 'of-' + place.replace(' ', '-')
    p = apart(inside('a', *SMALL, '%s/%s' % (top, to)), inside(place, *SMALL, '%s/%s' % (top, to)))
    parts = '%s/%s.parts' % (top, to)
    shards = [apart(inside(w, *SMALL, '--shard', '%d/2' % (i + 1), parts)) for i, w in enumerate(('a', place))]
    merged = apart(inside('a', 'merge', parts))
    if place == 'copy':
        good = all(x.returncode == 0 for x in (p, *shards, merged)) and table(to) and table(to + '.parts')
        ok(good, 'ranks and shards may have copies of the files', [x.stderr for x in (p, *shards, merged)])
        p = apart(inside(place, *SMALL, '--resume', '%s/%s' % (top, to)))
        ok(p.returncode == 0, 'and go on with these', p.stderr)
        continue
    for what, p, there in (('ranks', p, to), ('shards', merged, to + '.parts')):
        good = p.returncode == 3 and len(said(p)) == 1 and not table(there)
        ok(good, '%s, of which one has another %s: one line' % (what, place[6:]), [p.returncode, p.stdout, p.stderr])
    p = apart(inside(place, *SMALL, '--resume', top + '/of-copy'))
    ok(p.returncode == 3 and len(said(p)) == 1 and 'files' in p.stderr, 'and --resume does not go on with it', p.stderr)
os.remove('copy/d.npz')
os.remove('of-copy.parts/compare.tsv')
p = apart(inside('copy', 'merge', top + '/of-copy.parts'))
ok(p.returncode == 0 and table('of-copy.parts'), 'who merges needs no data', p.stderr)

p = halfulp('compare', '--shard', '1/2', *WORDS)
ok(p.returncode == 2 and '--shard needs the folder' in p.stderr, 'a shard without a folder is refused', p.stderr)
p = ranks(2, 'compare', '--policy', 'float32', '--no-such', last=[])
ok(p.returncode == 2 and len(said(p)) == 1, 'a command line that nobody takes: exit 2, one line', p.stderr[:300])
finish()
