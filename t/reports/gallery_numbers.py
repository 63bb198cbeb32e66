# SPDX-License-Identifier: Apache-2.0
# What the figures of the gallery mean, computed again without halfulp: a function a figure. It gets the figure (its
# tables, title and caption) and yields (holds, what). Rounding is that of Fractions, to nearest even.
import math
import struct
from fractions import Fraction as F

import gallery_random as draws

SHAPE = {'fp64': (53, -1022), 'fp32': (24, -126), 'tf32': (11, -126), 'fp16': (11, -14), 'bf16': (8, -126),
        'e4m3': (4, -6), 'e5m2': (3, -14)}
RAISED = str.maketrans('0123456789-', '⁰¹²³⁴⁵⁶⁷⁸⁹⁻')


def exponent(x):
    n, d = abs(x.numerator), x.denominator
    e = n.bit_length() - d.bit_length()
    return e if F(n, d) >= F(2) ** e else e - 1


def ulp(x, f):
    p, emin = SHAPE[f]
    return F(2) ** (max(exponent(x), emin) - p + 1) if x else F(2) ** (emin - p + 1)


def rnd(x, f):
    x = F(x)
    return round(x / ulp(x, f)) * ulp(x, f) if x else F(0)      # Python's round is to even


def root(x, f):
    if not x:
        return F(0)
    scale = 2 ** 200
    return rnd(F(math.isqrt(int(x * scale * scale)) * 2 + 1, 2 * scale),
            f)     # half a unit on: no tie is made, none is met


def power(k):
    return '2' + str(k).translate(RAISED)


def grouped(n):
    return '{:,}'.format(n).replace(',', '\u202f') if n >= 10000 else str(n)


def single(x):
    return struct.unpack('f', struct.pack('f', x))[0]


def swamped_addend(g):
    for row in g.table():
        d = rnd(F('0.0001'), row['format'])
        yield F(float(row['value'])) == rnd(1 + d, row['format']), 'the sum in ' + row['format']
        yield ('swamped' in row['flags']) == (row['format'] in ('fp16', 'bf16')), 'and whether it is swamped'
    yield g.says('begins %d places' % -exponent(F('0.0001'))), 'the place of the leading bit'
    yield (g.says('fp32 keeps 23') and g.says('fp16 keeps 10') and g.says('bf16 7') and g.says('1.000100017'),
            'places and value')
    yield g.says('off by 1.66·10⁻⁸'), 'the error'


def weight_updates(g):
    x, d = 1.0, single(0.0001)
    for _ in range(20000):
        x = single(x + d)
    end = {r['format']: float(r['value']) for r in g.table() if r['n'] == '20000'}
    yield end == {'fp32': x, 'bf16': 1, 'fp16': 1}, 'the ends of fp32, bf16 and fp16: %s' % end
    step = rnd(F('0.0001'), 'bf16')
    yield (2 * step < ulp(F(1), 'bf16') and 2 * rnd(F('0.0001'), 'fp16') < ulp(F(1), 'fp16'),
            'the update is less than half an ulp of 1')
    walks = [float(r['value']) for r in g.table('walks') if r['n'] == '20000']
    exact = float(1 + 20000 * step)
    # each of n updates in [1, 4) moves by an ulp u of at most 2^-6 with probability d / u: a variance below n d u
    deviation = math.sqrt(20000 * float(step) * 2 ** -6)
    yield (len(walks) == 8 and abs(sum(walks) / 8 - exact) < 4 * deviation / math.sqrt(8),
            'the walks are unbiased: %s' % walks)
    yield (all(F(w) == rnd(F(w), 'bf16') for w in walks) and len(set(walks)) > 4,
            'and end at numbers of bf16, not all the same')
    yield (g.says('at 1;') and g.says('between %.3g and %.3g, %.3f' % (min(walks), max(walks), sum(walks) / 8))
            and g.says('%.4f' % exact) and g.says('%.4f' % x), 'the caption')


