# SPDX-License-Identifier: Apache-2.0
# calc --step: a picture an operation, of 16:9, and one that says how far the whole expression is off, as Python's
# fractions have it; --style talk is light on dark, to be read; what is refused leaves no picture.
import glob
import math
import os
import re
import struct
import sys
from fractions import Fraction

sys.dont_write_bytecode = True
TOP = os.path.abspath(os.environ.get('srcdir', '.'))
sys.path[:0] = [TOP + '/t/tool']
import tap
from tap import none, ok

home = tap.home()


def fp16(x):
    """The nearest fp16 number, ties to even."""
    return struct.unpack('<e', struct.pack('<e', float(x)))[0]


def run(*words):
    for old in glob.glob(home + '/*.svg'):
        os.remove(old)
    p = tap.halfulp('calc', *words, cwd=home)
    names = sorted(os.path.basename(f) for f in glob.glob(home + '/*.svg'))
    return p, names, [open(home + '/' + n, encoding='utf-8').read() for n in names]


def luminance(colour):
    parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    return sum(w * (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4)
            for w, c in zip((0.2126, 0.7152, 0.0722), parts))


def contrast(a, b):
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


p, names, svgs = run('(1+2^-11)*3/7', '--format', 'fp16', '-o', 's.svg', '--step')
ok(p.returncode == 0 and names == ['s-%02d.svg' % k for k in (1, 2, 3, 4)], 'three operations and the whole', names)
ok(p.stdout.endswith('\ns-01.svg to s-04.svg: a slide for each operation, and the last one of the whole\n'),
   'whose names are told', p.stdout)
titles = [re.search('<title>(.*?)</title>', s)[1] for s in svgs]
a = fp16(1 + Fraction(1, 2048))
b = fp16(Fraction(a) * 3)
c = fp16(Fraction(b) / 7)
exact = (1 + Fraction(1, 2048)) * 3 / 7
ulps = abs(Fraction(c) - exact) / Fraction(2) ** (math.floor(math.log2(exact)) - 10)
STEPS = ['1 + 0.0004883 = 1', '1 × 3 = 3', '3 ÷ 7 = 0.4285']
ok([t.split(' in ')[0] for t in titles[:3]] == STEPS and c == 0.428466796875,
   'the operations in turn', titles)
m = re.fullmatch(r'\(1\+2\^-11\)\*3/7 is ([\d.]+) ulp off in fp16: computed 0.4284667969, exactly ([\d.]+)', titles[3])
ok(m and m[1] == '%.5g' % float(ulps) and abs(Fraction(m[2]) - exact) < Fraction(1, 10 ** 20),
   'the last: how far the whole is off',
   [titles[3], float(ulps)])
texts = re.findall('<text[^>]*>([^<]*)</text>', svgs[3])
ok([t[8:] for t in texts if t.startswith('Step ')] == STEPS
   and 'The exact value rounded once would be %.10g.' % fp16(exact) in texts, 'and it lists the steps', texts)


def bits(svg, label):
    """The digits of the row with that label, up to the line."""
    row = svg[svg.index('>%s</text>' % label):]
    return ''.join(re.findall(r'>([01])</text>', row[:row.index('<path')]))


digits = int(Fraction(c) * 2 ** 12)
ok(bits(svgs[3], 'result') == format(digits, 'b') and bits(svgs[3], 'exact') == format(int(exact * 2 ** 12), 'b'),
   'bits of both', [bits(svgs[3], 'result'), format(digits, 'b')])


def faults(svg):
    """Boxes outside of the canvas, and texts of too little contrast to the ground."""
    w, h = map(float, re.search('viewBox="0 0 (\\S+) (\\S+)"', svg).groups())
    wide, high = re.search('width="(\\d+)" height="(\\d+)"', svg).groups()
    ground = re.search('<rect width="100%" height="100%" fill="(#......)"', svg)[1]
    wrong = [] if abs(w / h - 16 / 9) < 0.003 and (wide, high) == ('1280', '720') else ['%g by %g' % (w, h)]
    for x, y, size, font, fill, more, text in re.findall(r'<text x="([\d.]+)" y="([\d.]+)" font-size="(\d+)" '
            r'font-family="(\w+)[^"]*" fill="(#......)"([^>]*)>([^<]*)<', svg):
        # Helvetica: wide letters weigh little in a long line
        long = len(text) * float(size) * (0.61 if font == 'DejaVu' else 0.5 if len(text) > 30 else 0.56)
        left = float(x) - (long if '"end"' in more else long / 2 if '"middle"' in more else 0)
        inside = left > 0 and left + long < w + 1 and float(size) < float(y) < h
        on_bit = text in '01' and '"middle"' in more
        wrong += [] if inside and (on_bit or contrast(fill, ground) >= 4.5) else [(text, left, left + long, fill)]
    return wrong


both = []
for style, dark in (('print', False), ('talk', True)):
    p, names, svgs = run('sqrt(2)*(1-2^-9)+0.1', 'sum(1,2,0.3)', '--format', 'bf16,e4m3', '-o', 'x.svg', '--step',
            '--style', style)
    both.append(re.sub('#[0-9a-f]{6}|--style talk ', '', ''.join(svgs)))
    ground = re.search('<rect width="100%" height="100%" fill="(#......)"', svgs[0])[1]
    ok(len(names) == 2 * (4 + 1) + 2 * (1 + 1) and (luminance(ground) < 0.05) == dark,
       '--style %s: ground and pictures' % style,
       [names, ground])
    none([f for s in svgs for f in faults(s)], '--style %s: slides of 16:9, every text inside and to be read' % style)
ok(both[0] == both[1], 'the styles differ in colours alone')
p, names, svgs = run('1+1', '--format', 'fp16', '-o', 'x.svg', '--step')
ok('1+1 is exact in fp16: the value computed is 2' in svgs[-1], 'an exact expression is called so', names)

# README's slide, as the line in doc/figures.md makes it
page = open(TOP + '/doc/figures.md', encoding='utf-8').read()
line = re.search(r"calc '(.*?)' (--format bf16 -o slide.svg --step --style talk)\n", page)
p, names, svgs = run(line[1], *line[2].split())
ok(len(names) == 4 and svgs[-1] == open(TOP + '/doc/teaching/slide.svg', encoding='utf-8').read(),
   'the slide in README is what its line makes')

for words, why in ((['1+1', '--step'], '--step has no effect without -o FILE.svg'),
        (['1+1', '--style', 'talk'], '--style has no effect'),
        (['1+1', '-o', 'x.svg', '--style', 'pale'], 'none of print, talk'),
        (['1+1', '-o', 'x.pdf', '--step'], '-o x.pdf: calc has no picture'),
        (['fp16(1)+1', '-o', 'x.svg', '--step'], 'leave out the cast')):
    p, names, svgs = run(*words)
    ok(p.returncode == 2 and why in p.stderr and p.stderr.count('\n') == 1 and not names,
       'refused: calc ' + ' '.join(words), [p.stderr, names])
tap.finish()
