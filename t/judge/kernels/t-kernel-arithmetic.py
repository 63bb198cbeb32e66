#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# What doc/kernels.md says of the kernel judge's arithmetic is enough to compute its bounds: radii of sums, products,
# single operations, functions, stores, softmax, attention and LayerNorm, written here from the page alone, are those
# that `halfulp judge --bound` writes, to six digits. So are the errors that functions' routines may make themselves.
import math
import os
import random
import re
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
Q = max(u, FN)   # of a quotient


def single(x):
    return struct.unpack('<f', struct.pack('<f', x))[0]


def drawn(*shape, scale=1.0):
    return shape, [single(draw.gauss(0, scale)) for _ in range(math.prod(shape))]


def bounds(kernel, facts, n, result='', **arrays):
    """What --bound writes, less the last store's half ulp: results are of fp64, where it is nothing."""
    words = []
    for name, (shape, values) in arrays.items():
        with open(name + '.npy', 'wb') as f:
            f.write(npy(shape, values))
        words += ['--in', '%s=%s.npy' % (name, name)]
    shape = n if isinstance(n, tuple) else (n,)
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
rexp = [(EXP + 1.7 * u * abs(v)) * e + TINY for v, e in zip(x[1], exp)]
agree('the exponential', bounds('y = exp(x)', '', 40, x=x), rexp)
agree('a square of it', bounds('h = exp(x); y = mul(h, h)', '', 40, x=x),
      [rounded(e * e, r * (e + r) + e * r) for e, r in zip(exp, rexp)])
agree('a quotient by it', bounds('h = exp(x); y = div(z, h)', '', 40, x=x, z=y),
      [rounded(z / e, (abs(z / e) * r) / (e - r), FN) for e, r, z in zip(exp, rexp, y[1])])
small = drawn(40)
rs = [u * v * v + TINY for v in small[1]]
agree('the sigmoid of a square', bounds('h = square(x); y = sigmoid(h)', '', 40, x=small), [
    s * (1 - s) * r + 0.5 * 0.0963 * r * r + (EXP + FN + (3 + 1.7 * (h + r)) * u) * (s + s * (1 - s) * r) + TINY
    for r, h, s in ((r, v * v, 1 / (1 + math.exp(-v * v))) for r, v in zip(rs, small[1]))])
agree('a store', bounds('h = exp(x); y = store(h, to=bf16)', '', 40, x=x), [
    r + 2.0 ** (math.floor(math.log2(e + r)) - 8) for e, r in zip(exp, rexp)])


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
    want += [q * (t * (1 - q) + (T - q * t) + g * (1 + T) * (1 + t) + u + Q) / (1 - T) + TINY for q, t in zip(p, theta)]
agree('softmax', bounds('softmax', '', (3, 17), x=s), want)

tops, logs = [], []
for i in range(3):
    line = s[1][i * 17:][:17]
    top, L = max(line), sum(math.exp(x - max(line)) for x in line)
    t = shares(line)[2] * (1 + g) + g
    error = -math.log1p(-t / (1 - t)) + FN * (abs(math.log(L)) + 0.5)
    tops.append(error + 2 * u * (abs(top) + abs(top + math.log(L))))
    logs += [error + 2 * u * (abs(x - top) + math.log(L) + abs(x - top - math.log(L)) + abs(top)) for x in line]
agree('logsumexp', bounds('logsumexp', '', 3, x=s), tops)
agree('log_softmax', bounds('log_softmax', '', (3, 17), x=s), logs)

partial = [[sum(s[1][i * 17:][: j + 1]) for j in range(17)] for i in range(3)]
walks = [sum(u * abs(S) * (1 + u) ** (i - j) for j, S in enumerate(line[: i + 1]) if j) for line in partial
         for i in range(17)]
found = bounds('cumsum', 'order=sequential', (3, 17), x=s)
bad = [(f, r) for i, (f, r) in enumerate(zip(found, walks)) if isinstance(f, str) or i % 17 and abs(f - r) > 1e-6 * r]
none(bad, 'a running sum in sequence has the radii of the page')
decay = ((3, 17), [abs(x) / 8 for x in s[1]])
want = []
for i in range(3):
    size = lost = 0
    for j in range(17):
        size = decay[1][i * 17 + j] * size + abs(s[1][i * 17 + j])
        lost = decay[1][i * 17 + j] * lost + (2 if j else 1) * TINY
        G = math.expm1((2 * j + 1) * math.log1p(u))
        want.append(G * size + (1 + G) * lost)
