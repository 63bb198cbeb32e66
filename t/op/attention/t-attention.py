# SPDX-License-Identifier: Apache-2.0
"""Attention in blocks of keys, bit for bit as doc/formats.md writes it: recomputed in rational numbers, each operation
rounded once, from the operands that the command got; its log-sum-exp and its three gradients too. A block of another
length has other bits, and a result without the running maximum's rescaling is found wrong."""
import math
import os
import random
import struct
import subprocess
import sys
from fractions import Fraction

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
from tap import HALFULP, finish, ok  # noqa: E402

draw = random.Random(20241129)
LN2, LOG2E = float.fromhex('0x1.62e43p-1'), float.fromhex('0x1.715476p0')
HORNER = '0x1.470b4ap-13 0x1.5f7276p-10 0x1.3b270ep-7 0x1.c6ae72p-5 0x1.ebfbe2p-3 0x1.62e432p-1 1'
HORNER = [float.fromhex(x) for x in HORNER.split()]


def rounded(x, p=24, least=-126):
    """x, a rational number, to p bits, ties to even."""
    if x == 0:
        return 0.0
    e = math.floor(math.log2(abs(x))) if abs(x) > Fraction(1, 2**900) else least
    while abs(x) >= Fraction(2) ** (e + 1):
        e += 1
    while abs(x) < Fraction(2) ** e:
        e -= 1
    step = Fraction(2) ** (max(e, least) - p + 1)
    return float(round(x / step) * step)   # round() of a Fraction takes ties to even


def f32(x):
    return rounded(Fraction(x))


def fma(a, b, c):
    return f32(Fraction(a) * Fraction(b) + Fraction(c))


def bf16(x):
    return rounded(Fraction(x), 8)


def exp2(x):
    n = round(Fraction(x))
    f, r = Fraction(x) - n, HORNER[0]
    for c in HORNER[1:]:
        r = fma(r, f, c)
    return 0.0 if Fraction(r) * Fraction(2) ** n < Fraction(2) ** -126 else float(Fraction(r) * Fraction(2) ** n)


def chain(a, b, start=0.0):
    for x, y in zip(a, b):
        start = fma(x, y, start)
    return start


