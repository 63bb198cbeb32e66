#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# AMD's matrix cores, cdna1 to cdna3, against their published models written once more in fractions: sums from a start
# value, of operands with ties, subnormal numbers, exponents far apart, and infinities; and the questions of
# doc/cdna.md, whose answers are computed here for each disputed reading.
import math, os, random, re, struct, sys
from fractions import Fraction as F

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tool'))
from npzfile import npz  # noqa: E402
from tap import TOP, finish, halfulp, home, none, ok  # noqa: E402

where = home()
draw = random.Random(2026)
# significant bits, smallest normal exponent, largest number
FORMATS = {'fp16': (11, -14, 65504), 'bf16': (8, -126, float.fromhex('0x1.fep127')),
           'tf32': (11, -126, float.fromhex('0x1.ffcp127')), 'e4m3fnuz': (4, -7, 240), 'e5m2fnuz': (3, -15, 57344),
           'fp32': (24, -126, float.fromhex('0x1.fffffep127'))}


def floor_log2(x):
    """The exponent of the fraction |x| > 0."""
    e = abs(x).numerator.bit_length() - abs(x).denominator.bit_length()
    return e if F(2) ** e <= abs(x) else e - 1


def rounded(x, f='fp32', flush=False):
    """The fraction x to nearest even in f; infinities as floats. flush: what is below the smallest normal is 0."""
    p, least, most = FORMATS[f]
    if not x:
        return F(0)
    unit = F(2) ** (max(floor_log2(x), least) - p + 1)
    y = round(x / unit) * unit
    if abs(y) > F(most):
        return math.copysign(math.inf, x)
    return F(0) if flush and abs(y) < F(2) ** least else y


def exponent(x, f):
    """As the unit splits an operand: a subnormal one has the smallest normal exponent."""
    return max(floor_log2(x), FORMATS[f][1])


def special(a, b, c, edge=None):
    """What IEEE 754 says of a block in which something is infinite or NaN; None where nothing is."""
    terms = [x * y for x, y in zip(a, b)] + [c]
    if edge:
        terms = [math.copysign(math.inf, t) if isinstance(t, F) and abs(t) >= edge and i < len(a) else t
                 for i, t in enumerate(terms)]
    wild = [t for t in terms if isinstance(t, float)]
    if not wild:
        return None
    return math.nan if any(math.isnan(t) for t in wild) or len(set(wild)) > 1 else wild[0]


def times(x, y):
    if isinstance(x, float) or isinstance(y, float):
        return float(x) * float(y)
    return x * y


def cdna1(a, b, c, f, pairs=False):
    step = 2 if f == 'bf16' else 4
    for k in range(0, len(a), step):
        p = [times(x, y) for x, y in zip(a[k:k + step], b[k:k + step])]
        s = special(p, [F(1)] * len(p), c)
        if s is not None:
            c = s
        elif pairs:
            p = [rounded(x) for x in p] + [F(0)] * (step - len(p))
            both = rounded(rounded(p[0] + p[1]) + (rounded(p[2] + p[3]) if step == 4 else 0))
            c = rounded(c + both)
        else:
            c = rounded(c + sum(p))
    return c


def cdna2(a, b, c, f, step=4, kept=False):
    def flushed(x):
        return x if kept else F(0) if isinstance(x, F) and abs(x) < F(2) ** FORMATS[f][1] else x

    def plus(x, y):
        s = special([x], [F(1)], y)
        return rounded(x + y, flush=True) if s is None else s

    def product(x, y):
        p = times(flushed(x), flushed(y))
        return rounded(p, flush=True) if isinstance(p, F) else p

    c = F(0) if isinstance(c, F) and abs(c) < F(2) ** -126 else c
    for k in range(0, len(a), step):
        p = [product(x, y) for x, y in zip(a[k:k + step], b[k:k + step])]
        p += [F(0)] * (step - len(p))
        s = plus(p[0], p[1])
        c = plus(c, plus(s, plus(p[2], p[3])) if step == 4 else s)
    return c


def chopped(terms, bits=24, zero=None):
    """The sum of (product, exponent) pairs, each toward zero to `bits` below the largest exponent, and that one."""
    exponents = [e if p else zero for p, e in terms if p or zero is not None]
    if not exponents:
        return F(0), None
    top = max(exponents)
    unit = F(2) ** (top - bits)
    return sum((math.trunc(p / unit) * unit for p, _ in terms), F(0)), top


