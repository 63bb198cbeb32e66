# SPDX-License-Identifier: Apache-2.0
# state.tsv: optimizer moments and running statistics.
from fractions import Fraction as Q

from .expect import Near
from .harm import RANK, Harm
from .judge import recorded
from .number import FORMATS, fl, iv, sqrt


class Loss:
    def __init__(self):
        self.harm, self.idle, self.n, self.moved, self.swamped, self.zeroed = Harm(), Harm(), 0, 0, 0, 0

    def join(self, o):
        self.harm.join(o.harm)
        self.idle.join(o.idle)
        for k in ('n', 'moved', 'swamped', 'zeroed'):
            setattr(self, k, getattr(self, k) + getattr(o, k))

    def cells(self, kind):
        row = {'kind': kind, 'elements': self.n, 'moved': self.moved, 'swamped': self.swamped,
               'became_zero': self.zeroed}
        row.update(self.harm.cells())
        cosine = self.idle.cosine()
        row['cosine_idle'] = None if cosine is None else Near(cosine, 1e-12, 4e-15)
        if RANK[self.idle.word()] > 1 and RANK[row['verdict']] < 2:
            row['verdict'] = 'costs'
        return row


def next_step(harm, call, clock, low, eps, m, v, got, g):
    """The next step by the exact second moment v and the stored one, after one more gradient g."""
    beta1, beta2 = Q(call['attr']['beta1']), Q(call['attr']['beta2'])
    one, two, more, zero = 1 - beta1 * clock[1], 1 - beta2 * clock[2], (1 - beta2) * g * g, got == 0 and v != 0
    m = beta1 * m + (1 - beta1) * g
    if not m:
        return
    if isinstance(got, str) or beta2 * got + more == low == 0:
        harm.add('inf', m, False)
        return
    exact = (m / one / (sqrt((beta2 * v + more) / two) + eps)).lo
    step = (m / one / (sqrt((beta2 * got + more) / two) + low)).lo
    harm.add(step, exact, zero and abs(step - exact) > abs(exact) / 10)


def moment(s, call):
    """AdamW's step from the exact moments and from the exact first and the stored second one, in units of the learning
    rate. Where it computes in a finer format than it stores, the next such step: with the gradient that the element
    half a tensor away had, and without any."""
    x, loss = s.exact, Loss()
    old, stored, clock = x.t[call['in'][4]], x.t[call['out'][2]], x.t[call['in'][5]]
    one, two, eps = 1 - clock[1], 1 - clock[2], Q(call['attr']['eps'])
    inner = call['fmt']['compute']
    finer = FORMATS[inner][2] > FORMATS[stored.format][2] and FORMATS[inner][3] <= FORMATS[stored.format][3]
    low = fl(eps, inner if finer and call['attr'].get('library') else stored.format)
    for i in range(stored.n):
        m, v, w, got = x.value(call, 1, i), x.value(call, 2, i), old[i], stored.raw(i)
        m, v = iv(m).lo, iv(v).lo
        zero = got == 0 and v != 0
        loss.n += 1
        loss.moved += v != w
        loss.swamped += v != w and got == w and got != 0
        loss.zeroed += zero
        if finer:
            other = Q(x.t[call['in'][1]][(i + stored.n // 2) % stored.n])
            next_step(loss.harm, call, clock, low, eps, m, v, got, other)
            next_step(loss.idle, call, clock, low, eps, m, v, got, 0)
        elif m:
            if isinstance(got, str) or got == low == 0:
                loss.harm.add('inf', m, False)
            else:
                loss.harm.add((m / one / (sqrt(got / two) + low)).lo, (m / one / (sqrt(v / two) + eps)).lo, zero)
    return loss


def statistic(s, call, k, old):
    """A running average that stands still d short of its update stands d / (1 - momentum) short of the batch."""
    x, loss = s.exact, Loss()
    before, after, rate = x.t[call['in'][old]], x.t[call['out'][k]], 1 - Q(call['attr']['momentum'])
    for i in range(after.n):
        d = iv(x.value(call, k, i)).lo - before[i]
        batch = before[i] + d / rate
        lost = d != 0 and after.raw(i) == before[i]
        loss.n += 1
        loss.moved += d != 0
        loss.swamped += lost
        got = before[i] if lost else batch
        loss.harm.exact2 += batch * batch
        loss.harm.got2 += got * got
        loss.harm.dot += got * batch
        loss.harm.lost2 += (batch - got) ** 2
    return loss


def rows(run, states):
    for step in run.steps:
        s, total = states[step], {}
        for call in run.calls:
            if not recorded(s.exact, call) or not s.finite(call):
                continue
            found = []
            if call['op'] in ('adam', 'adamw') and not s.skipped:
                found.append((call['out'][2], 'moment', moment(s, call)))
            if call['op'] == 'batchnorm':
                for k, t in enumerate(call['out']):
                    for j, i in enumerate(call['in']):
                        if run.tensors[i].get('state') and run.tensors[i].get('next') == t:
                            found.append((t, 'statistic', statistic(s, call, k, j)))
            for t, kind, loss in found:
                info = run.tensors[t]
                row = {'step': step, 'call': call['id'], 'op': call['op'], 'layer': info['name'].split('.')[0], 'tensor': info['name'], 'format': info['format']}
                row.update(loss.cells(kind))
                yield row
                total.setdefault(kind, Loss()).join(loss)
        for kind in ('moment', 'statistic'):
            if kind in total:
                row = {'step': step, 'call': None, 'op': '-', 'layer': 'all', 'tensor': 'all', 'format': '-'}
                row.update(total[kind].cells(kind))
                yield row
