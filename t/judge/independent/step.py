# SPDX-License-Identifier: Apache-2.0
# The exact step: the whole program from its recorded inputs and state without a rounding, every value an integer in
# units of 2^-K. Each operation is off by a few units, so that results hold hundreds of bits more than any figure shows.
import math
from fractions import Fraction as Q

from .files import NotFinite
from .number import FORMATS

K = 700
ONE = 1 << K
NOTHING = 1 << (K - 400)  # what is smaller has come from roundings of this file


def fixed(q):
    """A Fraction."""
    return (q.numerator << K) // q.denominator


def mul(a, b):
    return a * b >> K


def div(a, b):
    return (a << K) // b


def root(a):
    return math.isqrt(a << K)


def atanh2(t):
    total = power = t
    n, square = 1, mul(t, t)
    while power:
        power = mul(power, square)
        n += 2
        total += power // n
    return 2 * total


LN2 = atanh2(ONE // 3)


def exp(x):
    n = x // LN2
    r = (x - n * LN2) >> 12
    total, term, k = ONE, ONE, 0
    while term:
        k += 1
        term = mul(term, r) // k
        total += term
    for _ in range(12):
        total = mul(total, total)
    return total << n if n >= 0 else total >> -n


def log(x):
    y = fixed_float(math.log(x / ONE))
    for _ in range(5):  # Halley's iteration triples the digits
        e = exp(y)
        y += 2 * div(x - e, x + e)
    return y


def arctan_of_inverse(n):
    total, power, k, sign = 0, ONE // n, 1, 1
    while power:
        total += sign * (power // k)
        power, k, sign = power // (n * n), k + 2, -sign
    return total


PI = 4 * (4 * arctan_of_inverse(5) - arctan_of_inverse(239))  # Machin's formula


def cosine(q):
    """cos(pi q) of a Fraction from 0 to 1."""
    x = PI * q.numerator // q.denominator
    total, term, k = ONE, ONE, 0
    while term:
        k += 2
        term = mul(mul(term, x), x) // (k * (k - 1))
        total += term if k % 4 == 0 else -term
    return total


def fixed_float(x):
    n, d = x.as_integer_ratio()
    return (n << K) // d


class Values:
    """A tensor of the exact step."""

    def __init__(self, values, like):
        self.v, self.n, self.shape, self.format = values, like.n, like.shape, like.format


class Step:
    """EXACT: the recorded tensors of the step. Casts pass their input on, times the recorded factor; the finite check and the
    scale are as recorded. Tensors by id are in t."""

    def __init__(self, program, exact):
        self.exact, self.program, self.t = exact, program, {}
        recorded = exact.t
        made = {t for call in program['calls'] for t in call['out']}
        for t in recorded:
            if t not in made:
                self.t[t] = self.taken(recorded[t])
        for call in program['calls']:
            outs = [recorded[t] for t in call['out']]
            decided = call['op'] in ('finite_check', 'scale_update')
            if not decided and (call['op'] == 'opaque' or any(t not in self.t for t in call['in'])):
                continue  # what an opaque call makes is not known, nor is what depends on it
            if decided:
                results = [self.taken(out).v for out in outs]
            else:
                results = getattr(self, 'op_' + call['op'])(call, [self.t[t] for t in call['in']], outs)
            for t, out, values in zip(call['out'], outs, results):
                self.t[t] = Values(values, out)

    @staticmethod
    def taken(tensor):
        return Values([fixed(tensor[i]) for i in range(tensor.n)], tensor)

    @staticmethod
    def attr(call, key, otherwise=0):
        return fixed_float(float(call['attr'].get(key, otherwise)))

    def op_cast(self, call, ins, outs):
        if len(outs) == 1:
            return [ins[0].v]
        s = fixed(outs[1][0])
        return [[mul(x, s) for x in ins[0].v], [s]]

    def op_matmul(self, call, ins, outs):
        a, b = ins[0].v, ins[1].v
        by = mul(ins[2].v[0], ins[3].v[0]) if call['attr'].get('scaled') else ONE
        return [[(sum(a[j] * b[m] for j, m in self.exact.terms(call, ins, outs[0], i) if j is not None)) // by for i in range(outs[0].n)]]

    def op_move(self, call, ins, outs):
        first = self.exact.moved(call, outs[0])
        return [ins[0].v[first:first + outs[0].n]]

    def op_concat(self, call, ins, outs):
        return [[x for t in ins for x in t.v]]

    def op_all_reduce(self, call, ins, outs):
        return [[sum(x) for x in zip(*(t.v for t in ins))]]

    op_add = op_all_reduce

    op_conv2d = op_conv2d_dx = op_conv2d_dw = op_matmul

    def op_bias(self, call, ins, outs):
        b = ins[1].v
        return [[x + b[i % len(b)] for i, x in enumerate(ins[0].v)]]

    def op_bias_db(self, call, ins, outs):
        C = outs[0].n
        return [[sum(ins[0].v[c::C]) for c in range(C)]]

    def op_relu(self, call, ins, outs):
        return [[max(x, 0) if abs(x) > NOTHING else 0 for x in ins[0].v]]

    def op_relu_dx(self, call, ins, outs):
        return [[d if y > NOTHING else 0 for y, d in zip(ins[0].v, ins[1].v)]]

    def op_avgpool(self, call, ins, outs):
        N, H, W, C = ins[0].shape
        v = ins[0].v
        return [[sum(v[n * H * W * C + c:(n + 1) * H * W * C:C]) // (H * W) for n in range(N) for c in range(C)]]

    def op_avgpool_dx(self, call, ins, outs):
        N, H, W, C = outs[0].shape
        return [[ins[0].v[i // (H * W * C) * C + i % C] // (H * W) for i in range(outs[0].n)]]

    def op_scale(self, call, ins, outs):
        s = mul(ins[1].v[0] if len(ins) > 1 else ONE, self.attr(call, 'factor', 1))
        return [[mul(x, s) for x in ins[0].v]]

    def op_sub(self, call, ins, outs):
        return [[x - y for x, y in zip(ins[0].v, ins[1].v)]]

    def op_select(self, call, ins, outs):
        return [ins[0 if ins[2].v[0] else 1].v]

    def op_reciprocal(self, call, ins, outs):
        return [[div(ONE, x) for x in ins[0].v]]

    def op_clip(self, call, ins, outs):
        return [[max(self.attr(call, 'low'), min(self.attr(call, 'high'), x)) for x in ins[0].v]]

    def op_unscale(self, call, ins, outs):
        s = mul(ins[1].v[0], self.attr(call, 'loss_weight', 1))
        return [[div(x, s) for x in ins[0].v]]

    def op_batchnorm(self, call, ins, outs):
        x, gamma, beta, rm, rv = [t.v for t in ins]
        C, eps, momentum = len(gamma), self.attr(call, 'eps'), self.attr(call, 'momentum')
        means, rstds, news, newv = [], [], [], []
        for c in range(C):
            rows = x[c::C]
            m = sum(rows) // len(rows)
            v = sum(mul(r - m, r - m) for r in rows) // len(rows)
            means.append(m)
            rstds.append(div(ONE, root(v + eps)))
            news.append(mul(momentum, rm[c]) + mul(ONE - momentum, m))
            newv.append(mul(momentum, rv[c]) + mul(ONE - momentum, v))
        y = [mul(mul(v - means[i % C], rstds[i % C]), gamma[i % C]) + beta[i % C] for i, v in enumerate(x)]
        return [y, means, rstds, news, newv]

    def op_batchnorm_dx(self, call, ins, outs):
        x, gamma, mean, rstd, dy = [t.v for t in ins]
        C = len(gamma)
        n = len(x) // C
        hat = [mul(v - mean[i % C], rstd[i % C]) for i, v in enumerate(x)]
        dbeta = [sum(dy[c::C]) for c in range(C)]
        dgamma = [sum(mul(d, h) for d, h in zip(dy[c::C], hat[c::C])) for c in range(C)]
        dx = [mul(mul(gamma[i % C], rstd[i % C]), d - dbeta[i % C] // n - mul(hat[i], dgamma[i % C]) // n) for i, d in enumerate(dy)]
        return [dx, dgamma, dbeta]

    def op_softmax_xent(self, call, ins, outs):
        z, labels, weight = [t.v for t in ins]
        n = ins[0].shape[1]
        loss, p, s = 0, [], self.attr(call, 'label_smoothing')
        for r in range(len(labels)):
            row = z[r * n:(r + 1) * n]
            e = [exp(v - max(row)) for v in row]
            p += [div(v, sum(e)) for v in e]
            loss += mul(log(sum(e)) + max(row) - mul(ONE - s, row[labels[r] >> K]) - mul(s, sum(row)) // n, weight[r])
        return [[div(loss, sum(weight))], p]

    def op_softmax_xent_dx(self, call, ins, outs):
        p, labels, weight, dloss = [t.v for t in ins]
        n, total, s = ins[0].shape[1], sum(weight), self.attr(call, 'label_smoothing')
        return [[div(mul(mul(dloss[0], weight[i // n]), v - s // n - (ONE - s if labels[i // n] >> K == i % n else 0)), total) for i, v in enumerate(p)]]

    def op_grad_norm(self, call, ins, outs):
        return [[root(sum(mul(x, x) for t in ins for x in t.v))]]

    def rated(self, call, ins):
        """An update's operands without the learning rate, and that."""
        return (ins[:-1], ins[-1].v[0]) if call['attr'].get('scheduled') else (ins, self.attr(call, 'lr'))

    def op_lr_schedule(self, call, ins, outs):
        t, attr = ins[0].v[0] >> K, call['attr']
        lr, end, n, warm = self.attr(call, 'lr'), self.attr(call, 'lr_end'), int(attr['decay_steps']), int(attr['warmup'])
        share = Q(min(max(t - warm, 0), n), n)
        rate = {'constant': lr, 'step': mul(lr, fixed(Q(attr.get('decay_rate', 1)) ** (max(t - warm, 0) // n))),
                'linear': lr + (end - lr) * share.numerator // share.denominator, 'cosine': end + mul(lr - end, ONE + cosine(share)) // 2}[attr['schedule']]
        return [[lr * (t + 1) // (warm + 1) if t < warm else rate], [(t + 1) << K]][:len(outs)]

    def op_sgd(self, call, ins, outs):
        ins, lr = self.rated(call, ins)
        w, g, found = [t.v for t in ins[:3]]
        if found[0]:
            return [w] + [t.v for t in ins[3:]][:len(outs) - 1]
        momentum, decay = self.attr(call, 'momentum'), self.attr(call, 'weight_decay')
        d = [x + mul(decay, y) for x, y in zip(g, w)]
        if len(ins) > 3:
            d = [mul(momentum, v) + x for v, x in zip(ins[3].v, d)]
        return [[y - mul(lr, x) for y, x in zip(w, d)], d][:len(outs)]

    def op_adam_clock(self, call, ins, outs):
        clock, found = ins[0].v, ins[1].v
        if found[0]:
            return [clock]
        old = [clock[0]] + ([ONE, ONE] if clock[0] == 0 else clock[1:])
        return [[old[0] + ONE, mul(old[1], self.attr(call, 'beta1')), mul(old[2], self.attr(call, 'beta2'))]]

    def op_adamw(self, call, ins, outs):
        ins, lr = self.rated(call, ins)
        w, g, found, m, v, clock = [t.v for t in ins]
        if found[0]:
            return [w, m, v]
        b1, b2, eps, decay = (self.attr(call, k) for k in ('beta1', 'beta2', 'eps', 'weight_decay'))
        m = [mul(b1, x) + mul(ONE - b1, y) for x, y in zip(m, g)]
        v = [mul(b2, x) + mul(ONE - b2, mul(y, y)) for x, y in zip(v, g)]
        one, two = ONE - clock[1], ONE - clock[2]
        return [[mul(x, ONE - mul(lr, decay)) - div(mul(lr, div(a, one)), root(div(b, two)) + eps) for x, a, b in zip(w, m, v)], m, v]

    def op_adam(self, call, ins, outs):
        ins, lr = self.rated(call, ins)
        w, g, found, m, v, clock = [t.v for t in ins]
        if found[0]:
            return [w, m, v]
        b1, b2, eps = (self.attr(call, k) for k in ('beta1', 'beta2', 'eps'))
        m = [x + mul(ONE - b1, y - x) for x, y in zip(m, g)]
        v = [x + mul(ONE - b2, mul(y, y) - x) for x, y in zip(v, g)]
        rate = div(mul(lr, root(ONE - clock[2])), ONE - clock[1])
        return [[x - div(mul(rate, a), root(b) + eps) for x, a, b in zip(w, m, v)], m, v]

    def clean(self, t):
        """Tensor T's values; what has only come from roundings of this file is 0."""
        return [0 if abs(x) < NOTHING else x for x in self.t[t].v]

    def distance(self, t):
        """Largest and mean error in ulps of the recorded tensor, and its normwise relative error; None: the exact tensor is 0."""
        got, ulps, error, norm, finite = self.exact.t[t], [], 0, 0, 0
        p, emin = FORMATS[got.format][2:4]
        for i, x in enumerate(self.clean(t)):
            try:
                d = abs(fixed(got[i]) - x)
            except NotFinite:
                ulps.append(math.inf)
                continue
            e = max(abs(x).bit_length() - 1 - K, emin) if x else emin
            unit = e - p + 1 + K
            ulps.append(0.0 if d < NOTHING else d / (1 << unit) if unit >= 0 else float(d << -unit))
            error, norm, finite = error + d * d, norm + x * x, finite + 1
        share = math.sqrt(error / norm) if norm else 0.0 if finite and error < NOTHING * NOTHING else None  # None: 0 of the exact tensor, or nothing finite
        return max(ulps), math.fsum(u / len(ulps) for u in ulps), share
