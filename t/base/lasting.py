# SPDX-License-Identifier: Apache-2.0
# Runs commands of halfulp under something that lasts: a limit, a file system that is full, calls of the system that
# fail from one on, a C library with habits of its own, surroundings that lack something. Each row of the tables is
# drawn or tried in turn and judged as faults.py judges a single fault: another end than the usual one is exit 4 and one
# line, nothing half-written, no temporary file, and no command that ends well has said or written something else.
import errno
import os
import random
import re
import shutil
import time

import fault_commands
import faults
import tap
from tap import HALFULP

# Where nothing lasting is wrong with what the command needs, it must not notice
NOTHING = ()
FAILS = (4,)
# What cannot be found is told as the file that is bad or not there
ABSENT = (2, 3, 4)


def sh(line):
    return ['sh', '-c', line]


# Surroundings: a name, what stands before the command, the settings, and the exit codes other than the usual one.
# STDOUT: what the command prints does not arrive, so that it is not compared.
SURROUNDINGS = [
    ('standard output is full', sh('exec "$0" "$@" >/dev/full'), {}, FAILS),
    ('standard error is full', sh('exec "$0" "$@" 2>/dev/full'), {}, NOTHING),
    ('standard output is closed', sh('exec "$0" "$@" >&-'), {}, FAILS),
    ('standard error is closed', sh('exec "$0" "$@" 2>&-'), {}, NOTHING),
    ('standard input is closed', sh('exec "$0" "$@" <&-'), {}, NOTHING),
    ('no environment', ['env', '-i', 'GNUPLOT=$GNUPLOT', 'HALFULP_MPI=none', 'LC_ALL=C',
                        'CI_COMMIT_SHA=$CI_COMMIT_SHA', 'OMP_NUM_THREADS=$OMP_NUM_THREADS'], {}, NOTHING),
    ('no HOME', ['env', '-u', 'HOME'], {}, NOTHING),
    ('no PATH', ['env', '-u', 'PATH'], {}, NOTHING),
    ('no folder for temporary files', [], {'TMPDIR': '/nonexistent'}, NOTHING),
    ('a folder for temporary files that is a file', [], {'TMPDIR': '/etc/passwd'}, NOTHING),
    ('the working folder is gone', sh('mkdir gone; cd gone; rmdir ../gone; exec "$0" "$@"'), {}, ABSENT),
    ('/proc is empty', ['unshare', '-rm'] + sh('mount -t tmpfs none /proc; exec "$0" "$@"'), {}, NOTHING),
    ('/dev is empty', ['unshare', '-rm'] + sh('mount -t tmpfs none /dev; exec "$0" "$@"'), {}, ABSENT),
    ('/sys is empty', ['unshare', '-rm'] + sh('mount -t tmpfs none /sys; exec "$0" "$@"'), {}, NOTHING),
    ('one processor', ['taskset', '-c', '0'], {}, NOTHING),
    ('the least priority', ['nice', '-n', '19'], {}, NOTHING),
]

# What computed a table may be unknown, and a BLAS that is not found is not needed, and left out
COMPUTED = re.compile(rb'^(# kernels: .*|# backend: .*| *"device": .*)\n|checksum 0x[0-9a-f]{16}', re.M)
DATED = re.compile(rb'^# manifest xxh3: .*\n', re.M)    # of a training, which says when it was
# What is not known there, and said so in these files and by these commands
UNKNOWN = {'/proc is empty': r'manifest\.json|\b[bw]\.tsv|^bench .*standard output is another',
           'always fclose ': '^bench .*standard output is another'}

