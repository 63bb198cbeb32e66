# SPDX-License-Identifier: Apache-2.0
# Roundings by fractions, in every mode that is not drawn by chance, and what the program says of one.
from fractions import Fraction as Q

from independent.number import FORMATS, fl, log2floor, pow2


def quantum(x, f):
    """The exponent of the ulp of X in F."""
    p, emin = FORMATS[f][2:4]
    return max(log2floor(x), emin) - p + 1 if x else emin - p + 1


def number(x, digits=10):
    return '%.*g' % (digits, float(x))


def any_value(dice, f, spread):
    return fl(
        Q(dice.choice((-1, 1, 1)) * dice.randrange(1, 2 ** dice.choice((3, 12))))
        * pow2(dice.randrange(-spread, 1) - 5),
        f,
    )


def text(x):
    return x.hex() if isinstance(x, float) else float(x).hex()


def below(exact, got, f, mode, more=False):
    """The sentence of a rounding of EXACT to GOT: guard, round, sticky and the part of an ulp that lies below the
    line."""
    line = quantum(exact, f)
    if not exact:
        return 'The exact result is 0.'
    rest = abs(exact) * pow2(-line) % 1
    said = 'Nothing lies below the line: the result is exact.'
    if rest:
        said = 'Guard %d, round %d, sticky %d: %s ulp lies below the line' % (
            rest * 2 // 1 % 2,
            rest * 4 // 1 % 2,
            int(rest * 4 % 1 != 0),
            number(rest),
        )
        way = 'down' if abs(got) < abs(exact) else 'up'
        if mode in ('RNE', 'RNA', 'RNZ'):
            tie = ({'RNE': 'the tie goes to the even neighbour, ', 'RNA': 'the tie goes away from zero, ',
                    'RNZ': 'the tie goes toward zero, '}[mode] if rest == Q(1, 2) else '')
            said += ', %s half: %s%s rounds the magnitude %s.' % (
                'less than' if rest < Q(1, 2) else 'more than' if rest > Q(1, 2) else 'exactly',
                tie,
                mode,
                way,
            )
        else:
            said += '. %s does not ask how much: the magnitude goes %s.' % (mode, way)
    if abs(exact) < pow2(FORMATS[f][3]):
        said += (' Below 2^%d numbers of %s are subnormal: the line stays at 2^%d, so fewer significant bits are left.'
                 % (FORMATS[f][3], f, line))
    return said


def directed(x, f, mode):
    """X rounded to F in MODE, where that is in range."""
    unit = pow2(quantum(x, f))
    n, rest = divmod(abs(x), unit)
    up = rest and (rest > unit / 2 or rest == unit / 2 and (mode == 'RNA' or mode == 'RNE' and n % 2) if mode[:2]
                   == 'RN' else mode == 'RU' and x > 0 or mode == 'RD' and x < 0)
    return (n + bool(up)) * unit * (1 if x > 0 else -1)


def mover(big, small, f, mode):
    """The smallest positive number of F that moves BIG with the sign of SMALL."""
    p, emin = FORMATS[f][2:4]
    lowest, sign = pow2(emin - p + 1), -1 if small < 0 else 1
    value = lambda n: lowest * (
        n if n < 2 ** p else (2 ** (p - 1) + n % 2 ** (p - 1)) << (n >> (p - 1)) - 1
    )  # noqa: E731  positive numbers, ascending
    low, high = 0, 1 << 31
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (
            (low, middle)
            if value(middle) > 4 * abs(big) or directed(big + sign * value(middle), f, mode) != big
            else (middle, high)
        )
    return value(high) if value(high) <= 4 * abs(big) else None
