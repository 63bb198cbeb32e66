# SPDX-License-Identifier: Apache-2.0
# nonfinite.tsv: the first call of each step whose operands are finite and whose result is not, and the first that made
# NaN of what was none, with the element, its operands and the cause.
import math

from .expect import Near
from .number import fl, iv
from .weights import MOVES

DIVIDES = ('div', 'reciprocal', 'rsqrt', 'adam', 'adamw', 'batchnorm', 'batchnorm_dx')
RANGE = ('log', 'sqrt', 'softmax_xent', 'pow')


def odd(t):
    """The elements that are infinite, and those that are NaN."""
    raw = [t.raw(i) for i in range(t.n)]
    return [i for i, x in enumerate(raw) if x in ('inf', '-inf')], [i for i, x in enumerate(raw) if x == 'nan']


def shown(x):
    return x if isinstance(x, str) else '%.6g' % float(x)


def operand(info, t, n, i):
    if t.n == n and n > 1 or t.n == 1:
        return '%s=%s' % (info['name'], shown(t.raw(i if t.n > 1 else 0)))
    most = max((abs(t.raw(k)) for k in range(t.n) if not isinstance(t.raw(k), str)), default=0)
    return '%s|max|=%s' % (info['name'], 'inf' if odd(t)[0] else shown(most))


def explain(run, s, call, k, i, infinite):
    """Cause, exact value and the constant that is 0 in the format."""
    out = run.tensors[call['out'][k]]
    if call['op'] == 'opaque':
        return 'unknown_operator', None, None
    if infinite:
        return 'inf_minus_inf', None, None
    x = s.exact.value(call, k, i)
    x = iv(x).lo
    eps = float(call['attr'].get('eps', 0))
    if isinstance(fl(x, out['format']), str) and not call['attr'].get('saturate'):
        return 'overflow', float(x), None
    if call['op'] in ('adam', 'adamw') and eps and fl(eps_of(eps), out['format']) == 0:
        return 'zero_constant', float(x), eps
    return 'overflow_inside', float(x), None


def eps_of(x):
    from fractions import Fraction

    return Fraction(x)


def origin(run, s, step, call, k, i, made, infinite):
    t, info = s.exact.t[call['out'][k]], run.tensors[call['out'][k]]
    cause, exact, constant = explain(run, s, call, k, i, infinite)
    inf, nan = odd(t)
    ins = [operand(run.tensors[x], s.exact.t[x], t.n, i) for x in call['in'][:4]]
    return {
        'step': step, 'made': made, 'call': call['id'], 'op': call['op'], 'phase': call['phase'],
            'layer': call['layer'],
        'tensor': info['name'], 'format': info['format'], 'element': i, 'value': shown(t.raw(i)), 'cause': cause,
        'exact': None if exact is None else Near(exact, 1e-15), 'constant': None
            if constant is None else Near(constant),
        'operands': ' '.join(ins), 'nonfinite_elements': len(nan) + (len(inf) if made == 'nonfinite' else 0),
    }  # fmt: skip


def given(run, s, step):
    """What no call makes is finite, but for infinities that may be meant."""
    for w in run.tensors:
        if w['id'] in run.producer or w['id'] not in s.exact.t or w['class'] in ('wgrad', 'gradient'):
            continue
        inf, nan = odd(s.exact.t[w['id']])
        if nan or inf and w.get('trainable'):
            i = nan[0] if nan else inf[0]
            return {
                'step': step, 'made': 'nonfinite', 'call': None, 'op': '-', 'phase': '-',
                    'layer': w['name'].split('.')[0],
                'tensor': w['name'], 'format': w['format'], 'element': i, 'value': shown(s.exact.t[w['id']].raw(i)),
                'cause': 'input', 'exact': None, 'constant': None, 'operands': '-',
                'nonfinite_elements': len(inf) + len(nan),
            }  # fmt: skip
    return None


def of_step(run, s, step):
    first, nan_made = given(run, s, step), None
    for call in run.calls:
        for k, t in enumerate(call['out']):
            inf, nan = odd(s.exact.t[t]) if t in s.exact.t else ([], [])
            if inf or nan:
                break
        else:
            continue
        if any(x not in s.exact.t for x in call['in']):
            continue
        ins = [odd(s.exact.t[x]) for x in call['in']]
        if any(x[1] for x in ins):
            continue
        infinite = any(x[0] for x in ins)
        asked = call['op'] in MOVES or any(math.isinf(float(call['attr'].get(a, 0))) for a in ('fill', 'value'))
        if first is None and not infinite and not asked:
            first = origin(run, s, step, call, k, min(inf + nan), 'nonfinite', False)
        if nan_made is None and nan and call['op'] not in MOVES:
            nan_made = origin(run, s, step, call, k, nan[0], 'nan', infinite)
    rows = [r for r in (first, nan_made) if r]
    return rows[:1] if len(rows) == 2 and rows[0]['tensor'] == rows[1]['tensor'] else rows


def tables(run, states):
    return {'nonfinite': [r for step in run.steps for r in of_step(run, states[step], step)]}
