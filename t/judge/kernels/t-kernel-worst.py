#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The judge's radii are bounds for the worst kernel that computes as declared: kernels are run here with roundings of a
# coarse format whose signs are chosen, one after another, so that an element errs as much as it can, and operands are
# changed so that it comes as near to its radius as it can. Second-order terms count where u is 2^-8.
import math
import os
import struct
import sys

sys.dont_write_bytecode = True
TOP = os.path.abspath(os.environ.get('srcdir', '.'))
sys.path[:0] = [TOP + '/t/tool', TOP + '/t/judge/kernels']
from npzfile import npy  # noqa: E402
from tap import finish, halfulp, home, ok  # noqa: E402
from worst import EXP, FN, U, draw, nearest  # noqa: E402

os.chdir(home())


def softmax(o, x):
    top = max(x)
    e = [o.exp(o.r(v - top)) for v in x]
    inverse = o.fn(1 / o.sum(e))
    return [o.r(v * inverse) for v in e]


def logsumexp(o, x):
    top = max(x)
    s = o.sum([o.exp(o.r(v - top)) for v in x])
    return [o.r(top + o.fn(math.log(s)))]


def log_softmax(o, x):
    top = max(x)
    d = [o.r(v - top) for v in x]
    s = o.fn(math.log(o.sum([o.exp(v) for v in d])))
    return [o.r(v - s) for v in d]


def rmsnorm(o, x):
    s = o.r(o.dot(x, x) * o.r(1 / len(x)))
    inverse = o.fn(1 / math.sqrt(o.r(s + 0.25)))
    return [o.r(v * inverse) for v in x]


def two_pass(o, x):
    mean = o.r(o.sum(x) / len(x))
    d = [o.r(v - mean) for v in x]
    inverse = o.fn(1 / math.sqrt(o.r(o.r(o.dot(d, d) / len(x)) + 0.25)))
    return [o.r(v * inverse) for v in d]


def one_pass(o, x):
    mean = o.r(o.sum(x) / len(x))
    s = o.r(o.r(o.dot(x, x) / len(x)) - o.r(mean * mean))
    inverse = o.fn(1 / math.sqrt(o.r(max(s, 0) + 0.25)))
    return [o.r(o.r(v - mean) * inverse) for v in x]


def welford(o, x):
    mean, m2 = x[0], 0.0
    for k, v in enumerate(x[1:], 2):
        d = o.r(v - mean)
        mean = o.r(mean + o.r(d / k))
        m2 = o.r(m2 + o.r(d * o.r(v - mean)))
    inverse = o.fn(1 / math.sqrt(o.r(o.r(m2 / len(x)) + 0.25)))
    return [o.r(o.r(v - mean) * inverse) for v in x]


def cumsum(o, x):
    y = [x[0]]
    for v in x[1:]:
        y.append(o.r(y[-1] + v))
    return y


def recurrence(o, x):
    n = len(x) // 2
    h, y = 0.0, []
    for a, b in zip(x[:n], x[n:]):
        h = o.r(o.r(a * h) + b) if y else b
        y.append(h)
    return y


def attention(o, x):
    """One query of two numbers, keys and values of the rest, in blocks of two keys, P kept as it is."""
    n = (len(x) - 2) // 3
    q, k, v = x[:2], x[2 : 2 + 2 * n], x[2 + 2 * n :]
    top, total, out = -math.inf, 0.0, 0.0
    for j in range(0, n, 2):
        s = [o.r(o.dot(q, k[2 * i : 2 * i + 2]) * 0.5, 2) for i in range(j, min(j + 2, n))]
        new = max([top] + s)
        back = o.exp(o.r(top - new)) if total else 0
        p = [o.exp(o.r(y - new)) for y in s]
        total = o.sum([o.r(total * back)] * (j > 0) + p)
        out = o.sum([o.r(out * back)] * (j > 0) + [o.r(y * z) for y, z in zip(p, v[j:])])
        top = new
    return [o.r(out * o.fn(1 / total))]


def of_square(f, own):
    return lambda o, x: [o.off(f(y), own(y, abs(f(y)))) for y in (o.r(v * v) for v in x)]


def shifted(f, own):
    return lambda o, x: [o.off(f(y), own(y, abs(f(y)))) for y in (o.r(o.r(v + 8) - 8) for v in x)]