def swamping_staircase(g):
    lost, wrong = {}, 0
    for r in g.table():
        d = F(float(r['at']))
        kept = rnd(rnd(1 + rnd(d, r['format']), r['format']) - 1, r['format'])
        wrong += kept != F(float(r['value']))
        if not kept:
            lost[r['format']] = max(lost.get(r['format'], 0), d)
    yield wrong == 0 and len(g.table()) == 4 * 417, 'all %d values' % len(g.table())
    yield (all(lost[f] >= F('0.0001') for f in ('e4m3', 'bf16', 'fp16')) and lost['fp32'] < F('0.0001'),
            '0.0001 is lost in all but fp32')
    yield (all(g.says(power(exponent(lost[f])) + ' in ' + f) and exponent(lost[f]) == -SHAPE[f][0] for f in ('fp16',
            'fp32')) and g.says(power(-8) + ' in bf16'), 'the thresholds, half an ulp')


def adam_epsilon(g):
    def steps(rows, eps, f):
        found, wrong = [], 0
        for r in rows:
            if r['format'] != f:
                continue
            x = rnd(F(float(r['at'])), f)
            step = rnd(x / rnd(root(rnd(x * x, f), f) + rnd(F(eps), f), f), f)
            found.append(step)
            wrong += step != F(float(r['value']))
        return found, wrong
    for table, eps, f, said in (('usual', '1e-7', 'fp16', '%.0f times'), ('', '1e-4', 'fp16', 'exceeds %.2f'),
            ('usual', '1e-7', 'bf16', 'at most %.3g')):
        found, wrong = steps(g.table(table), eps, f)
        yield (wrong == 0 and len(found) == 217 and g.says(said % max(found)),
                '%s with epsilon %s: at most %g' % (f, eps, max(found)))
    zero = [F(float(r['at'])) for r in g.table('square') if float(r['value']) == 0]
    yield (max(zero) ** 2 <= F(2) ** -25 * (1 + F(1, 2 ** 40)) and len(zero) > 50,
            'g² is zero up to half of the smallest subnormal')


def frozen_weights(g):
    for policy, said in (('bfloat16', '%.1f %% on average'), ('mixed_bfloat16', 'arithmetic: %.2f %%')):
        rows = [r for r in g.table() if r['policy'] == policy]
        made, lost = sum(int(r['updates']) for r in rows), sum(int(r['swamped']) for r in rows)
        yield g.says(said % (100 * lost / made)), '%s: %d of %d' % (policy, lost, made)
        yield sorted({int(r['step']) for r in rows}) == list(range(1240)) and g.says('1240 steps'), 'every step once'
        yield (lost > 0.9 * made if policy == 'bfloat16' else 0 < lost < 0.01 * made), 'most are lost, or next to none'
        words = '%.0f %% of the updates' if policy == 'bfloat16' else 'masters %.2g %%'
        yield words % (100 * lost / made) in g.title, 'the title says %s of ' % (words % (100 * lost / made)) + policy


def tiny_gradients(g):
    bins = [(int(r['bin']), int(r['count'])) for r in g.table() if r['bin'] not in ('zero', 'nonfinite')]
    zero, all_others = sum(int(r['count']) for r in g.table() if r['bin'] == 'zero'), sum(c for _, c in bins)
    under, sub = sum(c for b, c in bins if b < -25), sum(c for b, c in bins if -25 <= b < -14)
    yield g.says('%.1f %% lie below 2⁻²⁵' % (100 * under / all_others)), 'lost: %d of %d' % (under, all_others)
    yield (g.says('%.1f %% of all values' % (100 * zero / (zero + all_others)))
            and g.says('%.1f %% among its subnormals' % (100 * sub / all_others)), 'zeros and subnormals')
    top = max(b for b, c in bins if c) + 1
    yield top < 15 and g.says('lies below %s, while' % power(top)) and under > 0, 'the largest: 2^%d' % top


