# SPDX-License-Identifier: Apache-2.0
# Promise: A temporary file that a killed process left is removed by the next command that writes that file, and one
# that another process is writing stays.
# HALFULP names the program.
import fcntl
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
import tap

# Commands that write one file each, and the file
WRITERS = [('calc 0.1 -o c.tsv', 'c.tsv'), ('calc 0.1 -o d.md', 'd.md'), ('plan -o p.tsv', 'p.tsv'),
           ('tree --sum pairwise --n 4 -o t.dot', 't.dot')]
home = tap.home()
os.chdir(home)
for line, name in WRITERS:
    left = ['%s.tmp.%d' % (name, n) for n in (0, 1, 2)]      # of three processes that were writing it
    for path in left:
        open(path, 'w').write('half of ')
    p = tap.halfulp(*line.split())
    tap.ok(p.returncode == 0 and sorted(f for f in os.listdir() if f.startswith(name)) == [name],
           '%s removes what three others left' % line, p.stderr + ' '.join(os.listdir()))
    whole = open(name).read()
    os.remove(name)
    held = [open('%s.tmp.%d' % (name, n), 'w') for n in (0, 1)]
    for f in held:
        f.write('being written')
        f.flush()
        fcntl.flock(f, fcntl.LOCK_EX)
    open(name + '.tmp.2', 'w').write('half of ')
    p = tap.halfulp(*line.split())
    there = sorted(f for f in os.listdir() if f.startswith(name))
    tap.ok(p.returncode == 0 and there == [name, name + '.tmp.0', name + '.tmp.1'] and
           all(open(f.name).read() == 'being written' for f in held), '%s leaves what others are writing' % line,
           p.stderr + ' '.join(there))
    tap.ok(open(name).read() == whole, '%s writes the same beside them' % line)
    for f in held:
        f.close()
tap.finish()
