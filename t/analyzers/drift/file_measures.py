# SPDX-License-Identifier: Apache-2.0
# Files of tensors, written by hand, and every measure of two of them computed again with Python's standard library
# alone: decoding by hand, sums by math.fsum, ulps in fractions. Importing it goes to a folder of its own.
import json
import math
import os
import struct
import subprocess
from fractions import Fraction

from tap import HALFULP, home, ok

os.chdir(home())


def run(*args, **env):
    p = subprocess.run([HALFULP] + list(args), capture_output=True, text=True, stdin=subprocess.DEVNULL,
        env=dict(os.environ, OMP_WAIT_POLICY='passive', **env))
    return p.returncode, p.stdout, p.stderr


def refused(code, pattern, what, *args):
    got, out, err = run(*args)
    ok(got == code and (not out or 'nothing was judged: ' in out and out.startswith('1..1\nnot ok 1 - '))
        and err.count('\n') == 1 and pattern in err, '%s: exit %d, one line' % (what, code), (got, out[:200], err))


# Formats, written down again: bits, exponent bits, precision, emin, and what the top codes are
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


def f32(*v):
    return 'F32', [len(v)], [struct.unpack('<I', struct.pack('<f', x))[0] for x in v]


def check(*rules, new='n.safetensors', old='o.safetensors', more=()):
    line = ['check', new, '--baseline', old, *more]
    for r in rules:
        line += ['--rule', r]
    code, out, err = run(*line)
    return code, [l for l in out.splitlines() if l.startswith(('ok', 'not ok'))], out + err