def loss_scale_sweep(g):
    rows = {int(r['log2_scale']): r for r in g.table()}
    burst = min(k for k, r in rows.items() if int(r['overflow']) > 0)
    n = {round(int(r['lost']) / float(r['share_lost'])) for r in rows.values() if float(r['share_lost']) > 0}
    yield len(n) == 1 and g.says(grouped(n.pop()) + ' values'), 'shares are of one number of values'
    yield (g.says('of %s loses %.3g %%' % (power(burst - 1), 100 * float(rows[burst - 1]['share_lost'])))
            and g.says('one of %s overflows' % power(burst)), 'the title')
    yield g.says('(1) it is %.3g %%' % (100 * float(rows[0]['share_lost']))), 'without scaling'
    lost = [int(rows[k]['lost']) for k in sorted(rows)]
    saves = all(more > less for more, less in zip(lost, lost[1:]))
    yield saves and sorted(rows) == list(range(-8, 25)), 'every factor of 2 saves some'


def loss_scale_sawtooth(g):
    for rule, start in (('pytorch', 2 ** 16), ('apex', 2 ** 16), ('keras', 2 ** 15), ('deepspeed', 2 ** 16)):
        rows = [r for r in g.table() if r['rule'] == rule]
        skipped = sum(int(r['skipped']) for r in rows)
        yield (len(rows) == 248 and g.says({'pytorch': '%d of 248', 'keras': '%d with Keras',
                'apex': '%d with Apex', 'deepspeed': '%d with DeepSpeed'}[rule] % skipped),
                '%s: %d skipped' % (rule, skipped))
        scale, good, wrong = start, 0, float(rows[0]['loss_scale']) != start
        if rule == 'deepspeed':
            continue
        for r in rows:          # the rule: halve after an overflow, double after 20 finite steps in a row
            wrong += float(r['loss_scale']) != scale
            good = 0 if int(r['skipped']) else good + 1
            scale = scale / 2 if int(r['skipped']) else scale * 2 if good == 20 else scale
            good = 0 if good == 20 else good
        yield wrong == 0, '%s: the scale of every step' % rule


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
            wrong += s != float(rows[k]['value']) or abs(float(rows[k]['backward']) - float(abs(F(s) - exact) / exact)) > 1e-5
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
                wrong += abs(float(abs(F(s) - exact) / exact) - float(r['relative'])) > 1e-5 * float(r['relative']) + 1e-12
    yield wrong == 0, 'the errors of all chunk sizes for two seeds'
    mean = {}
    for r in g.table():
        mean.setdefault(int(r['length']), []).append(float(r['relative']))
    mean = {k: sum(v) / len(v) for k, v in mean.items()}
    best = min(mean, key=mean.get)
    rows = [(int(r['seed']), float(r['relative']), int(r['length'])) for r in g.table()]
    each = [min((e, n) for seed, e, n in rows if seed == k)[1] for k in range(1, 6)]
    yield g.says('Chunks of %d to %d terms lose least, by seed' % (min(each), max(each))), 'the best size of each seed: %s' % each
    worst = max(mean.values())
    yield worst in (mean[1], mean[65536]) and min(mean[1], mean[65536]) > sorted(mean.values())[-3], 'the ends lose most: %s' % mean
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
    yield g.says('off by %.1f %%, the pairwise sum by %.2g %% and the compensated one by %.2g %%' % tuple(100 * made[k] for k in ('fma', 'pairwise', 'kahan'))), 'the ends: %s' % made
    yield g.says('at most 0.39 %'), 'half an ulp of bf16, 2^-8'
    most = {how: 100 * max(float(r['relative']) for r in g.table() if r['sum'].startswith(how)) for how in ('pairwise', 'kahan')}
    yield g.says("Plain summation loses %.0f %%, pairwise up to %.2g %%, Kahan's up to %.2g %%" % (100 * made['fma'], most['pairwise'], most['kahan'])), 'the most over all n: %s' % most


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
    yield g.says('stops at %d ranks' % last) and g.says('at %d since rank %d' % (s, last)), 'the ring stops at %d' % last
    ends = tuple(100 * made['bf16', how][1] for how in ('ring', 'tree'))
    yield g.says('off by %.1f %%' % ends[0]) and g.says('tree by %.2g %%' % ends[1]), 'the ends in bf16: %s %%' % str(ends)
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


