#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# allreduce where things go wrong: gradients of a training's own ranks, gradients that are not finite, the number of
# ranks at which a format breaks, and sums that leave the range of the wire, the accumulator or fp32. Computed again in
# fractions, from the files.
import json
import math
import os
import re
import sys
from fractions import Fraction as Q

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)) + '/../../tool')
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)) + '/../../judge')
import tap  # noqa: E402
from independent.all_reduce import again, rounded, same, write  # noqa: E402
from independent.files import Safetensors  # noqa: E402
from independent.number import decode  # noqa: E402

os.chdir(tap.home())
INF, NAN = math.inf, None


def run(*words):
    p = tap.halfulp(*words)
    if p.returncode:
        tap.bail_out(p.stderr)
    return p.stdout


def allreduce(*words):
    """The rows, and for each order and wire format what is concluded in words."""
    rows = json.loads(run('allreduce', '--json', *words))
    return rows, dict(re.findall(r'^(\S+, \S+): (.*)$', run('allreduce', *words), re.M))


def save(name, records):
    files = ['%s%d.safetensors' % (name, i) for i in range(len(records))]
    for f, x in zip(files, records):
        write(f, x)
    return files


def told(rows, tolerance=0.1):
    """What is to be concluded of the rows of one order and wire format, from their figures."""
    broken = [r['overflowed'] > 0 or r.get('nonfinite', 0) > 0 or (r['rel_l2'] or 0) > tolerance for r in rows]
    if True not in broken:
        return 'holds up to %d ranks' % rows[-1]['ranks']
    k = broken.index(True)
    why = ', by overflow' if rows[k]['overflowed'] else ''
    why = ', as gradients are not finite' if rows[k].get('nonfinite') else why
    if k:
        return 'holds at %d ranks, breaks at %d%s' % (rows[k - 1]['ranks'], rows[k]['ranks'], why)
    return 'breaks at %d ranks%s' % (rows[0]['ranks'], why)


# --- what the ranks of a training had: the operands of its calls all_reduce
SMALL = '--model mlp:width=0.02 --data size=8,train=32,eval=8 --batch 16 --quiet'.split()
AFTER = ['--all-reduce', 'divide=after', '--batch', 'micro=4']
for ranks, wire, more in (4, 'e5m2', []), (2, 'bf16', AFTER):
    name = 'own%d' % ranks
    words = more if any(w.startswith('micro=') for w in more) else [*more, '--batch', 'micro=' + str(ranks)]
    order = '--all-reduce', 'ring:%d,wire=%s' % (ranks, wire), '--steps', '2', '--trace', 'steps=0,1'
    run('train', *SMALL, '--policy', 'mixed_bfloat16', *words, *order, name)
    program = json.load(open(name + '/program-train.json'))
    names = {t['id']: t['name'] for t in program['tensors']}
    calls = [c for c in program['calls'] if c['op'] == 'all_reduce']
    records = []
    for step in 0, 1:
        trace = Safetensors('%s/trace/step-%06d.safetensors' % (name, step))
        for r in range(ranks):
            records.append([])
            for c in calls:
                codes, stored = trace.codes(names[c['in'][r]])
                records[-1] += [decode(code, stored) for code in codes]
    options = '--all-reduce', 'ring:acc=fp32,wire=' + wire, '--ranks', '%d..%d' % (ranks, 3 * ranks)
    (rows, _), wrong = allreduce(*options, '--sample', 'all', name), []
    for row in rows:
        wrong += same(row, again(records, 'ring', wire, 'fp32', row['ranks'], 1, 1))
    if wire == 'e5m2':  # which analyze counts too, call by call
        run('analyze', '--only', 'underflow', '--sample', 'all', name)
        lines = [l.split('\t') for l in open(name + '/analysis/underflow.tsv') if not l.startswith('#')]
        at = [dict(zip(lines[0], l)) for l in lines[1:]]
        at = [x for x in at if x['step'] == '0' and x['call'] in [str(c['id']) for c in calls]]
        share = sum(int(x['became_zero']) for x in at) / sum(int(x['nonzeros']) for x in at)
        if not math.isclose(rows[0]['underflowed'], share) or not share > 0:
            wrong.append('analyze has %s underflow, allreduce %s' % (share, rows[0]['underflowed']))
    tap.none(wrong, '%d ranks of a training in %s: each has what it handed to all_reduce' % (ranks, wire))

