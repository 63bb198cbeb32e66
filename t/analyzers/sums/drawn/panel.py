# SPDX-License-Identifier: Apache-2.0
# What calc --explain prints, read back: titles, panels of digits by column, paragraphs. A panel checks its digits
# against its rows' values, the weights above its columns and where its lines stand.
import os
import re
import subprocess
from fractions import Fraction as Q

from independent.number import log2floor, pow2

HALFULP = os.environ.get('HALFULP', './halfulp')


class Row:
    """A row of a panel: its digits by column, where its line and the alignment's stand, whether its bits go on."""

    def __init__(self, label, sign, region, value, cells):
        self.label, self.sign, self.value = label, sign, value
        self.digits = [region[c] for c in cells]
        self.before = {
            mark: sum(c < region.index(mark) for c in cells) if mark in region else None for mark in '│┊'
        }
        self.more = '…' in region


class Panel:
    def __init__(self, heading, lines):
        self.heading, self.rows, self.left_out, self.ruled = heading, [], [], 0
        self.heads = ''
        if lines and re.fullmatch(r' +(2\^-?\d+( +2\^-?\d+)*|s e.*) *', lines[0]):
            self.heads, lines = lines[0], lines[1:]
        rules = [x for x in lines if re.fullmatch(r' *[─┼]+', x)]
        self.ruled = len(rules)
        full = [x for x in lines if x not in rules and '⋮' not in x and not re.fullmatch(r' *[GRS⋯│┊ -]*', x)
                and 'result:' not in x]
        self.left_out = [x for x in lines if '⋮' in x or 'result:' in x]
        self.marks = [x for x in lines if re.fullmatch(r' *[│┊ ⋯]*G[GRS⋯│┊ -]*', x)]
        width = max(map(len, full)) + 8
        full = [x.ljust(width) for x in full]
        self.left = next(
            c
            for c in range(8, width)
            if all(
                x[c - 1] == ' '
                and x[c - 2] in ' −+='
                and x[c - 4 : c - 2] == '  '
                and x[c] in '·01 │┊'
                and x[c:].strip()
                for x in full
            )
            and any(x[c] in '·01' for x in full)
        )
        end = next(c for c in range(self.left, width) if all(x[c] in ' …' and x[c + 1:c + 3] == '  ' for x in full))
        self.cells = [c for c in range(self.left, end) if all(x[c] in '·01' for x in full)]
        self.gaps = [sum(c < k for c in self.cells) for k in range(self.left, end) if full[0][k] == '⋯']
        for x in full:
            self.rows.append(Row(x[4 : self.left - 4].strip(), x[self.left - 2], x[: end + 1], x[end + 3 :].rstrip(),
                                 self.cells))
        for x in rules:  # as wide as the digits
            self.ruled = self.ruled if len(x) == end else -1

    def weights(self, known):
        """The weight of each column, from rows of KNOWN values; problems as texts."""
        n, wrong, top = len(self.cells), [], None
        w = [None] * n
        bounds = [0] + self.gaps + [n]
        for row, value in known:
            if value == 0:
                continue
            ones = [i for i, d in enumerate(row.digits) if d == '1']
            if not ones:
                continue
            high = ones[0] + log2floor(value)
            if any(ones[0] >= g for g in self.gaps):
                continue  # of a later stretch
            if top is not None and top != high:
                wrong.append(
                    '%s: its leading bit stands under 2^%d, by the other rows under 2^%d'
                    % (row.label, top - ones[0], high - ones[0])
                )
            top = high if top is None else top
        if top is None:
            return None, wrong
        for i in range(bounds[1]):
            w[i] = top - i
        for g, h in zip(bounds[1:], bounds[2:]):  # a later stretch ends where some whole row does
            for row, value in known:
                ones = [i for i in range(g, h) if row.digits[i] == '1']
                if ones and h == n and not row.more and value:
                    low = ((value.denominator.bit_length() - 1) * -1 if value.denominator > 1
                           else (value.numerator & -value.numerator).bit_length() - 1)
                    for i in range(g, h):
                        w[i] = low + ones[-1] - i
                    break
        return w, wrong

    def check(self, known, line=None):
        """Problems: digits that are not the rows' values, heads that stand above other weights, lines elsewhere than
        LINE has it for a row."""
        w, wrong = self.weights(known)
        if w is None:
            return wrong
        for row, value in known:
            if None in w:
                break
            there = sum((pow2(k) for k, d in zip(w, row.digits) if d == '1'), Q(0))
            if there != abs(value) if not row.more else not 0 <= abs(value) - there < pow2(w[-1]):
                wrong.append('%s %s: %s there, %s here' % (self.heading, row.label, float(there), float(value)))
        shown = 0
        for m in re.finditer(r'2\^(-?\d+)', self.heads):
            k, ends = int(m[1]), [i for i, c in enumerate(self.cells) if c in (m.start(), m.end() - 1)]
            shown += 1
            if not any(w[i] in (k, None) for i in ends):
                wrong.append('%s: a head 2^%d above %s' % (self.heading, k, [w[i] for i in ends]))
            if (
                m.start()
                and self.heads[m.start() - 1] != ' '
                or m.end() < len(self.heads)
                and self.heads[m.end()] != ' '
            ):
                wrong.append('heads touch: ' + self.heads)
        if not shown:
            wrong.append('%s: no column has its weight above it' % self.heading)
        lines = {row.before['│'] for row in self.rows if row.before['│']}
        named = {c for m in re.finditer(r'2\^(-?\d+)', self.heads) for c in (m.start(), m.end() - 1)}
        if lines and not any(self.cells[i - 1] in named for i in lines):
            wrong.append('%s: no line has the weight of its last bit above it: %s' % (self.heading, self.heads))
        if self.gaps and not any(self.cells[g] in named for g in self.gaps) and not lines & {g + 1 for g in self.gaps}:
            wrong.append('%s: no weight stands where columns begin again: %s' % (self.heading, self.heads))
        for row, value in known:
            at = row.before['│']
            if (
                line is not None
                and at is not None
                and line.get(id(row)) is not None
                and w[at - 1] is not None
                and w[at - 1] != line[id(row)]
            ):
                wrong.append(
                    '%s %s: the line stands below 2^%d, not 2^%d'
                    % (self.heading, row.label, w[at - 1], line[id(row)])
                )
        return wrong


