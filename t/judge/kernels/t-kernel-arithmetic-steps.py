#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# As t-kernel-arithmetic.py: the radii of attention's gradients, of convolutions and of optimizers' steps, computed from
# what doc/kernels.md says of them alone, are those that `halfulp judge --bound` writes.
import math
import os
import random
import struct
import sys

sys.dont_write_bytecode = True
TOP = os.path.abspath(os.environ.get('srcdir', '.'))
sys.path.insert(0, TOP + '/t/tool')
from npzfile import npy  # noqa: E402
from tap import finish, halfulp, home, none, ok  # noqa: E402

os.chdir(home())
draw = random.Random(12)
U = {'fp32': 2.0**-24, 'bf16': 2.0**-8}
EXP, FN, TINY, SMALLEST = 2.0**-22, 2.0**-21, 2.0**-126, 2.0**-133   # SMALLEST: of bf16
u = U['fp32']


def single(x):
    return struct.unpack('<f', struct.pack('<f', x))[0]


def drawn(*shape, scale=1.0):
    return shape, [single(draw.gauss(0, scale)) for _ in range(math.prod(shape))]


def bounds(kernel, facts, shape, result='', **arrays):
    """What --bound writes, less the last store's half ulp: results are of fp64, where it is nothing."""
    words = []
    for name, (form, values) in arrays.items():
        with open(name + '.npy', 'wb') as f:
            f.write(npy(form, values))
        words += ['--in', '%s=%s.npy' % (name, name)]
    with open('got.npy', 'wb') as f:
        f.write(npy(shape, [0.0] * math.prod(shape), '<f8'))
    done = halfulp('judge', kernel, *words, '--got', result + 'got.npy', '--bound', 'bound.npy', '--no-culprit',
                   '--set', 'out=fp64 ' + facts)
    if done.returncode not in (0, 1):
        return [done.stderr]
    with open('bound.npy', 'rb') as f:
        return list(struct.unpack('<%dd' % math.prod(shape), f.read()[-8 * math.prod(shape):]))


def agree(what, found, radii):
    bad = [(i, f, r) for i, (f, r) in enumerate(zip(found, radii)) if isinstance(f, str) or abs(f - r) > 1e-6 * r]
    none(bad, '%s: the radii of the page' % what)
    ok(len(found) == len(radii) and all(r > 0 for r in radii), 'which are no zeros', radii[:3])


def sum_error(k, acc='fp32', run=None):
    g = math.expm1((min(run, k) if run else k) * math.log1p(u if run else U[acc]))
    h = math.expm1(math.ceil(k / run) * math.log1p(U[acc])) if run else 0
    return g + h + g * h


# A value with its radius is a pair
def exact(x):
    return x, 0.0


def rounded(a, times=1.0, tiny=TINY):
    return a[0], a[1] + times * u * (abs(a[0]) + a[1]) + tiny


def plus(a, b):
    return rounded((a[0] + b[0], a[1] + b[1]), tiny=0.0)


def times(a, k):
    """By a number of the optimizer, or attention's scale."""
    return rounded((a[0] * k, a[1] * abs(k)), 2)


def product(a, b):
    return a[0] * b[0], a[1] * (abs(b[0]) + b[1]) + abs(a[0]) * b[1]


def dot(a, b, g=None):
    g = sum_error(len(a)) if g is None else g
    most = sum((abs(x[0]) + x[1]) * (abs(y[0]) + y[1]) for x, y in zip(a, b))
    size = sum(abs(x[0] * y[0]) for x, y in zip(a, b))
    return sum(x[0] * y[0] for x, y in zip(a, b)), most - size + g * most + len(a) * TINY * (1 + g)


def stored(a, how):
    most = abs(a[0]) + a[1]
    return (a[0], a[1] + 2.0 ** (math.floor(math.log2(most)) - 8)) if how == 'bf16' and most else a


N, M, D, SCALE = 4, 5, 3, 0.5
q, do = drawn(1, 1, N, D), drawn(1, 1, N, D)
k, v = drawn(1, 1, M, D), drawn(1, 1, M, D)


def rows(a, n):
    return [[exact(x) for x in a[1][i * D:][:D]] for i in range(n)]


def columns(a):
    return [list(c) for c in zip(*a)]