def master_weights(g):
    last = {r['policy']: float(r['eval_accuracy']) for r in g.table() if r['eval_accuracy'] != '-'}
    yield g.says('All in fp32: %.1f %%' % (100 * last['float32'])) and g.says('master weights: %.1f %%' % (100 * last['mixed_bfloat16'])) and \
        g.says('leave as they are: %.1f %%' % (100 * last['bfloat16'])), 'the accuracies: %s' % last
    yield (last['bfloat16'] < last['mixed_bfloat16'] - 0.1 and abs(last['float32'] - last['mixed_bfloat16']) < 0.05,
            'bf16 weights learn less, fp32 masters as much as fp32')
    yield g.says('%d epochs' % (1 + max(int(r['epoch']) for r in g.table()))), 'the epochs'


def weight_drift(g):
    drift = {p or 'float32': {1 + int(r['step']): float(r['l2']) for r in g.table(p)}
            for p in ('', 'mixed_float16', 'mixed_bfloat16', 'bfloat16')}
    end = {p: d[256] for p, d in drift.items()}
    yield g.says('After 256 steps bf16 weights are %.1f %%' % (100 * end['bfloat16'])) and g.says(
        '%.0f and %.0f times as far' % tuple(end[p] / end['float32'] for p in ('mixed_float16', 'mixed_bfloat16'))), (
        'the distances: %s' % end)
    rate = {p: math.log2(d[256] / d[16]) / 4 for p, d in drift.items()}
    yield 0.4 < rate['float32'] < 0.6 and rate['bfloat16'] > 0.8 and all(
        set(d) == {2 ** k for k in range(9)} for d in drift.values()), \
        'fp32 drifts as the root of the steps, bf16 as the steps: %s' % rate
    # the first step's distance is one rounding of the weights: below their format's roundoff, above a sixteenth of it
    first = {p: d[1] for p, d in drift.items()}
    yield 2.0 ** -28 < first['float32'] < 2.0 ** -24 and 2.0 ** -12 < first['bfloat16'] < 2.0 ** -8, \
        'and begin at a roundoff: %s' % first


# A block of a tensor core as its papers describe it: C and the exact products are aligned to the largest of them, bits
# beyond 23 + extra behind its leading one are chopped, the sum is exact, and the result is chopped to fp32.
def block(c, products, extra):
    terms = [t for t in [c] + products if t]
    if not terms:
        return F(0)
    unit = F(2) ** (max(exponent(t) for t in terms) - 23 - extra)
    s = sum((int(abs(t) / unit) * unit * (1 if t > 0 else -1) for t in terms), F(0))
    if not s:
        return s
    last = F(2) ** (max(exponent(s), -126) - 23)
    return int(abs(s) / last) * last * (1 if s > 0 else -1)


EXTRA = {'volta': 0, 'turing': 1, 'ampere': 1, 'ada': 1, 'hopper': 2}


def chopped_block(g):
    for arch in ('volta', 'ampere', 'hopper'):
        rows = [r for r in g.table() if r['arch'] == arch]
        wrong, least = 0, None
        for r in rows:
            p = rnd(F(float(r['at'])), 'fp16') * F(1, 4096)
            value = block(F(1), [p] * 4, EXTRA[arch]) - 1
            wrong += value != F(float(r['value']))
            least = F(float(r['at'])) / 4096 if value and least is None else least
        yield wrong == 0 and len(rows) == 225, '%s: all 225 sums' % arch
        # what fp16 makes of the factor may round up to the threshold: the first point is a step below it at most
        yield (g.says(power(round(math.log2(least)))) and round(math.log2(least)) == -23 - EXTRA[arch],
                '%s keeps p from %g on' % (arch, least))


