# SPDX-License-Identifier: Apache-2.0
# The same drawing as SVG: every row has the digits of the text's row, columns stand one under the other and side by
# side, weights above the columns that the text has them above, and everything lies on the canvas.
import glob
import os
import re
import tempfile

from independent.number import FORMATS

from tap import halfulp

from .panel import explain

RAISED = str.maketrans('⁰¹²³⁴⁵⁶⁷⁸⁹⁻', '0123456789-')


def elements(path):
    """Cells (x and y of their middles, digit), heads (label, x, whether it ends there) with their y, cells' width
    and the canvas's."""
    text = open(path, encoding='utf-8').read()
    cells = [(float(x), float(y), '·') for x, y in re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', text)]
    heads = []
    for x, y, size, rest, what in re.findall(
        r'<text x="([\d.-]+)" y="([\d.]+)" font-size="(\d+)" ([^>]*)>([^<]*)</text>', text
    ):
        if what in ('0', '1') and 'middle' in rest and size == '19':
            cells.append((float(x), float(y) - 19 * 0.36, what))
        elif re.fullmatch('2[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+', what):
            heads.append(('2^' + what[1:].translate(RAISED), float(x), 'text-anchor="end"' in rest, float(y)))
    widths = [float(w) for w in re.findall(r'<rect x="[\d.]+" y="[\d.]+" width="([\d.]+)" height="[\d.]+" rx', text)]
    fills = [
        (float(y), float(x), fill)
        for x, y, w, fill in re.findall(
            r'<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="[\d.]+" rx="\d+" fill="([^"]*)"', text
        )
        if float(w) == max(widths)
    ]
    canvas = re.search(r'<svg [^>]*width="(\d+)" height="(\d+)"', text)
    return cells, heads, widths, sorted(fills), float(canvas[1]), float(canvas[2])


def rows_of(cells):
    """Cells by row, top down, each from left to right."""
    rows = {}
    for x, y, digit in cells:
        rows.setdefault(round(y), []).append((x, digit))
    merged = []
    for y in sorted(rows):
        if merged and y - merged[-1][0] <= 1:
            merged[-1][1].extend(rows[y])
        else:
            merged.append((y, rows[y]))
    return [(y, sorted(r)) for y, r in merged]


def svg(*words):
    """Problems of the SVG that goes with the text."""
    with tempfile.TemporaryDirectory(prefix='halfulp-test-') as folder:
        path = os.path.join(folder, 'd.svg')
        parts, wrong = explain(*words, '-o', path)
        cells, heads, widths, fills, width, height = elements(path)
    panels = [p for title, body in parts for p in body if not isinstance(p, str)]
    rows = rows_of(cells)
    want = [(p, r) for p in panels for r in p.rows]
    if len(rows) != len(want):
        return wrong + ['%s: %d rows of cells there, %d here' % (words, len(rows), len(want))]
    pitch = max(set(widths), key=widths.count) + 2  # the legend has patches of its own
    for p in panels:
        mine, rows = rows[:len(p.rows)], rows[len(p.rows):]
        for (y, row), r in zip(mine, p.rows):
            if [d for x, d in row] != r.digits:
                wrong.append(
                    '%s %s: %s there, %s here' % (p.heading, r.label, ''.join(d for x, d in row), ''.join(r.digits))
                )
        x = [c[0] for c in mine[0][1]]
        if any(abs(a - c[0]) > 0.11 for y, row in mine for a, c in zip(x, row)):
            wrong.append('%s: columns are not one under the other' % p.heading)
        for i, (a, b) in enumerate(zip(x, x[1:])):
            close = p.cells[i + 1] - p.cells[i] == 1
            if abs(b - a - pitch) > 0.11 if close else b - a < pitch + 5:
                wrong.append('%s: columns %d and %d are %.1f apart' % (p.heading, i, i + 1, b - a))
        if x[0] < pitch or x[-1] > width - pitch or mine[-1][0] > height - 20:
            wrong.append('%s: cells from %.1f to %.1f on %.0f' % (p.heading, x[0], x[-1], width))
        if p.heading == 'As stored':  # sign, exponent and significand have a colour each
            bits, ebits = FORMATS[words[words.index('--format') + 1]][:2]
            for y, row in mine:
                colours = [f for fy, fx, f in fills if 0 < y - fy < pitch]
                want = [colours[0]] + [colours[1]] * ebits + [colours[-1]] * (bits - 1 - ebits)
                if colours != want or len(set(colours)) != 3:
                    wrong.append('%s: fields are coloured %s' % (words, colours))
        above = [h for h in heads if 0 < mine[0][0] - h[3] < 60]
        named, found = {}, 0
        for m in re.finditer(r'2\^-?\d+', p.heads):
            named[m[0]] = {i for i, c in enumerate(p.cells) if c in (m.start(), m.end() - 1)}
        for label, at, ends, y in above:
            edges = [(a + pitch / 2 - 2 if ends else a - pitch / 2 + 2) for a in x]
            i = min(range(len(x)), key=lambda k: abs(edges[k] - at))
            found += label in named
            if abs(edges[i] - at) > 0.2 or label in named and i not in named[label]:
                wrong.append(
                    '%s: %s stands above column %d, in the text above %s' % (p.heading, label, i, named.get(label))
                )
        if found < len(named) / 2:
            wrong.append('%s: heads %s there, %s in the text' % (p.heading, above, named))
    return wrong


def slides(*words):
    """Problems of an expression's slides, an operation each, each 16:9, with the command below all else on it."""
    wrong = []
    with tempfile.TemporaryDirectory(prefix='halfulp-test-') as folder:
        r = halfulp('calc', '--explain', '--step', '-o', os.path.join(folder, 'd.svg'), *words)
        files = sorted(glob.glob(os.path.join(folder, '*.svg')))
        for path in files:
            text = open(path, encoding='utf-8').read()
            width, height = map(float, re.search(r'viewBox="0 0 (\d+) (\d+)"', text).groups())
            *lines, command = [float(y) for y in re.findall(r'<text x="[\d.-]+" y="([\d.]+)"', text)]
            boxes = [
                float(y) + float(h)
                for y, h in re.findall(r'<rect x="[\d.]+" y="([\d.]+)" width="[\d.]+" height="([\d.]+)"', text)
            ]
            if not (max(lines + boxes) + 23.9 <= command <= height - 27.5 and abs(width * 9 / 16 - height) < 1):
                wrong.append(
                    '%s: %gx%g, the command at %g below %g'
                    % (os.path.basename(path), width, height, command, max(lines + boxes))
                )
    return wrong + ([] if r.returncode == 0 and len(files) > 1 else [(r.returncode, len(files), r.stderr)])
