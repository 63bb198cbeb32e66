# SPDX-License-Identifier: Apache-2.0
"""--all-reduce ...,feedback: what each rank sends and the error that it keeps, computed here from the tensors of traced
steps, among them skipped ones and one after which the loss scale grew; the same bits for any number of ranks, on the
launch shim and resumed by other numbers of ranks; which ranks hold and send what; how much less is lost, also as the
simulation of the same steps says; the plan; and what is refused."""

import json
import math
import os
import re
import subprocess
import sys

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(here, '..'), os.path.join(here, '..', '..', 'tool')]
from mpi import differences, need_mpi, ranks  # noqa: E402
from tap import HALFULP, TOP, finish, halfulp, has_shim, ok  # noqa: E402
from trained import Trainings, f32  # noqa: E402

need_mpi(or_stub=True)
SMALL = (
    '--model mlp --data size=8 --model width=0.03 --data train=96,eval=8 --quiet --steps 6 --trace steps=0,1,2,3,4,5 '
)
runs = Trainings(SMALL)
at, train, column, traced, resumed = runs.at, runs.train, runs.column, runs.traced, runs.resumed
NAN = float('nan')
# significant bits, least exponent, largest number, and what is beyond it
WIRES = {'bf16': (8, -126, 2.0**127 * (2 - 2.0**-7), math.inf), 'fp16': (11, -14, 65504.0, math.inf)}
WIRES.update(e4m3=(4, -6, 448.0, NAN), e5m2=(3, -14, 57344.0, math.inf))


def rounded(x, name):
    """X to nearest even."""
    p, emin, most, beyond = WIRES[name]
    if x == 0 or not math.isfinite(x):
        return NAN if name == 'e4m3' and math.isinf(x) else x
    e = max(math.frexp(x)[1] - 1, emin) - p + 1
    y = math.ldexp(round(math.ldexp(x, -e)), e)  # of a half, round takes the even neighbour
    return y if abs(y) <= most else math.copysign(beyond, x)


def ring(parts, wire):
    total = parts[0]
    for x in parts[1:]:
        total = rounded(f32(total + x), wire)
    return total


def tree(parts, wire):
    """Of a power of two of ranks, neighbours first."""
    while len(parts) > 1:
        parts = [rounded(f32(a + b), wire) for a, b in zip(parts[::2], parts[1::2])]
    return parts[0]


def alike(x, y):
    return x == y or (x != x and y != y)


def sums(program):
    """The gradients that an all-reduce adds, each with the number of its operands and what those are cast to."""
    name = [x['name'] for x in program['tensors']]
    for c in program['calls']:
        if c['op'] == 'all_reduce':
            own = name[c['out'][0]]
            yield own[:-4] if own.endswith('_sum') else own, len(c['in']), [name[i] for i in c['in']]


def part(r, R, words):
    """The end of the name of rank r's sum of its micro-batches."""
    n = int(words.split('--batch micro=')[1].split()[0])
    first, last = r * n // R, (r + 1) * n // R - 1
    return '_micro%d' % first + ('to%d' % last if last > first else '')


