# SPDX-License-Identifier: Apache-2.0
# Figures of sums and their orders, and of subnormals, computed again.
import math
import struct
from fractions import Fraction as F

import gallery_random as draws
from gallery.rounding import SHAPE, exponent, grouped, power, rnd, single


def harmonic_stops(g):
    end = {r['format']: r for r in g.table() if r['n'] == '4194304'}
    for f in ('e4m3', 'bf16', 'fp16'):
        s, last = F(0), 0
        for k in range(1, 2000):
            t = rnd(s + rnd(F(1, k), f), f)
            s, last = t, k if t != s else last
        yield (float(s) == float(end[f]['value']) and last == int(end[f]['stagnation_term'])
                and g.says('%d in' % last), '%s: %g from term %d on' % (f, s, last))
    s, last = 0.0, 0
    for k in range(1, 2 ** 21 + 1000):
        t = single(s + single(1 / k))
        s, last = t, k if t != s else last
    yield (s == float(end['fp32']['value']) and last == int(end['fp32']['stagnation_term'])
            and g.says(grouped(last)), 'fp32: %g from term %d on' % (s, last))
    yield g.says('%.4g in fp32' % s) and g.says('5.062 in bf16, 7.086 in fp16'), 'the title'


def error_growth(g):
    last = [r for r in g.table() if r['n'] == '65536']
    worst, u = max(float(r['backward']) for r in last), 2.0 ** -11
    yield (len(last) == 5 and g.says('is %s times' % grouped(int(65536 * u / worst))),
            'the largest error of terms of both signs: %g' % worst)
    yield (all(float(r['backward']) <= min(float(r['bound']), math.sqrt(int(r['n'])) * u) for r in g.table()),
            'which stays below √n·u')
    terms = [rnd16(x) for x in draws.uniform(1, 65536)]
    s, wrong = 0.0, 0
    rows = {int(r['n']): r for r in g.table('uniform')}
    exact = F(0)
    for k, t in enumerate(terms, 1):
        s = rnd16(s + t)
        exact += F(t)
        if k in rows:
            off = abs(float(rows[k]['backward']) - float(abs(F(s) - exact) / exact))
            wrong += s != float(rows[k]['value']) or off > 1e-5
    yield wrong == 0 and len(rows) == 17, 'all 17 sums of uniform terms and their errors'
    error = float(abs(F(s) - exact) / exact)
    yield (g.says('stagnates at %d' % s) and g.says('is %.0f %%, %.1f times' % (100 * error, error / (256 * u))),
            'the end: %g' % s)


def rnd16(x):
    return draws.fp16(x)


def chunk_size(g):
    terms = {seed: [rnd16(x) for x in draws.uniform(seed, 65536)] for seed in (1, 2)}
    wrong = 0
    for seed, x in terms.items():
        exact = sum(F(t) for t in x)
        for r in g.table():
            if int(r['seed']) == seed:
                s = draws.chunks(x, int(r['length']), rnd16)
                off, told = float(abs(F(s) - exact) / exact), float(r['relative'])
                wrong += abs(off - told) > 1e-5 * told + 1e-12
    yield wrong == 0, 'the errors of all chunk sizes for two seeds'
    mean = {}
    for r in g.table():
        mean.setdefault(int(r['length']), []).append(float(r['relative']))
    mean = {k: sum(v) / len(v) for k, v in mean.items()}
    best = min(mean, key=mean.get)
    rows = [(int(r['seed']), float(r['relative']), int(r['length'])) for r in g.table()]
    each = [min((e, n) for seed, e, n in rows if seed == k)[1] for k in range(1, 6)]
    yield (g.says('Chunks of %d to %d terms lose least, by seed' % (min(each), max(each))),
            'the best size of each seed: %s' % each)
    worst = max(mean.values())
    ends = mean[1], mean[65536]
    yield worst in ends and min(ends) > sorted(mean.values())[-3], 'the ends lose most: %s' % mean
    yield (sorted(mean) == [2 ** k for k in range(17)] and g.says('on average it is %d, which' % best)
            and g.says('(%.4g), with' % mean[1]) and g.says('(%.4g).' % mean[65536]), 'the best is %d' % best)
    yield mean[1] > 100 * mean[best] and mean[65536] > 100 * mean[best], 'both ends lose more than 100 times as much'


