# SPDX-License-Identifier: Apache-2.0
# One addition, product, quotient or fused product: codes, aligned rows, and all that is said of it.
import random
import re
from fractions import Fraction as Q

from independent.number import FORMATS, log2floor, pow2

from .panel import explain
from .rounded import any_value, below, directed, mover, number, quantum, text


def operation(function, f, mode, seed):
    """One addition, product, quotient or fused product: rows, codes, and all that is said."""
    dice = random.Random('%s %s %s %d' % (function, f, mode, seed))
    x = [any_value(dice, f, 9) for _ in range(3)]
    ins = {
        '+': lambda a, b, c: a + b,
        '-': lambda a, b, c: a - b,
        '*': lambda a, b, c: a * b,
        '/': lambda a, b, c: a / b,
        'fma': lambda a, b, c: a * b + c,
    }
    exact = ins[function](*x)
    n = 3 if function == 'fma' else 2
    got = directed(exact, f, mode) if exact else Q(0)
    a, b, c = map(text, x)
    parts, wrong = explain('--format', f, '--mode', mode, '--', 'fma(%s, %s, %s)' % (a, b, c) if n == 3
                           else '%s %s (%s)' % (a, function, b))
    title, body = parts[-1]
    bits, ebits, p, emin = FORMATS[f][:4]
    stored, panel, words = body
    for row, v in zip(stored.rows, x[:n] + [got]):  # as stored: the code's fields decode to the number
        code = [int(d) for d in row.digits]
        e, m = int(''.join(map(str, code[1:1 + ebits])), 2), int('0' + ''.join(map(str, code[1 + ebits:])), 2)
        value = (m + (2 ** (p - 1) if e else 0)) * pow2(max(e, 1) - 1 + emin - p + 1) * (-1 if code[0] else 1)
        if (
            len(code) != bits
            or value != v
            or row.value.split()[:2] != ['0x%0*x' % (-(-bits // 4), int(''.join(map(str, code)), 2)), number(v)]
        ):
            wrong.append('%s %s is stored as %s there, %s here' % (title, row.label, row.value, float(v)))
    if [row.label for row in stored.rows] != list('abc')[:n] + ['result'] or len(stored.rows) != n + 1:
        wrong.append('%s: rows %s' % (title, [row.label for row in stored.rows]))
    line = quantum(exact, f) if exact else None
    named = {row.label: row for row in panel.rows}
    known, first = [(named['exact'], exact), (named['result'], got)], []
    if function in '+-':
        first = [('a', x[0]), ('b', x[1] if function == '+' else -x[1])]
    elif function == 'fma':
        first = [('c', x[2]), ('a × b', x[0] * x[1])]
    for i, (k, v) in enumerate(first):
        known.append((named[k], v))
        if named[k].value != number(abs(v) if i else v) or named[k].sign != ('−' if v < 0 else '+' if i else ' '):
            wrong.append('%s: %s has %s %s' % (title, k, named[k].sign, named[k].value))
    partial = [row for row in panel.rows if ' × 2^' in row.label]
    if function == '*':
        factor, other = (x[0], x[1]) if not partial or partial[0].label[0] == 'a' else (x[1], x[0])
        ones = lambda v: [e for e in range(log2floor(v), -200, -1) if abs(v) * pow2(-e) // 1 % 2]  # noqa: E731
        if (
            min(len(ones(v)) for v in x[:2]) <= 12
            and [row.label[4:] for row in partial] != ['× 2^%d' % e for e in ones(other)][:]
            and [row.label.split('^')[1] for row in partial] != [str(e) for e in ones(other)]
        ):
            wrong.append(
                '%s: partial products %s there, %s here' % (title, [row.label for row in partial], ones(other))
            )
        if len(ones(other)) > len(ones(factor)):
            wrong.append('%s: rows of the factor with fewer ones' % title)
        known += [(row, abs(factor) * pow2(int(row.label.split('^')[1]))) for row in partial]
        wrong += [
            title + ': the sign of ' + row.label for i, row in enumerate(partial) if row.sign != ('+' if i else ' ')
        ]
    wrong += panel.check(known, {id(row): line for row, v in known})
    if named['result'].value != number(got) or named['result'].sign != ('−' if got < 0 else ' '):
        wrong.append('%s: the result is %s %s' % (title, named['result'].sign, named['result'].value))
    rest = abs(exact) * pow2(-line) % 1 if exact else 0
    if bool(panel.marks) != bool(rest) or panel.ruled != (1 if first or partial else 0):
        wrong.append('%s: marks %s, rules %d' % (title, panel.marks, panel.ruled))
    said = below(exact, got, f, mode)
    if said not in words:
        wrong.append('%s: %r there, %r here' % (title, words, said))
    said = []
    if function == '*':
        width = abs(exact.numerator // (exact.numerator & -exact.numerator)).bit_length()
        said = ['The exact product has %d significant bit%s; %s keeps %d.' % (width, '' if width == 1 else 's', f, p)]
    if function == '/' and rest:
        d = exact.denominator
        while d % 2 == 0:
            d //= 2
        if d > 1:
            k, power = 1, 2 % d
            while power != 1 and k < 4096:
                k, power = k + 1, power * 2 % d
            said = [('The bits of the quotient repeat after %d and never end' % k if power == 1
                     else 'The bits of the quotient never end')]
    if function in '+-' or function == 'fma':
        (_, u), (_, v) = first
        lost = (log2floor(max(abs(u), abs(v))) - log2floor(exact)) if exact else p
        if (u < 0) != (v < 0) and lost >= 2:
            said.append('The operands cancel altogether' if not exact else 'The %d leading bits cancel' % lost)
        elif 'cancel' in words:
            wrong.append('%s: nothing cancels: %s' % (title, words))
    if function in '+-':
        big, small = (v, u) if abs(u) < abs(v) else (u, v)
        e, d = quantum(big, f), mover(big, small, f, mode)
        said.append(' is %s ulp of ' % number(abs(small) * pow2(-e)))
        if (', and is swamped' in words) != (got == big) or ('1 ulp there is' in words) != (
            line is not None and e != line or line is None and e != quantum(u, f)
        ):
            wrong.append('%s: swamped, or an ulp: %s' % (title, words))
        if d is None:
            said.append('No addend of %s of this sign moves' % f)
        else:
            m = re.search(r'The smallest addend of %s that moves \S+ is \S+ = (\S+)\.$' % f, words)
            if not m or Q(float.fromhex(m[1])) != d:
                wrong.append('%s: the smallest that moves it is %s there, %s here' % (title, m and m[0], float(d)))
    if function == 'fma':
        product = directed(x[0] * x[1], f, mode)
        late = directed(product + x[2], f, mode) if product + x[2] else Q(0)
        said.append('rounded to %s first, the sum would here be the same' % f if late == got
                    else 'two roundings instead of one')
    wrong += ['%s: %r there, %r here' % (title, words, w) for w in said if w not in words]
    return wrong
