#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# A summation model is a file and a row: every row of sums.def has its file, which has every column that sums need; no
# other file chooses by the names of models; help and the error for an unknown name list every model.
import os, re, sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tool'))
from tap import TOP, finish, halfulp, none, ok  # noqa: E402

NEEDED = ['words', 'run', 'bound', 'roundings']
BEHIND = {'NOTHING': '', 'LENGTH': ':N', 'ARCH': ':ARCH', 'RANKS': ':N', 'NODES': ':N:G', 'SLICES': ':N',
          'INTEGERS': ''}


def text(path):
    with open(os.path.join(TOP, path), encoding='utf-8') as f:
        return f.read()


def chosen_by_name():
    for folder in ('lib', 'cuda', 'trainer', 'analyzers', 'reports'):
        for at, _, names in os.walk(os.path.join(TOP, folder)):
            for name in names:
                if name.endswith(('.c', '.h', '.inc', '.cu', '.cuh')):
                    path = os.path.relpath(os.path.join(at, name), TOP)
                    for i, line in enumerate(text(path).split('\n'), 1):
                        if re.search(r'case HU_SUM_[A-Z]', line):
                            yield '%s:%d: %s' % (path, i, line.strip())


rows = re.findall(r'^SUM\((\w+), (\w+), (\w+), (\w+)\)$', text('lib/sum/sums.def'), re.M)
ok(len(rows) >= 16 and len(set(rows)) == len(rows), 'sums.def has %d models' % len(rows))
for _, name, takes, result in rows:
    body = text('lib/sum/model/%s.c' % name)
    needed = NEEDED + ['ranks'] * (result == 'WIRE') + ['lengths'] * (takes == 'LENGTH')
    lacks = [c for c in needed + ['bound_of', 'unit'] * (result == 'UNIT')
             if not re.search(r'^\t\.%s = ' % c, body, re.M)]
    none(lacks, 'lib/sum/model/%s.c has every column that its sums need' % name)
files = {f[:-2] for f in os.listdir(os.path.join(TOP, 'lib/sum/model')) if f.endswith('.c')}
ok(files == {r[1] for r in rows}, 'and every file there has a row')
none(list(chosen_by_name()), 'no other file has a switch over the names of models')
wrong = halfulp('accumulate', '--sum', 'nothing').stderr
help_text = halfulp('accumulate', '--help').stdout
for _, name, takes, _ in rows:
    ok(re.search(r'[ ,]%s%s[,\n]' % (name, BEHIND[takes]), wrong), 'the error for an unknown model names %s' % name)
    ok(re.search(r'\b%s\b' % name, help_text), 'and so does the help of accumulate')
finish()