agree('a recurrence', bounds('y = recurrence(d, x, axis=1)', '', (3, 17), d=decay, x=s), want)

N, D, SMALLEST = 9, 4, 2.0**-133   # SMALLEST: of bf16
q, k, v = (drawn(1, 1, N, D) for _ in range(3))


def attention(p, block, below, cap=0, slope=0, pv=0):
    B = math.ceil(N / block)
    E = (1 + EXP) ** (B + 1) * (1 + u) ** B - 1
    up, tp = (U['bf16'], TINY + SMALLEST / 2) if p == 'bf16' else (0, TINY)
    for i in range(N):
        row = q[1][i * D:][:D]
        keys = [k[1][j * D:][:D] for j in range(N)]
        score = [sum(x * y for x, y in zip(row, key)) / 2 for key in keys]
        R = [sum_error(D) * sum(abs(x * y) for x, y in zip(row, key)) / 2 * (1 + 3 * u) + 3 * u * abs(s)
             for key, s in zip(keys, score)]
        if cap:
            z = [math.tanh(s / cap) for s in score]
            R = [r * (1 - x * x) + 0.385 * r * r / cap + (FN + 3 * u) * (cap * abs(x) + r) for r, x in zip(R, z)]
            score = [cap * x for x in z]
        bias = [slope * (j - i) for j in range(N)]
        score = [s + x for s, x in zip(score, bias)]
        R = [r + (u * (abs(s) + r + abs(x)) if slope else 0) for r, s, x in zip(R, score, bias)]
        m = max(score)
        theta = [math.expm1(r + 10 * u * max(R) + 1.01 * u * (2 * abs(s) + abs(m) + 4.7 * abs(s - m))) * (1 + E) + E
                 for r, s in zip(R, score)]
        L = sum(math.exp(s - m) for s in score)
        w = [math.exp(s - m) / L for s in score]
        T, g = sum(x * t for x, t in zip(w, theta)), sum_error(N + 1)
        for d in range(D):
            value = [v[1][j * D + d] for j in range(N)]
            o = sum(x * y for x, y in zip(w, value))
            far = sum(x * t * abs(y - o) for x, t, y in zip(w, theta, value))
            size = sum(x * (1 + t) * abs(y) for x, t, y in zip(w, theta, value))
            r = (far + up * (size + below * abs(o)) + tp * sum(map(abs, value)) / L +
                 g * ((1 + up) * size + abs(o)) + N * TINY)
            r += (3 * u + Q) * abs(o) + (U['bf16'] * ((1 + T) * abs(o) + r) + SMALLEST / 2 / L if pv else 0)
            yield r * (1 + g + 3 * u + Q + up * below) / (1 - T)


for p, block, below in (('none', 16, 0), ('none', 2, 0), ('bf16', 4, 0), ('bf16', 4, 1)):
    facts = 'p=%s block=%d denominator_p=%d' % (p, block, below)
    agree('attention, ' + facts, bounds('attention', facts, (1, 1, N, D), q=q, k=k, v=v),
          list(attention(p, block, below)))

agree('attention whose P V is stored', bounds('attention', 'p=bf16 pv=bf16 block=4', (1, 1, N, D), q=q, k=k, v=v),
      list(attention('bf16', 4, 0, pv=1)))
agree('attention, softcap=2', bounds('attention', 'p=none softcap=2', (1, 1, N, D), q=q, k=k, v=v),
      list(attention('none', 16, 0, cap=2)))
agree('attention with a slope', bounds('attention', 'p=none', (1, 1, N, D), q=q, k=k, v=v, slopes=((1,), [0.25])),
      list(attention('none', 16, 0, slope=0.25)))
agree('a stretch of queries with a slope', bounds(
    'attention', 'p=none first=3 of=%d' % N, (1, 1, 2, D), q=((1, 1, 2, D), q[1][3 * D : 5 * D]), k=k, v=v,
    slopes=((1,), [0.25])), list(attention('none', 16, 0, slope=0.25))[3 * D : 5 * D])

