# SPDX-License-Identifier: Apache-2.0
"""--all-reduce: what each rank adds, the order of every collective operation and its roundings to the wire's format,
all computed here from the tensors of traced steps; the same bits for any number of ranks, on the launch shim and
resumed; an overflow on the wire, the division before and after, and what is refused."""

import json
import math
import os
import re
import shutil
import sys

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(here, '..'), os.path.join(here, '..', '..', 'tool')]
from mpi import differences, need_mpi, ranks  # noqa: E402
from tap import TOP, finish, halfulp, ok  # noqa: E402
from trained import Trainings, f32  # noqa: E402

need_mpi(or_stub=True)
SMALL = '--model mlp --data size=8 --model width=0.03 --data train=48,eval=8 --quiet --trace steps=1 --steps 3 '
runs = Trainings(SMALL)
at, train, column, traced, resumed = runs.at, runs.train, runs.column, runs.traced, runs.resumed

WIRES = {'fp32': (24, -126), 'bf16': (8, -126), 'fp16': (11, -14), 'e5m2': (3, -14)}  # significant bits, least exponent


def rounded(x, name):
    """X to nearest even; no number here comes near the largest."""
    p, emin = WIRES[name]
    if x == 0:
        return 0.0
    e = max(math.frexp(x)[1] - 1, emin) - p + 1
    return math.ldexp(round(math.ldexp(x, -e)), e)  # of a half, round takes the even neighbour


def tree(parts, add):
    """By pairs of neighbours, one left over joining the next round."""
    while len(parts) > 1:
        parts = [add(*parts[i : i + 2]) if i + 1 < len(parts) else parts[i] for i in range(0, len(parts), 2)]
    return parts[0]


def ring(parts, add):
    total = parts[0]
    for x in parts[1:]:
        total = add(total, x)
    return total


def doubling(parts, add):
    """Where there are e ranks more than a power of two, the first 2e are added in pairs."""
    two = 1
    while 2 * two <= len(parts):
        two *= 2
    e = len(parts) - two
    return tree([add(parts[2 * i], parts[2 * i + 1]) for i in range(e)] + parts[2 * e :], add)


def halving(parts, add):
    """The same, and then partners half of all apart."""
    two = 1
    while 2 * two <= len(parts):
        two *= 2
    e = len(parts) - two
    parts = [add(parts[2 * i], parts[2 * i + 1]) for i in range(e)] + parts[2 * e :]
    while len(parts) > 1:
        half = len(parts) // 2
        parts = [add(parts[i], parts[i + half]) for i in range(half)]
    return parts[0]


def of_nodes(size):
    return lambda parts, add: doubling([ring(parts[i : i + size], add) for i in range(0, len(parts), size)], add)


