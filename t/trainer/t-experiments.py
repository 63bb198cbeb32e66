# SPDX-License-Identifier: Apache-2.0
"""The pages of doc/experiments: commands that predict print what the page says; commands that train are run at a small
size, where their answer must have the page's shape; what the prose claims holds of the numbers below it, and its own
numbers are theirs. x-experiments.py runs all commands at the pages' size."""

import os
import re
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tool'))
from page import answer, command_of, read, shape, small, trains  # noqa: E402
from tap import HALFULP, TOP, finish, home, ok  # noqa: E402

PAGES = os.path.join(TOP, 'doc', 'experiments')
prose, answers = {}, {}
for name in sorted(n for n in os.listdir(PAGES) if n.endswith('.md')):
    page, folder = name.split('-')[0], home()
    pieces = read(os.path.join(PAGES, name))
    prose[page] = re.sub(r'\s+', ' ', ' '.join(p for p in pieces if isinstance(p, str)))
    answers[page] = ''.join(p[1] for p in pieces if isinstance(p, list))
    for piece in (p for p in pieces if isinstance(p, list)):
        title = '%s: %s' % (name, piece[0].splitlines()[0][2:70])
        if 'gnuplot' in piece[0] and not shutil.which('gnuplot'):
            ok(True, title + ' # SKIP there is no gnuplot')
        elif trains(piece):
            got = answer(small(command_of(piece)), HALFULP, folder)
            ok(shape(got) == shape(piece[1]), title + ' (small)', [got, shape(got), shape(piece[1])])
        else:
            got = answer(command_of(piece), HALFULP, folder)
            ok(got == piece[1], title, got)


def found(page, pattern):
    """The numbers of every line of the page's answers that fits PATTERN, groups being numbers."""
    rows = [[float(x) for x in m.groups()] for m in re.finditer(pattern, answers[page], re.M)]
    ok(rows, 'page %s has %s' % (page, pattern))
    return rows


def claim(page, holds, *sentences):
    """Each of SENTENCES stands on the page, and what they say HOLDS."""
    missing = [s for s in sentences if re.sub(r'\s+', ' ', s) not in prose[page]]
    ok(holds and not missing, 'page %s: %s' % (page, ' ... '.join(sentences)), missing or 'it does not hold')


# 1: published ratio, floors on the units and without
rows = found(
    '1',
    r'^batch +(\d+): published +(\d+) / +(\d+) ms = ([\d.]+); at least +([\d.]+) / +([\d.]+) = ([\d.]+) .* ([\d.]+) wi',
)
first, last = rows[0], rows[-1]
claim('1', True, '28 ms and one of float32 30 ms at batch 32 (%.2f)' % first[3], '377 and 415 ms at batch 512 (%.2f)'
      % last[3])
claim(
    '1', all(r[6] < 0.2 < 0.9 < r[3] for r in rows),
    'at least %.1f ms, %.2f of float32\'s %.1f' % (first[4], first[6], first[5])
)
claim('1', all(abs(r[7] - 0.96) < 0.004 for r in rows), 'with half the bytes it needs 0.96 of it')
three, eight = found('1', r'channels: mixed_float16 at least +([\d.]+) ms, of which launches ([\d.]+)')
claim('1', 0.05 < three[0] - eight[0] < 0.15 and three[1] < 0.5,
      'Eight channels would bring 0.1 ms of %.1f, launches are under half a millisecond' % three[0])

apart = found('1', r'_[b]?float16 +accuracy [\d.]+ %, difference ([-+][\d.]+) ± ([\d.]+)')
ok(len(apart) == 2, 'page 1 has two precisions of 16 bits')
claim('1', all(d > -2 * e for d, e in apart), 'Neither 16-bit precision is worse than float32 by two')

# 2: memory, time, losses
both = found('2', r'^  all +[\d.]+ -> +[\d.]+ MB, ([-+][\d.]+) %')
claim('2', both[0][0] < -27 and both[1][0] < -33, 'shrink by %.0f and %.0f %%' % (-both[0][0], -both[1][0]))
weights, masters = found('2', r'^  weights +([\d.]+) -> +([\d.]+) MB'), found(
    '2', r'^  masters +([\d.]+) -> +([\d.]+) MB'
)
claim('2', all(abs((w[1] + m[1]) / w[0] - 1.5) < 0.01 for w, m in zip(weights, masters)),
      'weights get half as large *again*')
