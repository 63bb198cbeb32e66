#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Wrong kernels in the idioms of those who serve and train language models (stranger.py): halfulp.assert_close refuses
# each, halfulp judge says the same, right kernels pass, and what the answer calls the culprit is the mistake that was
# made. --seed N draws other operands. Needs torch.
import collections
import os
import re
import sys
import warnings

sys.dont_write_bytecode = True
TOP = os.path.abspath(os.environ.get('srcdir', '.'))
sys.path[:0] = [TOP + '/t/tool', TOP + '/python', os.path.dirname(os.path.abspath(__file__))]
from tap import HALFULP, finish, none, ok, skip_all  # noqa: E402

try:
    import torch
except (ImportError, OSError) as why:
    skip_all('no PyTorch: %s' % str(why).splitlines()[0])
torch.set_num_threads(1)
warnings.simplefilter('ignore')
os.environ['HALFULP'] = HALFULP
import halfulp  # noqa: E402
import stranger  # noqa: E402

SEED = int(sys.argv[sys.argv.index('--seed') + 1]) if '--seed' in sys.argv else 1129
words, missed, blamed, lies, wrong, named = collections.Counter(), [], [], [], 0, 0
for what, kernel, o, facts, got, right, culprit in stranger.cases(SEED):
    try:
        v = halfulp.assert_close(kernel, o, right, fail_if='undeclared', **facts)
    except AssertionError as why:
        blamed.append('%s, the right kernel: %s' % (what, why))
    wrong += 1
    try:
        halfulp.assert_close(kernel, o, got, fail_if='biased', **facts)
        missed.append(what)
        continue
    except AssertionError as why:
        text = str(why)
    v = text.split(': ', 1)[1].split('\n')[0]
    words[v] += 1
    said = '; '.join(re.findall(r'^culprit: (.*)$', text, re.M))
    print('# %s: %s: %s' % (what, v, said or 'no culprit'))
    named += bool(said)
    if said if culprit is None else not re.search(culprit, said):
        lies.append('%s: %s' % (what, said or 'no culprit'))
print('# %d wrong kernels: %d caught, %s; %d have a culprit' % (wrong, wrong - len(missed), dict(words), named))
none(blamed, 'right kernels are right')
none(missed, '%d wrong kernels are refused' % wrong)
none(lies, 'the culprit is the mistake that was made, or none is named')
finish()
