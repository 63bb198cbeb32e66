#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# op NAME --sum MODEL on reductions: known answers, and sums that are computed again here, term by term, with exact
# fractions that are rounded once per operation.
import json, os, random, struct, sys
from fractions import Fraction

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
from tap import finish, halfulp, home, ok  # noqa: E402

os.chdir(home())


def run(*words):
    p = halfulp(*words)
    return p.returncode, p.stdout, p.stderr


BITS = {'bf16': (8, -126, 127), 'fp16': (11, -14, 15)}


# x rounded to nearest even in a format; infinities are not met here.
def fl(x, form):
    p, low, _ = BITS[form]
    if x == 0:
        return Fraction(0)
    a, e = abs(x), 0
    while a >= Fraction(2) ** (e + 1):
        e += 1
    while a < Fraction(2) ** e:
        e -= 1
    unit = Fraction(2) ** (max(e, low) - p + 1)
    n = a / unit
    whole = n.numerator // n.denominator
    rest = n - whole
    whole += rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole % 2)
    return whole * unit if x > 0 else -whole * unit


def sequential(terms, form):
    s = Fraction(0)
    for t in terms:
        s = fl(s + fl(t, form), form)
    return s


def pairwise(terms, form):
    if len(terms) == 1:
        return fl(terms[0], form)
    half = 1
    while 2 * half < len(terms):
        half *= 2
    return fl(pairwise(terms[:half], form) + pairwise(terms[half:], form), form)


def chunks(terms, form, size=8):
    s = Fraction(0)
    for k in range(0, len(terms), size):
        part = Fraction(0)
        for t in terms[k:k + size]:
            part = fl(part + t, form)
        s = fl(s + part, form)
    return s


MODELS = {'sequential': sequential, 'pairwise': pairwise, 'chunk:8': chunks}


def npy(name, rows):
    head = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }" % (len(rows), len(rows[0]))
    head += ' ' * (63 - (len(head) + 10) % 64) + '\n'
    with open(name, 'wb') as f:
        f.write(b'\x93NUMPY\x01\x00' + struct.pack('<H', len(head)) + head.encode())
        for row in rows:
            f.write(struct.pack('<%df' % len(row), *row))


def values(*words):
    code, out, err = run('op', *words, '--json')
    return [v['value'] for v in json.loads(out)['values']] if code == 0 else [err.strip()]


npy('ones.npy', [[1.0] * 512])
share = values('softmax', '--in', 'a=ones.npy', '--sum', 'sequential,acc=bf16')
ok(set(share) == {1 / 256}, 'softmax of 512 equal values is 1/256 by a bf16 accumulator in sequence: %s' % share[0])
share = values('softmax', '--in', 'a=ones.npy')
ok(set(share) == {1 / 512}, 'and 1/512 by the fixed tree: %s' % share[0])
npy('large.npy', [[40.0] * 2000])
ok(values('reduce_mean', '--in', 'a=large.npy', '--sum', 'fma,acc=fp16') == ['inf'],
   'a mean whose sum, 80000, exceeds fp16 is infinite in an fp16 accumulator')
ok(values('reduce_mean', '--in', 'a=large.npy', '--sum', 'fma,acc=fp32') == [40], 'and 40 in fp32')
npy('many.npy', [[1.0] * 5000])
ok(values('reduce_sum', '--in', 'a=many.npy', '--sum', 'fma,acc=fp16') == [2048], 'a sum of ones stops at 2048 in fp16')
ok(values('reduce_norm', '--in', 'a=many.npy', '--sum', 'fma,acc=bf16') == [16],
   'a norm of 5000 ones is 16 in a bf16 accumulator')

