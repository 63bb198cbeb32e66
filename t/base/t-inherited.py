# SPDX-License-Identifier: Apache-2.0
# Promise: Closed standard streams and signals that were ignored or blocked by whoever started the program let nothing
# that is printed into a file, and no failure of another process pass for none.
# A daemon or a CI job starts programs with streams that are closed and with SIGCHLD ignored. HALFULP names the program.
import itertools
import os
import resource
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
import tap
from tap import HALFULP

TRAIN = '--model mlp --data digits --model width=0.02 --data size=8,train=32,eval=8 --batch 16 --steps 2 --threads 1'
GNUPLOT = '#!/bin/sh\ntest "$2" = --version && exit %d\nexit 3\n'


def started(words, closed=(), prepare=None, **more):
    """Runs the program with these standard streams closed. Returns (exit code, standard output, standard error)."""
    def before():
        for fd in closed:
            os.close(fd)
        if prepare:
            prepare()
    p = subprocess.run([HALFULP, *words.split()], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                       preexec_fn=before, timeout=120, env=dict(os.environ, OMP_WAIT_POLICY='passive', **more))
    return p.returncode, p.stdout, p.stderr


def streams():
    """Every set of closed streams: a file that is opened afterwards has none of their numbers."""
    wrong = []
    os.mkfifo('fifo')
    for closed in itertools.chain(*(itertools.combinations((0, 1, 2), n) for n in (1, 2, 3))):
        p = subprocess.Popen([HALFULP, 'check', 'silent', '--baseline', 'fifo'], stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                             preexec_fn=lambda: [os.close(fd) for fd in closed],
                             env=dict(os.environ, OMP_WAIT_POLICY='passive'))
        end = time.time() + 60
        writer = None
        while writer is None and p.poll() is None and time.time() < end:
            try:        # succeeds when the program has opened the other end
                writer = os.open('fifo', os.O_WRONLY | os.O_NONBLOCK)
            except OSError:
                time.sleep(0.01)
        if writer is None:
            wrong.append('%s closed: exit %s without a look at its file' % (closed, p.poll()))
        else:
            for fd in (0, 1, 2):
                path = '/proc/%d/fd/%d' % (p.pid, fd)
                at = os.readlink(path) if os.path.lexists(path) else 'closed'
                if at != '/dev/null':
                    wrong.append('%s closed: stream %d is %s' % (closed, fd, at))
            os.close(writer)
        p.kill()
        p.wait()
    os.remove('fifo')
    return wrong


home = tap.home()
os.chdir(home)
plain = started('calc 0.1 --format fp16')
tap.ok(started('calc 0.1 --format fp16', closed=[0, 2]) == (plain[0], plain[1], ''), 'an answer needs no other stream')
code, _, err = started('calc 0.1 --format fp16', closed=[1])
tap.ok(code == 4 and err.count('\n') == 1 and 'standard output cannot be written' in err,
       'an answer that nobody can read is a failure', err)
code, _, err = started('train --quiet --policy mixed_float16 %s silent' % TRAIN, closed=[0, 2])
tap.ok(code == 0 and started('verify silent')[0] == 0, 'a training without standard error leaves a whole run', err)

code, _, err = started('analyze silent', closed=[0, 2])
tap.ok(code == 0, 'nor does analyze need it', err)
code, _, err = started('baseline silent -o base.tsv --reason first', closed=[0])
tap.ok(code == 0, 'nor standard input', err)
if os.path.isdir('/proc/self/fd'):
    tap.none(streams(), 'a file that is read never has the number of a closed standard stream')
else:
    tap.skip('numbers of files', 'there is no /proc')


def ignored():
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)


def blocked():
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())


for how in (ignored, blocked):
    name = 'SIGCHLD is ignored' if how is ignored else 'every signal is blocked'
    code, out, err = started('compare --policy float32,float16 %s both-%s' % (TRAIN, how.__name__), prepare=how)
    tap.ok(code == 0 and out.count('accuracy 12.50') == 2, '%s: compare has both runs' % name, out + err)
    code, out, err = started('compare --policy float32,float16 %s no-%s' % (TRAIN, how.__name__),
                             prepare=lambda: (how(), resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))))
    tap.ok(code == 4 and out.count('failed (train 4)') == 2 and err.count('File too large') == 2,
           '%s: compare sees that files are too large for both' % name, out + err)
    code, out, err = started('gate --baseline base.tsv --quiet gated-%s -- --policy mixed_float16 %s --init absent.safetensors' % (
        how.__name__, TRAIN), prepare=how)
    tap.ok(code == 3 and 'absent.safetensors' in err, '%s: gate says why its training failed' % name, err)
    for answer in (0, 1):
        with open('gp', 'w') as f:
            f.write(GNUPLOT % answer)
        os.chmod('gp', 0o755)
        code, out, err = started('figures swamped-addend --out drawn-%s' % how.__name__, prepare=how, GNUPLOT='./gp')
        tap.ok(code == 4 and ('could not draw' if answer == 0 else 'was not found') in err,
               '%s: a gnuplot that fails %s is told' % (name, 'to say its version' if answer else 'to draw'), err)
tap.finish()