# Of two equal keys with scores of 10000 the shares are 1/2, and dV's error is that of the exponential's argument: the
# score's, 3u |s|, and 2.02 u (|s| + |lse| + |s - lse|)
lse = single(1e4 + math.log(2))
half, argument = math.exp(1e4 - lse), 3 * u * 1e4 + 2.02 * u * (1e4 + lse + lse - 1e4)
found = bounds('attention_dx', 'scale=1 p=none ds=none o=none', (1, 1, 2, 1), 'dv=', q=((1, 1, 1, 1), [100.0]),
               k=((1, 1, 2, 1), [100.0] * 2), v=((1, 1, 2, 1), [1.0, 2.0]), do=((1, 1, 1, 1), [1.0]),
               lse=((1, 1, 1), [lse]))
none([(b, half * argument) for b in found if isinstance(b, str) or not 0.99 < b / (half * argument) < 1.01],
     'dV has the error of the argument of its shares')

far = ((2, 24), [single(3 + draw.gauss(0, 1)) for _ in range(48)])


def layernorm(how, eps=0.25):
    for i in range(2):
        line, n = far[1][i * 24:][:24], 24
        mu = sum(line) / n
        rmu = rounded(mu, sum_error(n - 1) * sum(map(abs, line)) / n, 2 * u)
        var, second = sum((x - mu) ** 2 for x in line) / n, sum(x * x for x in line) / n
        kappa = {'two_pass': 0, 'any': 2 * math.sqrt(var * second), 'one_pass': 2 * second + mu * mu}[how]
        G = sum_error(n + 2) + 2 * u
        r = G * (var + kappa + rmu * rmu) * (1 + 2 * G) + rmu * rmu + 4 * u * rmu * math.sqrt(var)
        r += 4 * u * u * second + TINY
        s = 1 / math.sqrt(var + eps)
        rs = 1 / math.sqrt((var + eps) * (1 - 2 * u) - r) - s
        rs += FN * (s + rs)
        for x in line:
            d, rd = x - mu, rmu + 2 * u * (abs(x) + abs(mu) + rmu)
            yield rounded(d * s, rd * (s + rs) + abs(d) * rs, 2 * u)


for how in ('two_pass', 'any', 'one_pass'):
    agree('LayerNorm, variance=' + how, bounds('layernorm', 'eps=0.25 variance=' + how, (2, 24), x=far),
          list(layernorm(how)))

line, G = far[1][:24], sum_error(24) + 2 * u * (1 + sum_error(24))
square = sum(x * x for x in line) / 24
r, y = G * square + TINY, 1 / math.sqrt(square + 0.25)
r = 1 / math.sqrt((square + 0.25) * (1 - 2 * u) - r) - y
r += FN * (y + r)
agree('RMSNorm', bounds('rmsnorm', 'eps=0.25', (1, 24), x=((1, 24), line)), [
    rounded(x * y, abs(x) * r, 2 * u) for x in line])
norms, products = [], []
for i in range(2):
    line = far[1][i * 24:][:24]
    r = sum(u * x * x + TINY for x in line) + sum_error(23) * sum(x * x + u * x * x + TINY for x in line)
    y, low = math.sqrt(sum(x * x for x in line)), sum(x * x for x in line) - r
    norms.append(rounded(y, 0.5 / y * r + 0.125 * low**-1.5 * r * r, 2 * u))
    x, r = line[0], 0
    for z in line[1:]:
        x, r = x * z, rounded(x * z, r * abs(z))
    products.append(r)
agree('a norm', bounds('y = norm2(x)', '', 2, x=far), norms)
agree('a product of elements', bounds('y = prod(x)', '', 2, x=far), products)

