#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# op --got FILE --sum all names the summation model of another program's bits. The other program is this file, which
# sums fractions and rounds them itself, and for tensor cores and convolutions our own emulation under one model.
import json, os, random, struct, subprocess, sys
from fractions import Fraction as Q

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
from npzfile import npy  # noqa: E402
from tap import HALFULP, finish, home, ok  # noqa: E402

os.chdir(home())
M, K, N = 6, 70, 9


def fl(q):
    """q to fp32, to nearest even, for numbers far from both ends of the range."""
    if not q:
        return Q(0)
    e = 0
    while abs(q) >= Q(2) ** (e + 1):
        e += 1
    while abs(q) < Q(2) ** e:
        e -= 1
    unit = Q(2) ** (e - 23)
    return round(q / unit) * unit


def fma(terms):
    acc = Q(0)
    for x, y in terms:
        acc = fl(acc + x * y)
    return acc


def chunks(terms, n):
    acc = Q(0)
    for i in range(0, len(terms), n):
        acc = fl(acc + fma(terms[i : i + n]))
    return acc


def slices(terms, n):
    """n slices as even as can be: of ⌈k/n⌉ terms."""
    each = -(-len(terms) // n)
    total = None
    for i in range(0, len(terms), each):
        s = fma(terms[i : i + each])
        total = s if total is None else fl(total + s)
    return total


def pairwise(terms):
    if len(terms) == 1:
        return fl(terms[0][0] * terms[0][1])
    h = 1 << (len(terms) - 1).bit_length() - 1  # the largest power of two below the number of terms
    return fl(pairwise(terms[:h]) + pairwise(terms[h:]))


def save(name, shape, values):
    open(name, 'wb').write(npy(shape, [float(v) for v in values]))


def run(*args):
    p = subprocess.run([HALFULP, 'op', *args, '--json'], capture_output=True, text=True)
    return p.returncode, json.loads(p.stdout) if p.stdout.startswith('{') else p.stderr


rnd = random.Random(3)
number = lambda: Q(struct.unpack('f', struct.pack('f', rnd.gauss(0, 1)))[0])  # noqa: E731
a, b = [[number() for _ in range(K)] for _ in range(M)], [[number() for _ in range(N)] for _ in range(K)]
save('a.npy', (M, K), sum(a, []))
save('b.npy', (K, N), sum(b, []))
terms = lambda i, j: [(a[i][k], b[k][j]) for k in range(K)]  # noqa: E731


def product(how):
    """The product whose element (i, j) is summed by how(i, j)."""
    return [how(i, j)(terms(i, j)) for i in range(M) for j in range(N)]


def asked(values, shape=(M, N)):
    save('d.npy', shape, values)
    return run('matmul', '--in', 'a=a.npy', '--in', 'b=b.npy', '--got', 'd.npy', '--sum', 'all')


def stripes(o):
    return [(t['first'], t['last'], t['sum']) for t in o['stripes']]


code, o = asked(product(lambda i, j: fma))
ok(code == 0 and stripes(o) == [(0, N - 1, 'fma,acc=fp32')] and o['left'] == 0,
   'one fused multiply-add after another', repr(o))
ok(
    o['verdict'] == 'fma,acc=fp32 gives every bit'
    and o['models'][0] == {'sum': 'fma,acc=fp32', 'equal': M * N, 'alike': []},
    'the verdict, and the first model of the list',
)
chunk = lambda t: chunks(t, 32)  # noqa: E731
code, o = asked(product(lambda i, j: chunk))
ok(code == 0 and stripes(o) == [(0, N - 1, 'chunk:32,acc=fp32')], 'chunks of 32', repr(o))
last = lambda i, j: chunk if j < 6 else fma  # noqa: E731
code, o = asked(product(last))
ok(code == 0 and o['along'] == 'columns' and stripes(o) == [(0, 5, 'chunk:32,acc=fp32'), (6, 8, 'fma,acc=fp32')],
   'a library whose last columns are summed otherwise', repr(o))
ok(o['verdict'] == 'columns 0 to 5: chunk:32,acc=fp32; columns 6 to 8: fma,acc=fp32', 'and the sentence',
   repr(o['verdict']))
code, o = asked(product(lambda i, j: pairwise if i == 3 else fma))
ok(
    code == 0
    and o['along'] == 'rows'
    and stripes(o) == [(0, 2, 'fma,acc=fp32'), (3, 3, 'pairwise,acc=fp32'), (4, 5, 'fma,acc=fp32')],
    'one row that is summed in pairs',
    repr(o),
)
values = product(lambda i, j: fma)
values[4] = values[4] * (1 + Q(1, 1 << 23))
code, o = asked(values)
ok(code == 1 and o['left'] in (M, N) and any(t['sum'] is None and t['first'] == t['last'] for t in o['stripes']),
   'one element an ulp off: exit 1, and its column or row is left', repr(o))
code, o = asked(values[:-1] + values[-1:], (N, M))
ok(code == 3 and '(9, 6)' in o and '(6, 9)' in o and o.count('\n') == 1, 'another shape: exit 3, one line', repr(o))
code, o = run('matmul', '--in', 'a=a.npy', '--in', 'b=b.npy', '--sum', 'all')
ok(code == 2 and '--got' in o, 'without --got: exit 2', repr(o))
code, o = run('matmul', '--in', 'a=a.npy', '--in', 'b=b.npy', '--got', 'd.npy', '--sum', 'all', '--as', 'bound')
ok(code == 2 and '--as' in o, 'an option without an effect is refused', repr(o))

save('v.npy', (K, 1), [r[0] for r in b])
save('d.npy', (M, 1), [fma(terms(i, 0)) if i % 2 else pairwise(terms(i, 0)) for i in range(M)])
code, o = run('matmul', '--in', 'a=a.npy', '--in', 'b=v.npy', '--got', 'd.npy', '--sum', 'all')
ok(code == 1 and stripes(o) == [(0, 0, None)] and o['left'] == M and o['along'] == 'columns',
   'rows of one element each, which a model may have by chance, are not told', repr(o))
line = [HALFULP, 'op', 'matmul', '--in', 'a=a.npy', '--in', 'b=b.npy', '--set', 'in=fp16', '--set', 'out=fp32']
subprocess.run(line + ['--sum', 'tc:ampere', '--out', 'd.npy'], check=True)
code, o = run(*line[2:], '--got', 'd.npy', '--sum', 'all')
ok(code == 0 and any(m.startswith('tc:ampere') for m in [o['models'][0]['sum']] + o['models'][0]['alike']),
   "a tensor core's own", repr(o))
save('x.npy', (2, 5, 5, 4), [number() for _ in range(200)])
save('w.npy', (3, 3, 4, 3), [number() for _ in range(108)])
line = [HALFULP, 'op', 'conv2d', '--in', 'a=x.npy', '--in', 'b=w.npy', '--set', 'padding=1']
subprocess.run(line + ['--sum', 'splitk:3', '--out', 'd.npy'], check=True)
code, o = run(*line[2:], '--got', 'd.npy', '--sum', 'all')
ok(code == 0 and 'splitk:3,acc=fp32' in o['verdict'] and 'every bit' in o['verdict'], 'a convolution', repr(o))
p = subprocess.run(line + ['--got', 'd.npy', '--sum', 'all'], capture_output=True, text=True)
ok(p.returncode == 0 and 'splitk:3' in p.stdout.splitlines()[-1] and p.stdout.split()[:2] == ['summation', 'model'],
   'the table and the sentence below it')
finish()
