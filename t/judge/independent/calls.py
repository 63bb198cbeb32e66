# SPDX-License-Identifier: Apache-2.0
# The exact result of each call of a traced step from its recorded inputs, as doc/formats.md defines the operators.
from fractions import Fraction as Q

from . import step as fixed
from .files import Tensor
from .number import I, log, pow2, sqrt

PRODUCTS = ('matmul', 'conv2d', 'conv2d_dx', 'conv2d_dw')
SUMS = PRODUCTS + ('all_reduce',) # added as the call's model says
UPDATES = ('sgd', 'adam', 'adamw')


def same(n, k, s):
    """SAME padding: outputs and what lies before."""
    outputs = -(-n // s)
    total = max((outputs - 1) * s + k - n, 0)
    return outputs, total // 2


class Exact:
    """Exact results of the calls of one traced step."""

    def __init__(self, program, trace):
        self.p, self.memo, self.values = program, {}, {}
        self.t = {t['id']: Tensor(*trace.codes(t['name']), t) for t in program['tensors'] if t['name'] in trace}

    def value(self, call, k, i):
        """The exact value of element i of output k: a Fraction or an I."""
        key = (call['id'], k, i)
        if key not in self.values:
            self.values[key] = getattr(self, 'op_' + call['op'])(call, [self.t[j] for j in call['in']], self.t[call['out'][k]], k, i)
        return self.values[key]

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
                    if ty % s or tx % s:
                        continue  # the stride skips it: no operand
                    inside = 0 <= ty // s < ho and 0 <= tx // s < wo
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

    @staticmethod
    def moved(call, out):
        """Where element 0 of OUT lies in its operand: a move of micro-batches takes rows that are neighbours."""
        a = call['attr']
        assert set(a) == {'rank', 'start0'} | {w + str(d) for d in range(len(out.shape)) for w in ('d', 'from')}
        assert all(int(a['from%d' % d]) == d and int(a['d%d' % d]) == out.shape[d] for d in range(len(out.shape)))
        return int(a['start0']) * (out.n // out.shape[0])

    def op_move(self, call, ins, out, k, i):
        return ins[0][self.moved(call, out) + i]

    def op_concat(self, call, ins, out, k, i):
        assert int(call['attr']['axis']) == 0
        for t in ins:
            if i < t.n:
                return t[i]
            i -= t.n

    def op_all_reduce(self, call, ins, out, k, i):
        return sum(t[i] for t in ins)

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

    def op_sub(self, call, ins, out, k, i):
        return ins[0][i] - ins[1][i]

    def op_select(self, call, ins, out, k, i):
        return ins[0 if ins[2][0] else 1][i]

    def op_reciprocal(self, call, ins, out, k, i):
        return 1 / ins[0][i]

    def op_clip(self, call, ins, out, k, i):
        return max(Q(call['attr']['low']), min(Q(call['attr']['high']), ins[0][i]))

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
            e = [fixed.exp(fixed.fixed(v - top)) for v in row]  # off by less than 2^-600
            e = [I(Q(v - (1 << 100), fixed.ONE), Q(v + (1 << 100), fixed.ONE)) for v in e]
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
            s = Q(call['attr'].get('label_smoothing', 0))
            target = (1 - s) * logits[r * n + int(labels[r])] + s * sum(logits[r * n + j] for j in range(n)) / n
            loss = loss + (log(total) + (top - target)) * weight[r]
        return loss / sum(weight[r] for r in range(labels.n))

    def op_softmax_xent_dx(self, call, ins, out, k, i):
        p, labels, weight, dloss = ins
        n = p.shape[1]
        total = self.once((call['id'], 'weight'), lambda: sum(weight[j] for j in range(weight.n)))
        s = Q(call['attr'].get('label_smoothing', 0))
        return dloss[0] * weight[i // n] / total * (p[i] - s / n - (1 - s if int(labels[i // n]) == i % n else 0))

    def op_grad_norm(self, call, ins, out, k, i):
        return sqrt(Q(sum(sum(t.integer(j) ** 2 for j in range(t.n)) * pow2(2 * t.unit) for t in ins)))

    @staticmethod
    def rated(call, ins):
        """An update's operands without the learning rate, and its attributes with it."""
        a = {key: Q(v) for key, v in call['attr'].items()}
        if not a.get('scheduled'):
            return ins, a
        return ins[:-1], dict(a, lr=Q(ins[-1][0]))

    def op_lr_schedule(self, call, ins, out, k, i):
        """PyTorch's closed forms after a linear warm-up."""
        a, t = call['attr'], Q(ins[0][0])
        if k == 1:
            return t + 1
        lr, end, n, warm = Q(a['lr']), Q(a.get('lr_end', 0)), Q(a['decay_steps']), Q(a['warmup'])
        u = t - warm
        if u < 0:
            return lr * (t + 1) / (warm + 1)
        if a['schedule'] == 'constant':
            return lr
        if a['schedule'] == 'step':
            return lr * Q(a['decay_rate']) ** int(u // n)
        if a['schedule'] == 'linear':
            return lr + (end - lr) * min(u / n, 1)
        y, off = fixed.cosine(min(u / n, Q(1))), 1 << 60
        return I(Q(y - off, fixed.ONE), Q(y + off, fixed.ONE)) * ((lr - end) / 2) + (lr + end) / 2

    def op_sgd(self, call, ins, out, k, i):
        ins, a = self.rated(call, ins)
        w, g, found = ins[:3]
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

    def op_adamw(self, call, ins, out, k, i):
        ins, a = self.rated(call, ins)
        w, g, found, m, v, clock = ins
        if found[0] != 0:
            return [w, m, v][k][i]
        m1 = a['beta1'] * m[i] + (1 - a['beta1']) * g[i]
        v1 = a['beta2'] * v[i] + (1 - a['beta2']) * g[i] ** 2
        if k:
            return v1 if k == 2 else m1
        stays = w[i] * (1 - a['lr'] * a['weight_decay'])
        if m1 == 0:
            return stays
        # In integers of step.K bits behind the point, each operation off by a unit of a size that no weight shrinks by
        # more than 2^40
        x = fixed.fixed
        up = fixed.div(fixed.mul(x(a['lr']), x(m1)), x(1 - clock[1]))
        y = x(stays) - fixed.div(up, fixed.root(fixed.div(x(v1), x(1 - clock[2]))) + x(a['eps']))
        off = 1 << 60
        return I(Q(y - off, fixed.ONE), Q(y + off, fixed.ONE))

    def op_adam(self, call, ins, out, k, i):
        ins, a = self.rated(call, ins)
        w, g, found, m, v, clock = ins
        if found[0] != 0:
            return [w, m, v][k][i]
        m1 = m[i] + (g[i] - m[i]) * (1 - a['beta1'])
        v1 = v[i] + (g[i] ** 2 - v[i]) * (1 - a['beta2'])
        if k:
            return v1 if k == 2 else m1
        if m1 == 0:
            return w[i]
        # Keras's form: the second correction multiplies the step, so that epsilon stands beside the uncorrected root
        x = fixed.fixed
        rate = fixed.div(fixed.mul(x(a['lr']), fixed.root(x(1 - clock[2]))), x(1 - clock[1]))
        y = x(w[i]) - fixed.div(fixed.mul(rate, x(m1)), fixed.root(x(v1)) + x(a['eps']))
        off = 1 << 60
        return I(Q(y - off, fixed.ONE), Q(y + off, fixed.ONE))

    # What the absolute terms of an output add up to; None: the value is no sum, and its own magnitude stands for it
    def magnitude(self, call, k, i):
        ins, out, op = [self.t[j] for j in call['in']], self.t[call['out'][k]], call['op']
        if op in PRODUCTS:
            a, b = ins[0], ins[1]
            total = sum(abs(a.integer(j) * b.integer(m)) for j, m in self.terms(call, ins, out, i) if j is not None)
            r = Q(total) * pow2(a.unit + b.unit)
            return r / (ins[2][0] * ins[3][0]) if call['attr'].get('scaled') else r
        if op == 'bias':
            return abs(ins[0][i]) + abs(ins[1][i % ins[1].n])
        if op in ('add', 'sub', 'all_reduce'):
            return sum(abs(t[i]) for t in ins)
        if op == 'bias_db':
            return sum(abs(ins[0][j]) for j in range(i, ins[0].n, out.n))
        if op == 'avgpool':
            N, H, W, C = ins[0].shape
            n, c = divmod(i, C)
            return sum(abs(ins[0][(n * H * W + j) * C + c]) for j in range(H * W)) / (H * W)
        return None
