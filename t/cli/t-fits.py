#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Tables fit a terminal of 80 columns: what the commands of t/golden/outputs print on such a terminal, as t-help-pages
# holds the examples of help. One table is also printed on a real terminal, which says its width by itself, and lists
# what it left out.
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
import columns
import tap

spec = importlib.util.spec_from_file_location('outputs', tap.TOP + '/t/golden/t-outputs.py')
outputs = importlib.util.module_from_spec(spec)
spec.loader.exec_module(outputs)

known = re.findall(r'^COMMAND\((.*)\)$', open(tap.TOP + '/commands.def').read(), re.M)
# Commands that later ones of a topic need; of all others those that only programs read are not run
WRITES = re.compile(r'[>;&]|^(?!halfulp )|^halfulp (train|analyze|baseline|compare)\b|'
                    r' (-o|--out\S*|--elements|--record)\b')


MORE = [
    'halfulp doctor',
    'halfulp validate examples/digits.onnx --list',
    'halfulp validate examples/digits.onnx --data examples/digits.npz --policy fp16 --sensitivity',
    'halfulp validate examples/digits.onnx --data examples/digits.npz --policy fp16 --against examples/digits.onnx',
]
fits = columns.Fits()


def run(place, text, of):
    if fits.judged(text) or WRITES.search(text):
        fits.see(text, [line[2:] for line in place.run(text) if line.startswith('  ')], of)


def topics():
    for topic in sorted(f[:-4] for f in os.listdir(outputs.folder) if f.endswith('.txt')):
        place = outputs.Place()
        place.env['COLUMNS'] = str(columns.WIDTH)
        for c in outputs.read(os.path.join(outputs.folder, topic + '.txt'))[0]:
            run(place, c.text, topic)
        place.close()


def on_terminal(width, *words):
    """What a command prints on a terminal of so many columns."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
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
    place.env['COLUMNS'] = str(columns.WIDTH)
    os.symlink(tap.TOP + '/examples', place.work + '/examples')
    for text in MORE:
        run(place, text, 'here')
    place.close()


topics()
others()
ran = [c for c in known if fits.ran.get(c)]
tap.ok(len(ran) > 14, '%d commands of %d print what is held here' % (len(ran), len(known)), ran)
for c in ran:
    tap.none(fits.wide.get(c, []), '%s: %d of them fit %d columns' % (c, fits.ran[c], columns.WIDTH))
narrow, broad = on_terminal(80, 'formats'), on_terminal(200, 'formats')
left = re.search(r'^(\d+) columns are left out to fit 80: .*\.$', narrow, re.M)
heads = [len(re.split(r'  +', t.split('\n')[0].strip())) for t in (narrow, broad)]
tap.ok(max(map(len, narrow.split('\n'))) <= 80 and left and heads[0] + int(left[1]) == heads[1],
       'a terminal of 80 columns: %d of %d, and %s are told' % (*heads, left and left[1]))
tap.ok(max(map(len, broad.split('\n'))) > 80 and 'left out' not in broad, 'and one of 200 has them all')
tap.finish()
