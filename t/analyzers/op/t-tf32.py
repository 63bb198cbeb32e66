# SPDX-License-Identifier: Apache-2.0
"""One model of a tensor core has one answer: under tc:ARCH,in=tf32 op matmul, op dot, calc and accumulate drop the low
13 bits of an operand's word of fp32 (published vectors of the A100 and later say so), of doubles after they were
rounded to fp32, whether the format in= is left out, fp32 or tf32. Rounding to the format tf32 is to nearest even."""

import json
import os
import random
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
from tap import finish, halfulp, home, none, ok  # noqa: E402

folder = home()
os.chdir(folder)


def npy(name, values, shape, code):
    head = "{'descr': '<%s', 'fortran_order': False, 'shape': %s, }" % ('f4' if code == 'f' else 'f8', shape)
    head += ' ' * (63 - (len(head) + 10) % 64) + '\n'
    with open(name, 'wb') as f:
        f.write(b'\x93NUMPY\1\0' + struct.pack('<H', len(head)) + head.encode())
        f.write(struct.pack('<%d%s' % (len(values), code), *values))


def chopped(x):
    """x rounded to fp32, without the low 13 bits of its word."""
    word = struct.unpack('<I', struct.pack('<f', x))[0] & 0xFFFFE000
    return struct.unpack('<f', struct.pack('<I', word))[0]


def rounded(x):
    """A float32 to the nearest tf32, ties to even."""
    word = struct.unpack('<I', struct.pack('<f', x))[0]
    return struct.unpack('<f', struct.pack('<I', (word + 0xFFF + (word >> 13 & 1)) & 0xFFFFE000))[0]


draw = random.Random(34)
wide = [3.14, 1 + 2**-10 - 2**-40, 1 - 2**-24, -3.1399, 2**-130 * 1.2345678, 65504.9, 1 + 2**-11, 1 + 3 * 2**-11]
wide += [draw.choice((-1, 1)) * draw.uniform(1, 2) * 2 ** draw.randrange(-20, 20) for _ in range(24)]
narrow = [struct.unpack('<f', struct.pack('<f', x))[0] for x in wide]
n = len(wide)
for name, values, code in (('w', wide, 'd'), ('n', narrow, 'f')):
    npy(name + '-col.npy', values, '(%d, 1)' % n, code)
npy('one.npy', [1.0], '(1, 1)', 'f')
npy('ones.npy', [1.0] * n, '(%d, 1)' % n, 'f')

wrong, tried, differ = [], 0, sum(chopped(x) != rounded(x) for x in narrow)
for arch in ('ampere', 'ada', 'hopper', 'blackwell', 'rtxblackwell'):
    for of, values in (('w', wide), ('n', narrow)):
        want = [chopped(x) for x in values]
        for op, other in (('matmul', 'one.npy'), ('dot', 'ones.npy')):
            for given in ((), ('--set', 'in=tf32'), ('--set', 'in=fp32')):
                p = halfulp('op', op, '--in', 'a=%s-col.npy' % of, '--in', 'b=' + other, '--sum',
                            'tc:%s,in=tf32' % arch, '--json', *given)
                got = json.loads(p.stdout)['values'] if p.returncode == 0 else p.stderr
                flat = [v['value'] for v in got] if p.returncode == 0 else got
                tried += 1
                wrong += [] if flat == want else [(arch, of, op, given, flat, want)]
none(wrong, 'op matmul and op dot take %d operands alike in %d calls, of which %d round otherwise' % (n, tried, differ))
ok(differ >= n // 4, 'the operands tell chopping from rounding: %d of %d' % (differ, n))

wrong = []
for x in wide[:4] + wide[-8:]:
    for arch in ('ampere', 'hopper'):
        p = halfulp('calc', '--json', '--sum', 'tc:%s,in=tf32' % arch, '--format', 'fp32', '--', 'sum(%.17g*1)' % x)
        got = json.loads(p.stdout)[0]['value'] if p.returncode == 0 else p.stderr
        wrong += [] if got == chopped(x) else [('calc', arch, x, got, chopped(x))]
        p = halfulp('accumulate', '--json', '--sum', 'tc:%s,in=tf32' % arch, '--format', 'fp32', '--terms',
                    'constant:%.17g' % x, '--n', '1')
        got = json.loads(p.stdout)[0]['value'] if p.returncode == 0 else p.stderr
        wrong += [] if got == chopped(x) else [('accumulate', arch, x, got, chopped(x))]
none(wrong, 'calc and accumulate as well')

p = halfulp('round', '--json', '--format', 'tf32', '--', *['%.17g' % x for x in narrow])
got = [r['value'] for r in json.loads(p.stdout)] if p.returncode == 0 else p.stderr
ok(got == [rounded(x) for x in narrow], 'and rounding to the format tf32 is to nearest even', [got])
finish()