def gradients(p, ds, o_in, keys, lse=None, o=None):
    """dQ, dK and dV; keys: g of the products that make dK and dV."""
    Q, K, V, dO, P, dS = rows(q, N), rows(k, M), rows(v, M), rows(do, N), [], []
    for i in range(N):
        s = [times(dot(Q[i], K[j]), SCALE) for j in range(M)]
        m, least = max(x for x, _ in s), max(r for _, r in s)
        L = sum(math.exp(x - m) for x, _ in s)
        l, error = m + math.log(L), 0.0
        if lse:
            l = lse[i]
        else:
            T = sum(math.exp(x - l) * (math.expm1(r + 10 * u * least + 4 * u * (abs(x) + abs(m))) * (1 + EXP) + EXP)
                    for x, r in s) + M * TINY
            T += sum_error(M + 1) * (1 + T)
            error = -math.log1p(-T) * (1 + 2 * u + FN) + 2 * u * (abs(l) + abs(m)) + FN * (abs(math.log(L)) + 0.5)
        P.append([(math.exp(x - l), math.exp(x - l) * (math.expm1((r + error) * (1 + 5 * u) + 2.02 * u * (
            abs(x) + abs(l) + abs(x - l))) * (1 + EXP) + EXP) + TINY) for x, r in s])
    kept = [[stored(x, p) for x in row] for row in P]
    for i in range(N):
        if o:
            O = [exact(x) for x in o[i * D:][:D]]
        else:
            O = [dot(P[i], c) for c in columns(V)]
            if p == 'bf16':
                g = sum_error(M)
                O = [(y, r + (1 + g) * sum((U['bf16'] * (w + e) + SMALLEST / 2) * abs(x[0])
                                           for (w, e), x in zip(P[i], c))) for (y, r), c in zip(O, columns(V))]
            O = [stored(x, o_in) for x in O]
        delta = dot(dO[i], O)
        apart = [plus(dot(dO[i], V[j]), (-delta[0], delta[1])) for j in range(M)]
        dS.append([stored(rounded(product(x, y)), ds) for x, y in zip(P[i], apart)])
    dQ = [times(dot(row, c), SCALE) for row in dS for c in columns(K)]
    dK = [times(dot(col, c, keys), SCALE) for col in columns(dS) for c in columns(Q)]
    dV = [dot(col, c, keys) for col in columns(kept) for c in columns(dO)]
    return [[r for _, r in x] for x in (dQ, dK, dV)]


own = [single(x) for x in (0.7, 0.9, 1.1, 1.3)]
given = [single(x) for x in (draw.gauss(0, 1) for _ in range(N * D))]
for facts, words, more in (
        ('p=none ds=none o=none', ('none', 'none', 'none', sum_error(N)), {}),
        ('p=bf16 ds=bf16 o=bf16', ('bf16', 'bf16', 'bf16', sum_error(N)), {}),
        ('p=bf16 ds=none o=none', ('bf16', 'none', 'none', sum_error(N)), {}),
        ('p=none ds=bf16 o=none', ('none', 'bf16', 'none', sum_error(N)), {'o': given}),
        ('p=none ds=none o=none acc_kv=bf16@2', ('none', 'none', 'none', sum_error(N, 'bf16', 2)), {'lse': own}),
        ('p=none ds=none o=none', ('none', 'none', 'none', sum_error(N)), {'lse': own, 'o': given})):
    arrays = dict(q=q, k=k, v=v, do=do)
    if 'o' in more:
        arrays['o'] = ((1, 1, N, D), given)
    if 'lse' in more:
        arrays['lse'] = ((1, 1, N), own)
    want = gradients(*words, **more)
    for result, rad, n in zip(('dq', 'dk', 'dv'), want, (N, M, M)):
        agree('%s of attention, %s, handed in: %s' % (result, facts, ', '.join(more) or 'nothing'), bounds(
            'attention_dx', 'scale=%g ' % SCALE + facts, (1, 1, n, D), result + '=', **arrays), rad)

