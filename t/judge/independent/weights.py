# SPDX-License-Identifier: Apache-2.0
# weights.tsv, coverage.tsv and unjudged.tsv: each parameter and state before and after a step beside the exact step,
# the elements that kept their bits, and how much of the step was judged.
import math
from fractions import Fraction as Q

from . import next_steps
from .expect import Near
from .harm import Harm
from .number import FORMATS, log2floor, pow2
from .step import K, NOTHING, fixed

MOVES = ('move', 'move_dx', 'concat', 'concat_dx', 'causal', 'causal_dx', 'gather', 'gather_dx', 'onehot')
HELD = {
    'weights': ('step tensor role', {'kept': 'up', 'l2_share_lost': 'up', 'cosine': 'down'}),
    'coverage': ('step', {'judged': 'down', 'update_elements_judged': 'down', 'l2_share_judged': 'down'}),
}
COUNTS = ('n', 'moved', 'with_gradient', 'gradients', 'kept', 'gradient_judged', 'judged', 'exact_moves', 'lost',
          'kept_unjudged', 'gradients_unjudged', 'silent', 'gradient_tensors', 'judged_tensors')  # fmt: skip


class Weight:
    def __init__(self):
        self.harm, self.real2, self.real2_judged = Harm(), Q(0), Q(0)
        self.pull2, self.pull2_kept, self.kept2 = Q(0), Q(0), Q(0)
        for k in COUNTS:
            setattr(self, k, 0)

    def join(self, o):
        self.harm.join(o.harm)
        for k in COUNTS + ('real2', 'real2_judged', 'pull2', 'pull2_kept', 'kept2'):
            setattr(self, k, getattr(self, k) + getattr(o, k))

    def rank(self, parameter):
        share, cosine, length = self.harm.share(), self.harm.cosine(), self.length()
        if self.harm.nonfinite:
            rank = 3
        elif share is None:
            rank = 0
        elif share >= 0.5 or (cosine <= 0.9 and share > 0.1) or length >= 2:
            rank = 3
        else:
            rank = 1 if share <= 0.1 and cosine >= 0.999 and abs(length - 1) <= 0.1 else 2
        kept = self.kept_unjudged / self.gradients_unjudged if self.gradients_unjudged else 0
        most = 4 * self.pull2_kept >= self.pull2
        lost = math.sqrt(self.kept2 / (self.kept2 + self.real2)) if self.kept2 else 0
        rank = max(rank, 3 if kept >= 0.5 and most and lost >= 0.5 else 2 if kept > 0.1 else 0)
        return 2 if rank == 3 and not parameter and not self.harm.nonfinite else rank

    def length(self):
        h = self.harm
        return math.sqrt(h.got2 / h.exact2) if h.exact2 else None

    def seen(self):
        if self.n and self.judged == self.n:
            return 1.0
        return math.sqrt(self.real2_judged / self.real2) if self.real2 else 0.0 if self.judged else None

    def cells(self, parameter, because):
        length = self.length()
        there, share, cosine = self.with_gradient > 0, self.harm.share(), self.harm.cosine()
        return {
            'role': 'parameter' if parameter else 'state', 'elements': self.n, 'moved': self.moved,
            'gradients': self.gradients if there else None, 'kept': self.kept if there else None,
            'gradients_judged': self.gradient_judged, 'updates_judged': self.judged,
            'exact_moves': self.exact_moves if self.judged else None, 'lost': self.lost if self.judged else None,
            'gradients_unjudged': self.gradients_unjudged, 'kept_unjudged': self.kept_unjudged,
            'l2_update': Near(math.sqrt(self.real2), 1e-12), 'l2_judged': Near(math.sqrt(self.real2_judged), 1e-12),
            # steps are differences of weights, each a double
            'l2_share_lost': None if share is None else Near(share, 1e-7),
            'cosine': None if cosine is None else Near(cosine, 1e-7, 1e-12), 'nonfinite': self.harm.nonfinite,
            'verdict': ('-', 'harmless', 'costs', 'fatal')[self.rank(parameter)], 'because': because,
            'length': None if length is None else Near(length, 1e-7),
        }  # fmt: skip