def explain(*words, code=0):
    """Titles, each with its panels and paragraphs in their order; problems of the lines' widths."""
    r = subprocess.run([HALFULP, 'calc', '--explain', *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       universal_newlines=True)
    assert r.returncode == code, r.stderr
    parts, wrong, lines = [], [], r.stdout.split('\n')
    i, current = 0, None
    while i < len(lines):
        x = lines[i]
        if re.match(r'\S.*(significant bits?, |a block$)', x) and not lines[i - 1]:
            current = (x, [])
            parts.append(current)
        elif (
            current is not None
            and x.startswith('  ')
            and x[2] != ' '
            and i + 1 < len(lines)
            and lines[i + 1].startswith('    ')
        ):
            j = i + 1
            while lines[j]:
                j += 1
            current[1].append(Panel(x.strip(), lines[i + 1:j]))
            i = j
        elif current is not None and x.startswith('  ') and x[2] != ' ':
            j = i
            while lines[j].startswith('  ') and not lines[j + 1].startswith('    '):
                j += 1
            for a, b in zip(lines[i:j], lines[i + 1:j]):
                whole = a.endswith(('.', ':'))
                if len(a) > 78 or len(a) + 1 + len(b.split()[0]) <= 78 and not whole:
                    wrong.append('lines of words do not end at 78 characters: %r, %r' % (a, b))
            current[1].append(' '.join(s.strip() for s in lines[i:j]))
            i = j - 1
        i += 1
    return parts, wrong
