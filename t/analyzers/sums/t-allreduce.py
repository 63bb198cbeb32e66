#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# allreduce: every number of its rows computed again in fractions, from the messages that ranks exchange; growth and
# stagnation as they are derived; a run's gradients; refusals.
import json
import math
import os
import sys
from fractions import Fraction as Q

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)) + '/../../tool')
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)) + '/../../judge')
import tap  # noqa: E402
from independent.all_reduce import again, rounded, same, write  # noqa: E402
from independent.files import Safetensors  # noqa: E402
from independent.number import decode  # noqa: E402
from independent.sums import fnv32, philox  # noqa: E402
from independent.training import mix64  # noqa: E402

home = tap.home()


def save(name, records):
    """A .safetensors file for each record."""
    files = ['%s/%s%d.safetensors' % (home, name, i) for i in range(len(records))]
    for f, x in zip(files, records):
        write(f, x)
    return files


def rows(*words):
    p = tap.halfulp('allreduce', '--json', *words)
    if p.returncode:
        tap.bail_out(p.stderr)
    return json.loads(p.stdout)


# Values from tiny to large; the third record alone overflows fp16 and e4m3
records = [[rounded(Q(math.sin(7 * k + i)) * Q(2) ** (-(k * 5 % 29)), 'fp32') for k in range(15)] for i in range(3)]
records[2][4] = Q(70000)
records[1][9] = Q(0)
files = save('r', records)
wrong, within, checked = [], [], 0
for options, before, scale, acc in (
    ([], 1, 1, None),
    (['--all-reduce', 'divide=before,scale=2^-4'], 0, Q(1, 16), None),
    (['--all-reduce', 'acc=fp32,divide=split'], -1, 1, 'fp32'),
):
    for row in rows(
        '--ranks', '3..40', '--all-reduce', 'ring,tree,halving,hier:4', '--all-reduce', 'wire=bf16,fp16,e4m3',
        '--sample', 'all', *options, *files
    ):
        n = row['ranks']
        divisor = before or n
        if divisor < 0:  # FSDP's: a power of two that divides N, doubled until N / f <= f
            divisor = 1
            while n % divisor == 0 and n / divisor > divisor:
                divisor *= 2
        want = again(records, row['order'], row['wire'], acc or row['wire'], n, divisor, scale)
        checked += 1
        wrong += same(row, want)
        if not row['overflowed'] and row['bound'] != 'inf' and not row['rel_l2'] <= row['bound']:
            within.append(row)
        if (
            (row['bound'] != 'inf')
            and row['overflowed']
            or row['broken'] != (row['overflowed'] > 0 or row['rel_l2'] > 0.1)
        ):
            within.append(row)
tap.none(wrong, '%d rows computed again from messages between ranks, in fractions' % checked)
tap.none(within, 'no error above its bound, no overflow where a bound excludes it')

# Several steps, with and without error feedback: the same figures of the sums, in fractions. Over 40 steps without it
# errors of one sign add up; with it the last casts alone are lost.
wrong, beyond, gain = [], [], {}
small = save('small', [[x / 2**6 for x in r] for r in records[:2]])
for feedback in False, True:
    for steps, name, of, ranks in (
        (3, 'r', records, '3..6'),
        (7, 'small', [[x / 2**6 for x in r] for r in records[:2]], '4'),
    ):
        for row in rows(
            '--ranks', ranks, '--all-reduce', 'ring,tree', '--all-reduce', 'wire=bf16,e4m3', '--all-reduce', 'acc=fp32',
            '--sample', 'all', '--steps', str(steps), *(['--all-reduce', 'feedback'] if feedback else []),
            *(files if name == 'r' else small)
        ):
            want = again(of, row['order'], row['wire'], 'fp32', row['ranks'], 1, 1, steps, feedback)
            gain[name, row['order'], row['wire'], row['ranks'], feedback] = row['rel_l2']
            for k, v in want.items():
                if not math.isclose(row[k], v, rel_tol=1e-9, abs_tol=1e-15):
                    wrong.append(
                        '%d steps %s: %s %s there, %s here'
                        % (steps, [row[x] for x in ('order', 'wire', 'ranks')], k, row[k], v)
                    )
            if not row['overflowed'] and row['bound'] != 'inf' and not row['rel_l2'] <= row['bound']:
                beyond.append(row)
tap.none(wrong, '%d rows over several steps, half of them with error feedback, computed again' % len(gain))
tap.none(beyond, 'no error of a sum over steps above its bound')
third = save('third', [[rounded(Q(1, 3), 'fp32'), rounded(Q(7, 1000), 'fp32')]])
lost = [rows('--ranks', '8', '--all-reduce', 'tree:wire=e5m2,acc=fp32', '--sample', 'all', '--steps', n, *w,
             *third)[0] for n in ('1', '64') for w in ([], ['--all-reduce', 'feedback']) if n == '64' or not w]
