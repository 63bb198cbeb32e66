# SPDX-License-Identifier: Apache-2.0
# Rounding as the gallery's figures show it, by Fractions and to nearest even, and numbers as they are written there.
import math
import struct
from fractions import Fraction as F

SHAPE = {'fp64': (53, -1022), 'fp32': (24, -126), 'tf32': (11, -126), 'fp16': (11, -14), 'bf16': (8, -126),
        'e4m3': (4, -6), 'e5m2': (3, -14)}
RAISED = str.maketrans('0123456789-', '⁰¹²³⁴⁵⁶⁷⁸⁹⁻')


def exponent(x):
    n, d = abs(x.numerator), x.denominator
    e = n.bit_length() - d.bit_length()
    return e if F(n, d) >= F(2) ** e else e - 1


def ulp(x, f):
    p, emin = SHAPE[f]
    return F(2) ** (max(exponent(x), emin) - p + 1) if x else F(2) ** (emin - p + 1)


def rnd(x, f):
    x = F(x)
    return round(x / ulp(x, f)) * ulp(x, f) if x else F(0)      # Python's round is to even


def root(x, f):
    if not x:
        return F(0)
    scale = 2 ** 200
    return rnd(F(math.isqrt(int(x * scale * scale)) * 2 + 1, 2 * scale),
            f)     # half a unit on: no tie is made, none is met


def power(k):
    return '2' + str(k).translate(RAISED)


def grouped(n):
    return '{:,}'.format(n).replace(',', '\u202f') if n >= 10000 else str(n)


def single(x):
    return struct.unpack('f', struct.pack('f', x))[0]


def four_bits(v):
    """To the nearest number of e2m1, of two the even one."""
    grid = [0, 0.5, 1, 1.5, 2, 3, 4, 6]
    return math.copysign(min(grid, key=lambda q: (abs(q - abs(v)), grid.index(q) % 2)), v)
