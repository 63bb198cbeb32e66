#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# K. Ozkara, T. Yu, Y. Park, Stochastic rounding for LLM training: theory and practice, arXiv:2502.20566, AISTATS 2025:
# with weights, gradients and moments all in bfloat16, AdamW whose updates are rounded stochastically trains as well as
# mixed precision with float32 weights, where rounding to nearest loses.
# Reproduced, on a gpt of two layers of 32 and 100 steps in place of models up to 6.7 billion parameters: the evaluation
# loss of both beside that of mixed precision of the same seed, over three seeds; and that a stochastic update is right
# on average: 64 updates of a tenth of half an ulp move 4096 weights of 1 to their exact mean, and none to nearest.
# Not reproduced: that it is better than mixed precision, throughput, memory, and the randomness that ranks share.
import json
import math
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tool'))
from npzfile import npy  # noqa: E402
from tap import finish, halfulp, home, ok  # noqa: E402

where = home()
GPT = (
    '--model gpt:layers=2,hidden=32,heads=2,inner=64 --data length=32,train=1600,eval=200 --batch 16 --optimizer lr=3e-3 '
    '--steps 100 --trace steps=none --meter none --json'
).split()


def loss(name, policy, optimizer, seed):
    run = os.path.join(where, '%s-%d' % (name, seed))
    p = halfulp('train', *GPT, '--policy', policy, '--optimizer', optimizer, '--seed', str(seed), run)
    if p.returncode:
        ok(False, run, p.stderr)
        finish()
    return json.loads(p.stdout)['eval_loss']


SEEDS = (1, 2, 3)
mixed, nearest, drawn = (
    [loss(name, policy, optimizer, s) for s in SEEDS]
    for name, policy, optimizer in (
        ('mixed', 'mixed_bfloat16', 'adamw'),
        ('nearest', 'bfloat16', 'adamw'),
        ('drawn', 'bfloat16', 'adamw:update=sr'),
    )
)
lost = [[a - b for a, b in zip(x, mixed)] for x in (nearest, drawn)]
mean = [sum(d) / len(SEEDS) for d in lost]
error = [math.sqrt(sum((v - m) ** 2 for v in d) / (len(SEEDS) - 1) / len(SEEDS)) for d, m in zip(lost, mean)]
ok(mean[0] > 3 * error[0] and min(lost[0]) > 0,
   'bfloat16 to nearest ends above mixed precision with every seed: %+.4f, standard error %.4f' % (mean[0], error[0]))
ok(abs(mean[1]) < 0.25 * mean[0] and abs(mean[1]) < 2.5 * error[1] + 0.001,
   'stochastic rounding ends %+.4f from it, standard error %.4f' % (mean[1], error[1]))

# A cast of 1 - d, d a tenth of half an ulp below 1, which is 2^-9 in bfloat16, 64 times in a row
N, STEPS, ULP = 4096, 64, 2.0**-8
d = ULP / 20
path, out = os.path.join(where, 'w.npy'), os.path.join(where, 'y.npy')


def updated(mode):
    w = [1.0] * N
    for step in range(STEPS):
        open(path, 'wb').write(npy((N,), [struct.unpack('<f', struct.pack('<f', v - d))[0] for v in w]))
        words = ['--set', 'out=bf16', '--set', 'mode=' + mode] + ['--seed', str(step)] * (mode == 'SR')
        p = halfulp('op', 'cast', '--in', 'a=' + path, *words, '--out', out)
        if p.returncode:
            ok(False, 'op cast', p.stderr)
            finish()
        w = struct.unpack('<%df' % N, open(out, 'rb').read()[-4 * N :])
    return w


still, moved = updated('RNE'), updated('SR')
ok(set(still) == {1.0}, '64 updates of a tenth of half an ulp move no weight that is rounded to nearest')
m = sum(moved) / N
# Each step's rounding has a variance below ulp^2 / 4
limit = 4.5 * math.sqrt(STEPS / 4 / N) * ULP
ok(abs(m - (1 - STEPS * d)) < limit,
   'rounded stochastically they are right on average: %.6f, exactly %.6f, within %.6f' % (m, 1 - STEPS * d, limit))
finish()
