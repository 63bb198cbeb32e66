# SPDX-License-Identifier: Apache-2.0
# Several ranks on this machine: messages, agreement, and what becomes of all when one fails or is killed. Without MPI
# its stand-in connects them, which does not notice that one was killed.
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
import mpi
import tap
from tap import HALFULP, finish, ok, skip_all

mpi.need_mpi(or_stub=True)
PROGRAM = os.path.join(os.path.dirname(HALFULP), 't/base/u-ranks')
if not os.access(PROGRAM, os.X_OK):
    skip_all('t/base/u-ranks is not built here')
os.chdir(tap.home())


def ranks(n, what):
    """N ranks of u-ranks that do WHAT: the exit code, what they printed and what they said."""
    p = mpi.apart(*[[PROGRAM, what]] * n)
    return p.returncode, p.stdout, p.stderr


def alone(*words, **more):
    p = subprocess.run([HALFULP, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
                       env=dict(os.environ, **more))
    return p.returncode, p.stdout, p.stderr


def said(err):
    """The program's own lines, without those of mpirun."""
    return [line for line in err.splitlines() if line.startswith('halfulp')]


for size in 2, 5:
    code, out, err = ranks(size, 'exchange')
    ok(code == 0 and re.search('^rank 0 of %d, library 1: status 0: fine' % size, out, re.M),
       '%d ranks: each sends each 3 MB without waiting; broadcast, gather, barrier, arrays that all fill' % size,
       err)
ENDS = [
    ('agree', 2, r'^rank 0 of 3, .* status 1: rank 1 of 3, on [^ ]*: reason 1',
     "ranks that fail differently: the first one's status and reason, with its number"),
    ('same', 3, r'status 5: rank 1 of 3, on [^ ]*: its version is 2 and that of rank 0 is 1: give all ranks the same '
     'options and files', 'ranks whose texts differ: exit 3'),
    ('same-long', 3, r'status 5: rank 2 of 3, on [^ ]*: its text is \.\.\.[^:]*sample 2048, seed 12 then and that of '
     r'rank 0 is \.\.\.[^:]*sample 2048, seed 1: give',
     'ranks whose long texts differ in the last word: exit 3, and that word is shown'),
    ('give-up', 3, '^speaks 1: unreadable$',
     'a rank that fails alone says so and ends the others, with its exit code'),
]
for what, wanted, words, name in ENDS:
    code, out, err = ranks(3, what)
    ok(code == wanted and re.search(words, out, re.M) and (what != 'give-up' or 'fine' not in out), name,
       'exit %d: %s%s' % (code, out, err))
if mpi.stub:
    tap.skip('a rank that is killed ends the others', 'the stand-in of MPI does not notice it')
else:
    code, out, err = ranks(3, 'die')
    ok(code not in (0, 124) and 'fine' not in out, 'a rank that is killed ends the others', out + err)

p = mpi.ranks(2, 'calc', '1+1')
ok(p.returncode == 2 and not p.stdout and len(said(p.stderr)) == 1 and
   said(p.stderr)[0].startswith('halfulp calc: it works in one process, and 2 were started together'),
   'a command that shares no work is refused, by one line of rank 0', p.stderr)
STARTED = {'OMPI_COMM_WORLD_SIZE': '2', 'OMPI_COMM_WORLD_RANK': '0'}
code, out, err = alone('analyze', 'none', **STARTED, HALFULP_MPI=os.path.abspath('none'))
ok(code == 4 and not out and err.count('\n') == 1, 'without the MPI library: exit 4', err)
code, out, err = alone('doctor', **STARTED)
ok(code == 2 and err.startswith('halfulp doctor: it measures one machine, which other processes would keep busy, and 2 '
                                'were'), 'a command that has a reason of its own to be refused says it', err)
code, out, err = alone('calc', '1+1', OMPI_COMM_WORLD_SIZE='3', OMPI_COMM_WORLD_RANK='2')
ok(code == 2 and not out and err.count('\n') == 1 and
   err.startswith('halfulp calc: rank 2 of 3: it works in one process'),
   'rank 2 leaves it to rank 0 to end the job and to say why, and speaks where rank 0 does not', err)
p = mpi.apart([HALFULP, 'analyze', 'none'], [HALFULP, 'analyze', 'none', '--no-such'])
ok(p.returncode not in (0, 124) and len(said(p.stderr)) == 1,
   'ranks of which one is refused before it joins the other: an end, and one line', p.stderr)
code, out, err = alone('train', '--help', HALFULP_MPI=os.path.abspath('none'))
ok(code == 0, 'one process never loads MPI', err)
finish()
