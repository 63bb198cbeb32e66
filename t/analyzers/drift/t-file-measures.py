#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# What diff measures of two files of anyone's: every measure of every dtype, and the same numbers in other files.
import json
import math
import os
import random
import struct
import sys
import zipfile
from fractions import Fraction

sys.path[1:1] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool')]
from file_measures import (  # noqa: E402
    FORMATS, INTEGERS, NAMES, agrees, decode, measure, npy, refused, run, safetensors)
from tap import finish, ok  # noqa: E402

# Every measure, of every dtype, from inputs that lean towards corners
rng = random.Random(int(os.environ.get('HALFULP_SEED', '7')))


def corner(dtype):
    bits, ebits, p, _ = FORMATS[dtype]
    kind = rng.randrange(8)
    if kind == 0:
        return rng.choice([0, 1 << (bits - 1), 1, (1 << (p - 1)) - 1])                       # zeros and subnormals
    if kind == 1:
        return rng.getrandbits(bits)                                                         # anything, NaN among it
    if kind == 2:
        return rng.randrange(1, (1 << ebits) - 1) << (p - 1)                                 # powers of two
    return (rng.randrange(2) << (bits - 1)) | (((1 << (ebits - 1)) - 4 + rng.randrange(8)) << (p
        - 1)) | rng.getrandbits(p - 1)


def moved(dtype, code):
    kind = rng.randrange(12)
    if kind == 0:
        return corner(dtype)
    if kind < 3:
        return code ^ rng.choice([1, 2, 1 << (FORMATS[dtype][0] - 1)])
    return code


old, new, values = {}, {}, {}
for dtype in FORMATS:
    for n in () if dtype == 'F4' else (1, 5, 8, 513, 70000 if dtype in ('F32', 'F16', 'F8_E4M3') else 700):
        name = '%s.%d' % (dtype, n)
        calm = n == 70000       # without NaN and extremes, so that its sums are of ordinary size
        a = [(rng.randrange(2) << (FORMATS[dtype][0] - 1)) | (((1 << (FORMATS[dtype][1] - 1))
            - 1) << (FORMATS[dtype][2] - 1)) | rng.getrandbits(FORMATS[dtype][2] - 1) if calm else corner(dtype)
                for _ in range(n)]
        b = [c ^ (rng.random() < 0.1) if calm else moved(dtype, c) for c in a]
        old[name], new[name] = (dtype, [n], a), (dtype, [n], b)
        values[name] = [decode(dtype, c) for c in a], [decode(dtype, c) for c in b]
for dtype, letter in INTEGERS.items():
    bits = 8 * struct.calcsize(letter)
    lo, hi = (0, 1) if dtype == 'BOOL' else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if letter.islower() else (0,
        (1 << bits) - 1)
    a = [rng.choice([lo, hi, rng.randint(lo, hi)]) for _ in range(300)]
    b = [min(hi, x + 1) if rng.random() < 0.2 else rng.randint(lo, hi) if rng.random() < 0.1 else x for x in a]
    old[dtype], new[dtype] = (dtype, [300], a), (dtype, [300], b)
    values[dtype] = a, b
for n in 2, 30, 700, 20000:
    a = [rng.getrandbits(4) for _ in range(n)]
    b = [c ^ rng.choice([1, 2, 4, 8]) if rng.random() < 0.2 else c for c in a]
    old['F4.%d' % n], new['F4.%d' % n] = ('F4', [n], a), ('F4', [n], b)
    values['F4.%d' % n] = [decode('F4', c) for c in a], [decode('F4', c) for c in b]
# Doubles whose squares no double holds
for name, scale in (('huge', 1000), ('tiny', -1060), ('wide', 0)):
    a = [math.ldexp(rng.uniform(-1, 1), scale + (rng.randrange(-40, 20) if name == 'wide' else 0)) for _ in range(600)]
    b = [x * (1 + rng.choice([0, 0, 2 ** -20])) for x in a]
    code = lambda x: struct.unpack('<Q', struct.pack('<d', x))[0]
    old[name], new[name] = ('F64', [600], [code(x) for x in a]), ('F64', [600], [code(x) for x in b])
    values[name] = a, b
# Finite numbers of 16 bits, whose ulps are found in floats first: any; and differences that no float holds, of which
# one is a little more
for dtype, small, large in (('F16', 0x0800, 0x4400), ('BF16', 0x3680, 0x3f80)):
    finite = lambda: next(c for c in iter(lambda: rng.getrandbits(16), None) if math.isfinite(decode(dtype, c)))
    a = [finite() for _ in range(2100)]
    b = [c if rng.random() < 0.5 else finite() if rng.random() < 0.01 else c ^ 1
        if math.isfinite(decode(dtype, c ^ 1)) else c for c in a]
    close = [small + 85 - (i == 1500) for i in range(2100)]
    for name, x, y in (('finite', a, b), ('close', close, [large] * 2100)):
        old[name + dtype], new[name + dtype] = (dtype, [2100], x), (dtype, [2100], y)
        values[name + dtype] = [decode(dtype, c) for c in x], [decode(dtype, c) for c in y]
safetensors('a.safetensors', old)
safetensors('b.safetensors', new)
code, out, err = run('diff', 'a.safetensors', 'b.safetensors', '--json')
rows = {r['name']: r for r in json.loads(out)['rows']}
ok(code == 1 and set(rows) == set(old), 'diff: a row a tensor', (code, err))
for name in old:
    dtype = old[name][0]
    want = measure(*values[name], dtype)
    wrong = agrees(rows[name], want)
    ok(not wrong and rows[name]['ulps_of'] == NAMES.get(dtype, '-'), 'every measure of %s, recomputed' % name,
        {k: (rows[name].get(k), float(want[k])) for k in wrong})


