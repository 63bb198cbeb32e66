#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# calc's arrays: sum, dot, mean, norm and softmax over literals and over .npy files, computed again here operation by
# operation in binary16, and exactly with fractions; and what is refused.
import json, math, os, random, struct, sys
from fractions import Fraction

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
from tap import finish, halfulp, home, ok  # noqa: E402

os.chdir(home())
draw = random.Random(38)


def half(x):  # to nearest even, from a double: exact sums and products, or quotients and roots, which round the same
    if abs(x) >= 65520:
        return math.copysign(math.inf, x)
    return struct.unpack('e', struct.pack('e', x))[0]


def write(path, x):
    head = "{'descr': '<f8', 'fortran_order': False, 'shape': (%d,), }" % len(x)
    head += ' ' * (-(len(head) + 11) % 64) + '\n'
    with open(path, 'wb') as f:
        f.write(b'\x93NUMPY\x01\x00' + struct.pack('<H', len(head)) + head.encode() + struct.pack('<%dd' % len(x), *x))


def added(x):
    s = 0.0
    for v in x:
        s = half(s + v)
    return s


def dot(x, y):
    return added(half(half(a) * half(b)) for a, b in zip(x, y))


def softmax(x, k):
    x = [half(v) for v in x]
    m = max(x)
    e = [half(math.exp(half(v - m))) for v in x]
    return half(e[k - 1] / added(e))


def calc(expression, *options):
    form = () if '--format' in options else ('--format', 'fp16')
    r = halfulp('calc', expression, '--json', *form, *options)
    if r.returncode:
        return r.stderr
    return json.loads(r.stdout)[0]


def got(expression, *options):
    r = calc(expression, *options)
    return float(r['value']) if isinstance(r, dict) else r


wrong = []
for n in (1, 2, 3, 7, 20, 60):
    for _ in range(3):
        x = [draw.uniform(-3, 3) * 2.0 ** draw.randint(-6, 6) for _ in range(n)]
        y = [draw.uniform(-3, 3) for _ in range(n)]
        write('x.npy', x)
        write('y.npy', y)
        a, b = ['[%s]' % ', '.join('%r' % v for v in z) for z in (x, y)]
        for p, q in ((a, b), ('@x.npy', '@y.npy'), (a, '@y.npy')):
            h = [half(v) for v in x]
            for text, want in (('sum(%s)' % p, added(h)), ('dot(%s,%s)' % (p, q), dot(x, y)),
                               ('mean(%s)' % p, half(added(h) / n)),
                               ('norm(%s)' % p, half(math.sqrt(dot(x, x))))):
                if got(text) != want:
                    wrong.append((text, got(text), want))
            exact = Fraction(calc('dot(%s, %s)' % (p, q))['exact'])
            true = sum(Fraction(repr(v)) * Fraction(repr(w)) for v, w in zip(x, y))
            true_file = sum(Fraction(v) * Fraction(w) for v, w in zip(x, y))
            if min(abs(exact - true), abs(exact - true_file)) > abs(true) * Fraction(1, 10 ** 14):
                wrong.append(('exact', p, exact))
ok(not wrong, 'sum, dot, mean and norm of literals and files are binary16 operations, one by one %s' % wrong[:2])

wrong = []
for n in (1, 2, 5, 16):
    x = [round(draw.uniform(-6, 6), 3) for _ in range(n)]
    for k in range(1, n + 1):
        v = got('softmax([%s], %d)' % (','.join(map(repr, x)), k))
        if v != softmax(x, k):
            wrong.append((x, k, v))
ok(not wrong, 'so is every element of softmax %s' % wrong[:1])

ok(got('sum([1, 2, 3e4])') == 30000 and got('sum(1, [2048, 1], 1)') == 2048,
   'sum([1, 2, 3e4]) is 30000 in fp16, and arrays stand beside numbers, from the left')
ok(got('dot([2048, 1], [1, 1])') == 2048 and got('dot([2048, 1, 1, 1], [1, 1, 1, 1])', '--sum', 'pairwise') == 2050 and
   got('dot([2048, 1, 1], [1, 1, 1])', '--sum', 'fma,acc=fp32') == 2050,
   'a summation model adds the products of dot')
ok(float(calc('dot([1, 0x1p-30], [1, 1])', '--sum', 'bf16x9', '--format', 'fp32')['value']) == 1 and
   calc('dot([1, 3], [2, 5])', '--sum', 'ozaki:8', '--format', 'fp64')['value'] == 17,
   'and so do units of other formats')
write('none.npy', [])
write('inf.npy', [1, math.inf])
ok(got('sum(@inf.npy)') == math.inf, 'infinities of files are infinities')
WRONG = {
    'dot([1,2],[1])': 'same length',
    'dot([1,2],3)': 'two arrays',
    '[1,2]': 'an array is an argument',
    'exp([1,2])': 'exp takes numbers',
    'softmax([1,2],3)': 'number of one of them',
    'softmax([1,2],x)': 'unknown name',
    'mean([])': 'a number is needed',
    'mean([1,2)': '] is needed',
    'sum(@none.npy)': '0 elements',
    'sum(@missing.npy)': 'missing.npy',
    'mean(1)': 'one array',
    'meen([1])': 'did you mean mean',
}
for text, needle in WRONG.items():
    r = halfulp('calc', text)
    code = 3 if 'missing' in text else 2
    ok(r.returncode == code and needle in r.stderr and len(r.stderr.strip().split('\n')) == 1,
       '%s is refused with one line: %s' % (text, r.stderr.strip()))
finish()
