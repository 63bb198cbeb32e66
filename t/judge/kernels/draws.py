# SPDX-License-Identifier: Apache-2.0
# Judges a draw of wrong kernels and right ones, as hostile.py and subtle.py have them, and holds doc/kernels.md to what
# is counted. A test imports tap first, and skips where there is no PyTorch.
import collections
import os
import re
import sys
import tempfile
import warnings

import halfulp
import numpy
import rules
import torch
import torches
from tap import HALFULP, finish, none, ok

BAD = ('beyond the proven bound', 'beyond the probable bound', 'biased')
LAST = 'results in fp32 are one unit in the last place too small, which is less than a computation in fp32 may err'
SEED = int(sys.argv[sys.argv.index('--seed') + 1]) if '--seed' in sys.argv else None
ONLY = sys.argv[sys.argv.index('--only') + 1] if '--only' in sys.argv else ''


def judged(kernel, o, got, facts, *options):
    return halfulp.judge(kernel, o, got, options=('--no-culprit',) + options, **facts)


def stored(kernel, o, y):
    """A result in the type that the kernel writes."""
    if isinstance(y, dict):
        return y
    if not y.dtype.is_floating_point or kernel == 'linear_cross_entropy':
        return y.float() if y.dtype.is_floating_point else y
    first = next(x for x in o.values() if x.dtype.is_floating_point)
    return y.to(first.dtype) if y.dtype in (torch.float32, torch.float64) else y


def references(kernel, o, good, facts):
    """For each result the right kernel's, and the exact values in fp32."""
    pairs = []
    for name, y in good.items():
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'exact.npy')
            judged(kernel, o, {name: y} if name else y, facts, '--exact', path)
            pairs.append((y, torch.from_numpy(numpy.load(path).astype(numpy.float32)).view(y.shape)))
    return pairs


class Tally:
    """What was judged: kinds of mistakes, kernels, and how many were caught or condemned by each rule."""

    def __init__(self):
        self.kinds, self.kernels, self.reasons = set(), set(), set()
        self.right = self.wrong = self.compared = self.number = 0
        self.blamed, self.missed = [], []
        self.accepted, self.condemned, self.words = (collections.Counter() for _ in range(3))

    def result(self, kernel, form, o, facts, what, parts, high):
        v = judged(kernel, o, parts[''] if '' in parts else parts, facts)
        line, is_right = '%s %s: %s: %s' % (kernel, form, what, v['verdict']), what.startswith('right')
        self.words[v['verdict']] += not is_right
        if is_right:
            self.right += 1
            if v['verdict'] != 'right':
                self.blamed.append(line + '\n' + str(v))
                print('# blamed: ' + self.blamed[-1].replace('\n', '\n#   '), flush=True)
        else:
            self.wrong += 1
            self.kinds.add((kernel, what))
            if v['verdict'] not in BAD:
                self.missed.append(line)
                self.reasons.add((kernel, what))
                print('# missed: ' + line, flush=True)
        if high is None:
            return
        self.compared += not is_right
        self.number += is_right
        for name, rule in rules.RULES.items():
            same = all(rule(z, *pair) for z, pair in zip(parts.values(), high))
            self.accepted[name] += same and not is_right
            self.condemned[name] += is_right and not same

    def group(self, kernel, form, o, facts, results):
        assert results[0][0] == 'right', (kernel, results[0][0])
        self.kernels.add(kernel)
        good, high = None, None
        for what, y in results:
            y = stored(kernel, o, y)
            parts = y if isinstance(y, dict) else {'': y}
            if good is None:
                integers = not all(z.dtype.is_floating_point for z in parts.values())
                good, high = parts, None if integers else references(kernel, o, parts, facts)
            elif not what.startswith('right') and all(torch.equal(z.nan_to_num(7e3), good[name].nan_to_num(7e3))
                                                      for name, z in parts.items()):
                continue   # in this type the mistake changes no bit
            self.result(kernel, form, o, facts, what, parts, high)

    def rows(self):
        """(caught, wrong ones, condemned, right ones) of judge and of each rule of rules.py."""
        return [(self.wrong - len(self.missed), self.wrong, len(self.blamed), self.right)] + [
            (self.compared - self.accepted[name], self.compared, self.condemned[name], self.number)
            for name in rules.RULES]


def run(draw, word, seed, why, everything=True):
    """Judges draw.groups(type, seed) in three types; `word` marks the rows of the page, `why` has a reason for each
    miss, and `everything` says whether all kernels are drawn. --seed N draws other numbers, whose figures no page has,
    and --only NAME takes one kernel."""
    torch.set_num_threads(1)
    warnings.simplefilter('ignore')
    t = Tally()
    for form, dtype in torches.TYPES.items():
        for kernel, o, facts, results in draw.groups(dtype, seed if SEED is None else SEED):
            if ONLY in ('', kernel):
                t.group(kernel, form, o, facts, results)
    rows = t.rows()
    caught = rows[0][0]
    print('# %d kinds of %d kernels, %d wrong ones: caught %d, %.1f %%, %s' % (
        len(t.kinds), len(t.kernels), t.wrong, caught, 100 * caught / max(t.wrong, 1), dict(t.words)))
    for name, row in zip(['halfulp judge'] + list(rules.RULES), rows):
        print('# %s: caught %d of %d, condemned %d of %d' % ((name,) + row))
    none(t.blamed, '%d right kernels are called right' % t.right)
    if not ONLY:
        ok(len(t.kinds) >= 80 and caught >= 0.97 * t.wrong, 'at least 97 of 100 wrong kernels are caught', t.missed)
        listed = set(re.findall(r'^  (\w+) +.* -> ', os.popen(HALFULP + ' judge list').read(), re.M))
        none(sorted(t.kernels ^ listed if everything else t.kernels - listed), 'kernels of judge list are drawn')
    if SEED is None and not ONLY:
        none(sorted(t.reasons - set(why)), 'each miss has its reason in this file')
        with open(os.path.join(os.environ.get('srcdir', '.'), 'doc/kernels.md'), encoding='utf-8') as f:
            told = re.findall(r'^\| .* \| (\d+) of (\d+) \| (\d+) of (\d+) \| ' + word, f.read(), re.M)
        if torch.__version__.startswith('2.15'):
            ok([tuple(map(int, r)) for r in told] == rows, 'doc/kernels.md has these figures', rows)
    finish()
