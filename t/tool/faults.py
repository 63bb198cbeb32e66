# SPDX-License-Identifier: Apache-2.0
# Runs commands of halfulp while one allocation (t/stub/allocations.c), one call of the C library (t/stub/functions.c)
# or one system call (t/stub/calls.c) fails, and judges what is left: the exit code says that it failed, standard error
# has one line, no file under a final name is new and different from what the command writes, no temporary file stays;
# and a command that ends well has said and written what it says and writes without a fault.
import os
import re
import shlex
import shutil
import struct
import subprocess
import sys

import tap
from fault_commands import COMMANDS, MORE, environment, prepare
from fault_files import begun, same, tree
from tap import HALFULP, TOP, bail_out, skip_all

SLOWER = ('3', '7')     # how many times faster the clock goes for a command whose times are looked for
SECONDS = 60        # a command that takes longer with a fault than so is said to hang


def compiler():
    return shlex.split(os.environ.get('CC', 'cc'))


def compiled(folder, source, *flags):
    """t/stub/SOURCE as a program or library in the folder: its path, '' where it is not compiled, and why it is not."""
    path = os.path.join(folder, source.replace('.c', ''))
    p = subprocess.run([*compiler(), '-O1', '-I', TOP, *flags, '-o', path, os.path.join(TOP, 't/stub', source), '-ldl'],
                       capture_output=True, text=True)
    return '' if p.returncode else path, (p.stderr.strip().splitlines() or ['?'])[-1]


def build(folder, source, *flags):
    """As compiled(), but skips the test where that is not possible here."""
    path, why = compiled(folder, source, *flags)
    if not path:
        skip_all('t/stub/%s is not compiled here: %s' % (source, why))
    return path


def watched():
    """Whether a sanitizer watches the program, which then has allocators and exits of its own."""
    return b'__asan_init' in open(HALFULP, 'rb').read()


REMOVES = re.compile('unlink|nftw|rmdir')    # where that fails, what it would remove stays
# They start processes, each of which may lack memory and say so
STARTERS = ('gate', 'gate files', 'gate summary', 'compare')


class Case:
    """A command, what it does without a fault, and a folder that it works in."""
    def __init__(self, name, home, files, clock='', line=''):
        self.name, self.words = name, shlex.split(line or (COMMANDS | MORE)[name])
        self.files, self.folder, self.report = files, os.path.join(home, 'work'), os.path.join(home, 'report')
        self.code, self.out, err, self.after = self.run([HALFULP])
        if self.code not in (0, 1):
            bail_out('%s: exit %d: %s' % (name, self.code, err))
        self.before = tree(files)
        self.steady, self.out_steady = {p: True for p in self.after}, True
        for seconds in SLOWER:      # times that a file or the output tells differ where the program is slower
            again = self.run([HALFULP], **({'LD_PRELOAD': clock, 'FAULT_SLOWER': seconds} if clock else {}))
            for p, data in self.after.items():
                now = again[3].get(p, b'')
                if self.steady[p] is not False and now != data:
                    self.steady[p] = None if same(now, data, None) else False
            self.out_steady &= again[1] == self.out

    def run(self, before, **more):
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(self.files, self.folder)
        if os.path.exists(self.report):     # what a shim counts in all processes of the command
            os.remove(self.report)
        try:
            p = subprocess.run(before + self.words, cwd=self.folder, env=environment(**more),
                               stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS)
            code, out, err = p.returncode, p.stdout, p.stderr
        except subprocess.TimeoutExpired:
            code, out, err = 'hang', b'', b''
        return code, out, err.decode(errors='replace'), tree(self.folder)

    def judge(self, code, out, err, files, codes, killed=False, most_lines=1):
        """What is wrong with how a run with a fault ended, as a list of sentences."""
        wrong, goes_on = [], False
        lines = [x for x in err.splitlines() if x and not x.startswith('libgomp: ')]
        if self.name == 'compare' and not lines:    # what it says of trainings that ended without a word
            lines = [x for x in out.decode().splitlines() if 'training failed with exit code' in x]
        most_lines = max(most_lines, 2) if self.name == 'compare' else most_lines     # it starts two trainings
        for path, data in files.items():
            if path.endswith('halfulp.lock'):
                continue    # it names the process that last held it
            known = [t[path] for t in (self.before, self.after) if path in t]
            if re.search(r'\.tmp\.\d+$|\.npy\.part$|\.new\.\d+/', path) and data != self.before.get(path):
                if not killed:
                    wrong.append('%s stays' % path)
            elif path not in self.before and path not in self.after:
                wrong.append('%s is no file of this command' % path)
            elif not any(same(data, k, self.steady.get(path, False)) for k in known):
                if code not in (self.code, 'hang') and not killed and (
                        b'nothing was judged' in data or (path == 'g.md' and not data)):
                    continue    # a document for a CI job, which says why there is no verdict
                if self.name == 'compare' and code == 4 and re.match('both/(compare|parts/)', path):
                    goes_on = True      # it says which runs the machine let fail
                    continue
                grows = self.steady.get(path) is False or self.name.startswith('bench')     # saved row by row
                if not grows or path not in self.after or not begun(data, self.after[path]):
                    wrong.append('%s holds something else' % path)
        if killed:
            return wrong
        if goes_on:
            bad = brought_back(self, files)
            wrong += ['it is not gone on with: ' + bad] if bad else []
        if code == self.code:
            if not same(out, self.out, self.out_steady):
                wrong.append('exit %s, and standard output is another one' % code)
            missing = set(self.after) - set(files)
            changed = [p for p in self.after if p in files and not same(files[p], self.after[p], self.steady[p])]
            if missing or changed:
                wrong.append('exit %s without %s' % (code, ' '.join(sorted([*missing, *changed])[:3])))
        elif code not in codes:
            wrong.append('exit %s (%s)' % (code, ' | '.join(err.splitlines()[-2:])[:200]))
        elif not 1 <= len(lines) <= most_lines or len(lines[0]) < 20:
            wrong.append('%d lines on standard error: %s' % (len(lines), ' | '.join(lines)[:200]))
        return wrong


