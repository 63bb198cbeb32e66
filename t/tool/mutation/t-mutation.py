# SPDX-License-Identifier: Apache-2.0
# The tables of mutation name what is there, lines are judged by the tests that run them, and every change that is known
# to be none would otherwise be made.
import fnmatch
import glob
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import time

top = os.path.abspath(os.environ.get('srcdir', '.'))
sys.path.insert(0, os.path.join(top, 't', 'tool'))
from mutation import builder as of_builder  # noqa: E402
from mutation import known, python, reach, rules, sources  # noqa: E402
from mutation.kernels import Kernels  # noqa: E402
from mutation.python_builder import PythonBuilder  # noqa: E402
from tap import finish, home, none  # noqa: E402


for name in [*sources.FOLDERS, 'python']:
    of = python.Python(top, name) if name == 'python' else sources.Sources(top, name)
    mutants = [len(some) for u in of.units() for f, some in of.mutations(u, 1, 1)]
    none(
        [] if len([n for n in mutants if n]) > 100 else [len(mutants)],
        '%s: %d functions have mutations' % (name, len([n for n in mutants if n])),
    )

# A test in parts has those that it takes as arguments; what was measured of a file holds for it when it was edited
of_parts = {name: reach.parts(top, name) for name, _, _ in reach.PARTS}
none(
    [n for n, p in of_parts.items() if not p or not os.path.exists(os.path.join(top, n))],
    'tests with parts: %d' % sum(map(len, of_parts.values())),
)
folder = home()
write = lambda text: open(os.path.join(folder, 'a.c'), 'w').write(text)
ran = {'t/cheap': (0.1, [2, 5]), 't/dear': (9, [2, 3, 6]), 't/other': (1, [])}
with gzip.open(os.path.join(folder, reach.KEPT), 'wt') as f:
    json.dump(
        {
            'tests': {t: {'seconds': s, 'ran': {'a.c': lines}} for t, (s, lines) in ran.items()},
            'lines': {'a.c': [2, 3, 5, 6]},
            'text': {'a.c': 'a\nb\nc\nd\ne\nf\n'},
        },
        f,
    )
for text, wanted in (
    (
        'a\nb\nc\nd\ne\nf\n',
        {1: [], 2: ['t/cheap', 't/dear'], 3: ['t/dear'], 4: ['t/dear'], 5: ['t/cheap'], 6: ['t/dear']},
    ),
    ('new\na\nb\nc\nd\nanother\nf\n', {2: [], 3: ['t/cheap', 't/dear'], 4: ['t/dear'], 5: ['t/dear'], 7: ['t/dear']}),
):
    write(text)
    judges = reach.Reach(folder, folder).judges
    none(
        ['%d: %s' % (n, judges('a.c', n)) for n, tests in wanted.items() if judges('a.c', n) != tests],
        'a line is judged by the tests that run it, the cheapest first: %d lines' % len(wanted),
    )
none(
    [
        p
        for p in sources.LEFT_OUT
        if not any(
            fnmatch.fnmatch(os.path.relpath(os.path.join(d, f), top), p)
            for folder in ('lib', 'trainer', 'analyzers', 'cuda')
            for d, _, names in os.walk(os.path.join(top, folder))
            for f in names
        )
    ],
    'files that are left out are there',
)