# --- gradients that are not finite
fine = [Q(1), Q(-2), Q(3, 8), Q(5, 64)]
for name, records in (
    ('allbad', [[Q(1), INF, Q(2)], [INF, INF, INF], [NAN, Q(1), Q(2)]]),
    ('onebad', [fine, [Q(1), INF, Q(1, 4), Q(1)]]),
    ('opposed', [[INF, *fine], [-INF, *fine]]),
    ('third', [fine, fine, [NAN, *fine[1:]]]),
    ('none', [fine, fine]),
):
    files, wrong = save(name, records), []
    for options, steps in ([], 1), (['--steps', '2'], 2), (['--steps', '3', '--all-reduce', 'feedback'], 3):
        words = '--ranks', '2..4', '--all-reduce', 'ring,tree:wire=fp16,e4m3', '--sample', 'all', *options, *files
        rows, said = allreduce(*words)
        for row in rows:
            feedback = 'feedback' in options
            want = again(records, row['order'], row['wire'], row['wire'], row['ranks'], 1, 1, steps, feedback)
            wrong += same(row, want)
            if want['nonfinite'] and not (row['broken'] and row['bound'] == 'inf'):
                wrong.append(['not finite, and yet it holds or has a bound', row])
        for key, text in said.items():
            of = [r for r in rows if '%s, %s' % (r['order'], r['wire']) == key]
            if text != told(of) or (name != 'none') != text.endswith(', as gradients are not finite'):
                wrong.append([key, text, told(of)])
    tap.none(wrong, 'gradients that are not finite (%s): counted, and said' % name)
hidden = save('hidden', [[Q(1)] * 400 + [INF], [Q(1)] * 401])
rows, said = allreduce('--ranks', '2', '--all-reduce', 'ring:wire=fp16', '--sample', '1', *hidden)
tap.ok(
    rows[0]['broken'] and rows[0].get('nonfinite') == 1 and 'not finite' in said['ring, fp16'],
    'also in elements that are not sampled',
    [rows, said],
)

scaled = '--policy mixed_float16 --loss-scale dynamic:init=2^40 --steps 2 --trace steps=0'.split()
p = tap.halfulp('train', *SMALL, *scaled, 'skipped')
rows, said = allreduce('--ranks', '2..100', '--all-reduce', 'ring:wire=fp16', 'skipped')
tap.ok(
    all(r['broken'] for r in rows)
    and said['ring, fp16'] == told(rows) == 'breaks at 2 ranks, as gradients are not finite',
    'nor does a step hold that loss scaling skipped',
    [p.stderr, said, rows[0]],
)

# --- at how many ranks it breaks. Of equal terms a ring returns 2^p/N from 2^p ranks on, and a tree all
one, wrong = save('one', [[Q(1)] * 5]), []
for wire, p, of, tolerance in (
    ('bf16', 8, '256..512', '0.1'),
    ('bf16', 8, '3..1000', '0.3'),
    ('bf16', 8, '256..600', '0.5'),  # at 512 ranks the error is the tolerance, and holds
    ('e4m3', 4, '2..64', '0.01'),
    ('e4m3', 4, '2..16', '0.1'),
):
    words = '--ranks', of, '--all-reduce', 'ring,tree:wire=' + wire, '--tolerance', tolerance, '--sample', 'all', *one
    rows, said = allreduce(*words)
    first, last = map(int, of.split('..'))
    bound = next((n for n in range(first, last + 1) if not 1 - Q(2**p, n) <= Q(tolerance)), None)
    ring = [r for r in rows if r['order'] == 'ring']
    want = 'holds at %d ranks, breaks at %d' % (bound - 1, bound) if bound else 'holds up to %d ranks' % last
    if said != {'ring, ' + wire: want, 'tree, ' + wire: 'holds up to %d ranks' % last}:
        wrong.append([of, tolerance, said, want])
    tried = [r['ranks'] for r in ring]
    doubled = [first << k for k in range(20) if first << k < last] + [last]
    ordered = tried == sorted(set(tried)) and set(doubled) <= set(tried) and len(tried) <= 30
    if not ordered or told(ring, float(tolerance)) != want:
        wrong.append([of, tolerance, tried])
