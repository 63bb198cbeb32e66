# SPDX-License-Identifier: Apache-2.0
# Figures of training: updates, moments, gradients and loss scales, computed again.
import math
from fractions import Fraction as F

from gallery.rounding import SHAPE, exponent, grouped, power, rnd, root, single, ulp


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


def master_weights(g):
    last = {r['policy']: float(r['eval_accuracy']) for r in g.table() if r['eval_accuracy'] != '-'}
    said = (('All in fp32: %.1f %%', 'float32'), ('master weights: %.1f %%', 'mixed_bfloat16'),
            ('leave as they are: %.1f %%', 'bfloat16'))
    yield all([g.says(text % (100 * last[policy])) for text, policy in said]), 'the accuracies: %s' % last
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
