#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Products of the kernel judge (lib/judge/product: product_avx2.c, product_avx512.c, the plain loop) add the rounded
# terms of an element one by one in every instruction set: the exact values
# are the bits of that sum here, whatever the shape leaves over. And what doc/kernels.md says of times holds, in seconds
# of the processor: two cores have twice the time that is named.
import array
import os
import random
import re
import resource
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
TOP = os.path.abspath(os.environ.get('srcdir', '.'))
sys.path.insert(0, TOP + '/t/tool')
from faults import watched  # noqa: E402
from npzfile import npy  # noqa: E402
from tap import HALFULP, finish, halfulp, home, none, ok  # noqa: E402

os.chdir(home())
draw = random.Random(3)


def save(name, shape, values, descr='<f8'):
    with open(name, 'wb') as f:
        f.write(npy(shape, values, descr))


def doubles(name, n):
    with open(name, 'rb') as f:
        return list(struct.unpack('<%dd' % n, f.read()[-8 * n:]))


for m, n, k in ((1, 1, 1), (5, 19, 300), (130, 16, 257), (3, 33, 1), (4, 15, 512)):
    a = [draw.gauss(0, 1) * 2.0 ** draw.randrange(-9, 9) for _ in range(m * k)]
    b = [draw.gauss(0, 1) for _ in range(k * n)]
    save('a.npy', (m, k), a)
    save('b.npy', (k, n), b)
    want = []
    for i in range(m):
        for j in range(n):
            s = 0.0
            for p in range(k):
                s += a[i * k + p] * b[p * n + j]
            want.append(s)
    save('y.npy', (m, n), want)
    wrong = []
    for simd in ('scalar', 'avx2', 'avx512'):
        env = dict(os.environ, HALFULP_SIMD=simd)
        done = subprocess.run([HALFULP, 'judge', 'matmul', '--in', 'a=a.npy', '--in', 'b=b.npy', '--got', 'y.npy',
                               '--exact', 'e.npy'], env=env, capture_output=True, text=True)
        if 'lacks' in done.stderr or 'has no' in done.stderr:
            continue
        if done.returncode or doubles('e.npy', m * n) != want:
            wrong.append((simd, done.stderr))
    none(wrong, '%d x %d x %d has the bits of one order in every instruction set' % (m, k, n))


# Values of bf16 as float32, drawn once: arrays begin anywhere in them, and none has rows of so odd a length
DRAWN = array.array('f', (struct.unpack('<f', struct.pack('<f', draw.gauss(0, 1))[2:].rjust(4, b'\0'))[0]
                          for _ in range(65537)))


def bf16(n):
    begin = draw.randrange(len(DRAWN))
    return (DRAWN[begin:] + DRAWN * (n // len(DRAWN) + 1))[:n]


def seconds(words):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = halfulp('judge', *words)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    ok(done.returncode in (0, 1) and 'elements' in done.stdout, '%s is judged' % words[0], done.stderr)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


page = open(TOP + '/doc/kernels.md', encoding='utf-8').read()
said = re.search(r'8 × 1024 × 64 takes about ([\d.]+) s of processor time, '
                 r'a product of 512 × 4096 × 512 ([\d.]+) s, softmax of 1.6 million elements ([\d.]+) s', page)
ok(said is not None, 'doc/kernels.md names three times')
save('a.npy', (512, 4096), bf16(512 * 4096), '<f4')
save('b.npy', (4096, 512), bf16(512 * 4096), '<f4')
save('y.npy', (512, 512), bf16(512 * 512), '<f4')
save('x.npy', (400, 4096), bf16(400 * 4096), '<f4')
for name in 'qkvo':
    save(name + '.npy', (1, 8, 1024, 64), bf16(8 * 1024 * 64), '<f4')
facts = ['--set', 'in=bf16 out=bf16', '--no-culprit']
used = [seconds(['attention', '--in', 'q=q.npy', '--in', 'k=k.npy', '--in', 'v=v.npy', '--got', 'o.npy', *facts]),
        seconds(['matmul', '--in', 'a=a.npy', '--in', 'b=b.npy', '--got', 'y.npy', *facts]),
        seconds(['softmax', '--in', 'x=x.npy', '--got', 'x.npy', *facts])]
most = [4, .7, 2]
made = os.path.join(os.environ.get('top_builddir', 'build'), 'Makefile')
slow = os.path.exists(made) and re.search(r'^CFLAGS = .*-O0', open(made, encoding='utf-8').read(), re.M)
if watched() or slow:
    ok(True, '# SKIP a build that is watched or not optimised takes longer')
else:
    ok(all(u <= 2 * s for u, s in zip(used, most)), 'two cores keep 4, 0.7 and 2 s', used)
    ok(said and all(float(s) <= m for s, m in zip(said.groups(), most)), 'so does what the page says')
finish()
