#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# P. Qi and others, Defeating the training-inference mismatch via FP16, arXiv:2510.26788, 2025: policies that differ by
# roundings of bfloat16 are much farther apart than by those of float16, which has three more bits.
# Reproduced, on a decoder of four layers in place of a language model: the same trained weights and tokens in float32
# and under PyTorch's autocast to either format. Errors of logits are 8 times as large, so that the divergence of the
# tokens' probabilities, which is quadratic in them, is 64 times as large by theory; measured about 65.
# Not reproduced: the published factors (up to 24 in the mismatch of whole sequences) and reinforcement learning.
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tool'))
from tap import finish, halfulp, home, ok, told  # noqa: E402

where = home()
MODEL = ['--model', 'gpt:layers=4', '--quiet']


def train(name, *words):
    p = halfulp('train', *MODEL, *words, os.path.join(where, name))
    if p.returncode:
        ok(False, name, p.stderr)
        finish()


train('base', '--steps', '150', '--batch', '32', '--policy', 'float32', '--checkpoint-every', '150')
start = os.path.join(where, 'base', 'checkpoint', 'step-000150.safetensors')
for policy in ('float32', 'autocast_bfloat16', 'autocast_float16'):
    train(policy, '--steps', '1', '--batch', '32', '--policy', policy, '--loss-scale', 'none', '--trace', 'steps=0', '--trace',
          'logits.y', '--init', start)  # fmt: skip


def apart(policy):
    files = [os.path.join(where, p, 'trace', 'step-000000.safetensors') for p in ('float32', policy)]
    p = halfulp('engines', '--output', 'logits.y', '--json', *files)
    if p.returncode:
        ok(False, policy, p.stderr)
        finish()
    return json.loads(p.stdout)


bf16, fp16, same = apart('autocast_bfloat16'), apart('autocast_float16'), apart('float32')
ok(same['kl_mean'] == 0 and same['identical'] == same['tokens'] == 768, 'float32 beside itself is the same bits')
ratio = bf16['kl_mean'] / fp16['kl_mean']
found = ['%.0f times as far from float32\'s' % ratio]
ok(50 < ratio < 80, 'the divergence under bfloat16 is %.1f times that under float16; 64 by theory' % ratio)
ratio = bf16['log_ratio_mean_abs'] / fp16['log_ratio_mean_abs']
found.append('log-ratios %.1f times' % ratio)
ok(7 < ratio < 9, "tokens' log-ratios are %.2f times as large; 8 by theory" % ratio)
ok(bf16['greedy_differ'] > fp16['greedy_differ'], 'and more greedy tokens differ: %d against %d of 768' %
   (bf16['greedy_differ'], fp16['greedy_differ']))  # fmt: skip
told(*found, 'greedy tokens %d against %d of 768' % (bf16['greedy_differ'], fp16['greedy_differ']))
finish()
