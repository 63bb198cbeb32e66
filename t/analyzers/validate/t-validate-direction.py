#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# validate says in its text that errors have one direction where accumulation truncates, and not where it rounds to
# nearest: operands are numbers of fp16, so that the accumulator and the last rounding are all that errs.
import json
import math
import os
import random
import sys

sys.dont_write_bytecode = True
TOP = os.path.abspath(os.environ.get('srcdir', '.'))
sys.path.insert(0, TOP + '/t/tool')
import onnxfile  # noqa: E402
from npzfile import npz, outputs  # noqa: E402
from tap import finish, halfulp, home, ok  # noqa: E402

os.chdir(home())
draw = random.Random(5)
ROWS, K, N = 96, 64, 48


def of_fp16(n, sign):
    """Numbers with 11 bits, in [0.5, 1) or of both signs."""
    return [(draw.choice((-1, 1)) if sign else 1) * draw.randrange(1024, 2048) / 2048 for _ in range(n)]


def model(name, sign):
    npz(name + '.npz', x=((ROWS, K), of_fp16(ROWS * K, sign)))
    onnxfile.write(name + '.onnx', onnxfile.graph(
        [onnxfile.node('MatMul', 'x w', 'y')], [onnxfile.floats('w', [K, N], of_fp16(K * N, sign))],
        [onnxfile.value('x', ['n', K])], [onnxfile.value('y')]))


def told(name, **policy):
    with open('p.json', 'w') as f:
        json.dump(dict(policy, name='asked', compute='float16'), f)
    text = halfulp('validate', name + '.onnx', '--data', name + '.npz', '--policy', 'p.json', '--decision', 'none')
    made = halfulp('validate', name + '.onnx', '--data', name + '.npz', '--policy', 'p.json', '--decision', 'none',
                   '--outputs', 'outs', '--json')
    lines = [x for x in text.stdout.splitlines() if 'have one direction' in x]
    rows = json.loads(made.stdout)['policies'] if made.returncode == 0 else [{}]
    return lines, (rows[-1].get('outputs') or [{}])[0], text.stdout + text.stderr


def shares(name, out):
    """Computes the mean error over the root of the mean square again, with its sign and away from zero, from the
    outputs that were written."""
    got, true = (outputs('outs/%s.npz' % who)['y'][1] for who in ('asked', 'float32'))
    errors = [a - b for a, b in zip(got, true)]
    root = math.sqrt(math.fsum(e * e for e in errors) * len(errors))
    signed = math.fsum(errors) / root
    outward = math.fsum(math.copysign(e, e * b) for e, b in zip(errors, true)) / root
    near = abs(out['signed_share'] - signed) < 1e-9 and abs(out['outward_share'] - outward) < 1e-9
    ok(near and len(errors) == ROWS * N, '%s: both shares are those of the outputs' % name,
       '%r %r but %s' % (signed, outward, out))


model('up', False)
model('both', True)
lines, out, all_ = told('up', accumulate='fma,acc=fp16,mode=RZ')
ok(len(lines) == 1 and "asked: the errors of output 'y' have one direction" in lines[0] and (
    'toward zero' in lines[0] or 'down' in lines[0]), 'sums of positive numbers that are chopped', all_)
ok(out.get('bias_t', 0) > 6.07 and out['signed_share'] < -0.5, 'and JSON has the figures', out)
shares('up', out)
lines, out, all_ = told('both', accumulate='fma,acc=fp16,mode=RZ')
ok(len(lines) == 1 and 'toward zero' in lines[0] and out['outward_share'] < 0, 'sums of both signs that are chopped',
   all_)
shares('both', out)
for name in ('up', 'both'):
    lines, out, all_ = told(name, accumulate='fma,acc=fp16')
    ok(not lines and out.get('bias_t', 9) <= 6.07, '%s: sums that are rounded to nearest have none' % name, all_)
    lines, out, all_ = told(name)
    ok(not lines and out.get('bias_t', 9) <= 6.07, '%s: nor has a last rounding alone' % name, all_)
finish()
