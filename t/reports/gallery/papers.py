# SPDX-License-Identifier: Apache-2.0
# What the gallery's figures of the papers of 2024 to 2026 mean, computed again without halfulp: a function a figure, as
# in gallery_numbers.py, which has them too.
import math
from fractions import Fraction as F

import gallery_random as draws
from gallery.rounding import exponent, four_bits, rnd, single, ulp


def chain(terms):
    """The terms added one after another in fp32."""
    s = 0.0
    for t in terms:
        s = float(rnd(F(s) + t, 'fp32'))
    return s


def repeated_maxima(g):
    first, third = F('2.296875'), F('0.00087')
    ends, most, ties = {}, 0, 0
    for part, p, last in (('', F(1), third), ('plain', F(1), F(0)), ('shifted', F(77, 256), third)):
        rows, so_far, wrong = g.table(part), F(0), 0
        for k, r in enumerate(rows):
            v = 2 + F(k, 64)
            two = p * (first + v)
            value = rnd(F(chain([p * first, p * v, rnd(last, 'bf16')])), 'bf16')
            wrong += F(float(r['value'])) != value or F(float(r['at'])) != v
            so_far += (value - two - last) / ulp(two + last, 'bf16')
            if part == 'shifted':
                most = max(most, abs(so_far))
            elif part == '':
                ties += abs(two - rnd(two, 'bf16')) * 2 == ulp(two, 'bf16')
        yield wrong == 0 and len(rows) == 128, 'all sums of part "%s"' % part
        ends[part] = float(so_far)
    yield g.says('128 rows of') and g.says('%d of the sums would be ties' % ties), '%d are ties' % ties
    yield (g.says('bf16\'s errors of P·V have a sign') and g.says('mean error is %.3f ulp' % (ends[''] / 128))
           and 0.2 < ends[''] / 128 < 0.25), 'a mean error of %.4f ulp' % (ends[''] / 128)
    yield (g.says('errors add up to %.1f ulp' % ends['plain']) and g.says('they stay within %.1f ulp' % most)
           and most < 4 > ends['plain'] >= 0), 'the others add up to %.2f, and to %.2f at most' % (ends['plain'], most)


def rotary_angles(g):
    off, wrong, fast = {}, 0, 0
    for r in g.table():
        at, frequency = r['input'].split('*')
        f, exact = r['format'], F(at) * F(frequency)
        value = rnd(rnd(F(at), f) * rnd(F(frequency), f), f)
        wrong += F(float(r['value'])) != value or at != r['position']
        pair = off.setdefault((f, int(at)), [])
        fast += abs(F(frequency) - F(10000 ** (-len(pair) / 64))) > F(1, 10 ** 7)
        # The distance of two unit vectors is twice the sine of half the angle between them
        pair.append(4 * math.sin(float(value - exact) / 2) ** 2)
    yield wrong == fast == 0 and all(len(p) == 64 for p in off.values()), 'all angles, of the frequencies of RoPE'
    off = {k: math.sqrt(sum(p) / 64) for k, p in off.items()}
    said = tuple(off['bf16', at] for at in (128, 2048, 32768))
    yield (g.says('head with 128 features (64 pairs, base 10 000)')
           and g.says('they are %.2f off at position 128, %.2f at 2048 and %.2f at 32 768' % said)
           ), 'in bf16 they are %.3f, %.3f and %.3f off' % said
    yield (g.says('angles in bf16 lose positions beyond a thousand') and off['bf16', 512] < 0.2
           and off['bf16', 2048] > 0.3), 'where they are lost: %s' % off
    turned = sum(2 - 2 * math.cos(2 * math.pi * k / 1000) for k in range(1000)) / 1000
    yield g.says('at random would be √2 off') and abs(turned - 2) < 1e-9, 'the distance of random directions'
    single_ = max(v for (f, _), v in off.items() if f == 'fp32')
    yield g.says('In fp32 they are below %.4f everywhere' % single_), 'fp32: at most %.5f' % single_


