# SPDX-License-Identifier: Apache-2.0
# Quantised products computed again from weights and inputs: ranges, scales, codes, exact sums of integers and their
# return to float32; what remains of weights in a few bits; float codes with one scale a tensor.
import math
import struct


def f(x):
    return struct.unpack('<f', struct.pack('<f', x))[0]


def rint(x):
    return float(round(x))  # Python takes ties to even


def clip(x, low, high):
    return min(max(x, low), high)


def bits(values):
    return struct.pack('<%df' % len(values), *values)


# Ranges and their methods

BINS = 2048


def histogram(values):
    amax = max(abs(v) for v in values)
    signed = [0] * (2 * BINS)
    for v in values:
        signed[min(max(math.floor((v / amax + 1) * BINS), 0), 2 * BINS - 1)] += 1
    return amax, signed, [signed[BINS + i] + signed[BINS - 1 - i] for i in range(BINS)]


def cut(values, method):
    amax, signed, counts = histogram(values)
    if method.startswith('percentile'):
        share, seen = float(method[10:] or 99.999), 0
        for i, c in enumerate(counts):
            seen += c
            if seen * 100 >= share * sum(counts):
                return amax * (i + 1) / BINS
    if method == 'mse':
        best = None
        for k in range(100, 19, -1):
            s, z = affine(values, amax * k / 100)
            e = 0.0
            for i, c in enumerate(signed):
                if c:
                    x = amax * (i + 0.5 - BINS) / BINS
                    e += c * (x - (clip(rint(x / s) + z, 0, 255) - z) * s) ** 2
            if best is None or e < best[0]:
                best = (e, amax * k / 100)
        return best[1]
    if method == 'entropy':
        # The divergence from sums over the 128 levels, each of which has one mean
        best, below, filled, logs = None, [0], [0], [0.0]
        for c in counts:
            below.append(below[-1] + c)
            filled.append(filled[-1] + (c > 0))
            logs.append(logs[-1] + (c * math.log(c) if c else 0))
        P = below[-1]
        for n in range(BINS, 127, -1):
            beyond, last = P - below[n], counts[n - 1]
            own = (
                logs[n]
                - (last * math.log(last) if last else 0)
                + ((last + beyond) * math.log(last + beyond) if last + beyond else 0)
            )
            kl, Q, each = own / P - math.log(P), below[n], n // 128
            for level in range(128):
                i, j = level * each, n if level == 127 else (level + 1) * each
                full = filled[j] - filled[i] + (j == n and not last and beyond > 0)
                p = below[j] - below[i] + (beyond if j == n else 0)
                if full:
                    mean = (below[j] - below[i]) / full
                    kl -= p / P * math.log(mean / Q if mean > 0 else 1e-4)
            if best is None or kl < best[0]:
                best = (kl, amax * n / BINS)
        return best[1]
    return amax


def affine(values, top):
    low, high = max(min(0, min(values)), -top), min(max(0, max(values)), top)
    s = f((high - low) / 255) or 1.0
    return s, int(clip(rint(-low / s), 0, 255))


def symmetric(top):
    return f(top / 127) or 1.0, 0


# Products of codes. Weights are lists of columns.


def weight_codes(columns, tensor):
    whole = max(abs(w) for c in columns for w in c)
    scales = [f((whole if tensor else max(abs(w) for w in c)) / 127) for c in columns]
    return [[clip(rint(f(w / s)), -127, 127) for w in c] for c, s in zip(columns, scales)], scales


def pairs16(q, c, zero):
    terms = [(a + zero) * b for a, b in zip(q, c)]
    return sum(clip(sum(terms[k : k + 2]), -32768, 32767) for k in range(0, len(terms), 2)) - zero * sum(c)


def product(rows, columns, scale, zero, sym=False, tensor=False, pairs=False):
    codes, scales = weight_codes(columns, tensor)
    low, high = (-128, 127) if sym else (0, 255)
    y = []
    for row in rows:
        q = [clip(rint(f(x / scale)) + zero, low, high) - zero for x in row]
        for c, s in zip(codes, scales):
            y.append(f(f(pairs16(q, c, zero) if pairs else sum(a * b for a, b in zip(q, c))) * f(scale * s)))
    return y


