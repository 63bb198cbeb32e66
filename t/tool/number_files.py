#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The files of the library of number formats for other programs, as lines of lib/number/local.mk: the headers that
# include/halfulp/number.h needs, and the sources of these. A source is X.c beside a header X.h that a file of the
# library includes; and one without such a header that is in the folder of blocks or of bulk conversions, or that
# includes nothing else.
import os
import re
import sys

os.chdir(sys.argv[1] if len(sys.argv) > 1 else '.')
PUBLIC = 'include/halfulp/number.h'


def includes(path):
    with open(path, encoding='utf-8') as f:
        return [x for x in re.findall(r'^#include "([\w/.]+)"', f.read(), re.M) if os.path.exists(x)]


def reached(start, follow):
    """The files that those of START lead to, by what FOLLOW gives for each."""
    seen, left = set(), list(start)
    while left:
        path = left.pop()
        if path not in seen:
            seen.add(path)
            left += follow(path)
    return seen


def with_source(path):
    source = path[:-2] + '.c'
    return includes(path) + ([source] if path.endswith('.h') and os.path.exists(source) else [])


shown = reached([PUBLIC], includes) - {PUBLIC}
needed = reached([PUBLIC], with_source)
for folder, _, names in os.walk('lib/number'):
    for name in names:
        path = os.path.join(folder, name)
        whole = folder in ('lib/number/block', 'lib/number/bulk')
        header = path[:-2] + '.h'
        if not name.endswith('.c') or re.search(r'_avx\d+\.c$', name):
            continue
        if os.path.exists(header) and header not in needed:
            continue
        if whole or set(includes(path)) <= needed:
            needed |= reached([path], with_source)
for path in sorted(x for x in needed if x.endswith('.c')):
    print('lib/number/local.mk libhalfulp_number_a_SOURCES += ' + path)
for path in sorted(shown):
    print('lib/number/local.mk nobase_numbertree_HEADERS += ' + path)