def elu(x):
    return x if x > 0 else 0.5 * math.expm1(x)


# name: kernel, its call of judge, operands' shapes (the last numbers of x go to later operands), scale, elements
ROWS = {
    'product': (lambda o, x: [o.dot(x[:8], x[8:])], 'matmul', (('a', (1, 8)), ('b', (8, 1))), 1),
    'softmax': (softmax, 'softmax', (('x', (1, 7)),), 2),
    'log_softmax': (log_softmax, 'log_softmax', (('x', (1, 7)),), 2),
    'logsumexp': (logsumexp, 'logsumexp', (('x', (1, 7)),), 2),
    'rmsnorm': (rmsnorm, 'rmsnorm', (('x', (1, 6)),), 1),
    'layernorm in two passes': (two_pass, 'layernorm', (('x', (1, 6)),), 1),
    'layernorm in one pass': (one_pass, 'layernorm', (('x', (1, 6)),), 1),
    "layernorm by Welford's": (welford, 'layernorm', (('x', (1, 6)),), 1),
    'running sum': (cumsum, 'cumsum', (('x', (1, 9)),), 1),
    'recurrence': (recurrence, 'y = recurrence(d, x, axis=1)', (('d', (1, 7)), ('x', (1, 7))), 1),
    'attention': (attention, 'attention', (('q', (1, 1, 1, 2)), ('k', (1, 1, 5, 2)), ('v', (1, 1, 5, 1))), 1),
    'exp of a square': (of_square(math.exp, lambda x, y: (EXP + 1.7 * U * abs(x)) * y), 'h = square(x); y = exp(h)',
                        (('x', (1, 4)),), 1),
    'sine of a square': (of_square(math.sin, lambda x, y: FN + U * abs(x)), 'h = square(x); y = sin(h)',
                         (('x', (1, 4)),), 2),
    'square of a square': (of_square(lambda x: x * x, lambda x, y: U * y), 'h = square(x); y = square(h)',
                           (('x', (1, 4)),), 1),
    'logarithm of a square': (of_square(math.log, lambda x, y: FN * y + U), 'h = square(x); y = log(h)',
                              (('x', (1, 4)),), 1),
    'elu near its corner': (shifted(elu, lambda x, y: 0 if x > 0 else (EXP + 2 * U) / 2 + FN * y),
                            'g = shift(x, k=8); h = shift(g, k=-8); y = elu(h, k=0.5)', (('x', (1, 4)),), 0.02),
}
FACT = {'layernorm in two passes': 'eps=0.25 variance=two_pass', 'layernorm in one pass': 'eps=0.25 variance=one_pass',
        "layernorm by Welford's": 'eps=0.25', 'rmsnorm': 'eps=0.25', 'running sum': 'order=sequential',
        'attention': 'scale=0.5 p=none block=2'}


tries = int(os.environ.get('HALFULP_WORST_TRIES', 12))
for name in ROWS:
    if len(sys.argv) > 1 and name not in sys.argv[1:]:
        continue
    shape = {'logsumexp': (1,), 'product': (1, 1), 'attention': (1, 1, 1, 1)}.get(name)
    ratio, where = nearest(ROWS[name], tries, FACT.get(name, ''), shape)
    ok(0.1 < ratio <= 1 + 1e-9,
       '%s: the worst kernel of %d operands comes to %.4f of its radius' % (name, tries, ratio), where)


def bf16(x):
    """To nearest even."""
    if not x:
        return 0.0
    unit = 2.0 ** (math.floor(math.log2(abs(x))) - 7)
    return round(x / unit) * unit


def verdict(call, facts, got, shape, **operands):
    words = []
    for key, values in operands.items():
        with open(key + '.npy', 'wb') as f:
            f.write(npy(shape, values, '<f8'))
        words += ['--in', '%s=%s.npy' % (key, key)]
    with open('got.npy', 'wb') as f:
        f.write(npy((1, len(got)) if len(got) > 1 else (1,), got, '<f8'))
    done = halfulp('judge', call, *words, '--got', 'got.npy', '--no-culprit', '--set', 'out=fp64 ' + facts)
    return done.stdout.splitlines()[0] if done.stdout else done.stderr


