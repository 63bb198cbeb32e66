# SPDX-License-Identifier: Apache-2.0
# The pages of doc/experiments, or those named: every command prints what the page says that it prints, trainings included. With the
# arguments --update [PAGE...] it writes the answers, and figures, into the pages.
import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tool'))
from page import answer, command_of, read  # noqa: E402
from tap import HALFULP, TOP, finish, home, ok  # noqa: E402

pages = os.path.join(TOP, 'doc', 'experiments')
update = sys.argv[1:2] == ['--update']
named = sys.argv[2 if update else 1 :]
for name in named or sorted(n for n in os.listdir(pages) if n.endswith('.md')):
    folder = os.path.join(home(), name[:-3])
    os.makedirs(folder)
    path = os.path.join(pages, name)
    new = read(path)
    for piece in new:
        if isinstance(piece, list):
            got = answer(command_of(piece), HALFULP, folder)
            if not update:
                ok(got == piece[1], '%s: %s' % (name, piece[0].splitlines()[0][2:80]), got)
            piece[1] = got
    for figure in (f for f in os.listdir(folder) if f.endswith('.svg')):
        if update:
            shutil.copy(os.path.join(folder, figure), pages)
        else:
            same = open(os.path.join(folder, figure)).read() == open(os.path.join(pages, figure)).read()
            ok(same, '%s: %s' % (name, figure))
    if update:
        with open(path, 'w', encoding='utf-8') as f:
            f.write(''.join(p if isinstance(p, str) else ''.join(p) for p in new))
if not update:
    finish()
