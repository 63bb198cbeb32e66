#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Units that multiply integers of 8 bits, against Python's integers and the manuals' words: exact to 131 071 products,
# then wrapping or cut off at 32 bits; what no unit takes is refused by the name of its operand, in one line.
import os
import random
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tool'))
from npzfile import npy  # noqa: E402
from tap import finish, halfulp, home, none, ok  # noqa: E402

os.chdir(home())
draw = random.Random(8)
SIGNED, BARE = range(-128, 128), range(256)
TOP = 2**31


def wrap(x):
    return (x + TOP) % 2**32 - TOP


def cut(x, bits=32):
    return max(-(2 ** (bits - 1)), min(2 ** (bits - 1) - 1, x))


# model: the ranges of a and b, products an instruction, what happens at the end of each, and to pairs before
MODELS = {
    'mmaint8': (SIGNED, SIGNED, 32, wrap, None),
    'mmaint8,a=u8,b=u8': (BARE, BARE, 32, wrap, None),
    'mmaint8,saturate=1': (SIGNED, SIGNED, 32, cut, None),
    'mmaint8,a=u8,saturate=1': (BARE, SIGNED, 32, cut, None),
    'vnniint8': (BARE, SIGNED, 4, wrap, None),
    'vnniint8,saturate=1': (BARE, SIGNED, 4, cut, None),
    'vnniint8,a=s8,saturate=1': (SIGNED, SIGNED, 4, cut, None),
    'vnniint8,a=s8,b=u8': (SIGNED, BARE, 4, wrap, None),
    'amxint8': (SIGNED, SIGNED, 4, wrap, None),
    'amxint8,b=u8': (SIGNED, BARE, 4, wrap, None),
    'armint8': (SIGNED, SIGNED, 4, wrap, None),
    'armint8,a=u8': (BARE, SIGNED, 4, wrap, None),
    'avx2int8': (BARE, SIGNED, 4, wrap, 16),
}


def manual(model, a, b, c=0):
    _, _, step, end, pairs = MODELS[model]
    for k in range(0, len(a), step):
        p = [x * y for x, y in zip(a[k : k + step], b[k : k + step])]
        if pairs:
            p = [cut(sum(p[i : i + 2]), pairs) for i in range(0, len(p), 2)]
        c = end(c + sum(p))
    return c


def save(name, shape, values, dtype='<f4'):
    with open(name, 'wb') as f:
        f.write(npy(shape, [float(v) for v in values], dtype))


def read(path, n):
    with open(path, 'rb') as f:
        raw = f.read()
    size = 8 if b'<f8' in raw[:128] else 4
    return list(struct.unpack('<%d%s' % (n, 'd' if size == 8 else 'f'), raw[-n * size:]))


def dot(model, rows, *options, c=None):
    n, k = len(rows), len(rows[0][0])
    save('a.npy', (n, k), [x for a, _ in rows for x in a])
    save('b.npy', (n, k), [x for _, b in rows for x in b])
    words = []
    if c is not None:
        save('c.npy', (n,), c, '<f8')
        words = ['--in', 'c=c.npy', '--set', 'in.c=fp64']
    done = halfulp('op', 'dot', '--in', 'a=a.npy', '--in', 'b=b.npy', *words, '--sum', model, '--out', 'y.npy',
                   *options)
    return read('y.npy', n) if done.returncode == 0 else [done.stderr]


def line(where, k):
    """Of any size; of the ends of the range, where pairs leave 16 bits; of few numbers."""
    kind = draw.randrange(3)
    ends = [where[0], where[-1], where[-2]]
    return [draw.choice(where) if kind == 0 else draw.choice(ends) if kind == 1 else draw.choice(where[:3])
            for _ in range(k)]


for model, (of_a, of_b, *_) in MODELS.items():
    bad, cuts = [], 0
    for k in (1, 2, 3, 5, 31, 32, 33, 64, 97):
        rows = [(line(of_a, k), line(of_b, k)) for _ in range(60)]
        start = [draw.choice([0, 7, -TOP, TOP - 1, draw.randrange(-TOP, TOP)]) for _ in rows]
        want = [manual(model, a, b, c) for (a, b), c in zip(rows, start)]
        got = dot(model, rows, c=start)
        bad += [(k, g, w) for g, w in zip(got, want) if g != w] if len(got) == len(want) else got
        cuts += sum(w != c + sum(x * y for x, y in zip(a, b)) for (a, b), c, w in zip(rows, start, want))
    none(bad, '%s: 540 sums from start values are those of the manual' % model)
    ok(cuts > 40, 'and %d of them leave 32 bits, or a pair 16' % cuts)