# The error of a running sum is itself rounded at every later step: 1 + 2^-8 is 1, and what is left of it, -2^-8, does
# not move by 2^-17 either, as often as that is added
x = [1, 2.0**-8, -1, -(2.0**-8)] + [2.0**-17] * 64
for exclusive in (0, 1):
    s, got = 0.0, []
    for v in x:
        got.append(bf16(s + v))
        s = got[-1]
    if exclusive:
        got = [0.0] + got[:-1]
    said = verdict('y = cumsum(x, exclusive=%d)' % exclusive, 'acc=bf16 order=sequential', got, (1, len(x)), x=x)
    ok(got[-1] == -(2.0**-8) and 'beyond the proven bound' not in said, 'a running sum that stands still', said)

# 33 terms are two runs of 32: both are rounded to the outer sum's format, a tie each
x = [1, 2.0**-8] + [0] * 30 + [2.0**-8]
got = bf16(bf16(sum(x[:32])) + x[32])
said = verdict('y = sum(x)', 'acc=bf16@32', [got], (1, 33), x=x)
ok(got == 1 and 'beyond the proven bound' not in said, 'a sum whose last run is one term', said)
said = verdict('y = cumsum(x, exclusive=1)', 'acc=bf16@32 order=sequential',
               [0.0] + [1.0] + [1 + 2.0**-8] * 30 + [1.0] * 2, (1, 34), x=x + [0])
ok('beyond the proven bound' not in said, 'an exclusive running sum by runs', said)
said = verdict('y = sum(x)', 'acc=bf16@32', [1 - 2.0**-9], (1, 33), x=x)
ok('beyond the proven bound' in said, 'and one that errs more than two roundings is beyond it', said)

# What is flushed to zero is multiplied by all later factors
said = verdict('y = recurrence(d, x, axis=1)', '', [0.0] * 12, (1, 12), d=[2] * 12, x=[0.75 * 2.0**-126] + [0] * 11)
ok('beyond the proven bound' not in said, 'a recurrence that grows from a flushed number', said)

# Matrix units: small products beside 1 lose all that is cut off, and `unit=chop` bounds that; round to nearest does not
def put(key, shape, values):
    with open(key + '.npy', 'wb') as f:
        f.write(npy(shape, values))


K, ROWS_OF_UNIT = 256, 12
for unit, form, acc, high, low, bits, nearest_fails in (
        ('tc:volta', 'fp16', 'fp32', (1, 1), (2.0**-12, 2.0**-12), 10, True),
        ('tc:ampere', 'fp16', 'fp32', (1, 1), (2.0**-12, 2.0**-13), 10, False),
        ('tc:hopper,path=wgmma', 'e4m3', 'e8m13', (16, 16), (2.0**-3, 2.0**-3), 3, True)):
    a, b = [], []
    for i in range(ROWS_OF_UNIT):
        # just below what is cut off at the largest product, or somewhat less
        a += [high[0]] + [(2 - 2.0**-bits if i % 2 else 1 + draw.randrange(2**bits) / 2.0**bits) * low[0]
                          for _ in range(K - 1)]
        b += [high[1]] + [low[1]] * (K - 1)
    put('a', (ROWS_OF_UNIT, K), a)
    put('b', (ROWS_OF_UNIT, K), b)
    said = {}
    halfulp('op', 'dot', '--in', 'a=a.npy', '--in', 'b=b.npy', '--sum', unit, '--set', 'in=' + form, '--out', 'y.npy')
    with open('y.npy', 'rb') as f:
        y = list(struct.unpack('<%df' % ROWS_OF_UNIT, f.read()[-4 * ROWS_OF_UNIT:]))
    put('a', (ROWS_OF_UNIT, 1, K), a)
    put('b', (ROWS_OF_UNIT, K, 1), b)
    put('got', (ROWS_OF_UNIT, 1, 1), y)
    for how in ('chop', 'rne'):
        done = halfulp('judge', 'y = matmul(a, b)', '--in', 'a=a.npy', '--in', 'b=b.npy', '--got', 'got.npy',
                       '--no-culprit', '--set', 'in=%s out=fp32 acc=%s unit=%s' % (form, acc, how))
        said[how] = done.stdout.split('\n')[0] + done.stderr
    ok('beyond the proven bound' not in said['chop'], '%s is within the bound of units that chop' % unit, said)
    if nearest_fails:
        ok('beyond the proven bound' in said['rne'], 'and not within that of roundings to nearest', said)
finish()
