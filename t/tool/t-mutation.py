# SPDX-License-Identifier: Apache-2.0
# The tables of mutation name what is there: every pattern is some file's first, every test exists, every file and
# function has some test, and every change that is known to be none would otherwise be made.
import fnmatch
import os
import re
import sys

top = os.path.abspath(os.environ.get('srcdir', '.'))
sys.path.insert(0, os.path.join(top, 't', 'tool'))
from mutation import known, rules, sources  # noqa: E402
from mutation.kernels import Kernels  # noqa: E402
from tap import finish, none  # noqa: E402


for name, rows in sources.JUDGES.items():
    units = sources.Sources(top, name).units()
    first = {u: next((p for p, _ in rows if fnmatch.fnmatch(u, p)), None) for u in units}
    none(['%s: no file' % p for p, _ in rows if p not in first.values() and p != rows[-1][0]] + [u for u, p in first.items() if not p], '%s: each of %d patterns is some file\'s first' % (name, len(rows)))
    wrong = sorted({t for _, some in rows for t in some if not any(os.path.exists(os.path.join(top, t.partition(' ')[0] + e)) for e in ('', '.c'))})
    none(wrong, '%s: every test that judges is there' % name)
    mutants = [len(some) for u in units for f, some in sources.Sources(top, name).mutations(u, 1, 1)]
    none([] if len([n for n in mutants if n]) > 100 else [len(mutants)], '%s: %d functions have mutations' % (name, len([n for n in mutants if n])))
named = {t.partition(' ')[0] for rows in sources.JUDGES.values() for _, some in rows for t in some} | set(sources.ELSEWHERE)
idle = []
for room in ('trainer', 'analyzers', 'judge'):
    tests = [f for f in sorted(os.listdir(os.path.join(top, 't', room))) if re.match(r'[tu]-.*\.(c|sh|py)$', f)]
    idle += [t for t in ('t/%s/%s' % (room, re.sub(r'\.c$', '', f)) for f in tests) if t not in named]
none(idle, 'every test of the trainer and of analyzers judges some file')
none([p for p in sources.LEFT_OUT if not any(fnmatch.fnmatch(os.path.relpath(os.path.join(d, f), top), p) for folder in ('lib', 'trainer', 'analyzers') for d, _, names in os.walk(os.path.join(top, folder)) for f in names)], 'files that are left out are there')

kernels = Kernels(top)
seen = [kernels.includes(kernels.source(op), []) for op in kernels.units()]
none([] if sum(map(bool, seen)) > len(seen) / 2 else [seen], 'kernels: most include headers, which are mutated too')

every, rules.KNOWN[:] = list(known.KNOWN), []
wrong = []
for file, part, why in every:
    path = os.path.join(top, file)
    if not os.path.exists(path):
        wrong.append('%s is not there' % file)
        continue
    lines = open(path).read().split('\n')
    which = (rules.KERNELS, rules.SPREAD) if file.startswith('cuda/') else (rules.SOURCES, rules.WORDS)
    made = [lines[n][:a] + new + lines[n][b:] for _, n, a, b, _, new in rules.candidates(top, file, *which)]
    if not any(part in line for line in made):
        wrong.append('%s: nothing makes %r' % (file, part))
    if not re.search(r'\w+ \w+ \w+', why):
        wrong.append('%s: no reason: %r' % (file, why))
none(wrong, '%d known changes: each would be made, and has its reason' % len(every))
finish()
