#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Every option that a page, a help text, a refusal, a package or the fuzzer's list of specs names is one of a command's
# table (doc/defaults.md, which t-defaults holds to --help), or one of another program that is named here.
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tool'))
from tap import TOP, finish, none, ok  # noqa: E402

PLACES = ['lib', 'cuda', 'trainer', 'analyzers', 'reports', 'doc', 'python', 'halfulp.c', 'README.md',
          'CONTRIBUTING.md', 't/fuzz/specs.txt']
ENDS = ('.c', '.h', '.cu', '.cc', '.def', '.md', '.txt', '.py', '.sh', '.yml', '.inc')
OPTION = re.compile(r'(?<![\w-])--([a-z][a-z0-9]+(?:[_-][a-z0-9]+)*)(?![\w-])')
OTHERS = {
    'every command': 'help version max-memory',
    'configure': 'with-cuda with-cuda-arch with-mpi enable-asan enable-werror enable-static-check',
    'mpirun': 'allow-run-as-root bind-to map-by oversubscribe',
    'Slurm': 'array cpus-per-task dependency exclusive job-name mpi nodes ntasks ntasks-per-node requeue time wrap',
    'curl, git, tar, pkg-config': 'retry depth strip-components cflags libs',
    'pytest': 'numerics-update',
    'scripts of t/ and bench/': 'bundle dry from go jobs measure svg times update write',
    'text about options': 'name option',
}


def of_tables(text):
    """The names in the second column of doc/defaults.md."""
    return set(re.findall(r'^\| [\w ]+ \| `--([a-z][a-z0-9-]*)', text, re.M))


def named(path, text):
    """The options that a text names: of C, the strings and comments alone, where -- is no decrement."""
    if path.endswith(('.c', '.h', '.cu', '.cc', '.def', '.inc')):
        text = '\n'.join(re.findall(r'"(?:[^"\\\n]|\\.)*"|/\*.*?\*/', text, re.S))
    return set(OPTION.findall(text))


def sources():
    for place in PLACES:
        path = os.path.join(TOP, place)
        if os.path.isfile(path):
            yield place, path
        for at, _, names in os.walk(path):
            for name in sorted(names):
                if name.endswith(ENDS):
                    yield os.path.relpath(os.path.join(at, name), TOP), os.path.join(at, name)


with open(os.path.join(TOP, 'doc', 'defaults.md'), encoding='utf-8') as f:
    ours = of_tables(f.read())
others = {name for names in OTHERS.values() for name in names.split()}
wrong, seen, files = [], set(), 0
for place, path in sources():
    with open(path, encoding='utf-8', errors='replace') as f:
        here = named(place, f.read())
    files += 1
    seen |= here
    wrong += ['%s: --%s' % (place, name) for name in sorted(here - ours - others)]
none(wrong, 'every option that %d files name is in a table' % files)
none(sorted(others & ours), 'no option of another program hides one of ours')
none(sorted(name for name in ours - seen if len(name) > 1), 'every option of a table is named')
ok(len(ours) > 100 and files > 1000, 'the tables and the files were found: %d options, %d files' % (len(ours), files))
ok(named('a.c', 'for (; --top; ) say("--ghost %d", /* --spectre */ 1);') == {'ghost', 'spectre'},
   'a string and a comment are read, and a decrement is none')
finish()
