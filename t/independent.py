# SPDX-License-Identifier: Apache-2.0
# Exact arithmetic for t-independent.py, from doc/formats.md alone: values of
# formats, rounding, enclosures of sqrt, exp, log and erf, and the exact result of
# each operator. Fractions throughout; an irrational value is an interval whose ends
# agree to more than 400 bits. Shares no code with the program.
import json
import math
import struct
from fractions import Fraction as Q

BITS = 640  # of interval ends

# name: code bits, exponent bits, precision, emin, has infinities
FORMATS = {'fp64': (64, 11, 53, -1022, True), 'fp32': (32, 8, 24, -126, True), 'tf32': (19, 8, 11, -126, True),
           'fp16': (16, 5, 11, -14, True), 'bf16': (16, 8, 8, -126, True), 'e4m3': (8, 4, 4, -6, False), 'e5m2': (8, 5, 3, -14, True)}
DTYPES = {'F64': 'fp64', 'F32': 'fp32', 'F16': 'fp16', 'BF16': 'bf16', 'F8_E4M3': 'e4m3', 'F8_E5M2': 'e5m2'}


def decode(code, name):
    """The value of a code: a Fraction, or 'inf', '-inf', 'nan'; -0 is 0."""
    bits, ebits, p, emin, infinities = FORMATS[name]
    sign = code >> (bits - 1) & 1
    field, m = code >> (p - 1) & ((1 << ebits) - 1), code & ((1 << (p - 1)) - 1)
    if field == (1 << ebits) - 1:
        if infinities:
            return 'nan' if m else '-inf' if sign else 'inf'
        if m == (1 << (p - 1)) - 1:
            return 'nan'
    e = emin - p + 1
    v = Q(m) * pow2(e) if field == 0 else Q(m | 1 << (p - 1)) * pow2(e + field - 1)
    return -v if sign else v


def pow2(e):
    return Q(1 << e) if e >= 0 else Q(1, 1 << -e)


def log2floor(x):
    """floor(log2 |x|) of a nonzero Fraction."""
    n, d = abs(x.numerator), x.denominator
    e = n.bit_length() - d.bit_length()
    return e if n * (1 << max(0, -e)) >= d * (1 << max(0, e)) else e - 1


def fl(x, name='fp32'):
    """x rounded to nearest, ties to even; overflow gives 'inf' or '-inf'."""
    bits, ebits, p, emin, infinities = FORMATS[name]
    if x == 0:
        return Q(0)
    unit = pow2(max(log2floor(x), emin) - p + 1)
    q = abs(x) / unit
    n = q.numerator // q.denominator
    rest = q - n
    if rest > Q(1, 2) or (rest == Q(1, 2) and n & 1):
        n += 1
    r = n * unit
    emax = (1 << (ebits - 1)) - 1 if infinities else 1 << (ebits - 1)
    largest = (2 - pow2(1 - p)) * pow2(emax) if infinities else (2 - pow2(2 - p)) * pow2(emax)
    if r > largest:
        return ('-inf' if x < 0 else 'inf') if infinities else 'nan'
    return -r if x < 0 else r


def trim(x, up):
    """x rounded outward to BITS bits."""
    if x == 0 or (x.denominator == 1 and x.numerator.bit_length() < BITS):
        return x
    unit = pow2(log2floor(x) - BITS)
    q = x / unit
    n = q.numerator // q.denominator
    return x if q == n else (n + (1 if up else 0)) * unit


class I:
    """A closed interval of Fractions."""

    def __init__(self, lo, hi=None):
        self.lo, self.hi = Q(lo), Q(lo if hi is None else hi)

    def out(self):
        return I(trim(self.lo, False), trim(self.hi, True))

    def __add__(self, o):
        o = iv(o)
        return I(self.lo + o.lo, self.hi + o.hi).out()

    def __neg__(self):
        return I(-self.hi, -self.lo)

    def __sub__(self, o):
        return self + (-iv(o))

    def __mul__(self, o):
        o = iv(o)
        c = [self.lo * o.lo, self.lo * o.hi, self.hi * o.lo, self.hi * o.hi]
        return I(min(c), max(c)).out()

    def __truediv__(self, o):
        o = iv(o)
        assert o.lo > 0 or o.hi < 0
        c = [self.lo / o.lo, self.lo / o.hi, self.hi / o.lo, self.hi / o.hi]
        return I(min(c), max(c)).out()

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, o):
        return iv(o) - self

    def __rtruediv__(self, o):
        return iv(o) / self


