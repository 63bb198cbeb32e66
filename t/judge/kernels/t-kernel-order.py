#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# judge --sum all says in which order a kernel adds: the other programs are here, a product in chunks and attention in
# blocks of keys, which round P to bf16 relative to the maximum so far.
import json
import math
import os
import struct
import sys

TOP = os.path.abspath(os.environ.get('srcdir', '.'))
sys.path.insert(0, TOP + '/t/tool')
from npzfile import npy  # noqa: E402
from tap import finish, halfulp, home, ok  # noqa: E402

os.chdir(home())
state = 7


def f32(v):
    return struct.unpack('<f', struct.pack('<f', v))[0]


def bf16(v):
    word = struct.unpack('<I', struct.pack('<f', v))[0]
    return struct.unpack('<f', struct.pack('<I', (word + 0x7fff + (word >> 16 & 1) >> 16 << 16) & 0xffffffff))[0]


def draw(n, scale=1.0):
    global state
    out = []
    for _ in range(n):
        s = 0
        for _ in range(4):
            state = state * 6364136223846793005 + 1442695040888963407 & 2 ** 64 - 1
            s += (state >> 40) / 2 ** 24 - 0.5
        out.append(bf16(s * 1.7 * scale))
    return out


def save(name, shape, values):
    with open(name, 'wb') as file:
        file.write(npy(shape, values))


def order(words):
    got = halfulp('judge', *words, '--sum', 'all', '--json')
    return json.loads(got.stdout)['results'][0]['order'] if got.returncode in (0, 1) else got.stderr


M, K, N = 8, 96, 12
a, b = draw(M * K), draw(K * N)
save('a.npy', (M, K), a)
save('b.npy', (K, N), b)


def chunks(size, outer=f32):
    out = []
    for i in range(M):
        for j in range(N):
            total = 0.0
            for first in range(0, K, size):
                acc = 0.0
                for k in range(first, first + size):
                    acc = f32(acc + a[i * K + k] * b[k * N + j])  # products of bf16 are exact, so this is one rounding
                total = outer(total + acc)
            out.append(total)
    return out


save('y.npy', (M, N), chunks(16))
PRODUCT = ['matmul', '--in', 'a=a.npy', '--in', 'b=b.npy', '--set', 'in=bf16 out=fp32']
said = order([*PRODUCT, '--got', 'y.npy'])
ok(said.startswith('chunk:16') and 'gives the bits of all 96' in said, 'a product in chunks of 16', said)
said = order(['matmul', '--in', 'b=b.npy', '--in', 'a=a.npy', '--set', 'in=bf16 out=fp32', '--got', 'y.npy'])
ok(said.startswith('chunk:16') and 'gives the bits of all 96' in said,
   'operands are taken by name and not by order', said)
