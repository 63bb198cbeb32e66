# SPDX-License-Identifier: Apache-2.0
# The table of doc/reliability.md is what tests say of themselves: a line "Promise: …" at the head of a test is a row of
# it, with the test's name. t-reliability.py --update writes the table anew.
import os
import re
import sys

sys.dont_write_bytecode = True
TOP = os.path.abspath(os.environ.get('srcdir', os.path.join(os.path.dirname(os.path.abspath(__file__)), '../..')))
sys.path.insert(0, os.path.join(TOP, 't/tool'))
PAGE = os.path.join(TOP, 'doc/reliability.md')
HEAD = '| promised | held by | in |\n| --- | --- | --- |\n'


def promises():
    """The rows of the table: what is promised, the test, and which suite runs it."""
    rows = []
    for folder, _, names in os.walk(os.path.join(TOP, 't')):
        for name in sorted(names):
            if not re.fullmatch(r'[tux]-[a-z0-9-]+\.(c|sh|py)', name):
                continue
            path = os.path.join(folder, name)
            head = open(path, encoding='utf-8').read(4000)
            head = re.sub(r'\n(?:#|  ) ?(?=[a-z(])', ' ', head)   # a sentence goes on in the next line
            for found in re.findall(r'^(?:#|  ) *Promise: (.*?\.)(?=\n|\s*\*/|$)', head, re.M):
                suite = 'check-expensive' if name.startswith('x-') else 'check'
                rows.append((' '.join(found.split()), os.path.relpath(path, TOP), suite))
    return sorted(rows, key=lambda r: (r[1].split('/')[1], r[1]))


def table():
    return HEAD + ''.join('| %s | `%s` | %s |\n' % row for row in promises())


def written():
    page = open(PAGE, encoding='utf-8').read()
    at = page.index(HEAD)
    end = page.find('\n\n', at)
    return page[:at], page[at:end + 1 if end >= 0 else len(page)], page[end + 1:] if end >= 0 else ''


if sys.argv[1:] == ['--update']:
    before, _, after = written()
    open(PAGE, 'w', encoding='utf-8').write(before + table() + after)
    sys.exit()

import tap

before, has, after = written()
rows = promises()
tap.ok(len(rows) >= 8, '%d promises are held by tests' % len(rows))
tap.ok(has == table(), 'doc/reliability.md has them all (t/cli/t-reliability.py --update writes them)',
       [x for x in table().splitlines() if x not in has] + [x for x in has.splitlines() if x not in table()])
tap.none([t for _, t, _ in rows if not os.path.exists(os.path.join(TOP, t))], 'and each test is there')
lists = ''.join(open(os.path.join(folder, 'local.mk')).read() for folder, _, names in os.walk(TOP + '/t')
                if 'local.mk' in names)
tap.none([t for _, t, _ in rows if not re.search(re.escape(re.sub(r'\.c$', '', t)) + r'\n', lists)],
         'and is run by make check or make check-expensive')
tap.finish()