# Losses, norms and all-reduces add by the model too: ones stop at 2^p.
npy('zeros.npy', [[0.0] * 4096])
npy('label.npy', [[0.0]])
npy('one.npy', [[1.0]])
FP16 = ('--set', 'in=fp16', '--set', 'compute=fp16', '--set', 'out=fp16', '--sum', 'sequential,acc=fp16')
loss = ('softmax_xent', '--in', 'a=zeros.npy', '--in', 'b=label.npy', '--in', 'c=one.npy')
ok(values(*loss, *FP16)[-1] == 7.625, 'cross-entropy of 4096 equal logits is log 2048 in an fp16 accumulator')
ok(abs(values(*loss)[-1] - 8.317766) < 1e-5, 'and log 4096 by the fixed tree')
npy('long.npy', [[1.0] * 4096])
ok(values('grad_norm', '--in', 'a=long.npy', *FP16) == [45.25], 'a norm of 4096 ones is the root of 2048, rounded')
ok(values('grad_norm', '--in', 'a=long.npy') == [64], 'and 64 by the fixed tree')
ranks = [w for r in range(7) for w in ('--in', '%s=%s.npy' % ('abcdefg'[r], 'first' if r == 0 else 'one'))]
npy('first.npy', [[2048.0]])
ok(values('all_reduce', *ranks, '--sum', 'sequential,acc=fp16') == [2048], 'an all-reduce of 2048 and six ones in fp16')
ok(values('all_reduce', *ranks, '--sum', 'sequential,acc=fp32') == [2054], 'and in fp32')
ok(values('all_reduce', *ranks, '--sum', 'tree:7,acc=fp16') == [2052], 'neighbours first: 2048 + 1 is 2048, and so on')
column = [[1.0]] * 4096
npy('column.npy', column)
npy('half.npy', [[0.5]])
norm = ('batchnorm', '--in', 'a=column.npy', '--in', 'b=one.npy', '--in', 'c=half.npy', '--in', 'd=half.npy', '--in',
        'e=one.npy')
for words, mean in (((), 1.0), (('--sum', 'sequential,acc=fp16'), 0.5), (('--sum', 'chunk:64,acc=fp16'), 1.0)):
    got = values(*norm, *words)
    # The variance is the mean square of x - mean, which is added by the same model; the gain is 1 and the offset 0.5.
    square = float(sequential([Fraction((1 - mean) ** 2)] * 4096, 'fp16')) / 4096 if words and mean == 0.5 else 0.0
    want = (1 - mean) / (square + 1e-3) ** 0.5 + 0.5
    ok(abs(got[0] - want) < 1e-3 * want, 'batchnorm of 4096 ones with a mean of %.1f (%s): %s' % (mean, words, got[:1]))

random.seed(3)
for form in BITS:
    rows = [[struct.unpack('f', struct.pack('f', random.uniform(-1, 3)))[0] for _ in range(77)] for _ in range(6)]
    npy('x.npy', rows)
    for name, how in MODELS.items():
        got = values('reduce_sum', '--in', 'a=x.npy', '--set', 'axis=1', '--sum', '%s,acc=%s' % (name, form))
        want = [float(how([Fraction(x) for x in row], form)) for row in rows]
        ok(got == want, '%s of 77 terms in %s, computed again: %s' % (name, form, got[:2]))
    for name, how in MODELS.items():
        got = values('cumsum', '--in', 'a=x.npy', '--sum', '%s,acc=%s' % (name, form), '--set', 'reverse=1')
        want = [float(how([Fraction(x) for x in row[:k - 1 if k else None:-1]], form)) for row in rows for k in
                range(77)]
        ok(got == want, 'cumsum by %s in %s, from the end, each element computed again: %s' % (name, form, got[:2]))
    got = values('cumsum', '--in', 'a=x.npy', '--as', 'reference', '--set', 'out=fp64')
    want = [float(sum(Fraction(x) for x in row[:k + 1])) for row in rows for k in range(77)]
    ok(got == want, 'its reference is the exact sum, rounded once: %s' % got[:2])
code, out, err = run('op', 'softmax', '--in', 'a=ones.npy', '--sum', 'sequential,acc=bf16', '--out', 'got.npy')
code, out, err = run('op', 'softmax', '--in', 'a=ones.npy', '--sum', 'sequential,acc=bf16', '--got', 'got.npy')
ok(code == 0, 'what a model gives is right by its own bounds')
code, out, err = run('op', 'softmax', '--in', 'a=ones.npy', '--got', 'got.npy')
ok(code == 1, 'and wrong by those of the fixed tree')
for words, said in ((('relu', '--in', 'a=ones.npy', '--sum', 'fma'), 'without a summation model'),
                    (('softmax', '--in', 'a=ones.npy', '--sum', 'tc:ampere,in=fp16'), 'tensor cores'),
                    (('softmax', '--in', 'a=ones.npy', '--sum', 'fma,acc=bf16,mode=SR'), 'random bits'),
                    (('softmax', '--in', 'a=ones.npy', '--sum', 'all', '--got', 'got.npy'), '--sum all')):
    code, out, err = run('op', *words)
    ok(code == 2 and said in err and err.count('\n') == 1, 'op %s is refused: %s' % (' '.join(words), err.strip()))
finish()
