#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Quartet II, arXiv:2601.22813, 2026: the concentration curve of a network's gradient. The mean of the gradients of n
# backward passes over the same weights and the same batch, each with stochastic casts of its own, comes nearer to the
# exact gradient by log2(n) / 2 bits where the casts have no bias, and stops where they have one.
# Reproduced, on a decoder of two layers in place of a large model: 64 passes in which the gradients that enter every
# product are NVFP4, stochastic with the headroom 17/16, stochastic without, and to nearest, beside those in float32.
# The learning rate is 0 and every step has all of the data, so that the steps of one training are the passes.
# Not reproduced: the curves of the schemes of others, and large models.
import json
import math
import os
import sys

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(here, '..', 'trainer'), os.path.join(here, '..', 'tool')]
from tap import finish, ok, told  # noqa: E402
from trained import Trainings  # noqa: E402

N, ROWS = 64, 8
runs = Trainings(
    '--quiet --model gpt:layers=2,hidden=32,inner=64 --data train=%d,eval=%d --batch %d --loss-scale none '
    '--optimizer sgd --optimizer lr=0 ' % (ROWS, ROWS, ROWS)
)
GRADIENTS = 'float32,recipe=nvfp4,hadamard=none,forward_x=none,forward_w=none,dgrad_w=none,wgrad_x=none,'


def gradients(run, policy, passes):
    """The gradient of all weights, in one list, of each pass."""
    steps = ','.join(map(str, range(passes)))
    if not runs.train('--policy %s --steps %d --trace steps=%s' % (policy, passes, steps), run):
        finish()
    names = [t['name'] for t in runs.program(run)['tensors'] if t['name'].endswith('_unscaled')]
    for k in range(passes):
        traced = runs.traced(run, k)
        yield [x for name in names for x in traced[name]]


def curve(run, blocks, passes):
    """Bits of one pass and of the mean of all, and the part of the gradient that is too much in that mean, in %."""
    total, first = [0.0] * len(exact), 0.0
    for g in gradients(run, GRADIENTS + 'dgrad_g=%s,wgrad_g=%s' % (blocks, blocks), passes):
        first += sum((a - b) ** 2 for a, b in zip(g, exact)) / passes
        total = [a + b for a, b in zip(total, g)]
    mean = [a / passes for a in total]
    apart = sum((a - b) ** 2 for a, b in zip(mean, exact))
    along = sum(a * b for a, b in zip(mean, exact)) / norm - 1
    return -math.log2(first / norm) / 2, -math.log2(apart / norm) / 2, 100 * along


exact = next(gradients('float32', 'float32', 1))
norm = sum(a * a for a in exact)
full = math.log2(N) / 2
one, many, along = curve('headroom', 'nvfp4:te:SR:headroom=17/16', N)
said = ['gains %.2f bits' % (many - one)]
ok(abs(many - one - full) < 0.1 and abs(along) < 0.4, 'stochastic with headroom: %.2f bits of one pass, %.2f of the '
   'mean of %d, and %.2f %% too much: it gains log2(n) / 2' % (one, many, N, along))  # fmt: skip
one, many, along = curve('full', 'nvfp4:te:SR', N)
said += ['without %.2f' % (many - one), '%.1f %% too small' % -along]
ok(many - one < full - 0.15 and along < -0.8, 'without headroom: %.2f bits, %.2f, and %.2f %% too much: it flattens' %
   (one, many, along))  # fmt: skip
one, many, along = curve('nearest', 'nvfp4:te', 2)
said += ['to nearest none']
ok(abs(many - one) < 0.02, 'to nearest: %.2f bits, of the mean of 2 %.2f' % (one, many))
told(*said)
finish()
