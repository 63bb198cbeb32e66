#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# `halfulp help COMMAND`: every command has a page of at most 24 lines of 80 columns with its usage, a sentence, an
# example, options that it has, and its exit codes. Each example is run here, in one folder, and prints what the page
# shows of it: a line "..." stands for lines left out, and a line that ends in " ..." for one that goes on. The terminal
# has 80 columns, which every table fits.
import os
import re
import shutil
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
import columns
import tap

known = re.findall(r'^COMMAND\((.*)\)$', open(tap.TOP + '/commands.def').read(), re.M)
FOR_PROGRAMS = ('doctor',) # its page shows what programs read, and t-fits.py runs it for people
DRAWS = ('halfulp report runs', 'halfulp figures swamped')   # what gnuplot is needed for
FIRST = ['train', 'validate', 'analyze', 'verify', 'baseline'] # they write what others read
home = tap.home()
os.chdir(home)
os.symlink(tap.TOP + '/examples', 'examples')
os.mkdir('bin')
os.symlink(tap.HALFULP, 'bin/halfulp')
os.mkdir('out')
with open('out/x.npy', 'wb') as f:
    head = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 4), }".ljust(117) + '\n'
    values = struct.pack('<8f', 1, 2, 3, 4, -1, 0, 1, 2)
    f.write(b'\x93NUMPY\x01\x00' + struct.pack('<H', len(head)) + head.encode() + values)
env = dict(os.environ, COLUMNS='80', OMP_WAIT_POLICY='passive', HALFULP_RESULTS='',
    PATH=home + '/bin:' + os.environ['PATH'])


def examples(lines):
    """Each command of a page, a line that ends in a backslash with the next, and the lines below it."""
    found, at = [], 0
    while at < len(lines):
        if lines[at].startswith('$ '):
            command = lines[at][2:]
            while command.endswith('\\'):
                at += 1
                command = command[:-1] + lines[at].strip()
            found.append((command, []))
        elif found and lines[at] and not lines[at].startswith('  --'):
            found[-1][1].append(lines[at])
        elif found:
            break
        at += 1
    return found


def missing(want, got):
    """The first line of WANT that does not follow in GOT where it should; None where all do."""
    at, gap = 0, False
    for line in want:
        if line == '...':
            gap = True
            continue
        same = lambda s: s.startswith(line[:-4]) if line.endswith(' ...') else s == line
        found = [i for i in range(at, len(got) if gap else at + 1) if i < len(got) and same(got[i])]
        if not found:
            return line
        at, gap = found[0] + 1, False
    return None if gap or not want or at == len(got) else 'nothing more, but there is: ' + got[at]


fits = columns.Fits()
seen = missing(['a', '...'], ['b']) == 'a' and missing(['a'], ['a', 'b']) and not missing(['...', 'b'], ['a', 'b'])
tap.ok(seen, 'a line that is not there is seen')
for c in FIRST + [c for c in known if c not in FIRST]:
    page = tap.halfulp('help', c).stdout
    lines = page.rstrip('\n').split('\n')
    wide = [x for x in lines if len(x) > 80]
    tap.ok(len(lines) <= 24 and not wide, 'help %s: %d lines' % (c, len(lines)), wide)
    long = tap.halfulp('help', c, '--all').stdout
    tap.ok(long == tap.halfulp(c, '--help').stdout and '\noptions:\n' in long, 'help %s --all is %s --help' % (c, c))
    has = re.findall(r'^  (--\S+(?: \S+)*?)(?:  +| (?=[a-z]))', long.split('\noptions:\n')[1], re.M)
    named = re.findall(r'^  (--.*?)  ', page, re.M)
    tap.none([o for o in named if o not in has], 'its %d options are those of the command' % len(named))
    codes = re.search(r'^Exit codes: 0 done; .*\.$', page, re.M)
    usage = re.search(r'^usage: halfulp %s( |$)' % c, page, re.M)
    tap.ok(len(named) <= 6 and usage and codes, 'usage, at most six options, exit codes')
    n = len(re.findall(r'^  --', long, re.M)) - 1
    last = 'All %d options, and what they mean: halfulp help %s --all.' % (n, c)
    tap.ok(lines[-1] == last, 'the last line says where all options stand', lines[-1])
    shown = examples(lines)
    tap.ok(len(shown) >= 2, 'help %s has two examples' % c)
    for command, want in shown:
        if command.startswith(DRAWS) and not shutil.which('gnuplot'):
            tap.skip(command, 'gnuplot is absent')
            continue
        p = subprocess.run(['bash', '-c', command], env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        got = p.stdout.rstrip('\n').split('\n') if p.stdout else []
        wrong = missing(want, got)
        why = [wrong, 'exit %d' % p.returncode, p.stderr] + got
        tap.ok(wrong is None and p.returncode in (0, 1), '$ ' + command, why)
        fits.see(re.sub(' +', ' ', command), got, c)
    tap.ok((fits.ran.get(c) or c in FOR_PROGRAMS) and c not in fits.wide,
           'help %s: an example is for people, and fits 80 columns' % c, fits.wide.get(c, 'none is plain'))
p = tap.halfulp('help', 'calc', 'more')
tap.ok(p.returncode == 2 and p.stderr.count('\n') == 1, 'help calc more: exit 2, one line', p.stderr)
tap.finish()
