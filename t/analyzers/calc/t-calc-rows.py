# SPDX-License-Identifier: Apache-2.0
# Every column of calc's rows, as JSON and as text, of single operations on numbers of the format, computed again by
# fractions: value, code, the exact result, errors in ulps and relative, the shortest digits, and the flags that follow
# from the result alone.
import json
import math
import os
import random
import re
import subprocess
import sys
from fractions import Fraction as Q

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'judge'))
from independent.number import FORMATS, decode, error_ulps, fl, log2floor, pow2  # noqa: E402
from tap import HALFULP, finish, none  # noqa: E402


def calc(*words):
    return subprocess.run([HALFULP, 'calc', *words], stdout=subprocess.PIPE, universal_newlines=True, check=True).stdout


def value(code, f):
    v = decode(code, f)
    return {'inf': math.inf, '-inf': -math.inf, 'nan': math.nan}[v] if isinstance(v, str) else float(v)


def any_number(dice, f):
    bits = FORMATS[f][0]
    while True:
        code = (
            dice.randrange(1 << bits)
            if dice.random() < 0.7
            else dice.choice((0, 1, 2, (1 << (bits - 2)) - 1, 1 << (bits - 2)))
        )
        v = decode(code, f)
        if not isinstance(v, str) and (f != 'fp64' or abs(log2floor(v) if v else 0) < 300):
            return v


def shortest(text, x, f):
    """Whether TEXT reads back as X in format F and no text of fewer digits does."""
    if fl(Q(text), f) != x:
        return False
    digits = len(re.sub(r'e.*', '', text).replace('-', '').replace('.', '').lstrip('0').rstrip('0')) or 1
    whole = not re.search('[.e]', text)  # whole numbers have all of their digits
    return digits == 1 or whole or fl(Q('%.*e' % (digits - 2, float(x))), f) != x or f == 'fp64'


