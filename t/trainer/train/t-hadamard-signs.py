#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hadamard transforms with drawn signs in training: every transformed tensor of traced steps against Philox's signs and
the matrix, computed here, so that both operands of a product have the same signs and steps have others; without them
the signs are the fixed ones; verify, replay, a resumed run and a policy's file."""

import json
import os
import sys

here = os.path.dirname(os.path.abspath(__file__))
for folder in 'trainer', 'tool', 'judge':
    sys.path.insert(0, os.path.join(here, '..', '..', folder))
from independent.sums import fnv32, philox  # noqa: E402
from tap import finish, halfulp, none, ok  # noqa: E402
from trained import Trainings, f32  # noqa: E402

SEED, ORDER = 11, 16
SMALL = '--model mlp --data size=8 --model width=0.25 --data train=96,eval=8 --batch 24 --quiet --seed %d ' % SEED
runs = Trainings(SMALL)
FIXED = [1, 1, 1, -1, 1, -1, -1, -1, -1, -1, -1, 1, -1, 1, -1, -1]


def drawn(step):
    word = philox((0, 0, step, fnv32('hadamard')), (SEED, 0))[0]
    return [-1 if word >> k & 1 else 1 for k in range(ORDER)]


def transform(x, signs):
    """The matrix itself, its sums in the order of the four stages, each addition in float32."""
    y = [s * v for s, v in zip(signs, x)]
    for by in (1, 2, 4, 8):
        y = [f32(y[k] + y[k | by]) if not k & by else f32(y[k ^ by] - y[k]) for k in range(ORDER)]
    return [f32(v / 4) for v in y]


def rows(values, columns, across):
    count = len(values) // columns
    return [values[k::columns] for k in range(columns)] if across else [
        values[k * columns : (k + 1) * columns] for k in range(count)]  # fmt: skip


def bf16(x):
    """The nearest bfloat16, ties to even, of a float of ordinary size."""
    import struct

    u = struct.unpack('<I', struct.pack('<f', x))[0]
    return struct.unpack('<f', struct.pack('<I', (u + 0x7FFF + (u >> 16 & 1)) & 0xFFFF0000))[0]


def transformed(name, signs, step):
    """The names of tensors that are not the transform by these signs, and of how many that was asked."""
    program, t = runs.program(name, 'train'), runs.traced(name, step)
    names = [x['name'] for x in program['tensors']]
    formats = {x['name']: x['format'] for x in program['tensors']}
    wrong, seen = [], 0
    for c in program['calls']:
        if c['op'] != 'hadamard':
            continue
        x, y = names[c['in'][0]], names[c['out'][0]]
        last = bf16 if formats[y] == 'bf16' else f32
        columns, across = int(c['attr']['columns']), c['attr'].get('across', 0)
        for a, b in zip(rows(t[x], columns, across), rows(t[y], columns, across)):
            want = []
            for k in range(0, len(a), ORDER):
                part = list(a[k : k + ORDER])
                want += [last(v) for v in transform(part, signs)] if len(part) == ORDER else part
            if want != list(b):
                wrong.append(y)
                break
        seen += 1
    return wrong, seen


POLICY = 'nvfp4,hadamard=dgrad+wgrad,signs=drawn'
if runs.train('--policy %s --steps 4 --trace steps=0,1,3 --checkpoint-every 2' % POLICY, 'run'):
    for step in (0, 1, 3):
        wrong, seen = transformed('run', drawn(step), step)
        none(wrong, 'step %d: all %d transforms have the signs that were drawn for it' % (step, seen))
        ok(seen > 4, 'step %d: some were asked' % step)
    ok(len({tuple(drawn(s)) for s in range(4)}) == 4 and FIXED not in map(drawn, range(4)), 'each step has others')
    p = halfulp('verify', runs.at('run'))
    ok(p.returncode == 0, 'verify repeats them', p.stdout + p.stderr)
    p = halfulp('analyze', '--only', 'replay', runs.at('run'))
    ok(p.returncode == 0 and '; 0 outside their call' in p.stdout, 'transforms are within their bounds', p.stdout)
    p = runs.resumed('run', 'again', 2)
    same = all(runs.column('again', c) == runs.column('run', c) for c in ('digest', 'loss'))
    ok(p.returncode == 0 and same, 'resumed from step 2, it draws the same signs', p.stderr)
    policy = json.load(open(os.path.join(runs.at('run'), 'manifest.json')))['policy']
    ok(policy['signs'] == 'drawn', 'the manifest says so')
    with open(runs.at('policy.json'), 'w') as f:
        json.dump(policy, f)
    if runs.train('--policy %s --steps 4 --trace steps=none' % runs.at('policy.json'), 'file'):
        ok(runs.column('file', 'digest') == runs.column('run', 'digest'), 'and read as a file it trains alike')
if runs.train('--policy nvfp4,hadamard=dgrad+wgrad,signs=fixed --steps 2 --trace steps=1', 'fixed'):
    wrong, seen = transformed('fixed', FIXED, 1)
    none(wrong, 'signs=fixed: all %d transforms have Transformer Engine\'s signs' % seen)
if runs.train('--policy %s --steps 2 --batch micro=3 --trace steps=none' % POLICY, 'micro'):
    p = halfulp('verify', runs.at('micro'))
    ok(p.returncode == 0, 'micro-batches draw signs, too, and verify repeats them', p.stdout + p.stderr)
REFUSED = [('mxfp8,signs=drawn', 'has no effect'), ('nvfp4,hadamard=none,signs=drawn', 'has no effect'),
           ('nvfp4,signs=random', 'fixed, drawn'), ('mixed_bfloat16,signs=drawn', 'name it before')]  # fmt: skip
for policy, says in REFUSED:
    p = halfulp('train', *SMALL.split(), '--policy', policy, '--steps', '1', runs.at('refused'))
    ok(p.returncode == 2 and says in p.stderr, '%s is refused: %s' % (policy, says), p.stderr)
finish()