tap.ok(
    math.isclose(lost[1]['rel_l2'], lost[0]['rel_l2'], rel_tol=1e-3) and lost[2]['rel_l2'] < lost[1]['rel_l2'] / 20,
    'one gradient 64 times: e5m2 loses %.2g of it each time, with error feedback %.2g in all'
    % (lost[1]['rel_l2'], lost[2]['rel_l2']),
    [x['rel_l2'] for x in lost],
)

# What is printed for people has a row for each of these, too, in the same order
words = ['--ranks', '3..6', '--all-reduce', 'ring,tree', '--all-reduce', 'wire=bf16,e4m3', '--sample', 'all', *files]
cells = [line.split() for line in tap.halfulp('allreduce', *words).stdout.splitlines()]
head = next(c for c in cells if 'order' in c)
shown = [[c[head.index(k)] for k in ('order', 'wire', 'ranks')] for c in cells[cells.index(head) + 1:] if len(c) > 8]
told = [[str(r[k]) for k in ('order', 'wire', 'ranks')] for r in rows(*words)]
tap.ok(len(told) == 8 and shown[:8] == told, 'the table has the %d rows of --json' % len(told), shown)

# A ring over equal terms stops after 2^p ranks: 2^p + 1 is a tie to even (doc/analysis.md)
unit = save('unit', [[Q(1)] * 4])
for wire, p, most in (('e4m3', 4, 256), ('bf16', 8, 100000), ('fp16', 11, 8192)):
    stop = []
    for divide in ('after', 'before', 'split') if wire == 'bf16' else ('before',):
        for row in rows(
            '--ranks', '2..%d' % most, '--all-reduce', 'ring,tree', '--all-reduce', 'wire=' + wire, '--all-reduce',
            'divide=' + divide, '--sample', '1', *unit
        ):
            n = row['ranks']
            want = max(0, 1 - 2**p / n) if row['order'] == 'ring' else 0
            if n & (n - 1) == 0 and not (
                math.isclose(row['rel_l2'], want, rel_tol=1e-6) and row['stagnated'] == (want > 0)
            ):
                stop.append([divide, n, row['rel_l2'], want])
    tap.none(stop, '%s: up to %d ranks a ring returns 2^%d/N of the mean, and a tree all of it' % (wire, most, p))

# Growth: over random gradients the ring's error grows at least like sqrt(N), the tree's at most like log N; the bounds
# like N and log N
noise = save('noise', [[rounded(Q(math.sin(k * k + 3 * i) + 1.5), 'fp32') for k in range(40)] for i in range(2)])
by = {
    (r['order'], r['ranks']): r
    for r in rows('--ranks', '16..1024:from=normal', '--all-reduce', 'wire=fp16,scale=2^-4', '--sample', 'all', *noise)
}
ring, tree = [by['ring', 1024][k] / by['ring', 16][k] for k in ('rel_l2', 'bound')], [
    by['tree', 1024][k] / by['tree', 16][k] for k in ('rel_l2', 'bound')
]
tap.ok(
    ring[0] >= 8 and 40 < ring[1] < 66 and tree[0] < 10 / 4 * 1.5 and tree[1] < 10 / 4,
    'from 16 to 1024 ranks: the ring\'s error times %.3g, its bound %.3g; the tree\'s %.3g and %.3g' % (*ring, *tree),
)

# Ranks that are drawn: mean and deviation in fractions, normal numbers by Marsaglia's polar method, everything anew.
# The records are an ulp or two apart around a mean that no double holds, so that sums of squares around 0 would cancel.


def normal(rank, place, seed=1):
    stream, attempt = fnv32('allreduce') ^ mix64(rank) & 0xFFFFFFFF, 0
    while True:
        w = philox((place, 0, attempt, stream), (seed, rank))
        x, y = ((2 * ((w[k + 1] << 32 | w[k]) >> 11)) * 2.0**-53 - 1 for k in (0, 2))
        if 0 < x * x + y * y < 1:
            return x * math.sqrt(-2 * math.log(x * x + y * y) / (x * x + y * y))
        attempt += 1


near = [[Q(1) + Q((7 * k + 3 * i * k + i * i) % 4, 2**23) + Q(k, 32) for k in range(30)] for i in range(3)]
means = [sum(x) / 3 for x in zip(*near)]
spreads = [math.sqrt(sum((v - m) ** 2 for v in x) / 2) for x, m in zip(zip(*near), means)]
drawn = [[rounded(Q(float(m) + d * normal(r, k)), 'fp32') for k, (m, d) in enumerate(zip(means, spreads))]
         for r in range(24)]