# What the C library may do all the time: a function of t/stub/functions.c, its error (0: the one of its table), and the
# exit codes other than the usual one.
HABITS = [
    ('mmap', errno.ENODEV, FAILS), ('mmap', errno.EACCES, FAILS), ('munmap', 0, FAILS), ('mprotect', 0, FAILS),
    ('madvise', errno.ENOSYS, NOTHING), ('flock', errno.ENOSYS, FAILS), ('flock', errno.ENOLCK, FAILS),
    ('flock', errno.EOPNOTSUPP, FAILS), ('rename', errno.EXDEV, FAILS), ('renameat', errno.EXDEV, FAILS),
    ('fsync', errno.EINVAL, FAILS), ('fsync', errno.EROFS, FAILS), ('close', 0, FAILS), ('fclose', 0, FAILS),
    ('ftruncate', errno.EPERM, FAILS), ('pthread_create', 0, FAILS), ('getrusage', 0, NOTHING),
    ('sysconf', 0, NOTHING), ('gethostname', 0, FAILS), ('uname', 0, FAILS), ('getrlimit', 0, NOTHING),
    ('setrlimit', 0, NOTHING), ('getcwd', 0, FAILS), ('realpath', errno.ENOSYS, FAILS), ('statfs', 0, NOTHING),
    ('access', errno.ENOSYS, FAILS), ('setlocale', 0, NOTHING), ('dlopen', 0, FAILS), ('sigaction', 0, FAILS),
    ('fork', errno.EAGAIN, FAILS), ('pipe', 0, FAILS),
    ('tmpfile', errno.EROFS, FAILS),
    ('fdopen', 0, FAILS), ('lseek', 0, FAILS), ('fstat', errno.ESTALE, FAILS), ('stat', errno.ESTALE, FAILS),
    ('fstatat', errno.ESTALE, FAILS), ('lstat', errno.ESTALE, FAILS),
    ('nanosleep', 0, NOTHING), ('regcomp', 0, FAILS), ('mkdir', errno.EROFS, FAILS), ('unlink', errno.EROFS, FAILS),
    ('type', 0, NOTHING), ('clock', 0, NOTHING), ('no-clock', 0, FAILS),
]

# System calls that go on failing, or are always short: names of t/stub/calls.c and how. Where they do, from which call
# on is drawn.
CALLS = [
    ('write,fsync,rename,ftruncate,mkdir', 'ENOSPC+', FAILS), ('write,mkdir,open', 'EDQUOT+', FAILS),
    ('read,open,dents', 'EIO+', FAILS), ('write,fsync,close', 'EIO+', FAILS), ('open', 'EMFILE+', FAILS),
    ('write,rename,mkdir,unlink,ftruncate', 'EROFS+', FAILS), ('rename', 'EXDEV+', FAILS),
    ('fallocate', 'EOPNOTSUPP+', NOTHING), ('fallocate', 'ENOSPC+', FAILS), ('unmap', 'ENOSYS+', FAILS),
    ('ask', 'ENOSYS+', FAILS), ('ask', 'EPERM+', ABSENT), ('flock', 'ENOLCK+', FAILS), ('memory', 'ENOMEM+', FAILS),
    ('process', 'EAGAIN+', FAILS), ('process', 'ENOSYS+', FAILS), ('mmap', 'ENOMEM+', FAILS),
    ('seek', 'EIO+', FAILS),
    ('write,read', 'short+', NOTHING), ('write', 'byte+', NOTHING), ('read', 'ETIMEDOUT+', FAILS),
    ('read', 'EUCLEAN+', FAILS), ('read,open', 'ENOTCONN+', FAILS),
    ('read', 'EINTR', FAILS), ('wait', 'EINTR', FAILS),
]

# The first calls for memory are those of the loader, which crashes where they fail before it has begun the program
LOADER = 4

# Limits, by prlimit(1): the option, from what to what one is drawn (by its logarithm).
LIMITS = [('fsize', 1, 300000), ('nofile', 3, 40), ('as', 1 << 25, 1 << 30), ('data', 1 << 20, 1 << 29),
          ('stack', 1 << 14, 1 << 22), ('memlock', 1, 1 << 16), ('core', 1, 2), ('sigpending', 1, 2)]
# A file system of a limited size in kilobytes, and of limited files
SIZES, FILES = (4, 2000), (2, 200)
SMALL = ('mount -t tmpfs -o size=$1k,nr_inodes=$2 none "$3" && cp -a "$4/." "$3" || exit 77; cd "$3"; shift 4; "$@"; '
         'code=$?; cd /; cp -a "$0/." "$OUTER" || exit 77; exit $code')

