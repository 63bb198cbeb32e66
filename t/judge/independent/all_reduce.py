# SPDX-License-Identifier: Apache-2.0
# What an all-reduce over ranks does to their gradients, in fractions, from the messages that ranks exchange; and files
# of gradients.
import json
import math
import struct
from fractions import Fraction as Q

from independent.number import FORMATS


def rounded(x, name):
    """X to nearest even; an infinity where it leaves the range of a format that has one, else None, as NaN."""
    if x is None or isinstance(x, float):
        return x
    bits, ebits, p, emin, infinities = FORMATS[name]
    if x == 0:
        return Q(0)
    a = abs(x)
    e = a.numerator.bit_length() - a.denominator.bit_length()
    e -= a < Q(2) ** e
    unit = Q(2) ** (max(e, emin) - p + 1)
    r = round(a / unit) * unit  # to even, as Python rounds fractions
    most = Q(448) if name == 'e4m3' else (2 - Q(2) ** (1 - p)) * Q(2) ** ((1 << (ebits - 1)) - 1)
    if r > most:
        return None if name == 'e4m3' else math.copysign(math.inf, x)
    return -r if x < 0 else r


def plus(x, y, name):
    if x is None or y is None:
        return None
    if isinstance(x, float) or isinstance(y, float):
        s = float(x) + float(y)
        return None if s != s else s
    return rounded(x + y, name)


class Reduce:
    def __init__(self, acc, wire):
        self.acc, self.wire, self.additions, self.swamped, self.run = acc, wire, 0, 0, 0

    def hop(self, x, y):
        return rounded(plus(x, y, self.acc), self.wire)

    def ring(self, x, last=True):
        acc = x[0]
        for y in x[1:]:
            s = self.hop(acc, y)
            if y != 0:
                finite = isinstance(acc, Q) and isinstance(y, Q)
                lost = finite and acc != 0 and s == acc
                self.additions += finite and acc != 0
                self.swamped += lost
                self.run = self.run + 1 if lost else 0
            acc = s
        return acc

    def join(self, x, y):
        s = self.hop(x, y)
        if isinstance(x, Q) and isinstance(y, Q) and x != 0 and y != 0:
            self.additions += 1
            self.swamped += s in (x, y)
        return s

    def tree(self, x, halving):
        two = 1 << len(x).bit_length() - 1
        extra = len(x) - two
        x = [self.join(x[2 * i], x[2 * i + 1]) for i in range(extra)] + x[2 * extra :]
        while len(x) > 1:
            h = len(x) // 2
            x = [self.join(x[i], x[i + h]) if halving else self.join(x[2 * i], x[2 * i + 1]) for i in range(h)]
        return x[0]


def again(records, order, wire, acc, ranks, before, scale, steps=1, feedback=False):
    """The row's numbers, of records whose values are fractions, infinite floats, or None for NaN."""
    count = dict(underflowed=0, nonzeros=0, overflowed=0, additions=0, swamped=0, stagnated=0)
    loud, error, norm = set(), Q(0), Q(0)
    of = len(records[0])
    for e in range(of):
        kept, exacts, gots, stagnated = [Q(0)] * ranks, Q(0), Q(0), 0
        for step in range(steps):
            own = [records[(k + step) % len(records)][e] for k in range(ranks)]
            cast = [rounded(g * scale / before if isinstance(g, Q) else g, 'fp32') for g in own]
            if feedback:
                cast = [plus(x, y, 'fp32') for x, y in zip(cast, kept)]
            sent = [rounded(x, wire) for x in cast]
            kept = [x - y if isinstance(x, Q) and isinstance(y, Q) else Q(0) for x, y in zip(cast, sent)]
            finite = all(isinstance(g, Q) for g in own)
            exact = sum(own) / ranks if finite else None
            r = Reduce(acc, wire)
            if order == 'ring':
                start = e * ranks // of
                total = r.ring(sent[start:] + sent[:start])
            elif order.startswith('hier'):
                g = int(order[5:])
                total = r.tree([r.ring(sent[i : i + g]) for i in range(0, ranks, g)], False)
            else:
                total = r.tree(sent, order == 'halving')
            got = rounded(total * before / ranks / scale, 'fp32') if isinstance(total, Q) else total
            count['nonzeros'] += sum(g != 0 for g in own)
            count['underflowed'] += sum(g != 0 and x == 0 for g, x in zip(own, sent))
            loud |= {k for k, x in enumerate(sent) if not isinstance(x, Q)}
            count['additions'] += r.additions
            count['swamped'] += r.swamped
            stagnated |= r.run >= 8
            exacts = exacts + exact if exacts is not None and finite else None
            gots = gots + got if isinstance(gots, Q) and isinstance(got, Q) else None
        count['stagnated'] += stagnated
        count['overflowed'] += not isinstance(gots, Q)
        if exacts is not None:
            norm += exacts * exacts
            error += (gots - exacts) ** 2 if isinstance(gots, Q) else 0
    share = lambda a, b: a / b if b else 0  # noqa: E731
    return dict(
        rel_l2=math.sqrt(error / norm) if norm else math.inf if error else None,
        underflowed=share(count['underflowed'], count['nonzeros']),
        swamped=share(count['swamped'], count['additions']),
        stagnated=count['stagnated'] / of,
        overflowed=count['overflowed'],
        loud_ranks=len(loud),
        nonfinite=sum(
            any(not isinstance(g, Q) for t in range(steps) for g in records[(k + t) % len(records)])
            for k in range(ranks)
        ),
    )


def same(row, want):
    """Says which of a row's numbers are other than those computed again, but for the rounding of doubles."""

    def close(a, b):
        return a is b if a is None or b is None else math.isclose(float(a), b, rel_tol=1e-12, abs_tol=1e-15)

    return [
        '%s: %s %s there, %s here' % ([row[x] for x in ('order', 'wire', 'ranks', 'divide')], k, row.get(k), v)
        for k, v in want.items()
        if not close(row.get(k), v)
    ]


def write(path, x):
    """A .safetensors file of the numbers: a step's number, which is no gradient, and two tensors."""
    third = len(x) // 3
    head = json.dumps(
        {
            'a': {'dtype': 'I64', 'shape': [1], 'data_offsets': [0, 8]},
            'b': {'dtype': 'F32', 'shape': [third], 'data_offsets': [8, 8 + 4 * third]},
            'w': {'dtype': 'F32', 'shape': [len(x) - third], 'data_offsets': [8 + 4 * third, 8 + 4 * len(x)]},
        }
    ).encode()
    head += b' ' * (-len(head) % 8)
    floats = [math.nan if v is None else float(v) for v in x]
    open(path, 'wb').write(struct.pack('<Q', len(head)) + head + struct.pack('<q%df' % len(x), 7, *floats))