# 131 071 products of -128 and -128 are below 2^31, one more is not; a sum that saturates does not come back whole
most = 131071
up, down = ([-128] * (most + 65), [-128] * (most + 65)), ([-128] * (most + 65), [127] * (most + 65))
back = ([-128] * most + [-128] * 65, [-128] * (most + 33) + [127] * 32)
short = ([-128] * most + [0] * 65, [-128] * most + [0] * 65)
rows = [up, down, back, short]
for model in ('mmaint8', 'mmaint8,saturate=1', 'vnniint8,a=s8,saturate=1', 'amxint8', 'armint8'):
    want = [manual(model, *row) for row in rows]
    got, bounds = dot(model, rows), dot(model, rows, '--as', 'bound')
    beyond = TOP - 1 if 'sat' in model else wrap(16384 * (most + 65))
    ok(got == want and want[3] == most * 16384 and want[0] == beyond,
       '%s: sums of 131 136 products are exact to 131 071 and then leave 32 bits' % model, (got, want))
    exact = [sum(x * y for x, y in zip(*row)) for row in rows]
    ok([b == 0 for b in bounds] == [b == 0 or w == e for b, w, e in zip(bounds, want, exact)] and
       all(abs(w - e) <= b for w, e, b in zip(want, exact, bounds)) and bounds[3] == 0 and bounds[0] == float('inf'),
       'its bound is 0 where nothing is lost, and infinite where 32 bits do not suffice', bounds)

# What pairs of 16 bits lose is their bound
rows = [(line(BARE, 40), line(SIGNED, 40)) for _ in range(200)]
bounds = dot('avx2int8', rows, '--as', 'bound')
errors = [abs(manual('avx2int8', *row) - sum(x * y for x, y in zip(*row))) for row in rows]
none([(e, b) for e, b in zip(errors, bounds) if e > b], 'errors of avx2int8 are within their bounds')
ok(sum(e > 0 for e in errors) > 20 and max(errors) > 30000 and
   sum(b == e for e, b in zip(errors, bounds)) > 20, 'which are reached', max(errors))

# A product of matrices, and results that are judged
a, b = [draw.choice(SIGNED) for _ in range(35)], [draw.choice(SIGNED) for _ in range(21)]
save('a.npy', (5, 7), a)
save('b.npy', (7, 3), b)
want = [sum(a[i * 7 + k] * b[k * 3 + j] for k in range(7)) for i in range(5) for j in range(3)]
done = halfulp('op', 'matmul', '--in', 'a=a.npy', '--in', 'b=b.npy', '--sum', 'armint8', '--out', 'y.npy')
ok(done.returncode == 0 and read('y.npy', 15) == want, 'a product of matrices is that of integers', done.stderr)
for off, code in ((0, 0), (1, 1)):
    save('got.npy', (5, 3), [w + off for w in want])
    done = halfulp('op', 'matmul', '--in', 'a=a.npy', '--in', 'b=b.npy', '--sum', 'armint8', '--got', 'got.npy')
    ok(done.returncode == code, 'a result that is %d off is exit %d' % (off, code), done.stdout + done.stderr)

for command, words in (
    (('op', 'matmul', '--in', 'a=half.npy', '--in', 'b=b.npy', '--sum', 'armint8', '--out', 'y.npy'),
     'matmul op, operand a, element 3: 0.5 is no operand a of summation model armint8, which has integers of 8 bits '
     'from -128 to 127'),
    (('op', 'dot', '--in', 'a=half.npy', '--in', 'b=half.npy', '--sum', 'vnniint8', '--out', 'y.npy'),
     'operand a, element 3: 0.5 is no operand a of summation model vnniint8, which has integers of 8 bits from 0 to '
     '255'),
    (('accumulate', '--terms', 'ones', '--terms', 'times=constant:128', '--format', 'fp32', '--sum', 'avx2int8'),
     '--terms times=, element 0: 128 is no operand b of summation model avx2int8, which has integers of 8 bits from '
     '-128 to 127'),
    (('accumulate', '--terms', 'ones', '--terms', 'start=256', '--format', 'fp32', '--sum', 'mmaint8,a=u8'),
     '--terms, element 0: 256 is no operand a of summation model mmaint8, which has integers of 8 bits from 0 to 255'),
    (('calc', '--sum', 'amxint8', 'sum(0, 3*2, 7*0.25)'),
     'second factors, element 1: 0.25 is no operand b of summation model amxint8, which has integers of 8 bits from '
     '-128 to 127'),
    (('calc', '--sum', 'amxint8,saturate=1', 'sum(3*2)'),
     'summation model amxint8: no instruction of this unit saturates; leave out saturate=1'),
    (('calc', '--sum', 'vnniint8,b=u8,saturate=1', 'sum(3*2)'),
     'summation model vnniint8: vpdpbuuds saturates at 2^32 - 1, and of such sums there is no model; leave out b=u8 or '
     'saturate=1'),
    (('calc', '--sum', 'avx2int8,a=s8', 'sum(3*2)'),
     'summation model avx2int8 takes no key but outer: its operands are a=u8 and b=s8, and pairs saturate at 16 bits'),
    (('calc', '--sum', 'mmaint8,acc=fp32', 'sum(3*2)'),
     "summation model mmaint8: 'acc=fp32' is not known; known: a=s8, a=u8, b=s8, b=u8, saturate=1, outer=FORMAT"),
):
    save('half.npy', (5, 7), [0, 1, 2, 0.5] + [3] * 31)
    done = halfulp(*command)
    ok(done.returncode == 2 and done.stderr == 'halfulp %s: %s\n' % (command[0], words), 'refused: ' + words[:70],
       done.stderr)
done = halfulp('train', '--model', 'mlp', '--data', 'digits', '--policy', 'float32', '--accumulate', 'mmaint8',
               '--steps', '1', 'run')
ok(done.returncode != 0 and done.stderr.count('\n') == 1 and 'no operand a of summation model mmaint8' in done.stderr,
   'a training is refused in one line', done.stderr)
finish()
