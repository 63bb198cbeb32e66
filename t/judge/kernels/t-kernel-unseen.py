#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# A second draw of wrong kernels and right ones (unseen.py), over all kernels that judge knows, in fp32, bf16 and fp16:
# wrong ones are caught, each miss has its reason here, and no right one is beyond the proven bound. --long also judges
# right kernels and PyTorch's own until there are 10 000. Needs torch.
import collections
import os
import re
import sys
import tempfile
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
import numpy  # noqa: E402
import rules  # noqa: E402
import torches  # noqa: E402
import unseen  # noqa: E402

BAD = ('beyond the proven bound', 'beyond the probable bound', 'biased')
SINGLE = 'it is one number, whose error is five standard deviations of its model: too few for so many calls'
WIDE = 'it is 2^-24 of a sum of 160 terms in any order, whose own errors are larger'
# a miss, and why no bound and no statistic can tell
WHY = {('cross_entropy', 'no maximum'): SINGLE, ('matmul', 'chopped'): WIDE}


def judged(kernel, o, got, facts, *options):
    return halfulp.judge(kernel, o, got, options=('--no-culprit',) + options, **facts)


def references(kernel, o, got, facts):
    """For each result the right kernel's, and the exact values in fp32."""
    pairs = []
    for name, y in got.items():
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'exact.npy')
            judged(kernel, o, {name: y} if name else y, facts, '--exact', path)
            pairs.append((y, torch.from_numpy(numpy.load(path).astype(numpy.float32)).view(y.shape)))
    return pairs


kinds, right, wrong, compared, blamed, missed = set(), 0, 0, 0, [], []
kernels, accepted, condemned, number, reasons = set(), collections.Counter(), collections.Counter(), 0, set()
for form, t in torches.TYPES.items():
    good, high = {}, {}
    for kernel, what, o, got, facts in unseen.cases(t, 1):
        key, parts = (kernel, tuple(o), str(facts)), got if isinstance(got, dict) else {'': got}
        is_right = what.startswith('right') or ': right' in what
        integers = not all(y.dtype.is_floating_point for y in parts.values())
        kernels.add(kernel)
        if key not in good:
            assert is_right, (kernel, what)
            good[key] = parts
            high[key] = [] if integers else references(kernel, o, parts, facts)
        elif not is_right and all(torch.equal(y, good[key][name]) for name, y in parts.items()):
            continue   # in this type the mistake changes no bit
        v = judged(kernel, o, got, facts)
        line = '%s %s: %s: %s' % (kernel, form, what, v['verdict'])
        if is_right:
            right += 1
            blamed += [line + '\n' + str(v)] if v['verdict'] != 'right' else []
        else:
            wrong += 1
            kinds.add((kernel, what))
            if v['verdict'] not in BAD:
                missed.append(line)
                reasons.add((kernel, what))
        if integers:
            continue
        compared += not is_right
        number += is_right
        for name, rule in rules.RULES.items():
            same = all(rule(y, *pair) for y, pair in zip(parts.values(), high[key]))
            accepted[name] += same and not is_right
            condemned[name] += is_right and not same
caught = wrong - len(missed)
print('# %d kinds of %d kernels, %d wrong ones: caught %d, %.1f %%' % (
    len(kinds), len(kernels), wrong, caught, 100 * caught / wrong))
rows = [(caught, wrong, len(blamed), right)] + [
    (compared - accepted[name], compared, condemned[name], number) for name in rules.RULES]
for name, row in zip(['halfulp judge'] + list(rules.RULES), rows):
    print('# %s: caught %d of %d, condemned %d of %d' % ((name,) + row))
for line in missed:
    print('# missed: ' + line)
listed = set(re.findall(r'^  (\w+) +.* -> ', os.popen(HALFULP + ' judge list').read(), re.M))
none(blamed, '%d right kernels are called right' % right)
ok(len(kinds) >= 60 and caught >= 0.97 * wrong, 'at least 97 of 100 wrong kernels are caught', missed)
none(sorted(reasons - set(WHY)), 'each miss has its reason in this file')
none(sorted(kernels ^ listed), 'all kernels of judge list are drawn')
with open(TOP + '/doc/kernels.md', encoding='utf-8') as f:
    told = re.findall(r'^\| .* \| (\d+) of (\d+) \| (\d+) of (\d+) \| second', f.read(), re.M)
if torch.__version__.startswith('2.15'):
    ok([tuple(map(int, r)) for r in told] == rows, 'doc/kernels.md has these figures', rows)
if '--long' in sys.argv:
    words, beyond, calls = collections.Counter(), [], 0

    def runs():
        for seed in range(2, 100):
            for scale in (0.25, 1.0, 4.0):
                for t in torches.TYPES.values():
                    for kernel, what, o, got, facts in unseen.cases(t, seed, scale):
                        if what.startswith('right') or ': right' in what:
                            yield '%s %s %s seed %d scale %g' % (kernel, what, t, seed, scale), kernel, o, got, facts
            yield from torches.cases((seed,), (3, 96))
    for what, kernel, o, got, facts in runs():
        v = judged(kernel, o, got, facts)
        words[v['verdict']] += 1
        calls += 1
        beyond += [what + '\n' + str(v)] if v.failed else []
        if v['verdict'] != 'right':
            print('# %s: %s' % (what, v['verdict']), flush=True)
        if calls == 10000:
            break
    print('# %d calls of right kernels: %s' % (calls, dict(words)))
    none(beyond, 'none of %d right calls is beyond the proven bound' % calls)
finish()
