#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The first things that anybody sees: README's three commands, each with what it prints on 80 columns standing below it,
# and the screen of the program alone, whose commands are the same. A line "..." in README stands for lines left out.
# README's line for the path finds the program as halfulp, and every page calls it so.
import glob
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
import tap

text = open(tap.TOP + '/README.md', encoding='utf-8').read()
tap.none([line for line in text.split('\n') if len(line) > 100], 'no line of README has more than 100 characters')


def shown(text):
    """The commands of a page that stand behind "$ " in indented blocks, each with the lines below it."""
    for block in re.findall(r'(?:^(?:    .*)?\n)+', text, re.M):
        lines = [line[4:] for line in block.rstrip('\n').split('\n')]
        while lines and not lines[0]:
            lines.pop(0)
        if not lines or not lines[0].startswith('$ '):
            continue
        command = lines.pop(0)[2:]
        while command.endswith('\\'):
            command = command[:-1].rstrip() + ' ' + lines.pop(0).strip()
        yield command, lines


def missing(want, got):
    """The first line of WANT that does not follow in GOT where it should; None where all do."""
    at, gap = 0, False
    for line in want:
        if line == '...':
            gap = True
            continue
        found = [i for i in range(at, len(got) if gap else min(at + 1, len(got))) if got[i] == line]
        if not found:
            return line
        at, gap = found[0] + 1, False
    return None if gap or at == len(got) else '(no more lines, but there is: %s)' % got[at]


# A folder as it is after the build, where the commands find what they name
home = tap.home()
os.chdir(home)
os.symlink(tap.TOP + '/examples', 'examples')
os.mkdir('build')
os.symlink(tap.HALFULP, 'build/halfulp')
found = re.findall(r'^    (export PATH=.*)$', text, re.M)
tap.ok(len(found) == 1, 'README has one line for the path', found)
path = subprocess.run(['bash', '-c', found[0] + '; printf %s "$PATH"'], capture_output=True, text=True).stdout
tap.ok(shutil.which('halfulp', path=path) == home + '/build/halfulp', 'which finds the program that was built', path)
env = dict(os.environ, PATH=path, COLUMNS='80', LC_ALL='C', OMP_WAIT_POLICY='passive', HALFULP_RESULTS='')
commands = list(shown(text))
tap.ok(len(commands) == 3, 'README shows three commands with what they print', commands)
for command, lines in commands:
    p = subprocess.run(['bash', '-c', command], env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    wrong = missing(lines, p.stdout.rstrip('\n').split('\n'))
    tap.ok(wrong is None and not p.stderr, 'README: ' + command, [wrong, p.stderr, p.stdout])
    codes = {'validate': 1, 'check': 0, 'calc': 0} # README says both
    tap.ok(p.returncode == codes[command.split()[1]], 'it exits with %d' % codes[command.split()[1]], p.returncode)
worse = [home + '/build/halfulp', 'check', 'out/int4.npz', '--baseline', 'out/float32.npz', '--rule', '*: sqnr >= 30']
wrong = subprocess.run(worse, capture_output=True)
tap.ok(wrong.returncode == 1, 'and 1 where a rule fails', wrong)

# The program alone
screen = subprocess.run(['halfulp'], env=env, capture_output=True, text=True).stdout
lines = screen.split('\n')
tap.ok(len(lines) <= 25 and max(map(len, lines)) <= 80, 'the first screen has at most 24 lines of 80 columns', screen)
three = [' '.join(c.split()) for c in re.findall(r'^  (halfulp (?:.*\\\n)*.*)', screen, re.M)]
want = [c for c, _ in commands]
three = [' '.join(c.replace('\\', ' ').split()) for c in three]
tap.ok(three == want, 'it has the three commands of README', [three, want])
tap.ok(three and three[0].startswith('halfulp validate'), 'validate is the first')
called = subprocess.run(['build/halfulp'], capture_output=True, text=True).stdout
tap.ok('\n  build/halfulp validate ' in called, 'called by its path, it prints this path', called)
# INSTALL.md says which file the build makes, and jobs of CI services have no path of their own
pages = [p for p in glob.glob('doc/**/*.md', root_dir=tap.TOP, recursive=True) + ['README.md', 'CONTRIBUTING.md']]
lines = ['%s: %s' % (p, line) for p in pages for line in open(os.path.join(tap.TOP, p), encoding='utf-8')
         if re.match(r'\s*(\$ )?(\./)?build/halfulp\b', line)]
tap.none(lines, 'every page calls the program halfulp')
known = re.findall(r'^COMMAND\((.*)\)$', open(tap.TOP + '/commands.def').read(), re.M)
known.remove('merge')  # it ends what --shard begins, and stands in help --all
groups = re.findall(r'^  (?:deploy|guard|train and judge|teach|machine)  +(.*)$', screen, re.M)
named = [c for line in groups for c in line.split()]
tap.ok(sorted(named) == known, 'each command stands in one group', sorted(set(named) ^ set(known)))
for words in (['help', 'help'], ['-V'], ['version'], ['-h'], ['help']):
    p = tap.halfulp(*words)
    want = r'^halfulp \d' if words[0] in ('-V', 'version') else r'halfulp help COMMAND'
    right = p.returncode == 0 and re.search(want, p.stdout, re.M) and not p.stderr
    tap.ok(right, 'halfulp %s answers' % ' '.join(words), [p.stdout, p.stderr])
tap.finish()
