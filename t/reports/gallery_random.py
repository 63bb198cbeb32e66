# SPDX-License-Identifier: Apache-2.0
# The random numbers of accumulate once more: Philox4x32-10 (Salmon et al. 2011), and what doc/formats.md makes of it.
import math
import struct

MASK = 0xffffffff


def philox(counter, key):
    c, k = list(counter), list(key)
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(b >> 32) ^ c[1] ^ k[0], b & MASK, (a >> 32) ^ c[3] ^ k[1], a & MASK]
        k = [(k[0] + 0x9E3779B9) & MASK, (k[1] + 0xBB67AE85) & MASK]
    return c


def stream(name):
    h = 2166136261
    for byte in name.encode():
        h = ((h ^ byte) * 16777619) & MASK
    return h


# uniform:0,1 of --terms, or of its second factors, whose stream is called times; n numbers
def uniform(seed, n, name='terms'):
    s = stream(name)
    for k in range(n):
        w = philox((k, 0, 0, s), (seed & MASK, seed >> 32))
        yield (((w[1] << 32) | w[0]) >> 11) * 2.0 ** -53


# Doubles rounded to fp16 and bf16, to nearest even. A sum or difference of two such numbers is exact in double.
def fp16(x):
    try:
        return struct.unpack('e', struct.pack('e', x))[0]
    except OverflowError:
        return math.copysign(math.inf, x)


def bf16(x):
    if x == 0:
        return x
    m, e = math.frexp(x)
    return math.ldexp(round(m * 256), e - 8)


def plain(terms, rounded):
    s = 0.0
    for t in terms:
        s = rounded(s + t)
    return s


def chunks(terms, size, rounded):
    return plain([plain(terms[i:i + size], rounded) for i in range(0, len(terms), size)], rounded)


# Neighbours are added, and their sums, and so on; n is a power of two
def pairwise(terms, rounded):
    while len(terms) > 1:
        terms = [rounded(terms[i] + terms[i + 1]) for i in range(0, len(terms), 2)]
    return terms[0]


def kahan(terms, rounded):
    s = c = 0.0
    for t in terms:
        y = rounded(t - c)
        z = rounded(s + y)
        c = rounded(rounded(z - s) - y)
        s = z
    return s