def iv(x):
    return x if isinstance(x, I) else I(x)


def isqrt_down(x):
    """Largest multiple of a unit of relative size 2^-BITS whose square is at most x."""
    if x == 0:
        return Q(0), Q(0)
    s = BITS - log2floor(x) // 2
    n = x.numerator * (1 << 2 * s) // x.denominator if s >= 0 else x.numerator // (x.denominator * (1 << -2 * s))
    r = math.isqrt(n)
    return r * pow2(-s), (r + 1) * pow2(-s)


def sqrt(x):
    x = iv(x)
    return I(isqrt_down(x.lo)[0], isqrt_down(x.hi)[1])


def exp_point(x):
    """Taylor's series of exp at x / 2^j, |.| < 2^-8; the rest is below twice the next term; then squared j times."""
    if x == 0:
        return I(1)
    j = max(0, log2floor(x) + 9)
    r = I(trim(x / (1 << j), False), trim(x / (1 << j), True))
    total, term, n = I(1), I(1), 0
    while max(abs(term.lo), abs(term.hi)) > pow2(-BITS - 20):
        n += 1
        term = term * r / n
        total = total + term
    rest = 2 * max(abs(term.lo), abs(term.hi))
    total = total + I(-rest, rest)
    for _ in range(j):
        total = total * total
    return total


def exp(x):
    x = iv(x)
    return I(exp_point(x.lo).lo, exp_point(x.hi).hi)


def atanh2(t):
    """2 atanh(t) = log((1+t)/(1-t)) for |t| <= 1/3."""
    total, power, n = iv(t), iv(t), 1
    square = iv(t) * t
    while max(abs(power.lo), abs(power.hi)) > pow2(-BITS - 20):
        n += 2
        power = power * square
        total = total + power / n
    rest = max(abs(power.lo), abs(power.hi)) * 2
    return (total + I(-rest, rest)) * 2


LN2 = atanh2(I(Q(1, 3)))


def log_point(x):
    e = log2floor(x)
    m = x * pow2(-e)          # 1 <= m < 2
    if m > Q(4, 3):
        m, e = m / 2, e + 1   # 2/3 .. 4/3
    return atanh2(I((m - 1) / (m + 1)).out()) + LN2 * e


def log(x):
    x = iv(x)
    return I(log_point(x.lo).lo, log_point(x.hi).hi)


def error_ulps(got, exact, name):
    """|got - exact| over 2^(max(floor(log2|exact|), emin) - p + 1) as the nearest double; None where the ends disagree."""
    bits, ebits, p, emin, infinities = FORMATS[name]
    exact = iv(exact)

    def one(x):
        e = emin if x == 0 else max(log2floor(x), emin)
        return float(abs(got - x) * pow2(-(e - p + 1)))
    a, b = one(exact.lo), one(exact.hi)
    return a if a == b else None