share = found('2', r'^  (?:activations|gradients) .*MB, ([-+][\d.]+) % of all')
claim('2', sum(s[0] for s in share[:2]) < 0.98 * both[0][0] and sum(s[0] for s in share[2:]) < 0.98 * both[1][0],
      'nearly all of it activations and their gradients')
(explained,) = found('2', r'our tensors explain (\d+) of them, (\d+) %')
claim('2', explained[0] < 1980, '1980 MB our tensors explain %d' % explained[0])
time = found('2', r'mixed_float16 +[\d.]+: (-\d+) %')
claim('2', time[0][0] < -40 and time[2][0] > -10 > time[1][0] and time[3][0] < -40,
      'The roofline allows %d %% off the time' % -time[0][0], 'it allows %d %%' % -time[2][0])
(apart,) = found('2', r'mixed_float16 ([\d.]+) on average, ([\d.]+) at most')
claim('2', apart[0] < 0.01, 'by %.3f on average and %.3f at most' % tuple(apart))

one, two = found('2', r'^(?:cross-entropy|nt-xent) +([\d.]+) -> +[\d.]+ MB, ([-+][\d.]+) %')
claim('2', abs(two[0] / one[0] - 2) < 0.05 and abs(two[1] - one[1]) < 2,
      'Twice the rows take twice the memory, and half precision takes %.0f %% off it' % -two[1])
(views,) = found('2', r'partners found: ([\d.]+) %, ([\d.]+) %; distance ([\d.]+) on average, ([\d.]+) at most')
claim('2', min(views[:2]) > 10 * 100 / 63 and views[2] < 0.01,
      '%.0f %% find it in float32 and %.0f %% in mixed_float16' % tuple(views[:2]),
      'by %.3f on average and %.3f at most: they too' % tuple(views[2:]))

# 3: BERT's floors and scores
rows = found(
    '3',
    r'^\w+ +(?:mixed|autocast)_float16 +at least +([\d.]+) ms \(arithmetic +([\d.]+), memory +([\d.]+)\): ([\d.]+) ti',
)
claim(
    '3', rows[0][3] > 2 * 1.94, "a V100's roofline allows a factor of %.1f, an A100's %.1f" % (rows[0][3], rows[2][3])
)
claim('3', rows[0][2] > rows[0][1] and 1.2 < rows[1][2] / rows[0][2] < 1.3,
      "the step's bytes alone take %.1f ms on a V100 and its arithmetic %.1f" % (rows[0][2], rows[0][1]),
      'moves a quarter more of them (%.1f ms)' % rows[1][2])
scores = found('3', r'accuracy ([\d.]+) ± ([\d.]+), precision ([\d.]+), recall ([\d.]+)')
claim('3', len(scores) == 4 and all(abs(s[0] - scores[0][0]) <= 0.5 < min(s[1], scores[0][1]) for s in scores),
      "within half a point of float32's, less than the standard error")

# 4: factors, and what limits
factors = dict(re.findall(r'^([\w-]+) +published .*? v100 [\d.]+ / [\d.]+ = ([\d.]+)', answers['4'], re.M))
factors = {k: float(v) for k, v in factors.items()}
order = [factors[k] for k in ('bert-base', 'resnet50', 'ncf', 'unet')]
claim('4', all(f < 8 for f in order), "a V100's roofline allows %.1f, %.1f, %.1f and %.1f" % tuple(order))
claim('4', 0.9 < 3.47 / order[1] < 0.95 and 1.94 < order[0] / 2 and 1.81 < order[2] / 2,
      'nine tenths of what memory leaves possible', 'less than half of it')
memory = dict(re.findall(r'^([\w-]+): arithmetic \d+ %, memory (\d+) %', answers['4'], re.M))
claim('4', True, 'memory limits %s %% of mixed precision\'s floor for BERT, %s %% for ResNet-50 and %s %% for U-Net'
      % tuple(memory[k] for k in ('bert-base', 'resnet50', 'unet')))

