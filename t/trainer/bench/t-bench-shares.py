#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Benchmarks that shards or ranks share: whoever measured a row, its place and all that is no time are those of one
# process; processes of one machine measure one after another; what was measured outlives who measured it.
import fcntl
import json
import os
import random
import re
import subprocess
import sys
import time

for folder in 'tool', 'judge':
    sys.path.insert(0, os.path.join(os.environ.get('srcdir', '.'), 't', folder))
import mpi  # noqa: E402
from independent.training import fnv64, mix64  # noqa: E402
from mpi import apart, killed, need_mpi, ranks, said  # noqa: E402
from tap import HALFULP, finish, halfulp, home, none, ok  # noqa: E402

need_mpi(or_stub=True)
folder = home()
os.chdir(folder)
os.environ.update(TMPDIR=folder, PYTHON='/none')
LOCK = os.path.join(folder, 'halfulp-bench-%d.lock' % os.getuid())

SMALL = '--model width=0.05 --data size=8 --batch 16 --steps 2 --steps warm=1'
LINES = {
    'cast': 'cast --sizes 0.02 --trials 1 --format fp16,e4m3,tf32 --mode RNE,SR',
    'gemm': 'gemm --sizes 8,16x4x9 --trials 1 --format fp32,bf16 --sum fma --sum chunk:4',
    'why': 'why --policy float32,mixed_float16 ' + SMALL,
    'predicted': 'why --device v100 --policy float32,mixed_float16 --batch 16,32 --model width=0.05 --data size=8',
    'train': (
        'train --meter none --policy mixed_bfloat16,float32 --backend simd=all --seeds 1,2 --data train=48,eval=16 '
        + SMALL
    ),
}
TIMES = 'ns gb_s memcpy mpfr python ms ms_min ms_spread wait_ms samples_per_s peak_mb gflops ceiling share ratio '
TIMES += 'arithmetic_ms memory_ms launch_ms predicted_ms measured_ms limit'


def rows_of(path):
    """A table's names of columns, and its rows without what clocks say."""
    lines = [line.rstrip('\n').split('\t') for line in open(path) if not line.startswith('#')]
    timed = TIMES.split() if 'v100' not in open(path).read() else []
    return lines[0], [[c for c, name in zip(line, lines[0]) if name not in timed] for line in lines[1:]]


def same(name, path, p):
    """Problems of a table that others than one process measured."""
    if p.returncode or not os.path.exists(path):
        return ['%s: exit %d: %s' % (name, p.returncode, p.stderr)]
    if rows_of(path) != rows_of(name + '.tsv'):
        return ['%s: %s, and %s' % (name, rows_of(path), rows_of(name + '.tsv'))]
    return []


machine = os.uname().nodename
for name, line in LINES.items():
    p = halfulp('bench', *line.split(), '-o', name + '.tsv')
    head, rows = rows_of(name + '.tsv')
    measured = [row[-1] for row in rows if 'v100' not in row]
    ok(p.returncode == 0 and len(rows) >= 4 and head[-1] == 'machine' and set(measured) <= {machine, '-'},
       '%s by one process: %d rows, and the machine that measured each' % (name, len(rows)), p.stderr)
    assert (name == 'predicted') == (not measured), name
    text = p.stdout.splitlines()
    for n in 1, 4, 7:
        wrong = []
        table = '%s-%d.tsv' % (name, n)
        for k in range(1, n + 1):
            p = halfulp('bench', *line.split(), '-o', table, '--shard', '%d/%d' % (k, n))
            if p.returncode or os.path.exists(table) or not p.stdout.startswith('shard %d of %d' % (k, n)):
                wrong.append('shard %d: exit %d: %s' % (k, p.returncode, p.stdout + p.stderr))
        place = 'runs/bench-' + line.split()[0]
        p = halfulp('merge', place)
        wrong += same(name, table, p)
        printed = p.stdout.splitlines()
        if [x.split()[1:2] for x in printed] != [x.split()[:1] for x in text]:
            wrong += ['printed: ' + p.stdout]
        none(wrong, '%s by %d shards: the rows of one process' % (name, n))
        for part in os.listdir(place + '/parts'):
            os.remove(place + '/parts/' + part)
    for n in (2, 3, 5) if name != 'train' else ():
        table = '%s-%d-ranks.tsv' % (name, n)
        p = ranks(n, 'bench', *line.split(), '-o', table)
        wrong = same(name, table, p)
        if p.stdout.count('machine') != 1 or len(p.stdout.splitlines()) != len(text):
            wrong.append('printed: ' + p.stdout)
        none(wrong, '%s by %d ranks: the rows of one process' % (name, n))
    left = [os.path.join(a, f) for a, _, files in os.walk('runs') for f in files]
    none(left, '%s: nothing is left of ranks' % name)