def chosen(count, most):
    """At most `most` of the numbers 1 to count: each of the first and the last, and others as evenly."""
    if count <= most:
        return list(range(1, count + 1))
    ends = most // 4
    between = [ends + 1 + (count - 2 * ends - 1) * k // (most - 2 * ends) for k in range(most - 2 * ends)]
    return sorted({*range(1, ends + 1), *between, *range(count - ends + 1, count + 1)})


def allocations(case, library, caller, most, onwards=False):
    """Lets each chosen allocation of the caller's fail. Returns how many there are, how many were tried, and what was
    wrong."""
    how = dict(LD_PRELOAD=library, FAULT_CALLER=caller, FAULT_REPORT=case.report)
    if onwards:      # and with OpenMP's settings left to the program, which then starts itself once more
        how.update(FAULT_ONWARDS='1', OMP_WAIT_POLICY='')
    case.run([HALFULP], FAULT_AT='0', **how)
    count = struct.unpack('<2q', open(case.report, 'rb').read())[0]
    tried, wrong = 0, []
    for n in chosen(count, most):
        end = case.run([HALFULP], FAULT_AT=str(n), **how)
        failed = struct.unpack('<2q', open(case.report, 'rb').read())[1]
        if not failed:
            continue        # a fault elsewhere in time: fewer were asked for than when they were counted
        tried += 1
        wrong += ['%s: allocation %d of %d (%s): %s' % (case.name, n, count, caller, w)
                  for w in case.judge(*end, codes=(4,), most_lines=2 if onwards and case.name in STARTERS else 1)]
    return count, tried, wrong


def functions(case, library, most, only=None):
    """Lets chosen calls fail that the program makes of the C library, at most so many of each function (of those in
    `only`); `clock` goes back. Returns how many calls there are, how many were tried, and what was wrong."""
    names = subprocess.run([HALFULP], env=environment(LD_PRELOAD=library, FAULT_FUNCTION='list'), capture_output=True,
                           text=True).stdout.split()
    how = dict(LD_PRELOAD=library, FAULT_REPORT=case.report)

    def read():
        return struct.unpack('<%dq' % (len(names) + 1), open(case.report, 'rb').read())

    case.run([HALFULP], FAULT_AT='0', **how)
    counts, tried, wrong = [n if not only or name in only else 0 for name, n in zip(names, read())], 0, []
    for name, count in zip(names, counts):
        for n in chosen(count, most):
            end = case.run([HALFULP], FAULT_FUNCTION=name, FAULT_AT=str(n), **how)
            if read()[-1]:
                tried += 1
                wrong += ['%s: %s, call %d of %d: %s' % (case.name, name, n, count, w)
                          for w in case.judge(*end, codes=(4,))
                          if not (end[0] and REMOVES.search(name) and 'stays' in w)]
    return sum(counts), tried, wrong


def calls(case, tracer, names, how, most):
    """Lets each chosen system call fail in the way `how`. Returns as allocations() does."""
    codes = (2, 3, 4) if how.startswith('EACCES') else (4,)
    killed = how.startswith('kill')

    def one(n):
        end = case.run([tracer, case.report, names, str(n), how, HALFULP])
        count, failed, what = open(case.report).read().split(None, 2)
        return end, int(count), int(failed), what.strip()

    end, count, _, _ = one(0)
    if end[0] == 77:
        return None, 0, []
    tried, wrong = 0, []
    for n in chosen(count, most):
        end, _, failed, what = one(n)
        if not failed:
            continue
        tried += 1
        bad = case.judge(*end, codes=codes, killed=killed)
        if '/.new.' in what and end[0] and bad and all('/.new.' in w and w.endswith(' stays') for w in bad):
            gone = brought_back(case, tree(case.folder))    # what could not be removed goes with the next command
            bad = ['then ' + gone] if gone else []
        wrong += ['%s: call %d of %d, %s: %s: %s' % (case.name, n, count, how, what.replace(case.folder, '.'), w)
                  for w in bad]
    return count, tried, wrong


# What is done after a command was killed, where it is not the command itself
AGAIN = {'train': ['train --resume new'], 'train resume': ['train --resume cut'],
         'compare': [MORE['compare'] + ' --resume'],
         'gate': ['train --resume gated', 'gate --baseline base.tsv --quiet gated']}
KILLED_AT = 'write,fsync,rename,unlink,close,open,mkdir'


def resumed(case, files):
    """The lines that are typed after the command was killed, and at last the command itself where they do not do."""
    lines = AGAIN.get(case.name, []) if case.name != 'gate' or 'gated/manifest.json' in files else []
    return [shlex.split(line) for line in lines]


def brought_back(case, files):
    """Runs the command again in its folder after it was killed. Returns what is wrong then."""
    end = None
    for words in [*resumed(case, files), case.words]:
        if words is case.words and end and not end.returncode:
            break
        end = subprocess.run([HALFULP, *words], cwd=case.folder, env=environment(), stdin=subprocess.DEVNULL,
                             capture_output=True, timeout=SECONDS)
    after = {p: d for p, d in tree(case.folder).items() if not p.endswith('halfulp.lock')}
    want = {p: d for p, d in case.after.items() if not p.endswith('halfulp.lock')}
    for path in after:
        if path.endswith('.part') and path in want:     # its rows stand in the order in which they were computed
            after[path], want[path] = (b''.join(sorted(x.splitlines(True))) for x in (after[path], want[path]))
    bad = [p for p in sorted({*after, *want})
           if p not in after or p not in want or not same(after[p], want[p], case.steady.get(p, False))]
    if end.returncode == case.code and not bad:
        return ''
    return 'exit %d, %s: %s' % (end.returncode, ' '.join(bad[:4]), end.stderr.decode(errors='replace')[-200:].strip())


def killed_at_random(case, tracer, names, most, draw):
    """Kills the command before random calls of these, at least so often, every second time the command that brings it
    back as well, and runs it again. Returns as calls() does, the number of kills in the second place."""
    case.run([tracer, case.report, names, '0', 'kill', HALFULP])
    if not os.path.exists(case.report):
        return None, 0, []
    count, done, wrong = int(open(case.report).read().split()[0]), 0, []

    def told():
        _, failed, what = open(case.report).read().split(None, 2)
        return int(failed), what.strip().replace(case.folder, '.')

    while done < most and len(wrong) < 20:
        at, again = draw.randint(1, count), draw.randint(1, count)
        files = case.run([tracer, case.report, names, str(at), 'kill', HALFULP])[3]
        failed, what = told()
        done += failed
        if done % 2:
            words = [*resumed(case, files), case.words][0]
            subprocess.run([tracer, case.report, names, str(again), 'kill', HALFULP, *words], cwd=case.folder,
                           env=environment(), stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS)
            failed, more = told()
            done, what = done + failed, what + (' and %d, %s' % (again, more) if failed else '')
        bad = brought_back(case, tree(case.folder))
        wrong += ['%s: killed at call %d of %d, %s: %s' % (case.name, at, count, what, bad)] if bad else []
    return count, done, wrong


def kills(case, tracer, most, names=KILLED_AT):
    """Kills the command before each chosen call of these and runs it again. Returns as calls() does."""
    case.run([tracer, case.report, names, '0', 'kill', HALFULP])
    if not os.path.exists(case.report):
        return None, 0, []
    count = int(open(case.report).read().split()[0])
    tried, wrong = 0, []
    for n in chosen(count, most):
        code, _, _, files = case.run([tracer, case.report, names, str(n), 'kill', HALFULP])
        _, failed, what = open(case.report).read().split(None, 2)
        if failed == '0':
            continue
        tried += 1
        bad = brought_back(case, files)
        if bad:
            wrong.append('%s: killed at call %d of %d, %s, and run again: %s' % (
                case.name, n, count, what.strip().replace(case.folder, '.'), bad))
    return count, tried, wrong


FEW = ('mmap', 'readdir', 'fgets')      # functions of the C library whose calls fail in the short sweep, too

# Which calls fail how: what a failing disk, a full one, too many open files and a signal at the wrong time do.
CALLS = [('open,read,dents,mmap,fstat', 'EIO'), ('open', 'EMFILE'), ('open,read,fstat', 'EDQUOT'),
         ('write,fsync,rename,ftruncate,mkdir', 'ENOSPC'),
         ('write,read', 'short')]
MORE_CALLS = [('write,fsync,rename,close,unlink,seek,flock,fallocate', 'EIO'),
              ('open,read,write,fsync,flock,wait', 'EINTR'), ('say', 'ENOSPC'), ('say', 'EPIPE'), ('say', 'EINTR'),
              ('say', 'short'), ('process', 'EAGAIN'), ('ask', 'EACCES'), ('ask', 'EIO')]


def sweep_all(most, more=False):
    """The test: every command, every kind of fault, at most so many points of each; `more`: of all that there are."""
    if watched():
        tap.skip_all('a sanitizer watches the program, which has allocators and exits of its own')
    home = tap.home()
    print('# at most %d points of each kind of fault in each command (FAULTS_MOST)' % most, flush=True)
    library, tracer = build(home, 'allocations.c', '-shared', '-fPIC'), build(home, 'calls.c')
    of_c = build(home, 'functions.c', '-shared', '-fPIC')
    is_cut = prepare(home + '/files', tracer)
    for name in (COMMANDS | MORE if more else COMMANDS):
        if name == 'train resume' and not is_cut:
            tap.skip(name, 'this system traces no program here')
            continue
        case = Case(name, home, home + '/files', of_c)
        for caller in ('program', 'library'):
            count, tried, wrong = allocations(case, library, caller, most)
            tap.none(wrong, '%s: %d of %d allocations of the %s fail' % (name, tried, count, caller))
        count, tried, wrong = allocations(case, library, 'any', max(2, most // 3), onwards=True)
        tap.none(wrong, '%s: %d of %d, and all that follow' % (name, tried, count))
        count, tried, wrong = functions(case, of_c, max(1, most // (20 if more else 2)), None if more else FEW)
        if count:
            tap.none(wrong, '%s: %d of %d calls of the C library fail, some of each function' % (name, tried, count))
        for names, how in CALLS + (MORE_CALLS if more else []):
            count, tried, wrong = calls(case, tracer, names, how, most)
            if count is None:
                tap.skip('%s: %s, %s' % (name, names, how), 'this system traces no program here')
            elif count:
                tap.none(wrong, '%s: %d of %d calls %s: %s' % (name, tried, count, names, how))
        count, tried, wrong = kills(case, tracer, 100, 'rename') if name.startswith('train') else (0, 0, [])
        if count:
            tap.none(wrong, '%s: killed before %d of %d renames, and run again' % (name, tried, count))
        count, tried, wrong = kills(case, tracer, most) if name != 'gate summary' else (0, 0, [])   # it appends
        if count:
            tap.none(wrong, '%s: killed at %d of %d calls, and run again' % (name, tried, count))


if __name__ == '__main__':
    # faults.py NAMES HOW MOST: for whoever looks for faults by hand. HOW: program, library, any, functions, kills, or
    # CALLS:ERROR.
    home = os.path.abspath('faults-home')
    shutil.rmtree(home, ignore_errors=True)
    os.makedirs(home)
    library, tracer = build(home, 'allocations.c', '-shared', '-fPIC'), build(home, 'calls.c')
    of_c = build(home, 'functions.c', '-shared', '-fPIC')
    prepare(home + '/files', tracer)
    for name in COMMANDS | MORE if sys.argv[1] == 'all' else sys.argv[1].split(','):
        case = Case(name, home, home + '/files', of_c)
        for how in sys.argv[2].split(';'):
            if how == 'kills':
                found = kills(case, tracer, int(sys.argv[3]))
            elif how == 'functions':
                found = functions(case, of_c, int(sys.argv[3]))
            elif how.startswith('functions='):
                found = functions(case, of_c, int(sys.argv[3]), how[10:].split('+'))
            elif ':' in how:
                found = calls(case, tracer, *how.split(':'), int(sys.argv[3]))
            else:
                found = allocations(case, library, how.rstrip('+'), int(sys.argv[3]), how.endswith('+'))
            print(name, how, found[0], 'counted', found[1], 'tried', len(found[2]), 'wrong', flush=True)
            for w in found[2][:40]:
                print('   ', w, flush=True)
