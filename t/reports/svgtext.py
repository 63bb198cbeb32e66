# SPDX-License-Identifier: Apache-2.0
# Where the texts of gnuplot's SVG stand: boxes in pixels, from the widths of DejaVu Sans, which is wider than most
# fonts.
import re
import xml.etree.ElementTree as xml

SVG = '{http://www.w3.org/2000/svg}'
PLAIN = [int(x) for x in '''32 40 46 84 64 95 78 27 39 39 50 84 32 36 32 34 64 64 64 64 64 64 64 64 64 64 34 34 84 84 84 53 100 68 69 70 77
63 58 77 75 29 29 66 56 86 75 79 60 79 69 63 61 73 68 99 69 61 69 39 34 39 84 50 50 61 63 55 63 62 35 63 63 28 28 58 28 97 63 61 63 63 41 52
39 63 59 82 59 59 52 64 34 64 84'''.split()]
BOLD = [int(x) for x in '''35 46 52 84 70 100 87 31 46 46 52 84 38 42 38 37 70 70 70 70 70 70 70 70 70 70 40 40 84 84 84 58 100 77 76 73 83
68 68 82 84 37 37 77 64 100 84 85 73 85 77 72 68 81 77 110 77 72 73 46 37 46 84 50 50 67 72 59 72 68 44 72 71 34 34 67 34 104 71 69 72 72 49
60 48 71 65 92 65 65 58 71 37 71 84'''.split()]
RAISED = '⁰¹²³⁴⁵⁶⁷⁸⁹'


def width(text, size, bold):
    table = BOLD if bold else PLAIN
    hundredths = sum(table[ord(c) - 32] if 32 <= ord(c) < 127 else 40 if c in RAISED + '·⁻' else 22
            if c == '\u202f' else 75 for c in text)
    return hundredths * size / 100


def plain(page):
    """A page with its powers of ten, 1.5·10⁻⁷, as programs write them, 1.5e-07, and signs and infinities at the start
    of a text likewise."""
    digits = lambda s: s.translate(str.maketrans(RAISED + '⁻', '0123456789-'))
    page = re.sub('>(−?)(∞|(?=[0-9]))', lambda m: '>' + m[1].replace('−', '-') + m[2].replace('∞', 'inf'), page)
    return re.sub('·10(⁻?[%s]+)' % RAISED, lambda m: 'e%+03d' % int(digits(m[1])), page)


class Text:
    def __init__(self, words, box, size):
        self.words, self.box, self.size = words, box, size

    def meets(self, other):
        a, b = self.box, other.box
        return a[0] < b[2] - 1 and b[0] < a[2] - 1 and a[1] < b[3] - 1 and b[1] < a[3] - 1


# Returns the canvas (width, height) and all texts.
def read(path):
    root = xml.parse(path).getroot()
    canvas = [float(x) for x in root.get('viewBox').split()[2:]]
    texts = []
    for g in root.iter(SVG + 'g'):
        node = g.find(SVG + 'text')
        if node is None:
            continue
        x, y = [float(v) for v in re.search(r'translate\(([-\d.]+),([-\d.]+)\)', g.get('transform')).groups()]
        turned = re.search(r'rotate\((-?[\d.]+)\)', g.get('transform'))
        size = float(g.get('font-size'))
        words, long, least, rise, lowest = '', 0, size, 0, 0
        if node.text and node.text.strip():     # text without marks
            words = node.text.strip()
            long = width(words, size, False)
        for span in node.iter(SVG + 'tspan'):
            own = float(span.get('font-size', size))
            rise += float(span.get('dy', '0').replace('px', ''))
            if not span.text:
                continue
            text = span.text.strip() if span is node[0] else span.text
            words += text
            long += width(text, own, 'bold' in (span.get('font-weight') or ''))
            if rise == 0:
                least = min(least, own)
        if not words.strip():
            continue
        left = {'start': 0, 'middle': -long / 2, 'end': -long}[g.get('text-anchor')]
        box = (x + left, y - 0.76 * size, x + left + long, y + 0.22 * size)
        if turned and float(turned[1]) in (90, 270, -90):
            up = float(turned[1]) != 90
            box = (x - 0.76 * size, y - left - long, x + 0.22 * size, y - left) if up else (x - 0.22 * size,
                    y + left, x + 0.76 * size, y + left + long)
        texts.append(Text(words, box, least))
    return canvas, texts


# Returns the faults of a drawing: texts outside the canvas, on one another, or smaller than `least` pixels.
def faults(path, least):
    canvas, texts = read(path)
    wrong = []
    for i, t in enumerate(texts):
        x0, y0, x1, y1 = t.box
        if x0 < -1 or y0 < -1 or x1 > canvas[0] + 1 or y1 > canvas[1] + 1:
            wrong.append('"%s" reaches from (%.0f, %.0f) to (%.0f, %.0f), beyond the canvas of %g x %g' % (t.words,
                    x0, y0, x1, y1, *canvas))
        if t.size < least:
            wrong.append('"%s" is %.1f pixels high, %g are needed' % (t.words, t.size, least))
        wrong += ['"%s" lies on "%s"' % (t.words, o.words) for o in texts[i + 1:] if t.meets(o)]
    return wrong, len(texts)


# The colours of a drawing, as #RRGGBB.
def colours(path):
    text = open(path, encoding='utf-8').read()
    return {'#%02X%02X%02X' % tuple(int(v) for v in c) for c in re.findall(r'rgb\(\s*(\d+),\s*(\d+),\s*(\d+)\)', text)}
