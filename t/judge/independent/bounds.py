# SPDX-License-Identifier: Apache-2.0
# A-priori bounds on a call's error, as far as the literature has them: a pair of numbers that the program's bound lies
# between. Products: Jeannerod and Rump 2013 and the chunked and pairwise sums of Higham's book, chapter 4, with
# underflow; a rounding to the output is (1 + d) x + e, |d| <= u, |e| <= half the smallest subnormal. Elsewhere the
# upper one is None.
import math

from .number import FORMATS
from .sums import Model

SLACK = 1e-6  # of sums of doubles, rounded outward


def of_format(name):
    bits, ebits, p, emin, infinities = FORMATS[name]
    emax = (1 << (ebits - 1)) - 1 if infinities else 1 << (ebits - 1)
    return 2.0 ** -p, 2.0 ** (emin - p + 1), math.ldexp(2 - 2.0 ** (1 - p if infinities else 2 - p), emax)


def holds(out, inner):
    a, b = FORMATS[out], FORMATS[inner]
    return a[2] >= b[2] and a[3] <= b[3] and a[1] >= b[1]


def product(model, call, out, n, mag, value, scale):
    """Of an output of N terms with magnitudes' sum MAG, all before SCALE is divided out. Products are exact and enter once."""
    model = model if isinstance(model, Model) else Model(model)
    acc = model.acc(call)
    u, eta, most = of_format(acc)
    sr = model.keys.get('mode') == 'SR'
    if model.name in ('fma', 'sequential'):
        relative = math.expm1(n * math.log1p(2 * u)) if sr else n * u
        if sr and model.name == 'sequential':
            return 0.0, None
    elif model.name == 'chunk' and not sr:
        length = min(model.n, n)
        m = -(-n // length)
        relative = length * u + (m - 1) * u * (1 + length * u)
    elif model.name == 'pairwise' and not sr:
        relative = math.expm1((math.ceil(math.log2(n)) + 1 if n > 1 else 1) * math.log1p(u))
    else:
        return 0.0, None
    tiny = n * eta * (1 if sr else 0.5)
    if (1 + relative) * mag > most:
        return math.inf, math.inf
    lo, hi = relative * mag + tiny, relative * mag + tiny * (1 + relative) * (1 + n * u)
    lo, hi, size = lo / scale, hi / scale, value / scale
    if not holds(out, acc) or scale != 1:
        u, eta, most = of_format(out)
        if size + hi > most * (1 - SLACK):
            return 0.0, None
        lo += u * (size + lo) + eta / 2
        hi += u * (size + hi) + eta / 2
    return lo * (1 - SLACK), hi * (1 + SLACK)


def ratio(errors, bounds):
    """The largest |error|/bound lies between these two."""
    lo = hi = 0.0
    for e, (b, c) in zip(errors, bounds):
        if e == 0:
            continue
        hi = max(hi, 1.0 if b == 0 else 0.0 if math.isinf(b) else e / b)
        lo = max(lo, 0.0 if c is None or math.isinf(c) else e / c)
    return lo, hi
