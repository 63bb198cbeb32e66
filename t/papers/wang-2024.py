#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# H. Wang and others, When precision meets position: BFloat16 breaks down RoPE in long-context training,
# arXiv:2411.13476, 2024: rotary embeddings whose angles are computed in bfloat16 are not those of the positions, the
# less so the farther out these are, while float32 keeps them.
# Reproduced, for heads of 128 features and the base 10000: the root mean square over the 64 pairs of how far the rotated
# unit vector is from the exact one, at positions 128, 2048 and 32768, with position times frequency rounded to the
# format (halfulp calc), beside the same in Python: 0.03, 0.42 and 0.98 in bfloat16, below 0.003 in float32. A quarter of
# an ulp of an angle of 2^k is 2^(k - 10), so that from 2^10 on the fastest angles are off by whole turns.
# Not reproduced: anything about training, nor how scores of equal distance differ at other positions.
import json
import math
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tool'))
from tap import finish, halfulp, ok  # noqa: E402

PAIRS = 64


def bf16(x):
    """To nearest even, by the bits of float32, which hold these angles' leading bits exactly enough: no tie is near."""
    u = struct.unpack('<I', struct.pack('<f', x))[0]
    return struct.unpack('<f', struct.pack('<I', (u + 0x7FFF + (u >> 16 & 1)) & 0xFFFF0000))[0]


def off(got, exact):
    return math.sqrt(sum((math.cos(a) - math.cos(b)) ** 2 + (math.sin(a) - math.sin(b)) ** 2
                         for a, b in zip(got, exact)) / len(exact))  # fmt: skip


def angles(form, at):
    """By calc: position times frequency, both and the product rounded to the format."""
    words = ['%d*%r' % (at, 10000 ** (-i / PAIRS)) for i in range(PAIRS)]
    p = halfulp('calc', '--format', form, '--json', '--', *words)
    if p.returncode:
        ok(False, form, p.stderr)
        finish()
    return [float(r['value']) for r in json.loads(p.stdout)]


for at, want in ((128, 0.031), (2048, 0.420), (32768, 0.982)):
    exact = [at * 10000 ** (-i / PAIRS) for i in range(PAIRS)]
    got = off(angles('bf16', at), exact)
    mine = off([bf16(at * bf16(10000 ** (-i / PAIRS))) for i in range(PAIRS)], exact)
    ok(abs(got - mine) < 1e-6, 'position %d: calc has the angles of Python' % at, '%g %g' % (got, mine))
    ok(abs(got - want) < 0.02 * want, 'position %d: rotations in bfloat16 are off by %.3f' % (at, got))
    ok(off(angles('fp32', at), exact) < 0.003, 'position %d: in float32 they are not' % at)
finish()
