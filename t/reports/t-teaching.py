# SPDX-License-Identifier: Apache-2.0
# t-teaching.py [--write]: doc/teaching/README.md holds commands and what they print. Every command runs, in one folder,
# and prints what the page says (seconds in brackets aside); --write fills the page in. Every figure that the page names
# is in the gallery.
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ.get('srcdir', '.'), 't', 'tool'))
sys.dont_write_bytecode = True
import tap

page = os.path.join(tap.TOP, 'doc', 'teaching', 'README.md')
write = '--write' in sys.argv
if not shutil.which(os.environ.get('GNUPLOT') or 'gnuplot'):
    tap.skip_all('gnuplot is absent')
home = tap.home()
environment = dict(os.environ, PATH=home + '/bin:' + os.environ['PATH'])
os.mkdir(home + '/bin')
os.symlink(tap.HALFULP, home + '/bin/halfulp')


def printed(command):
    p = subprocess.run(['bash', '-c', command], cwd=home, env=environment, stdin=subprocess.DEVNULL,
            capture_output=True, text=True)
    text = (p.stdout + p.stderr).rstrip('\n')
    return p.returncode, [re.sub(r' +\(\d+\.\d s\)$', '', line).rstrip() for line in text.split('\n') if line.strip()]


lines, out, inside, at = open(page, encoding='utf-8').read().split('\n'), [], False, 0
commands = 0
while at < len(lines):
    line = lines[at]
    at += 1
    out.append(line)
    if line == '```':
        inside = not inside
    if not inside or not line.startswith('$ '):
        continue
    said = []
    while lines[at] != '```' and not lines[at].startswith('$ '):
        said.append(lines[at].rstrip())
        at += 1
    code, now = printed(line[2:])
    out += now
    commands += 1
    if not write:
        tap.ok(code == 0 and now == said, line[2:], ['it prints: ' + x for x in now] + ['the page says: ' + x
                for x in said])
if write:
    open(page, 'w', encoding='utf-8').write('\n'.join(out))
text = '\n'.join(lines)
tap.ok(len(re.findall(r'^## \d\.', text, re.M)) == 8 and text.count('*Answer.*') == 8 and commands >= 20,
        'eight exercises with their answers')
gallery = re.findall(r'^PICTURE\("([^"]+)"', open(tap.TOP + '/reports/gallery/gallery.def',
        encoding='utf-8').read(), re.M)
named = set(re.findall(r'`([a-z]+(?:-[a-z]+)+)`', text.partition('## A lecture')[2])) | {w
        for m in re.findall(r'halfulp figures (.*) --out', text) for w in m.split() if '-' in w
        and not w.startswith('--')}
tap.none(sorted(named - set(gallery)), 'every figure that the page names is in the gallery')
tap.ok(len(named) > 20, 'and it names most of them')
tap.finish()