# What ends a command from outside: a name, what stands before the command, and the codes of such an end. $AT: seconds,
# drawn up to those that the command takes; $BYTES: memory that the kernel lets a group of processes have.
READER = ['bash', '-c', 'exec 9> >(:); wait $!; exec "$0" "$@" >&9']
GROUP = ('one=/sys/fs/cgroup most=memory.max; test -d $one/memory && one=$one/memory most=memory.limit_in_bytes; '
         'one=$one/halfulp-tried; mkdir -p $one 2>&- && echo $BYTES 2>&- >$one/$most && '
         'echo $$ 2>&- >$one/cgroup.procs || exit 77; exec "$0" "$@"')
ENDINGS = [('nobody reads standard output', READER, (-13, 141, 4)),
           ('a group with $BYTES bytes', sh(GROUP), (-9, 137, 4))]
ENDINGS += [('SIG%s after $AT s' % name, ['timeout', '--preserve-status', '-s', name, '$AT'], (128 + n, -n, 4))
            for name, n in (('TERM', 15), ('HUP', 1), ('INT', 2), ('PIPE', 13), ('XCPU', 24), ('KILL', 9))]
BYTES = (1 << 20, 1 << 26)


def drawn(draw, low, high):
    """A whole number whose logarithm is drawn evenly."""
    return min(high, max(low, round(low * (high / low) ** draw.random())))


def passed_over(case, files):
    """What says when and where a run was trained, and by which library a table was computed, may be something else."""
    for path in [p for p in files if 'analysis/' in p and p in case.after]:
        plain = [COMPUTED.sub(b'', data) for data in (files[path], case.after[path])]
        if case.steady[path] is not True:
            plain = [DATED.sub(b'', data) for data in plain]
        if plain[0] == plain[1]:
            files[path] = case.after[path]