def kahan_pairwise(g):
    terms = [draws.bf16(x) for x in draws.uniform(1, 65536)]
    made, wrong = {}, 0
    for r in g.table():
        how, n = r['sum'].split(',')[0], int(r['n'])
        s = {'fma': draws.plain, 'pairwise': draws.pairwise, 'kahan': draws.kahan}[how](terms[:n], draws.bf16)
        exact = sum(F(t) for t in terms[:n])
        made[how] = float(abs(F(s) - exact) / exact)
        wrong += abs(made[how] - float(r['relative'])) > 1e-5 * made[how] + 1e-12
    yield wrong == 0 and len(g.table()) == 51, 'all 51 errors'
    each = tuple(100 * made[k] for k in ('fma', 'pairwise', 'kahan'))
    yield (g.says('off by %.1f %%, the pairwise sum by %.2g %% and the compensated one by %.2g %%' % each),
            'the ends: %s' % made)
    yield g.says('at most 0.39 %'), 'half an ulp of bf16, 2^-8'
    most = {how: 100 * max(float(r['relative']) for r in g.table() if r['sum'].startswith(how))
            for how in ('pairwise', 'kahan')}
    worst = 100 * made['fma'], most['pairwise'], most['kahan']
    yield (g.says("Plain summation loses %.0f %%, pairwise up to %.2g %%, Kahan's up to %.2g %%" % worst),
            'the most over all n: %s' % most)


def ring_against_tree(g):
    rounding = {'bf16': draws.bf16, 'fp32': lambda x: struct.unpack('<f', struct.pack('<f', x))[0]}
    drawn = list(draws.uniform(1, 16384))
    rounded = {f: [rounding[f](x) for x in drawn] for f in rounding}
    made, wrong, above = {}, 0, 0
    for r in g.table():
        how, f, n = r['sum'].split(':')[0], r['format'], int(r['n'])
        terms = rounded[f][:n]
        s = {'ring': draws.plain, 'tree': draws.pairwise}[how](terms, rounding[f])
        exact = sum(F(t) for t in terms)
        error = abs(F(s) - exact) / exact
        u = F(2) ** -SHAPE[f][0]
        hops = n - 1 if how == 'ring' else n.bit_length() - 1
        above += hops * u < 1 and error > hops * u / (1 - hops * u)     # Higham 2002, (4.4) and (4.6)
        wrong += float(s) != float(r['value']) or abs(float(error) - float(r['relative'])) > 1e-5 * error + 1e-12
        made[f, how] = s, float(error)
    yield wrong == 0 and len(g.table()) == 60, 'all 60 sums and their errors'
    yield above == 0, 'none above the bound of its N − 1 or log₂N roundings'
    s, last = 0.0, 0
    for k, t in enumerate(rounded['bf16'], 1):
        last, s = (last if draws.bf16(s + t) == s else k), draws.bf16(s + t)
    yield (g.says('stops at %d ranks' % last) and g.says('at %d since rank %d' % (s, last)),
            'the ring stops at %d' % last)
    ends = tuple(100 * made['bf16', how][1] for how in ('ring', 'tree'))
    yield (g.says('off by %.1f %%' % ends[0]) and g.says('tree by %.2g %%' % ends[1]),
            'the ends in bf16: %s %%' % str(ends))
    times = made['fp32', 'ring'][1] / made['fp32', 'tree'][1]
    yield g.says('is %.0f times' % times), 'the ratio in fp32: %.1f' % times