save('x.npy', (2, M // 2, K), a)
save('w.npy', (N, K), [b[k * N + n] for n in range(N) for k in range(K)])
save('y.npy', (2, M // 2, N), chunks(16))
said = order(['linear', '--in', 'w=w.npy', '--in', 'x=x.npy', '--set', 'in=bf16 out=fp32', '--got', 'y.npy'])
ok(said.startswith('chunk:16') and 'gives the bits of all 96' in said, 'a linear layer of an x of three axes', said)
save('z.npy', (M, N), chunks(32, bf16))
said = order([*PRODUCT, '--got', 'z.npy'])
ok(said.startswith('acc=bf16@32 gives the bits'),
   'sums of 32 terms that are added in bf16', said)
save('z.npy', (M, N), [f32(math.fsum(a[i * K + k] * b[k * N + j] for k in range(K)) * (1 + 2 ** -22))
                       for i in range(M) for j in range(N)])
said = order([*PRODUCT, '--got', 'z.npy'])
ok(said.startswith('none of '), 'no model gives what nobody added up so', said)

# Units of processors and of tensor cores are among the models, and a bias is added behind the sum, in fp32.
for unit in ('avx512bf16', 'amxbf16', 'bfdot', 'tc:hopper'):
    halfulp('op', 'matmul', '--in', 'a=a.npy', '--in', 'b=b.npy', '--set', 'in=bf16', '--set', 'out=fp32', '--sum',
            unit, '--out', 'unit.npy')
    said = order([*PRODUCT, '--got', 'unit.npy'])
    ok(said.startswith(unit) and 'gives the bits of all 96' in said, '%s is told by its bits' % unit, said)
    os.remove('unit.npy')
bias = draw(N, 8)
save('bias.npy', (N,), bias)
for outer, name in ((f32, 'chunk:16'), (bf16, 'acc=bf16@16')):
    for out, form in ((f32, 'fp32'), (bf16, 'bf16')):
        save('y.npy', (M, N), [out(f32(x + bias[i % N])) for i, x in enumerate(chunks(16, outer))])
        said = order(['matmul', '--in', 'a=a.npy', '--in', 'b=b.npy', '--in', 'bias=bias.npy', '--got', 'y.npy',
                      '--set', 'in=bf16 out=' + form])
        ok(said.startswith(name) or form == 'bf16' and 'gives the bits of all 96' in said,
           '%s with a bias, stored in %s' % (name, form), said)

R, D = 200, 8
q, k, v = draw(R * D, 2), draw(R * D), draw(R * D)
for name, x in (('q', q), ('k', k), ('v', v)):
    save(name + '.npy', (1, 1, R, D), x)


def flash(block, causal, store, window=0, cap=0, mask=None, pv=None):
    out = []
    for i in range(R):
        last = i + 1 if causal else R
        s = [sum(q[i * D + d] * k[n * D + d] for d in range(D)) / math.sqrt(D) for n in range(last)]
        s = [cap * math.tanh(x / cap) for x in s] if cap else s
        s = [x + mask[i * R + n] for n, x in enumerate(s)] if mask else s
        s = [x if not window or n > i - window else -math.inf for n, x in enumerate(s)]
        m, total, o = -math.inf, 0.0, [0.0] * D
        for first in range(0, last, block):
            part = s[first:first + block]
            now = max(m, *part)
            if now == -math.inf:
                continue
            back = math.exp(m - now)
            total, o = total * back, [x * back for x in o]
            for n, x in enumerate(part, first):
                e = f32(math.exp(x - now))
                total += e
                p = bf16(e)
                o = [y + p * v[n * D + d] for d, y in enumerate(o)]
            m = now
        out += [store((pv(x) if pv else x) / total) for x in o]
    return out


for block, causal, store, name in ((64, 0, f32, 'fp32'), (32, 1, bf16, 'bf16'), (128, 1, f32, 'fp32'),
                                   (200, 0, bf16, 'bf16')):
    save('o.npy', (1, 1, R, D), flash(block, causal, store))
    said = order(['attention', *[w for x in 'qkv' for w in ('--in', x + '=%s.npy' % x)], '--got', 'o.npy', '--set',
                  'in=bf16 p=bf16 out=%s causal=%d' % (name, causal)])
    want = 'in one block of keys' if block == 200 else 'blocks of %d keys' % block
    ok(want in said, 'attention in blocks of %d, stored in %s' % (block, name), said)
ATTENTION = ['attention', *[w for x in 'vkq' for w in ('--in', x + '=%s.npy' % x)], '--got', 'o.npy']
mask = draw(R * R)
save('mask.npy', (1, 1, R, R), mask)
for block, how, facts in ((32, dict(window=70), 'causal=1 window=70'), (64, dict(cap=2), 'causal=1 softcap=2'),
                          (48, dict(mask=mask), 'causal=2'), (64, dict(pv=bf16), 'causal=1 pv=bf16')):
    save('o.npy', (1, 1, R, D), flash(block, 1, f32, **how))
    said = order([*ATTENTION, *(['--in', 'mask=mask.npy'] if 'mask' in how else []), '--set',
                  'in=bf16 p=bf16 out=fp32 ' + facts])
    ok('blocks of %d keys' % block in said, 'attention in blocks of %d with %s' % (block, list(how)[0]), said)
said = order(['attention', *[w for x in 'qkv' for w in ('--in', x + '=%s.npy' % x)], '--got', 'o.npy', '--set',
              'in=bf16 p=fp32 out=bf16'])
ok('leave no trace' in said, 'blocks cannot be told where P is in fp32', said)
said = order(['softmax', '--in', 'x=a.npy', '--got', 'a.npy'])
ok('not looked for' in said, 'other kernels are not looked at, and the answer says so', said)
finish()
