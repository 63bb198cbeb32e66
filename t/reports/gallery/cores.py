# SPDX-License-Identifier: Apache-2.0
# Figures of tensor cores, computed again.
import math
from fractions import Fraction as F

from gallery.rounding import RAISED, exponent, power, rnd


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
