# SPDX-License-Identifier: Apache-2.0
# The rows of weights.tsv with the role next: the step behind a traced one from the states that it stored beside the
# same from exact states, each weight with the gradient of the weight half a tensor away.
import math
from fractions import Fraction as Q

from .expect import Near
from .harm import Harm
from .step import K, Step, Values, fixed

OTHERS = 'adam', 'adamw', 'batchnorm', 'scale_update'   # whose states other tables judge


class Behind(Step):
    """The update's calls once more, from `values` by tensor id; what is made of states is made again, and nothing
    else."""

    def __init__(self, exact, calls, values, made_again):
        self.exact, self.t = exact, {t: Values(v, exact.t[t]) for t, v in values.items()}
        for call in calls:
            if made_again.intersection(call['out']):
                ins, outs = [self.t[t] for t in call['in']], [exact.t[t] for t in call['out']]
                results = getattr(self, 'op_' + call['op'])(call, ins, outs)
                self.t.update({t: Values(v, out) for t, out, v in zip(call['out'], outs, results)})


def size_of(x):
    return 0 if isinstance(x, str) else abs(fixed(x))


def varying(run, s):
    """States by what they become, and those of them whose exact value is off by more than 2^-16."""
    x, becomes, other = s.exact.t, {}, set()
    for w in run.tensors:
        i, after = w['id'], w.get('next', -1)
        if not w.get('state') or w.get('trainable') or after in (-1, i) or i not in x or after not in x:
            continue
        becomes[i] = after
        made = run.producer.get(after)
        if made and made['op'] not in OTHERS and after in s.ideal.t:
            for k, exact in enumerate(s.ideal.clean(after)):
                off = abs(fixed(x[after][k]) - exact)
                if off << 16 > max(abs(exact), size_of(x[i].raw(k))):
                    other.add(i)
    return becomes, other


def rows(run, s, step):
    if s.ideal is None or s.skipped:
        return []
    x = s.exact.t
    becomes, other = varying(run, s)
    if not other:
        return []
    weights = {w['id']: w['next'] for w in run.tensors if w.get('trainable') and w.get('next', -1) in x}
    of_gradients = {w['grad'] for w in run.tensors if w.get('trainable') and w.get('grad', -1) >= 0}
    of_states, made_again, needed, wanted = set(becomes), set(), set(), set(weights.values())
    calls = [c for c in run.calls if c['phase'] == 'update' and all(t in x for t in c['out'])]
    for c in calls:
        if of_states.intersection(c['in']):
            of_states.update(c['out'])
        elif of_gradients.intersection(c['in']):
            of_gradients.update(c['out'])
    for c in reversed(calls):
        if wanted.intersection(c['out']) and of_states.intersection(c['in']):
            made_again.update(c['out'])
            needed.update(c['in'])
            wanted.update(c['in'])

    def begins(t, exact):
        after = {**becomes, **weights}.get(t, t)
        if exact and t in other:
            return s.ideal.clean(after)
        n = x[after].n
        away = n // 2 if t in of_gradients and t not in of_states else 0
        return [fixed(x[after][(k + away) % n]) for k in range(n)]

    got, exact = (Behind(s.exact, calls, {t: begins(t, e) for t in needed - made_again}, made_again) for e in (0, 1))
    harm, n = Harm(), 0
    for after in weights.values():
        if after in made_again:
            for k in range(x[after].n):
                w = fixed(x[after][k])
                harm.add(Q(got.t[after].v[k] - w, 1 << K), Q(exact.t[after].v[k] - w, 1 << K), False)
            n += x[after].n
    if not harm.exact2:
        return []
    cosine, length = harm.cosine(), math.sqrt(harm.got2 / harm.exact2)
    return [{
        'step': step, 'tensor': 'all', 'layer': 'all', 'format': '-', 'role': 'next', 'elements': n,
        **dict.fromkeys(('moved', 'gradients', 'kept', 'gradients_judged', 'updates_judged', 'exact_moves', 'lost',
            'gradients_unjudged', 'kept_unjudged', 'l2_share_lost')),
        'l2_update': Near(math.sqrt(harm.got2), 1e-9), 'l2_judged': Near(math.sqrt(harm.exact2), 1e-9),
        'cosine': Near(cosine, 1e-7, 1e-12), 'nonfinite': 0,
        'verdict': 'harmless' if cosine >= 0.99 and abs(length - 1) <= 0.1 else 'costs', 'because': '-',
        'length': Near(length, 1e-9),
    }]  # fmt: skip