# --- every state of every step: what is sent is the cast of term + error, the error's next value is what the cast lost
RUNS = (
    ('plain', 'ring:3,wire=e4m3,scale=2^8', 'e4m3', ring, 256.0, '--policy float32 --batch micro=6'),
    ('bare', 'tree:4,wire=e5m2', 'e5m2', tree, 1.0, '--policy float32 --batch micro=4'),
    ('bf16', 'ring:2,wire=bf16', 'bf16', ring, 1.0, '--policy mixed_bfloat16 --batch micro=4'),
    ('grown', 'ring:2,wire=fp16,scale=2^-3', 'fp16', ring, 0.125,
     '--policy float32 --batch micro=4 --loss-scale dynamic:init=2^24,interval=1'),
    ('skipping', 'ring:5,wire=e4m3,scale=2^-2', 'e4m3', ring, 0.25,
     '--policy mixed_float16 --batch micro=6 --loss-scale dynamic:init=2^14,interval=2'),
)  # fmt: skip
BASE = '--optimizer adamw --batch 12 --all-reduce %s,feedback '
for run, model, wire, order, scale, words in RUNS:
    if not train(BASE % model + words, run):
        continue
    program, kept, wrong, checked, moved = runs.program(run), {}, [], 0, 0
    skipped, dynamic = column(run, 'skipped'), 'dynamic' in words
    for step in range(6):
        t = traced(run, step)
        loss_scale, skip = t['scaler.scale'][0] if dynamic else 1.0, skipped[step] == '1'
        for own, R, sent in sums(program):
            for r in range(R):
                e, y, q = (t['%s_%s' % (own, w % r)] for w in ('error%d', 'corrected%d', 'corrected%d@' + wire))
                after = t['%s_error%d_next' % (own, r)]
                had = t['%s_sent%d' % (own, r)] if scale != 1 else t[own + part(r, R, words)]
                if sent[r] != '%s_corrected%d@%s' % (own, r, wire):
                    wrong.append([step, own, r, 'is not what is sent'])
                for i, x in enumerate(had):
                    before = kept.get((own, r, i), 0.0)
                    want_y = f32(x + f32(before * loss_scale)) if math.isfinite(x) else x
                    want_q = rounded(want_y, wire)
                    lost = want_y - want_q if math.isfinite(want_q) else NAN
                    want = before if skip else f32(lost / loss_scale)
                    pairs = [(e[i], before), (y[i], want_y), (q[i], want_q), (after[i], want)]
                    if not all(alike(*pair) for pair in pairs):
                        wrong.append([step, own, r, i, pairs])
                    kept[own, r, i] = want
                    moved += want != 0
                    checked += 1
            for i, got in enumerate(t[own]):
                total = order([t[s][i] for s in sent], wire)
                if math.isfinite(total) and got != f32(total / scale):
                    wrong.append([step, own, i, got, total / scale])
    ok(checked > 5000 and moved > 1000 and not wrong, '%s: %d errors of ranks in 6 steps, skipped: %s' % (
        model, checked, ' '.join(skipped)), wrong[:3])  # fmt: skip
    p = halfulp('analyze', '--only', 'replay,swamping,underflow', at(run))
    ok(p.returncode == 0 and '; 0 outside their call' in p.stdout, model + ': within its bounds', p.stdout + p.stderr)
    lines = [x.rstrip('\n').split('\t') for x in open(at(run, 'analysis/replay.tsv')) if x[0] != '#']
    judged = {x[5] for x in lines[1:]}
    new = [x for x in program['tensors'] if re.search(r'_(error|corrected)', x['name'])]
    want = {x['name'] for x in new if not x.get('state')}
    text = '%s: replay judged the %d tensors of these calls' % (model, len(want))
    ok(len(want) > 40 and want <= judged, text, want - judged)
ok('0 1' in ' '.join(column('skipping', 'skipped')), 'a step was skipped after others that were not')
scales = {x for x in column('grown', 'loss_scale')}
ok(len(scales) > 1 and '1' in column('grown', 'skipped'), 'the loss scale fell and grew', scales)

# --- one process, two, three and four ranks; the launch shim; verify; resumed by another number of ranks
SKIP = BASE % RUNS[-1][1] + RUNS[-1][5] + ' --checkpoint-every 1 '
if train(SKIP, 'one'):
    ok(column('one', 'digest') == column('skipping', 'digest'), 'checkpoints change nothing')
    for n in (1, 2, 3, 4):
        p = ranks(n, 'train', *(SMALL + SKIP).split(), at('ranks%d' % n))
        wrong = differences(at('one'), at('ranks%d' % n)) if p.returncode == 0 else [p.stderr]
        ok(not wrong, '%d rank%s: tables, traces and checkpoint of one process' % (n, 's' if n > 1 else ''), wrong)
    p = halfulp('verify', at('one'))
    ok(p.returncode == 0, 'verify repeats them', p.stdout + p.stderr)
    for run, n in (('one', 3), ('ranks2', 1), ('ranks3', 4), ('ranks4', 2)):
        again = '%s-by-%d' % (run, n)
        p = resumed(run, again, 3, lambda *w: ranks(n, *w) if n > 1 else halfulp(*w))
        wrong = differences(at('one'), at(again)) if p.returncode == 0 else [p.stderr]
        ok(not wrong, '%s resumed by %d: the same' % (run, n), wrong)
    begun = SKIP + '--init ' + at('one/checkpoint/step-000006.safetensors')
    if train(begun, 'begun'):
        p = ranks(3, 'train', *(SMALL + begun).split(), at('begun3'))
        wrong = differences(at('begun'), at('begun3')) if p.returncode == 0 else [p.stderr]
        ok(not wrong, 'three ranks that begin with the weights of a file have no errors at first either', wrong)
    if has_shim():
        for n in (1, 3):
            p = ranks(n, 'train', *(SMALL + SKIP + '--backend shim').split(), at('shim%d' % n))
            same = p.returncode == 0 and column('shim%d' % n, 'digest') == column('one', 'digest')
            ok(same, 'the launch shim on %d rank%s: the same bits' % (n, 's' if n > 1 else ''), p.stderr)

