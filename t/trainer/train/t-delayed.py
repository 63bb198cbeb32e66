#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# fp8:delayed: scales that follow from the largest magnitudes of steps before, held to Transformer Engine's formula
# (amax_and_scale_update_bulk) in Python: the window, the margin, most_recent, one infinity that holds a scale until it
# has left the history, and NaN that is passed over; what elements become; that evaluation reads the same scales, and a
# training that is stopped goes on with the same bits.
import json
import math
import os
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
from tap import HALFULP, finish, home, none, ok  # noqa: E402
from tensorsfile import Tensors  # noqa: E402

where = home()
FLT_MAX = (2 - 2.0**-23) * 2.0**127
TOP = {'fp8tensor:te:inverse': 448.0, 'fp8tensore5m2:te:inverse': 57344.0}


def f32(x):
    return struct.unpack('<f', struct.pack('<f', x))[0]


def halfulp(*words, code=0):
    done = subprocess.run([HALFULP, *words], capture_output=True, text=True)
    if done.returncode != code:
        ok(False, '%s: exit %d' % (' '.join(words), code), '%d: %s' % (done.returncode, done.stderr))
        finish()
    return done.stdout + done.stderr


def train(policy, name, *more, steps=6):
    run = os.path.join(where, name)
    halfulp('train', '--model', 'mlp:width=0.25', '--policy', policy, '--steps', str(steps), '--batch', '40',
            '--trace', 'steps=' + ','.join(map(str, range(steps))), '--quiet', *more, run)  # fmt: skip
    program = json.load(open(os.path.join(run, 'program-train.json')))
    names = [t['name'] for t in program['tensors']]
    calls = [dict(c, i=[names[k] for k in c['in']], o=[names[k] for k in c['out']]) for c in program['calls']]
    return run, calls, [Tensors(os.path.join(run, 'trace', 'step-%06d.safetensors' % k)) for k in range(steps)]


def one(tensors, name):
    return list(tensors[name])


def update(scale, history, newest, top, margin, recent):
    """One tensor's step in fp32: the history's element 0 is where the newest magnitude stands."""
    if newest == 0:
        return scale, history
    rolled = history[1:] + [newest]
    amax = newest if recent else max(rolled)
    if math.isfinite(amax) and amax > 0:
        q = top * 2.0**-margin / amax
        scale = FLT_MAX if q > FLT_MAX else f32(q)
    return scale, [0.0] + rolled[1:]


def grid(p, emin, most):
    values = [m * 2.0 ** (emin - p + 1) for m in range(2**p)]
    e = emin + 1
    while values[-1] < most:
        values += [m * 2.0 ** (e - p + 1) for m in range(2 ** (p - 1), 2**p)]
        e += 1
    return [v for v in values if v <= most]


GRID = {'fp8tensor:te:inverse': grid(4, -6, 448.0), 'fp8tensore5m2:te:inverse': grid(3, -14, 57344.0)}


def cast(x, scale, values):
    out = []
    for v in x:
        a = abs(f32(v * scale))
        low, high = 0, len(values) - 1
        while high - low > 1:
            mid = (low + high) // 2
            low, high = (mid, high) if values[mid] <= a else (low, mid)
        near = min((low, high), key=lambda i: (abs(values[i] - a), i % 2))
        out.append(math.copysign(f32(values[near] * f32(1 / scale)), v))
    return out


def held(policy, name, history, margin, recent):
    run, calls, steps = train(policy, name)
    moves = [c for c in calls if c['op'] == 'delayed_scale']
    casts = [c for c in calls if c['op'] == 'block_cast']
    state = {c['i'][1]: (1.0, [0.0] * history) for c in moves}
    wrong, changed = [], set()
    for k, t in enumerate(steps):
        for c in casts if k in (0, 3) else []:
            values = GRID[c['attr']['blocks']]
            if one(t, c['o'][0]) != cast(one(t, c['i'][0]), one(t, c['i'][1])[0], values):
                wrong.append('step %d: elements of %s' % (k, c['o'][0]))
        for c in moves:
            x, scale, past = c['i']
            if (one(t, scale)[0], one(t, past)) != state[scale]:
                wrong.append('step %d: %s begins with %s, not %s' % (k, scale, one(t, scale), state[scale][0]))
            newest = max((abs(v) for v in one(t, x) if v == v), default=0.0)
            new = update(*state[scale], newest, TOP[c['attr']['blocks']], margin, recent)
            if (one(t, c['o'][0])[0], one(t, c['o'][1])) != new:
                wrong.append('step %d: %s becomes %s, not %s' % (k, scale, one(t, c['o'][0]), new[0]))
            changed |= {scale} if new[0] != state[scale][0] else set()
            state[scale] = new
    none(wrong, '%s: scales, histories and elements of %d tensors are those of the formula' % (policy, len(moves)))
    ok(len(changed) == len(moves) >= 7, 'and all %d scales move' % len(moves), str(sorted(changed)))
    return run, calls


run, calls = held('fp8:delayed', 'own', 1024, 0, False)
held('fp8:delayed,history=3,margin=2', 'short', 3, 2, False)
held('fp8:delayed,history=1,amax=most_recent,margin=-1', 'recent', 1, -1, True)
products = [c for c in calls if c['op'] == 'matmul']
made = {c['o'][0]: c for c in calls if c['op'] == 'block_cast'}
none([n for c in products for n in c['i'][:2] if n not in made or len(made[n]['i']) != 2],
     'both operands of each of %d products have a scale that is delayed' % len(products))  # fmt: skip