def not_monotone(g):
    sums = {}
    for r in g.table():
        c = F(float(r['at']))
        sums[c] = block(c, [F(1, 2 ** 24)] * 4, 0)
        yield sums[c] == F(float(r['value'])), 'the sum for C = %s' % r['at']
    unit = F(1, 2 ** 24)
    yield (sums[1 - unit] > sums[F(1)] and g.says('is 1 + %d·2⁻²⁴;' % ((sums[1 - unit] - 1) / unit))
            and g.says('and the sum is 1.'), 'the smaller C gives the larger sum')


def tensor_core_generations(g):
    published = {'volta': (4, 0), 'turing': (8, 1), 'ampere': (8, 1), 'ada': (8, 1), 'hopper': (16,
            2)}     # arXiv 2512.07004, 2511.10909
    rows = {r['arch']: r for r in g.table()}
    yield ({a: (int(r['products_in_a_block']), int(r['extra_alignment_bits'])) for a,
            r in rows.items()} == published, 'blocks and extra bits')
    yield (all(r['rounding_of_aligned_terms'] == 'toward zero' and r['rounding_of_the_output'] == 'toward zero'
            and r['monotone'] == 'no' for r in rows.values()), 'all chop')
    yield g.says('from 4 to 16') and g.says('gained 2 bits') and g.says('0 of 5 are monotone'), 'the caption'


def product_accumulators(g):
    def median(model, n):
        return sorted(float(r['backward']) for r in g.table() if r['sum'].startswith(model) and int(r['n']) == n)[3]
    models = ('fma,acc=fp32', 'chunk:64', 'fma,acc=fp16', 'tc:hopper')
    end = [median(m, 16384) for m in models]

    def said(x):
        e = math.floor(math.log10(x) + 1e-12)
        return '%.3g·10%s' % (x / 10 ** e, str(e).translate(RAISED))
    yield (g.says('leaves %s (' % said(end[0])) and g.says('in fp16 %s,' % said(end[1]))
            and g.says('plain fp16 %s,' % said(end[2])) and g.says('block, %s: %.0f times' % (said(end[3]),
            end[3] / end[0])), 'the medians: %s' % end)
    none = max(2 ** k for k in range(2, 15) if median(models[0], 2 ** k) == 0)
    yield g.says('up to K = %d)' % none), 'no error in fp32 up to %d' % none
    yield (all(len([r for r in g.table() if r['sum'].startswith(m) and int(r['n']) == 16384]) == 7 for m in models)
            and max(end[1:]) < 1e-3, 'seven seeds each')


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


def ulp_staircase(g):
    down = g.table('down')
    wrong = sum(F(float(u['value'])) - F(float(d['value'])) != ulp(F(float(u['at'])), u['format']) for u,
            d in zip(g.table(), down))
    yield wrong == 0 and len(down) == 3 * 273, 'all %d gaps are one ulp' % len(down)
    yield (all(g.says(power(exponent(ulp(F(1), f))) + ' in ' + f) for f in ('fp16', 'bf16', 'e4m3'))
            and g.says('2⁻²⁴ in fp16, 2⁻⁹ in e4m3'), 'the caption')


