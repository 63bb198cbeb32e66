#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# halfulp engines on a mixture of experts: the sets of experts that differ are counted again in the recorded steps, and
# what B computes when its routers choose as A's did is computed again from B's tensors and A's choices.
import json
import math
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
from experts import gates, result, rows  # noqa: E402
from tap import finish, halfulp, home, ok  # noqa: E402
from tensorsfile import Tensors  # noqa: E402

os.chdir(home())
HIDDEN, EXPERTS = 16, 8
GPT = '--model gpt:layers=%d,hidden=16,heads=2,inner=12,experts=8 --data train=64,eval=8 --steps 1 --batch 8 '


def train(name, words, layers=1):
    p = halfulp('train', '--quiet', '--trace', 'steps=0', '--loss-scale', 'none', *(GPT % layers + words).split(), name)
    if p.returncode:
        ok(False, 'train ' + name, p.stderr)
        finish()
    return Tensors(name + '/trace/step-000000.safetensors')


def engines(*words, code=0):
    p = halfulp('engines', *words)
    if p.returncode != code or (code and p.stderr.count('\n') != 1):
        ok(False, 'engines %s: exit %d, not %d' % (' '.join(words), p.returncode, code), p.stderr)
        finish()
    return json.loads(p.stdout) if '--json' in words else p.stdout or p.stderr


def chosen(t, layer):
    return [[e for e in range(EXPERTS) if r[e]] for r in rows(t[layer + '.chosen'], EXPERTS)]


def counted(a, b, layers):
    """What `routers` says of two recorded steps."""
    far = {n: [i for i, (x, y) in enumerate(zip(chosen(a, n), chosen(b, n))) if x != y] for n in layers}
    tokens = len(chosen(a, layers[0]))
    return {'routers': len(layers), 'tokens': tokens, 'tokens_differ': len(set().union(*far.values())),
            'sets': tokens * len(layers), 'sets_differ': sum(map(len, far.values())),
            'by_router': [{'layer': n, 'tokens': tokens, 'differ': len(far[n]), 'first': far[n][0] if far[n] else None}
                          for n in layers]}  # fmt: skip


LAYERS = ['block1_router', 'block2_router']
a, b = train('a', '', 2), train('b', '--policy mxfp4', 2)
want, got = counted(a, b, LAYERS), engines('a', 'b', '--json')['routers']
ok(got == want and want['sets_differ'] > 0, 'of two runs %d of %d sets differ, for %d tokens' %
   (want['sets_differ'], want['sets'], want['tokens_differ']), '%s, not %s' % (got, want))  # fmt: skip
ok('  routers        2 choose experts: %d of %d sets differ (' % (want['sets_differ'], want['sets']) in
   engines('a', 'b'), 'and the text says so')  # fmt: skip
ok(engines('a', '--policy', 'mxfp4', '--json')['routers'] == want, 'of one run under that policy as many do')
c = train('c', '--seed 2', 2)
want = counted(a, c, LAYERS)
ok(engines('a', 'c', '--json')['routers'] == want and want['sets_differ'] > want['tokens_differ'] > 0,
   'of other weights %d sets differ, for %d tokens' % (want['sets_differ'], want['tokens_differ']))  # fmt: skip
got = engines('a', 'b', '--replay-routers', '--json')
ok(got['routers']['sets_differ'] == 0 < got['kl_mean'], 'none do where A\'s choices are replayed')
got, plain = (engines('b', 'b', *words, '--json') for words in (('--replay-routers',), ()))
ok(got['identical'] == got['tokens'] and got == plain,
   'an engine that replays its own choices has the same bits')  # fmt: skip

# Other weights choose other experts: what B's experts make of A's choices, through measures of their sums
a, b = train('one', '--seed 1'), train('two', '--seed 2')
SUM = 'block1_expert8_add.y'
got = engines('one', 'two', '--replay-routers', '--output', SUM, '--json')
far = engines('one', 'two', '--output', SUM, '--json')


def log_shares(y):
    most = max(y)
    total = math.log(sum(math.exp(v - most) for v in y))
    return [v - most - total for v in y]


off = []
for x, z, mine, of_a in zip(rows(b['block1_norm2.y'], HIDDEN), rows(b['block1_router.y'], EXPERTS),
                            chosen(a, 'block1_router'), rows(a[SUM], HIDDEN)):  # fmt: skip
    y, _ = result(b, 'block1', x, mine, gates(z, mine, 2)[0])
    off.append(abs(log_shares(y)[of_a.index(max(of_a))] - log_shares(of_a)[of_a.index(max(of_a))]))
mean, most = sum(off) / len(off), max(off)
# Differences of numbers of order 1 whose roundings are of 2^-24 each: six digits of the mean remain
ok(abs(got['log_ratio_mean_abs'] - mean) <= 2e-6 * max(1, most) and abs(got['log_ratio_max'] - most) <= 2e-6 *
   max(1, most) and abs(far['log_ratio_mean_abs'] - mean) > 1e-3,
   "B's experts compute what A's routers chose, with B's gates",
   '%s, not %s' % (got['log_ratio_mean_abs'], mean))  # fmt: skip

GPT = GPT.replace(',experts=8', '')
train('dense', '')
ok(engines('dense', 'dense', '--json')['routers'] is None, 'there are no routers in a dense model')
for words, code, why in (
    (('dense', 'dense', '--replay-routers'), 2, 'its model has no routers; train one with --model gpt:experts=N'),
    (('dense', 'one', '--replay-routers'), 3, 'block1_router.chosen of step 0 is no choice for the same tokens'),
    (('x.npz', 'y.npz', '--replay-routers'), 2, '--replay-routers has no effect on files of logits'),
):
    if words[0] == 'x.npz':
        words = tuple(n + '/trace/step-000000.safetensors' for n in ('one', 'two')) + words[2:]
    text = engines(*words, code=code)
    ok(why in text, '%s is refused' % ' '.join(words), text)
finish()
