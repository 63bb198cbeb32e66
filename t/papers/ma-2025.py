#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# W. Ma and others, Stabilizing MoE reinforcement learning by aligning training and inference routers, arXiv:2510.11370,
# 2025: two engines send tokens to other experts, and such tokens make most of the divergence between their
# probabilities; where the training engine takes the choices that the inference engine made (rollout routing replay) and
# has its own gates, the divergence falls towards a dense model's, and tokens of extreme ratio vanish.
# Reproduced, on a decoder of four layers with eight experts each, two for each token, in place of Qwen3-30B-A3B:
# float32 samples and bfloat16 trains, with replay and without, beside a dense decoder of as many layers.
# Not reproduced: the published divergences, and reinforcement learning.
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tool'))
from tap import finish, halfulp, home, ok, told  # noqa: E402

where = home()


def run(*words):
    p = halfulp(*words)
    if p.returncode:
        ok(False, ' '.join(words), p.stderr)
        finish()
    return p.stdout


def engines(name, *words):
    return json.loads(run('engines', os.path.join(where, name), '--policy', 'mixed_bfloat16', '--tau', '1.05', *words,
                          '--json'))  # fmt: skip


def power(x):
    """A number as the page writes it: 3.2 × 10⁻⁴."""
    digits, exponent = ('%.1e' % x).split('e')
    return '%s × 10⁻%s' % (digits, str(-int(exponent)).translate(str.maketrans('0123456789', '⁰¹²³⁴⁵⁶⁷⁸⁹')))


for name, sizes in (('experts', 'inner=32,experts=8'), ('dense', 'inner=64')):
    words = '--steps 80 --batch 16 --optimizer lr=3e-3 --policy float32 --trace steps=79 --loss-scale none'
    run('train', '--quiet', '--model', 'gpt:layers=4,hidden=32,' + sizes, *words.split(), os.path.join(where, name))
own, replayed, dense = engines('experts'), engines('experts', '--replay-routers'), engines('dense')
r = own['routers']
ok(r['tokens_differ'] > 0.01 * r['tokens'] and r['sets_differ'] < 0.05 * r['sets'] and
   replayed['routers']['sets_differ'] == 0, 'bfloat16 chooses other experts in %d of %d sets, for %d of %d tokens' %
   (r['sets_differ'], r['sets'], r['tokens_differ'], r['tokens']))  # fmt: skip
ratio = own['kl_mean'] / replayed['kl_mean']
ok(ratio > 4, 'replay of the choices divides the divergence by %.1f: %.3g, then %.3g' %
   (ratio, own['kl_mean'], replayed['kl_mean']))  # fmt: skip
ok(replayed['kl_mean'] < 2 * dense['kl_mean'] < own['kl_mean'], 'to about the %.3g of a dense decoder' %
   dense['kl_mean'])  # fmt: skip
ok(own['beyond'] > 0 == replayed['beyond'], 'ratios of probabilities above 1.05: %d tokens, and none with replay' %
   own['beyond'])  # fmt: skip
told('sends %d of %d tokens' % (r['tokens_differ'], r['tokens']), 'falls from %s to %s, a dense decoder\'s %s' %
     tuple(power(x['kl_mean']) for x in (own, replayed, dense)), 'the %d tokens vanish' % own['beyond'])  # fmt: skip
finish()