tap.none(wrong, 'a ring over equal terms breaks at the number of ranks that follows from its precision')

mixed = [[rounded(Q(math.sin(5 * k + i)), 'fp32') for k in range(9)] for i in range(3)]
words = '--ranks', '2..64', '--all-reduce', 'ring,halving,hier:4,wire=e4m3,e5m2', '--tolerance', '0.15'
rows, said = allreduce(*words, '--sample', 'all', *save('mixed', mixed))
wrong, pairs = [], 0
for key, text in said.items():
    of = [r for r in rows if '%s, %s' % (r['order'], r['wire']) == key]
    m = re.fullmatch(r'holds at (\d+) ranks, breaks at (\d+)', text)
    for row in of:
        wrong += same(row, again(mixed, row['order'], row['wire'], row['wire'], row['ranks'], 1, 1))
    if text != told(of, 0.15) or (m and int(m[2]) != int(m[1]) + 1):
        wrong.append([key, text])
    pairs += m is not None
tap.none(wrong, 'so do other gradients, between neighbours: the last that holds and the first that does not')
tap.ok(pairs > 1, '%d of %d break' % (pairs, len(said)), said)

# --- ranges: of the wire, the accumulator and fp32, in which gradients are scaled
top = (2 - Q(2) ** -23) * Q(2) ** 127
cases, wrong, unbounded, scaled = 0, [], [], []
for name, records in (
    ('k', [[Q(300), Q(-448), Q(1)], [Q(300), Q(-440), Q(2)]]),
    ('big', [[top, Q(1)], [top / 2, Q(-3)]]),
    ('wide', [[top, -top], [top, -top]]),
    ('tiny', [[Q(1, 2**140), Q(3, 2**149)], [Q(1, 2**141), Q(0)]]),
):
    files = save(name, records)
    for scale in 'auto', '1', '2^24', '2^-64':
        for acc in 'wire', 'fp16', 'fp64':
            for more in (
                [],
                ['--all-reduce', 'divide=before'],
                ['--steps', '2'],
                ['--steps', '3', '--all-reduce', 'feedback'],
            ):
                words = '--ranks', '2..4', '--all-reduce', 'ring,tree:wire=fp64,fp32,e4m3,scale=' + scale
                words += '--all-reduce', 'acc=' + acc, '--sample', 'all', '--json'
                for row in json.loads(run('allreduce', *words, *more, *files)):
                    steps = int(more[1]) if '--steps' in more else 1
                    divisor = row['ranks'] if 'divide=before' in more else 1
                    how = row['order'], row['wire'], row['acc'], row['ranks'], divisor, Q(row['scale'])
                    want = again(records, *how, steps, 'feedback' in more)
                    cases += 1
                    wrong += [[name, scale, acc, *more, x] for x in same(row, want)]
                    # A wire of few bits may round a mean near fp32's largest number up, beyond it: no scale helps
                    beyond = name == 'wide' or name == 'big' and row['wire'] == 'e4m3'
                    bound = math.nan if row['bound'] is None else float(row['bound'])
                    if want['overflowed'] or want['loud_ranks']:
                        if bound != INF:
                            unbounded.append(['overflow within a bound', name, scale, acc, more, row])
                        if scale == 'auto' and (want['loud_ranks'] or not beyond):
                            scaled.append(['overflow under a scale that is to exclude it', name, acc, more, row])
                    elif not (row['rel_l2'] or 0) <= bound:
                        unbounded.append(['an error above its bound', name, scale, acc, more, row])
                    elif scale == 'auto' and bound == INF and not beyond:
                        scaled.append(['no bound', name, acc, more, row])
tap.none(wrong, '%d rows at the ends of ranges computed again' % cases)
tap.none(unbounded, 'no overflow within a bound, and no error above one')
tap.none(scaled, 'no overflow under --all-reduce scale=auto, whose sums have a bound')
tap.finish()