def cancellation(g):
    worst = {}
    for part in ('', 'product'):
        wrong = 0
        for r in g.table(part):
            d = F(float(r['at']))
            x = rnd(d, 'fp32')
            value = rnd(rnd(rnd(1 + x, 'fp32') ** 2, 'fp32') - 1, 'fp32') if not part else rnd(x * rnd(2 + x,
                    'fp32'), 'fp32')
            wrong += value != F(float(r['value']))
            square = rnd(rnd(1 + x, 'fp32') ** 2, 'fp32')
            wrong += rnd(square - 1, 'fp32') != square - 1     # the subtraction is exact
            error = abs(value - d * (2 + d)) / (d * (2 + d))
            if part or d < F(2.0 ** -21.8):
                worst[part] = max(worst.get(part, 0), error)
        yield wrong == 0 and len(g.table(part)) == 177, 'all 177 values ' + part
    yield (g.says('relative error is %.4g,' % worst['']) and g.says('against %.2g at most' % worst['product']),
            'the errors: %g, %g' % (worst[''], worst['product']))


def fma_keeps(g):
    zero, exact = [], []
    for part in ('two', ''):
        for r in g.table(part):
            d = F(float(r['at']))
            a, b = rnd(1 + d, 'fp16'), rnd(1 - d, 'fp16')
            value = rnd(rnd(a * b, 'fp16') - 1, 'fp16') if part else rnd(a * b - 1, 'fp16')
            yield value == F(float(r['value'])), '%s at d = %s' % (part or 'fma', d)
            (zero if part and value == 0 else exact if not part and value == -d * d else []).append(d)
    yield g.says('d ≤ ' + power(exponent(max(zero)))) and g.says('down to ' + power(exponent(min(exact)))), 'the ends'


def flushed_subnormals(g):
    for part in ('', 'ftz'):
        wrong, least = 0, []
        for r in g.table(part):
            v = rnd(F(float(r['at'])), 'fp16')
            v = 0 if part and v < F(2) ** -14 else v
            wrong += v != F(float(r['value']))
            least += [v] if v else []
        yield (wrong == 0 and len(g.table(part)) == 257 and g.says(power(exponent(min(least)))),
                '%s: all values, down to %g' % (part or 'gradual', min(least)))
    yield g.says('take 10 powers'), 'the difference'


def stochastic_fan(g):
    def off(r):
        return 100 * (float(r['value']) / float(r['exact']) - 1)
    end = [off(r) for r in g.table() if r['n'] == '10000']
    mean = sum(end) / len(end)
    spread = math.sqrt(sum((x - mean) ** 2 for x in end) / (len(end) - 1))
    term = draws.bf16(0.01)
    s = draws.plain([term] * 10000, draws.bf16)
    yield (float(g.table('nearest')[-1]['value']) == s and g.says('stagnates at %g' % s)
            and g.says('%.0f %% low' % (100 - 100 * s / (10000 * term))), 'nearest: %g' % s)
    yield (len(end) == 16 and g.says('by %.1f %% (' % spread) and g.says(('off by %.2g %%' % mean).replace('-', '−')),
            'stochastic: %g +- %g' % (mean, spread))
    ends = [off(r) for r in g.table('nearest')]
    yield 'ends %.0f %% low' % -ends[-1] in g.title and max(end) > 0 > min(end), 'the title'
    yield abs(mean) < 4 * spread / 4, 'whose mean is not told from the exact sum'
    # A step of a sum in [2^e, 2^(e+1)) moves by an ulp u = 2^(e-7) with probability d/u: the variance of the whole is
    # below sum d u
    variance = sum(float(term) * 2.0 ** (math.floor(math.log2(max(k * term, 2 ** -6))) - 7) for k in range(1, 10001))
    yield (0.4 < spread / (100 * math.sqrt(variance) / (10000 * term)) < 1.6,
            'and spreads as the variance of its steps says')
