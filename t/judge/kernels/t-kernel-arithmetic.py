#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# What doc/kernels.md says of the kernel judge's arithmetic is enough to compute its bounds: radii of sums, products,
# single operations, functions, stores, softmax, attention and LayerNorm, written here from the page alone, are those
# that `halfulp judge --bound` writes, to six digits.
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
draw = random.Random(11)
U = {'fp32': 2.0**-24, 'bf16': 2.0**-8}
EXP, FN, TINY = 2.0**-22, 2.0**-21, 2.0**-126
u = U['fp32']


def single(x):
    return struct.unpack('<f', struct.pack('<f', x))[0]


def drawn(*shape, scale=1.0):
    return shape, [single(draw.gauss(0, scale)) for _ in range(math.prod(shape))]


def bounds(kernel, facts, n, **arrays):
    """What --bound writes, less the last store's half ulp: results are of fp64, where it is nothing."""
    words = []
    for name, (shape, values) in arrays.items():
        with open(name + '.npy', 'wb') as f:
            f.write(npy(shape, values))
        words += ['--in', '%s=%s.npy' % (name, name)]
    shape = n if isinstance(n, tuple) else (n,)
    with open('got.npy', 'wb') as f:
        f.write(npy(shape, [0.0] * math.prod(shape), '<f8'))
    done = halfulp('judge', kernel, *words, '--got', 'got.npy', '--bound', 'bound.npy', '--no-culprit', '--set',
                   'out=fp64 ' + facts)
    if done.returncode not in (0, 1):
        return [done.stderr]
    with open('bound.npy', 'rb') as f:
        return list(struct.unpack('<%dd' % math.prod(shape), f.read()[-8 * math.prod(shape):]))


def agree(what, found, radii):
    bad = [(i, f, r) for i, (f, r) in enumerate(zip(found, radii)) if isinstance(f, str) or abs(f - r) > 1e-6 * r]
    none(bad, '%s has the radii of the page' % what)
    ok(len(found) == len(radii) and all(r > 0 for r in radii), 'which are no zeros', radii[:3])


def sum_error(k, order='any', acc='fp32', run=None):
    a, terms = U['fp32'] if run else U[acc], min(run, k) if run else k
    d = terms
    if order == 'pairwise':
        d = math.ceil(math.log2(terms)) + 1
    elif order.startswith('blocks:') and int(order[7:]) < terms:
        d = int(order[7:]) + math.ceil(terms / int(order[7:]))
    g = math.expm1(d * math.log1p(a))
    h = math.expm1(math.ceil(k / run) * math.log1p(U[acc])) if run else 0
    return g + h + g * h


def rounded(z, r, u=u):
    return r + u * (abs(z) + r) + TINY


a, b = drawn(3, 13), drawn(13, 2)
sizes = [sum(abs(a[1][i * 13 + k] * b[1][k * 2 + j]) for k in range(13)) for i in range(3) for j in range(2)]
for facts, words in (('', {}), ('order=pairwise', dict(order='pairwise')), ('order=blocks:3', dict(order='blocks:3')),
                     ('order=sequential', {}), ('acc=bf16', dict(acc='bf16')), ('acc=bf16@4', dict(acc='bf16', run=4))):
    agree('a product, %s' % (facts or 'in any order'), bounds('matmul', facts, (3, 2), a=a, b=b),
          [sum_error(13, **words) * s for s in sizes])
agree('a product of a unit that chops', bounds('matmul', 'unit=chop', (3, 2), a=a, b=b),
      [math.expm1(13 * math.log1p(2 * u)) * s for s in sizes])
agree('a sum', bounds('sum', '', 3, x=a), [sum_error(12) * sum(abs(x) for x in a[1][i * 13:][:13]) for i in range(3)])

x, y = drawn(40, scale=8.0), drawn(40)
exp = [math.exp(v) for v in x[1]]
re = [(EXP + 1.7 * u * abs(v)) * e + TINY for v, e in zip(x[1], exp)]
agree('the exponential', bounds('y = exp(x)', '', 40, x=x), re)
agree('a square of it', bounds('h = exp(x); y = mul(h, h)', '', 40, x=x),
      [rounded(e * e, r * (e + r) + e * r) for e, r in zip(exp, re)])
agree('a quotient by it', bounds('h = exp(x); y = div(z, h)', '', 40, x=x, z=y),
      [rounded(z / e, (abs(z / e) * r) / (e - r), FN) for e, r, z in zip(exp, re, y[1])])
small = drawn(40)
rs = [u * v * v + TINY for v in small[1]]
agree('the sigmoid of a square', bounds('h = square(x); y = sigmoid(h)', '', 40, x=small), [
    s * (1 - s) * r + 0.5 * 0.0963 * r * r + (EXP + FN + (3 + 1.7 * abs(h)) * u) * s + TINY
    for r, h, s in ((r, v * v, 1 / (1 + math.exp(-v * v))) for r, v in zip(rs, small[1]))])
