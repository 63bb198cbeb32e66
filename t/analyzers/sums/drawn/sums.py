# SPDX-License-Identifier: Apache-2.0
# Sums drawn a row an addition: plain ones, those of the models, and a tensor core's blocks.
import random
import re
from fractions import Fraction as Q

from independent.number import fl, log2floor, pow2

from .panel import explain
from .rounded import any_value, below, directed, number, quantum, text


def steps(panel, words, terms, start, f, prefix, first):
    """A panel of additions of TERMS from START in format F; returns its sum and problems."""
    wrong, known, lines = [], [], {}
    s, rows, n = start, iter(panel.rows), len(terms)
    log = []
    for t in terms:
        exact = s + t
        after = fl(exact, f)
        log.append((t, s, after, after - exact, exact))
        s = after
    drawn = [i for i in range(n) if n <= 13 or i < 9 or i >= n - 3]
    for i in drawn:
        t, before, after, error, exact = log[i]
        row = next(rows, None)
        unit = quantum(exact if exact else t, f)
        if row is None or row.label != '%s%d' % (prefix, first + i):
            return s, ['%s: row %d is called %s' % (panel.heading, i, row and row.label)]
        said = number(abs(t))
        if t and before and after == before:
            said += '  swamped, all of it'
        elif error:
            said += '  %s %s ulp' % (
                'gains' if (error < 0) == (exact < 0) else 'loses', number(abs(error) * pow2(-unit), 4)
            )
        if ' '.join(row.value.split()) != ' '.join(said.split()) or row.sign != ('−' if t < 0 else '+' if i else ' '):
            wrong.append('%s: %s %s there, %s here' % (row.label, row.sign, row.value, said))
        known.append((row, t))
        lines[id(row)] = unit
        if i or start:
            row = next(rows)
            if row.label or row.value != number(after) or row.sign != ('−' if after < 0 else '='):
                wrong.append(
                    'the sum after %s%d: %s %s there, %s here'
                    % (prefix, first + i, row.sign, row.value, number(after))
                )
            known.append((row, after))
            lines[id(row)] = unit
    columns = {len(row.value) - len(row.value.split('  ', 1)[1].strip()) for row in panel.rows if '  ' in row.value}
    if len(columns) > 1 or columns and columns != {2 + max(len(number(abs(terms[i]))) for i in drawn)}:
        wrong.append('what is lost does not stand in one column, 2 after the longest addend: %s' % columns)
    wrong += panel.check(known, lines)
    inexact, swamped = [i for i in range(n) if log[i][3]], [
        i for i in range(n) if log[i][0] and log[i][1] and log[i][2] == log[i][1]
    ]
    if len(drawn) < n:
        hidden = set(range(n)) - set(drawn)
        want = '%d more additions: %d inexact, %d swamped' % (
            len(hidden), len(hidden & set(inexact)), len(hidden & set(swamped))
        )
        if len(panel.left_out) != 1 or want not in panel.left_out[0]:
            wrong.append('%s there, %s here' % (panel.left_out, want))
    total = start + sum(terms)
    off = abs(s - total) * pow2(-quantum(total, f))
    want = 'Exactly, %s %.17g; the sum computed is ' % (
        'the term as stored is' if n == 1 else 'the %d terms as stored sum to' % n, float(total)
    )
    m = re.match(re.escape(want) + r'(\S+), (\S+) ulp off\. ', words + ' ')
    if not m or fl(Q(m[1]), f) != s or m[2] != number(off, 6):
        wrong.append('%r there, %s%s, %s ulp here' % (words, want, float(s), number(off, 6)))
    rest = words[m.end():] if m else words
    some = '%d of %d addition%s %s inexact; ' % (
        len(inexact), n, 's' if n > 1 else '', 'is' if len(inexact) == 1 else 'are'
    )
    if swamped:
        some += '%d addend%s %s%d.' % (
            len(swamped), 's are swamped, the first of them' if len(swamped) > 1 else ' is swamped:', prefix,
            first + swamped[0]
        )
    elif inexact:
        some += 'no addend is swamped.'
    else:
        some = 'Every addition is exact.'
    if some not in rest:
        wrong.append('%r there, %r here' % (rest, some))
    return s, wrong


def sums(f, n, seed, spread):
    dice = random.Random(seed)
    terms = [any_value(dice, f, spread) for _ in range(n)]
    parts, wrong = explain('--format', f, 'sum(%s)' % ', '.join(text(t) for t in terms))
    title, body = parts[-1]
    if len(body) != 2:
        wrong.append('%s: %d parts' % (title, len(body)))
    s, more = steps(body[0], body[1], terms, Q(0), f, 'x', 1)
    if n > 4 and not title.startswith('%d terms = ' % n):
        wrong.append(title)
    return wrong + more


