#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Wrong kernels are caught and right ones are not condemned; beside the rules that are used today. --long draws
# three times as many. Needs torch.
import collections
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
import halfulp  # noqa: E402
import mutants  # noqa: E402
import rules  # noqa: E402

TYPES = {'bf16': torch.bfloat16, 'fp16': torch.float16}
BAD = ('beyond the proven bound', 'beyond the probable bound', 'biased')
LONG = '--long' in sys.argv


def judged(kernel, o, got, facts):
    name = {'rmsnorm+': 'rmsnorm', 'causal': 'attention'}.get(kernel, kernel)
    return halfulp.judge(name, o, got, options=('--no-culprit',), **facts)


condemned, right, caught, missed, accepted = [], 0, 0, [], collections.Counter()
falsely, words, undeclared = collections.Counter(), collections.Counter(), 0
for seed in range(1, 4 if LONG else 2):
    for form, t in TYPES.items():
        for kernel, f in mutants.RIGHT.items():
            o, facts = mutants.operands(kernel, t, seed)
            got = f(o, t)
            v = judged(kernel, o, got, facts)
            right += 1
            if not v['verdict'] == 'right':
                condemned.append('%s %s seed %d: %s' % (kernel, form, seed, v))
            low, high = rules.references(kernel, o)
            for name, rule in rules.RULES.items():
                falsely[name] += not rule(got, low, high)
        for kernel, what, f in mutants.WRONG:
            o, facts = mutants.operands(kernel, t, seed)
            got, good = f(o, t), mutants.RIGHT[kernel](o, t)
            if torch.equal(got, good):
                continue   # in this type the mistake changes no bit
            v = judged(kernel, o, got, facts)
            words[v['verdict']] += 1
            if v['verdict'] in BAD:
                caught += 1
            else:
                undeclared += v['verdict'] != 'right'
                missed.append('%s %s: %s: %s' % (kernel, form, what, v['verdict']))
            low, high = rules.references(kernel, o)
            for name, rule in rules.RULES.items():
                accepted[name] += rule(got, low, high)
total = caught + len(missed)
print('# %d kinds, %d mutants: caught %.1f %%, %s' % (len(mutants.WRONG), total, 100 * caught / total, dict(words)))
print('# halfulp judge: caught %d of %d, condemned %d of %d right kernels' % (caught, total, len(condemned), right))
for name in rules.RULES:
    print('# %s: caught %d of %d, condemned %d of %d' % (name, total - accepted[name], total, falsely[name], right))
for line in missed:
    print('# missed: ' + line)
none(condemned, '%d right kernels are called right' % right)
ok(len(mutants.WRONG) >= 60, 'at least 60 kinds of mistakes are tried')
ok(caught >= 0.97 * total, 'at least 97 of 100 mutants are beyond a bound or biased', missed)
ok(all(caught > total - accepted[name] for name in rules.RULES), 'no rule in use catches as many')
finish()
