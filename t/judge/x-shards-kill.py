# SPDX-License-Identifier: Apache-2.0
# A rank of analyze is killed 50 times, at moments all over a run that takes long enough to leave parts: no table is
# half written, what ranks had found is kept, and --resume completes it to the bytes of one process.
import os
import random
import shutil
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tool'))
from mpi import killed, need_mpi, ranks  # noqa: E402
from tap import HALFULP, bail_out, finish, halfulp, home, none, ok  # noqa: E402

need_mpi()
os.chdir(home())
dice = random.Random(int(os.environ.get('HALFULP_SEED', '20261124')))
TRIALS = int(os.environ.get('HALFULP_KILLS', '50'))
NET = ['--model', 'mlp', '--width', '0.25', '--size', '16', '--train', '192', '--eval', '8', '--batch', '96', '--quiet']
WORK = ['analyze', '--sample', '400', '--threads', '1', 'run']
PART = 'run/analysis/parts/ranks.part'


def files():
    there = os.listdir('run/analysis') if os.path.isdir('run/analysis') else []
    paths = [os.path.join('run/analysis', f) for f in there]
    return {f: open(f, 'rb').read() for f in paths if os.path.isfile(f)}


p = halfulp('train', *NET, '--steps', '4', '--trace-steps', '0,1,2,3', '--policy', 'mixed_float16', 'run')
if p.returncode:
    bail_out(p.stderr)
halfulp(*WORK)
want = files()
shutil.rmtree('run/analysis')
start = time.time()
ranks(3, *WORK)
length = time.time() - start
bad, hits, kept, less = [], 0, 0, 0
for trial in range(TRIALS):
    shutil.rmtree('run/analysis', ignore_errors=True)
    moment = (0.1 + 0.9 * (trial + dice.random()) / TRIALS) * length
    hit = killed(['mpirun', '-n', '3', HALFULP, *WORK], moment, dice)[2]
    hits += hit
    length *= 1 if hit else 0.9  # the machine has become faster
    for name, content in files().items():
        if content != want.get(name):
            bad.append('trial %d: %s is half written' % (trial, name))
    part = os.path.exists(PART) and open(PART).read().count('\n') > 7
    kept += part
    p = ranks(2, WORK[0], '--resume', *WORK[1:])
    if p.returncode or files() != want:
        bad.append('trial %d: exit %d after --resume: %s' % (trial, p.returncode, p.stderr[:200]))
none(bad, 'a rank is killed %d times in a run of %.1f s: nothing half written, and --resume makes the same bytes' % (hits, length))
ok(hits >= 0.5 * TRIALS and kept >= 0.3 * TRIALS, '%d of the kills left units of some ranks in a part' % kept, '%d hits' % hits)
finish()