def batch_orders(g):
    lengths, share = [2 ** k for k in range(1, 13)], {}
    sampled, wrong = ('1', '2', '3'), 0
    values = {(r['seed'], r['sum'].split(':')[0].split(',')[0], int(r['n'])): float(r['value']) for r in g.table()}
    seeds = sorted({s for s, _, _ in values})
    for seed in sampled:
        pair = [[F(draws.bf16(x)) for x in draws.uniform(int(seed), 4096, name)] for name in ('terms', 'times')]
        products = [a * b for a, b in zip(*pair)]
        for n in (64, 256, 1024):
            p = products[:n]

            def cut(size):
                return chain([F(chain(p[i:i + size])) for i in range(0, n, size)])
            made = {'fma': chain(p), 'chunk': cut(192), 'splitk': cut(n // 4),
                    'pairwise': draws.pairwise([float(x) for x in p], single)}
            wrong += sum(values[seed, m, n] != v for m, v in made.items())
    yield wrong == 0 and len(seeds) == 48, 'sums of three lengths and seeds, by four orders'
    for m in ('chunk', 'splitk', 'pairwise'):
        share[m] = [100 * sum(values[s, m, n] != values[s, 'fma', n] for s in seeds) / 48 for n in lengths]
    none = max(n for n, d in zip(lengths, share['chunk']) if not d)
    first = share['chunk'][lengths.index(2 * none)]
    yield (none < 192 < 2 * none
           and g.says('Of 48 products chunks of 192 change none up to K = %d' % none)
           and g.says('and %.0f %% at K = %d' % (first, 2 * none))), 'chunks of 192 leave sums of up to %d' % none
    ends = tuple(share[m][-1] for m in ('chunk', 'splitk', 'pairwise'))
    yield (g.says('Inner products of K bf16 numbers from 0 to 1')
           and g.says('at K = 4096 chunks change %.0f %%, four parts of K %.0f %% and pairs %.0f %%' % ends)
           ), 'the shares: %s' % share
    yield (g.says('changes the bits of a row') and min(s[-1] for s in share.values()) > 50), 'most differ'


def of(g, part, column, **want):
    return [float(r[column]) for r in g.table(part) if all(r[k] == v for k, v in want.items())]


def engines_apart(g):
    (b, h), (c, j) = ([of(g, '', column, policy=p) for p in ('autocast_bfloat16', 'autocast_float16')]
                      for column in ('kl_mean', 'log_ratio_mean_abs'))
    ratio, errors = sum(b) / sum(h), sum(c) / sum(j)
    yield (g.says('bf16 are %.0f times as far apart as in fp16' % ratio) and 40 < ratio < 90
           and g.says('%.0f times as large on the mean, by theory 64' % ratio)), 'a ratio of %.2f' % ratio
    yield (g.says('each of %d sequences' % len(b)) and len(b) == len(h) == len({r['sequence'] for r in g.table()})
           and min(b) > max(h)), '%d sequences, each farther off in bf16 than all in fp16' % len(b)
    # u is 2^-8 and 2^-11
    yield (g.says('%.1f times as large, by theory 8' % errors) and 6 < errors < 10), 'log-ratios: %.2f times' % errors


def router_replay(g):
    own, replayed = of(g, '', 'kl_mean'), of(g, 'replayed', 'kl_mean')
    mean = [sum(x) / len(x) for x in (own, replayed)]
    share = 100 * (1 - mean[1] / mean[0])
    yield (g.says('Replayed routers take away %.0f %%' % share) and share > 50
           and g.says('from %.2g to %.2g, and that of the worst sequence from %.2g to %.2g' % (*mean, max(own), max(
               replayed)))), 'replay takes away %.1f %%' % share
    sets = {k: int(v) for k, v in g.table('sets')[0].items()}
    said = tuple(sets[k] for k in ('sets_differ', 'sets', 'tokens_differ', 'tokens'))
    yield (g.says('In bf16 %d of %d routers choose other experts, for %d of %d tokens' % said)
           and sets['tokens_differ'] <= sets['sets_differ'] > 0), 'choices: %s' % sets
    yield (g.says('each of %d sequences' % len(own)) and sets['sets'] == 2 * sets['tokens']
           and sets['tokens'] % len(own) == 0), 'tokens of %d sequences, two routers each' % len(own)


def eight_bits(v):
    """To the nearest number of e4m3, saturating."""
    return max(-448, min(448, float(rnd(F(v), 'e4m3'))))


def mxfp8(x, up):
    """One block of MXFP8: the scale is the power of two below the largest over 2^8, or the least that reaches it."""
    most = F(max(map(abs, x)))
    e = exponent(most) - 8
    if up:
        e += most > 448 * F(2) ** e
        e -= most <= 448 * F(2) ** (e - 1)
    return [eight_bits(F(v) / F(2) ** e) * 2.0 ** e for v in x]


def largest_saturates(g):
    rows, wrong = g.table(), 0
    for r in rows:
        x = float(r['exact'])
        wrong += float(r['value']) != mxfp8([x], r['format'] == 'mxfp8:rceil')[0]
    x = range(128, 256)
    down, up = ([mxfp8([v], way)[0] / v - 1 for v in x] for way in (False, True))
    yield wrong == 0 and len(rows) == 256, 'all numbers by both rules'
    cut = sum(v > 224 and round((e + 1) * v) == 224 for v, e in zip(x, down))
    yield (g.says('all %d numbers above 224' % cut) and g.says('up to %.1f %% too small' % (-100 * min(down)))
           and cut == 31 and g.says('all whole numbers of a binade, 128 to 255')
           and g.says('cuts off the top eighth') and 224 == 128 * 1.75), '%d are cut' % cut
    yield (g.says('errors have both signs and are at most %.1f %%' % (100 * max(map(abs, up))))
           and min(up) < 0 < max(up)), 'rounded up: %.4f to %.4f' % (min(up), max(up))


def layernorm_clamps(g):
    own = [float(r['exact']) for r in g.table() if r['format'] == 'mxfp8:floor']
    want = {f: mxfp8(own, f == 'mxfp8:rceil') for f in ('mxfp8:floor', 'mxfp8:rceil')}
    yield all(of(g, '', 'value', format=f) == v for f, v in want.items()), 'both casts: %s' % want
    down, up = want.values()
    yield (g.says('A block of %d weights' % len(own)) and g.says('from %.3f to %.3f' % (min(own), max(own)))
           and len(own) == 32), 'the weights'
    mean = sum(own) / 32
    small, left = 100 * (1 - sum(down) / 32 / mean), 100 * abs(sum(up) / 32 / mean - 1)
    yield all(v > 0.875 for v in own) and 3 <= len(set(up)) <= 4, 'none is 0.875, and rounded up they are %s' % set(up)
    yield (set(down) == {0.875} and g.says('as one number') and g.says('all are stored as 0.875')
           and g.says('output is %.1f %% too small' % small)), 'all are 0.875, %.2f %% too small' % small
    yield (g.says('steps of 1/16') and g.says('the weights become %s, and their mean is %.1f %% off' % (
        ' to '.join('%.4g' % v for v in (min(up), max(up))), left))), 'rounded up: %s' % sorted(set(up))


def outliers_integers(g):
    def cast(x, kind):
        most = F(max(map(abs, x)))
        if kind == 'mxfp8':
            return mxfp8(x, False)
        if kind == 'mxfp4':
            s = 2.0 ** (exponent(most) - 2)
            return [max(-6, min(6, four_bits(v / s))) * s for v in x]
        # Integers: the largest power of two of the block is the binade of the largest code
        bits = 8 if kind == 'mxint8' else 4
        step = 2.0 ** (exponent(most) - bits + 2)
        return [max(-2 ** (bits - 1) + (kind != 'mxint8'), min(2 ** (bits - 1) - 1, round(F(v) / F(step)))) * step
                for v in x]
    ratio, wrong = {}, 0
    for kind in ('mxint8', 'mxfp8', 'bfp4x32', 'mxfp4'):
        for k in range(2, 7):
            rows = [r for r in g.table() if r['format'] == kind and r['outlier'] == str(2 ** k)]
            x = [float(r['exact']) for r in rows]
            y = [float(r['value']) for r in rows]
            wrong += sum(a != b for a, b in zip(y, cast(x, kind))) + (len(x) != 32) + (x[0] != 2 ** k)
            noise = sum((v - w) ** 2 for v, w in zip(x[1:], y[1:]))
            ratio[kind, k] = 10 * math.log10(sum(v * v for v in x[1:]) / noise)
    yield wrong == 0, '%d casts' % wrong
    said = tuple(ratio[k, 2] for k in ('mxint8', 'mxfp8', 'mxfp4', 'bfp4x32'))
    yield (g.says('of 31 normal numbers')
           and g.says('MXINT8 has %.0f dB and MXFP8 %.0f, MXFP4 %.0f and four-bit integers %.0f.' % said)
           ), 'ratios: %s' % ratio
    falls = [ratio['mxint8', k] - ratio['mxint8', k + 1] for k in range(2, 6)]
    yield (g.says('6 dB for each doubling, MXFP8 nothing') and g.says('integers lose 6 dB, a bit;')
           and 5 < sum(falls) / 4 < 7 and min(falls) > 3), 'MXINT8 loses %s dB' % falls
    eight = [ratio['mxfp8', k] for k in range(2, 7)]
    ahead = min(2 ** k for k in range(2, 7) if ratio['mxfp8', k] > ratio['mxint8', k])
    yield (g.says('keeps %.0f dB, and is ahead of MXINT8 from an outlier of %d on' % (eight[0], ahead))
           and max(eight) - min(eight) < 0.5), 'MXFP8 has %s dB, ahead from %d' % (eight, ahead)


def slices_span(g):
    x = [F('1.1234567890123456'), F('1.7654321098765432')]
    y = [F('1.9876543210987654'), F('1.3141592653589793')]
    exact = sum(a * b for a, b in zip(x, y))
    unit = F(2) ** -50
    bound = 3 * F(2) ** -53 * exact / unit
    said = {}
    for m in ('ozaki:7', 'ozaki:8', 'ozaki:9', 'ozakidynamic'):
        rows = [r for r in g.table() if r['sum'] == m]
        errors = [abs(F(float(r['value'])) - exact) / unit for r in rows]
        yield (all(abs(float(e) - float(r['error_ulps'])) < 1e-3 * (1 + float(e)) for e, r in zip(errors, rows))
               and len(errors) == 33), 'errors of ' + m
        out = [k for k, e in enumerate(errors) if e > bound]
        said[m] = out[0] - 1 if out else None
        if m == 'ozakidynamic':
            yield (not out and g.says('is within %.1f ulp at every span' % max(errors))), 'as many as are needed'
        else:
            # Slices of 8 bits, of which the first has a sign: what is below the last is cut off
            keeps = 8 * int(m[-1]) - 1
            yield (all(e <= 4 * F(2) ** (k + 53 - keeps) + bound for k, e in enumerate(errors))
                   and out == list(range(out[0], 33))), '%s: beyond from a span of %d on' % (m, out[0])
    spans = tuple(said[m] for m in ('ozaki:8', 'ozaki:9', 'ozaki:7'))
    yield (4 <= exact < 8 and g.says('of two terms by slices of eight bits') and g.says('own bound, %.1f ulp' % bound)
           and g.says('up to a span of %d bits, nine to %d and seven only to %d' % spans)), 'the spans: %s' % said
    yield (g.says('a slice more for every 2⁸') and said['ozaki:9'] - said['ozaki:8'] in (7, 8, 9)
           and said['ozaki:8'] - said['ozaki:7'] in (7, 8, 9)), 'a slice for every 8 bits'


def p3109_range(g):
    span, most = {}, {}
    for r in g.table():
        p = int(r['p'])
        # 2^(K - P - 1) is the bias; the last code but one of the positive ones, the infinity behind it, is the largest
        bias, code = 2 ** (7 - p), 2 ** 7 - 2
        field, fraction = divmod(code, 2 ** (p - 1))
        large = (1 + F(fraction, 2 ** (p - 1))) * F(2) ** (field - bias)    # its field is 0 for p = 8 alone
        small = F(2) ** (1 - bias - (p - 1)) if p > 1 else F(2) ** (1 - bias)
        printed = [F(float(r[k])) for k in ('max_finite', 'min_positive', 'min_normal')]
        yield (r['name'] == 'binary8p%d' % p and printed == [large, small, F(2) ** (1 - bias)]
               ), 'the range of %s' % r['name']
        span[p], most[p] = exponent(large) - exponent(small) + 1, large
    said = tuple(span[p] for p in (1, 2, 3, 4, 7))
    yield (g.says('With one significant bit they span %d binades, with two %d, with three %d, with four %d and '
                  'with seven %d' % said) and g.says('halves the binades')
           and all(1.4 < span[p] / span[p + 1] < 2.2 for p in range(1, 5))), 'binades: %s' % span
    yield (g.says('of binary8p4 is %d, that of binary8p3 %d' % (most[4], most[3])) and len(span) == 7
           and g.says('the seven signed extended formats binary8p1 to binary8p7')), 'the largest numbers'


def stochastic_weights(g):
    mixed, nearest, drawn = (of(g, '', 'loss', way=w) for w in ('mixed', 'nearest', 'drawn'))
    near, draw = ([a - b for a, b in zip(x, mixed)] for x in (nearest, drawn))
    end = [sum(x[-30:]) / 30 for x in (near, draw)]
    yield (len(mixed) == len(nearest) == len(drawn) == 90 and near[0] == draw[0]
           ), '90 steps each, of which the first begins with the same weights'
    yield (g.says('a small gpt whose weights, gradients and moments are all in bf16') and g.says(
           'is %.3f higher over the last 30 of 90 steps' % end[0])
           and g.says('it is %.3f from it' % abs(end[1])) and g.says('train as float32 masters do')
           and min(draw[-30:]) < 0 < max(draw[-30:])
           and abs(end[1]) < end[0] / 4 and min(near[-30:]) > 0), 'losses are %.4f and %.4f higher' % tuple(end)


def attention_explodes(g):
    sound, stored, cured = (of(g, '', 'loss', way=w) for w in ('sound', 'stored', 'cured'))
    end = [sum(x[-100:]) / 100 for x in (sound, stored, cured)]
    yield (len(sound) == len(stored) == len(cured) == 400 and g.says('means of 20 steps')
           and g.says('a small gpt without positions') and g.says('three significant bits')
           and stored[0] == cured[0]), '400 steps each, and the cure changes no result forward'
    yield (g.says('last 100 of 400 steps is %.2f, in float32 %.2f' % (end[1], end[0]))
           and g.says('was not rounded, it is %.2f' % end[2])), 'losses are %.3f, %.3f and %.3f' % tuple(end)
    yield (end[1] > end[0] + 0.8 and abs(end[2] - end[0]) < 0.1 and min(stored[:150]) < end[0] + 0.2
           and g.says('explodes; a sound δ cures it')), 'it had learned before it explodes, and is cured'
