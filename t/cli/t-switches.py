#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# A switch over names has no silent default: it lists every name, so that the compiler reports a row that was
# forgotten, or its default refuses, or a comment beside the default says which names are meant. Defaults of switches
# over characters are exempt.
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tool'))
from tap import TOP, finish, none, ok  # noqa: E402

HOUSE = ['lib', 'cuda', 'trainer', 'analyzers', 'reports']
SOURCES = ('.c', '.h', '.cu', '.cuh', '.cc', '.inc')
# The defaults of headers that nearly every file includes, and which names each means.
MEANT = {'lib/number/format.h': 'formats described by their names, and no format', 'lib/number/round.h': 'RZ'}
REFUSES = re.compile(r'HU_ASSERT\(|hu_fail\(|return HU_E[A-Z]+;')


def silent(lines):
    """The numbers, from 1, of lines with a default that neither refuses nor says what is meant."""
    found = []
    for i, line in enumerate(lines):
        if not re.match(r'\s*default:', line):
            continue
        indent = re.match(r'\s*', line).group()
        before = next((x for x in reversed(lines[:i]) if x.startswith(indent + 'case ')), '')
        if "case '" in before or '/*' in line or REFUSES.search(line):
            continue
        found.append(i + 1)
    return found


def sources():
    for folder in HOUSE:
        for at, _, names in os.walk(os.path.join(TOP, folder)):
            yield from (os.path.join(at, name) for name in sorted(names) if name.endswith(SOURCES))


wrong, defaults = [], 0
for path in sources():
    with open(path, encoding='utf-8') as f:
        lines = f.read().split('\n')
    defaults += sum(bool(re.match(r'\s*default:', line)) for line in lines)
    wrong += ['%s:%d: list the names, refuse, or say in a comment which are meant' % (os.path.relpath(path, TOP), n)
              for n in silent(lines)[os.path.relpath(path, TOP) in MEANT:]]
none(wrong, 'no default of a switch over names is silent (%d defaults)' % defaults)
ok(defaults > 20, 'the defaults were found')
ok(silent(['\tcase HU_A: return 1;', '\tdefault: return 0;']) == [2], 'a silent default would be seen')
ok(not silent(["\tcase 'a': return 1;", '\tdefault: return 0;', '\tcase HU_A: break;',
               '\tdefault: HU_ASSERT(!"none");', '\tcase HU_A: break;', '\tdefault: /* HU_B */']),
   'a default over characters, one that refuses and one that says what is meant are none')
finish()
