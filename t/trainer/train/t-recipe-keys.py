#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Keys of recipes: block formats of single operands, products that Hadamard matrices transform, layers that stay as they
# are; and fp8:current, whose values Python computes again. What a file of a policy says is what the keys say.
import json
import os
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
from tap import HALFULP, finish, home, none, ok  # noqa: E402
from tensorsfile import Tensors  # noqa: E402

where = home()


def f32(x):
    return struct.unpack('<f', struct.pack('<f', x))[0]


def train(policy, name, code=0):
    run = os.path.join(where, name)
    line = [HALFULP, 'train', '--model', 'mlp:width=0.25', '--policy', policy, '--steps', '1', '--batch', '40']
    done = subprocess.run([*line, '--trace', 'steps=0', '--quiet', run], capture_output=True, text=True)
    if code:
        ok(done.returncode == code and done.stderr.count('\n') == 1, '%s is refused in a line' % policy, done.stderr)
        return done.stderr
    if not ok(done.returncode == 0, '%s: trains' % policy, done.stderr):
        finish()
    program = json.load(open(os.path.join(run, 'program-train.json')))
    names = [t['name'] for t in program['tensors']]
    traced = Tensors(os.path.join(run, 'trace', 'step-000000.safetensors'))
    calls = [dict(c, i=[names[k] for k in c['in']], o=[names[k] for k in c['out']]) for c in program['calls']]
    policy = json.load(open(os.path.join(run, 'manifest.json')))['policy']
    return calls, {n: list(traced[n]) for n in names if n in traced.head}, policy


def casts(calls):
    return {c['o'][0]: c for c in calls if c['op'] == 'block_cast'}


def grid(p, emin, most):
    """The magnitudes of a format of p bits from its smallest subnormal number on."""
    values, x = [0.0], 2.0 ** (emin - p + 1)
    while values[-1] < most:
        values += [values[-1] + x] if len(values) <= 2**p - 1 else []
        if len(values) > 2**p - 1:
            break
    e = emin + 1
    while values[-1] < most:
        values += [m * 2.0 ** (e - p + 1) for m in range(2 ** (p - 1), 2**p)]
        e += 1
    return [v for v in values if v <= most]


E4M3, E5M2 = grid(4, -6, 448.0), grid(3, -14, 57344.0)


def current(x, values):
    """Transformer Engine's scale of a whole tensor: max / amax in fp32, elements times it, to nearest even."""
    by = f32(values[-1] / max(map(abs, x)))
    scale, out = f32(1 / by), []
    for v in x:
        a = abs(f32(v * by))
        k = min(range(len(values)), key=lambda i: (abs(values[i] - a), i % 2))
        out.append(f32(values[k] * scale) if v >= 0 else -f32(values[k] * scale))
    return out


ok(len(E4M3) == 127 and len(E5M2) == 124, 'the grids of e4m3 and e5m2 are whole', '%d %d' % (len(E4M3), len(E5M2)))
calls, value, _ = train('fp8:current', 'current')
made = casts(calls)
wrong = []
for name, c in made.items():
    gradient = name.split('.')[1].startswith('d')
    if current(value[c['i'][0]], E5M2 if gradient else E4M3) != value[name]:
        wrong.append(name)
none(wrong, 'fp8:current: all %d operands are what Python makes of them, gradients in e5m2' % len(made))
ok(any(n.split('.')[1].startswith('d') for n in made), 'of which some are gradients')

calls, value, policy = train('nvfp4,hadamard=dgrad,wgrad_g=mxfp8:ocp,forward_x=none,high=last', 'keys')
ok(not any(c['layer'] == 'dense3' for c in casts(calls).values()), 'high=last leaves the last layer as it is')
blocks = {c['o'][0].split('@')[1]: c['attr']['blocks'] for c in casts(calls).values()}
ok(not any(b.startswith('nvfp4_x') and 'wgrad' not in b for b in blocks), 'forward_x=none leaves it', str(blocks))
ok({b for n, b in blocks.items() if 'g_wgrad' in n} == {'mxfp8:ocp'}, 'wgrad_g has the format that was named')
ok({b for n, b in blocks.items() if 'g_dgrad' in n} == {'nvfp4:te:SR'}, 'dgrad_g has that of the recipe')
turned = {c['o'][0] for c in calls if c['op'] == 'hadamard'}
reads = {c['o'][0]: [casts(calls)[n]['i'][0] for n in c['i'][:2] if n in casts(calls)]
         for c in calls if c['op'] == 'matmul'}  # fmt: skip
none([o for o, i in reads.items() if i and any(n in turned for n in i) != o.endswith('.dy')],
     'hadamard=dgrad transforms operands of dx alone')  # fmt: skip
none([o for o, i in reads.items() if len({n in turned for n in i}) > 1], 'both of a product, or none')
ok(len(turned) >= 2, 'and some are transformed')

path = os.path.join(where, 'policy.json')
json.dump(policy, open(path, 'w'))
again, _, second = train(path, 'file')
ok([(c['op'], c['attr'], c['o']) for c in again] == [(c['op'], c['attr'], c['o']) for c in calls],
   "the manifest's policy, read as a file, makes the same calls")  # fmt: skip
ok(second == policy, 'and the same policy', '%s\n%s' % (second, policy))

calls, _, policy = train('nvfp4,hadamard=none,high=none', 'bare')
ok(not any(c['op'] == 'hadamard' for c in calls) and policy['hadamard'] == 'none', 'hadamard=none transforms nothing')
ok({c['layer'] for c in casts(calls).values()} == {'dense1', 'dense2', 'dense3'}, 'high=none leaves no layer as it is')
calls, _, _ = train('mxfp8,high=first+last', 'ends')
ok({c['layer'] for c in casts(calls).values()} == {'dense2'}, 'high=first+last leaves both ends')
ok('name it before' in train('mixed_bfloat16,high=first', 'x', 2), 'which says that a key needs a recipe')
ok('forward, dgrad, wgrad' in train('mxfp8,hadamard=all', 'x', 2), 'which says which products there are')
ok('mxfp4' in train('mxfp8,wgrad_x=mxfp5', 'x', 2), 'which names the nearest block format')
ok('first+last' in train('mxfp8,high=middle', 'x', 2), 'which says which layers there are')
finish()