def told(x):
    """A number as JSON has it."""
    x = float(x)
    return x if math.isfinite(x) else None if math.isnan(x) else 'inf' if x > 0 else '-inf'


def worst(a, b):
    """(element, old, new) of the first pair with one number that is not finite, else of the first of the largest
    difference; None where nothing differs."""
    odd = lambda x: isinstance(x, float) and not math.isfinite(x)
    for i, (x, y) in enumerate(zip(a, b)):
        if (odd(x) or odd(y)) and x != y and not (x != x and y != y):
            return i, told(x), told(y)
    d = [0 if odd(x) or odd(y) else abs(Fraction(y) - Fraction(x)) for x, y in zip(a, b)]
    differs = any(d) or any(math.copysign(1, x) != math.copysign(1, y) for x, y in zip(a, b) if x == y == 0)
    i = d.index(max(d))
    return (i, told(a[i]), told(b[i])) if differs else None


there, here = ({n: tuple(rows[n].get(k) for k in ('worst', 'old', 'new')) for n in old},
    {n: worst(*values[n]) or (None, None, None) for n in old})
wrong = ['%s: %s there, %s here' % (n, there[n], here[n]) for n in old if there[n] != here[n]]
ok(not wrong, 'of every tensor the worst element and both its values', wrong)
for other in ('scalar', 'avx2', 'avx512'):
    again = run('diff', 'a.safetensors', 'b.safetensors', '--json', HALFULP_SIMD=other)
    if again[0] == 4:
        print('# no %s here' % other)
        continue
    ok(again[1] == out, 'the same bits with the loops of %s' % other)
ok(run('diff', 'a.safetensors', 'b.safetensors', '--json', OMP_NUM_THREADS='1')[1] == out == run('diff',
    'a.safetensors', 'b.safetensors', '--json', OMP_NUM_THREADS='3')[1], 'the same bits with one thread and with three')

# The same numbers in other files
floats = [rng.uniform(-2, 2) for _ in range(60)]
raw = {d: struct.pack('<60' + l, *floats) for d, l in (('<f4', 'f'), ('<f8', 'd'), ('<f2', 'e'))}
codes = lambda raw, width: [int.from_bytes(raw[i:i + width], 'little') for i in range(0, len(raw), width)]
same = {'x': ('F32', [3, 4, 5], codes(raw['<f4'], 4)), 'y': ('F64', [60], codes(raw['<f8'], 8)),
    'z': ('F16', [60], codes(raw['<f2'], 2)), 'n': ('I32', [2], [-5, 7]), 'm': ('BOOL', [3], [1, 0, 1])}
safetensors('same.safetensors', same)
order = [i * 20 + j * 5 + k for k in range(5) for j in range(4) for i in range(3)]   # first index fastest
members = {'x': npy('<f4', [3, 4, 5], b''.join(raw['<f4'][4 * i:4 * i + 4] for i in order), True),
    'y': npy('>f8', [60], struct.pack('>60d', *floats)), 'z': npy('<f2', [60], raw['<f2']),
        'n': npy('<i4', [2], struct.pack('<2i', -5, 7)), 'm': npy('|b1', [3], b'\1\0\1')}
for how, method in (('stored', zipfile.ZIP_STORED), ('deflated', zipfile.ZIP_DEFLATED)):
    with zipfile.ZipFile(how + '.npz', 'w', method) as z:
        for name, data in members.items():
            z.writestr(name + '.npy', data)
    code, out, err = run('diff', 'same.safetensors', how + '.npz', '--all')
    ok(code == 0 and 'nothing differs in 5 names' in out and len(out.splitlines()) == 7,
        'npz, %s, Fortran order and big endian among it: the same' % how, out + err)
open('y.npy', 'wb').write(members['y'])
open('y2.npy', 'wb').write(npy('<f8', [60], raw['<f8'][:-8] + struct.pack('<d', floats[-1] + 1)))
ok(run('diff', 'y.npy', 'y.npy')[0] == 0, 'npy: the same')
code, out, err = run('diff', 'y.npy', 'y2.npy', '--json')
ok(code == 1 and json.loads(out)['rows'][0]['differ'] == 1 and json.loads(out)['rows'][0]['worst'] == 59,
    'npy: the last element moved', out)
broken = bytearray(open('stored.npz', 'rb').read())
broken[broken.index(raw['<f2']) + 5] ^= 1
open('broken.npz', 'wb').write(broken)
refused(3, 'array z: ', 'a member whose checksum is wrong', 'diff', 'same.safetensors', 'broken.npz')
open('cut.safetensors', 'wb').write(open('same.safetensors', 'rb').read()[:-1])
refused(3, 'cut short', 'safetensors cut short', 'check', 'cut.safetensors', '--baseline', 'same.safetensors')
refused(3, 'cp new.npz gone.npz'.replace('new', 'stored'), 'no baseline: what makes one', 'check', 'stored.npz',
    '--baseline', 'gone.npz')
refused(3, 'one kind are needed', 'tensors against metrics', 'diff', 'same.safetensors',
    'table.csv') if open('table.csv', 'w').write('step,x\n1,2\n') else None
finish()