# The routines' own errors of functions.def, at exact operands
half = 0.5
relative = {
    'exp': lambda x, y: (EXP + 1.7 * u * abs(x)) * y, 'log': lambda x, y: FN * abs(y) + u,
    'sqrt': lambda x, y: 2 * u * y, 'rsqrt': lambda x, y: FN * y, 'reciprocal': lambda x, y: FN * abs(y),
    'square': lambda x, y: u * y, 'sigmoid': lambda x, y: (EXP + FN + (3 + 1.7 * abs(x)) * u) * y,
    'tanh': lambda x, y: (FN + 2 * u) * abs(y), 'erf': lambda x, y: (FN + 2 * u) * abs(y),
    'gelu': lambda x, y: (FN + 3 * u) * abs(y) + (FN + 4 * u) * half * abs(x),
    'gelu_tanh': lambda x, y: (FN + 3 * u) * abs(y) + (FN + 8 * u) * half * abs(x),
    'silu': lambda x, y: (EXP + FN + (4 + 1.7 * abs(x)) * u) * abs(y),
    'softplus': lambda x, y: (EXP + FN + (4 + 1.7 * abs(x)) * u) * y + (2**-21 if x > 15 else 0),
    'mish': lambda x, y: (EXP + 3 * FN + (8 + 1.7 * abs(x)) * u) * abs(y),
    'sin': lambda x, y: FN + u * abs(x), 'cos': lambda x, y: FN + u * abs(x),
    'log1p': lambda x, y: (FN + 2 * u) * abs(y), 'expm1': lambda x, y: (EXP + FN + 2 * u) * abs(y),
    'leaky_relu': lambda x, y: u * abs(y), 'elu': lambda x, y: 0 if x > 0 else (EXP + 2 * u) * K + FN * abs(y),
    'selu': lambda x, y: 2 * u * y if x > 0 else 1.7581 * (EXP + 3 * u) + FN * abs(y),
    'softsign': lambda x, y: (FN + 2 * u) * abs(y), 'hardsigmoid': lambda x, y: 3 * u,
    'hardswish': lambda x, y: 4 * u * abs(x), 'scale': lambda x, y: u * abs(y), 'shift': lambda x, y: u * abs(y),
    'smooth_l1': lambda x, y: 4 * u * abs(y) + (u * K if abs(x) >= K else 0), 'exp2': lambda x, y: EXP * y}
exact = {'relu', 'abs', 'neg', 'sign', 'floor', 'ceil', 'round', 'hardtanh', 'clip_below'}
K = 0.375
value = {
    'exp': math.exp, 'log': math.log, 'sqrt': math.sqrt, 'rsqrt': lambda x: x**-0.5, 'reciprocal': lambda x: 1 / x,
    'square': lambda x: x * x, 'sigmoid': lambda x: 1 / (1 + math.exp(-x)), 'tanh': math.tanh, 'erf': math.erf,
    'gelu': lambda x: half * x * math.erfc(-x * half**half), 'silu': lambda x: x / (1 + math.exp(-x)),
    'gelu_tanh': lambda x: half * x * (1 + math.tanh((2 / math.pi)**half * (x + 0.044715 * x**3))),
    'softplus': lambda x: math.log1p(math.exp(x)), 'mish': lambda x: x * math.tanh(math.log1p(math.exp(x))),
    'sin': math.sin, 'cos': math.cos, 'log1p': math.log1p, 'expm1': math.expm1,
    'leaky_relu': lambda x: x if x > 0 else K * x, 'elu': lambda x: x if x > 0 else K * math.expm1(x),
    'selu': lambda x: 1.0507009873554805 * (x if x > 0 else 1.6732632423543772 * math.expm1(x)),
    'softsign': lambda x: x / (1 + abs(x)), 'hardsigmoid': lambda x: min(1, max(0, x / 6 + half)),
    'hardswish': lambda x: x * min(1, max(0, x / 6 + half)), 'scale': lambda x: K * x, 'shift': lambda x: x + K,
    'smooth_l1': lambda x: half * x * x / K if abs(x) < K else abs(x) - half * K, 'exp2': lambda x: 2.0**x}
with open(TOP + '/lib/judge/kernel/functions.def', encoding='utf-8') as f:
    rows = set(re.findall(r'^FN\((\w+),', f.read(), re.M))
none(sorted(rows ^ (set(relative) | exact)), 'all functions of judge are here')
points = [single(draw.gauss(0, 2)) for _ in range(29)] + [20.0, -20.0, 0.25]
for name in sorted(rows):
    line = [abs(x) for x in points] if name in ('log', 'sqrt', 'rsqrt', 'log1p') else points
    keys = ', k=%r' % K if name in ('leaky_relu', 'elu', 'scale', 'shift', 'smooth_l1', 'clip_below') else ''
    found = bounds('y = %s(x%s)' % (name, keys), '', 32, x=((32,), line))
    if name in exact:
        ok(all(isinstance(b, float) and b <= 2.0**-49 * 21 for b in found), '%s has no error' % name, found)
        continue
    want = [relative[name](x, value[name](x)) for x in line]
    none([(x, b, r) for x, b, r in zip(line, found, want) if isinstance(b, str) or abs(b - r) > 1e-5 * r + 2.0**-45],
         '%s may err by what its row states' % name)
finish()