# --- each rank holds its own errors alone, and sends what it casts: 1 byte a number of e4m3, and 4 of what it had
BARE = SMALL + '--policy float32 --optimizer sgd --batch 12 --batch micro=6 --all-reduce ring:5,wire=e4m3%s'
size = {}
for words in ('', ',feedback'):
    if ranks(3, 'train', *(BARE % words).split(), at('spread' + words)).returncode == 0:
        size[words] = [sum(map(int, column('spread' + words, k, 'ranks.tsv'))) for k in ('memory', 'bytes_sent')]
if len(size) == 2:
    new, parameters, away = 0, 0, 0
    for x in runs.program('spread,feedback')['tensors']:
        n = math.prod(x['shape'])
        new += 4 * n * bool(re.search('_error|_corrected', x['name']))  # the CPU has all in 32 bits
        parameters += n * x.get('trainable', False)
    more = [size[',feedback'][k] - size[''][k] for k in (0, 1)]
    ok(more[0] == new, 'each new tensor is on one rank: %d bytes of all three' % more[0], [more, new])
    # Two of the three have operands 0 to 3 of the ring's five, which travel to rank 0 where the last one is
    ok(more[1] == -4 * 3 * parameters, 'and %d bytes fewer travel in a step' % -more[1], [more, parameters])

# --- what is lost in the sum over the steps: of the training, by its traces, and of the simulation of the same steps
LONG = (
    '--model mlp --data size=8 --model width=0.03 --data train=160,eval=8 --quiet --policy float32 --optimizer sgd'
    ' --batch 16 '
)
LONG += '--batch micro=8 --steps 16 --trace *.d?,*.d?_* --trace steps=%s ' % ','.join(map(str, range(16)))
LONG += '--all-reduce '
bare = Trainings(LONG)


def sum_of(run, scale, words):
    """The L2 norm of sum over steps (gradient - exact sum of what ranks had) by that of the exact sums."""
    off, all_of, program = {}, {}, bare.program(run)
    for step in range(16):
        t = bare.traced(run, step)
        for own, R, _ in sums(program):
            had = [t['%s_sent%d' % (own, r)] if scale != 1 else t[own + part(r, R, words)] for r in range(R)]
            for i, got in enumerate(t[own + '_sum'] if scale != 1 else t[own]):
                exact = math.fsum(x[i] for x in had)
                off[own, i] = off.get((own, i), 0) + got - exact
                all_of[own, i] = all_of.get((own, i), 0) + exact
    norm = lambda x: math.sqrt(math.fsum(v * v for v in x.values()))  # noqa: E731
    return norm(off) / norm(all_of)


for order, R, scale in (('tree', 4, 64), ('halving', 8, 1), ('ring', 2, 256)):
    lost = []
    for words in (',feedback', ''):
        model = '%s:%d,wire=e4m3,scale=%d%s' % (order, R, scale, words)
        how = ('--ranks %d --all-reduce %s:wire=e4m3,acc=fp32 --sample all --steps 16' % (R, order)).split()
        if not bare.train(model.replace(',scale=1', '') if scale == 1 else model, model):
            continue
        lost.append(sum_of(model, scale, LONG))
        p = halfulp('allreduce', '--json', *how, *(['--all-reduce', 'feedback'] if words else []), bare.at(model))
        said = json.loads(p.stdout)[0]['rel_l2'] if p.returncode == 0 else p.stderr
        same = p.returncode == 0 and math.isclose(said, lost[-1], rel_tol=1e-12)
        ok(same, '%s: halfulp allreduce finds the same %.6g' % (model, lost[-1]), said)
    ok(len(lost) == 2 and lost[0] < lost[1], '%s:%d: %.4f with feedback, %.4f without' % (order, R, *lost), lost)

