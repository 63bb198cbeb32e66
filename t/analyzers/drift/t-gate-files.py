#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# check and diff on files of anyone's. Files are written and every measure is computed again here, with Python's
# standard library alone: decoding by hand, sums by math.fsum, ulps in fractions.
import json
import math
import os
import random
import struct
import subprocess
import sys
import xml.etree.ElementTree
import zipfile
from fractions import Fraction

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
import onnxfile  # noqa: E402
from tap import HALFULP, finish, home, ok  # noqa: E402

os.chdir(home())


def run(*args, **env):
    p = subprocess.run([HALFULP] + list(args), capture_output=True, text=True, stdin=subprocess.DEVNULL,
        env=dict(os.environ, OMP_WAIT_POLICY='passive', **env))
    return p.returncode, p.stdout, p.stderr


def refused(code, pattern, what, *args):
    got, out, err = run(*args)
    ok(got == code and (not out or 'nothing was judged: ' in out and out.startswith('1..1\nnot ok 1 - '))
        and err.count('\n') == 1 and pattern in err, '%s: exit %d, one line' % (what, code), (got, out[:200], err))


# --- formats, written down again: bits, exponent bits, precision, emin, and what the top codes are
# ---------------------
FORMATS = {'F64': (64, 11, 53, -1022), 'F32': (32, 8, 24, -126), 'F16': (16, 5, 11, -14), 'BF16': (16, 8, 8, -126),
    'F8_E4M3': (8, 4, 4, -6), 'F8_E5M2': (8, 5, 3, -14), 'F4': (4, 2, 2, 0)}
INTEGERS = {'I64': 'q', 'I32': 'i', 'I16': 'h', 'I8': 'b', 'U64': 'Q', 'U32': 'I', 'U16': 'H', 'U8': 'B', 'BOOL': 'B'}
NAMES = {'F64': 'fp64', 'F32': 'fp32', 'F16': 'fp16', 'BF16': 'bf16', 'F8_E4M3': 'e4m3', 'F8_E5M2': 'e5m2',
    'F4': 'e2m1'}


def decode(dtype, code):
    bits, ebits, p, emin = FORMATS[dtype]
    sign = -1 if code >> (bits - 1) else 1
    field = code >> (p - 1) & ((1 << ebits) - 1)
    fraction = code & ((1 << (p - 1)) - 1)
    if dtype == 'F8_E4M3':
        if code & 0x7f == 0x7f:
            return math.nan
    elif field == (1 << ebits) - 1 and dtype != 'F4':
        return math.nan if fraction else sign * math.inf
    if field == 0:
        return sign * math.ldexp(fraction, emin - p + 1)
    return sign * math.ldexp(fraction + (1 << (p - 1)), field - 1 + emin - p + 1)


