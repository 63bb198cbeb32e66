# SPDX-License-Identifier: Apache-2.0
# What a cell should hold, and tables compared with it: each column that is there must have been recomputed, and each
# that was recomputed must be there; so must the rows, in their order.
import math

from .files import table


class Near:
    """A number to within REL of itself, or ABS."""

    def __init__(self, value, rel=1e-12, absolute=0.0):
        self.value, self.rel, self.absolute = value, rel, absolute

    def holds(self, text):
        if text in ('-', ''):
            return False
        if text.strip("'") in ('overflowed', 'not finite'):  # words where no number is
            return not math.isfinite(self.value)
        x = float(text)
        if math.isnan(self.value) or math.isinf(self.value):
            return x == self.value or (math.isnan(x) and math.isnan(self.value))
        return abs(x - self.value) <= self.rel * abs(self.value) + self.absolute

    def __str__(self):
        return '%.17g within %.2g' % (self.value, self.rel)


class Within:
    """A number between two others."""

    def __init__(self, lo, hi):
        self.lo, self.hi = lo, hi

    def holds(self, text):
        return text not in ('-', '') and self.lo <= float(text) <= self.hi

    def __str__(self):
        return '%.17g to %.17g' % (self.lo, self.hi)


class Unknown:
    """Not recomputed in this row, for the reason given. A column must not be unknown in every row."""

    def __init__(self, why):
        self.why = why

    def holds(self, text):
        return True


def holds(expected, text):
    if expected is None:
        return text == '-'
    if isinstance(expected, (Near, Within, Unknown)):
        return expected.holds(text)
    if isinstance(expected, float):
        return text not in ('-', '') and (float(text) == expected or (math.isnan(expected) and text == 'nan'))
    return text == str(expected)


class Maybe(dict):
    """A row that may be missing."""


def without_absent(got, rows):
    """ROWS without those that may be missing and are."""
    keys = ('step', 'call', 'tensor')
    names = {tuple(g.get(k) for k in keys) for g in got}
    return [r for r in rows if not isinstance(r, Maybe) or tuple(str(r[k]) for k in keys) in names]


def compare(path, columns, rows, name):
    """Problems of the table at PATH, as texts; how many cells agreed, by column, adds to COLUMNS (name: count)."""
    there, got = table(path)
    rows = without_absent(got, rows)
    wrong = ['%s: column %s is recomputed by nothing' % (name, c) for c in there if rows and c not in rows[0]]
    wrong += ['%s: no column %s' % (name, c) for c in (rows[0] if rows else []) if c not in there]
    if len(got) != len(rows):
        wrong.append('%s: %d rows there, %d here' % (name, len(got), len(rows)))
    for n, (g, row) in enumerate(zip(got, rows)):
        for c, e in row.items():
            if c not in g:
                continue
            if not holds(e, g[c]):
                key = ' '.join(str(row[k]) for k in ('quantity', 'step', 'tensor', 'scaler', 'sum', 'kind') if k in row and isinstance(row[k], (str, int)))
                wrong.append('%s row %d (%s): %s is %s there, %s here' % (name, n, key, c, g[c], e))
            elif not isinstance(e, Unknown):
                columns[name, c] = columns.get((name, c), 0) + 1
    for c in there:
        columns.setdefault((name, c), 0)
    return wrong
