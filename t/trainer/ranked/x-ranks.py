# SPDX-License-Identifier: Apache-2.0
"""Trainings on 1, 2, 3, 4 and 8 ranks, bit for bit, on the CPU and on devices, which the launch shim stands for:
models, policies, optimizers, clipping, dropout, loss scaling, augmentation and summation models. t-ranks.py and
t-ranks-device.py have the quick ones."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
from mpi import differences, need_mpi, ranks  # noqa: E402
from tap import finish, halfulp, home, ok  # noqa: E402

need_mpi()
folder = home()
BASE = '--quiet --batch micro=8 --batch 16 --steps 4 --data train=64,eval=16 --trace steps=0,last '
CASES = {
    'mlp': '--data size=8 --policy mixed_float16 --optimizer adamw:clip_norm=0.5',
    'mlp-overflow': '--data size=8 --model width=0.1 --policy mixed_float16 --loss-scale init=2^24 --loss weight=64',
    'mlp-fp8': '--data size=8 --model width=0.1 --policy mixed_e4m3 --optimizer nesterov:clip_value=0.01',
    'mlp-stochastic': '--data size=8 --model width=0.1 --policy bfloat16 --accumulate fma,acc=bf16,mode=SR',
    'mlp-lamb': '--data size=8 --model width=0.1 --optimizer lamb:ema=0.9',
    'convnet': '--model convnet:width=0.125 --data size=12 --policy mixed_float16 --accumulate chunk:64',
    'resnet': (
        '--model resnet:depth=10,width=0.0625 --data size=16 --data scenes --policy mixed_bfloat16 --augment flip'
    ),
    'unet': '--model unet:width=0.25 --data size=16 --model levels=2 --data scenes --loss dice',
    'bert': '--model bert:layers=1,dropout=0.2 --policy mixed_bfloat16 --schedule linear:warmup=2',
    'gpt': '--model gpt:layers=1 --policy mixed_float16',
    'ncf': '--model ncf --policy mixed_bfloat16',
    'signals': '--model resnet1d:width=0.0625 --policy tf32',
    'convnet-overflow': (
        '--model convnet:width=0.04 --data size=12 --policy mixed_float16 --loss-scale init=2^22 --loss weight=64'
    ),
    'bert-overflow': '--model bert:layers=1 --policy mixed_float16 --loss-scale init=2^24 --loss weight=64',
    'counted': '--data size=8 --model width=0.1 --policy mixed_float16 --count *',
}
wanted = sys.argv[1:] or list(CASES)
for name in wanted:
    words = (BASE + CASES[name]).split()
    alone = os.path.join(folder, name + '.1')
    p = halfulp('train', *words, alone)
    if not ok(p.returncode == 0, name + ': one process', p.stderr):
        continue
    for n, on in (2, 'cpu'), (3, 'cpu'), (4, 'cpu'), (8, 'cpu'), (2, 'shim'), (3, 'shim'), (4, 'shim'):
        run = os.path.join(folder, '%s.%s%d' % (name, on, n))
        p = ranks(n, 'train', *words, '--backend', on, run)
        wrong = differences(alone, run) if p.returncode == 0 else [p.stderr]
        ok(not wrong, '%s: %d ranks, %s, have its tables, traces and checkpoints' % (name, n, on), wrong)
finish()
