#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# bench train under mpirun: ranks share the training whose steps are timed, and leave the state that one process leaves.
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.environ.get('srcdir', '.'), 't', 'tool'))
from mpi import need_mpi, ranks
from tap import finish, halfulp, home, ok

need_mpi(or_stub=True)
os.chdir(home())
train = ['bench', 'train', '--model', 'mlp:width=0.125', '--data', 'train=60,eval=10', '--batch', '12']
train += ['--steps', '3', '--steps', 'warm=1', '--policy', 'float32,mixed_float16', '--meter', 'none']
shared = [*train, '--batch', 'micro=4']


def measured(text):
    return [r for r in json.loads(text) if r['on'] == 'cpu']


alone = measured(halfulp(*shared, '--json').stdout)
ok([r['ranks'] for r in alone] == [1, 1] and len({r['digest'] for r in alone}) == 2, 'one process: two rows', alone)
for n in 2, 3:
    p = ranks(n, *shared, '--json', '-o', 'ranks-%d.tsv' % n)
    rows = measured(p.stdout) if p.returncode == 0 else []
    ok([(r['ranks'], r['digest']) for r in rows] == [(n, r['digest']) for r in alone],
       '%d ranks: one array, and the digests of one process' % n, p.stdout + p.stderr)
    ok(rows and all(r['ms'] > 0 and (r['peak_mb'] or 1) > 0 and r['joules_step'] is None for r in rows),
       '%d ranks: a time, the memory of one of them, and no energy' % n, rows)
    lines = [line.split('\t') for line in open('ranks-%d.tsv' % n).read().splitlines() if not line.startswith('#')]
    at = lines[0].index('ranks')
    ok([line[at] for line in lines[1:3]] == [str(n)] * 2, '%d ranks: the table is written once' % n, lines)
p = ranks(2, *shared)
rows = [line for line in p.stdout.splitlines() if ' cpu ' in line and re.search(r'0x[0-9a-f]{16} +2 ', line)]
ok(len(rows) == 2 and p.stdout.count('policy') == 1, '2 ranks print one table', p.stdout + p.stderr)
p = ranks(2, *train)
ok(p.returncode != 0 and '--batch micro=1: each of the 2 ranks executes whole micro-batches' in p.stderr,
   'a training that two ranks cannot share is refused', p.stderr)
p = ranks(2, *shared, '--memory', '10KiB')
ok(p.returncode == 0 and p.stderr.count('use a smaller batch or width') == 2 and p.stdout.count('mixed_float16') >= 1,
   'what does not fit is told once and stays blank', p.stdout + p.stderr)
finish()
