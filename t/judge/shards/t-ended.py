# SPDX-License-Identifier: Apache-2.0
# A signal ends what takes long: a shard, a sweep, ranks of which another one is killed, a training of several ranks.
# One line says what is kept and how to go on; a signal that is ignored stays so. A limit on the size of files is an
# error.
import os
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
from analyzed import CUT, trained  # noqa: E402
from mpi import MODULE, OPEN_MPI  # noqa: E402
from tap import HALFULP, finish, halfulp, home, ok, skip  # noqa: E402

os.chdir(home())
WORK = ['--threads', '1', '--sample', 'all', '--accumulate', 'fma,acc=fp16', '--accumulate', 'kahan,acc=fp16', 'run']
trained('run', *CUT)
parts = 'run/analysis/parts/'


def heard():
    """A job in the background of a shell ignores SIGINT, and so would what it starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def ended(command, there, how, ranks=0):
    """Starts it, waits for the file THERE, sends the signal, to a rank that is not the first where there are several,
    and returns the exit code and the program's own lines. Of mpirun the ranks are the children, in order."""
    with open('err', 'w') as err:
        job = subprocess.Popen(command, env=dict(os.environ, **OPEN_MPI, HALFULP_MPI=MODULE),
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=err, preexec_fn=heard)
        end = time.time() + 120
        while not os.path.exists(there) and job.poll() is None and time.time() < end:
            time.sleep(0.01)
        to = job.pid
        if ranks:
            p = subprocess.run(['ps', '-o', 'pid=', '--ppid', str(to)], capture_output=True, text=True)
            to = max(map(int, p.stdout.split()), default=to)
        try:
            os.kill(to, how)
        except ProcessLookupError:
            pass
        code = job.wait(timeout=300)
    return code, [line.rstrip('\n') for line in open('err') if line.startswith('halfulp')]


def of_ranks(*words, there):
    """The same, where rank 2 of 3 is killed. mpirun may end before it has passed on what ranks said: once more then."""
    for _ in range(4):
        shutil.rmtree(os.path.dirname(there), ignore_errors=True)
        code, said = ended(['mpirun', '-n', '3', HALFULP, *words], there, signal.SIGKILL, 3)
        if said:
            break
    return code, said


code, said = ended([HALFULP, 'analyze', '--shard', '1/2', *WORK], parts + '1-of-2.part', signal.SIGTERM)
want = 'halfulp analyze: a signal ended it; %s1-of-2.part keeps what was found, ' % parts
want += 'and the same line with --resume goes on'
ok(code == -signal.SIGTERM and said == [want], 'a shard that is ended says what it kept', [code, said])
code, said = ended([HALFULP, 'analyze', '--shard', '1/2', *WORK], '.', signal.SIGINT)
ok(code == -signal.SIGINT and len(said) < 2, 'a shard that is ended early', [code, said])
ignore = ['sh', '-c', "trap '' TERM; exec \"$@\"", 'sh']
p = [HALFULP, 'analyze', '--shard', '2/2', *WORK]
code, said = ended([*ignore, *p], parts + '2-of-2.part', signal.SIGTERM)
ok(code == 0 and not said, 'a signal that is ignored stays so', [code, said])
p = halfulp('analyze', '--shard', '1/2:part=one', *WORK)
ok('next, when all are there: halfulp merge with the names of all parts' in p.stdout, 'parts by other names', p.stdout)

limited = ['sh', '-c', 'ulimit -f 4; exec "$@"', 'sh', HALFULP, 'analyze', '--no-propagate', 'run']
p = subprocess.run(limited, stdin=subprocess.DEVNULL, capture_output=True, text=True)
left = [f for f in os.listdir('run/analysis') if '.tmp' in f]
ok(
    p.returncode == 4 and p.stderr.endswith('cannot be written: File too large\n') and not left,
    'a table that exceeds the limit on the size of files: one line, exit 4, nothing half written',
    [p.returncode, p.stderr, left],
)

SWEEP = ['--model', 'mlp', '--data', 'size=8', '--model', 'width=0.1', '--policy', 'float32', '--seeds',
         '1,2,3,4,5,6,7,8']
code, said = ended([HALFULP, 'compare', *SWEEP, 'sweep'], 'sweep/parts/ranks.part', signal.SIGTERM)
want = 'halfulp compare: a signal ended it; sweep/parts/ranks.part keeps what was found, '
want += 'and the same line with --resume goes on'
ok(code == -signal.SIGTERM and said == [want], 'a sweep that is ended says so too', [code, said])

if os.path.exists(MODULE) and shutil.which('mpirun'):
    died = 'a signal ended it, as it ends all ranks where one of them died; '
    code, said = of_ranks('analyze', *WORK, there=parts + 'ranks.part')
    want = 'halfulp analyze: %s%sranks.part keeps what was found, ' % (died, parts)
    want += 'and the same line with --resume goes on'
    ok(code and said == [want], 'rank 0 says it where another is killed', [code, said])
    LONG = ['--model', 'mlp', '--batch', 'micro=3', '--batch', '63', '--steps', '4000', '--checkpoint-every', '1']
    code, said = of_ranks('train', '--quiet', *LONG, 'long', there='long/metrics.tsv')
    want = 'halfulp train: %shalfulp train --resume long goes on from the last checkpoint' % died
    ok(code and said == [want], 'and so it does while ranks train', [code, said])
else:
    skip('ranks', 'there is no MPI')
finish()