def models(model, f, acc, outer, n, seed):
    """Sums of products by slices, fused additions and rounded products."""
    dice = random.Random(seed)
    x, y = [[any_value(dice, f, 9) for _ in range(n)] for _ in 'xy']
    parts, wrong = explain(
        '--format', f, '--sum', '%s,acc=%s' % (model, acc),
        'sum(%s)' % ', '.join('%s*%s' % (text(a), text(b)) for a, b in zip(x, y))
    )
    title, body = parts[-1]
    name, _, k = model.partition(':')
    products = [a * b for a, b in zip(x, y)]
    if not title.startswith('%d product%s by %s' % (n, 's' if n > 1 else '', model)):
        wrong.append(title)
    if name in ('fma', 'sequential'):
        terms = products if name == 'fma' else [fl(p, acc) for p in products]
        s, more = steps(body[0], body[1], terms, Q(0), acc, 'x', 1)
        wrong += more
    else:
        length = -(-n // int(k)) if name == 'splitk' else int(k)
        slices = [products[i:i + length] for i in range(0, n, length)]
        results, at = [], 0
        for i, part in enumerate(slices):
            if i >= 2 and i + 1 < len(slices):
                s = Q(0)
                for t in part:
                    s = fl(s + t, acc)
            else:
                if body[at].heading != 'Slice %d of %d in %s: a row a fused addition, its sum below it' % (
                    i + 1, len(slices), acc
                ):
                    wrong.append(body[at].heading)
                s, more = steps(body[at], body[at + 1], part, Q(0), acc, 'x', i * length + 1)
                wrong += more
                hidden = len(slices) - 3
                told = '%d more slice%s not drawn.' % (hidden, 's are' if hidden > 1 else ' is')
                if (told in body[at + 1]) != (i == 1 and hidden > 0):
                    wrong.append('%r: %s' % (body[at + 1], told))
                at += 2
            results.append(s)
        if body[at].heading != 'The slices\' sums added in ' + outer:
            wrong.append(body[at].heading)
        s, more = steps(body[at], body[at + 1], results, Q(0), outer, 's', 1)
        wrong += more
    end = 'The sum in %s, %s, is rounded to %s at the end' % (outer, number(s), f)
    if (end in body[-1]) != (fl(s, f) != s):
        wrong.append('%r: %s' % (body[-1], end))
    return wrong


def block(model, inner, out, n, seed, width, bits):
    """A tensor core's sum of one block: what the alignment chops, how much of it, the one rounding toward zero."""
    dice = random.Random(seed)
    x, y = [[any_value(dice, inner, 6) for _ in range(n)] for _ in 'xy']
    c = any_value(dice, 'fp32', 20)
    parts, wrong = explain(
        '--format', 'fp32', '--sum', model,
        'sum(%s)' % ', '.join([text(c)] + ['%s*%s' % (text(a), text(b)) for a, b in zip(x, y)])
    )
    title, (panel, words) = parts[-1]
    if (
        'blocks of %d products of %s' % (width, inner) not in title
        or '%d bits of alignment' % bits not in title
        or panel.heading != 'Block 1 of 1: C and up to %d products, chopped behind the dashed line' % width
    ):
        wrong.append('%s, %s' % (title, panel.heading))
    terms = [(c, log2floor(c))] + [(a * b, log2floor(a) + log2floor(b)) for a, b in zip(x, y)]
    emax = max(e for t, e in terms)
    at = emax - bits
    chopped = [abs(t) // pow2(at) * pow2(at) * (1 if t > 0 else -1) for t, e in terms]
    total, some, gone = sum(chopped), sum(bool(k) and k != t for (t, e), k in zip(terms, chopped)), chopped.count(0)
    got = directed(total, out, 'RZ') if total else Q(0)
    known, lines = [], {}
    for row, (t, e), k in zip(panel.rows, terms, chopped):
        fate = ' chopped to nothing' if not k else ' chopped' if k != t else ''
        if ' '.join(row.value.split()) != '%s e = %d%s' % (number(t, 8), e, fate):
            wrong.append('%s: %s there, %s e = %d%s here' % (row.label, row.value, number(t, 8), e, fate))
        if k != t and (row.before['┊'] is None or any(d == '1' for d in row.digits[:row.before['┊']]) != bool(k)):
            wrong.append('%s: chopped elsewhere' % row.label)
        known.append((row, t))
    if panel.rows[0].label != 'C' or any(
        row.label != '%s × %s' % (number(a, 5), number(b, 5)) for row, a, b in zip(panel.rows[1:], x, y)
    ):
        wrong.append('labels: %s' % [row.label for row in panel.rows])
    more = {row.label: row for row in panel.rows[n + 1:]}
    if total:
        known += [(more['sum'], total), (more['result'], got)]
        lines = {id(row): quantum(total, out) for row, v in known}
    wrong += panel.check(known, lines)
    said = 'The largest exponent is %d; every term is chopped toward zero to %d bits below it, at 2^%d. ' % (
        emax, bits, at
    )
    if some + gone:
        said += 'Of %d nonzero terms %d lose%s bits and %d vanish%s' % (
            n + 1, some, 's' if some == 1 else '', gone, 'es' if gone == 1 else ''
        )
        exact = sum(t for t, e in terms)
        ulp = pow2(-quantum(exact, out))
        tail = (
            'Without chopping the sum would be %.17g. Chopping is worth %s ulp of %s, all in all the block is %s ulp'
            ' off.' % (float(exact), number(abs(total - exact) * ulp, 6), out, number(abs(got - exact) * ulp, 6))
        )
        if tail not in words:
            wrong.append('%r there, %r here' % (words, tail))
    else:
        said += 'None of the nonzero terms loses a bit'
    if said not in words or below(total, got, out, 'RZ') not in words:
        wrong.append('%r there, %r, %r here' % (words, said, below(total, got, out, 'RZ')))
    return wrong
