# SPDX-License-Identifier: Apache-2.0
# replay.tsv, faults.tsv, and the rows of --elements.
import math

from . import bias
from .calls import PRODUCTS, SUMS
from .expect import Near, Unknown, Within
from .judge import Judged, finite, recorded

MEASURED = ('ulp_max', 'ulp_mean', 'ulp_p99', 'rel_max', 'backward_normwise', 'backward_componentwise', 'condition_max', 'bound_ratio_max', 'worst_element', 'ulp_mean_ci95')


def rows(run, states, tampered=()):
    """STATES: by step, the exact results, the exact step and which elements were judged. TAMPERED: outputs outside their bound, by
    (step, tensor): the number of them."""
    for step in run.steps:
        s = states[step]
        for call in run.calls:
            for k, t in enumerate(call['out']):
                if not recorded(s.exact, call) or t not in s.exact.t:
                    continue
                info = run.tensors[t]
                tensor, elements = s.exact.t[t], s.elements(t)
                row = {'step': step, 'call': call['id'], 'op': call['op'], 'phase': call['phase'], 'layer': call['layer'], 'tensor': info['name'],
                       'format': info['format'], 'compute': call['fmt']['compute'], 'sum': call['sum'] if call['op'] in SUMS else '-',
                       'elements': tensor.n, 'sampled': len(elements), 'over_bound': tampered.get((step, info['name']), 0) if tampered else 0}
                if s.finite(call):
                    row.update(s.judged(call, k).figures())
                    row.update(bias.figures(s.judged(call, k)))
                    if row['over_bound']:
                        row['bound_ratio_max'] = Within(max(1.0, row['bound_ratio_max'].lo), row['bound_ratio_max'].hi if call['op'] in PRODUCTS else math.inf)
                else:
                    unseen = (*MEASURED, *bias.COLUMNS)
                    row.update((c, Unknown('operands are not finite')) for c in unseen)
                row.update(propagated(s, t, info))
                yield row


def propagated(s, t, info):
    if s.ideal is None or t not in s.ideal.t:
        return {'propagated_' + c: None for c in ('ulp_max', 'ulp_mean', 'rel_normwise')}
    most, mean, share = s.ideal.distance(t)
    near = lambda x: Near(x, s.widest, 1e-290)  # noqa: E731
    return {'propagated_ulp_max': near(most), 'propagated_ulp_mean': near(mean), 'propagated_rel_normwise': None if share is None else near(share)}


def element_rows(run, states):
    for step in run.steps:
        s = states[step]
        for call in run.calls:
            for k, t in enumerate(call['out']):
                if not s.finite(call):
                    continue
                j = s.judged(call, k)
                for n, i in enumerate(j.elements):
                    yield step, call['id'], run.tensors[t]['name'], i, j, n


def fault_rows(run, states, faults):
    """FAULTS: (step, tensor name, element)."""
    listed = []
    for step, name, i in faults:
        t = [x for x in run.tensors if x['name'] == name][0]
        call = run.producer[t['id']]
        j = states[step].judged(call, call['out'].index(t['id']))
        n = j.elements.index(i)
        lo, hi = j.bound[n]
        unit = float(j.error[n]) / j.ulps[n] if math.isfinite(j.ulps[n]) else math.inf
        # an operation rounded once has a bound below the ulp of its result, which may be twice that of the exact value
        far = not math.isfinite(j.ulps[n])
        bound = Within(0.0, math.inf) if far else Within(0.0, 2.0) if hi is None else Near((lo + hi) / 2 / unit, (hi - lo) / (hi + lo) + 1e-9)
        listed.append((-j.ulps[n], step, t['id'], i, {'step': step, 'call': call['id'], 'tensor': name, 'element': i, 'got': float(j.got[n]), 'exact': Near(float(j.exact[n].lo), 2.0 ** -51),
                      'error_ulps': j.ulps[n], 'bound_ulps': bound}))
    return [x[4] for x in sorted(listed, key=lambda x: x[:4])]