agree('a store', bounds('h = exp(x); y = store(h, to=bf16)', '', 40, x=x), [
    r + 2.0 ** (math.floor(math.log2(e + r)) - 8) for e, r in zip(exp, re)])


def shares(line):
    top = max(line)
    w = [math.exp(v - top) for v in line]
    theta = [math.expm1(2.72 * u * (top - v)) * (1 + EXP) + EXP for v in line]
    p = [v / sum(w) for v in w]
    return p, theta, sum(q * t for q, t in zip(p, theta)) + len(line) * TINY


s, g = drawn(3, 17, scale=3.0), sum_error(17)
want = []
for i in range(3):
    p, theta, T = shares(s[1][i * 17:][:17])
    want += [q * (t * (1 - q) + (T - q * t) + g * (1 + T) * (1 + t) + 2 * u) / (1 - T) + TINY for q, t in zip(p, theta)]
agree('softmax', bounds('softmax', '', (3, 17), x=s), want)

N, D, SMALLEST = 9, 4, 2.0**-133   # SMALLEST: of bf16
q, k, v = (drawn(1, 1, N, D) for _ in range(3))


def attention(p, block, below):
    E = (math.ceil(N / block) + 1) * EXP + math.ceil(N / block) * u
    up, tp = (U['bf16'], TINY + SMALLEST / 2) if p == 'bf16' else (0, TINY)
    for i in range(N):
        row = q[1][i * D:][:D]
        keys = [k[1][j * D:][:D] for j in range(N)]
        score = [sum(x * y for x, y in zip(row, key)) / 2 for key in keys]
        R = [sum_error(D) * sum(abs(x * y) for x, y in zip(row, key)) / 2 + 3 * u * abs(s)
             for key, s in zip(keys, score)]
        m = max(score)
        theta = [math.expm1(r + 1.01 * u * (2 * abs(s) + abs(m) + 4.7 * abs(s - m))) * (1 + E) + E
                 for r, s in zip(R, score)]
        L = sum(math.exp(s - m) for s in score)
        w = [math.exp(s - m) / L for s in score]
        T, g = sum(x * t for x, t in zip(w, theta)), sum_error(N + 1)
        for d in range(D):
            value = [v[1][j * D + d] for j in range(N)]
            o = sum(x * y for x, y in zip(w, value))
            far = sum(x * t * abs(y - o) for x, t, y in zip(w, theta, value))
            size = sum(x * (1 + t) * abs(y) for x, t, y in zip(w, theta, value))
            yield (far + up * (size + below * abs(o)) + tp * sum(map(abs, value)) / L +
                   g * ((1 + up) * size + abs(o)) + 4 * u * abs(o) + N * TINY) / (1 - T)


for p, block, below in (('none', 16, 0), ('none', 2, 0), ('bf16', 4, 0), ('bf16', 4, 1)):
    facts = 'p=%s block=%d denominator_p=%d' % (p, block, below)
    agree('attention, ' + facts, bounds('attention', facts, (1, 1, N, D), q=q, k=k, v=v),
          list(attention(p, block, below)))

far = ((2, 24), [single(3 + draw.gauss(0, 1)) for _ in range(48)])


def layernorm(how, eps=0.25):
    for i in range(2):
        line, n = far[1][i * 24:][:24], 24
        mu = sum(line) / n
        rmu = rounded(mu, sum_error(n - 1) * sum(map(abs, line)) / n, 2 * u)
        var, second = sum((x - mu) ** 2 for x in line) / n, sum(x * x for x in line) / n
        kappa = {'two_pass': 0, 'any': 2 * math.sqrt(var * second), 'one_pass': 2 * second + mu * mu}[how]
        G = sum_error(n + 2) + 2 * u
        r = G * (var + kappa) * (1 + 2 * G) + rmu * rmu + 4 * u * rmu * math.sqrt(var) + 4 * u * u * second + TINY
        s = 1 / math.sqrt(var + eps)
        rs = 1 / math.sqrt((var + eps) * (1 - 2 * u) - r) - s
        rs += FN * (s + rs)
        for x in line:
            d, rd = x - mu, rmu + 2 * u * (abs(x) + abs(mu))
            yield rounded(d * s, rd * (s + rs) + abs(d) * rs, 2 * u)


for how in ('two_pass', 'any', 'one_pass'):
    agree('LayerNorm, variance=' + how, bounds('layernorm', 'eps=0.25 variance=' + how, (2, 24), x=far),
          list(layernorm(how)))
finish()