# 5: energy and limits
half = found('5', r'^(?:resnet\d+) batch +\d+ mixed_float16 .*?([\d.]+) Wh')
full = found('5', r'^(?:resnet\d+) batch +\d+ float32 .*?([\d.]+) Wh')
saved = [100 * (1 - h[0] / f[0]) for h, f in zip(half, full)]
claim('5', len(saved) == 4 and max(saved) < 50, '%.0f to %.0f %% of the time' % (min(saved), max(saved)))
claim(
    '5',
    True,
    '%.1f to %.1f Wh in mixed precision and %.1f to %.1f in float32'
    % (half[3][0], half[2][0], full[3][0], full[2][0]),
)
limits = found('5', r'arithmetic +(\d+) %, memory +(\d+) %, latency +(\d+) %')
claim('5', all(x[1] > x[0] for x in limits), "is limited by memory in both precisions",
      "%d %% of float32's step and %d %% of mixed precision's" % (limits[0][2], limits[1][2]))

# 6: layer after layer
half, fp8 = (found('6', r'^%s .*accuracy ([\d.]+) %%.*cosine ([\d.]+)' % p) for p in ('mixed_float16', 'mixed_e4m3'))
claim('6', min(r[1] for r in half) >= 0.9999, 'stays at 0.9999 or above')
drop = [a[1] - b[1] for a, b in zip(fp8, fp8[1:])]
claim(
    '6',
    drop[0] == max(drop) and drop[2] == min(drop),
    'of the %.3f that the cosine loses, the first convolution costs %.3f and the third %.3f'
    % (1 - fp8[-1][1], drop[0], drop[2]),
)
claim('6', True, 'ranges from %.0f to %.0f %%' % (min(r[0] for r in half), max(r[0] for r in half)))
floor = [r[0] for r in found('6', r'at least +([\d.]+) ms')]
worth = [100 * (a - b) / floor[0] for a, b in zip(floor, floor[1:])]
claim('6', worth[2] > worth[1] > worth[0] > 0,
      "worth %.0f %% of float32's floor, the second %.0f %%, the third %.0f %%" % tuple(worth[:3]))

# 7: int8 and fp8, after training and in training, beside float32
rows = {m[1]: (float(m[2]), float(m[3]))
        for m in re.finditer(r'^(\w+ +[^.]*?) +accuracy ([\d.]+) %.*\(([-+][\d.]+)\)', answers['7'], re.M)}
rows = {' '.join(k.split()): v for k, v in rows.items()}
int8 = [
    (net, rows['%s int8:%s after training' % (net, g)])
    for net in ('convnet', 'resnet')
    for g in ('channel', 'tensor')
]
most, moved = max(abs(v[1]) for _, v in int8), max(abs(v[0] - rows[net + ' float32'][0]) for net, v in int8)
claim('7', moved <= 0.51, 'moves the loss of evaluation by at most %.4f and accuracy by at most half a point' % most)
trained = max(abs(rows[n + ' int8 qat in training'][0] - rows[n + ' float32'][0]) for n in ('convnet', 'resnet'))
claim('7', trained < 0.25, 'ends where float32 ends, within 0.2 points')
fp8 = [rows[n + ' mixed e4m3 after training'][1] for n in ('convnet', 'resnet')]
claim('7', min(fp8) > 2 * most, 'a loss higher by %.3f in both nets' % fp8[0])
deployed = {m[1]: (int(m[2]), float(m[3]))
            for m in re.finditer(r'^[a-z-]+ +(\S+) +(\d+) +\S+\.\.\S+ +\S+ +\S+ +\S+ +([\d.]+) ', answers['7'], re.M)}
int8, fp8 = deployed['int8'], deployed['e4m3']
claim(
    '7',
    int8[0] < fp8[0] and int8[1] > fp8[1] > deployed['int4:g128'][1] and deployed['int8:percentile'] == int8,
    'int8 changes %d of 400 decisions of the convnet and e4m3 %d' % (int8[0], fp8[0]),
    "changes %d of 400 decisions, its answers are float32's but for %.1f dB; `e4m3` changes %d, at %.1f dB" % (int8 + fp8),
    'is worth %.1f dB over one for a whole tensor' % (int8[1] - deployed['int8:tensor'][1]),
    'scales of each batch are worth %.1f dB more' % (deployed['int8:dynamic'][1] - int8[1]),
)