def gradient_of(run, s, w, after):
    g = w.get('grad', -1)
    if g >= 0:
        return g if g in s.exact.t else None
    made = run.producer.get(after)
    for t in [] if w.get('trainable') or made is None else made['in']:
        x = run.tensors[t]
        if x['class'] == 'wgrad' and x['shape'] == w['shape'] and t in s.exact.t:
            return t
    return None


def study(run, s, w, after):
    u, grad = Weight(), gradient_of(run, s, w, after)
    old, new, g = s.exact.t[w['id']], s.exact.t[after], None if grad is None else s.exact.t[grad]
    ideal = {} if s.ideal is None else {t: v for t, v in s.ideal.t.items() if t in run.producer}
    exact = s.ideal.clean(after) if after in ideal else None
    pulled = [g is not None and g.raw(i) != 0 for i in range(old.n)]
    zero = g is not None and not any(pulled)
    vanished = zero and grad in ideal and any(s.ideal.clean(grad))
    u.n = old.n
    u.with_gradient = old.n if g is not None else 0
    u.gradient_judged, u.judged = (old.n if t in ideal else 0 for t in (grad, after))
    u.gradient_tensors, u.judged_tensors = int(u.gradient_judged > 0), int(u.judged > 0)
    u.silent = old.n if exact is None and zero else 0
    for i in range(old.n):
        x, y, kept = old.raw(i), new.raw(i), old.codes[i] == new.codes[i]
        u.moved += not kept
        u.gradients += pulled[i]
        u.kept += pulled[i] and kept
        u.gradients_unjudged += pulled[i] and exact is None
        u.kept_unjudged += pulled[i] and kept and exact is None
        pull = g.raw(i) if pulled[i] else 0
        pull = 0 if isinstance(pull, str) else Q(pull)
        u.pull2 += pull * pull
        if pull and kept and exact is None:
            u.pull2_kept += pull * pull
            p, emin = FORMATS[old.format][2:4]
            u.kept2 += pow2(max(log2floor(abs(Q(y))), emin) - p + 1 if y else emin - p + 1) ** 2
        step = 'inf' if isinstance(x, str) or isinstance(y, str) else y - x
        square = Q(0) if isinstance(step, str) else step * step
        u.real2 += square
        if exact is None:
            u.harm.nonfinite += isinstance(step, str)
            continue
        d = exact[i] - fixed(x)
        d = 0 if abs(d) < NOTHING else d
        u.real2_judged += square
        u.exact_moves += d != 0
        lost = d != 0 and (kept or vanished)
        u.lost += lost
        u.harm.add(Q(0) if lost else step, Q(d, 1 << K), lost)
    return u


def is_studied(run, s, w):
    after = w.get('next', -1)
    if s.skipped or not w.get('state') or after < 0 or w['id'] not in s.exact.t or after not in s.exact.t:
        return False
    made = run.producer.get(after)
    other = made is not None and made['op'] in ('adam', 'adamw', 'batchnorm', 'scale_update')
    return bool(w.get('trainable')) or s.exact.t[w['id']].n > 1 and not other


def ancestors(run, s, t):
    """The opaque calls that a tensor depends on."""
    found, wanted = set(), {t}
    for c in reversed(run.calls):
        if wanted & set(c['out']) and all(o in s.exact.t for o in c['out']):
            wanted |= set(c['in'])
            if c['op'] == 'opaque':
                found.add(c['id'])
    return found


def stands_for(call):
    return call['opaque'].get('calls', 1) if call['op'] == 'opaque' else 1


def choices(run, s):
    """By which values the recording chose, and how many of these the exact step has otherwise."""
    n = otherwise = 0
    for x in run.tensors:
        if not x.get('choice') or x['id'] not in s.exact.t:
            continue
        own = s.exact.t[x['id']]
        n += own.n
        if s.ideal is not None and x['id'] not in s.ideal.t:
            otherwise += own.n
        elif s.ideal is not None:
            otherwise += sum(a != fixed(own.raw(i)) for i, a in enumerate(s.ideal.clean(x['id'])))
    return {'choices': n, 'otherwise': otherwise}