p = ranks(2, 'bench', *LINES['gemm'].split(), '--json')
rows = json.loads(p.stdout) if p.returncode == 0 else []
one = json.loads(halfulp('bench', *LINES['gemm'].split(), '--json').stdout)
ok(len(rows) == 8 and [r['digest'] for r in rows] == [r['digest'] for r in one],
   'JSON of ranks is one array, with the digests of one process', p.stdout + p.stderr)
p = apart(
    [HALFULP, 'bench', *LINES['gemm'].split()],
    ['env', 'HALFULP_SIMD=scalar', HALFULP, 'bench', *LINES['gemm'].split()],
)
scalar = '"scalar"' in halfulp('bench', *LINES['gemm'].split(), '--json').stdout
ok(scalar or (p.returncode == 3 and len(said(p)) == 1 and 'scalar' in said(p)[0] and not p.stdout),
   'ranks that would measure other instruction sets: one line, exit 3', p.stdout + p.stderr)

# Turns: while another process of this machine has the turn nothing is measured, and rank 0 deals on
line = [HALFULP, 'bench', *LINES['gemm'].split()]


def waits(words):
    """Whether the command, which takes a tenth of a second, does not end before the turn is given to it."""
    turn = os.open(LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(turn, fcntl.LOCK_EX)
    job = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    time.sleep(1.5)
    waited = job.poll() is None
    os.close(turn)
    return waited, job.wait(timeout=120), job.stderr.read()


waited, code, err = waits([*line, '--shard', '1/1'])
ok(waited and code == 0, 'a shard waits for its turn on the machine', err)
waited, code, err = waits(line)
ok(not waited and code == 0, 'a process that shares nothing does not', err)
waited, code, err = waits([*line, '--shard', '1/1', '--resume'])
ok(not waited and code == 0, 'nor does one that finds everything measured', err)

# Two shards at once on this machine: who measures holds the turn, so the kernel knows one holder at any time


def look():
    inode = ':%d ' % os.stat(LOCK).st_ino
    return [x.split()[4] for x in open('/proc/locks') if 'FLOCK' in x and inode in x and '->' not in x]


def holders():
    """The processes that hold the turn now, as the kernel says: its list may change while it is read, so that two
    looks have to agree."""
    last, now = None, look()
    while last != now:
        last, now = now, look()
    return now


slow = [HALFULP, 'bench', 'cast', '--sizes', '4', '--trials', '9', '--format', 'fp16,bf16', '--backend', 'simd=scalar']
jobs = [subprocess.Popen([*slow, '--shard', '%d/2' % k], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for k in (1, 2)]
seen = []
while os.path.exists('/proc/locks') and any(j.poll() is None for j in jobs):
    seen.append(holders())
    time.sleep(0.001)
texts = [j.communicate()[0] for j in jobs]
held = {x for some in seen for x in some}
ok(
    [j.returncode for j in jobs] == [0, 0]
    and (not seen or held == {str(j.pid) for j in jobs})
    and max(map(len, seen), default=1) == 1
    and 2 * sum(map(len, seen)) >= len(seen),
    'of two shards at once one measures at a time (%d of %d looks)' % (sum(map(len, seen)), len(seen)),
    [sorted(held), [j.pid for j in jobs], max(map(len, seen), default=1), *texts],
)

# A digest that another process found is compared with what this one found
both = 'train --meter none --policy float32 --backend simd=all ' + SMALL
names = [r['simd'] for r in json.loads(halfulp('bench', *both.split(), '--json').stdout) if r['on'] == 'cpu']
parts = []
for k in range(1, len(names) + 1):
    parts.append('shard-%d.part' % k)
    halfulp('bench', *both.split(), '--shard', '%d/%d:part=%s' % (k, len(names), parts[-1]))
p = halfulp('merge', *parts)
ok(p.returncode == 0 and p.stderr == '', 'the parts of every instruction set agree', p.stderr)


# Threads are part of what was asked for, and merge asks for as many
threads = 'gemm --sizes 8 --trials 1 --format fp32 --threads 2 --sum fma --sum fma,acc=fp32'
for k in 1, 2:
    halfulp('bench', *threads.split(), '--shard', '%d/2:part=thread-%d.part' % (k, k))
p = halfulp('merge', 'thread-1.part', 'thread-2.part')
ok(p.returncode == 0 and len(p.stdout.splitlines()) == 3, 'shards of two threads each are joined', p.stderr)


def forge(path, change):
    """Writes the part with what CHANGE makes of the rows that its last unit found, and the check of these."""
    lines = open(path).read().split('\n')
    at = max(i for i, x in enumerate(lines) if x)
    cells = lines[at].split('\t')
    cells[4] = change(cells[4])
    cells[3] = '%016x' % mix64(fnv64(cells[4]) ^ mix64((fnv64(cells[0]) + len(cells[4])) % 2**64))
    lines[at] = '\t'.join(cells)
    open(path, 'w').write('\n'.join(lines))


for k in 1, 2:
    if 'fma,acc' in open('thread-%d.part' % k).read().split('unit\t')[1]:
        forge('thread-%d.part' % k, lambda text: text.replace('"digest":"0x', '"digest":"0xf'))
p = halfulp('merge', 'thread-1.part', 'thread-2.part')
ok(p.returncode == 1 and re.search(r'8 fp32 fma,acc=fp32: digest 0xf\w+, and 0x\w+ by the model before', p.stderr),
   'another digest by a model that says the same in other words: a line, and exit 1', p.stdout + p.stderr)
before = open(parts[-1]).read()
if len(names) > 1:
    forge(parts[-1], lambda text: text.replace('"digest":"0x', '"digest":"0xf'))
    p = halfulp('merge', *parts)
    ok(p.returncode == 1 and 'digest 0x' in p.stderr and 'after these steps, but' in p.stderr,
       'another digest under one of them: a line, and exit 1', p.stdout + p.stderr)
for what, text in ('no rows', '{}'), ('half a text', '[{"simd":'), ('a word', 'x'):
    open(parts[-1], 'w').write(before)
    forge(parts[-1], lambda _: text)
    p = halfulp('merge', *parts)
    ok(p.returncode == 3 and len(said(p)) == 1 and 'what its part has are no rows' in p.stderr,
       '%s in a part: one line, exit 3' % what, p.stdout + p.stderr)

# A rank that is killed: what was measured is kept, and the same line with --resume measures the rest
dice, wrong, hits = random.Random(20261127), [], 0
line = 'cast --sizes 4 --trials 5 --format fp16,bf16,e4m3 --backend simd=scalar --mode RNE,SR'.split()
halfulp('bench', *line, '-o', 'killed.tsv')
for trial in range(0 if mpi.stub else 6):
    command = ['mpirun', '-n', '3', HALFULP, 'bench', *line, '-o', 'trial.tsv', '--resume']
    if os.path.exists('trial.tsv'):
        os.remove('trial.tsv')
    code, err, hit = killed(command, dice.uniform(0.2, 0.9), dice)
    hits += hit
    if code == 0 and not os.path.exists('trial.tsv'):
        wrong.append('trial %d: exit 0, and no table' % trial)
    if os.path.exists('trial.tsv') and len(rows_of('trial.tsv')[1]) > len(rows_of('killed.tsv')[1]):
        wrong.append('trial %d: rows twice' % trial)
p = ranks(3, 'bench', *line, '-o', 'trial.tsv', '--resume')
if p.returncode or rows_of('trial.tsv') != rows_of('killed.tsv'):
    wrong.append('resumed: exit %d: %s' % (p.returncode, p.stderr))
none(wrong, '%d of 6 jobs lost a rank: nothing twice, and --resume completes the table' % hits)
for words, why in (
    ('bench train --published --shard 1/2', '--shard has no effect beside --published'),
    ('bench cast --shard part=x.part', '--shard part= has no effect without --shard I/N'),
):
    p = halfulp(*words.split())
    ok(p.returncode == 2 and why in p.stderr, words + ' is refused', p.stderr)
p = ranks(2, 'bench', 'train', '--batch', 'micro=2', '--resume')
ok(p.returncode == 2 and 'together; leave it out' in p.stderr, 'a training that ranks time together has no units')
finish()
