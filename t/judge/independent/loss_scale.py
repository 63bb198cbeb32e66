# SPDX-License-Identifier: Apache-2.0
# loss-scale.tsv and loss-scale-safe.tsv.
import math
from fractions import Fraction as Q

from .expect import Near
from .number import FORMATS, pow2
from .step import K

FIRST, LAST = -8, 24
LOWEST, HIGHEST = -1400, 1400


def limits(name):
    """The largest number that rounds to zero; the smallest that overflows to nearest, and whether that itself does."""
    bits, ebits, p, emin, infinities = FORMATS[name]
    emax = (1 << (ebits - 1)) - 1 if infinities else 1 << (ebits - 1)
    if infinities:
        return pow2(emin - p), (2 - pow2(-p)) * pow2(emax), True
    return pow2(emin - p), (2 - pow2(1 - p) - pow2(-p)) * pow2(emax), False


def need(x, tiny):
    """The smallest k with x 2^k above TINY."""
    k = math.frexp(tiny / x)[1] - 2
    while x * pow2(k) <= tiny:
        k += 1
    return k


def burst(x, top, itself):
    """The smallest k with x 2^k beyond the format."""
    k = math.frexp(top / x)[1] - 2
    while x * pow2(k) < top or (x * pow2(k) == top and not itself):
        k += 1
    return k


class Sweep:
    def __init__(self):
        self.values = []  # magnitude, its need, its burst, its square in proportion to 2^-60

    def add(self, x, name):
        tiny, top, itself = limits(name)
        self.values.append((x, need(x, tiny), burst(x, top, itself), float(x * pow2(60)) ** 2))

    def at(self, k):
        lost = [s for x, n, b, s in self.values if n > k]
        return len(lost), sum(b <= k for x, n, b, s in self.values), math.sqrt(math.fsum(lost) / math.fsum(s for x, n, b, s in self.values))

    def safe(self, share, u):
        most = min(b for x, n, b, s in self.values) - 1
        norm = math.fsum(s for x, n, b, s in self.values)
        lost, lost2, least = 0, 0.0, max(n for x, n, b, s in self.values)
        for x, n, b, square in sorted(self.values, key=lambda v: -v[1]):
            if n < least:
                if lost > share * len(self.values) or math.sqrt(lost2 / norm) > u:
                    break
                least = n
            lost, lost2 = lost + 1, lost2 + square
        else:
            if not (lost > share * len(self.values) or math.sqrt(lost2 / norm) > u):
                least = LOWEST
        return least, most


def judged_in(run, t):
    """The format in which a gradient must survive; None where it does not count."""
    alone = math.prod(t['shape']) < 2 and t['class'] != 'wgrad'
    if not t.get('loss_scaled') or alone or t.get('scale', -1) >= 0:
        return None
    if FORMATS[t['format']][0] <= 16:
        return t['format']
    narrow = any(x.get('loss_scaled') and FORMATS[x['format']][0] <= 16 for x in run.tensors)
    return None if narrow else 'fp16'


def sweep_rows(sweep, step, name, form):
    for k in range(FIRST, LAST + 1):
        lost, overflow, share = sweep.at(k)
        yield {'step': step, 'tensor': name, 'format': form, 'log2_scale': k, 'lost': lost, 'overflow': overflow, 'share_lost': lost / len(sweep.values), 'l2_share_lost': Near(share, 1e-12)}


def safe_row(step, name, form, amax, least, most, nonzeros, recorded):
    fits = least <= most
    return {'step': step, 'tensor': name, 'format': form, 'amax': Near(amax, 1e-15), 'log2_scale_min': least if fits else None, 'log2_scale_max': most if fits else None,
            'nonzeros': nonzeros, 'recorded_amax': Near(max(recorded, default=0.0), 1e-15), 'recorded_nonzeros': len([x for x in recorded if x])}


def rows(run, states, share):
    """The two tables' rows; SHARE: of nonzeros that a safe scale may lose."""
    table, safe = [], []
    for step in run.steps:
        s = states[step]
        if s.ideal is None:
            continue
        scale = s.scalar('scaler.scale')
        everything, seen, lows, highs, form = Sweep(), [], [], [], '-'
        for t in run.tensors:
            f = judged_in(run, t)
            if f is None or t['id'] not in s.ideal.t:
                continue
            form, sweep = f, Sweep()
            for x in s.ideal.clean(t['id']):
                if x:
                    sweep.add(abs(Q(x, 1 << K)) / scale, f)
            if not sweep.values:
                continue
            r = s.exact.t[t['id']]
            recorded = [abs(v) / scale for v in map(r.raw, range(r.n)) if not isinstance(v, str)]
            table += sweep_rows(sweep, step, t['name'], f)
            least, most = sweep.safe(share, 2.0 ** -FORMATS[f][2])
            row = safe_row(step, t['name'], f, float(max(v[0] for v in sweep.values)), least, most, len(sweep.values), [float(v) for v in recorded])
            safe.append(row)
            everything.values += sweep.values
            seen.append((max(recorded, default=Q(0)), row['recorded_nonzeros']))
            lows.append(least)
            highs.append(most)
        if everything.values:
            table += sweep_rows(everything, step, 'all', form)
            row = safe_row(step, 'all', form, float(max(v[0] for v in everything.values)), max(lows), min(highs), len(everything.values), [])
            row['recorded_amax'], row['recorded_nonzeros'] = Near(float(max(a for a, n in seen)), 1e-15), sum(n for a, n in seen)
            safe.append(row)
    return table, safe
