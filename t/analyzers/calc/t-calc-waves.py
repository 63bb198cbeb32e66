#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# sin, cos and exp2 of calc: exact values against Taylor series in 80 digits, results in formats against the nearest
# value of these, and multiples of pi/2, where the argument is no number of any format.
import json
import os
import random
import subprocess
import sys
from decimal import Decimal, getcontext, localcontext
from fractions import Fraction

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
from tap import HALFULP, finish, none, ok  # noqa: E402

getcontext().prec = 80


def calc(*expressions, formats='fp32'):
    line = [HALFULP, 'calc', '--json', '--format', formats, '--', *expressions]
    done = subprocess.run(line, capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else ok(False, ' '.join(line), done.stderr) or []


def series(x, first):
    """x^first / first! - x^(first + 2) / (first + 2)! + ..., the sine from 1 and the cosine from 0."""
    term, total, n = Decimal(1) if first == 0 else x, Decimal(0), first
    while abs(term) > Decimal(10) ** -78 or n < abs(x):
        total += term
        term = -term * x * x / ((n + 1) * (n + 2))
        n += 2
    return total


def power(x):
    return (x * Decimal(2).ln()).exp()


def rounded(x, p):
    """The nearest number of p bits; no tie occurs."""
    q = Fraction(x)
    e = 0
    while abs(q) >= 2:
        q, e = q / 2, e + 1
    while q and abs(q) < 1:
        q, e = q * 2, e - 1
    return float(Fraction(round(q * 2 ** (p - 1)), 2 ** (p - 1)) * Fraction(2) ** e)


random.seed(11)
points = [random.choice([-1, 1]) * random.randrange(1, 2**11) * 2.0 ** random.randrange(-14, 3) / 2**6
          for _ in range(40)]  # fmt: skip
points = sorted({x for x in points if abs(x) < 20})
KINDS = (('sin', lambda x: series(x, 1)), ('cos', lambda x: series(x, 0)), ('exp2', power))
for name, exact in KINDS:
    rows = calc(*('%s(%r)' % (name, x) for x in points), formats='fp32,fp16')
    wrong, seen = [], 0
    for row in rows:
        x = Decimal(row['input'].split('(')[1].rstrip(')'))
        want = exact(x)
        if abs(Decimal(row['exact']) - want) > abs(want) * Decimal(10) ** -30:
            wrong.append('%s: %s, not %s' % (row['input'], row['exact'], want))
        p = {'fp32': 24, 'fp16': 11}[row['format']]
        if abs(want) > Decimal(2) ** -14 and abs(want) < 60000:
            seen += 1
            if float(row['value']) != rounded(want, p):
                wrong.append('%s in %s: %s' % (row['input'], row['format'], row['value']))
    none(wrong[:5], '%s: %d exact values, and %d in formats' % (name, len(rows), seen))
    ok(len(rows) == 2 * len(points) and seen > len(points), '%s: all of them' % name)
# Arguments of thousands of digits before the point, each of which counts: they are reduced here by a pi of 4000 digits.
with localcontext() as wide:
    wide.prec = 4000
    tan = [sum(Decimal((-1) ** k) / (2 * k + 1) / Decimal(n) ** (2 * k + 1) for k in range(terms))
           for n, terms in ((5, 2900), (239, 850))]  # fmt: skip
    turn = 8 * (4 * tan[0] - tan[1])
    large = {'sin(exp(4000))': (Decimal(4000).exp(), 1), 'cos(exp(1000.5))': (Decimal('1000.5').exp(), 0),
             'cos(10^300)': (Decimal(10) ** 300, 0), 'sin(2^3000.5)': (Decimal(2) ** 3000 * Decimal(2).sqrt(), 1)}
    large = {name: (x % turn, first) for name, (x, first) in large.items()}
large = {name: series(x, first) for name, (x, first) in large.items()}
found = {r['input']: Decimal(r['exact']) for r in calc(*large)}
none(['%s: %s, not %s' % (k, found.get(k), v) for k, v in large.items()
      if k not in found or abs(found[k] - v) > Decimal(10) ** -30], 'sines and cosines of numbers up to 10^1737')
done = subprocess.run([HALFULP, 'calc', 'cos(exp2(121474836475))'], capture_output=True, text=True, timeout=60)
ok(done.returncode == 2 and 'beyond 2^65536' in done.stderr and done.stderr.count('\n') == 1 and not done.stdout,
   'an argument of a hundred thousand million bits is refused', done.stdout + done.stderr)
at = {r['input']: r['exact'] for r in calc('sin(pi)', 'cos(pi/2)', 'cos(3*pi)', 'sin(-pi/2)', 'cos(100*pi)')}
ends = calc('cos(3*pi)', 'sin(pi/2)', 'cos(4*pi)')
none([r['input'] for r in ends if r['error_ulps'] != 0], 'at 1 and -1 a result that is the exact value has no error')
ok([float(x) for x in at.values()] == [0, 0, -1, -1, 1], 'at multiples of pi/2 they are 0, 1 or -1', str(at))
near = calc('cos(pi/2 + 2^-200)', 'cos(2^-100)')
ok(abs(float(near[0]['exact']) / -(2.0**-200) - 1) < 1e-9, 'beside them they are not', str(near[0]['exact']))
ok('inexact' in near[1]['flags'], 'nor is the cosine of a small number 1', str(near[1]))
finish()
