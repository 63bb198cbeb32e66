# SPDX-License-Identifier: Apache-2.0
# swamping.tsv, swamping-ratio.tsv, and the rows of --elements FILE.swamping.
from fractions import Fraction as Q

from .calls import PRODUCTS, SUMS
from .expect import Maybe, Unknown
from .files import NotFinite
from .harm import Harm
from .judge import recorded
from .number import FORMATS, fl as nearest, iv, log2floor
from .sums import SCALE, STAGNANT, Count, Model, Rounding, draws, tree

LOW, HIGH = -64, 192
IDLE_OPERANDS = (1, 3) # an optimizer's gradient, and its velocity or first moment where it has one


def whole(q):
    """q 2^SCALE without its fraction."""
    n = abs(q.numerator << SCALE) // q.denominator
    return -n if q < 0 else n


def pairs_of(exact, call, i):
    ins, out = [exact.t[t] for t in call['in']], exact.t[call['out'][0]]
    if call['op'] == 'all_reduce':
        return [(whole(t[i]), 1 << SCALE) for t in ins]
    return [(0, whole(ins[1][m])) if j is None else (whole(ins[0][j]), whole(ins[1][m])) for j, m in exact.terms(call, ins, out, i)]


def product(exact, call, i, seed, step, model=None):
    """The sum of one output of a product, in units of 2^-SCALE, and its counts."""
    model = model or Model(call['sum'])
    pairs = pairs_of(exact, call, i)
    assert len(pairs) <= int(call['attr'].get('part', 0) or len(pairs)), 'sums in parts are not recomputed here'
    formats = [exact.t[t].format for t in call['in'][:2]]
    return model.run(pairs, call, formats, draws(seed, call['seed_name'], step, i * len(pairs)))


def statistic(exact, call, k, c):
    """The terms of a norm's sum, each operation rounded to the compute format, in units of 2^-SCALE."""
    fl = Rounding(call['fmt']['compute'])
    x = exact.t[call['in'][0]]
    C = x.shape[-1]
    column = [whole(x[j]) for j in range(c, x.n, C)]
    if call['op'] == 'batchnorm':
        if k == 1:
            return column
        total = tree(column, fl, Count())
        n = len(column)
        mean = fl_quotient(total, n, call['fmt']['compute'])
        return [fl(square(fl(v - mean))) for v in column]
    dy = exact.t[call['in'][4]]
    terms = [whole(dy[j]) for j in range(c, x.n, C)]
    if k == 2:
        return terms
    mean, rstd = whole(exact.t[call['in'][2]][c]), whole(exact.t[call['in'][3]][c])
    return [fl(d * fl(fl(v - mean) * rstd >> SCALE) >> SCALE) for d, v in zip(terms, column)]


def square(x):
    assert x * x & ((1 << SCALE) - 1) == 0
    return x * x >> SCALE


def fl_quotient(total, n, name):
    """total / n rounded once: far more bits than the format's, with the rest folded into the last."""
    fl = Rounding(name)
    wide = (abs(total) << 200) // n
    wide = wide | 1 if wide * n != abs(total) << 200 else wide
    a = Q(wide, 1 << (200 + SCALE))
    r = nearest(a, name)
    assert fl(whole(r)) == whole(r)
    return -whole(r) if total < 0 else whole(r)


def counts(exact, call, k, i, seed, step):
    """Of element i of output k: a Count; None where the operator adds nothing."""
    op = call['op']
    if op in SUMS:
        return product(exact, call, i, seed, step)[1]
    count = Count()
    ins, out = [exact.t[t] for t in call['in']], exact.t[call['out'][k]]
    fl = Rounding(call['fmt']['compute'])
    if op in ('bias', 'add', 'sub'):
        x, y = ins[0][i], ins[1][i % ins[1].n] * (-1 if op == 'sub' else 1)
        if x and y:
            # not the recorded result, which may be a wrong one
            s = nearest(nearest(x + y, call['fmt']['compute']), out.format)
            count.additions, count.swamped = 1, int(s in (x, y))
        return count
    if op == 'bias_db':
        tree([whole(ins[0][j]) for j in range(i, ins[0].n, out.n)], fl, count)
    elif op == 'avgpool':
        N, H, W, C = ins[0].shape
        n, c = divmod(i, C)
        tree([whole(ins[0][(n * H * W + j) * C + c]) for j in range(H * W)], fl, count)
    elif op in ('batchnorm', 'batchnorm_dx') and k in (1, 2):
        tree(statistic(exact, call, k, i), fl, count)
    else:
        return None
    return count