def lanes(a, b):
    s = [0.0] * 4
    for i, (x, y) in enumerate(zip(a, b)):
        s[i // 2 % 4] = fma(x, y, s[i // 2 % 4])
    return f32(Fraction(f32(Fraction(s[0]) + Fraction(s[1]))) + Fraction(f32(Fraction(s[2]) + Fraction(s[3]))))


def scale_of(E):
    return f32(Fraction(1 / math.sqrt(E)) * Fraction(float.fromhex('0x1.71547652b82fep0')))


def scores(q, k, i, causal):
    scale = Fraction(scale_of(len(q[i])))
    return [None if causal and j > i else f32(Fraction(chain(q[i], kj)) * scale) for j, kj in enumerate(k)]


def forward(q, k, v, block, causal, rescale=True, stored=False):
    """One head: the results, the logarithms, and the results before they are rounded."""
    y, lse, whole = [], [], []
    for i in range(len(q)):
        x, top, total, o = scores(q, k, i, causal), None, 0.0, [0.0] * len(v[0])
        for j0 in range(0, len(k), block):
            s, b = x[j0:j0 + block], v[j0:j0 + block]
            seen = [t for t in s if t is not None]
            if not seen:
                continue
            m = max(seen + ([top] if top is not None else []))
            alpha = 0.0 if top is None else exp2(f32(Fraction(top) - Fraction(m))) if rescale else 1.0
            p = [0.0 if t is None else exp2(f32(Fraction(t) - Fraction(m))) for t in s]
            total = f32(Fraction(f32(Fraction(total) * Fraction(alpha))) + Fraction(lanes(p, [1.0] * len(p))))
            p = [bf16(t) for t in p]
            o = [chain(p, [r[d] for r in b], f32(Fraction(o[d]) * Fraction(alpha))) for d in range(len(o))]
            top = m
        whole.append([f32(Fraction(t) / Fraction(total)) for t in o])
        held = [bf16(t) for t in o] if stored else o
        y.append([bf16(f32(Fraction(t) / Fraction(total))) for t in held])
        lse.append(f32(Fraction(f32(Fraction(top) * Fraction(LN2))) + Fraction(f32(math.log(total)))))
    return y, lse, whole


def backward(q, k, v, y, lse, dy, causal):
    """One head: dq, dk, dv. A chain of fused multiply-adds goes on from block to block."""
    E, factor = len(q[0]), f32(1 / math.sqrt(len(q[0])))
    p, s = {}, {}
    for i in range(len(q)):
        far, D = f32(Fraction(lse[i]) * Fraction(LOG2E)), lanes(dy[i], y[i])
        for j, x in enumerate(scores(q, k, i, causal)):
            if x is None:
                continue
            e = exp2(f32(Fraction(x) - Fraction(far)))
            d = f32(Fraction(chain(dy[i], v[j])) - Fraction(D))
            p[i, j], s[i, j] = bf16(e), bf16(f32(Fraction(e) * Fraction(d)))

    def sums(pairs, weight, rows, width):
        return [chain([weight[x] for x in pairs], [rows(x)[d] for x in pairs]) for d in range(width)]

    def of_query(i):
        return [(i, j) for j in range(len(k)) if (i, j) in s]

    def of_key(j):
        return [(i, j) for i in range(len(q)) if (i, j) in s]

    def times_factor(row):
        return [bf16(f32(Fraction(t) * Fraction(factor))) for t in row]
    dq = [times_factor(sums(of_query(i), s, lambda x: k[x[1]], E)) for i in range(len(q))]
    dk = [times_factor(sums(of_key(j), s, lambda x: q[x[0]], E)) for j in range(len(k))]
    dv = [[bf16(t) for t in sums(of_key(j), p, lambda x: dy[x[0]], len(v[0]))] for j in range(len(k))]
    return dq, dk, dv


def save(name, shape, values):
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': %s, }" % (tuple(shape),)
    header += " " * (117 - len(header)) + "\n"
    with open(name, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode())
        f.write(struct.pack('<%df' % len(values), *values))


def load(name):
    data = open(name, "rb").read()
    at = 10 + int.from_bytes(data[8:10], "little")
    return list(struct.unpack('<%df' % ((len(data) - at) // 4), data[at:]))


def matrix(rows, width, spread=1.0):
    return [[bf16(draw.gauss(0, spread)) for _ in range(width)] for _ in range(rows)]


def flat(m):
    return [x for r in m for x in (r if isinstance(r, list) else [r])]


def run(op, operands, result, *settings, more=()):
    words = list(more)
    for name, m in zip('abcdefg', operands):
        shape = (1, len(m), len(m[0])) if isinstance(m[0], list) else (1, len(m))
        save(f'{name}.npy', shape, flat(m))
        words += ['--in', f'{name}={name}.npy']
    formats = ('in=bf16', 'out=bf16', 'in.e=fp32') if op.endswith('dx') else ('in=bf16', 'out=bf16')
    for s in settings + (() if more else formats):
        words += ['--set', s]
    words += ['--result', str(result), '--out', 'got.npy']
    done = subprocess.run([HALFULP, 'op', op, *words], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit('Bail out! ' + done.stderr)
    return load('got.npy')


def differing(a, b):
    return sum(struct.pack('<f', x) != struct.pack('<f', y) for x, y in zip(a, b)) + abs(len(a) - len(b))


apart = moved = 0
CASES = ((7, 7, 4, 3, 3, 1), (5, 19, 6, 5, 8, 0), (18, 18, 8, 2, 4, 1), (3, 33, 2, 7, 16, 0), (9, 4, 5, 5, 64, 1))
for L, S, E, V, block, causal in CASES:
    q, k, v, dy = matrix(L, E, 3), matrix(S, E, 3), matrix(S, V), matrix(L, V)
    sets = (f'block={block}', f'causal={causal}')
    y, lse, whole = forward(q, k, v, block, causal)
    got = run('attention', [q, k, v], 0, *sets)
    wrong = differing(flat(y), got)
    what = f'{L} queries, {S} keys, {E} and {V} features in blocks of {block}, causal={causal}'
    ok(wrong == 0, f'attention of {what}: {wrong} of {len(got)} results differ')
    wrong = differing(lse, run('attention', [q, k, v], 1, *sets))
    ok(wrong == 0, f'its logarithms: {wrong} of {L} differ')
    wrong = differing(flat(whole), run('attention', [q, k, v], 2, *sets))
    ok(wrong == 0, f'its results before they are rounded: {wrong} of {len(got)} differ')
    twice = flat(forward(q, k, v, block, causal, stored=True)[0])
    wrong = differing(twice, run('attention', [q, k, v], 0, 'stored=1', *sets))
    ok(wrong == 0, f'with sums that are stored before they are divided: {wrong} of {len(got)} differ')
    wrong = differing(flat(whole), run('attention', [q, k, v], 2, 'stored=1', *sets))
    ok(wrong == 0, f'whose results before they are rounded know nothing of that: {wrong} of {len(got)} differ')
    moved += differing(twice, got)
    want = backward(q, k, v, y, lse, dy, causal)
    wrong = [differing(flat(w), run('attention_dx', [q, k, v, y, lse, dy], n, *sets)) for n, w in enumerate(want)]
    ok(wrong == [0, 0, 0], f'and its gradients in queries, keys and values: {wrong} differ')
    apart += differing(flat(forward(q, k, v, block, causal, rescale=False)[0]), got)
ok(moved > 20, f'storing the sums changes results ({moved} elements)')
ok(apart > 20, f'a result whose sums are not rescaled to the new maximum is another one ({apart} elements)')

# Tensor cores add in their own order, from the sum so far. Their results are held to the proven bound of the exact one,
# with operands that are subnormal in fp16 among them.
over = calls = 0
UNITS = (('tc:hopper', 'bf16'), ('tc:volta', 'fp16'), ('tc:ampere', 'fp16'), ('tc:ampere,promote=32', 'bf16'))
for model, form in UNITS:
    for L, S, E, V, block in ((9, 40, 17, 3, 16), (3, 70, 9, 17, 64), (17, 9, 40, 9, 4), (40, 1, 48, 2, 4)):
        def spread(rows, width):
            return [[draw.gauss(0, 1) * draw.choice((1, 1, 1e-5)) for _ in range(width)] for _ in range(rows)]
        operands = [spread(L, E), spread(S, E), spread(S, V)]
        if S == 1: # of one key the logarithm is the score, and a sum that nearly vanishes shows what the unit chops
            half = matrix(L, E // 2, 30)
            key = matrix(1, E // 2, 30)[0]
            operands[:2] = [r + r for r in half], [key + [-x * (1 + draw.random() / 64) for x in key]]
        for n in (0, 1):
            sets = (f'in={form}', 'out=fp32', f'block={block}')
            run('attention', operands, n, *sets, more=('--sum', model))
            words = [w for x in sets for w in ('--set', x)] + ['--sum', model, '--result', str(n)]
            for name in 'abc':
                words += ['--in', f'{name}={name}.npy']
            words += ['--as', 'bound', '--got', 'got.npy']
            done = subprocess.run([HALFULP, 'op', 'attention', *words], capture_output=True)
            over += done.returncode != 0
            calls += 1
ok(over == 0 and calls == 32, f'by tensor cores {over} of {calls} calls have a result beyond its proven bound')
finish()
