#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# As t-kernel-worst.py, of steps of optimizers, attention's gradients and convolutions: whatever signs the roundings of
# a kernel have that computes as doc/kernels.md declares it, its results are within their radii. Kernels are those that
# differ most: an average as a difference times a factor, a convolution that begins with its bias.
import math
import os
import sys

sys.dont_write_bytecode = True
TOP = os.path.abspath(os.environ.get('srcdir', '.'))
sys.path[:0] = [TOP + '/t/tool', TOP + '/t/judge/kernels']
from tap import finish, home, ok  # noqa: E402
from worst import U, Exact, errors, nearest, radii  # noqa: E402

os.chdir(home())
LR, B1, B2, EPS, DECAY, STEP, MOMENTUM, SCALE = 0.25, 0.9, 0.9, 0.5, 0.1, 2, 0.95, 0.5


def lerp(o, a, b, t):
    return o.r(a + o.r(o.r(b - a) * o.r(t)))


def weighed(o, a, b, s):
    return o.r(o.r(a * o.r(s)) + o.r(b * o.r(1 - s)))


def adamw(o, x):
    y = []
    for w, g, m, v in zip(x[:2], x[2:4], x[4:6], map(abs, x[6:])):
        w = o.r(w * o.r(1 - LR * DECAY))
        m = lerp(o, m, g, 1 - B1)
        v = o.r(o.r(v * o.r(B2)) + o.r(o.r(o.r(1 - B2) * g) * g))
        below = o.r(o.r(o.r(math.sqrt(v)) / o.r(math.sqrt(1 - B2**STEP))) + o.r(EPS))
        y.append(o.r(w - o.fn(o.r(m * o.r(LR / (1 - B1**STEP))) / below)))
    return y


def average(o, x):
    return [lerp(o, m, g, 1 - B1) for g, m in zip(x[2:4], x[4:6])]


def lion(o, x):
    y = []
    for w, g, m in zip(x[:2], x[2:4], x[4:]):
        d = weighed(o, m, g, B1)
        y.append(o.r(o.r(w * o.r(1 - LR * DECAY)) - (math.copysign(o.r(LR), d) if d else 0)))
    return y


def momentum(o, x):
    return [lerp(o, m, g, 1 - MOMENTUM) for g, m in zip(x[2:4], x[4:6])]


def nesterov(o, x):
    return [lerp(o, g, lerp(o, m, g, 1 - MOMENTUM), MOMENTUM) for g, m in zip(x[2:4], x[4:6])]


def orthogonal(o, x):
    return [o.r(o.r(w * o.r(1 - LR * DECAY)) - o.r(v * o.r(LR))) for w, v in zip(x[:2], x[6:])]


def gradient(o, x):
    """Of one query: dQ, where neither O nor the log-sum-exp is handed in."""
    q, k, v, do = x[:2], [x[2:4], x[4:6], x[6:8]], [x[8:10], x[10:12], x[12:14]], x[14:]
    s = [o.r(o.dot(q, row) * o.r(SCALE)) for row in k]
    top = max(s)
    lse = o.r(top + o.fn(math.log(o.sum([o.exp(o.r(y - top)) for y in s]))))
    p = [o.exp(o.r(y - lse)) for y in s]
    delta = o.dot(do, [o.dot(p, column) for column in zip(*v)])
    ds = [o.r(y * o.r(o.dot(do, row) - delta)) for y, row in zip(p, v)]
    return [o.r(o.r(SCALE) * o.dot(ds, column)) for column in zip(*k)]


def convolution(o, x):
    total = x[6]
    for a, b in zip(x[:3], x[3:6]):
        total = o.r(total + o.r(a * b))
    return [total]


PAIR = (1, 2)
ADAMW = (('w', PAIR), ('g', PAIR), ('m', PAIR), ('v+', PAIR))
MUON = (('w', PAIR), ('g', PAIR), ('m', PAIR), ('o', PAIR))
HEAD = (('q', (1, 1, 1, 2)), ('k', (1, 1, 3, 2)), ('v', (1, 1, 3, 2)), ('do', (1, 1, 1, 2)))
OF_ADAMW = 'lr=%r beta1=%r beta2=%r eps=%r decay=%r step=%d' % (LR, B1, B2, EPS, DECAY, STEP)
OF_MUON = 'lr=%r momentum=%r decay=%r' % (LR, MOMENTUM, DECAY)
# name: row of worst.py, facts, the result's shape and name
ROWS = {
    'weights of AdamW': ((adamw, 'adamw', ADAMW, 0.3), OF_ADAMW, PAIR, 'w1='),
    "AdamW's average": ((average, 'adamw', ADAMW, 1), OF_ADAMW, PAIR, 'm1='),
    'weights of Muon': ((orthogonal, 'muon', MUON, 1), OF_MUON, PAIR, 'w1='),
    "Muon's average": ((momentum, 'muon', MUON, 1), OF_MUON, PAIR, 'm1='),
    "Muon's update": ((nesterov, 'muon', MUON, 1), OF_MUON, PAIR, 'u='),
    'dQ of attention': ((gradient, 'attention_dx', HEAD, 1), 'scale=0.5 p=none ds=none o=none', (1, 1, 1, 2), 'dq='),
    'a convolution': ((convolution, 'conv', (('x', (1, 1, 3)), ('w', (1, 1, 3)), ('b', (1,))), 1), '', (1, 1, 1), ''),
}
tries = int(os.environ.get('HALFULP_WORST_TRIES', 16))
for name, (row, facts, shape, result) in ROWS.items():
    if len(sys.argv) > 1 and name not in sys.argv[1:]:
        continue
    ratio, where = nearest(row, tries, facts, shape, result)
    ok(0.1 < ratio <= 1 + 1e-9,
       '%s: the worst kernel of %d operands comes to %.4f of its radius' % (name, tries, ratio), where)

# A sum of almost 0, whose sign roundings decide: lr may be added in place of subtracted. And a bias far above the rest
for name, row, facts, shape, x in (
        ('an open sign of Lion', (lion, 'lion', MUON[:3], 1), 'lr=%r beta1=%r decay=%r' % (LR, B1, DECAY), PAIR,
         [0.0, 0.125, 1.0, -0.9, -1 / 9 * (1 - 2.0**-11), 0.1 * (1 + 2.0**-10)]),
        ('a large bias', ROWS['a convolution'][0], '', (1, 1, 1), [1e-3, 1e-3, -1e-3, 1.0, 1.0, 1.0, 1.0]),
        ("Muon's update of one number", ROWS["Muon's update"][0], OF_MUON, PAIR, [0, 0, 1, 1, 1, 1e-9, 0, 0])):
    exact = row[0](Exact([]), x)
    bound = radii(row, facts, shape, x, len(exact), 'u=' if 'Muon' in name else '')
    ratios = [errors(row[0], x, exact, k) / bound[k] for k in range(len(exact))]
    ok(0.3 < max(ratios) <= 1 + 1e-9, '%s comes to %.4f of its radius' % (name, max(ratios)), ratios)
    if 'Lion' in name:
        ok(bound[0] > 2 * LR > errors(row[0], x, exact, 0) * (1 - U) > LR, 'which is about 2 lr', bound)
finish()
