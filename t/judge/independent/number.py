# SPDX-License-Identifier: Apache-2.0
# Numbers for the independent judge: values of formats, rounding to them, enclosures of sqrt and log, errors in
# ulps. Fractions throughout; an irrational value is an interval whose ends agree to more than 240 bits.
import functools
import math
from fractions import Fraction as Q

BITS = 280  # of interval ends

# name: code bits, exponent bits, precision, emin, has infinities
FORMATS = {'fp64': (64, 11, 53, -1022, True), 'fp32': (32, 8, 24, -126, True), 'tf32': (19, 8, 11, -126, True),
           'fp16': (16, 5, 11, -14, True), 'bf16': (16, 8, 8, -126, True), 'e4m3': (8, 4, 4, -6, False), 'e5m2': (8, 5, 3, -14, True)}


def decode(code, name):
    """The value of a code: a Fraction, or 'inf', '-inf', 'nan'; -0 is 0."""
    bits, ebits, p, emin, infinities = FORMATS[name]
    sign = code >> (bits - 1) & 1
    field, m = code >> (p - 1) & ((1 << ebits) - 1), code & ((1 << (p - 1)) - 1)
    if field == (1 << ebits) - 1:
        if infinities:
            return 'nan' if m else '-inf' if sign else 'inf'
        if m == (1 << (p - 1)) - 1:
            return 'nan'
    e = emin - p + 1
    if field:
        m, e = m | 1 << (p - 1), e + field - 1
    m = -m if sign else m
    return Q(m << e) if e >= 0 else Q(m, 1 << -e)


@functools.lru_cache(4096)
def pow2(e):
    return Q(1 << e) if e >= 0 else Q(1, 1 << -e)


def log2floor(x):
    """floor(log2 |x|) of a nonzero Fraction."""
    n, d = abs(x.numerator), x.denominator
    e = n.bit_length() - d.bit_length()
    return e if n * (1 << max(0, -e)) >= d * (1 << max(0, e)) else e - 1


def fl(x, name='fp32'):
    """x rounded to nearest, ties to even; overflow gives 'inf' or '-inf'."""
    bits, ebits, p, emin, infinities = FORMATS[name]
    if x == 0:
        return Q(0)
    e = max(log2floor(x), emin) - p + 1
    top, down = abs(x.numerator) << max(0, -e), x.denominator << max(0, e)
    n, rest = divmod(top, down)
    if 2 * rest > down or (2 * rest == down and n & 1):
        n += 1
    r = n * pow2(e)
    emax = (1 << (ebits - 1)) - 1 if infinities else 1 << (ebits - 1)
    largest = (2 - pow2(1 - p)) * pow2(emax) if infinities else (2 - pow2(2 - p)) * pow2(emax)
    if r > largest:
        return ('-inf' if x < 0 else 'inf') if infinities else 'nan'
    return -r if x < 0 else r


def trim(x, up):
    """x rounded outward to BITS bits."""
    n, d = x.numerator, x.denominator
    if d == 1 or (d.bit_length() < BITS and n.bit_length() < BITS and d & (d - 1) == 0):
        return x
    s = BITS - (n.bit_length() - d.bit_length())
    q, rest = divmod(n << s, d) if s >= 0 else divmod(n, d << -s)
    return x if not rest else (q + (1 if up else 0)) * pow2(-s)


class I:
    """A closed interval of Fractions."""

    def __init__(self, lo, hi=None):
        self.lo = lo if isinstance(lo, Q) else Q(lo)
        self.hi = self.lo if hi is None else hi if isinstance(hi, Q) else Q(hi)

    def out(self):
        return I(trim(self.lo, False), trim(self.hi, True))

    def __add__(self, o):
        o = iv(o)
        return I(self.lo + o.lo, self.hi + o.hi).out()

    def __neg__(self):
        return I(-self.hi, -self.lo)

    def __sub__(self, o):
        return self + (-iv(o))

    def __mul__(self, o):
        o = iv(o)
        c = [self.lo * o.lo, self.lo * o.hi, self.hi * o.lo, self.hi * o.hi]
        return I(min(c), max(c)).out()

    def __truediv__(self, o):
        o = iv(o)
        assert o.lo > 0 or o.hi < 0
        c = [self.lo / o.lo, self.lo / o.hi, self.hi / o.lo, self.hi / o.hi]
        return I(min(c), max(c)).out()

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, o):
        return iv(o) - self

    def __rtruediv__(self, o):
        return iv(o) / self


def iv(x):
    return x if isinstance(x, I) else I(x)


def isqrt_down(x):
    """Largest multiple of a unit of relative size 2^-BITS whose square is at most x."""
    if x == 0:
        return Q(0), Q(0)
    s = BITS - log2floor(x) // 2
    n = x.numerator * (1 << 2 * s) // x.denominator if s >= 0 else x.numerator // (x.denominator * (1 << -2 * s))
    r = math.isqrt(n)
    return r * pow2(-s), (r + 1) * pow2(-s)


def sqrt(x):
    x = iv(x)
    return I(isqrt_down(x.lo)[0], isqrt_down(x.hi)[1])


def atanh2(t):
    """2 atanh(t) = log((1+t)/(1-t)) for |t| <= 1/3."""
    total, power, n = iv(t), iv(t), 1
    square = iv(t) * t
    while max(abs(power.lo), abs(power.hi)) > pow2(-BITS - 20):
        n += 2
        power = power * square
        total = total + power / n
    rest = max(abs(power.lo), abs(power.hi)) * 2
    return (total + I(-rest, rest)) * 2


LN2 = atanh2(I(Q(1, 3)))


def log_point(x):
    e = log2floor(x)
    m = x * pow2(-e)          # 1 <= m < 2
    if m > Q(4, 3):
        m, e = m / 2, e + 1   # 2/3 .. 4/3
    return atanh2(I((m - 1) / (m + 1)).out()) + LN2 * e


def log(x):
    x = iv(x)
    return I(log_point(x.lo).lo, log_point(x.hi).hi)


def error_ulps(got, exact, name):
    """|got - exact| over 2^(max(floor(log2|exact|), emin) - p + 1) as the nearest double; None where the ends
    disagree."""
    bits, ebits, p, emin, infinities = FORMATS[name]
    exact = iv(exact)

    def one(x):
        e = emin if x == 0 else max(log2floor(x), emin)
        return float(abs(got - x) * pow2(-(e - p + 1)))
    a = one(exact.lo)
    b = a if exact.hi is exact.lo else one(exact.hi)
    return a if a == b else None
