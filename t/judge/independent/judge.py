# SPDX-License-Identifier: Apache-2.0
# The elements of one output against its exact values, and the figures that tables make of them.
import math
from fractions import Fraction as Q

from . import bounds
from .calls import PRODUCTS
from .expect import Near, Within
from .files import NotFinite
from .number import I, error_ulps, iv
from .sums import Model


class Judged:
    """Elements of output K of CALL: exact intervals, recorded values (GOT, or the tensor's own), errors, magnitudes, bounds."""

    def __init__(self, exact, call, k, elements, got=None, model=None, bounded=True):
        out = self.out = exact.t[call['out'][k]]
        self.elements, self.of, self.format = list(elements), out.n, out.format
        self.exact, self.got, self.error, self.ulps, self.magnitude, self.bound = [], [], [], [], [], []
        self.overflow = 0
        for j, i in enumerate(self.elements):
            x = iv(exact.value(call, k, i))
            m = exact.magnitude(call, k, i)
            m = Q(m) if m is not None else max(abs(x.lo), abs(x.hi))
            try:
                y = got[j] if got is not None else out[i]
                if isinstance(y, str):
                    raise NotFinite
                e, ulps = max(abs(y - x.lo), abs(y - x.hi)), error_ulps(y, x, out.format)
                if x.lo == x.hi == y:
                    e = Q(0)
            except NotFinite:
                y, e, ulps = 'inf', math.inf, math.inf
                self.overflow += 1
            self.exact.append(x)
            self.got.append(y)
            self.error.append(e)
            self.ulps.append(ulps)
            self.magnitude.append(m)
            self.bound.append(self.bound_of(exact, call, out, i, x, m, model) if bounded else (0.0, None))

    def bound_of(self, exact, call, out, i, x, m, model):
        if call['op'] not in PRODUCTS:
            return 0.0, None
        n = len(exact.terms(call, [exact.t[t] for t in call['in']], out, i))
        ins = [exact.t[t] for t in call['in']]
        scale = float(ins[2][0] * ins[3][0]) if call['attr'].get('scaled') else 1.0
        if int(call['attr'].get('part', 0)) and n > int(call['attr']['part']):
            return 0.0, None
        return bounds.product(model or Model(call['sum']), call, out.format, n, float(m) * scale, float(abs(x.lo)) * scale, scale)

    @staticmethod
    def terms(exact, call, out):
        # those of an output; pixels of a strided data gradient have different numbers: their mean
        each = [len(exact.terms(call, [exact.t[t] for t in call['in']], out, i)) for i in (range(0, out.n, out.shape[-1]) if call['op'] == 'conv2d_dx' else [0])]
        return sum(each) // len(each)

    def figures(self):
        """The columns that replay and what-if share, by name."""
        n, ulps = len(self.ulps), self.ulps
        worst = max(ulps)
        finite = [(e, m) for e, m in zip(self.error, self.magnitude) if not isinstance(e, float)]
        error2, mag2 = sum(e * e for e, m in finite), sum(m * m for e, m in finite)
        size = [max(abs(x.lo), abs(x.hi)) for x in self.exact]
        over = lambda pairs: max([float(a) if isinstance(a, float) else float(a / b) for a, b in pairs if b], default=0.0)  # noqa: E731
        mean = math.fsum(ulps) / n
        ci = 0.0
        if n > 1 and math.isfinite(mean):
            variance = math.fsum((u - mean) ** 2 for u in ulps) / (n - 1)
            ci = 1.96 * math.sqrt(variance / n * (1 - n / self.of))
        lo, hi = bounds.ratio([float(e) for e in self.error], self.bound)
        return {'ulp_max': worst, 'ulp_mean': Near(mean, 1e-14), 'ulp_p99': sorted(ulps)[math.ceil(0.99 * n) - 1],
                'rel_max': Near(over(zip(self.error, size)), 1e-14),
                'backward_normwise': Near(math.sqrt(error2 / mag2) if mag2 else math.inf if error2 else 0.0, 1e-12),
                'backward_componentwise': Near(over((e, m) for e, m in zip(self.error, self.magnitude) if e), 1e-12),
                'condition_max': Near(over((m, s) for m, s in zip(self.magnitude, size)), 1e-12),
                'bound_ratio_max': Within(lo, max(lo, hi)), 'worst_element': self.elements[ulps.index(worst)],
                # the sums of squares cancel: what is left of them is off by 2^-52 of what was there
                'ulp_mean_ci95': Near(ci, 1e-9, 1e-7 * mean * (n < self.of) if math.isfinite(mean) else 0)}


def recorded(exact, call):
    return call['op'] != 'opaque' and all(t in exact.t for t in call['in'])


def finite(exact, call):
    """Whether the operands are finite, all of them."""
    try:
        for t in call['in']:
            tensor = exact.t[t]
            for i in range(tensor.n):
                tensor[i]
    except NotFinite:
        return False
    return True


def point(x):
    """An interval's number, for sums that need no more than 100 digits of it."""
    return x if not isinstance(x, I) else x.lo
