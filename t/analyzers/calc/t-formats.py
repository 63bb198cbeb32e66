# SPDX-License-Identifier: Apache-2.0
# Every number of `halfulp formats`: its list, the tables for documents, JSON and the pages, computed again by decoding
# codes as the formats' definitions have them (widths, bias, what the codes beside the numbers are), with fractions.
import json
import os
import re
import subprocess
import sys
from fractions import Fraction as Q

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
from tap import HALFULP, finish, none  # noqa: E402


def run(*words):
    return subprocess.run([HALFULP, 'formats', *words], check=True, stdout=subprocess.PIPE,
                          universal_newlines=True).stdout


def pow2(e):
    return Q(1 << e) if e >= 0 else Q(1, 1 << -e)


def name_of(e):
    return str(1 << e) if 0 <= e < 20 else '2^%d' % e


def same(text, x):
    """TEXT is X: it has 17 digits of it at most, and as many as read back."""
    digits = re.sub(r'e.*|[^\d]', '', text).lstrip('0')
    return float(text) == float(x) and len(digits.rstrip('0')) <= 17


class Format:
    """A format by its widths and kind. bias: of the exponent field; tops: codes above the largest number's, without
    the sign."""

    def __init__(self, name, signed, ebits, m, kind):
        self.name, self.ebits, self.m, self.kind, self.signed = name, ebits, m, kind, signed
        self.bits, self.p = signed + ebits + m, m + 1
        self.bias = (1 << (ebits - 1)) - (0 if kind in ('fnuz', 'p3109', 'p3109u') else 1)
        self.sign = 1 << (self.bits - 1) if signed else 0
        body = (1 << (ebits + m)) - 1  # the largest code of a magnitude
        self.inf = {'ieee': ((1 << ebits) - 1) << m, 'p3109': body, 'p3109u': body - 1}.get(kind)
        self.last = {
            'ieee': (((1 << ebits) - 1) << m) - 1,
            'fn': body - 1,
            'fnuz': body,
            'finite': body,
            'p3109': body - 1,
            'p3109u': body - 2,
            'scale': body - 1,
        }[kind]
        self.nan = {
            'ieee': [(self.inf or 0) + 1, body],
            'fn': [body],
            'fnuz': [1 << (self.bits - 1)],
            'finite': [],
            'p3109': [1 << (self.bits - 1)],
            'p3109u': [body],
            'scale': [body],
        }[kind]
        self.one_nan = {'ieee': (self.inf or 0) | 1 << max(m - 1, 0)}.get(kind, self.nan[0] if self.nan else None)
        self.zero = kind != 'scale'
        self.emin = 1 - self.bias if self.zero else -self.bias
        self.emax = (self.last >> m) - self.bias
        self.max, self.least = self.value(self.last), self.value(1 if self.zero else 0)
        self.normal = pow2(self.emin)
        self.above = 'inf' if self.inf is not None else 'NaN' if self.nan else 'max'

    def value(self, code):
        e, m = code >> self.m, code & ((1 << self.m) - 1)
        if e == 0 and self.zero:
            return Q(m) * pow2(self.emin - self.m)
        return (Q(m) + (1 << self.m)) * pow2(e - self.bias - self.m)

    def hex(self, code):
        return '0x%0*x' % (-(-self.bits // 4), code)

    def nans(self):
        if not self.nan:
            return 'none'
        ranges = (
            [self.nan]
            if self.kind in ('fnuz', 'p3109') or not self.signed
            else [self.nan, [c | self.sign for c in self.nan]]
        )
        if self.kind == 'ieee' and self.nan[0] == self.nan[1]:
            ranges = [r[:1] for r in ranges]
        return ', '.join(' to '.join(self.hex(c) for c in r) for r in ranges)


# name: sign, exponent bits, trailing significand bits, what the codes beside the numbers are
FORMATS = [
    Format(*x)
    for x in (
        ('fp64', 1, 11, 52, 'ieee'),
        ('fp32', 1, 8, 23, 'ieee'),
        ('tf32', 1, 8, 10, 'ieee'),
        ('fp16', 1, 5, 10, 'ieee'),
        ('bf16', 1, 8, 7, 'ieee'),
        ('e4m3', 1, 4, 3, 'fn'),
        ('e5m2', 1, 5, 2, 'ieee'),
        ('fp24', 1, 8, 15, 'ieee'),
        ('e6m9', 1, 6, 9, 'ieee'),
        ('e4m3ieee', 1, 4, 3, 'ieee'),
        ('e3m4', 1, 3, 4, 'ieee'),
        ('e4m3fnuz', 1, 4, 3, 'fnuz'),
        ('e5m2fnuz', 1, 5, 2, 'fnuz'),
        ('e3m2', 1, 3, 2, 'finite'),
        ('e2m3', 1, 2, 3, 'finite'),
        ('e2m1', 1, 2, 1, 'finite'),
        ('e8m0', 0, 8, 0, 'scale'),
    )
]
OTHERS = [
    Format(*x)
    for x in (
        ('binary8p3', 1, 5, 2, 'p3109'),
        ('binary8p3u', 0, 6, 2, 'p3109u'),
        ('e5m7', 1, 5, 7, 'ieee'),
        ('e3m4fn', 1, 3, 4, 'fn'),
        ('e6m5', 1, 6, 5, 'ieee'),
        ('e5m1', 1, 5, 1, 'ieee'),
    )
]


def boxes(f):
    """The drawing of the fields: three lines of a box and the bits' numbers."""
    lines, bit = ['', '', '', ''], f.bits - 1
    for letter, w in (('s', f.signed), ('e', f.ebits), ('m', f.m)):
        if not w:
            continue
        first = not lines[0]
        width = 19 if w > 12 else 3 * w + 1
        lines[0] += ('┌' if first else '┬') + '─' * width
        lines[2] += ('└' if first else '┴') + '─' * width
        inside = ' %s × %d' % (letter, w) if w > 12 else ' ' + ''.join(' %s ' % letter for _ in range(w))
        lines[1] += '│' + inside.ljust(width)
        numbers = '%2d … %d' % (bit, bit - w + 1) if w > 12 else ''.join('%2d ' % (bit - i) for i in range(w))
        lines[3] += ('  ' + numbers).ljust(width + 1)
        bit -= w
    return [lines[0] + '┐', lines[1] + '│', lines[2] + '┘', lines[3]]


def page(f):
    """Problems of a format's page."""
    text, wrong = run(f.name), []
    lines = text.split('\n')

    def said(line, what):
        if line is None or line not in lines:
            wrong.append('%s: %s: no line %r' % (f.name, what, line))

    at = next(i for i, x in enumerate(lines) if x.startswith('  ┌'))
    drawn = [x[2:].rstrip() for x in lines[at : at + 4]]
    if drawn != [x.rstrip() for x in boxes(f)]:
        wrong.append('%s: the fields are drawn as %s, not %s' % (f.name, drawn, boxes(f)))
    said('  %d bits: %ssign, %d of exponent (bias %d), %d of trailing significand; p = %d significant bit%s'
         % (f.bits, '' if f.signed else 'no ', f.ebits, f.bias, f.m, f.p, 's' if f.p > 1 else ''), 'widths')
    said(('  value = m * 2^(e - %d), |m| < 2^%d, %d <= e <= %d' % (f.m, f.p, f.emin, f.emax) if f.m
          else '  value = 2^e, %d <= e <= %d' % (f.emin, f.emax)), 'value')
    range_lines = (
        [('smallest', f.least, 1 if f.zero else 0)]
        + ([('smallest normal', f.normal, 1 << f.m)] if f.m else [])
        + [('1', Q(1), f.bias << f.m), ('largest', f.max, f.last)]
    )
    there = [re.split(r'  +', x.strip()) for x in lines[lines.index('Range') + 1 : lines.index('Precision') - 1]]
    for (what, x, code), row in zip(range_lines, there):
        if (
            row[0] != what
            or not same(row[1], x)
            or Q(float.fromhex(row[2])) != x
            or not re.match(r'-?0x1(\.[0-9a-f]*[1-9a-f])?p[-+]\d+$', row[2])
            or row[3] != f.hex(code)
        ):
            wrong.append('%s: %s there; %s, %.17g, %s here' % (f.name, row, what, float(x), f.hex(code)))
    half = f.max + pow2(
        f.emax - f.m - 1
    # the tie beyond the largest goes to the even significand, which an infinity or NaN stands for where the largest is
    # odd
    )
    if f.above == 'max':
        want = 'the largest: there is nothing else'
    elif half >= pow2(1024) - pow2(970):
        want = 'RNE gives inf from 2^%d - 2^%d on; saturating, the largest' % (f.emax + 1, f.emax - f.p)
    else:
        want = 'RNE gives %s %s %.17g; saturating, the largest' % (
            f.above, 'from' if f.last & 1 or not f.m else 'beyond', float(half)
        )
    if there[-1] != ['above it', want] or len(there) != len(range_lines) + 1:
        wrong.append('%s: %s there, %s here' % (f.name, there[-1], want))
    said('  unit roundoff      2^-%d = %.6g' % (f.p, float(pow2(-f.p))), 'unit roundoff')
    said('  ulp of 1           2^%d = %.6g' % (-f.m, float(pow2(-f.m))), 'ulp')
    whole = '  integers           every one up to 2^%d = %d' % (f.p, 1 << f.p)
    if (whole in lines) != (f.zero and f.max > 1 << f.p) or (not f.zero and any('integers' in x for x in lines)):
        wrong.append('%s: integers: %r' % (f.name, whole))
    back = max(n for n in range(0, 20) if 10**n <= 2**f.m)
    apart = min(
        n for n in range(1, 20) if 10 ** (n - 1) >= 2**f.p
    )  # digits that tell binary numbers of p bits apart: 10^(n-1) > 2^p
    said(
        '  decimal digits     %d survive from decimal to %s and back; %d tell all its values apart'
        % (back, f.name, apart),
        'digits',
    )
    if f.zero:
        gaps = [x.split() for x in lines[lines.index('Gaps') + 2 : lines.index('Special codes') - 1]]
        want = [['0', '..', name_of(f.emin), name_of(f.emin - f.m) + ',', 'subnormal']]
        for e in range(f.emin, f.emax + 1):
            if f.emax - f.emin + 1 > 12 and f.emin + 1 < e < f.emax - 1 and not -2 <= e <= 2:
                want += [['...']] if want[-1] != ['...'] else []
            else:
                want.append([name_of(e), '..', name_of(e + 1), name_of(e - f.m)])
        if gaps != want:
            wrong.append('%s: gaps %s there, %s here' % (f.name, gaps, want))
    special = [re.split(r'  +', x.strip(), maxsplit=1) for x in lines[lines.index('Special codes') + 1 :] if x]
    minus = f.signed and f.kind not in ('fnuz', 'p3109')
    zero = f.hex(0) + (', -0 is ' + f.hex(f.sign) if minus else ', no -0' if f.signed
                       else '; a negative number becomes NaN, or zero where the mode may')
    infinity = 'none' if f.inf is None else f.hex(f.inf) + (', -inf is ' + f.hex(f.sign | f.inf) if f.signed else '')
    nan = f.nans() + ('; written as ' + f.hex(f.one_nan) if f.kind == 'ieee' else '')
    want = [
        ['zero', zero if f.zero else 'none: it becomes the smallest value; a negative number becomes NaN'],
        ['infinity', infinity],
        ['NaN', nan],
    ]
    if special != want:
        wrong.append('%s: %s there, %s here' % (f.name, special, want))
    return wrong


def cells(f):
    return [f.name, f.bits, f.ebits, f.p, f.emin, f.emax]


rows = [x.split() for x in run().split('\n\n')[0].split('\n')[1:]]
wrong = []
for f, row in zip(FORMATS, rows):
    want = [*map(str, cells(f)), *('%.6g' % float(x) for x in (f.max, f.normal, f.least)), '2^-%d' % f.p, f.above
            if f.above != 'NaN' else 'NaN', f.hex(f.one_nan) if f.nan else 'none']
    if row[:12] != want:
        wrong.append('%s there, %s here' % (row, want))
none(wrong + (['%d formats there, %d here' % (len(rows), len(FORMATS))] if len(rows) != len(FORMATS) else []),
     'formats: a row each, in their order')
heads = (
    'format bits exponent_bits p emin emax max_finite min_normal min_positive unit_roundoff above_max nan_code'.split()
)
plain = [[*map(str, cells(f)), *('%.17g' % float(x) for x in (f.max, f.normal, f.least, pow2(-f.p))), f.above,
          f.hex(f.one_nan) if f.nan else 'none'] for f in FORMATS]
there = run('--table', 'tsv')
rows = [line.split('\t') for line in there.splitlines()]
# as few digits as read back
short = [[repr(float(x)) if 6 <= i < 10 else x for i, x in enumerate(row)] for row in plain]
none(
    [
        (row, want)
        for row, want in zip(rows, [heads] + short)
        if row != want
        and (row[:6] + row[10:] != want[:6] + want[10:] or [repr(float(x)) for x in row[6:10]] != want[6:10])
    ]
    + ([there] if len(rows) != len(plain) + 1 else []),
    '--table tsv',
)
there = run('--table', 'markdown')
want = (
    '| '
    + ' | '.join(heads)
    + ' |\n|---'
    + '|---:' * (len(heads) - 3)
    + '|---|---|\n'
    + ''.join('| ' + ' | '.join(x) + ' |\n' for x in plain)
)
none([there] if there != want else [], '--table markdown')
there = [x[:-3].split(' & ') for x in run('--table', 'latex').split('\n') if x.endswith('\\\\')]
wrong = []
for f, row in zip(FORMATS, there[1:]):
    digits, _, e = ('%.6g' % float(f.max)).partition('e')
    want = [*map(str, cells(f)), '$%s$' % (digits + (' \\times 10^{%d}' % int(e) if e else '')), '$2^{%d}$' % f.emin,
            '$2^{%d}$' % (f.emin - f.m), '$2^{-%d}$' % f.p, f.above, f.hex(f.one_nan) if f.nan else 'none']
    if row != want:
        wrong.append('%s there, %s here' % (row, want))
none(wrong + ([there] if len(there) != len(FORMATS) + 1 else []), '--table latex')
wrong = []
for f, o in zip(FORMATS + OTHERS, json.loads(run('--json', *(f.name for f in FORMATS + OTHERS)))):
    want = dict(zip(('name', 'bits', 'exponent_bits', 'p', 'emin', 'emax'), cells(f)), max_finite=float(f.max),
                min_normal=float(f.normal), min_positive=float(f.least), unit_roundoff=float(pow2(-f.p)),
                above_max=f.above, max_code=f.hex(f.last), nan_codes=f.nans())
    wrong += ['%s: %s is %s there, %s here' % (f.name, k, o.get(k), v) for k, v in want.items() if o.get(k) != v]
    wrong += ['%s: specials %s' % (f.name, o['specials'])] if o['specials'] != f.kind else []
    wrong += (
        ['%s: no key but these: %s' % (f.name, sorted(o))]
        if set(o) - set(want) != {'summary', 'aliases', 'specials'}
        else []
    )
none(wrong, '--json of %d formats' % len(FORMATS + OTHERS))
none([w for f in FORMATS + OTHERS for w in page(f)], 'the pages of %d formats' % len(FORMATS + OTHERS))

# Blocks: element, its bits, elements a block, the scale and its bits, largest and smallest element, bits of the whole
# array
e4m3 = FORMATS[5]
BLOCKS = [
    ('mxfp8e4m3', 'e4m3', 8, 32, 'e8m0', 8, 448, Q(1, 512)),
    ('mxfp8e5m2', 'e5m2', 8, 32, 'e8m0', 8, 57344, pow2(-16)),
    ('mxfp6e3m2', 'e3m2', 6, 32, 'e8m0', 8, 28, Q(1, 16)),
    ('mxfp6e2m3', 'e2m3', 6, 32, 'e8m0', 8, Q(15, 2), Q(1, 8)),
    ('mxfp4', 'e2m1', 4, 32, 'e8m0', 8, 6, Q(1, 2)),
    ('mxint8', 'int8', 8, 32, 'e8m0', 8, Q(127, 64), Q(1, 64)),
    ('nvfp4', 'e2m1', 4, 16, 'e4m3', 8, 6, Q(1, 2)),
    ('int8', 'int8', 8, None, 'fp32', 32, 127, 1),
    ('int4', 'int4', 4, None, 'fp32', 32, 7, 1),
    ('int8zp', 'uint8', 8, None, 'fp32', 32, 255, 1),
    ('int4zp', 'uint4', 4, None, 'fp32', 32, 15, 1),
    ('int4x32', 'int4', 4, 32, 'fp32', 32, 7, 1),
    ('bfp8x16', 'int8', 8, 16, 'a power of two in 8 bits', 8, Q(127, 64), Q(1, 64)),
]
wrong = []
for (name, element, bits, size, scale, scale_bits, most, least), o in zip(
    BLOCKS, json.loads(run('--json', *(b[0] for b in BLOCKS)))
):
    each = (
        None
        if size is None
        else float(Q(bits * size + scale_bits, size) + (Q(32, 1024 * size) if name == 'nvfp4' else 0))
    )  # an fp32 scale of 1024 blocks
    want = {
        'name': name,
        'element': element,
        'element_bits': bits,
        'block': size,
        'scale': scale,
        'scale_bits': scale_bits,
        'max_element': float(most),
        'min_positive_element': float(least),
    }
    if size:
        want['bits_per_element'] = each
    if o != want:
        wrong.append('%s there, %s here' % (o, want))
    text = run(name)
    count = 'all' if size is None else str(size)
    inside = ' scale: %d bits │ %s × %s: %d bits each ' % (scale_bits, count, element, bits)
    box = [
        '  ┌' + re.sub('[^│]', '─', inside).replace('│', '┬') + '┐',
        '  │' + inside + '│',
        '  └' + re.sub('[^│]', '─', inside).replace('│', '┴') + '┘',
    ]
    lines = [('%s: blocks of %d %s elements that share a scale' % (name, size, element) if size
              else '%s: %s elements, all of an array under one scale' % (name, element)), *box, '  value = scale * '
             + ('(element - zero)' if name.endswith('zp') else 'element'), '  largest element    %.17g' % float(most),
             '  smallest element   %.17g' % float(least)]
    lines += ['  bits an element    %.6g with its share of the scale' % each] if size else []
    wrong += ['%s: no line %r' % (name, x) for x in lines if x not in text.split('\n')]
    rule = [x for x in text.split('\n') if x.startswith('  scale  ')][0]
    kind = (
        'with an integer zero'
        if name.endswith('zp')
        else (
            'largest magnitude / largest integer'
            if scale == 'fp32'
            else "amax / (max * the array's scale)" if name == 'nvfp4' else '2^(floor(log2 amax) - emax)'
        )
    )
    wrong += ['%s: %s' % (name, rule)] if scale + ': ' not in rule or kind not in rule else []
    wrong += (
        ['%s: its element has a page' % name]
        if ('halfulp formats ' + element in text) != element.startswith('e')
        or size is None
        and 'bits an element' in text
        else []
    )
none(wrong, 'block formats: %d pages and JSON' % len(BLOCKS))
finish()
