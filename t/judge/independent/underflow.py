# SPDX-License-Identifier: Apache-2.0
# underflow.tsv and exponents.tsv.
from fractions import Fraction as Q

from .expect import Unknown
from .harm import Harm
from .judge import recorded
from .number import FORMATS, fl, iv, log2floor, pow2
from .step import K
from .sums import Model

COUNTS = ('nonzeros', 'became_zero', 'became_subnormal', 'lost_bits', 'ftz')


class Flush:
    """What a rounding did to numbers on their way to a format."""

    def __init__(self):
        self.harm, self.elements, self.overflow, self.count = Harm(), 0, 0, [0] * 5

    def add(self, exact, got, name):
        """EXACT: a Fraction, an interval or a text."""
        self.elements += 1
        x = exact if isinstance(exact, str) else iv(exact).lo
        self.harm.add(got, x, got == 0 and x != 0)
        if isinstance(x, str):
            return
        self.overflow += isinstance(got, str)
        if x == 0:
            return
        normal = pow2(FORMATS[name][3])
        zero, sub = got == 0, not isinstance(got, str) and 0 < abs(got) < normal
        hit = (True, zero, sub, abs(x) < normal and got != x, zero or sub)
        self.count = [a + b for a, b in zip(self.count, hit)]

    def join(self, o):
        self.harm.join(o.harm)
        self.elements, self.overflow = self.elements + o.elements, self.overflow + o.overflow
        self.count = [a + b for a, b in zip(self.count, o.count)]

    def cells(self, of, fatal):
        n, zeroed = self.count[:2]
        row = {'elements': self.elements, 'share_nonzeros': zeroed / n if n else 0.0, 'share_elements': zeroed / self.elements, 'of_elements': of, 'overflow': self.overflow}
        row.update(zip(COUNTS, self.count))
        row.update(self.harm.cells(fatal))
        return row


def narrower(to, source):
    a, b = FORMATS[to], FORMATS[source]
    return a[2] < b[2] or a[3] > b[3]


def head(step, call, layer, info, source):
    return {'step': step, 'call': call, 'layer': layer, 'tensor': info['name'], 'class': info['class'], 'from': source, 'to': info['format']}


def on_wire(run, s, step, call):
    """What ranks send of their own sums before they receive any: rounded to the accumulator's format and to the wire's."""
    model, info = Model(call['sum']), run.tensors[call['out'][0]]
    wire, had = model.keys.get('wire'), run.tensors[call['in'][0]]['format']
    if not recorded(s.exact, call) or not wire or not narrower(wire, had):
        return
    u = Flush()
    for t in (s.exact.t[t] for t in call['in']):
        for i in range(t.n):
            x = t.raw(i)
            u.add(x, x if isinstance(x, str) else fl(fl(x, model.acc(call)), wire), wire)
    row = dict(head(step, call['id'], info['name'].split('.')[0], info, had), to=wire)
    row.update(u.cells(u.elements, False))
    if s.skipped:
        row['verdict'] = '-'
    yield row


def of_call(run, s, step, call):
    if call['op'] == 'all_reduce':
        yield from on_wire(run, s, step, call)
    cast = call['op'] == 'cast'
    for k, t in enumerate(call['out']):
        info = run.tensors[t]
        source = run.tensors[call['in'][0]]['format'] if cast else call['fmt']['compute']
        if not recorded(s.exact, call) or not narrower(info['format'], source) or (cast and k):
            continue
        u, y = Flush(), s.exact.t[t]
        row = head(step, call['id'], info['name'].split('.')[0], info, source)
        if cast:
            x = s.exact.t[call['in'][0]]
            factor = s.exact.t[call['out'][1]].raw(0) if len(call['out']) > 1 else Q(1)
            for i in range(x.n):
                v = x.raw(i)
                u.add(v if isinstance(v, str) else v * factor, y.raw(i), info['format'])
        elif s.finite(call):
            j = s.judged(call, k)
            for x, i in zip(j.exact, j.elements):
                u.add(x, y.raw(i), info['format'])
        else:
            row.update((c, Unknown('operands are not finite')) for c in ('elements', 'share_nonzeros', 'share_elements', 'overflow', 'l2_share_lost', 'cosine', 'verdict') + COUNTS)
            row['of_elements'] = y.n
            yield row
            continue
        row.update(u.cells(y.n, False))
        if s.skipped:
            row['verdict'] = '-'
        yield row


def gradients(run, s, step):
    """The gradients handed to the update beside the exact step's."""
    everything = Flush()
    for w in run.tensors:
        g = w.get('grad', -1)
        if not w.get('trainable') or g < 0 or g not in s.exact.t or s.ideal is None or g not in s.ideal.t:
            continue
        info, u = run.tensors[g], Flush()
        for x, i in zip(s.ideal.clean(g), range(s.exact.t[g].n)):
            u.add(Q(x, 1 << K), s.exact.t[g].raw(i), info['format'])
        everything.join(u)
        row = head(step, run.producer[g]['id'], info['name'].split('.')[0], info, 'exact')
        row.update(u.cells(s.exact.t[g].n, not s.skipped))
        if s.skipped:
            row['verdict'] = '-' if u.harm.nonfinite or s.skipped else row['verdict']
        yield row
    if everything.elements:
        row = {'step': step, 'call': None, 'layer': 'all', 'tensor': 'all', 'class': 'wgrad', 'from': 'exact', 'to': '-'}
        row.update(everything.cells(everything.elements, not s.skipped))
        if s.skipped:
            row['verdict'] = '-'
        yield row


def rows(run, states):
    for step in run.steps:
        for call in run.calls:
            yield from of_call(run, states[step], step, call)
        yield from gradients(run, states[step], step)


def exponent_rows(run, states):
    for step in run.steps:
        for info in run.tensors:
            t = states[step].exact.t.get(info['id'])
            if t is None:
                continue
            bins = {}
            for i in range(t.n):
                x = t.raw(i)
                b = 1000 if isinstance(x, str) else -1000 if x == 0 else max(-150, min(128, log2floor(x)))
                bins[b] = bins.get(b, 0) + 1
            for b in sorted(bins):
                yield {'step': step, 'tensor': info['name'], 'class': info['class'], 'layer': info['name'].split('.')[0], 'format': info['format'],
                       'bin': {1000: 'nonfinite', -1000: 'zero'}.get(b, str(b)), 'count': bins[b]}