# What gives memory back alone is left to the sanitizers, and so is a text's room; what does anything else is not
BODY = [
    ('for (int i = 0; i < n; i++)', 0), ('\tfree(x[i]);', 0), ('if (st != HU_OK)', 0), ('\thu_a_release(a);', 0),
    ('snprintf(out, size - n, "]");', 0), ('snprintf(out + n, size, "]");', 1), ('for (int i = 0; i < n; i++)', 1),
    ('\tuse(x);', 0), ('for (int i = 0; i < n; i++) '
                       '{', 0), ('\tfree(x[i]);', 0), ('\tif (x)', 0), ('\t\tfree(y[i]);', 0),
    ('}', 0), ('for (int i = 0; i < n; i++) '
               '{', 1), ('\tfree(x[i]);', 0), ('\tuse(x);', 0), ('}', 0), ('if (a && (st = b) != '
                                                                           'HU_OK)', 1), ('\thu_a_release(a);', 0),
]  # fmt: skip
write('static void\nf(void)\n{\n' + ''.join('\t%s\n' % x for x, _ in BODY) + '}\n')
(_, lines), = rules.functions(folder, 'a.c')
found = {m[1] - 3 for m in rules.candidates(folder, 'a.c', rules.SOURCES, rules.WORDS, lines)}
wrong = [x for i, (x, changes) in enumerate(BODY) if changes != (i in found)]
none(wrong, 'lines that only give memory back are not changed, nor is the room for a text')

# Of Python: each token that has another meaning, none of what is said to people, and the module of the sources stays
TEXT = """def f(a, b=2):
    'One word and another.'
    if a is None and b == 1:
        raise ValueError('no, %d' % (b + 1))
    return [x - 1 for x in a if x in b]
"""
open(os.path.join(folder, 'a.py'), 'w').write(TEXT)
made = ['%d %s' % (m[1] + 1, m[5]) for m in python.candidates(folder, 'a.py', python.functions(TEXT)[0][1])]
wanted = ['3 if not', '3 is not', '3 or', '3 !=', '3 2', '5 +', '5 2', '5 if not', '5 not in']
none([] if made == wanted else [' | '.join(made)], 'Python is changed token by token: %d changes' % len(wanted))
build = os.path.join(folder, 'build')
os.makedirs(build)
open(build + '/Makefile', 'w').write('')
os.environ['PYTHONPATH'] = ''
builder = PythonBuilder(folder, build)
of = [m for m in python.candidates(folder, 'a.py') if m[1] == 4 and m[5] == '+'][0]
none([] if not builder.compile('a.py', of)[0] and not builder.same('a.py', 'a.py') else ['it is the same'],
     'a changed module is another one')
of_builder.IDLE = 3
at = time.time()
some = [builder.shell(c)[0] for c in ('sleep 60 & wait', 'for k in $(seq 400000); do :; done; true', 'sleep 1; exit 7')]
none([] if some == [of_builder.STILL, 0, 7] and time.time() - at < 40 else [str(some)],
     'what waits and computes nothing is ended, what computes or waits a moment is not')
CALL = 'import sys; sys.path.insert(0, %r); import a; print(a.f([3], [3]))'
run = lambda where, env: subprocess.run(
    [sys.executable, '-B', '-c', CALL % where], env=env, capture_output=True, text=True, check=True).stdout
said = [run(folder, env) for env in (os.environ, builder.env)]
none([] if said == ['[2]\n', '[4]\n'] else said, 'it is read in the place of the one in the sources')
env = dict(builder.env, HALFULP_MUTATION_LINES=build, HALFULP_MUTATION_OTHER='')
os.makedirs(os.path.join(folder, 'python'))
shutil.copy(os.path.join(folder, 'a.py'), os.path.join(folder, 'python'))
run(os.path.join(folder, 'python'), env)
counted = [json.load(open(f)).get('python/a.py') for f in glob.glob(build + '/*.lines')]
none([] if counted == [[1, 3, 5]] else counted, 'and the lines that are run are counted')

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
    which = (rules.KERNELS, rules.SPREAD) if file.endswith(('.cu', '.cuh')) else (rules.SOURCES, rules.WORDS)
    some = python.candidates(top, file) if file.endswith('.py') else rules.candidates(top, file, *which)
    made = [lines[n][:a] + new + lines[n][b:] for _, n, a, b, _, new in some]
    if not any(part in line for line in made):
        wrong.append('%s: nothing makes %r' % (file, part))
    if not re.search(r'\w+ \w+ \w+', why):
        wrong.append('%s: no reason: %r' % (file, why))
none(wrong, '%d known changes: each would be made, and has its reason' % len(every))
finish()
