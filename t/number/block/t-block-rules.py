#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The scales of blocks that are found in fp32 steps (NVFP4 by three orders of operations, four over six, fp8 with fp32
# scales), against the same steps here: each operation in double, rounded once to fp32, which for + - * / of floats is
# the fp32 operation. Elements and scale codes of `halfulp round`, which rounds the values as one array.
import json
import os
import random
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
from tap import HALFULP, finish, none, ok  # noqa: E402

FLT_MAX = 3.4028234663852886e38
E2M1 = [0, 0.5, 1, 1.5, 2, 3, 4, 6]
E4M3 = [m * 2.0**-9 for m in range(8)] + [(8 + m) * 2.0 ** (e - 10) for e in range(1, 16) for m in range(8)][:-1]


def f32(x):
    try:
        return struct.unpack('<f', struct.pack('<f', x))[0]
    except OverflowError:
        return float('inf') if x > 0 else -float('inf')


def masked(x, mask):
    return struct.unpack('<f', struct.pack('<I', struct.unpack('<I', struct.pack('<f', x))[0] & mask))[0]


def nearest(x, values):
    """The nearest of the values to x, ties to the even code, saturating; its code."""
    a = abs(x)
    i = min(range(len(values)), key=lambda k: (abs(values[k] - a), k % 2))
    return -values[i] if x < 0 else values[i], i


def nvfp4(rule, cap):
    """A function of a block and its array's largest magnitude: the elements' values and the scale's code."""

    def one(block, code, g, tensor, whole, errors=None):
        code, number = nearest(code, E4M3)
        if rule == 'divide':
            elements = [nearest(f32(x / f32(code * tensor)), E2M1)[0] for x in block]
            return [f32(v * code * tensor) for v in elements], number
        if rule == 'least':
            by = min(f32(f32(1 / tensor) / code), FLT_MAX) if code else FLT_MAX
        else:
            by = f32(code * f32(1 / g))
            by = min(f32(1 / by), FLT_MAX) if by else FLT_MAX
        elements = [nearest(f32(x * by), E2M1)[0] for x in block]
        if errors:
            errors.append(errors[0]([f32(f32(f32(v * code) * whole) / 1536) for v in elements], block))
        return [f32(v * code * tensor) for v in elements], number

    def quantise(block, whole, error=None):
        most = max(abs(x) for x in block)
        top = 6 * (256.0 if error else 448.0)
        tensor, g = f32(whole / top), min(f32(top / whole), FLT_MAX)
        if rule == 'divide':
            code = min(max(f32(most / f32(6 * tensor)), 2.0**-9), 448.0) if most else 1.0
        elif rule == 'reciprocal' and not error:
            code = min(f32(most * f32(g * f32(1 / 6))), FLT_MAX)
        elif rule in ('quotient', 'reciprocal'):
            code = min(f32(f32(most / 6) * g), FLT_MAX)
        else:
            code = min(max(f32(f32(most / 6) / tensor), 2.0**-6), 448.0)
        if not error:
            return one(block, code, g, tensor, whole)
        errors = [error]
        six, four = (one(block, factor * code, g, tensor, whole, errors) for factor in (1, 1.5))
        return four if errors[2] < errors[1] else six

    return lambda block, whole: quantise(block, whole, cap)


def summed(term):
    def error(values, block):
        total = 0.0
        for v, x in zip(values, block):
            total = term(total, abs(f32(v - x)))
        return total

    return error


mse = summed(lambda t, d: f32(t + f32(d * d)))
mae = summed(lambda t, d: f32(t + d))
largest = summed(max)


def fp8(rule, least):
    def quantise(block, whole):
        most = max(max(abs(x) for x in block), least)
        if rule == 'share':
            scale = f32(most / 448)
            by = f32(1 / scale)
        else:
            by = f32(448 / most)
            if rule == 'inverse-pow2':
                by = masked(by, 0xFF800000)
            scale = f32(1 / by)
        values = [f32(nearest(f32(x * by), E4M3)[0] * scale) for x in block]
        return values, struct.unpack('<I', struct.pack('<f', scale))[0]

    return quantise


random.seed(41)


def arrays():
    """Arrays of 512: normal fp32, normal in bf16, and blocks of very different sizes with ties."""
    yield 'fp32', [f32(random.gauss(0, 1)) for _ in range(512)]
    yield 'bf16', [masked(random.gauss(0, 3), 0xFFFF0000) for _ in range(512)]
    spread = [random.choice(E2M1) * random.choice([1, -1, 1.25]) * 2.0 ** (i // 16 - 22) for i in range(512)]
    yield 'spread', [f32(x) for x in spread]


FORMATS = [
    ('nvfp4:te', 16, nvfp4('reciprocal', None)),
    ('nvfp4:quotient', 16, nvfp4('quotient', None)),
    ('nvfp4:te:46=mae', 16, nvfp4('reciprocal', mae)),
    ('nvfp4:torchao', 16, nvfp4('least', None)),
    ('nvfp4:modelopt', 16, nvfp4('divide', None)),
    ('nvfp4:fouroversix', 16, nvfp4('quotient', mse)),
    ('nvfp4:quotient:46=mae', 16, nvfp4('quotient', mae)),
    ('nvfp4:quotient:46=max', 16, nvfp4('quotient', largest)),
    ('fp8block:deepgemm', 128, fp8('share', f32(1e-4))),
    ('fp8block:inverse', 128, fp8('inverse', 0)),
    ('fp8block:te', 128, fp8('inverse-pow2', 0)),
]
for kind, values in arrays():
    words = '\n'.join(float(v).hex() for v in values)
    names = ','.join(name for name, _, _ in FORMATS)
    line = [HALFULP, 'round', '--format', names, '--json', '-']
    run = subprocess.run(line, input=words, capture_output=True, text=True)
    rows = json.loads(run.stdout) if run.returncode == 0 else []
    ok(len(rows) == len(values) * len(FORMATS), '%s: a row for each value and format' % kind, run.stderr)
    whole = max(abs(v) for v in values)
    for k, (name, size, quantise) in enumerate(FORMATS):
        got, wrong = rows[k * len(values) : (k + 1) * len(values)], []
        for at in range(0, len(values), size):
            block = values[at : at + size]
            if not any(block) and name.startswith('fp8'):
                continue
            want, code = quantise(block, whole)
            for x, row, w in zip(block, got[at : at + size], want):
                if float(row['value']) != w or int(row['scale_bits'], 16) != code:
                    wrong.append('%r: %s, %s; wanted %r, 0x%x' % (x, row['value'], row['scale_bits'], w, code))
        none(wrong, '%s, %s: every element and every scale are those of the steps' % (name, kind))

# One value that is not finite: its block by `once`, the whole array by whose scale is not finite then.
for bad in 'inf', 'nan':
    words = '\n'.join(['1.5'] * 20 + [bad] + ['1.5'] * 43)
    names = ['nvfp4', 'nvfp4:te', 'nvfp4:torchao', 'nvfp4:fouroversix', 'nvfp4:modelopt']
    run = subprocess.run([HALFULP, 'round', '--format', ','.join(names), '--json', '-'],
                         input=words, capture_output=True, text=True)  # fmt: skip
    values = [row['value'] for row in json.loads(run.stdout)]
    lost = [values[64 * k : 64 * k + 64].count('nan') for k in range(len(names))]
    ok(lost == [16, 64, 64, 64, 64], 'of 64 values with one %s, NaN are %s' % (bad, lost))
finish()