# --- the manual's lines and the numbers that it gives
page = open(os.path.join(TOP, 'doc/cluster.md')).read()
section = page[page.index('**Error feedback.**') : page.index('### Slurm')]
lines = re.findall(r'^    (halfulp .*)$', section, re.M)[:2]
figure = {}
for scale in ('', ',scale=2^8'):
    for word in (',feedback', ''):
        how = [x.replace(',feedback', (scale if ' train ' in x else '') + word) for x in lines]
        how = [x.replace('halfulp ', '"$HALFULP" ', 1) for x in how]
        script = 'set -e; rm -rf runs; mkdir runs; %s >/dev/null; %s' % tuple(how)
        own = dict(os.environ, HALFULP=HALFULP)
        p = subprocess.run(['bash', '-c', script], cwd=at('.'), capture_output=True, text=True, env=own)
        row = re.search(r'^\w+ +tree .*$', p.stdout, re.M)
        figure[scale, word] = row[0].split()[5] if row else p.stderr
        if (scale, word) == ('', ',feedback'):
            printed = re.search(r'```\n(.*?)\n```', section, re.S)[1]
            ok(printed in p.stdout, 'the manual: what the simulation prints', p.stdout + p.stderr)
want = 'off by %s of the exact' % figure['', ',feedback'], 'in both lines it is %s; with' % figure['', '']
scaled = [figure[',scale=2^8', word] for word in (',feedback', '')]
want += ('`scale=2^8` it is %s, and without feedback %s.' % tuple(scaled),)
ok(all(w in section for w in want), 'and its other numbers', [w for w in want if w not in section])

# --- the plan counts one error for each parameter, which no stage of ZeRO cuts
plans = []
for words in ('', ',feedback'):
    how = '--model mlp --batch 12 --batch micro=4 --ranks 4 --all-reduce ring:4,wire=e4m3%s' % words
    p = halfulp('plan', '--json', *how.split())
    plans.append(json.loads(p.stdout)[0] if p.returncode == 0 else ok(False, 'plan', p.stderr))
if all(plans):
    each = 4 * plans[0]['parameters']
    pairs = [[p['memory_bytes'] for p in plans], *zip(*(p['ranks']['stages'] for p in plans))]
    wrong = []
    for a, b in pairs:
        sizes = [k for k in a if k not in ('ms_sending', 'efficiency')]
        wrong += [(k, a[k], b[k]) for k in sizes if b[k] - a[k] != each * (k in ('optimizer_state', 'all'))]
    ok(not wrong, 'plan counts the errors, %d bytes a rank, and nothing else' % each, wrong)

# --- where it would do nothing it is refused
for words, why in (
    ('ring:2,feedback', 'without wire= gradients are sent in their own format'),
    ('ring:2,wire=fp32,feedback', 'wire=fp32 holds every number that is sent'),
    ('ring:2,wire=fp32,scale=2^4,feedback', 'wire=fp32 holds every number that is sent'),
    ('ring:2,wire=fp64,feedback', 'wire=fp64 holds every number that is sent'),
    ('ring:2,wire=bf16,feedback --policy bfloat16', 'wire=bf16 holds every number that is sent'),
    ('tree,feedback', 'needs a number of ranks'),
    ('nccl:2,feedback', "sends the gradient's own format"),
    ('ring:2,wire=e4m3,feedback=1', "unknown key 'feedback'"),
    ('ring:2,wire=e4m3,feedback,feedback', 'feedback is there twice; leave out one'),
):
    p = halfulp('train', *(SMALL + '--batch 12 --batch micro=2 --all-reduce ' + words).split(), at('x'))
    ok(p.returncode == 2 and why in p.stderr and p.stderr.count('\n') == 1, '%s: %s' % (words, why), p.stderr)
ok(not os.path.exists(at('x')), 'none of these left a run')
for words in (
    'ring:2,wire=fp32,feedback --policy float64',
    'ring:2,wire=fp16,scale=2^-3,feedback --policy float16',
    'hier:2:1,wire=tf32,feedback',
):
    run = words.split()[0]
    if train('--batch 12 --batch micro=2 --loss-scale none --all-reduce ' + words, run):
        names = [x['format'] for x in runs.program(run)['tensors'] if re.search(r'_error\d$', x['name'])]
        ok(names == ['fp64' if '64' in words else 'fp32'] * 12, words + ': each gradient has two errors', names)
finish()
