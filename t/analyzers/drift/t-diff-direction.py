#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# diff of two files says where the differences of a tensor have one direction: a tensor that was truncated to fewer bits
# is told, one that was rounded to nearest is not. Means and T are computed again here with exact numbers.
import json
import math
import os
import random
import struct
import sys
from fractions import Fraction as Q

sys.dont_write_bytecode = True
TOP = os.path.abspath(os.environ.get('srcdir', '.'))
sys.path.insert(0, TOP + '/t/tool')
from tap import finish, halfulp, home, ok  # noqa: E402

os.chdir(home())
draw = random.Random(11)
N, CLUSTERS, GRAIN, ALARM = 70001, 128, 2 ** 24, 6.07


def f32(x):
    return struct.unpack('<f', struct.pack('<f', x))[0]


def code(x):
    return struct.unpack('<I', struct.pack('<f', x))[0]


def of(c):
    return struct.unpack('<f', struct.pack('<I', c))[0]


def chopped(x):
    return of(code(x) & 0xffff0000)


def nearest(x):
    c = code(x)
    return of(c + 0x7fff + (c >> 16 & 1) & 0xffff0000)


def write(path, dtype, **tensors):
    head, body = {}, b''
    for name, x in tensors.items():
        kind = dtype if name != 'whole' else 'F32'
        raw = b''.join(struct.pack('<f', v)[2:] if kind == 'BF16' else struct.pack('<f', v) for v in x)
        head[name] = {'dtype': kind, 'shape': [len(x)], 'data_offsets': [len(body), len(body) + len(raw)]}
        body += raw
    text = json.dumps(head).encode()
    with open(path, 'wb') as f:
        f.write(struct.pack('<Q', len(text)) + text + body)


def again(x, y, p, emin):
    """Signed and outward means, and T, of y less x in ulps of p bits."""
    sums, n = [[0] * CLUSTERS, [0] * CLUSTERS], 0
    for i, (u, v) in enumerate(zip(x, y)):
        if not (math.isfinite(u) and math.isfinite(v)):
            continue
        n += 1
        if u == v:
            continue
        e = max(math.frexp(u)[1] - 1, emin) if u else emin
        ulps = (Q(v) - Q(u)) / Q(2) ** (e - p + 1)
        d = round(max(-4096, min(4096, ulps)) * GRAIN)
        sums[0][i * CLUSTERS // len(x)] += d
        sums[1][i * CLUSTERS // len(x)] += d * ((u > 0) - (u < 0))
    t = [abs(sum(s)) / math.sqrt(sum(k * k for k in s)) if any(s) else 0.0 for s in sums]
    return sum(sums[0]) / GRAIN / n, sum(sums[1]) / GRAIN / n, max(t)


x = [f32(draw.gauss(0, 1) * 2.0 ** draw.randrange(-20, 20)) for _ in range(N)]
some = [v if draw.random() < .9 else chopped(v) for v in x]
x[7] = math.inf
write('old.safetensors', 'F32', down=x, even=x, some=some, same=x, short=x[:30])
write('new.safetensors', 'BF16', down=[chopped(v) for v in x], even=[nearest(v) for v in x],
      some=[chopped(v) for v in some], same=[nearest(v) for v in x], short=[chopped(v) for v in x[:30]])
found = {}
for threads in ('1', '2'):
    os.environ['OMP_NUM_THREADS'] = threads
    made = halfulp('diff', 'old.safetensors', 'new.safetensors', '--json')
    found[threads] = {r['name']: r for r in json.loads(made.stdout)['rows']} if made.stdout else {}
ok(found['1'] and found['1'] == found['2'], 'any number of threads finds the same', found)
rows, text = found['1'], halfulp('diff', 'old.safetensors', 'new.safetensors').stdout
told = [v.split(':')[0] for v in text.splitlines() if 'differences have one direction' in v]
ok(told == ['down', 'some'] or told == ['some', 'down'], 'truncated tensors are told, and no other', text)
for name, y, alarm in (('down', [chopped(v) for v in x], True), ('even', [nearest(v) for v in x], False),
                       ('some', [chopped(v) for v in some], True)):
    r, (signed, outward, t) = rows[name], again(some if name == 'some' else x, y, 8, -126)
    means = abs(r['signed_ulp_mean'] - signed) < 1e-9 and abs(r['outward_ulp_mean'] - outward) < 1e-9
    ok(means and
       abs(r['bias_t'] - t) < 1e-6 * t + 1e-9, '%s: means and T are those of exact numbers' % name,
       (r, signed, outward, t))
    ok((r['bias_t'] > ALARM) == alarm, '%s: T is %s the alarm' % (name, 'above' if alarm else 'below'), r)
ok(abs(rows['down']['outward_ulp_mean'] + .5) < .01 and abs(rows['down']['signed_ulp_mean']) < .01,
   'truncation loses half an ulp of bf16, toward zero', rows['down'])
ok(rows['short']['bias_t'] < ALARM, 'thirty elements are too few for an alarm', rows['short'])
line = next(v for v in text.splitlines() if v.startswith('down:'))
ok(line == 'down: differences have one direction: %+.4g ulps of bf16 on the mean, %+.4g away from zero, T = %.4g' % (
    rows['down']['signed_ulp_mean'], rows['down']['outward_ulp_mean'], rows['down']['bias_t']),
   'the text has the figures', line)

# Of the same bytes, of other shapes and of whole numbers nothing is said, and no key vanishes.
write('other.safetensors', 'F32', down=x, even=x[1:], some=some, same=x, short=x[:30])
made = json.loads(halfulp('diff', 'old.safetensors', 'other.safetensors', '--json').stdout)
ok(all(r[k] is None for r in made['rows'] for k in ('signed_ulp_mean', 'outward_ulp_mean', 'bias_t')),
   'what was not measured is null', made)
finish()