# --- every model: which micro-batches a rank has, its sum of them, and the sum over ranks
ORDERS = (
    ('ring:4', 6, 4, ring, 'fp32'),
    ('ring:6,wire=bf16', 6, 6, ring, 'bf16'),
    ('tree:7,wire=bf16', 12, 7, doubling, 'bf16'),
    ('halving:8,wire=bf16', 8, 8, halving, 'bf16'),
    ('halving:6,wire=fp16', 6, 6, halving, 'fp16'),
    ('hier:8:3,wire=bf16', 8, 8, of_nodes(3), 'bf16'),
    ('ring:3,wire=e5m2', 4, 3, ring, 'e5m2'),
)
results = {}
for model, parts, R, order, wire in ORDERS:
    words = '--policy float32 --optimizer sgd:lr=0.125 --batch 24 --batch micro=%d --all-reduce %s'
    if not train(words % (parts, model), 'run-' + model):
        continue
    t, program = traced('run-' + model, 1), runs.program('run-' + model)
    name = [x['name'] for x in program['tensors']]
    calls = [c for c in program['calls'] if c['op'] == 'all_reduce']
    of_ranks, wrong, elements = [], [], 0
    for r in range(R):
        first, last = r * parts // R, (r + 1) * parts // R - 1
        of_ranks.append('_micro%d' % first + ('to%d' % last if last > first else ''))
    for c in calls:
        own = name[c['out'][0]]
        if [name[i] for i in c['in']] != [own + x for x in of_ranks] or c['phase'] != 'backward':
            wrong.append([own, [name[i] for i in c['in']]])
        each = [t['%s_micro%d' % (own, k)] for k in range(parts)]
        for i, got in enumerate(t[own]):
            sums = [tree([x[i] for x in each[r * parts // R : (r + 1) * parts // R]], lambda a, b: f32(a + b))
                    for r in range(R)]
            if sums != [t[own + x][i] for x in of_ranks]:
                wrong.append([own, i, 'own sums'])
            want = order([rounded(x, wire) for x in sums], lambda a, b: rounded(f32(a + b), wire))
            if want != got:
                wrong.append([own, i, want, got])
            elements += 1
    ok(len(calls) == 6 and elements > 200 and not wrong, '%s: %d sums of %d parts' % (model, elements, parts),
       wrong[:3])
    results[model] = column('run-' + model, 'digest')
    p = halfulp('analyze', '--only', 'replay,swamping', at('run-' + model))
    ok(p.returncode == 0 and '; 0 outside their call' in p.stdout, model + ': within its bounds', p.stdout + p.stderr)
ok(len(set(map(str, results.values()))) == len(ORDERS), 'no two of them train alike', str(results))

# --- a scale for the wire: what is sent is the sum times that, what arrives is divided by it
words = '--policy float32 --optimizer sgd:lr=0.125 --batch 24 --batch micro=6 --all-reduce ring:3,%s'
if train(words % 'wire=e5m2,scale=2^10', 'scaled') and train(words % 'wire=e5m2', 'bare'):
    t, program = traced('scaled', 1), runs.program('scaled')
    gradients = [x['name'] for x in program['tensors'] if x['name'].endswith('_sum')]
    wrong, elements = [], 0
    for own in (g[:-4] for g in gradients):
        for i, got in enumerate(t[own]):
            sums = [t[own + x][i] for x in ('_micro0to1', '_micro2to3', '_micro4to5')]
            sent = [x * 1024 for x in sums]
            total = ring([rounded(x, 'e5m2') for x in sent], lambda a, b: rounded(f32(a + b), 'e5m2'))
            if (
                [t['%s_sent%d' % (own, k)][i] for k in range(3)] != sent
                or t[own + '_sum'][i] != total
                or got != total / 1024
            ):
                wrong.append([own, i, sums, total, got])
            elements += 1
    ok(len(gradients) == 6 and elements > 200 and not wrong, 'scale=2^10: %d sums' % elements, wrong[:3])
    zeros = [sum(not x for g in gradients for x in traced(run, 1)[g[:-4]]) for run in ('scaled', 'bare')]
    ok(zeros[0] < zeros[1], 'of which fewer become 0: %d, and %d without it' % tuple(zeros))
    p = halfulp('analyze', '--only', 'replay', at('scaled'))
    ok(p.returncode == 0 and '; 0 outside their call' in p.stdout, 'within its bounds', p.stdout + p.stderr)
    p = ranks(2, 'train', *(SMALL + words % 'scale=2^10,wire=e5m2').split(), at('scaled2'))
    ok(p.returncode == 0 and column('scaled2', 'digest') == column('scaled', 'digest'),
       'two ranks have the same bits', p.stderr)
if train(words % 'wire=bf16,scale=2^-20', 'ranged'):
    p = train(words % 'wire=bf16', 'plain')
    ok(p and column('ranged', 'digest') == column('plain', 'digest'), 'bf16 has range enough: a scale changes nothing')

# --- what the ranks' own sums lose as they are first sent, in underflow.tsv
t, program = traced('run-ring:3,wire=e5m2', 1), runs.program('run-ring:3,wire=e5m2')
name = [x['name'] for x in program['tensors']]
p = halfulp('analyze', '--only', 'underflow', at('run-ring:3,wire=e5m2'))
lines = [x.rstrip('\n').split('\t') for x in open(at('run-ring:3,wire=e5m2/analysis/underflow.tsv')) if x[0] != '#']
told = {int(x[1]): dict(zip(lines[0], x)) for x in lines[1:] if x[1] != '-'} if p.returncode in (0, 1) else {}
wrong, zeros = [p.stderr] if p.stderr or not told else [], 0
for c in (c for c in program['calls'] if c['op'] == 'all_reduce'):
    x = [v for i in c['in'] for v in t[name[i]]]
    y = [rounded(v, 'e5m2') for v in x]
    gone = [v for v, w in zip(x, y) if v and not w]
    small = sum(0 < abs(w) < 2.0**-14 for w in y)
    norm = lambda z: math.sqrt(math.fsum(v * v for v in z))
    count = {'elements': len(x), 'nonzeros': sum(map(bool, x)), 'became_zero': len(gone), 'ftz': len(gone) + small}
    count.update(became_subnormal=small, overflow=0)
    share = {'share_nonzeros': len(gone) / count['nonzeros'], 'share_elements': len(gone) / len(x)}
    share.update(
        l2_share_lost=norm(gone) / norm(x), cosine=math.fsum(v * w for v, w in zip(x, y)) / norm(x) / norm(y)
    )
    row = told.get(c['id'], {})
    wrong += [(row, k, v) for k, v in count.items() if row.get(k) is None or int(row[k]) != v]
    wrong += [(row, k, v) for k, v in share.items() if not math.isclose(float(row.get(k, 'nan')), v, rel_tol=1e-12)]
    wrong += [row] if (row.get('from'), row.get('to')) != ('fp32', 'e5m2') else []
    zeros += len(gone)
ok(not wrong and zeros > 0, 'underflow.tsv: of what ranks send %d values become 0' % zeros, wrong[:3])

# --- the tree of additions is what there is without the option
MORE = '--policy mixed_float16 --batch 12 --batch micro=6 --optimizer clip_norm=0.5 --loss-scale init=1024 '
if train(MORE, 'none') and train(MORE + '--all-reduce tree', 'tree'):
    same = all(
        open(at('none', f)).read() == open(at('tree', f)).read() for f in ('program-train.json', 'program-eval.json')
    )
    ok(same and column('none', 'digest') == column('tree', 'digest'), '--all-reduce tree is what there is without it')

# --- one process, two, three and four ranks; the launch shim; verify; a resumed run
RING = MORE + '--all-reduce ring:5,wire=bf16 --optimizer adamw --checkpoint-every 1 --trace steps=2 '
if train(RING, 'one'):
    for n in (1, 2, 3, 4):
        p = ranks(n, 'train', *(SMALL + RING).split(), at('ranks%d' % n))
        wrong = differences(at('one'), at('ranks%d' % n)) if p.returncode == 0 else [p.stderr]
        ok(not wrong, '%d rank%s: tables, trace and checkpoint of one process' % (n, 's' if n > 1 else ''), wrong)
    ok(column('one', 'digest') != column('none', 'digest'), 'which are not those of the tree')
    if train(RING + '--backend shim', 'shim'):
        ok(column('shim', 'digest') == column('one', 'digest'), 'the launch shim has the same bits')
    p = halfulp('verify', at('one'))
    ok(p.returncode == 0, 'verify repeats them', p.stdout + p.stderr)
    p = resumed('one', 'again', 2)
    ok(p.returncode == 0 and column('again', 'digest') == column('one', 'digest'), 'so does a resumed run', p.stderr)

# --- gradients that the accumulator holds and the wire does not: the step is skipped, on every rank
OVER = '--policy float32 --optimizer sgd --batch 12 --batch micro=4 --loss-scale dynamic:init=2^22 '
if train(OVER + '--all-reduce ring:4', 'wide') and train(OVER + '--all-reduce ring:4,wire=fp16', 'narrow'):
    got = column('wide', 'skipped'), column('narrow', 'skipped')
    ok(got == (['0'] * 3, ['1'] * 3), 'an overflow on the wire skips the step', got)
    p = ranks(3, 'train', *(SMALL + OVER + '--all-reduce ring:4,wire=fp16').split(), at('narrow3'))
    wrong = differences(at('narrow'), at('narrow3')) if p.returncode == 0 else [p.stderr]
    ok(not wrong, 'of three ranks too', wrong)

# --- the division by the number of ranks, before and after
HALF = '--policy float32 --optimizer sgd --batch 12 --batch micro=6 --all-reduce ring:%s,divide=%s'
if all(train(HALF % (4, w), w) for w in ('before', 'after')) and train(HALF % ('3,wire=bf16', 'after'), 'third'):
    ok(column('before', 'digest') == column('after', 'digest'), 'by a power of two, in float32: the same bits')
    t, wrong = traced('third', 1), 0
    for g in [k for k in runs.program('third')['tensors'] if k['name'].endswith('_sum')]:
        wrong += any(f32(x * f32(1 / 3)) != y for x, y in zip(t[g['name']], t[g['name'][:-4]]))
    ok(not wrong, 'by three: a call scale behind the all-reduce')
    rows = len(t['input.labels']) // 6
    p, labels, bias = t['loss.p_micro2'], t['input.labels_micro2'], t['dense3.db_micro2']
    want = [sum(p[r * 10 + j] - (labels[r] == j) for r in range(rows)) / rows * 3 / 6 for j in range(10)]
    ok(max(abs(a - b) for a, b in zip(want, bias)) < 2.0**-20, "and a rank divides by its own number of micro-batches")

for words, why in (
    ('--all-reduce ring:4', 'of 1 micro-batch 4 ranks cannot have one each; say --batch micro=4 or more'),
    ('--all-reduce ring:4 --batch micro=2', 'of 2 micro-batches 4 ranks cannot have one each'),
    ('--all-reduce ring:1 --batch micro=2', 'say two or more'),
    ('--all-reduce fma --batch micro=2', 'fma adds no sums of several ranks; ring:N, tree:N'),
    ('--all-reduce rong:2 --batch micro=2', 'did you mean ring'),
    ('--all-reduce ring:2,wire=bf17 --batch micro=2', 'bf17'),
    ('--all-reduce ring:2,scale=3 --batch micro=2', 'scale=3: a power of two from 2^-96 to 2^96'),
    ('--all-reduce ring:2,scale=0 --batch micro=2', 'scale=0: a power of two'),
    ('--all-reduce ring:2,scale=-2 --batch micro=2', 'scale=-2: a power of two'),
    ('--all-reduce ring:2,scale=2^97 --batch micro=2', 'scale=2^97: a power of two'),
    ('--all-reduce ring:2,scale=x --batch micro=2', 'scale=x: a power of two'),
    ('--all-reduce hier:2 --batch micro=2', 'hier:64:8'),
    ('--all-reduce divide=after --batch micro=2', 'no --all-reduce names ranks'),
    ('--all-reduce ring:2,divide=never --batch micro=2', 'before or after is needed'),
):
    p = halfulp('train', *(SMALL + '--batch 12 ' + words).split(), at('x'))
    ok(p.returncode == 2 and why in p.stderr and p.stderr.count('\n') == 1, 'train %s: %s' % (words, why), p.stderr)
ok(not os.path.exists(at('x')), 'none of these left a run')

# --- the manual's lines and the numbers that it gives
page = open(os.path.join(TOP, 'doc/cluster.md')).read()
section = page[page.index('### What an all-reduce does') : page.index('### Slurm')]
lines = re.findall(r'^    halfulp (.*)$', section, re.M)
zeroed = {}
os.makedirs(at('runs'))
for wire in ('e4m3', 'bf16', 'e5m2', 'e4m3,scale=2^8', None):
    shutil.rmtree(at('runs/ring'), ignore_errors=True)
    how = [w.replace('wire=e4m3', 'wire=%s' % wire) for w in lines[0].split()]
    p = halfulp(*(how if wire else [w for w in how if 'ring:' not in w and w != '--all-reduce']), cwd=at('.'))
    said = halfulp(*lines[1].split(), cwd=at('.')).stdout if p.returncode == 0 else p.stderr
    zeroed[wire] = re.search(r'last step: (\S+) of the weight', said)[1]
    if wire == 'e4m3':
        ok(re.search(r'```\n(underflow .*)\n```', section)[1] in said, 'the manual: what e4m3 loses', said)
ok('Without `--all-reduce` %s of them' % zeroed[None] in section and 'with a wire in bf16 %s, in e5m2 %s'
   % (zeroed['bf16'], zeroed['e5m2']) in section, 'and what other wires do', zeroed)
ok('With `wire=e4m3,scale=2^8`' in section and 'on the way, it is %s;' % zeroed['e4m3,scale=2^8'] in section,
   'and a scale for the wire', zeroed)

# --- the plan has the calls, and the additions of every rank
p = halfulp('plan', '--json', *'--model mlp --batch 12 --batch micro=4 --all-reduce ring:4'.split())
q = halfulp('plan', '--program', *'--model mlp --batch 12 --batch micro=4 --all-reduce ring:4,wire=fp16'.split())
ok(p.returncode == q.returncode == 0 and json.loads(p.stdout), 'plan counts them', p.stderr + q.stderr)
ok(q.stdout.count('sum=ring:4,acc=fp32,wire=fp16') == 6, 'and prints their models', q.stdout[-400:])
finish()