class Safetensors:
    def __init__(self, path):
        raw = open(path, 'rb').read()
        n, = struct.unpack('<Q', raw[:8])
        self.head, self.body = json.loads(raw[8:8 + n]), raw[8 + n:]
        self.meta = self.head.pop('__metadata__', {})

    def __contains__(self, name):
        return name in self.head

    def codes(self, name):
        h = self.head[name]
        a, b = h['data_offsets']
        size = {'F64': 8, 'F32': 4, 'F16': 2, 'BF16': 2, 'F8_E4M3': 1, 'F8_E5M2': 1}[h['dtype']]
        return struct.unpack('<%d%s' % ((b - a) // size, {8: 'Q', 4: 'I', 2: 'H', 1: 'B'}[size]), self.body[a:b]), DTYPES[h['dtype']]


class Tensor:
    """Values by index, decoded when asked for. NaN and infinities raise NotFinite."""

    def __init__(self, codes, stored, info):
        self.codes, self.stored, self.format, self.shape = codes, stored, info['format'], info['shape']
        self.n, self.cache = len(codes), {}
        p, emin = FORMATS[stored][2:4]
        self.unit = emin - p + 1

    def raw(self, i):
        return decode(self.codes[i], self.stored)

    def __getitem__(self, i):
        v = self.cache.get(i)
        if v is None:
            v = self.cache[i] = self.raw(i)
        if isinstance(v, str):
            raise NotFinite
        return v

    def integer(self, i):
        """value / 2^unit"""
        v = self[i]
        return v.numerator * ((1 << -self.unit) // v.denominator) if self.unit < 0 else int(v / pow2(self.unit))


class NotFinite(Exception):
    pass


def same(n, k, s):
    """SAME padding: outputs and what lies before."""
    outputs = -(-n // s)
    total = max((outputs - 1) * s + k - n, 0)
    return outputs, total // 2


class Exact:
    """Exact results of the calls of one traced step."""

    def __init__(self, program, trace):
        self.p, self.memo = program, {}
        self.t = {t['id']: Tensor(*trace.codes(t['name']), t) for t in program['tensors'] if t['name'] in trace}

    def value(self, call, k, i):
        """The exact value of element i of output k: a Fraction or an I."""
        ins = [self.t[j] for j in call['in']]
        f = getattr(self, 'op_' + call['op'], None)
        return None if f is None else f(call, ins, self.t[call['out'][k]], k, i)

    def once(self, key, f):
        if key not in self.memo:
            self.memo[key] = f()
        return self.memo[key]

    # Products: lists of (a index, b index), None for a tap that is +0
    def terms(self, call, ins, out, i):
        a, b, op, attr = ins[0], ins[1], call['op'], call['attr']
        if op == 'matmul':
            ta, tb = attr.get('ta', 0), attr.get('tb', 0)
            d0, rest = a.shape[0], a.n // a.shape[0]
            m, kk = (rest, d0) if ta else (d0, rest)
            n = b.n // kk
            r, c = divmod(i, n)
            return [(k * m + r if ta else r * kk + k, c * kk + k if tb else k * n + c) for k in range(kk)]
        s = int(attr.get('stride', 1))
        if op == 'conv2d':
            N, H, W, C = a.shape
            kh, kw, ci, co = b.shape
            (ho, ph), (wo, pw) = same(H, kh, s), same(W, kw, s)
            i, o = divmod(i, co)
            i, x = divmod(i, wo)
            im, y = divmod(i, ho)
            return [((((im * H + y * s + u - ph) * W + x * s + v - pw) * C + c) if 0 <= y * s + u - ph < H and 0 <= x * s + v - pw < W else None,
                     ((u * kw + v) * ci + c) * co + o) for u in range(kh) for v in range(kw) for c in range(ci)]
        if op == 'conv2d_dx':
            N, H, W, C = out.shape
            kh, kw, ci, co = b.shape
            (ho, ph), (wo, pw) = same(H, kh, s), same(W, kw, s)
            i, c = divmod(i, C)
            i, x = divmod(i, W)
            im, y = divmod(i, H)
            r = []
            for u in range(kh):
                for v in range(kw):
                    ty, tx = y + ph - u, x + pw - v
                    inside = ty % s == 0 and tx % s == 0 and 0 <= ty // s < ho and 0 <= tx // s < wo
                    for o in range(co):
                        r.append((((im * ho + ty // s) * wo + tx // s) * co + o if inside else None, ((u * kw + v) * ci + c) * co + o))
            return r
        assert op == 'conv2d_dw'
        N, H, W, C = a.shape
        kh, kw, ci, co = out.shape
        (ho, ph), (wo, pw) = same(H, kh, s), same(W, kw, s)
        i, o = divmod(i, co)
        i, c = divmod(i, ci)
        u, v = divmod(i, kw)
        return [(((im * H + y * s + u - ph) * W + x * s + v - pw) * C + c if 0 <= y * s + u - ph < H and 0 <= x * s + v - pw < W else None,
                 ((im * ho + y) * wo + x) * co + o) for im in range(N) for y in range(ho) for x in range(wo)]

    def op_matmul(self, call, ins, out, k, i):
        a, b = ins[0], ins[1]
        total = sum(a.integer(j) * b.integer(m) for j, m in self.terms(call, ins, out, i) if j is not None)
        r = Q(total) * pow2(a.unit + b.unit)
        return r / (ins[2][0] * ins[3][0]) if call['attr'].get('scaled') else r

    op_conv2d = op_conv2d_dx = op_conv2d_dw = op_matmul

    def op_bias(self, call, ins, out, k, i):
        return ins[0][i] + ins[1][i % ins[1].n]

    def op_bias_db(self, call, ins, out, k, i):
        return sum(ins[0][j] for j in range(i, ins[0].n, out.n))

    def op_add(self, call, ins, out, k, i):
        return ins[0][i] + ins[1][i]

    def op_relu(self, call, ins, out, k, i):
        return max(ins[0][i], Q(0))

    def op_relu_dx(self, call, ins, out, k, i):
        return ins[1][i] if ins[0][i] > 0 else Q(0)

    def op_avgpool(self, call, ins, out, k, i):
        N, H, W, C = ins[0].shape
        n, c = divmod(i, C)
        return sum(ins[0][(n * H * W + j) * C + c] for j in range(H * W)) / (H * W)

    def op_avgpool_dx(self, call, ins, out, k, i):
        N, H, W, C = out.shape
        return ins[0][i // (H * W * C) * C + i % C] / (H * W)

    def op_cast(self, call, ins, out, k, i):
        if not call['attr'].get('scaled'):
            return ins[0][i]
        scale = self.t[call['out'][1]]
        return scale[0] if k else ins[0][i] * scale[0]

    def op_scale(self, call, ins, out, k, i):
        return ins[0][i] * (ins[1][0] if len(ins) > 1 else 1) * Q(call['attr'].get('factor', 1))

    def op_unscale(self, call, ins, out, k, i):
        return ins[0][i] / (ins[1][0] * Q(call['attr'].get('loss_weight', 1)))

    def op_finite_check(self, call, ins, out, k, i):
        for t in ins:
            for j in range(t.n):
                t[j]
        return Q(0 if k == 0 else [-1, 0, 0][i])

    def op_scale_update(self, call, ins, out, k, i):
        # rule=pytorch; tracker: good steps, hysteresis left, step, last overflow
        a = call['attr']
        assert a['rule'] == 'pytorch'
        scale, (good, left, step, last), found = ins[0][0], [ins[1][j] for j in range(4)], ins[2][0] != 0
        if step == 0:
            left, last = Q(a['hysteresis']), Q(-1)
        good = 0 if found else good + 1
        if found:
            scale, last = scale * Q(a['backoff']), step
        elif good == a['interval']:
            scale, good = scale * Q(a['growth']), 0
        return [good, left, step + 1, last][i] if k else scale

    def channel(self, call, ins, what, c):
        """Sums over the elements of channel c of x."""
        x, C = ins[0], ins[0].shape[-1]
        return self.once((call['id'], what, c), lambda: what(x, range(c, x.n, C), C))

    @staticmethod
    def moments(x, rows, C):
        n = len(rows)
        mean = sum(x[j] for j in rows) / n
        return mean, sum((x[j] - mean) ** 2 for j in rows) / n

    def op_batchnorm(self, call, ins, out, k, i):
        x, gamma, beta, rm, rv = ins
        c = i % x.shape[-1]
        mean, var = self.channel(call, ins, self.moments, c)
        eps, momentum = Q(call['attr']['eps']), Q(call['attr']['momentum'])
        if k == 1:
            return mean
        if k == 3:
            return momentum * rm[c] + (1 - momentum) * mean
        if k == 4:
            return momentum * rv[c] + (1 - momentum) * var
        rstd = self.once((call['id'], 'rstd', c), lambda: 1 / sqrt(var + eps))
        return rstd if k == 2 else (x[i] - mean) * rstd * gamma[c] + beta[c]

    def op_batchnorm_dx(self, call, ins, out, k, i):
        x, gamma, mean, rstd, dy = ins
        C = x.shape[-1]
        c = i % C
        rows = range(c, x.n, C)
        dbeta = self.once((call['id'], 'dbeta', c), lambda: sum(dy[j] for j in rows))
        dgamma = self.once((call['id'], 'dgamma', c), lambda: sum(dy[j] * (x[j] - mean[c]) for j in rows) * rstd[c])
        if k == 1:
            return dgamma
        if k == 2:
            return dbeta
        xhat = (x[i] - mean[c]) * rstd[c]
        return gamma[c] * rstd[c] * (dy[i] - dbeta / len(rows) - xhat * dgamma / len(rows))

    def row_softmax(self, call, logits, r, n):
        def make():
            row = [logits[r * n + j] for j in range(n)]
            top = max(row)
            e = [exp(v - top) for v in row]
            total = e[0]
            for v in e[1:]:
                total = total + v
            return e, total, top
        return self.once((call['id'], 'softmax', r), make)

    def op_softmax_xent(self, call, ins, out, k, i):
        logits, labels, weight = ins
        n = logits.shape[1]
        if k == 1:
            e, total, top = self.row_softmax(call, logits, i // n, n)
            return e[i % n] / total
        loss = I(0)
        for r in range(labels.n):
            e, total, top = self.row_softmax(call, logits, r, n)
            loss = loss + (log(total) + (top - logits[r * n + int(labels[r])])) * weight[r]
        return loss / sum(weight[r] for r in range(labels.n))

    def op_softmax_xent_dx(self, call, ins, out, k, i):
        p, labels, weight, dloss = ins
        n = p.shape[1]
        total = self.once((call['id'], 'weight'), lambda: sum(weight[j] for j in range(weight.n)))
        return dloss[0] * weight[i // n] / total * (p[i] - (1 if int(labels[i // n]) == i % n else 0))

    def op_grad_norm(self, call, ins, out, k, i):
        return sqrt(Q(sum(sum(t.integer(j) ** 2 for j in range(t.n)) * pow2(2 * t.unit) for t in ins)))

    def op_sgd(self, call, ins, out, k, i):
        w, g, found = ins[:3]
        a = {key: Q(v) for key, v in call['attr'].items()}
        if found[0] != 0:
            return ins[3][i] if k else w[i]
        step = g[i] + a.get('weight_decay', 0) * w[i]
        if len(ins) > 3:
            step = a.get('momentum', 0) * ins[3][i] + step
        return step if k else w[i] - a['lr'] * step

    def op_adam_clock(self, call, ins, out, k, i):
        clock, found = ins
        if found[0] != 0:
            return clock[i]
        a = call['attr']
        return clock[0] + 1 if i == 0 else (1 if clock[0] == 0 else clock[i]) * Q(a['beta1' if i == 1 else 'beta2'])

    def op_adam(self, call, ins, out, k, i):
        w, g, found, m, v, clock = ins
        if found[0] != 0:
            return [w, m, v][k][i]
        a = {key: Q(x) for key, x in call['attr'].items()}
        m1 = m[i] + (g[i] - m[i]) * (1 - a['beta1'])
        v1 = v[i] + (g[i] ** 2 - v[i]) * (1 - a['beta2'])
        if k:
            return v1 if k == 2 else m1
        return I(w[i]) - sqrt(1 - clock[2]) * (a['lr'] / (1 - clock[1])) * m1 / (sqrt(v1) + a['eps'])

    def op_adamw(self, call, ins, out, k, i):
        w, g, found, m, v, clock = ins
        if found[0] != 0:
            return [w, m, v][k][i]
        a = {key: Q(x) for key, x in call['attr'].items()}
        m1 = a['beta1'] * m[i] + (1 - a['beta1']) * g[i]
        v1 = a['beta2'] * v[i] + (1 - a['beta2']) * g[i] ** 2
        if k:
            return v1 if k == 2 else m1
        up = a['lr'] * m1 / (1 - clock[1])
        down = sqrt(v1 / (1 - clock[2])) + a['eps']
        return I(w[i] * (1 - a['lr'] * a['weight_decay'])) - up / down

    # Swamped additions of one product sum, "fma,acc=fp32" in the order of the call
    def swamped(self, call, k, i):
        ins, out = [self.t[j] for j in call['in']], self.t[call['out'][k]]
        a, b = ins[0], ins[1]
        part = int(call['attr'].get('part', 0))
        terms = self.terms(call, ins, out, i)
        part = part or len(terms)
        count = swamped = 0
        sums = []
        for at in range(0, len(terms), part):
            acc = Q(0)
            for j, m in terms[at:at + part]:
                y = Q(0) if j is None else a[j] * b[m]
                s = fl(acc + y, 'fp32')
                if isinstance(s, str):
                    raise NotFinite
                count += acc != 0 and y != 0
                swamped += acc != 0 and y != 0 and s == acc
                acc = s
            sums.append(acc)
        return count, swamped, sums


class Whole:
    """A tensor of the exact step: intervals, all elements."""

    def __init__(self, values, like):
        self.values, self.n, self.shape, self.format = values, like.n, like.shape, like.format

    def __getitem__(self, i):
        return self.values[i]


class Ideal(Exact):
    """The whole step from its recorded inputs and state without a rounding: each call reads the exact results of those before.
    Casts pass their input on; the finite check and the scale stay as recorded. For steps small enough."""

    def __init__(self, program, trace):
        Exact.__init__(self, program, trace)
        self.recorded = dict(self.t)
        made = {t for call in program['calls'] for t in call['out']}
        for t in self.recorded:
            if t not in made:
                self.t[t] = Whole([iv(self.recorded[t][i]) for i in range(self.recorded[t].n)], self.recorded[t])
        for call in program['calls']:
            for k, t in enumerate(call['out']):
                out = self.recorded[t]
                if call['op'] in ('finite_check', 'scale_update'):
                    values = [iv(out[i]) for i in range(out.n)]
                else:
                    values = [iv(self.value(call, k, i)) for i in range(out.n)]
                self.t[t] = Whole(values, out)

    def op_matmul(self, call, ins, out, k, i):
        total = I(0)
        for a, b in self.terms(call, ins, out, i):
            total = total + ins[0][a] * ins[1][b]
        return total

    def op_relu(self, call, ins, out, k, i):
        return ins[0][i] if self.positive(ins[0][i]) else I(0)

    def op_relu_dx(self, call, ins, out, k, i):
        return ins[1][i] if self.positive(ins[0][i]) else I(0)

    @staticmethod
    def positive(x):
        assert x.lo > 0 or x.hi <= 0
        return x.lo > 0

    def op_bias_db(self, call, ins, out, k, i):
        total = I(0)
        for j in range(i, ins[0].n, out.n):
            total = total + ins[0][j]
        return total

    def op_softmax_xent(self, call, ins, out, k, i):
        logits, labels, weight = ins
        n = logits.shape[1]
        total = I(0)
        for j in range(n):
            total = total + exp(logits[i // n * n + j])
        if k == 1:
            return exp(logits[i]) / total
        loss, weights = I(0), I(0)
        for r in range(labels.n):
            total = I(0)
            for j in range(n):
                total = total + exp(logits[r * n + j])
            loss = loss + (log(total) - logits[r * n + int(labels[r].lo)]) * weight[r]
            weights = weights + weight[r]
        return loss / weights

    def op_softmax_xent_dx(self, call, ins, out, k, i):
        p, labels, weight, dloss = ins
        n, total = p.shape[1], I(0)
        for r in range(labels.n):
            total = total + weight[r]
        return dloss[0] * weight[i // n] / total * (p[i] - (1 if labels[i // n].lo == i % n else 0))

    def op_grad_norm(self, call, ins, out, k, i):
        total = I(0)
        for t in ins:
            for j in range(t.n):
                total = total + t[j] * t[j]
        return sqrt(total)

    def op_adam_clock(self, call, ins, out, k, i):
        a = call['attr']
        return ins[0][0] + 1 if i == 0 else ins[0][i] * Q(a['beta1' if i == 1 else 'beta2'])

    def op_adam(self, call, ins, out, k, i):
        w, g, found, m, v, clock = ins
        a = {key: Q(x) for key, x in call['attr'].items()}
        m1 = m[i] * a['beta1'] + g[i] * (1 - a['beta1'])
        v1 = v[i] * a['beta2'] + g[i] * g[i] * (1 - a['beta2'])
        if k:
            return v1 if k == 2 else m1
        return w[i] - m1 * a['lr'] / (1 - clock[1]) * sqrt(1 - clock[2]) / (sqrt(v1) + a['eps'])

    def op_adamw(self, call, ins, out, k, i):
        w, g, found, m, v, clock = ins
        a = {key: Q(x) for key, x in call['attr'].items()}
        m1 = m[i] * a['beta1'] + g[i] * (1 - a['beta1'])
        v1 = v[i] * a['beta2'] + g[i] * g[i] * (1 - a['beta2'])
        if k:
            return v1 if k == 2 else m1
        return w[i] * (1 - a['lr'] * a['weight_decay']) - m1 * a['lr'] / (1 - clock[1]) / (sqrt(v1 / (1 - clock[2])) + a['eps'])

    def distance(self, t):
        """Largest and mean error in ulps of the recorded tensor, and its normwise relative error."""
        got, ulps, error, norm = self.recorded[t], [], Q(0), Q(0)
        for i in range(got.n):
            x = self.t[t][i].lo
            ulps.append(error_ulps(got[i], x, got.format))
            error, norm = error + trim((got[i] - x) ** 2, True), norm + trim(x * x, True)
        share = math.sqrt(error / norm) if norm else 0.0
        return max(ulps), sum(ulps) / len(ulps), share