class Lasting:
    """What lasts, tried on commands."""

    def __init__(self, home, tracer, of_c, draw, some=0):
        self.home, self.tracer, self.of_c, self.draw, self.some = home, tracer, of_c, draw, some

    def judged(self, case, label, before, more, codes, removes=False):
        """Runs the case so; `removes`: what removes files and folders fails as well. Returns what is wrong, each a
        sentence; None where it could not be tried."""
        end = case.run([*before, HALFULP], **more)
        code, _, err = end[:3]
        if code == 77 or code == 127 or (code in (125, 126) and 'halfulp' not in err):
            return None     # the machine lets nobody do that, or the libraries of the program are not loaded so
        silent = 'standard error' in label
        if silent and code in codes:
            end = (code, end[1], 'a line that nobody reads, but that is written', end[3])
        passed_over(case, end[3])
        wrong = case.judge(*end, codes=codes, most_lines=2 if case.name in faults.STARTERS else 1)
        if wrong and removes and all(w.endswith(' stays') for w in wrong):   # it goes with the next command
            gone = faults.brought_back(case, end[3])
            wrong = ['then ' + gone] if gone else []
        if label in UNKNOWN:
            wrong = [w for w in wrong if not re.search(UNKNOWN[label], '%s: %s' % (case.name, w))]
        return ['%s: %s: %s' % (case.name, label, w) for w in wrong]

    def surroundings(self, case):
        known = fault_commands.environment()
        for label, before, more, codes in self.rows(SURROUNDINGS):
            before = [w.partition('$')[0] + known.get(w.partition('$')[2], '') if '=$' in w else w for w in before]
            if shutil.which(before[0] if before else 'sh'):
                yield self.judged(case, label, before, more, codes)

    def habits(self, case):
        for name, code, codes in self.rows(HABITS):
            more = dict(LD_PRELOAD=self.of_c, FAULT_REPORT=case.report, FAULT_FUNCTION=name, FAULT_AT='1',
                        FAULT_ONWARDS=str(code))
            yield self.judged(case, 'always %s %s' % (name, errno.errorcode.get(code, '')), [], more, codes,
                              removes=bool(faults.REMOVES.search(name)))

    def calls(self, case):
        for names, how, codes in self.rows(CALLS):
            case.run([self.tracer, case.report, names, '0', how, HALFULP])
            count = int(open(case.report).read().split()[0]) if os.path.exists(case.report) else 0
            if count:
                first = min(count, LOADER if names == 'memory' else 1)
                at = first if codes == NOTHING else self.draw.randint(first, count)
                label = '%s %s, from call %d of %d on' % (names, how, at, count)
                yield self.judged(case, label, [self.tracer, case.report, names, str(at), how], {}, codes,
                                  removes=re.search('unlink|dents|open|ask', names) is not None)

    def limits(self, case):
        for name, low, high in self.rows(LIMITS):
            n = drawn(self.draw, low, high)
            yield self.judged(case, 'limit %s=%d' % (name, n), ['prlimit', '--%s=%d' % (name, n)], {}, FAILS)

    def disks(self, case):
        """The command works on a small file system, and what it leaves is copied out."""
        small = os.path.join(self.home, 'small')
        os.makedirs(small, exist_ok=True)
        base = sum(-(-os.path.getsize(os.path.join(at, f)) // 4096) * 4 + 1
                   for at, _, names in os.walk(case.files) for f in names)
        files = sum(len(names) + len(folders) for _, folders, names in os.walk(case.files))
        kb, inodes = drawn(self.draw, *SIZES), drawn(self.draw, *FILES)
        for label, size, n in (('%d kB are free' % kb, base + kb, 100000), ('%d files are free' % inodes, base + 100000,
                                                                           files + inodes)):
            before = ['unshare', '-rm', 'sh', '-c', SMALL, small, str(size), str(n), small, case.files]
            yield self.judged(case, label, before, {'OUTER': case.folder}, FAILS)

    def endings(self, case):
        """Whoever ends the command leaves what it goes on with when it is run again."""
        began = time.monotonic()
        case.run([HALFULP])
        took, lines = time.monotonic() - began, 2 if case.name in faults.STARTERS else 1
        for label, before, codes in self.rows(ENDINGS):
            at, most = '%.4f' % (took * self.draw.random()), '%d' % drawn(self.draw, *BYTES)
            for name, value in ('$AT', at), ('$BYTES', most):
                label, before = label.replace(name, value), [w.replace(name, value) for w in before]
            end = case.run([*before, HALFULP])
            if end[0] == 77:
                yield None
                continue
            passed_over(case, end[3])
            killed = end[0] in codes and end[0] not in FAILS
            wrong = [w for w in case.judge(*end, codes=codes, killed=killed, most_lines=lines)
                     if end[0] not in FAILS or not w.endswith(' stays')]       # of a process that the command started
            if case.name == 'gate summary':      # it goes on with a file that is not its own
                continue
            gone = faults.brought_back(case, end[3]) if killed or end[0] in FAILS else ''
            yield ['%s: %s: %s' % (case.name, label, w) for w in wrong + ([gone] if gone else [])]

    def all(self, case, kind):
        """How many rows of the kind were tried, and what is wrong."""
        ends = list(getattr(self, kind)(case))
        return len([e for e in ends if e is not None]), [w for e in ends for w in e or []]

    def rows(self, table):
        """The table, or as many of its rows as are tried of each."""
        return self.draw.sample(table, min(self.some, len(table))) if self.some else table


KINDS = ('surroundings', 'habits', 'calls', 'limits', 'disks', 'endings')
DRAWN = ('calls', 'limits', 'disks', 'endings')    # what is tried as often as there are rounds


def sweep(names, kinds, rounds, seed, some=0):
    """The test: these commands under these kinds of what lasts, all rows of each or only some, which the seed draws."""
    if faults.watched():
        tap.skip_all('a sanitizer watches the program, which has allocators and exits of its own')
    home = tap.home()
    tracer, of_c = faults.build(home, 'calls.c'), faults.build(home, 'functions.c', '-shared', '-fPIC')
    is_cut = fault_commands.prepare(home + '/files', tracer)
    for name in names:
        if name == 'doctor':
            continue    # which says what there is
        if name == 'train resume' and not is_cut:
            tap.skip(name, 'this system traces no program here')
            continue
        case = faults.Case(name, home, home + '/files', of_c)
        case.out_steady &= not re.search(rb'\d s\b', case.out)  # a busy machine shows what a quick one rounds away
        trial = Lasting(home, tracer, of_c, random.Random('%d %s' % (seed, name)), some)
        for kind in kinds:
            tries = [trial.all(case, kind) for _ in range(rounds if kind in DRAWN else 1)]
            if sum(t for t, _ in tries):
                tap.none([w for _, wrong in tries for w in wrong], '%s: %d times, %s' % (
                    name, sum(t for t, _ in tries), kind))
            else:
                tap.skip('%s, %s' % (name, kind), 'nothing of what was drawn can be tried here')