# 8: what every model reaches in each precision, and its differences to float32
scores = {}
for m in re.finditer(
    r'^(\w+) +\w+ +(?:accuracy|dice|hit_rate) +([\d.]+) ± [\d.]+, difference +([-+][\d.]+) ± ([\d.]+)', answers['8'], re.M
):
    scores.setdefault(m[1], []).append([float(x) for x in m.groups()[1:]])
ok(len(scores) == 8 and all(len(v) == 5 for v in scores.values()), 'page 8 has eight models in five precisions', scores)
mixed = [r for v in scores.values() for r in v[1:4]]
claim('8', True, ', '.join('%s %d' % (k, min(r[0] for r in v)) for k, v in scores.items()),
      'Of the %d means of mixed precision %d lie below' % (len(mixed), sum(d < -2 * e for _, d, e in mixed)))
ends = found('8', r'^(?:mlp|bert) +float(?:32|16) +accuracy +([\d.]+) %')
claim(
    '8',
    len(ends) == 4 and all(half[0] < full[0] - 10 for full, half in zip(ends[::2], ends[1::2])),
    'with the default the mlp ends at %.0f %% instead of %.0f and bert at %.0f instead of %.0f'
    % (ends[1][0], ends[0][0], ends[3][0], ends[2][0]),
)

# 9: recipes in four bits, and their parts
rows = re.finditer(r'^(gpt|net) ([\w-]+) +eval_loss [\d.]+, difference ([-+][\d.]+) ± ([\d.]+)$', answers['9'], re.M)
fp4 = {(m[1], m[2]): (float(m[3]), float(m[4])) for m in rows}
ok(len(fp4) == 16, 'page 9 has nine recipes of a gpt and seven of a convnet', fp4)
gpt = {k: v for (m, k), v in fp4.items() if m == 'gpt'}
claim('9', gpt['mxfp8'][0] < 0.05 * gpt['nvfp4'][0],
      "recipe ends with a loss higher by %.4f than bfloat16, MXFP8 by %.4f" % (gpt['nvfp4'][0], gpt['mxfp8'][0]))
claim(
    '9',
    abs(gpt['forward'][0] + gpt['backward'][0] - gpt['nvfp4'][0]) < 0.002,
    'alone cost %.4f and in the backward products alone %.4f, and both together their sum'
    % (gpt['forward'][0], gpt['backward'][0]),
)
claim('9', all(abs(gpt[k][0] - gpt['nvfp4'][0]) < gpt['nvfp4'][1] for k in ('to-nearest', 'no-hadamard', 'plain')),
      'changes the loss by less than one standard error of these differences')
claim('9', gpt['ends-high'][0] + gpt['ends-high'][1] < gpt['nvfp4'][0],
      'leaves some layers, takes %.0f %% of the difference away' % (100 * (1 - gpt['ends-high'][0] / gpt['nvfp4'][0])))
claim('9', all(abs(v[0]) <= 2 * v[1] for (m, k), v in fp4.items() if m == 'net'),
      'every difference is smaller than two standard errors')

# 10: losses of optimizers, and their differences to float32's
rows = re.finditer(r'^(\w+) +([\w:=]+) +eval_loss [\d.]+, difference ([-+][\d.]+) ± ([\d.]+)$', answers['10'], re.M)
ends = {m[1] + ' ' + m[2]: (float(m[3]), float(m[4])) for m in rows}
ok(len(ends) == 7, 'page 10 has seven optimizers', ends)
nearest, drawn, kept = (ends['bfloat16 adamw' + k] for k in ('', ':update=sr', ':update=kahan'))
claim('10', nearest[0] > 4.5 * nearest[1], 'rounded to nearest, end with a loss higher by %.4f, five standard errors'
      % nearest[0])
