# SPDX-License-Identifier: Apache-2.0
# accumulate-what-if.tsv and its totals: the recorded operands of every product summed again by other models.
import math
from fractions import Fraction as Q

from .calls import PRODUCTS
from .expect import Near, Unknown, Within
from .files import NotFinite
from .judge import Judged, recorded
from .number import FORMATS, error_ulps, fl
from .sums import SCALE, STAGNANT, Model
from .swamping import product


def emulated(s, call, elements, model, seed, step):
    """Values as stored and counts."""
    out, scaled = s.exact.t[call['out'][0]].format, call['attr'].get('scaled')
    by = s.exact.t[call['in'][2]][0] * s.exact.t[call['in'][3]][0] if scaled else 1
    values, counts = [], []
    for i in elements:
        total, count = product(s.exact, call, i, seed, step, model)
        values.append(fl(Q(total, 1 << SCALE) / by, out))
        counts.append(count)
    return values, counts


def rows(run, states, models):
    """The rows, and the totals' rows. MODELS: texts, in the order they are asked for."""
    table, total = [], {m: None for m in models}
    refused = {m: 0 for m in models}
    seed = run.manifest['seed']
    for step in run.steps:
        s = states[step]
        for call in run.calls:
            if call['op'] not in PRODUCTS or not recorded(s.exact, call):
                continue
            t = call['out'][0]
            info, elements = run.tensors[t], s.elements(t)
            formats = [s.exact.t[x].format for x in call['in'][:2]]
            for text, own in [(call['sum'], 1)] + [(m, 0) for m in models]:
                model = Model(text)
                if not model.takes(*formats):
                    refused[text] += 1
                    continue
                row = {'step': step, 'call': call['id'], 'op': call['op'], 'phase': call['phase'], 'layer': call['layer'], 'tensor': info['name'], 'format': info['format'],
                       'terms': Judged.terms(s.exact, call, s.exact.t[t]), 'sum': text, 'recorded': own, 'elements': s.exact.t[t].n, 'sampled': len(elements), 'over_bound': 0}
                row['sqrt_n_u'] = Near(math.sqrt(row['terms']) * 2.0 ** -FORMATS[model.acc(call)][2], 1e-15)
                try:
                    values, counts = emulated(s, call, elements, model, seed, step)
                    j = Judged(s.exact, call, 0, elements, values, model)
                except NotFinite:
                    raise AssertionError('%s of step %d overflows: choose a run in which it does not' % (info['name'], step))
                f = j.figures()
                row.update((c, f[c]) for c in ('ulp_max', 'ulp_mean', 'ulp_mean_ci95', 'backward_normwise', 'bound_ratio_max'))
                row['bound_ulp_max'] = in_ulps(j)
                a, b = sum(c.additions for c in counts), sum(c.swamped for c in counts)
                row.update({'additions': a, 'swamped': b, 'share_swamped': b / a if a else 0.0, 'stagnated': sum(c.run >= STAGNANT for c in counts)})
                table.append(row)
                if not own:
                    add(total, text, row, j)
    return table, [dict(v, refused=refused[m]) for m, v in totals(total)]


def in_ulps(j):
    """The largest bound in ulps of its exact value."""
    lo = hi = 0.0
    for x, (b, c) in zip(j.exact, j.bound):
        if c is None:
            return Unknown('its bound has no textbook form') if lo == 0 else Within(lo, math.inf)
        ulp = 1 / error_ulps(x.lo + 1, x, j.format)  # an error of 1 in ulps
        lo, hi = max(lo, b / ulp), max(hi, c / ulp)
    return Within(lo, hi)


def add(total, text, row, j):
    t = total[text] = total[text] or {'sum': text, 'calls': 0, 'outputs': 0, 'ulp_max': 0.0, 'ulps': [], 'additions': 0, 'swamped': 0, 'stagnated': 0}
    t['calls'] += 1
    t['outputs'] += len(j.ulps)
    t['ulp_max'] = max(t['ulp_max'], row['ulp_max'])
    t['ulps'] += j.ulps
    for c in ('additions', 'swamped', 'stagnated'):
        t[c] += row[c]


def totals(total):
    for m, t in total.items():
        if t is None:
            continue
        ulps = t.pop('ulps')
        t['ulp_mean'] = Near(math.fsum(ulps) / len(ulps), 1e-13)
        t['share_swamped'] = t['swamped'] / t['additions'] if t['additions'] else 0.0
        yield m, t


