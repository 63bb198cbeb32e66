#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The colours of curves, of the gallery on a light and on a dark ground, of reports and of their page: those who see two
# primaries only (t/reports/colourblind.py) tell any two of them apart, and all of them from the ground.
import itertools
import os
import re
import sys

sys.dont_write_bytecode = True
TOP = os.path.abspath(os.environ.get('srcdir', '.'))
sys.path[:0] = [TOP + '/t/tool', TOP + '/t/reports']
import colourblind as eye
import tap

KINDS = (None, *eye.KINDS)
# Oklab's distance of two colours that one just tells apart side by side is about 0.02. Thin lines and small marks that
# do not touch take more; with it a palette of six in one mode of sight has no pair of one hue and one lightness.
APART = 0.055


def text(name):
    with open(os.path.join(TOP, name), encoding='utf-8') as f:
        return f.read()


def near(colours, limit=APART):
    """Pairs that are closer than that to somebody."""
    found = []
    for (one, x), (other, y) in itertools.combinations(colours.items(), 2):
        for kind in KINDS:
            d = eye.apart(eye.seen(x, kind), eye.seen(y, kind))
            if d < limit:
                found.append('%s %s and %s %s: %.3f to %s' % (one, x, other, y, d, kind or 'everybody'))
    return found


# The simulation: greys stay, and a red and a green of one lightness become one for who lacks the middle cones, alone
wrong = [(k, row) for k, m in eye.KINDS.items() for row in m if abs(sum(row) - 1) > 2e-6]
tap.none(wrong, 'greys stay as they are')
tap.ok(all(eye.seen(c, k) == c for c in ('#000000', '#FFFFFF', '#7F7F7F') for k in KINDS), 'black, white and grey')
pair = {'red': '#C0504D', 'green': '#7F7F1E'}
said = near(pair)
tap.ok(len(said) == 1 and 'deutan' in said[0], 'a red and a green of one lightness are found', said)
tap.ok(abs(eye.apart('#000000', '#FFFFFF') - 1) < 1e-4
       and eye.recoloured('<a fill="#C0504D"/> rgb(192, 80, 77)', 'protan')
       == '<a fill="%s"/> %s' % (2 * (eye.seen('#C0504D', 'protan'),)), 'distances and drawings')

style = text('reports/gallery/gallery-style.gp')
names = ('blue', 'purple', 'teal', 'cyan', 'indigo', 'olive', 'wine')
two = {n: re.search(r"\b%s = dark \? '(#\w{6})' : '(#\w{6})'" % n, style) for n in (*names, 'ink', 'soft', 'ground')}
if tap.none([n for n, m in two.items() if not m], 'the gallery has each colour for both grounds'):
    for ground, k in (('a light', 2), ('a dark', 1)):
        colours = {n: two[n][k] for n in (*names, 'ink')}
        tap.none(near(colours), 'the gallery on %s ground: any two of %d colours' % (ground, len(colours)))
        faint = [n for n in colours if eye.apart(colours[n], two['ground'][k]) < 0.2]
        tap.none(faint, 'and each from the ground')
runs = re.findall(r'#\w{6}', re.search(r'^array hue\[8\] = .*$', text('reports/style.gp'), re.M)[0])
tap.none(near({'run %d' % (i + 1): c for i, c in enumerate(runs)}), 'the curves of %d runs in a report' % len(runs))
shown = [c.upper() for c in re.findall(r'\.run-\d \{ --run: (#\w{6})', text('reports/page/page.css'))]
tap.ok(shown[:8] == [c.upper() for c in runs], 'their page has the same colours', [shown, runs])
history = text('reports/history/history.css')
for k, ground in enumerate(('a light', 'a dark')):
    tap.none(near({n: re.findall(r'--%s: (#\w{6})' % n, history)[k] for n in ('heat', 'calm')}),
             'a history on %s ground' % ground)
tap.finish()
