# SPDX-License-Identifier: Apache-2.0
# A rank of analyze is killed 50 times, at moments all over a run that takes long enough to leave parts: no table is
# half written, what ranks had found is kept, and --resume completes it to the bytes of one process.
import os
import random
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
from analyzed import forget, tables, trained  # noqa: E402
from mpi import killed, need_mpi, ranks  # noqa: E402
from tap import HALFULP, finish, halfulp, home, none, ok  # noqa: E402

need_mpi()
os.chdir(home())
dice = random.Random(int(os.environ.get('HALFULP_SEED', '20261124')))
TRIALS = int(os.environ.get('HALFULP_KILLS', '50'))
NET = ['--model', 'mlp:width=0.5', '--data', 'train=192,eval=8', '--batch', '96', '--quiet']
PART = 'run/analysis/parts/ranks.part'


trained('run', *NET, '--steps', '8', '--trace', 'steps=' + ','.join(map(str, range(8))), '--policy', 'mixed_float16')
for sample in 400, 1600, 6400:  # until it takes longer than parts wait to be written
    WORK = ['analyze', '--sample', str(sample), '--threads', '1', 'run']
    forget('run')
    start = time.time()
    ranks(3, *WORK)
    length = time.time() - start
    if length > 4:
        break
forget('run')
halfulp(*WORK)
want = tables('run')
forget('run')
bad, hits, kept, less = [], 0, 0, 0
for trial in range(TRIALS):
    forget('run')
    moment = (0.1 + 0.9 * (trial + dice.random()) / TRIALS) * length
    hit = killed(['mpirun', '-n', '3', HALFULP, *WORK], moment, dice)[2]
    hits += hit
    length *= 1 if hit else 0.9  # the machine has become faster
    for name, content in tables('run').items():
        if content != want.get(name):
            bad.append('trial %d: %s is half written' % (trial, name))
    part = os.path.exists(PART) and open(PART).read().count('\n') > 7
    kept += part
    p = ranks(2, WORK[0], '--resume', *WORK[1:])
    if p.returncode or tables('run') != want:
        bad.append('trial %d: exit %d after --resume: %s' % (trial, p.returncode, p.stderr[:200]))
none(
    bad,
    'a rank is killed %d times in a run of %.1f s: nothing half written, and --resume makes the same bytes'
    % (hits, length),
)
ok(
    hits >= 0.5 * TRIALS and kept >= 0.2 * TRIALS,
    '%d of the kills left units of some ranks in a part' % kept,
    '%d hits' % hits,
)
finish()