def down(x, unit):
    return math.floor(x / unit) * unit


def cdna3(a, b, c, f, wide=31, zero=None, late=None):
    step = {'tf32': 4, 'fp16': 8, 'bf16': 8}.get(f, 16)
    if f == 'tf32':
        a, b = ([math.trunc(x / (u := F(2) ** (exponent(x, f) - 10))) * u if isinstance(x, F) and x else x for x in v]
                for v in (a, b))
    for k in range(0, len(a), step):
        x, y = a[k:k + step], b[k:k + step]
        p = [times(u, v) for u, v in zip(x, y)]
        s = special(p, [F(1)] * len(p), c, F(2) ** 128)
        if s is not None:
            c = s
            continue
        terms = [(t, exponent(u, f) + exponent(v, f)) if t else (F(0), 0) for t, u, v in zip(p, x, y)]
        if step == 16:
            (one, e), (two, g) = chopped(terms[::2]), chopped(terms[1::2])
            top = max([t for t in (e, g) if t is not None], default=None)
            dot = down(one, F(2) ** (top - 24)) + down(two, F(2) ** (top - 24)) if top is not None else F(0)
        else:
            dot, top = chopped(terms, zero=zero)
        low = exponent(c, 'fp32') if c else -126
        both = max(low, top) if top is not None else low
        dot = down(dot, F(2) ** (both - wide))
        if (step == 16 if late is None else late) and low < both - 25:
            c = F(0)
        total = dot + down(c, F(2) ** (both - 24))
        if wide == 32 and total:
            total = down(total, F(2) ** (floor_log2(total) - 31))
        c = rounded(total)
    return c


def value(f, kind):
    """A value of f: ordinary; of any exponent; subnormal; a power of two; special."""
    p, least, most = FORMATS[f]
    sign = draw.choice((1, -1))
    span = floor_log2(F(most)) - least
    if kind == 0:
        x = F(draw.randrange(2 ** (p - 1), 2 ** p)) * F(2) ** (draw.randrange(3) - p)
    elif kind == 1:
        x = F(draw.randrange(2 ** (p - 1), 2 ** p)) * F(2) ** (least - p + 1 + draw.randrange(span))
    elif kind == 2:
        x = F(draw.randrange(2 ** (p - 1) + 4)) * F(2) ** (least - p + 1)
    elif kind == 3:
        x = F(2) ** (draw.randrange(min(span, 30)) + max(least, -15))
    elif draw.random() < 0.1 and 'fnuz' not in f:
        return draw.choice((math.inf, -math.inf, math.nan))
    else:
        x = F(draw.randrange(2 ** (p - 1), 2 ** p)) * F(2) ** (draw.choice((0, 1, -12, -24, -25)) + 1 - p)
    return sign * rounded(min(x, F(most)), f)


def sums(f, rows, n):
    """Rows of operands and start values; every second row nearly cancels, so that a tie decides."""
    a, b, c = [], [], []
    for i in range(rows):
        kind = i % 6
        x, y = ([value(f, kind) for _ in range(n)] for _ in 'ab')
        z = value('fp32', draw.choice((0, 1, 2, 3))) if kind in (1, 2) else value('fp32', 4) * F(2) ** draw.choice(
            (0, 0, 8, 20, -20)) if kind < 5 else value('fp32', 5)
        z = z if not isinstance(z, F) else min(max(z, -F(FORMATS['fp32'][2])), F(FORMATS['fp32'][2]))
        if i % 2 and n > 1 and isinstance(x[0], F) and kind != 2:
            x[1], y[1] = -x[0], y[0]
        a.append(x), b.append(y), c.append(z)
    return a, b, c


def answers(model, f, a, b, c):
    n = len(a[0])
    npz(os.path.join(where, 'x.npz'), a=((len(a), n), [float(v) for row in a for v in row]),
        b=((len(a), n), [float(v) for row in b for v in row]), c=((len(c),), [float(v) for v in c]))
    ran = halfulp('op', 'dot', '--in', 'a=x.npz:a', '--in', 'b=x.npz:b', '--in', 'c=x.npz:c', '--set', 'in=' + f,
                  '--set', 'out=fp32', '--sum', model, '--out', 'd.npy', cwd=where)
    if ran.returncode:
        return ran.stderr
    with open(os.path.join(where, 'd.npy'), 'rb') as d:
        return struct.unpack('<%df' % len(c), d.read()[-4 * len(c):])