x, w, b = drawn(1, 2, 7), drawn(3, 2, 3), drawn(3)
for bias in (0, 1):
    want = []
    for f in range(3):
        for at in range(7):
            pairs = [(w[1][(f * 2 + c) * 3 + t], x[1][c * 7 + at + t - 1] if 0 <= at + t - 1 < 7 else 0.0)
                     for c in range(2) for t in range(3)] + [(b[1][f], 1.0)] * bias
            y = dot([exact(i) for i, _ in pairs], [exact(j) for _, j in pairs])
            want.append(rounded(y, tiny=0.0)[1] if bias else y[1])
    agree('a convolution%s' % (' with a bias' if bias else ''), bounds(
        'conv', 'padding=1', (1, 3, 7), x=x, w=w, **({'b': b} if bias else {})), want)

n = 12
w, g, m, o = (drawn(1, n) for _ in range(4))
second = ((1, n), [single(x * x) for x in drawn(1, n)[1]])


def weighed(a, b, s, t):
    return plus(times(a, s), times(b, t))


def adamw(lr, b1, b2, eps, decay, step, coupled):
    for i in range(n):
        W, G, V = exact(w[1][i]), exact(g[1][i]), exact(second[1][i])
        if coupled:
            G = plus(G, times(W, decay))
        else:
            W = times(W, 1 - lr * decay)
        size = abs(G[0]) + G[1]
        x, r = weighed(exact(m[1][i]), G, b1, 1 - b1)
        m1 = x, r + 2 * u * (1 - b1) * (size + abs(m[1][i])) + u * abs(m[1][i])
        square = rounded((G[0] ** 2, 2 * abs(G[0]) * G[1] + G[1] ** 2), 2)
        v1 = weighed(V, square, b2, 1 - b2)
        c = 1 - b2**step
        y = math.sqrt(v1[0] / c)
        below = plus(rounded((y, y - math.sqrt((v1[0] - v1[1]) / c)), 4), rounded(exact(eps)))
        top = times(m1, lr / (1 - b1**step))
        quotient = top[0] / below[0]
        q = quotient, (top[1] + abs(quotient) * below[1]) / (below[0] - below[1])
        q = rounded(q, max(2, FN / u))
        yield plus(W, (-q[0], q[1]))[1], m1[1], v1[1]


for coupled in (0, 1):
    facts = (0.01, 0.9, 0.99, 0.05, 0.1, 3, coupled)
    want = list(zip(*adamw(*facts)))
    for k, result in enumerate(('w1', 'm1', 'v1')):
        agree('%s of %s' % (result, 'Adam' if coupled else 'AdamW'), bounds(
            'adamw', 'lr=%r beta1=%r beta2=%r eps=%r decay=%r step=%d coupled=%d' % facts, (1, n), result + '=',
            w=w, g=g, m=m, v=second), want[k])

lr, decay = 0.01, 0.1
zero = m[1][:3] + [single(-9 * x) for x in g[1][3:6]] + m[1][6:]     # sums of the second three are about 0
want = []
for i in range(n):
    W, d = times(exact(w[1][i]), 1 - lr * decay), weighed(exact(zero[i]), exact(g[1][i]), 0.1, 0.9)
    sign = math.copysign(lr, d[0]) if d[0] else 0.0, u * lr if abs(d[0]) > d[1] else (2 + u) * lr
    want.append(plus(W, (-sign[0], sign[1]))[1])
found = bounds('lion', 'lr=0.01 beta1=0.1 beta2=0.99 decay=0.1', (1, n), 'w1=', w=w, g=g, m=((1, n), zero))
agree('Lion', found, want)
ok(sum(r > lr for r in want) == 3, 'whose sign is open for three of the weights', want)


def lerp(a, b, t):
    y = weighed(a, b, 1 - t, t)
    return y[0], y[1] + 3 * u * (1 + u) * (abs(a[0]) + a[1] + abs(b[0]) + b[1])


want = []
for i in range(n):
    G, M1 = exact(g[1][i]), lerp(exact(m[1][i]), exact(g[1][i]), 1 - 0.95)
    step = times(exact(o[1][i]), lr * 2)
    step = -step[0], step[1] + 2 * u * (abs(step[0]) + step[1])
    want.append((plus(times(exact(w[1][i]), 1 - lr * decay), step)[1], M1[1], lerp(G, M1, 0.95)[1]))
for k, result in enumerate(('w1', 'm1', 'u')):
    found = bounds('muon', 'lr=0.01 momentum=0.95 decay=0.1 scale=2', (1, n), result + '=', w=w, g=g, m=m, o=o)
    agree('%s of Muon' % result, found, [r[k] for r in want])
finish()
