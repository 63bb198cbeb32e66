# SPDX-License-Identifier: Apache-2.0
"""Trainings whose micro-batches several ranks share: the bits of one process, an overflow on one rank alone, batchnorm,
what travels, a killed rank and its resumption by others, and what is refused. x-ranks.py has more models."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
import mpi  # noqa: E402
from mpi import OPEN_MPI, differences, need_mpi, ranks, said, untimed  # noqa: E402
from npzfile import npz  # noqa: E402
from tap import HALFULP, finish, halfulp, home, ok  # noqa: E402

need_mpi(or_stub=True)
folder = home()


def at(run):
    return os.path.join(folder, run)


def refused(p, code, words, what):
    lines = said(p)
    ok(p.returncode == code and len(lines) == 1 and words in lines[0], what, [p.returncode] + p.stderr.splitlines())


# --- an overflow in the rows of one rank alone: one sample is too large for float16, and every rank skips its step
samples = [((k * 7919) % 256) / 256 for k in range(24 * 4)]
samples[4 * 5] = 60000.0
npz(at('data.npz'), x=((24, 2, 2, 1), samples), labels=((24,), [k % 3 for k in range(24)], '<i8'))
OVERFLOW = '--quiet --data npz:%s,split=20 --batch 4:micro=4 --epochs 2 --model width=0.05 --optimizer lr=0.01 ' % at(
    'data.npz'
)
OVERFLOW += '--policy mixed_float16 --loss-scale init=1024 --optimizer adamw:clip_norm=0.5 --trace steps=3'
p = halfulp('train', *OVERFLOW.split(), at('one'))
skipped = [row for row in untimed(at('one/metrics.tsv'))] if p.returncode == 0 else [[]]
column = skipped[0].index('skipped') if 'skipped' in skipped[0] else 0
count = sum(row[column] == '1' for row in skipped[1:])
ok(0 < count < len(skipped) - 1, 'one process: %d of %d steps are skipped' % (count, len(skipped) - 1), p.stderr)
p = ranks(3, 'train', *OVERFLOW.split(), at('three'))
wrong = differences(at('one'), at('three')) if p.returncode == 0 else [p.stderr]
ok(not wrong, 'three ranks, of which one overflows: tables, trace and checkpoint of one process', wrong)

# --- batchnorm, whose running statistics pass through the micro-batches of all ranks
NORM = '--quiet --model convnet:width=0.04 --data size=12 --batch micro=4 --batch 8 --steps 3 --data train=24,eval=4 '
NORM += '--policy bfloat16 --trace steps=1'
p = halfulp('train', *NORM.split(), at('norm1'))
p = ranks(2, 'train', *NORM.split(), at('norm2'))
wrong = differences(at('norm1'), at('norm2')) if p.returncode == 0 else [p.stderr]
ok(not wrong, 'batchnorm on two ranks: tables, trace and checkpoint of one process', wrong)
p = halfulp('analyze', '--only', 'replay', at('norm2'))
rows = untimed(at('norm2/analysis/replay.tsv')) if p.returncode == 0 else [['over_bound'], ['?']]
over = {row[rows[0].index('over_bound')] for row in rows[1:]}
ok(over == {'0'}, 'its trace: no output is outside its bound', [over, p.stderr])
p = halfulp('verify', at('norm2'))
ok(p.returncode == 0, 'one process verifies it', p.stderr)
manifest = json.load(open(at('norm2/manifest.json')))
want = {'number': 2, 'micro_batches': [2, 2], 'on_first_host': 2, 'batchnorm': 'statistics of each micro-batch'}
got = manifest.get('ranks', {})
ok({k: got.get(k) for k in want} == want and 'MPI' in got.get('mpi', ''), 'the manifest says who shared it', str(got))
ok('ranks' not in json.load(open(at('norm1/manifest.json'))), 'that of one process does not')

# --- what travels in a step. Rank 1 has micro-batches 0 and 1: it sends their halves of the sums of gradients, loss and
# --- rows, and its running statistics; rank 0 sends all the sums, unscaled, and the last running statistics.
program = json.load(open(at('norm2/program-train.json')))
tensors = {t['name']: t for t in program['tensors']}
SIZE = {'fp64': 8, 'fp16': 2, 'bf16': 2}


def size(t):
    n = SIZE.get(t['format'], 4)
    for d in t['shape']:
        n *= d
    return n


short = [n for n, t in tensors.items() if n.split('@')[0].endswith('_micro0to1') and t['format'] == 'bf16']
ok(len(short) > 3, 'sums of bf16 gradients travel as 2 bytes a number: %d tensors' % len(short), list(tensors)[:9])
running = sum(size(t) for t in program['tensors'] if t['name'].split('.')[1] in ('rm', 'rv'))
parameters = [t for t in program['tensors'] if t.get('trainable')]
halves = sum(size(t) for t in program['tensors'] if t['name'].split('@')[0].endswith('_micro0to1'))
parts = sum(size(t) for name, t in tensors.items() if name.startswith('loss.p_micro') and name[-1] in '01')
grads = sum(size(t) for t in parameters)
rows = untimed(at('norm2/ranks.tsv'))
table = [dict(zip(rows[0], row)) for row in rows[1:]]
COLUMNS = 'rank host micro_batches rows steps ms ms_messages bytes_sent bytes_received memory'
ok(
    [(t['rank'], t['micro_batches'], t['rows'], t['steps']) for t in table]
    == [('0', '2', '4', '3'), ('1', '2', '4', '3')],
    'ranks.tsv has a row for each rank',
    str(table),
)
ok(
    [float(t['bytes_sent']) for t in table] == [grads + running, halves + parts + running],
    'and the bytes that each sends in a step: %d and %d' % (grads + running, halves + parts + running),
    [str(table), 'halves %d parts %d running %d gradients %d' % (halves, parts, running, grads)],
)
lines = [line.rstrip('\n').split('\t') for line in open(at('norm2/ranks.tsv')) if not line.startswith('#')]
took = [(float(t['ms_messages']), float(t['ms'])) for t in (dict(zip(lines[0], x)) for x in lines[1:])]
ok(len(took) == 2 and all(0 < m <= ms for m, ms in took), 'messages take some of the time of a step', took)

# In memory a number of 64 bits takes 8 bytes, any other 4
everything = sum(size(dict(t, format=t['format'] if t['format'] == 'fp64' else 'fp32')) for t in program['tensors'])
ok(
    all(grads <= float(t['memory']) <= everything for t in table)
    and sum(float(t['memory']) for t in table) > everything / 2,
    'and the memory of what it holds, of %d bytes' % everything,
    str(table),
)

# --- whatever the number of ranks, what some send is what others receive: what rank 0 sends to all counts for each
SENT = (
    '--quiet --data size=8 --model width=0.05 --data train=32,eval=8 --batch 10 --batch micro=5 --steps 2 --policy'
    ' float32'
)
for n in 2, 3, 5:
    p = ranks(n, 'train', *SENT.split(), at('sent%d' % n))
    rows = untimed(at('sent%d/ranks.tsv' % n)) if p.returncode == 0 else [['bytes_sent', 'bytes_received'], ['1', '2']]
    sums = [sum(float(row[rows[0].index(c)]) for row in rows[1:]) for c in ('bytes_sent', 'bytes_received')]
    ok(sums[0] == sums[1] > 0, '%d ranks send %d bytes a step, and receive %d' % (n, *sums), [p.stderr, str(rows)])

# --- a rank is killed: the others end, and any number of ranks goes on from the checkpoint to the same bits. The
# --- stand-in for MPI notices no dead rank, so that all are killed there: the run is one process's.
LONG = (
    '--quiet --data size=8 --model width=0.1 --batch micro=4 --batch 8 --steps 40 --data train=48,eval=4'
    ' --checkpoint-every 5 '
)
LONG += '--policy mixed_float16 --trace steps=last'
p = halfulp('train', *LONG.split(), at('whole'))
job = subprocess.Popen(
    [*(() if mpi.stub else ('mpirun', '-n', '2')), HALFULP, 'train', *LONG.split(), at('cut')],
    env=dict(os.environ, **OPEN_MPI),
    stdin=subprocess.DEVNULL,
    stdout=subprocess.DEVNULL,
    stderr=subprocess.PIPE,
)


def steps_done():
    path = at('cut/manifest.json')
    return json.load(open(path))['steps_done'] if os.path.exists(path) else 0


deadline = time.time() + 120
while job.poll() is None and not steps_done() and time.time() < deadline:
    time.sleep(0.002)


def children(pid):
    return [int(k) for k in open('/proc/%d/task/%d/children' % (pid, pid)).read().split()]


for pid in ([job.pid] if mpi.stub else children(job.pid)[1:]) if job.poll() is None else []:
    os.kill(pid, signal.SIGKILL)
job.communicate()
ok(
    job.returncode != 0 and 0 < steps_done() < 40,
    'a rank is killed: the job ends, %d of 40 steps are kept' % steps_done(),
)
p = ranks(3, 'train', '--resume', '--quiet', at('cut'))
wrong = differences(at('whole'), at('cut')) if p.returncode == 0 else [p.stderr]
ok(not wrong, 'three ranks go on from there, to the tables, trace and checkpoint of one process', wrong)

# --- refusals: one line of rank 0, and no run
SMALL = '--quiet --data size=8 --model width=0.05 --batch 8 --steps 1 --data train=8,eval=4 '.split()
refused(ranks(3, 'train', *SMALL, '--batch', 'micro=2', at('no')), 2, 'at least 3', 'fewer micro-batches than ranks')
p = ranks(2, 'train', *SMALL, '--batch', 'micro=2', '--exercise', at('no'))
refused(p, 2, '--exercise has no effect', '--exercise with several ranks')
one = ['train', *SMALL, '--batch', 'micro=2', at('no')]
shutil.copy(at('data.npz'), at('copy.npz'))
npz(at('other.npz'), x=((24, 2, 2, 1), samples[::-1]), labels=((24,), [k % 3 for k in range(24)], '<i8'))
for words, said_so in (
    ('--seed 2', 'its --seed is 2 and that of rank 0 is 1: give all ranks the same options'),
    ('--data seed=2', 'its --data seed= is 2 and that of rank 0 is 0'),
    ('--optimizer lr=7', 'its --optimizer lr= is 7 and that of rank 0 is 0.001'),
    ('--augment flip', 'its --augment is flip and that of rank 0 is not given'),
    ('--trace steps=none', 'its --trace steps= is none and that of rank 0 is '),
    ('--policy mixed_float16', 'its policy is mixed_float16 and that of rank 0 is float32'),
    ('--data npz:none', 'rank 1 of 2, on '),
    ('--data npz:%s' % at('data.npz'), 'its --data is npz and that of rank 0 is digits'),
):
    refused(ranks(2, *one, last=words.split()), 3, said_so, 'rank 1 has other words: ' + words)
own = ['train', *OVERFLOW.split(), at('no')]
p = ranks(2, *own, last=['--data', 'npz:' + at('other.npz')])
refused(p, 3, "its data's digest", 'rank 1 has a file of the same kind and sizes with other values')
p = ranks(2, *own[:-1], at('copied'), last=['--data', 'npz:' + at('copy.npz')])
ok(p.returncode == 0, 'and the same values under another name are the same data', p.stderr)
ok(not os.path.exists(at('no')), 'none of these left a run')
finish()
