# SPDX-License-Identifier: Apache-2.0
"""Moving averages of the parameters: the averages of a traced step, computed here in float32; skipped steps; weights do
not depend on them; evaluation takes them; a resumed run, the launch shim, replay and verify."""

import json
import os
import struct
import sys

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(here, '..'), os.path.join(here, '..', '..', 'tool')]
from tap import finish, halfulp, ok  # noqa: E402
from tensorsfile import Tensors  # noqa: E402
from trained import Trainings, f32  # noqa: E402

SMALL = (
    '--model mlp --data size=8 --model width=0.03 --data train=48,eval=24 --batch 12 --quiet --optimizer'
    ' adamw:lr=0.01 '
)
runs = Trainings(SMALL)
at, train, column, traced, resumed = runs.at, runs.train, runs.column, runs.traced, runs.resumed
DECAY = 0.9
NAMES = ['dense%d.%s' % (k, role) for k in (1, 2, 3) for role in 'wb']


WORDS = '--policy mixed_float16 --loss-scale init=2^60,backoff=2^-48 --steps 8 '
if train(WORDS + '--optimizer ema=%g --trace steps=0,1,7 --checkpoint-every 4' % DECAY, 'run'):
    rest, wrong = f32(1 - DECAY), []
    for step in (0, 1, 7):
        t = traced('run', step)
        for name in NAMES:
            # the difference, the product and the sum round once each; doubles hold the first two closely enough
            old, new = t[name + '_ema'], t[name + '_next']
            want = [f32(e + f32(f32(w - e) * rest)) for e, w in zip(old, new)]
            wrong += [] if tuple(want) == t[name + '_ema_next'] else [(step, name)]
            wrong += [] if step or old == t[name] else [(step, name, 'start')]
            moved = old != t[name + '_ema_next']
            wrong += [] if moved == (step != 0) else [(step, name, 'moves')]
    ok(not wrong, 'averages follow the weights, from the first weights on', wrong)
    ok(column('run', 'skipped')[0] == '1' and '0' in column('run', 'skipped'), 'a skipped step is among them')
    p = halfulp('analyze', '--only', 'replay', at('run'))
    ok(p.returncode == 0 and '; 0 outside their call' in p.stdout, 'traced steps are within their bounds', p.stdout)
    p = halfulp('verify', at('run'))
    ok(p.returncode == 0, 'verify repeats them', p.stdout + p.stderr)
    if train(WORDS + '--optimizer ema=%g --trace steps=none --backend shim' % DECAY, 'shim'):
        ok(column('shim', 'digest') == column('run', 'digest'), 'the launch shim has the same bits')
    if train(WORDS + '--trace steps=7', 'plain'):
        ok(column('plain', 'loss') == column('run', 'loss'), 'no loss depends on them')
        a, b = traced('plain', 7), traced('run', 7)
        ok(all(a[name + '_next'] == b[name + '_next'] for name in NAMES), 'nor any weight')
        ok(column('plain', 'eval_loss')[-1] != column('run', 'eval_loss')[-1], 'the evaluation does')
    # what the averages evaluate to: a training whose weights they are, which is evaluated without a change
    last = 'checkpoint/step-000008.safetensors'
    head, t = {}, Tensors(at('run') + '/' + last)
    body = b''
    for name in NAMES:
        raw = struct.pack('<%df' % len(t[name + '_ema']), *t[name + '_ema'])
        head[name] = {'dtype': 'F32', 'shape': t.shape(name), 'data_offsets': [len(body), len(body) + len(raw)]}
        body += raw
    text = json.dumps(head).encode()
    with open(at('averages.safetensors'), 'wb') as f:
        f.write(struct.pack('<Q', len(text)) + text + body)
    still = '--policy mixed_float16 --optimizer sgd:lr=0 --steps 1 --trace steps=none --init ' + at(
        'averages.safetensors'
    )
    if train(still, 'still'):
        same = all(column('still', c)[-1] == column('run', c)[-1] for c in ('eval_loss', 'eval_accuracy'))
        ok(same, 'it is that of the averages', (column('still', 'eval_loss'), column('run', 'eval_loss')))
    if train(
        '--optimizer ema=0.5 --policy float32 --steps 1 --trace steps=0 --init ' + at('averages.safetensors'), 'begun'
    ):
        t = traced('begun', 0)
        ok(all(t[name] == t[name + '_ema'] for name in NAMES), 'loaded weights are the first averages too')
    p = resumed('run', 'again', 4)
    same = all(column('again', c) == column('run', c) for c in ('digest', 'loss', 'eval_loss'))
    ok(p.returncode == 0 and same, 'resumed from step 4, it has the same averages', p.stderr)
finish()