def row(text, j, expression, x, f):
    """Problems of one row. X: the exact result."""
    bits, ebits, p, emin = FORMATS[f][:4]
    got = fl(x, f)
    wrong = []
    head = {'format': f, 'input': expression}
    wrong += ['%s: %s is %s' % (expression, k, j[k]) for k, v in head.items() if j[k] != v]
    special = isinstance(got, str)
    number = {'inf': math.inf, '-inf': -math.inf, 'nan': math.nan}[got] if special else float(got)
    there = float(j['value']) if isinstance(j['value'], str) else j['value']
    coded = value(int(j['bits'], 16), f)
    same = lambda a, b: a == b or a != a and b != b  # noqa: E731
    if (
        not same(there, number)
        or not same(coded, number)
        or len(j['bits']) != 2 + -(-bits // 4)
        or (not special and Q(float.fromhex(j['hex'])) != got)
    ):
        wrong.append('%s in %s: %s, %s, %s there, %s here' % (expression, f, j['value'], j['hex'], j['bits'], number))
    ulps = math.inf if special else error_ulps(got, x, f)
    mine = float(j['error_ulps']) if isinstance(j['error_ulps'], str) else j['error_ulps']
    if mine != ulps:
        wrong.append('%s in %s: %s ulps there, %s here' % (expression, f, j['error_ulps'], ulps))
    exact = Q(j['exact']) if re.fullmatch(r'-?[\d.]+(e[-+]?\d+)?', j['exact']) else None
    if exact is None or (exact != x if x == 0 else abs(exact - x) > abs(x) * Q(1, 10 ** 35)):
        wrong.append('%s: exact is %s there, %s here' % (expression, j['exact'], float(x)))
    flags = set(j['flags'])
    want = {'inexact'} if special or got != x else set()
    want |= {'overflow'} if special else set()
    want |= {'subnormal'} if not special and 0 < abs(got) < pow2(emin) else set()
    if (
        flags - {'swamped', 'underflow', 'cancelled', 'invalid'} != want
        or 'underflow' in flags
        and ('inexact' not in flags or not special and abs(x) >= pow2(emin))
    ):
        wrong.append('%s in %s: flags %s there, %s here' % (expression, f, sorted(flags), sorted(want)))
    cells = re.match(r'(\S+) +(\S+) +(\S+) +(\S+) +(\S+) +(\S+) +(\S+) *(.*)$', text).groups()
    relative = math.inf if special else float(abs(got - x) / abs(x)) if x else 0.0
    if (
        cells[0] != f
        or cells[2] != j['bits']
        or not same(float(cells[3]), number)
        or cells[4] != j['hex']
        or cells[7].split() != (j['flags'] or ['exact'])
    ):
        wrong.append('%s: %s beside %s' % (expression, cells, j))
    if float(cells[5]) != float('%.5g' % ulps) and not math.isclose(float(cells[5]), ulps, rel_tol=1e-4):
        wrong.append('%s: error ulp %s, not %.5g' % (expression, cells[5], ulps))
    if float(cells[6]) != relative and not math.isclose(float(cells[6]), relative, rel_tol=1e-3):
        wrong.append('%s: relative %s, not %.4g' % (expression, cells[6], relative))
    if not special and got and not shortest(cells[1], got, f):
        wrong.append('%s in %s: %s is not the shortest that is %s' % (expression, f, cells[1], float(got)))
    return wrong


OPERATIONS = {'+': lambda a, b: a + b, '-': lambda a, b: a - b, '*': lambda a, b: a * b, '/': lambda a, b: a / b}
for f in ('fp16', 'bf16', 'fp32', 'e5m2', 'e4m3', 'fp64'):
    for sign, apply in OPERATIONS.items():
        dice, expressions, exact = random.Random(f + sign), [], []
        while len(expressions) < 40:
            a, b = any_number(dice, f), any_number(dice, f)
            if len(expressions) == 0 and sign == '-':
                b = a
            if sign == '/' and b == 0 or not (abs(float(a)) and abs(float(b))) and sign in '*/':
                continue
            expressions.append(
                '%s %s (%s)' % (float(a).hex() if a >= 0 else '(%s)' % float(a).hex(), sign, float(b).hex())
            )
            exact.append(apply(a, b))
        rows = json.loads(calc('--format', f, '--json', '--', *expressions))
        printed = [x for x in calc('--format', f, '--', *expressions).splitlines() if re.match(re.escape(f) + ' ', x)]
        wrong = [w for text, j, e, x in zip(printed, rows, expressions, exact) for w in row(text, j, e, x, f)]
        none(
            wrong + (['%d rows, %d lines' % (len(rows), len(printed))] if {len(rows), len(printed)} != {40} else []),
            '%s in %s: rows of %d expressions' % (sign, f, len(expressions)),
        )
# Casts: a number of one format that is rounded to another on the way is off by that rounding
wrong, n = [], 0
for f in ('fp16', 'bf16', 'fp32', 'e5m2', 'e4m3', 'fp64'):
    dice, expressions, want = random.Random('casts ' + f), [], []
    for g in FORMATS:
        for _ in range(4):
            a, b = any_number(dice, f), any_number(dice, f)
            low = fl(a, g)
            if g == f or isinstance(low, str) or isinstance(fl(low, f), str) or isinstance(fl(fl(low, f) + b, f), str):
                continue
            expressions += ['%s(%s)' % (g, float(a).hex()), '%s( %s ) + (%s)' % (g, float(a).hex(), float(b).hex())]
            want += [fl(low, f), fl(fl(low, f) + b, f)]
    got = [Q(j['value']) for j in json.loads(calc('--format', f, '--json', '--', *expressions))]
    wrong += [
        '%s in %s: %s there, %s here' % (e, f, float(x), float(w))
        for e, x, w in zip(expressions, got, want)
        if x != w
    ]
    wrong += ['%d rows' % len(got)] * (len(got) != len(want))
    n += len(want)
none(wrong, 'casts within %d expressions' % n)
finish()