def safetensors(path, tensors):
    head, data = {}, b''
    for name, (dtype, shape, codes) in tensors.items():
        if dtype == 'F4':  # the first of two in the lower half of a byte
            raw = bytes(a | b << 4 for a, b in zip(codes[::2], codes[1::2]))
            head[name] = {'dtype': dtype, 'shape': shape, 'data_offsets': [len(data), len(data) + len(raw)]}
            data += raw
            continue
        width = FORMATS[dtype][0] // 8 if dtype in FORMATS else struct.calcsize(INTEGERS[dtype])
        raw = b''.join(c.to_bytes(width, 'little') for c in codes) if dtype in FORMATS else struct.pack('<%d%s'
            % (len(codes), INTEGERS[dtype]), *codes)
        head[name] = {'dtype': dtype, 'shape': shape, 'data_offsets': [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(head).encode()
    text += b' ' * (-len(text) % 8)
    open(path, 'wb').write(struct.pack('<Q', len(text)) + text + data)


def npy(descr, shape, raw, fortran=False):
    head = "{'descr': '%s', 'fortran_order': %s, 'shape': (%s), }" % (descr, fortran,
        ''.join('%d, ' % n for n in shape))
    head += ' ' * (-(len(head) + 11) % 64) + '\n'
    return b'\x93NUMPY\x01\x00' + struct.pack('<H', len(head)) + head.encode() + raw


def ulp(x, dtype):
    _, _, p, emin = FORMATS[dtype]
    e = emin if x == 0 else max(emin, math.frexp(x)[1] - 1)
    return Fraction(2) ** (e - p + 1)


def measure(a, b, dtype):
    """Every measure of two lists of numbers, from its definition."""
    m = {'elements': len(a), 'differ': 0, 'nonfinite': 0}
    pairs = []
    for x, y in zip(a, b):
        if isinstance(x, int) or (math.isfinite(x) and math.isfinite(y)):
            pairs.append((Fraction(x), Fraction(y)))
            m['differ'] += x != y or math.copysign(1, x) != math.copysign(1, y)
        elif not (math.isnan(x) and math.isnan(y)) and x != y:
            m['nonfinite'] += 1
            m['differ'] += 1
    d = [abs(y - x) for x, y in pairs]
    largest = max([abs(x) for x, _ in pairs], default=0)
    m['abs'] = max(d, default=0)
    m['rel'] = m['abs'] / largest if largest else 0 if not m['abs'] else math.inf
    # Sums of whole numbers, of which each value is so many of the smallest power of two
    unit = max([v.denominator for pair in pairs for v in pair], default=1)
    whole = [[v.numerator * (unit // v.denominator) for v in pair] for pair in pairs]
    aa, bb, dd, ab = (Fraction(n, unit * unit) for n in (
        sum(x * x for x, _ in whole), sum(y * y for _, y in whole), sum((y - x) ** 2 for x, y in whole),
        sum(x * y for x, y in whole)))
    m['l2'] = root(dd / aa) if aa else 0.0 if not dd else math.inf
    m['cosine'] = 1.0 if not aa and not bb else 0.0 if not aa or not bb else root(ab * ab / aa / bb) * (-1 if ab < 0
        else 1)
    m['sqnr'] = math.inf if not dd else 20 * math.log10(root(aa / dd)) if aa else -math.inf
    m['ulps'] = m['abs'] if dtype not in FORMATS else max([abs(y - x) / ulp(float(x), dtype) for x, y in pairs],
        default=0)
    return m


def root(x):
    """The square root of a fraction, of any size."""
    k = (x.numerator.bit_length() - x.denominator.bit_length()) // 2 if x else 0
    return math.sqrt(x / Fraction(4) ** k) * 2.0 ** k if x else 0.0


def near(got, want):
    got = {'inf': math.inf, '-inf': -math.inf}.get(got, got)
    if isinstance(want, Fraction):
        try:
            want = float(want)
        except OverflowError:
            want = math.inf
    if got is None or math.isinf(want) or math.isinf(got):
        return got == want
    return abs(got - want) <= 1e-12 * abs(want) + 1e-300


def agrees(row, want):
    return [k for k in want if not near(row.get(k), want[k])]


# --- every measure, of every dtype, from inputs that lean towards corners
# ----------------------------------------------
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

# --- the same numbers in other files
# -----------------------------------------------------------------------------------
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


# --- rules
# --------------------------------------------------------------------------------------------------------------
def f32(*v):
    return 'F32', [len(v)], [struct.unpack('<I', struct.pack('<f', x))[0] for x in v]


safetensors('o.safetensors', {'w': f32(4, 2, 1), 'grad.a': f32(1, 1, 1), 'grad.b': f32(1, 1, 1),
    'ids': ('I64', [2], [3, 4])})
safetensors('n.safetensors', {'w': f32(4, 2, 1.5), 'grad.a': f32(1, 1, 1 + 2 ** -10),
    'grad.b': f32(1, 1, 1 + 2 ** -9), 'ids': ('I64', [2], [3, 4])})


def check(*rules, new='n.safetensors', old='o.safetensors', more=()):
    line = ['check', new, '--baseline', old, *more]
    for r in rules:
        line += ['--rule', r]
    code, out, err = run(*line)
    return code, [l for l in out.splitlines() if l.startswith(('ok', 'not ok'))], out + err


# w: differ 1, abs .5, rel .125, l2 .5/sqrt(21), sqnr 20 log10(sqrt(21)/.5); in fp16 512 ulps, in e4m3 4
for bound, limit, more in (('differ', 1, 0), ('abs', .5, 0), ('rel', .125, 0), ('l2', .5 / math.sqrt(21), 0),
    ('ulps(fp16)', 512, 0), ('ulps(e4m3)', 4, 0), ('ulps', 2 ** 22, 0),
        ('sqnr', 20 * math.log10(math.sqrt(21) / .5), 1), ('cosine', 21.5 / math.sqrt(21 * 22.25), 1),
            ('nonfinite', 0, 0)):
    sign, tight = ('>=', limit * (1 + 1e-9)) if more else ('<=', limit * (1 - 1e-9))
    inside = check('w: %s %s %.17g' % (bound, sign, limit * (1 - 1e-12 if more else 1 + 1e-12)),
        'grad*, ids: ignore'.replace(' ids', 'ids'))
    ok(inside[0] == 0, 'a rule %s at what is measured holds' % bound, inside[2])
    if bound != 'nonfinite':
        outside = check('w: %s %s %.17g' % (bound, sign, tight), '*: ignore')
        ok(outside[0] == 1 and outside[1][0].startswith('not ok 1 - w: '
            + (bound if bound != 'ulps' else 'ulps(fp32)')), 'a rule %s beyond it does not' % bound, outside[2])
got = check('grad.a: exact', 'grad.*: ulps(fp16) <= 2', '*: rel <= 1')
ok(got[0] == 1 and got[1][0].startswith('not ok 1 - grad.a: 1 of 3 values differ') and got[1][1].startswith('ok')
    and 'grad.b: ulps(fp16) 2, which is <= 2' in got[2], 'the first rule that matches counts', got[2])
got = check('grad.*: ulps(fp16) <= 1', 'ids: exact', 'w: abs <= 1', 'nothing.*: exact')
ok(got[0] == 1 and got[1][0].startswith('not ok 1 - grad.b: ulps(fp16) 2, and not <= 1')
    and "no name came to the rule 'nothing.*: exact'" in got[2], 'a rule that no name came to is told', got[2])
got = check()
ok(got[0] == 1 and [l.split()[4 - l.startswith('ok')] for l in got[1]][:3] == ['w:', 'grad.b:', 'grad.a:']
    and got[1][3].startswith('ok 4 - ids: the same values'), 'without rules: the worst first', got[2])
# 1.9 and 1.1 times their bound, 0.5: the worse of the two stands first everywhere, though its name does not
open('worse.csv', 'w').write('step,aa,zz\n0,1.55,1.95\n')
open('as.csv', 'w').write('step,aa,zz\n0,1,1\n')
for form in ('tap', 'json', 'junit', 'markdown', 'text'):
    out = run('check', 'worse.csv', '--baseline', 'as.csv', '--rule', '*: abs <= 0.5', '--format', form)[1]
    ok(out.find('abs 0.95') >= 0 and 0 <= out.find('zz') < out.find('aa'), 'the worst first, as %s' % form, out)
out = run('check', 'worse.csv', '--baseline', 'as.csv', '--rule', '*: abs <= 0.5', '--format', 'text')[1]
ok(out.splitlines()[-1].startswith('worse.csv drifted: 2 of 2 names fail, worst: zz, abs '
                                   '0.95'), 'and in the last line', out)
open('rules.txt', 'w').write('# what may differ\n\nw: abs <= 0.5, rel <= 2^-3   # both\ngrad.*: sqnr >= 40\n')
ok(check(more=['--rule', '@rules.txt'])[0] == 0 and check('w: exact', more=['--rule', '@rules.txt'])[0] == 1,
    'a file of rules, behind those of --rule')
open('bad.txt', 'w').write('w: rel <= 1\n\nw rel <= 1\n')
refused(3, 'bad.txt, line 3: rule', 'a bad line of a file of rules', 'check', 'n.safetensors', '--baseline',
    'o.safetensors', '--rule', '@bad.txt')
for rule, why in (('w', 'needs a colon'), (': rel <= 1', 'no name before its colon'), ('w:', 'no condition'),
    ('w: rel <= 1,', 'no condition'), ('w: rel <= 1,,abs <= 1', 'no condition'),
        ('w: rol <= 1', "'rol' is no measure, did you mean rel"),
                  ('w: rel >= 1', 'rel <= is a bound'), ('w: cosine <= 1', 'cosine >= is a bound'),
                      ('w: rel < 1', 'write <='), ('w: rel <= inf', 'no finite number'),
                          ('w: rel <= nan', 'no finite number'), ('w: rel <= -1', 'never below 0'),
                  ('w: rel <= 1x', 'no finite number'), ('w: ulps(fp99) <= 1', 'is no format'),
                      ('w: ulps(fp16 <= 1', 'in parentheses'), ('w: abs(fp16) <= 1', 'abs has no format'),
                          ('w: cosine >= 2', 'between -1 and 1'), ('w: ignore, exact', 'no other condition'),
                  ('w: exact, rel <= 1', 'no other bound'), ('w: fine', 'neither a bound')):
    refused(2, why, "rule '%s'" % rule, 'check', 'n.safetensors', '--baseline', 'o.safetensors', '--rule', rule)

# Names, shapes, dtypes, what is not finite
safetensors('more.safetensors', {'w': f32(4, 2, 1), 'grad.a': f32(1, 1, 1), 'grad.b': f32(1, 1, 1),
    'ids': ('I64', [2], [3, 4]), 'extra': f32(1)})
got = check(new='more.safetensors')
ok(got[0] == 1 and got[1][0] == 'not ok 1 - extra: is new: the baseline does not have it', 'a name that is new', got[2])
got = check(new='o.safetensors', old='more.safetensors')
ok(got[0] == 1 and got[1][0] == 'not ok 1 - extra: is missing: the baseline has it', 'a name that is missing', got[2])
ok(check('ext*: optional, exact', new='more.safetensors')[0] == 0 == check('extra: ignore',
    new='more.safetensors')[0], 'both, where a rule says so')
shape = dict(w=('F32', [3, 1], f32(4, 2, 1)[2]))
safetensors('s1.safetensors', {'w': f32(4, 2, 1)})
safetensors('s2.safetensors', shape)
got = check('w: rel <= 1', old='s1.safetensors', new='s2.safetensors')
ok(got[0] == 1 and 'its shape was F32[3] and is F32[3,1]' in got[1][0], 'another shape', got[2])
safetensors('half.safetensors', {'w': ('F16', [3], [0x4400, 0x4000, 0x3c00])})
got = check(old='s1.safetensors', new='half.safetensors')
ok(got[0] == 1 and 'its dtype was F32 and is F16, and no rule says how much that may change' in got[1][0],
    'another dtype', got[2])
ok(check('w: rel <= 0', old='s1.safetensors', new='half.safetensors')[0] == 0
    and check('w: exact', old='s1.safetensors', new='half.safetensors')[0] == 1,
        'which a rule on its values allows, and exact does not')
nan, inf = math.nan, math.inf
safetensors('q1.safetensors', {'a': f32(nan, inf, -inf, 1), 'b': f32(1, 1)})
safetensors('q2.safetensors', {'a': f32(nan, inf, -inf, 1), 'b': f32(1, nan)})
got = check('*: cosine >= 0', old='q1.safetensors', new='q2.safetensors')
ok(got[0] == 1 and got[1][0].startswith('not ok 1 - b: 1 of 2 values are not finite')
    and got[1][1].startswith('ok 2 - a: the same values'), 'NaN is drift unless the baseline has it there', got[2])
for was, now, want in ((nan, 1, 1), (1, nan, 1), (inf, nan, 1), (nan, inf, 1), (inf, -inf, 1), (inf, 1, 1),
    (-inf, -inf, 0), (nan, nan, 0)):
    safetensors('p1.safetensors', {'a': f32(1, was)})
    safetensors('p2.safetensors', {'a': f32(1, now)})
    row = json.loads(run('diff', 'p1.safetensors', 'p2.safetensors', '--json')[1])['rows'][0]
    ok(row['nonfinite'] == row['differ'] == want and check('*: cosine >= 0', old='p1.safetensors',
        new='p2.safetensors')[0] == want, '%s that became %s' % (was, now), row)
places = [1.0] * 70000
for at in (40000, 10, 69999):
    places[at] = 3.0
safetensors('w1.safetensors', {'a': f32(*[1.0] * 70000)})
safetensors('w2.safetensors', {'a': f32(*places)})
ok(json.loads(run('diff', 'w1.safetensors', 'w2.safetensors', '--json')[1])['rows'][0]['worst'] == 10,
    'of equal differences the first is told')
ok(check('b: nonfinite <= 1', old='q1.safetensors', new='q2.safetensors')[0] == 0, 'or a rule allows it')
safetensors('t1.safetensors', {'x # TODO later': f32(1)})
safetensors('t2.safetensors', {'x # TODO later': f32(2)})
ok('not ok 1 - x \\# TODO later: ' in check(old='t1.safetensors', new='t2.safetensors')[2],
    'a name is no directive of TAP')

# Defaults, from their formula: one element moved by c ulps of the largest is within, all by 2c beyond
for dtype, p, c in (('F32', 24, 16), ('F64', 53, 16), ('F16', 11, 1), ('BF16', 8, 1), ('F8_E4M3', 4, 1)):
    one = {'F32': 0x3f800000, 'F64': 0x3ff0000000000000, 'F16': 0x3c00, 'BF16': 0x3f80, 'F8_E4M3': 0x38}[dtype]
    safetensors('d0.safetensors', {'x': (dtype, [100], [one] * 100)})
    for step, where, want in ((c, 100, 0), (c + 1, 100, 1), (4 * c if p > 4 else 2, 1, 0),
        (4 * c + 1 if p > 4 else 5, 1, 1)):
        safetensors('d1.safetensors', {'x': (dtype, [100], [one + step] * where + [one] * (100 - where))})
        got = check(old='d0.safetensors', new='d1.safetensors')
        ok(got[0] == want, '%s: %d elements moved by %d ulps are %s by default'
            % (dtype, where, step, 'beyond' if want else 'within'), got[2])

# --- metrics
# ------------------------------------------------------------------------------------------------------------
series = [(s, 1 / (s + 1), ('a', 'b')[s % 2]) for s in range(8)]
open('m.csv', 'w').write('Step,loss,"the ""tag"""\n' + ''.join('%d,%r,"%s"\n' % x for x in series))
open('m.tsv', 'w').write('# note\nstep\tloss\tthe "tag"\n' + ''.join('%d\t%r\t%s\n' % x for x in reversed(series)))
open('m.jsonl', 'w').write(''.join(json.dumps({'step': s, 'loss': v, 'the "tag"': t}) + '\n' for s, v, t in series))
open('long.csv', 'w').write('name,step,value\r\n' + ''.join('loss,%d,%r\r\n"the ""tag""",%d,%s\r\n' % (s, v, s, t)
    for s, v, t in series))
for other in ('m.tsv', 'm.jsonl', 'long.csv'):
    got = run('diff', 'm.csv', other)
    ok(got[0] == 0 and 'in 2 names' in got[1], 'metrics: %s is the same as the CSV' % other, got)
moved_by = {3: 1e-4, 6: 1e-3}
open('n.jsonl', 'w').write(''.join(json.dumps({'step': s, 'loss': v + moved_by.get(s, 0),
    'the "tag"': 'z' if s == 5 else t}) + '\n' for s, v, t in series))
got = run('diff', 'm.jsonl', 'n.jsonl', '--json')
rows = {r['name']: r for r in json.loads(got[1])['rows']}
want = measure([v for _, v, _ in series], [v + moved_by.get(s, 0) for s, v, _ in series], 'F64')
ok(not agrees(rows['loss'], want) and rows['loss']['step'] == '6', 'a series has every measure, and its worst step',
    (rows['loss'], agrees(rows['loss'], want)))
ok(rows['the "tag"']['differ'] == 1 and rows['the "tag"']['step'] == '5' and rows['the "tag"']['new'] == 'z'
    and rows['the "tag"']['rel'] is None, 'of a series of texts those that differ', rows)
ok(check('loss: rel <= 1.001e-3', '*: ignore', old='m.jsonl', new='n.jsonl')[0] == 0
    and check('loss: rel <= 0.999e-3', '*: ignore', old='m.jsonl', new='n.jsonl')[0] == 1, 'rules hold of series')
ok(check('*: rel <= 1', old='m.jsonl', new='n.jsonl')[0] == 1, 'a number says nothing of texts')
open('short.jsonl', 'w').write(''.join(open('m.jsonl').readlines()[:-2]))
got = check(old='m.jsonl', new='short.jsonl')
ok(got[0] == 1 and '2 steps are missing and 0 are new, 6 among them' in got[1][0], 'steps that are missing', got[2])
ok(check('*: optional, exact', old='m.jsonl', new='short.jsonl')[0] == 0, 'which a rule may allow')
open('nan.jsonl', 'w').write(''.join('{"step": %d, "loss": %s, "the \\"tag\\"": "%s"}\n'
    % (s, 'NaN' if s == 4 else repr(v), t) for s, v, t in series))
got = check('loss: rel <= 1', old='m.jsonl', new='nan.jsonl')
ok(got[0] == 1 and 'not finite' in got[1][0] and 'at step 4' in got[2] and check(old='nan.jsonl',
    new='nan.jsonl')[0] == 0, "Python's NaN in JSON lines", got[2])
open('twice.csv', 'w').write('step,loss\n1,2\n1,3\n')
refused(3, 'rows 1 and 2 both have loss at step 1', 'one name twice at one step', 'diff', 'twice.csv', 'm.csv')
open('runs.csv', 'w').write('step,seen,loss\n1,10,2\n1,20,3\n')
ok(run('diff', 'runs.csv', 'runs.csv', '--step', 'seen')[0] == 0, '--step names another column')
refused(3, "has no sean, which --step names", 'which has to be there', 'diff', 'runs.csv', 'runs.csv', '--step', 'sean')
refused(2, '--step has no effect', '--step between tensors', 'diff', 'o.safetensors', 'n.safetensors', '--step', 'x')
for name, text, why in (('cells', 'step,loss\n1,2\n2\n', 'row 2 has 1 cells and the header 2'),
    ('much', 'step,loss\n1,2,3\n', 'more cells'), ('names', 'a,a\n1,2\n', 'the name a twice'),
        ('quote', 'a,b\n"1,2\n', 'not closed'), ('empty', '', 'no row in it'), ('json', '{"step": 1\n', 'row 1'),
            ('header', 'step,loss\n', 'no value in it')):
    open('bad-' + name, 'w').write(text)
    refused(3, why, 'metrics: ' + name, 'diff', 'bad-' + name, 'm.csv')

# --- for CI
# -------------------------------------------------------------------------------------------------------------
code, out, err = run('check', 'n.safetensors', '--baseline', 'o.safetensors', '--format', 'junit')
tree = xml.etree.ElementTree.fromstring(out)
ok(code == 1 and tree.get('tests') == '4' and tree.get('failures') == '3'
    and len(tree.findall('testcase/failure')) == 3 and tree.find('testcase').get('name') == 'w', '--format junit', out)
code, out, err = run('check', 'n.safetensors', '--baseline', 'o.safetensors', '--json')
j = json.loads(out)
ok(code == 1 and j['failed'] == 3 and [r['ok'] for r in j['rows']] == [False] * 3 + [True]
    and j['rows'][0]['abs'] == .5 and 'bound' not in j, '--json', out)
code, out, err = run('check', 'n.safetensors', '--baseline', 'o.safetensors', '--format', 'github')
lines = out.splitlines()
ok(code == 1 and len(lines) == 5 and lines[0].startswith('::error title=halfulp check::w, [')
    and '; 3 of 4 names failed' in lines[0] and lines[1].startswith('::error title=w::l2 0.109109, and not <= ')
        and '%0AF32[3]: 1 of 3 values differ' in lines[1]
            and lines[4].startswith('::notice title=halfulp check::3 of 4 names failed'), '--format github', out)
safetensors('u1.safetensors', {'w': f32(1, 2, 3)})
safetensors('u2.safetensors', {'w': f32(1, 2 + 2.0 ** -22, 3)})
code, out, _ = run('check', 'u2.safetensors', '--baseline', 'u1.safetensors', '--rule', '*: exact')
ok(code == 1
    and out.splitlines()[0].startswith('# w, [1]: one value of 3 is one ulp of fp32 off, 2 -> 2.00000024 (rel '
        '7.95e-08): ') and out.splitlines()[0].endswith('; 1 of 1 names failed'),
            'one weight, one ulp off, is named as that in the first line', out)


# ONNX: constants by name, those of Constant nodes too; the second of one name in a graph inside gets a number
def model(path, w, c, inner=(1.0,)):
    g = onnxfile.Graph(onnxfile.graph([onnxfile.node('Constant', '', 'c',
        value=onnxfile.floats('c', [len(inner)], list(inner)))], [], [], [onnxfile.value('c')]))
    onnxfile.write(path, onnxfile.graph([onnxfile.node('Gemm', 'x w', 'y'),
        onnxfile.node('Constant', '', 'c', value=onnxfile.floats('c', [2], c)),
            onnxfile.node('If', 'b', 'z', then_branch=g)],
                                        [onnxfile.floats('w', [2, 2], w), onnxfile.ints('n', [2], [3, 4])],
                                            [onnxfile.value('x'), onnxfile.value('b')], [onnxfile.value('y')]))


model('m1.onnx', [1, 2, 3, 4], [0.5, 0.25])
model('m2.onnx', [1, 2, 3, 4 + 2.0 ** -21], [0.5, 0.25])
model('m3.onnx', [1, 2, 3, 4], [0.5, 0.25], (2.0,))
code, out, err = run('check', 'm1.onnx', '--baseline', 'm1.onnx', '--json')
ok(code == 0 and [(r['name'], r['old_dtype'], r['shape']) for r in sorted(json.loads(out)['rows'],
    key=lambda r: r['name'])] == [('c', 'F32', [2]), ('c#2', 'F32', [1]), ('n', 'I64', [2]), ('w', 'F32', [2, 2])],
        'the constants of an ONNX model', out + err)
code, out, err = run('check', 'm2.onnx', '--baseline', 'm1.onnx', '--rule', '*: exact')
ok(code == 1
    and out.splitlines()[0].startswith('# w, [1,1]: one value of 4 is one ulp of fp32 off, 4 -> 4.00000048 '),
        'one weight of a model', out + err)
code, out, err = run('diff', 'm1.onnx', 'm3.onnx', '--json')
ok(code == 1 and [(r['name'], r['old'], r['new']) for r in json.loads(out)['rows']
    if r['differ']] == [('c#2', 1.0, 2.0)], 'a constant of a graph inside', out + err)
open('bad.onnx', 'wb').write(open('m1.onnx', 'rb').read()[:-9])
refused(3, 'bad.onnx', 'a model that is cut short', 'check', 'bad.onnx', '--baseline', 'm1.onnx')
many = {'a%%b:c,%d' % i: f32(1) for i in range(14)}
safetensors('y1.safetensors', many)
safetensors('y2.safetensors', {k: f32(2) for k in many})
lines = run('check', 'y2.safetensors', '--baseline', 'y1.safetensors', '--format', 'github')[1].splitlines()
ok(len(lines) == 11 and lines[1].startswith('::error title=a%25b%3Ac%2C0::')
    and lines[9] == '::error title=halfulp check::6 more failed, the worst of which are above',
        'ten annotations, and none is cut off by what is in a name', lines)
code, out, err = run('check', 'n.safetensors', '--baseline', 'o.safetensors', '--format', 'gitlab')
j = json.loads(out)
ok(code == 1 and len(j) == 4 and j[0]['severity'] == 'critical' and all(set(x) == {'description', 'check_name',
    'fingerprint', 'severity', 'location'} and x['location'] == {'path': 'n.safetensors', 'lines': {'begin': 1}}
        and x['severity'] in ('major', 'critical') for x in j) and len({x['fingerprint'] for x in j}) == 4
            and j[1]['description'].startswith('w: l2 ') and j[0]['description'].startswith('w, ['),
                '--format gitlab', out)
ok(json.loads(run('check', 'o.safetensors', '--baseline', 'o.safetensors', '--format', 'gitlab')[1]) == [],
    'which is an empty list where nothing failed')
refused(2, '--format', 'a format that is none', 'check', 'n.safetensors', '--baseline', 'o.safetensors', '--format',
    'yaml')
refused(2, "unknown or ambiguous option '--bless'", 'check --bless',
    'check', 'n.safetensors', '--baseline', 'o.safetensors', '--bless')

# Two runs by their checkpoints, traces and metrics
for name, seed in (('r1', '1'), ('r1b', '1'), ('r2', '2')):
    run('train', '--model', 'mlp:width=0.05', '--data', 'size=8,train=48,eval=16', '--batch', '16',
        '--steps', '3', '--trace', 'steps=2', '--quiet', '--seed', seed, name)
ok(check(old='r1', new='r1b')[0] == 0, 'two runs of one seed hold, whatever time they took')
got = check('metrics/loss: rel <= 0.5', 'trace/*: ignore', 'checkpoint/*: ignore', 'metrics/digest: ignore',
    'metrics/*: rel <= 9', old='r1', new='r2')
ok(got[0] == 0 and check(old='r1', new='r2')[0] == 1, 'two runs of two seeds do by rules alone', got[2])
run('analyze', 'r1')
refused(3, 'no halfulp baseline', 'a run against a table that is no baseline', 'check', 'r1', '--baseline', 'm.csv')
run('baseline', 'r1', '-o', 'base.tsv', '--reason', 'x')
refused(3, 'is the baseline of a run', "a file against a run's baseline", 'check', 'm.csv', '--baseline', 'base.tsv')
refused(2, '--rule has no effect', "--rule beside a run's baseline", 'check', 'r1', '--baseline', 'base.tsv',
    '--rule', '*: exact')

# --- memory: what is read does not stay
# ---------------------------------------------------------------------------------
def large(path, last):
    head = json.dumps({'x': {'dtype': 'F32', 'shape': [1 << 25], 'data_offsets': [0, 1 << 27]}}).encode()
    head += b' ' * (-len(head) % 8)
    with open(path, 'wb') as f:
        f.write(struct.pack('<Q', len(head)) + head)
        for i in range(127):
            f.write(struct.pack('<f', 1 + i) * (1 << 18))
        f.write(struct.pack('<f', last) * (1 << 18))


large('l1.safetensors', 1)
large('l2.safetensors', 2)
for two, want in (('l1.safetensors', 0), ('l2.safetensors', 1)):
    pid = os.fork()
    if pid == 0:
        os.dup2(os.open('large.out', os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1)
        os.execv(HALFULP, [HALFULP, 'diff', 'l1.safetensors', two])
    _, status, usage = os.wait4(pid, 0)
    asan = os.environ.get('ASAN_OPTIONS') or b'__asan_init' in open(HALFULP, 'rb').read()
    ok(os.waitstatus_to_exitcode(status) == want and (asan or usage.ru_maxrss < 90000),
        'two files of 128 MiB in %d KB of memory' % usage.ru_maxrss, open('large.out').read())
ok('  262144  ' in open('large.out').read(), 'of which the last 2^18 values differ', open('large.out').read())
finish()