claim('10', abs(drawn[0]) < drawn[1], 'with stochastic rounding the difference is %+.4f, within one' % drawn[0])
claim('10', abs(kept[0]) < 5e-5, "with Kahan's compensation none is left")
high = [ends['mixed_bfloat16 ' + k][0] for k in ('adamw:state=bf16', 'adam8bit')]
claim('10', max(high) <= 0, 'neither bfloat16 moments nor adam8bit end above float32')

# 11: rows in two batches, gradients by the batch and the accumulator, micro-batches
beside = r'^(gpt|net), batch +(\d+) beside 128: +(\d+) of +(\d+) rows .*; first apart: (.*)$'
rows = re.findall(beside, answers['11'], re.M)
ok(len(rows) == 6, 'page 11 compares six batches', rows)
claim(
    '11',
    all(r[2] == r[3] and r[4] == 'nothing' for r in rows if r[0] == 'gpt')
    and all(r[2] == '0' and r[4] == 'bn1.y, by batch' for r in rows if r[0] == 'net'),
    "of a decoder's logits not one bit changes with the batch",
    'every row changes behind a layer that normalises over the batch',
)
found_sums = re.findall(r'^fma,acc=(\w+), batch +(\d+): .*error (.*)$', answers['11'], re.M)
sums = {(m[0], int(m[1])): float(m[2]) for m in found_sums}
ok(len(sums) == 8, 'page 11 has two accumulators by four batches', sums)
short = [sums['bf16', b] for b in (2, 8, 32, 128)]
claim('11', short == sorted(short), 'whose error grows with it where the accumulator is short',
      'off by %.3f of the sums\' magnitudes at 2 samples and by %.3f at 128' % (short[0], short[-1]))
claim('11', max(v for k, v in sums.items() if k[0] == 'fp32') < 5e-7, 'in float32 by less than 5e-07 at any of these')
moved = re.findall(r'^\d micro-batches: loss by (.*), gradient of block1_up.w by (.*)$', answers['11'], re.M)
claim('11', len(moved) == 3 and all(float(m[0]) == 0 < float(m[1]) < 5e-7 for m in moved),
      'leaves the loss of the first step as it was, bit for bit, and moves the gradient by less than 5e-07 of itself')

# 12: errors of accumulators by K, of positive terms and of terms of both signs
errors = {(m[1], m[2]): [float(x) for x in m[3].split()]
          for m in re.finditer(r'^(uniform|normal) +(\w+ +[\w:.=,]+) +([-\d.e+ ]+)$', answers['12'], re.M)}
ok(len(errors) == 18 and all(len(v) == 5 for v in errors.values()), 'page 12 has nine accumulators, twice', errors)
one = {k[1].split()[0] + ' ' + k[1].split()[1]: v for k, v in errors.items() if k[0] == 'uniform'}
both = [v for k, v in errors.items() if k[0] == 'normal']
fp16, bf16, fp8 = one['fp16 fma,acc=fp16'], one['bf16 fma,acc=bf16'], one['e4m3 tc:hopper']
nearest, chopped = one['bf16 avx512bf16'], one['bf16 tc:hopper']
claim(
    '12',
    True,
    'fp16 is off by %.1f %% at K = 4096 and by %.0f %% at 65536, bf16 by %.0f %% at 4096'
    % (fp16[2] * 100, fp16[4] * 100, bf16[2] * 100),
    'Hopper\'s fp8, which keeps 14 bits, by %.1f %%' % (fp8[2] * 100),
)
claim('12', all(0.00045 < e < 0.00055 for e in one['e4m3 tc:hopper,promote=128']), 'holds it at 0.05 % for every K')
claim('12', chopped[4] > 100 * nearest[4], 'costs nothing at these lengths (%.1e at 65536)' % nearest[4],
      'loses more than a hundred times as much (%.1e)' % chopped[4])
claim('12', max(map(max, both)) < 0.001, 'the worst of all is below 0.1 % at every K')
claim('12', chopped[2] < 2**-14 < min(chopped[3:]), 'from K = 16384 on bf16 on Hopper is no better than 14 bits')
worst = max(errors['normal', 'fp16 fma,acc=fp16'])
claim('12', worst < 2**-11, 'one rounding of an operand to fp16 may, 2^-11, at every K')
finish()
