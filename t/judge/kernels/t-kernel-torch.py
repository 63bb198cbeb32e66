#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# PyTorch's own kernels are right: none is beyond the proven bound, whatever the shape, scale and format. Needs torch.
import os
import sys

sys.dont_write_bytecode = True
TOP = os.path.abspath(os.environ.get('srcdir', '.'))
sys.path[:0] = [TOP + '/t/tool', TOP + '/python', os.path.dirname(os.path.abspath(__file__))]
from tap import HALFULP, finish, none, ok, skip_all  # noqa: E402

try:
    import torch
except (ImportError, OSError) as why:
    skip_all('no PyTorch: %s' % str(why).splitlines()[0])
torch.set_num_threads(1)
os.environ['HALFULP'] = HALFULP
import collections  # noqa: E402

import halfulp  # noqa: E402
import torches  # noqa: E402

words, wrong, biased, kernels = collections.Counter(), [], [], set()
for name, kernel, inputs, got, facts in torches.cases((1,), (7, 65)):
    v = halfulp.judge(kernel, inputs, got, options=('--no-culprit',), **facts)
    words[v['verdict']] += 1
    kernels.add(kernel)
    if v.failed:
        wrong.append(name + ': ' + str(v))
    elif not v.right:
        biased.append(name + ': ' + v['verdict'])
# Shares below the normal numbers may be flushed, and exp(-x) of SiLU overflows: neither is improbable.
rare = []
for seed, n, scale, form in ((1003, 129, 20.0, 'fp32'), (1021, 200, 20.0, 'fp32'), (5, 65, 60.0, 'bf16')):
    for name, kernel, inputs, got, facts in torches.cases((seed,), (n,), (form,), (scale,)):
        if kernel in ('softmax', 'silu'):
            v = halfulp.judge(kernel, inputs, got, options=('--no-culprit',), **facts)
            rare += [name + ': ' + str(v)] if v['verdict'] != 'right' else []
none(rare, 'shares that are flushed, and SiLU where its exponential overflows, are right')
total = sum(words.values())
print('# %d kernels of PyTorch: %s' % (total, dict(words)))
none(wrong, '%d results of PyTorch are within the proven bound' % total)
ok(len(biased) <= 0.02 * total, 'at most 2 in 100 of them are called biased or improbable', biased)
page = open(TOP + '/doc/kernels.md', encoding='utf-8').read()
told = '%d results of %d kernels in three formats' % (total, len(kernels))
if torch.__version__.startswith('2.15'):
    ok(told in page and words['right'] == total, 'doc/kernels.md has these figures', (told, dict(words)))
finish()