def reads(run, s):
    """How many tensors the recorded program read before an update, and how many are apart in the exact step."""
    read = [x for x in run.tensors if x.get('read') and x['id'] in s.exact.t]
    numbers = {x['id']: s.exact.t[x['id']].raw(0) for x in read if s.exact.t[x['id']].n == 1}
    apart = 0
    for x in read:
        search = x['read'] == 'search'
        if s.ideal is None or x['id'] not in s.ideal.t:
            apart += s.ideal is not None
            continue
        own = [s.exact.t[x['id']].raw(i) for i in range(s.exact.t[x['id']].n)]
        if any(isinstance(v, str) for v in own):
            apart += 1
            continue
        error = sum((Q(a, 1 << K) - v) ** 2 for a, v in zip(s.ideal.clean(x['id']), own))
        least = sum(v * v for v in own) / 32 ** 2
        if search and len(own) == 1:
            least = min(abs(own[0] - v) for v in [0, *(n for i, n in numbers.items() if i != x['id'])]) ** 2 / 1024 ** 2
        apart += error > least
    return {'reads': len(read), 'apart': apart}


def of_step(run, s, step):
    rows, everything, operators, blamed, weights = [], {True: Weight(), False: Weight()}, {}, set(), 0
    calls = [c for c in run.calls if all(t in s.exact.t for t in c['out'])]
    for c in calls:
        if c['op'] == 'opaque':
            operators.setdefault(c['opaque']['name'], [0, 0, 0, c['opaque']['reason']])[0] += stands_for(c)
    by = {c['id']: c['opaque']['name'] for c in calls if c['op'] == 'opaque'}
    for w in run.tensors:
        if not is_studied(run, s, w):
            continue
        parameter, u, because = bool(w.get('trainable')), study(run, s, w, w['next']), '-'
        if u.judged < u.n:
            found = ancestors(run, s, w['next'])
            names = [n for n in operators if n in {by[i] for i in found}]
            because = 'no exact value' if w['next'] in run.producer else 'no recorded call wrote it'
            because = ','.join(names) or ('no exact step' if s.ideal is None else because)
            if parameter:
                blamed |= found
                for n in names:
                    operators[n][2] += 1
        rows.append({'step': step, 'tensor': w['name'], 'layer': w['name'].split('.')[0], 'format': w['format'],
            **u.cells(parameter, because)})
        everything[parameter].join(u)
        weights += parameter
    for parameter in (True, False):
        if everything[parameter].n:
            rows.append({'step': step, 'tensor': 'all', 'layer': 'all', 'format': '-',
                **everything[parameter].cells(parameter, '-')})
    for i in blamed:
        operators[by[i]][1] += 1
    u, arithmetic = everything[True], [c for c in calls if c['op'] not in MOVES]
    seen = u.seen()
    coverage = {
        'step': step, 'calls': sum(map(stands_for, arithmetic)), 'moves': len(calls) - len(arithmetic),
        'judged': sum(c['op'] != 'opaque' and all(t in s.exact.t for t in c['in']) for c in arithmetic),
        'weights': weights, 'gradients_judged': u.gradient_tensors, 'updates_judged': u.judged_tensors, 'elements': u.n,
        'gradient_elements_judged': u.gradient_judged, 'update_elements_judged': u.judged,
        'l2_share_judged': None if seen is None else Near(seen, 1e-12), 'silent_elements': u.silent,
        'gradients': u.gradients, 'kept': u.kept, 'skipped': int(s.skipped), **choices(run, s),
        **reads(run, s),
    }  # fmt: skip
    unjudged = [{'step': step, 'operator': n, 'calls': a, 'tainting': b, 'weights': c, 'reason': why} for n,
        (a, b, c, why) in operators.items()]
    return rows, coverage, unjudged


def tables(run, states):
    found = [of_step(run, states[step], step) for step in run.steps]
    for f, step in zip(found, run.steps):
        f[0].extend(next_steps.rows(run, states[step], step))
    return {'weights': [r for f in found for r in f[0]], 'coverage': [f[1] for f in found],
        'unjudged': [r for f in found for r in f[2]]}