def number_line(g):
    def numbers(e, m):                            # OCP MX: bias 2^(e-1) - 1, no special values
        bias = 2 ** (e - 1) - 1
        return [(c % 2 ** m) / 2 ** m * 2.0 ** (1 - bias)
                if c < 2 ** m else (1 + c % 2 ** m / 2 ** m) * 2.0 ** (c // 2 ** m - bias)
                for c in range(2 ** (e + m))]
    for f in ('e2m1', 'e2m3', 'e3m2'):
        wanted = numbers(int(f[1]), int(f[3]))
        yield ([float(r['value']) for r in g.table() if r['format'] == f] == wanted
                and g.says('%d numbers to %g' % (len(wanted), wanted[-1])) or g.says('%d to %g' % (len(wanted),
                wanted[-1])), 'all numbers of ' + f)


def format_map(g):
    rows = {r['name']: r for r in g.table()}
    for f, (p, emin) in {**SHAPE, 'e3m2': (3, -2), 'e2m1': (2, 0)}.items():
        if f == 'fp64':
            continue
        r = rows[f]
        top = {'e4m3': 448, 'e3m2': 28, 'e2m1': 6, 'fp16': 65504, 'e5m2': 57344}.get(f,
                (2 - 2.0 ** (1 - p)) * 2.0 ** 127)
        yield ((int(r['p']), int(r['emin']), float(r['min_normal']), float(r['min_positive']),
                float(r['max_finite'])) == (p, emin, 2.0 ** emin, 2.0 ** (emin - p + 1), top), 'the row of ' + f)

    def span(f):
        return math.log2(float(rows[f]['max_finite'])) - math.log2(float(rows[f]['min_positive']))
    yield g.says('spans %.0f powers of two with 8 bits, fp16 %.0f with 11' % (span('bf16'), span('fp16'))), 'the spans'


def bit_layouts(g):
    for r in g.table():
        f = r['format']
        p, emin = SHAPE[f]
        v = rnd(F('3.14159265358979323846264338327950288'), f)
        e = exponent(v)
        code = (e - emin + 1) * 2 ** (p - 1) + int(v / F(2) ** (e - p + 1)) - 2 ** (p - 1)
        yield F(float(r['value'])) == v and int(r['bits'], 16) == code, 'value and code of pi in ' + f
    shape = {r['name']: (int(r['bits']), int(r['exponent_bits']), int(r['p'])) for r in g.table('shape')}
    yield (shape == {'fp32': (32, 8, 24), 'tf32': (19, 8, 11), 'bf16': (16, 8, 8), 'fp16': (16, 5, 11), 'e5m2': (8,
            5, 3), 'e4m3': (8, 4, 4)}, 'the layouts')
    yield g.says('fp32 keeps 3.1415927, fp16 and tf32 3.140625, bf16 3.140625, e5m2 3 and e4m3 3.25'), 'the caption'


def rounding_modes(g):
    def away(q):
        return math.floor(q + F(1, 2)) if q > 0 else math.ceil(q - F(1, 2))
    ways = {'RNE': round, 'RNA': away, 'RZ': math.trunc, 'RU': math.ceil, 'RD': math.floor}
    for mode, way in ways.items():
        rows = [r for r in g.table() if r['mode'] == mode]
        yield (len(rows) == 49 and all(F(float(r['value'])) == F(way(F(r['input']) * 2), 2) for r in rows),
                'all values in ' + mode)
    yield g.says('go to 0 in RNE and to 0.5 in RNA'), 'the tie'


def memory_by_policy(g):
    kinds = ('weights', 'masters', 'activations', 'gradients', 'optimizer_state')
    rows = {r['policy']: {k: float(r['memory_bytes.' + k]) for k in kinds} for r in g.table()}
    whole = {p: sum(r.values()) for p, r in rows.items()}
    yield (g.says('needs %.0f %% of float32' % (100 * whole['mixed_float16'] / whole['float32']))
            and g.says('needs %.0f %%.' % (100 * whole['float16'] / whole['float32'])), 'the sums: %s' % whole)
    yield (g.says('from %.1f to %.1f MB' % (rows['float32']['activations'] / 1e6,
            rows['mixed_float16']['activations'] / 1e6)), 'the activations')
    yield (rows['mixed_float16']['weights'] + rows['mixed_float16']['masters'] > rows['float32']['weights']
            and rows['mixed_float16']['optimizer_state'] >= rows['float32']['optimizer_state']
            and rows['mixed_float16']['activations'] < rows['float32']['activations']), 'what shrinks, what grows'
    n = rows['float32']['optimizer_state'] / 8     # Adam: two numbers of four bytes a parameter
    yield (abs(rows['mixed_float16']['masters'] / 4 - n) < 1e-3 * n
            and abs(rows['float16']['optimizer_state'] / 4 - n) < 1e-3 * n and rows['float32']['masters'] == 0,
            'masters and moments are those of about %d parameters' % n)


def published_probes(g):
    tabled = [r for r in g.table() if r['tabled'] != '-']
    equal = sum(r['tabled'] == r['value'] for r in tabled)
    yield g.says('%d values are tabled; %d of' % (len(tabled), equal)), '%d of %d' % (equal, len(tabled))
    probes, marks = {}, {'dot': 0, 1: 0, 2: 0, 3: 0}
    for r in g.table():
        probes.setdefault(r['probe'], []).append(r['value'])
    telling = sum(len(set(v)) > 1 for v in probes.values())
    said = '%d of %d probes' % (telling, len(probes))
    yield g.says(said), said + ' have several values'
    for values in probes.values():
        order = list(dict.fromkeys(values))
        for v in values:
            marks['dot' if len(order) == 1 else order.index(v) + 1] += 1
    # gnuplot's marks, of which the key has two circles, a square and a triangle
    drawing = open(g.path('svg'), encoding='utf-8').read()
    drawn = [drawing.count("'#gpPt%d'" % k) for k in (6, 4, 8)]
    # Rings, of which gnuplot makes the circle once, and crosses
    other = [drawing.count("'#gpPt5'") - 1, drawing.count("'#gpPt1'")]
    yield (drawn == [marks['dot'] + marks[1] + 2, marks[2] + 1, marks[3] + 1]
           and other == [len(g.table()) - len(tabled), len(tabled) - equal], 'a mark for each row: %s' % marks)
    # Two of them by the model of a block: P3 (four products 2^-25 beside 1) and P4 (2^-24)
    for arch in EXTRA:
        rows = {r['probe']: r for r in g.table() if r['arch'] == arch}
        for probe, p in (('P3', F(1, 2 ** 25)), ('P4', F(1, 2 ** 24))):
            yield (float.fromhex(rows[probe]['tabled']) == float(block(F(1), [p] * 4, EXTRA[arch])),
                    '%s of %s, computed again' % (probe, arch))


def summation_trees(g):
    def chain(terms):
        text = str(terms[0])
        for t in terms[1:]:
            text = '(%s %s)' % (text, t)
        return text

    def pairs(terms):
        half = len(terms) // 2
        return str(terms[0]) if not half else '(%s %s)' % (pairs(terms[:half]), pairs(terms[half:]))
    whole = list(range(1, 9))
    expected = {'fma': chain(whole), 'chunk:4': '(%s %s)' % (chain(whole[:4]), chain(whole[4:])),
            'pairwise': pairs(whole), 'tc:hopper': '(1 2 3 4 5 6 7 8)'}
    yield {r['sum']: r['tree'] for r in g.table()} == expected, 'the four trees'

    def depth(text):
        level = [text[:i].count('(') - text[:i].count(')') for i, c in enumerate(text) if c.isdigit()]
        return max(level)
    yield g.says('takes %d additions in a row, chunks of four %d, pairs %d, and a tensor core adds all of them in %d' % tuple(depth(expected[s]) for s in ('fma', 'chunk:4', 'pairwise', 'tc:hopper'))), 'the depths'


def double_rounding(g):
    made, wrong = {}, 0
    for r in g.table():
        x = F(float(r['at']))
        value = rnd(1 + F(1, 2048) + x if r['acc'] == 'fp64' else rnd(rnd(1 + F(1, 2048), 'fp32') + x, 'fp32'), 'fp16')
        wrong += value != F(float(r['value']))
        made.setdefault(x, {})[r['acc']] = value
    yield wrong == 0 and len(made) == 17, 'all sums'
    differ = [x for x, v in made.items() if v['fp32'] != v['fp64']]
    yield (g.says('%d of the 17 sums differs' % len(differ)) and F(1, 2 ** 24) in differ,
            'they differ at %s' % [str(x) for x in differ])
    at = made[F(1, 2 ** 24)]
    yield (g.says('one rounding gives %.11g' % at['fp64']) and g.says('goes to %g' % at['fp32'])
            and at['fp64'] > at['fp32'], 'up once, down twice')


def four_bits(v):
    """To the nearest number of e2m1, of two the even one."""
    grid = [0, 0.5, 1, 1.5, 2, 3, 4, 6]
    return math.copysign(min(grid, key=lambda q: (abs(q - abs(v)), grid.index(q) % 2)), v)


def nvfp4_block(x):
    """One block of NVFP4 that is the whole array: its code is 448, and the array's scale its largest over 2688, all in
    fp32 as Transformer Engine has it."""
    g = single(2688 / single(max(map(abs, x))))
    code = float(rnd(single(single(g * single(1 / 6)) * max(map(abs, x))), 'e4m3'))
    times = single(1 / single(code * single(1 / g)))
    return [four_bits(single(v * times)) * code * single(1 / g) for v in x]


def hadamard_neighbours(g):
    signs = [int(c + '1') for c in '+++-+------+-+--']
    x = [float(r['exact']) for r in g.table()]
    matrix = [[signs[i] * (-1) ** bin(i & j).count('1') / 4 for j in range(16)] for i in range(16)]
    turned = [sum(x[i] * matrix[i][j] for i in range(16)) for j in range(16)]
    yield [float(r['exact']) for r in g.table('turned')] == turned, 'the transform of these values'
    plain, cast = nvfp4_block(x), nvfp4_block(turned)
    for name, part, want in (('as they are', '', plain), ('transformed', 'turned', cast)):
        rows = g.table(part) if part else g.table()
        yield all(abs(float(r['value']) - w) <= 1e-6 * abs(w) for r, w in zip(rows, want)), 'casts of values ' + name
    back = [sum(cast[j] * matrix[i][j] for j in range(16)) for i in range(16)]
    at = x.index(20)
    others = [i for i in range(16) if i != at]
    lost, gone = (sum(y[i] == 0 for i in others) for y in (plain, back))
    off = [sum((y[i] - x[i]) ** 2 for i in others) for y in (plain, back)]
    yield (g.says('%d of the 15 others become zero' % lost) and g.says('it, %d do' % gone),
           '%d and %d are lost' % (lost, gone))
    yield (all(sum(matrix[i][k] * matrix[j][k] for k in range(16)) == (i == j) for i in range(16) for j in range(16))
           and g.says('Transforms of both operands of a product cancel'), 'the matrix is orthogonal')
    yield lost > 4 > gone and off[1] > off[0], 'neighbours are kept, and are farther off'
    yield g.says('from %.2g to %.2g, and the 20 is %.1f' % (*off, back[at])), 'squared errors %g and %g' % tuple(off)


def nvfp4_orders(g):
    counts, even, differ, blocks = [0, 0, 0], 0, 0, 0
    for part in ('', 'b', 'c', 'd'):
        rows = g.table(part) if part else g.table()
        n = len(rows) // 3
        x = [float(r['exact']) for r in rows[:n]]
        most = max(x)
        scale = single(2688 / most)
        for at in range(16, n, 16):
            a, blocks = x[at], blocks + 1
            sixth = single(a / 6)
            codes = [float(rnd(v, 'e4m3')) for v in (single(a * single(scale * single(1 / 6))), single(sixth * scale),
                                                     single(sixth / single(most / 2688)))]
            yield [float(rows[k * n + at]['scale']) for k in range(3)] == codes, 'codes of %g of %g' % (a, most)
            tie = F(a) * 448 / F(most)
            low, high = min(codes), max(codes)
            yield low < tie < high and F(low) + F(high) == 2 * tie, 'which are around a tie'
            counts = [c + (code > tie) for c, code in zip(counts, codes)]
            even += rnd(tie, 'e4m3') == high
            differ += low != high
    yield differ == blocks and g.says('of %d blocks' % blocks), 'in none of %d blocks all agree' % blocks
    yield g.says('the larger one in %d;' % even), 'to even %d go up' % even
    yield (g.says("order takes the larger one in %d, fouroversix's in %d and torchao's in %d" % tuple(counts)),
           'the larger codes are %d, %d and %d' % tuple(counts))