def equal(got, want):
    return math.isnan(got) if isinstance(want, float) and math.isnan(want) else got == float(want)


CASES = [('cdna1', 'fp16', cdna1, {}), ('cdna1', 'bf16', cdna1, {}), ('cdna2', 'fp16', cdna2, {}),
         ('cdna2', 'bf16', cdna2, {}), ('cdna2,in=bf16,terms=2', 'bf16', cdna2, {'step': 2})]
CASES += [('cdna3' + (',in=tf32' if f == 'tf32' else ''), f, cdna3, {}) for f in FORMATS if f != 'fp32']
for model, f, reference, keys in CASES:
    wrong, kinds = [], [0, 0, 0]
    for n in (1, 3, 8, 19):
        a, b, c = sums(f, 360, n)
        got = answers(model, f, a, b, c)
        for i in range(len(c)):
            want = reference(a[i], b[i], c[i], f, **keys)
            kinds[0 if isinstance(want, float) else 1 if want else 2] += 1
            if isinstance(got, str) or not equal(got[i], want):
                wrong.append('%s of %d: %s for %s: %s %s %s' % (model, n, got if isinstance(got, str) else got[i],
                             float(want), [float(v) for v in a[i]], [float(v) for v in b[i]], float(c[i])))
    none(wrong[:5], '%s of %s: %d finite sums, %d zeros and %d infinite or NaN are the published model\'s, in fractions'
         % (model, f, kinds[1], kinds[2], kinds[0]))

# The questions of doc/cdna.md: the program's answer, and that of the other reading
OTHERWISE = {'A1': (cdna1, {'pairs': True}), 'A2': (cdna1, {'pairs': True}), 'A3': (cdna2, {'kept': True}),
             'A4': (cdna2, {'step': 2}), 'A5': (cdna3, {'wide': 32}), 'A6': (cdna3, {'zero': -126}),
             'A7': (cdna3, {'late': False}), 'A8': (cdna3, {'late': True})}


def number(text):
    """A sum of whole numbers and powers of two."""
    total = F(0)
    for sign, base, power in re.findall(r'([+-]?)(\d+)(?:\^(-?\d+))?', text):
        total += (-1 if sign == '-' else 1) * F(int(base)) ** int(power or 1)
    return total


with open(os.path.join(TOP, 'doc', 'cdna.md'), encoding='utf-8') as page:
    asked = [[cell.strip() for cell in line.split('|')[1:-1]] for line in page if re.match(r'\| A\d', line)]
ok(sorted(q[0] for q in asked) == sorted(OTHERWISE), 'doc/cdna.md asks %d questions' % len(asked))
for name, model, f, a, b, c, settled, otherwise, _ in asked:
    a, b, c = [number(x) for x in a.split(',')], [number(x) for x in b.split(',')], number(c)
    got, (reading, keys) = answers(model, f, [a], [b], [c]), OTHERWISE[name]
    ok(not isinstance(got, str) and F(got[0]) == number(settled) == reading(a, b, c, f),
       '%s: %s answers %s' % (name, model, settled), got)
    other = reading(a, b, c, f, **keys)
    ok(other == number(otherwise) != number(settled), '%s: the other reading gives %s' % (name, otherwise), other)
refusals = (('cdna1,in=e4m3', 'fp16', 'no instruction for e4m3 operands: it multiplies fp16, bf16 and fp32'),
            ('cdna2,in=fp16,terms=2', 'fp16', 'terms=2 is of bf16 operands'), ('cdna2,terms=3', 'bf16', 'give 2 or 4'),
            ('cdna1,terms=2', 'bf16', "unknown key 'terms'"), ('cdna3,in=fp16,in2=bf16', 'fp16', 'do not mix'),
            ('cdna3,in2=bf16', 'fp16', 'in2= needs in= too'), ('cdna3,in=bf16', 'fp16', 'but the operands are fp16'))
for model, f, why in refusals:
    got = answers(model, f, [[F(1)]], [[F(1)]], [F(0)])
    ok(isinstance(got, str) and why in got and got.count('\n') == 1, '%s of %s is refused: %s' % (model, f, why), got)
a, b, c = sums('fp32', 40, 5)
same = answers('cdna3', 'fp32', a, b, c), answers('fma,acc=fp32', 'fp32', a, b, c)
ok(all(x == y or (x != x and y != y) for x, y in zip(*same)), 'fp32 operands are a chain of fused operations', same)
finish()