def dynamic(values):
    low, high = min(0, min(values)), max(0, max(values))
    s = f(f(high - low) / 255.0) or 1.0
    return s, int(clip(rint(f(-low / s)), 0, 255))


# Weights alone: what remains of them, then sums in doubles


def values_of(exponent_bits, mantissa, bias, top):
    v = {0.0}
    for e in range(1 << exponent_bits):
        for m in range(1 << mantissa):
            x = m * 2.0 ** (1 - bias - mantissa) if not e else (1 + m / 2**mantissa) * 2.0 ** (e - bias)
            if x <= top:
                v.add(x)
    return sorted(v)


E4M3, E5M2, E2M1 = values_of(4, 3, 7, 448), values_of(5, 2, 15, 57344), values_of(2, 1, 1, 6)


def nearest(x, table):
    a = min(abs(x), table[-1])
    d = min(abs(a - v) for v in table)
    at = [i for i, v in enumerate(table) if abs(a - v) == d]
    return math.copysign(table[at[0] if len(at) == 1 or at[0] % 2 == 0 else at[1]], x)


def remains(column, p, everything):
    sizes = {'nvfp4': 16, 'mxfp4': 32, 'mxfp4:rceil': 32, 'fp8blockx8:share': 8}
    out, size = [], sizes.get(p) or int(next((w[1:] for w in p.split(':') if w[0] == 'g'), 128))
    if p == 'int8:weights':
        s = f(max(map(abs, column)) / 127)
        return [f(rint(f(w / s)) * s) for w in column]
    if p == 'e4m3:weights':
        s = f(max(map(abs, everything)) / 448)
        return [f(nearest(f(w / s), E4M3) * s) for w in column]
    for k in range(0, len(column), size):
        g = column[k : k + size]
        if p == 'mxfp4':
            s = 2.0 ** (math.floor(math.log2(max(map(abs, g)))) - 2)
            out += [nearest(w / s, E2M1) * s for w in g]
        elif p == 'mxfp4:rceil':
            s = 2.0 ** math.ceil(math.log2(f(max(map(abs, g)) * f(1 / 6))))
            out += [nearest(w / s, E2M1) * s for w in g]
        elif p == 'fp8blockx8:share':
            s = f(max(map(abs, g)) / 448)
            out += [f(nearest(f(w * f(1 / s)), E4M3) * s) for w in g]
        elif p == 'nvfp4':
            whole = f(max(map(abs, everything)) / 2688)
            s = nearest(max(map(abs, g)) / (6 * whole), E4M3) * whole
            out += [nearest(w / s, E2M1) * s for w in g]
        else:
            low, high = min(g + [0.0]), max(g + [0.0])
            if 'asym' in p:
                s = f(f(high - low) / 15)
                z = rint(f(-low / s))
            else:
                s, z = f((high if high > -low else low) / -8), 8
            inverse = f(1 / s)
            out += [f((clip(math.floor(f(f(w * inverse) + z) + 0.5), 0, 15) - z) * s) for w in g]
    return out


def plain(rows, columns):
    return [math.fsum(a * b for a, b in zip(r, c)) for r in rows for c in columns]


# fp8 by one scale a tensor: float codes, sums in float32


def scaled(rows, columns, seen, table, channel):
    s = f(max(map(abs, seen)) / table[-1])
    all_ = max(abs(w) for c in columns for w in c)
    y = []
    sw = [f((max(map(abs, c)) if channel else all_) / table[-1]) for c in columns]
    q = [[nearest(f(w / t), table) for w in c] for c, t in zip(columns, sw)]
    for row in rows:
        a = [nearest(f(v / s), table) for v in row]
        y += [math.fsum(u * v for u, v in zip(a, c)) * f(s * t) for c, t in zip(q, sw)]
    return y
