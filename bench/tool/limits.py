# SPDX-License-Identifier: Apache-2.0
# The limits of `check` in statistics mode, computed in another way than the program does: Student's t by Simpson's rule,
# and how many times a standard deviation of n values the spread may be with 90 %.
import math


def tail(t, n):
    """P(T > t), by Simpson's rule in the angle: T = sqrt(n) tan(u) has the density cos(u)^(n-1)."""
    c = math.exp(math.lgamma((n + 1) / 2) - math.lgamma(n / 2)) / math.sqrt(math.pi)
    a, steps = math.atan(t / math.sqrt(n)), 2000
    h, f = (math.pi / 2 - a) / steps, lambda u: max(math.cos(u), 0) ** (n - 1)
    odd, even = (sum(f(a + i * h) for i in range(first, steps, 2)) for first in (1, 2))
    return c * h / 3 * (f(a) + f(math.pi / 2) + 4 * odd + 2 * even)


limits = {}


def limit(p, n):
    if (p, n) not in limits:
        low, high = 0.0, 1.0
        while tail(high, n) > p:
            high *= 2
        while high - low > 1e-9 * high:
            mid = (low + high) / 2
            low, high = (mid, high) if tail(mid, n) > p else (low, mid)
        limits[p, n] = high
    return limits[p, n]


def widening(n):
    """sqrt((n - 1)/x): the sum of n - 1 squares is below x with probability 10 % (Abramowitz and Stegun 26.4.4, 26.4.5)."""

    def above(x):
        start = 1 if (n - 1) % 2 else 2
        return (math.erfc(math.sqrt(x / 2)) if start == 1 else math.exp(-x / 2)) + sum(
            math.exp(k / 2 * math.log(x / 2) - x / 2 - math.lgamma(k / 2 + 1)) for k in range(start, n - 1, 2)
        )

    low, high = 1e-9, 1e3
    for _ in range(80):
        mid = (low + high) / 2
        low, high = (mid, high) if 1 - above(mid) < 0.1 else (low, mid)
    return math.sqrt((n - 1) / low)
