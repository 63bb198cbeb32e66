#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Tables fit a terminal of 80 columns. Every command of commands.def is run on such a terminal as its help page and
# t/golden/outputs show it; a new command is in this test by itself, since it has a help page. Held are lines of columns,
# which are those with two gaps of two blanks or more: a terminal wraps a sentence, and no table. What programs read
# (JSON, TSV, TAP, pictures) and drawings of bits have no such width. One table is also printed on a real terminal, which
# says its width by itself, and lists what it left out.
import fcntl
import importlib.util
import os
import pty
import re
import struct
import subprocess
import sys
import termios

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
import tap

spec = importlib.util.spec_from_file_location('outputs', tap.TOP + '/t/golden/t-outputs.py')
outputs = importlib.util.module_from_spec(spec)
spec.loader.exec_module(outputs)

WIDTH = 80
# How many commands of t/golden/outputs and the help pages print lines that are wider: none may be added, and whoever
# mends one takes it out.
WIDE = {}
known = re.findall(r'^COMMAND\((.*)\)$', open(tap.TOP + '/commands.def').read(), re.M)
FIRST = ['train', 'validate', 'analyze', 'verify', 'baseline'] # they write what others read
MACHINES = re.compile(r'--(json|tsv|tap|table|export|svg|png|pdf|tex|format (junit|sarif|github|markdown)|explain|curve|step|program|stdout|markdown)\b')
GAP = re.compile(r'\S  +(?=\S)|\t')
PLAIN = re.compile(r'^halfulp (\w+)( [^|;&<>`$]*)?$')


def examples(page):
    """The commands of a help page."""
    text = page.replace('\\\n', ' ')
    return [re.sub(r' +', ' ', line[2:]) for line in text.split('\n') if line.startswith('$ ')]


def shell_words(text):
    """TEXT without what is quoted."""
    return re.sub(r"'[^']*'", 'X', text)


def wide(text):
    return [line for line in text.split('\n') if len(line) > WIDTH]


MORE = [
    'halfulp doctor',
    'halfulp validate examples/digits.onnx --list',
    'halfulp validate examples/digits.onnx --data examples/digits.npz --policy fp16 --sensitivity',
    'halfulp validate examples/digits.onnx --data examples/digits.npz --policy fp16 --against examples/digits.onnx',
]
ran, seen = dict.fromkeys(known, 0), {}


def run(place, text, of):
    """Runs a command; its lines for people are judged."""
    name = PLAIN.match(shell_words(text))
    lines = place.run(text)
    if not name or MACHINES.search(text):
        return
    ran[name[1]] += 1
    for line in lines:
        if line.startswith('  ') and len(line) - 2 > WIDTH and len(GAP.findall(line.strip())) > 1:
            seen.setdefault(name[1], {}).setdefault(text, (of, len(line) - 2, line[2:]))


def pages():
    place = outputs.Place()
    place.env['COLUMNS'] = str(WIDTH)
    place.env['HALFULP_RESULTS'] = ''
    os.symlink(tap.TOP + '/examples', place.work + '/examples')
    os.mkdir(place.work + '/out')
    place.run('npy out/x.npy f4 2x4 1 2 3 4 -1 0 1 2')
    for c in FIRST + [c for c in known if c not in FIRST]:
        for text in examples(tap.halfulp('help', c).stdout):
            run(place, text, 'help ' + c)
    place.close()


def topics():
    for topic in sorted(f[:-4] for f in os.listdir(outputs.folder) if f.endswith('.txt')):
        place = outputs.Place()
        place.env['COLUMNS'] = str(WIDTH)
        for c in outputs.read(os.path.join(outputs.folder, topic + '.txt'))[0]:
            run(place, c.text, topic)
        place.close()


def on_terminal(columns, *words):
    """What a command prints on a terminal of so many columns."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack('HHHH', 24, columns, 0, 0))
    env = {k: v for k, v in os.environ.items() if k != 'COLUMNS'}
    p = subprocess.Popen([tap.HALFULP, *words], stdin=subprocess.DEVNULL, stdout=slave, stderr=slave, env=dict(env, PAGER='cat'))
    os.close(slave)
    text = b''
    while True:
        try:
            more = os.read(master, 65536)
        except OSError:
            break
        if not more:
            break
        text += more
    p.wait()
    os.close(master)
    return text.decode().replace('\r\n', '\n')


def others():
    """Tables that no page shows; and a command whose page shows what programs read."""
    place = outputs.Place()
    place.env['COLUMNS'] = str(WIDTH)
    os.symlink(tap.TOP + '/examples', place.work + '/examples')
    for text in MORE:
        run(place, text, 'here')
    place.close()


pages()
topics()
others()
for c in known:
    tap.ok(ran[c], '%s: %d lines are run' % (c, ran[c]), 'its help page shows no example that is plain')
    bad = seen.get(c, {})
    why = ['%s: %s\n  %d: %s' % (of, text, n, line) for text, (of, n, line) in bad.items()]
    tap.ok(len(bad) == WIDE.get(c, 0), '%s: %d of them print lines of more than %d columns' % (c, len(bad), WIDTH), '\n'.join(why[:6]))
narrow, broad = on_terminal(80, 'formats'), on_terminal(200, 'formats')
left = re.search(r'^(\d+) columns are left out to fit 80: .*\.$', narrow, re.M)
heads = [len(re.split(r'  +', t.split('\n')[0].strip())) for t in (narrow, broad)]
tap.ok(not wide(narrow) and left and heads[0] + int(left[1]) == heads[1], 'a terminal of 80 columns: %d of %d, and %s are told' % (*heads, left and left[1]))
tap.ok(wide(broad) and 'left out' not in broad, 'and one of 200 has them all')
tap.finish()