kinds = {c['attr']['blocks'] for c in made.values()}
ok(kinds == set(TOP), 'in e4m3 and, of gradients, e5m2', str(kinds))
program = json.load(open(os.path.join(run, 'program-eval.json')))
names = [t['name'] for t in program['tensors']]
read = sorted({names[c['in'][1]] for c in program['calls'] if c['op'] == 'block_cast'})
ok(read == sorted(c['i'][1] for c in calls if c['op'] == 'delayed_scale' and c['phase'] == 'forward')
   and not any(c['op'] == 'delayed_scale' for c in program['calls']),
   'an evaluation reads the training\'s scales, and moves none', str(read))  # fmt: skip
said = halfulp('analyze', run)
ok('warning' not in said and 'outputs judged' in said and ' 0 outside' in said,
   'analyze judges the training, and MPFR has the same exact steps', said)  # fmt: skip
halfulp('verify', run)
ok(True, 'verify computes the training again, bit for bit')

# Micro-batches: the second begins with the scales that the first leaves; weights are quantised once for both.
run, calls, steps = train('fp8:delayed,history=3', 'micro', '--batch', 'micro=2', steps=2)
moves = [c for c in calls if c['op'] == 'delayed_scale']
last = {c['i'][1]: c['o'][0] for c in moves}
chains = [n for n in last if last[n] in last]
ok(len(moves) == 15 and len(chains) == 6, 'of two micro-batches the second begins with the scales of the first',
   '%d %d' % (len(moves), len(chains)))  # fmt: skip

# A training that is killed goes on: its scales and histories are in the checkpoint.
line = [HALFULP, 'train', '--model', 'mlp:width=0.25', '--policy', 'fp8:delayed,history=5', '--steps', '100',
        '--batch', '40', '--trace', 'steps=99', '--checkpoint-every', '7', '--quiet']  # fmt: skip
whole, killed = os.path.join(where, 'whole'), os.path.join(where, 'killed')
subprocess.run([*line, whole], check=True)
p = subprocess.Popen([*line, killed])
box = os.path.join(killed, 'checkpoint')
while p.poll() is None and not (os.path.isdir(box) and len(os.listdir(box)) > 1):
    time.sleep(0.005)
stopped = p.poll() is None
p.kill()
p.wait()
if stopped:
    names = {n for f in os.listdir(box) if f.endswith('.safetensors') for n in Tensors(os.path.join(box, f)).head}
    ok(sum(n.endswith('_fp8_amax') for n in names) == 9, 'a checkpoint holds the histories of 9 tensors')
    halfulp('train', '--resume', '--quiet', killed)
ends = []
for run in (whole, killed):
    rows = [x.rstrip('\n').split('\t') for x in open(os.path.join(run, 'metrics.tsv')) if x[0] != '#']
    ends.append([(r[0], r[rows[0].index('loss')], r[rows[0].index('digest')]) for r in rows[1:]])
ok(ends[0] == ends[1] and len(ends[0]) == 100, 'a training that is killed%s goes on with the same bits' %
   ('' if stopped else ' (this one ended before)'))  # fmt: skip

# What is refused.
for policy, word in (('fp8:delayed,history=0', '1 to 65536'), ('fp8:delayed,margin=1.5', 'whole number'),
                     ('fp8:delayed,amax=mean', 'most_recent'), ('mxfp8,history=4', 'fp8:delayed has')):  # fmt: skip
    said = halfulp('train', '--policy', policy, os.path.join(where, 'no'), code=2)
    ok(word in said and said.count('\n') == 1, '%s is refused in a line' % policy, said)

# A step at a time, by the operator alone: one infinity in a history of 4, a NaN, a step of zeros, an overflowing scale.
def numbers(name, values):
    path = os.path.join(where, name + '.npy')
    head = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d,), }" % len(values)
    head += ' ' * ((64 - (len(head) + 11) % 64) % 64) + '\n'
    with open(path, 'wb') as f:
        f.write(b'\x93NUMPY\x01\x00' + struct.pack('<H', len(head)) + head.encode())
        f.write(struct.pack('<%df' % len(values), *values))
    return path


def read_npy(path):
    data = open(path, 'rb').read()
    n = struct.unpack('<H', data[8:10])[0]
    body = data[10 + n :]
    return list(struct.unpack('<%df' % (len(body) // 4), body))


for recent in (False, True):
    scale, history, wrong, frozen = 1.0, [0.0] * 4, [], 0
    for k, x in enumerate([[1.0, -3.0], [math.inf, 2.0], [0.5, math.nan], [0.0, 0.0], [0.25, 0.125], [7.0, 1.0],
                           [-0.75, 0.0], [1e-40, 0.0], [1e-40, 1e-42], [1e-40, 0.0], [1e-40, 0.0]]):  # fmt: skip
        out = os.path.join(where, 'out.npy')
        halfulp('op', 'delayed_scale', '--in', 'a=' + numbers('x', x), '--in', 'b=' + numbers('s', [scale]),
                '--in', 'c=' + numbers('h', history), '--set', 'blocks=fp8tensor', '--set', 'recent=%d' % recent,
                '--set', 'in=fp32', '--out', out)  # fmt: skip
        newest = max((abs(v) for v in x if v == v), default=0.0)
        before = scale
        scale, history = update(scale, history, f32(newest), 448.0, 0, recent)
        got = read_npy(out)[0]
        if got != scale:
            wrong.append('after %s the scale is %g, not %g' % (x, got, scale))
        frozen += scale == before
    none(wrong, 'recent=%d: scales after an infinity, a NaN, zeros and subnormal numbers' % recent)
    ok(frozen == (5 if recent else 7), 'of which %d leave the scale as it was' % frozen)
finish()
