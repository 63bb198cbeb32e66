#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Sentences that can be read in one go: none of the commands' help has more than 30 words, none of the pages more than
# 40. A sentence ends with a full stop, a semicolon, a colon, a question or exclamation mark; lists of options, tables,
# commands and what is in fences are none.
import glob
import os
import re
import sys

sys.dont_write_bytecode = True
TOP = os.path.abspath(os.environ.get('srcdir', '.'))
sys.path.insert(0, TOP + '/t/tool')
from tap import finish, halfulp, ok  # noqa: E402

HELP, PAGE = 30, 40
# A line that starts a paragraph of its own: of a list, an option with its text, an example.
OWN = re.compile(r'\s*([-*+] |\d+\. |\$ |  \S+.*\S {2,}\S|-\S)')


def sentences(lines):
    text, out = '', []
    for line in lines + ['']:
        if not line.strip() or OWN.match(line):
            out.append(text)
            text = ''
        text += ' ' + line.strip()
    return [s for p in out + [text] for s in re.split(r'(?<=[.:;?!])\s+', p)]


def long(lines, most):
    return [s for s in sentences(lines) if len(s.split()) > most]


def prose(page):
    text = re.sub(r'```.*?```|<!--.*?-->', '', open(page).read(), flags=re.S)
    return [line if not re.match(r'\||#|    \S|<', line) else '' for line in text.split('\n')]


rows = re.findall(r'^COMMAND\((\w+)\)', open(TOP + '/commands.def').read(), re.M)
for name in rows:
    page = halfulp('help', name, '--all').stdout
    # from behind the options on: what the command does and what it prints, in sentences
    told = re.split(r'\noptions:.*?\n\n', page, maxsplit=1, flags=re.S)[-1]
    bad = long([line if not re.search(r'\S {2,}\S', line) else '' for line in told.split('\n')], HELP)
    ok(not bad, 'help %s: no sentence has more than %d words' % (name, HELP), '\n'.join(bad))
for page in ['README.md', 'INSTALL.md', 'CONTRIBUTING.md'] + sorted(glob.glob('doc/*.md', root_dir=TOP)):
    bad = long(prose(os.path.join(TOP, page)), PAGE)
    ok(not bad, '%s: no sentence has more than %d words' % (page, PAGE), '\n'.join(bad))
ok(long(['One ' + 'word ' * 30 + 'more.'], 30) and not long(['A word. ' * 40], 30), 'a long sentence is seen')
finish()
