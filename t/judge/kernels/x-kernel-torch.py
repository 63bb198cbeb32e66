#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# PyTorch's own kernels in as many calls as there is time for: each seed draws a size and a scale, and all kernels of
# torches.py in three types. Verdicts are counted in doc/kernels-torch.tsv, which --go adds to, for
# HALFULP_TORCH_SECONDS (600), and which doc/kernels.md sums up. As a test it draws the next seed and holds the page to
# the table. --seed N judges one seed and prints what is not right. Needs torch.
import collections
import os
import random
import re
import sys
import time

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
import torches  # noqa: E402

TABLE = TOP + '/doc/kernels-torch.tsv'
WORDS = ('right', 'right, but not by the declared roundings', 'biased', 'beyond the probable bound',
         'beyond the proven bound')
SIZES = (1, 2, 3, 5, 8, 15, 16, 17, 31, 33, 48, 63, 65, 100, 127, 129, 200, 255, 257, 320, 513)
SCALES = (2 ** -10, 0.01, 0.05, 0.3, 1.0, 1.5, 3.0, 8.0, 20.0)


def table():
    """Counts of the verdicts by (kernel, type), and how many seeds were drawn."""
    if not os.path.exists(TABLE):
        return {}, 0
    with open(TABLE, encoding='utf-8') as f:
        lines = [line.rstrip('\n').split('\t') for line in f.readlines()[1:]]
    return {(c[0], c[1]): collections.Counter(dict(zip(WORDS, map(int, c[3:])))) for c in lines}, int(lines[0][2])


def write(rows, seeds):
    with open(TABLE + '~', 'w', encoding='utf-8') as f:
        f.write('\t'.join(('kernel', 'type', 'seeds') + WORDS) + '\n')
        for (kernel, form), counts in sorted(rows.items()):
            f.write('\t'.join([kernel, form, str(seeds)] + [str(counts[w]) for w in WORDS]) + '\n')
    os.replace(TABLE + '~', TABLE)


def draw(seed):
    """The verdicts of a seed's calls: (kernel, type), word, and what was called, with the answer."""
    r = random.Random(seed)
    n, scale = r.choice(SIZES), r.choice(SCALES)
    for name, kernel, inputs, got, facts in torches.cases((seed,), (n,), scales=(scale,)):
        v = halfulp.judge(kernel, inputs, got, options=('--no-culprit',), **facts)
        yield (kernel, name.split()[1]), v['verdict'], '%s: %s' % (name, v)


def add(rows, seed):
    wrong = []
    for key, word, what in draw(seed):
        rows.setdefault(key, collections.Counter())[word] += 1
        wrong += [what] if word != WORDS[0] else []
    for what in wrong:
        print('# ' + what.replace('\n', '\n#   '), flush=True)
    return wrong


if '--seed' in sys.argv:
    add({}, int(sys.argv[sys.argv.index('--seed') + 1]))
    sys.exit(0)
if '--go' in sys.argv:
    end = time.time() + float(os.environ.get('HALFULP_TORCH_SECONDS', '600'))
    while time.time() < end:
        rows, seeds = table()
        add(rows, 1000 + seeds)
        write(rows, seeds + 1)
    sys.exit(0)
rows, seeds = table()
wrong = add({}, 1000 + seeds)
none([w for w in wrong if WORDS[-1] in w], 'no result of the next seed is beyond the proven bound')
total = collections.Counter()
for counts in rows.values():
    total += counts
calls, kernels = sum(total.values()), len({kernel for kernel, form in rows})
with open(TOP + '/doc/kernels.md', encoding='utf-8') as f:
    page = re.sub(r'\s+', ' ', f.read())
told = 'In %d further calls of %d kernels, with %d sizes and scales' % (calls, kernels, seeds)
ok(calls >= 10000 and total[WORDS[-1]] == 0, 'of 10 000 calls none is beyond the proven bound', (calls, dict(total)))
ok(told in page, 'doc/kernels.md has the sums of the table', told)
finish()
