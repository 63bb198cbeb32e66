# SPDX-License-Identifier: Apache-2.0
# Figures of layers and of blocks with a scale, computed again.
import math
from fractions import Fraction as F

from gallery.rounding import rnd


def layernorm_variance(g):
    counts, first, over = {}, {}, []
    for f in ('fp32', 'fp16'):
        wrong = negative = 0
        for r in [r for r in g.table() if r['format'] == f]:
            if 3 * F(float(r['at'])) ** 2 + 2 >= 65520 and f == 'fp16':    # beyond fp16, whose last number is 65504
                over.append((float(r['at']), r['value']))
                continue
            m = rnd(F(float(r['at'])), f)

            def add(terms):
                s = F(0)
                for t in terms:
                    s = rnd(s + t, f)
                return s
            x = [rnd(m - 1, f), m, rnd(m + 1, f)]
            mean = rnd(add(x) / 3, f)
            v = rnd(rnd(add([rnd(t * t, f) for t in x]) / 3, f) - rnd(mean * mean, f), f)
            wrong += v != F(float(r['value']))
            negative += v < 0
            if abs(float(v) - 2 / 3) > 1 / 3:
                first.setdefault(f, float(r['at']))
        counts[f] = negative
        yield wrong == 0, 'all variances in ' + f
    yield g.says('at m = %.3g,' % first['fp16']) and g.says('at m = %d;' % first['fp32']), 'first wrong at %s' % first
    yield (g.says('at %d of 257 means' % counts['fp16']) and g.says('at %d in fp32' % counts['fp32'])
            and min(counts.values()) > 0, 'negative: %s' % counts)
    yield (not any(math.isfinite(float(v)) for _, v in over) and g.says('overflows from m = %d on' % min(over)[0]),
            'the overflow: %s' % (min(over),))
    two = [float(r['value']) for r in g.table('two')]
    yield (max(abs(v - 2 / 3) for v in two) < 1e-3 and g.says('between %.4f and %.4f' % (min(two), max(two))),
            'two passes stay at 2/3')


def softmax_overflow(g):
    top = 65520                                   # what rounds to infinity in fp16
    first = min(k / 16 for k in range(257) if math.exp(k / 16) >= top)
    nan = [float(r['at']) for r in g.table() if r['format'] == 'fp16' and r['value'] == 'nan']
    yield (min(nan) == first and len(nan) == sum(1 for k in range(257) if k / 16 >= first)
            and g.says('x = %.4g' % first), 'NaN from %g on' % first)
    yield (not [r for r in g.table() if r['format'] == 'bf16' and r['value'] in ('nan', 'inf')],
            'bf16 has a value everywhere')
    off = max(abs(float(r['value']) - 1 / (1 + math.exp(-float(r['at'])))) for r in g.table('shifted'))
    yield (len(g.table('shifted')) == 257 and off < 2 ** -10 and g.says('within %.2g' % off),
            'the shifted one is within %g' % off)


def block_zeros(g):
    # The element's smallest number that is not rounded to zero, by each format's rule for the scale, from the largest
    # value 1 (OCP MX; NVFP4)
    expect = {}
    for f, emax, half in (('mxfp4', 2, F(1, 4)), ('mxfp8', 8, F(1, 2 ** 10))):
        scale = F(2) ** (0 - emax)                # 2^floor(log2 amax) / 2^emax of the element
        expect[f] = [2.0 ** (-k / 2) > half * scale for k in range(32)]
    expect['int8'] = [2.0 ** (-k / 2) * 127 > 0.5 for k in range(32)]
    for f, kept in expect.items():
        rows = [r for r in g.table() if r['format'] == f]
        yield ([float(r['value']) != 0 for r in rows] == kept and g.says(f + ' ' + str(sum(kept)))
                or g.says('keeps %d of 32' % sum(kept)), '%s keeps %d' % (f, sum(kept)))
    nv = [r for r in g.table() if r['format'] == 'nvfp4']
    kept = sum(float(r['value']) != 0 for r in nv)
    yield len(nv) == 32 and g.says('of 16, %d,' % kept), 'nvfp4 keeps %d' % kept
    for b in (nv[:16], nv[16:]):
        least = min(float(r['value']) for r in b if float(r['value']))
        yield (all((float(r['exact']) > least / 2) == (float(r['value']) != 0) for r in b),
                'of each block what is above half the smallest element, %g' % least)


def stochastic_headroom(g):
    # MXFP4 by the floor's scale: the grid of e2m1, and a power of two that makes a block's largest 4 to 8 of it
    grid = [0, 0.5, 1, 1.5, 2, 3, 4, 6]
    near = g.table('nearest')
    x = [float(r['exact']) for r in near]
    scale = [2.0 ** (math.floor(math.log2(max(abs(v) for v in x[i // 32 * 32:][:32]))) - 2) for i in range(64)]
    all_ = sum(v * v for v in x)

    def around(v):
        below = max(i for i in range(8) if grid[i] <= min(abs(v), 6))
        return grid[below], grid[min(below + 1, 7)]

    def off(of):
        return sum((a - b) ** 2 for a, b in zip(of, x)) / all_
    nearest = [math.copysign(min(around(v / s), key=lambda q: (abs(q - abs(v / s)), grid.index(q) % 2)), v) * s
               for v, s in zip(x, scale)]
    yield ([float(r['value']) for r in near] == nearest and g.says('each time: %.2g' % off(nearest)),
           'casts to nearest are %.2g off' % off(nearest))
    cut = sum(abs(v) > 6 * s for v, s in zip(x, scale))
    yield g.says('The %d values above 6 times' % cut), '%d values are cut' % cut
    rows = g.table()
    ends = []
    for name, times in (('mxfp4:floor', 1), ('mxfp4:floor:times=3/4', 0.75)):
        casts = [[float(r['value']) for r in rows if r['format'] == name and r['seed'] == str(k)] for k in range(1, 65)]
        to = [[q * s / times for q in around(v * times / s)] for v, s in zip(x, scale)]
        yield (all(len(c) == 64 and all(min(abs(abs(q) - n) for n in t) < 1e-6 * max(t[1], s)
                                        for q, t, s in zip(c, to, scale)) for c in casts),
               'each cast is a neighbour of its value')
        mean = [[sum(c[i] for c in casts[:n]) / n for i in range(64)] for n in (1, 64)]
        # What is cut stays; the rest of a value between two neighbours has the variance (v - low)(high - v) a cast.
        inside = [min(abs(v), 6 * s / times) for v, s in zip(x, scale)]
        stays = sum((abs(v) - w) ** 2 for v, w in zip(x, inside)) / all_
        noise = sum((w - low) * (high - w) for w, (low, high) in zip(inside, to)) / all_ / 64
        ends.append((off(mean[1]), stays))
        yield (stays + 0.4 * noise < off(mean[1]) < stays + 2 * noise,
               '%s: after 64 casts %.2g, of which %.2g are cut and %.2g drawn' % (name, off(mean[1]), stays, noise))
    yield (g.says('stays %.2g off' % ends[0][0]) and ends[0][1] > 0.9 * ends[0][0],
           'without headroom %.2g is left, nine tenths of it cut' % ends[0][0])
    yield (g.says('as 1/n, to %.2g at' % ends[1][0]) and ends[1][1] == 0 and ends[1][0] < ends[0][0] / 10,
           'with headroom, where nothing is cut, %.2g' % ends[1][0])