def sum_rows(run, s, step):
    for call in run.calls:
        for k, t in enumerate(call['out']):
            if not recorded(s.exact, call) or run.is_update(call) or call['op'] not in SUMS + ('bias', 'add', 'sub', 'bias_db', 'avgpool', 'batchnorm', 'batchnorm_dx'):
                continue
            info = run.tensors[t]
            elements = s.elements(t)
            row = {'step': step, 'call': call['id'], 'op': call['op'], 'phase': call['phase'], 'layer': call['layer'], 'tensor': info['name'],
                   'format': Model(call['sum']).acc(call) if call['op'] in SUMS else call['fmt']['compute'], 'kind': 'sum'}
            if not s.finite(call):
                row.update((c, Unknown('operands are not finite')) for c in ('additions', 'swamped', 'share_swamped', 'outputs', 'stagnated'))
            else:
                try:
                    each = [s.counts(call, k, i) for i in elements]
                except NotFinite:
                    each = None
                if each is not None and (each[0] is None or not sum(c.additions for c in each)):
                    continue
                if each is None:
                    row.update((c, Unknown('a sum overflows')) for c in ('additions', 'swamped', 'share_swamped', 'outputs', 'stagnated'))
                else:
                    a, b = sum(c.additions for c in each), sum(c.swamped for c in each)
                    row.update({'additions': a, 'swamped': b, 'share_swamped': b / a, 'outputs': len(each), 'stagnated': sum(c.run >= STAGNANT for c in each)})
            row.update({'l2_share_lost': None, 'cosine': None, 'verdict': '-', 'by_decay': None, 'swamped_by_decay': None})
            yield row if s.finite(call) else Maybe(row) # nothing that is finite may be left to add


class Update:
    """The steps of a weight tensor, exact and taken."""

    def __init__(self):
        self.harm, self.n, self.moved, self.swamped, self.bins = Harm(), 0, 0, 0, {}
        self.by_decay, self.swamped_by_decay, self.decay_bins = 0, 0, {}

    def add(self, w, after, d, by_decay):
        self.n += 1
        if isinstance(after, str):
            self.harm.add(after, d, False)
        else:
            self.harm.add(after - w, d, d != 0 and after == w)
        if d == 0:
            return
        self.moved += 1
        self.swamped += after == w
        self.by_decay += by_decay
        self.swamped_by_decay += by_decay and after == w
        if w:
            e = max(LOW, min(HIGH, log2floor(w / d)))
            self.bins[e] = self.bins.get(e, 0) + 1
            self.decay_bins[e] = self.decay_bins.get(e, 0) + by_decay

    def join(self, o):
        self.harm.join(o.harm)
        self.n, self.moved, self.swamped = self.n + o.n, self.moved + o.moved, self.swamped + o.swamped
        self.by_decay, self.swamped_by_decay = self.by_decay + o.by_decay, self.swamped_by_decay + o.swamped_by_decay

    def cells(self):
        row = {'kind': 'update', 'additions': self.moved, 'swamped': self.swamped, 'share_swamped': self.swamped / self.moved if self.moved else 0.0, 'outputs': self.n, 'stagnated': None}
        row.update(self.harm.cells())
        row.update({'by_decay': self.by_decay, 'swamped_by_decay': self.swamped_by_decay})
        return row


def idle(exact, call, i):
    """Whether the optimizer without weight decay would leave weight i alone: its gradient and its momentum are 0."""
    ins = [exact.t[t] for t in call['in']]
    return float(call['attr'].get('weight_decay', 0)) != 0 and not any(ins[k].raw(i) for k in IDLE_OPERANDS if k < len(ins))


def update_of(s, call):
    u = Update()
    w, after = s.exact.t[call['in'][0]], s.exact.t[call['out'][0]]
    for i in range(w.n):
        u.add(w[i], after.raw(i), iv(s.exact.value(call, 0, i)).lo - w[i], idle(s.exact, call, i))
    return u


def rows(run, states):
    """The two tables' rows, sums and updates in the order of the calls."""
    table, ratio = [], []
    for step in run.steps:
        s, whole_step = states[step], Update()
        sums = {}
        for row in sum_rows(run, s, step):
            sums.setdefault(row['call'], []).append(row)
        for call in run.calls:
            table += sums.get(call['id'], [])
            if not run.is_update(call) or s.skipped or not recorded(s.exact, call):
                continue
            info, u = run.tensors[call['out'][0]], update_of(s, call)
            whole_step.join(u)
            row = {'step': step, 'call': call['id'], 'op': call['op'], 'phase': 'update', 'layer': call['layer'], 'tensor': info['name'], 'format': info['format']}
            row.update(u.cells())
            table.append(row)
            for e in sorted(u.bins):
                ratio.append({'step': step, 'layer': info_layer(run, call), 'tensor': info['name'], 'format': info['format'], 'precision': FORMATS[info['format']][2], 'log2_ratio': e, 'count': u.bins[e], 'by_decay': u.decay_bins[e]})
        if whole_step.n:
            row = {'step': step, 'call': None, 'op': '-', 'phase': 'update', 'layer': 'all', 'tensor': 'all', 'format': '-'}
            row.update(whole_step.cells())
            table.append(row)
    return table, ratio


def info_layer(run, call):
    """A tensor's layer stands before the first dot of its name."""
    return run.tensors[call['out'][0]]['name'].split('.')[0]