(row,) = rows('--ranks', '24:from=normal', '--all-reduce', 'ring:wire=fp32', '--sample', 'all', *save('near', near))
want = again(drawn, 'ring', 'fp32', 'fp32', 24, 1, 1)
tap.ok(min(spreads) > 0 and all(math.isclose(row[k], v, rel_tol=1e-9) for k, v in want.items()),
       'ranks drawn around means as far as their records spread, an ulp or two: %.4g' % row['rel_l2'], [row, want])

# --all-reduce scale=auto leaves room for every sum, of equal gradients too, and wastes at most two powers of two
scaled = []
for name, one in (('auto', Q(13, 8)), ('low', Q(3, 2**40))):
    same = save(name, [[one, one, -one, one / 1024]])
    for divide in 'after', 'before':
        for row in rows(
            '--ranks', '3..3000', '--all-reduce', 'ring,tree,hier:5', '--all-reduce', 'wire=fp16,e4m3,e5m2',
            '--all-reduce', 'scale=auto', '--all-reduce', 'divide=' + divide, '--sample', 'all', *same
        ):
            most = {'fp16': 65504, 'e4m3': 448, 'e5m2': 57344}[row['wire']]
            whole = Q(row['scale']) * one * (row['ranks'] if divide == 'after' else 1)
            if row['overflowed'] or row['loud_ranks'] or not most / 4 / 2 <= whole <= most / 2:
                scaled.append([divide, row])
tap.none(
    scaled,
    '--all-reduce scale=auto: no overflow, and the exact sum is between an eighth and a half of the largest number',
)

# A run's gradients are those that its update was given
run = home + '/run'
tap.halfulp('train', '--quiet', '--model', 'mlp', '--policy', 'mixed_float16', '--model', 'width=0.05', '--data',
            'size=8', '--batch', '4', '--data', 'train=16', '--data', 'eval=4', '--steps', '3', '--trace',
            'steps=0,2', run)
program = json.load(open(run + '/program-train.json'))
traced = []
for step in 0, 2:
    s = Safetensors('%s/trace/step-%06d.safetensors' % (run, step))
    x = []
    for t in program['tensors']:
        if t.get('trainable') and t.get('grad') is not None:
            g = t['grad'] if isinstance(t['grad'], str) else program['tensors'][t['grad']]['name']
            codes, stored = s.codes(g)
            x += [decode(c, stored) for c in codes]
    traced.append(x)
(row,) = rows('--ranks', '5', '--all-reduce', 'tree:wire=bf16', '--sample', 'all', run)
want = again(traced, 'tree', 'bf16', 'bf16', 5, 1, 1)
tap.ok(all(math.isclose(row[k], v, rel_tol=1e-12) for k, v in want.items()) and row['elements'] == len(traced[0]),
       'two traced steps of a run are two ranks\' gradients, %d elements' % len(traced[0]), [row, want])
one = rows('--ranks', '7', '--threads', '1', run)
tap.ok(one == rows('--ranks', '7', '--threads', '3', run), 'threads change nothing')

for words, code, why in (
    (files + unit, 3, 'other tensors'),
    ([home + '/none.npy'], 3, 'none.npy'),
    ([], 2, 'recorded gradients are needed'),
    (unit + ['--all-reduce', 'star'], 2, 'orders are ring'),
    (unit + ['--all-reduce', 'ring,star'], 2, 'orders are ring'),
    (unit + ['--all-reduce', 'kahan'], 2, 'orders are ring'),
    (unit + ['--all-reduce', 'hier'], 2, 'hier:64:8'),
    (unit + ['--ranks', '1'], 2, 'with 2 <= A'),
    (unit + ['--ranks', '4..x'], 2, 'with 2 <= A'),
    (unit + ['--ranks', '4..2'], 2, 'with 2 <= A'),
    (unit + ['--all-reduce', 'scale=3'], 2, 'power of two'),
    (unit + ['--ranks', 'from=normal'], 2, 'two records'),
    (unit + ['--all-reduce', 'wire=e8m0'], 2, 'no sums in'),
    (unit + ['--all-reduce', 'feedback'], 2, '--all-reduce feedback= has no effect in one step'),
    (unit + ['--all-reduce', 'divide=never'], 2, 'known are after, before, split'),
    (unit + ['--sample', 'all', '--seed', '3'], 2, 'nothing is random'),
):
    p = tap.halfulp('allreduce', *words)
    tap.ok(
        p.returncode == code and why in p.stderr and p.stderr.count('\n') == 1 and not p.stdout, '%d: %s' % (code, why),
        p.stderr + p.stdout
    )
tap.finish()
