#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# How often `check` in statistics mode is red where nothing was changed, and where something was: runs of five ordinary
# set-ups, and of two that were chosen after the method was, resampled. What the program says of each run's quantities
# is read from its --json; the limits are computed again here, and compared with the program's. Changes that no option
# makes are patches of the source, linked into a program of their own. Writes a row a rate to --keep FOLDER/operating-
# curve.tsv, which the tables of doc/gate.md are made of (--from FILE prints them and runs nothing).
#   python3 bench/operating-curve.py [--seeds 8] [--trials 1000] [--jobs 1] [--keep FOLDER] [--from FILE]
import argparse
import concurrent.futures
import json
import math
import os
import random
import shutil
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TOP, 't', 'tool'))
arguments = argparse.ArgumentParser()
arguments.add_argument('--seeds', type=int, default=8)
arguments.add_argument('--trials', type=int, default=1000)
arguments.add_argument('--jobs', type=int, default=1)
arguments.add_argument('--keep')
arguments.add_argument('--from', dest='kept')
args = arguments.parse_args()
HALFULP = os.path.abspath(os.environ.get('HALFULP', 'build/halfulp'))
MLP = '--model mlp --width 0.25 --size 12 --train 2000 --eval 500 --batch 64 --epochs 15 --policy '
SETUPS = {
    'float32': MLP + 'float32',
    'float16': MLP + 'mixed_float16',
    'bfloat16': MLP + 'mixed_bfloat16',
    'sgd': MLP + 'mixed_float16 --optimizer sgd --momentum 0.9',
    'convnet': '--model convnet --width 0.125 --size 8 --train 1000 --eval 500 --batch 64 --epochs 10 --policy mixed_float16',
    'gpt': '--model gpt --hidden 16 --layers 1 --heads 2 --inner 32 --length 8 --data text:%s/LICENSE --steps 150 --policy mixed_bfloat16'
    % TOP,
    'unet': '--model unet --width 0.25 --levels 1 --size 8 --train 400 --eval 64 --batch 16 --epochs 5 --policy mixed_float16',
}
HELD_OUT = ('gpt', 'unet')
HARMLESS = {
    'kahan': ['--accumulate', 'kahan'],
    'pairwise': ['--accumulate', 'pairwise'],
    'chunk:16': ['--accumulate', 'chunk:16'],
}
LR = {'sgd': 0.01}
adam, half = lambda s: s != 'sgd', lambda s: 'mixed_float16' in SETUPS[s]
CHANGES = {  # what a set-up's runs are given, and in which set-ups it is a change
    'lr +1 %': (lambda s: ['--lr', repr(1.01 * LR.get(s, 0.001))], None),
    'lr +5 %': (lambda s: ['--lr', repr(1.05 * LR.get(s, 0.001))], None),
    'lr +20 %': (lambda s: ['--lr', repr(1.2 * LR.get(s, 0.001))], None),
    'lr -20 %': (lambda s: ['--lr', repr(0.8 * LR.get(s, 0.001))], None),
    'eps 1e-3': (lambda s: ['--eps', '1e-3'], adam),
    'beta2 0.9': (lambda s: ['--beta2', '0.9'], adam),
    'no decay': (lambda s: ['--weight-decay', '0'], lambda s: s not in ('sgd', 'convnet')),
    'scale 2^20': (lambda s: ['--loss-scale', 'static:1048576'], half),
    'fp16 sums': (lambda s: ['--accumulate', 'fma,acc=fp16'], None),
    'RZ sums': (lambda s: ['--accumulate', 'fma,mode=RZ'], None),
    'fp16 second moment': (lambda s: [], adam),
    'fp16 momentum': (lambda s: [], None),
    'RZ casts': (lambda s: [], lambda s: s != 'float32'),
}
STATE = ('trainer/optim/optim.c', 'name, p->t[t].format, p->t[t].shape, HU_OTHER);')
FORMAT = 'name, %s ? HU_FP16 : p->t[t].format, p->t[t].shape, HU_OTHER);'
PATCHES = {  # file, what stands there, what stands there instead
    'fp16 second moment': STATE + (FORMAT % '*suffix == 118',),
    'fp16 momentum': STATE + (FORMAT % '*suffix == 109',),
    'fp16 velocity': STATE + (FORMAT % '*suffix == 118',),
    'RZ casts': ('lib/program/program.c', 'c->mode = HU_RNE;', 'c->mode = strcmp(op, "cast") ? HU_RNE : HU_RZ;'),
}
CHANGED = min(5, args.seeds)


def is_change(setup, change):
    return CHANGES[change][1] is None or CHANGES[change][1](setup)


def halfulp(*line, program=None):
    return subprocess.run(
        [program or HALFULP] + list(line),
        capture_output=True,
        text=True,
        env=dict(os.environ, OMP_WAIT_POLICY='passive'),
    )


def patched():
    """A program for each patch."""
    from mutation.builder import Builder

    builder = Builder(TOP, os.path.dirname(HALFULP), 55)
    for name, (path, old, new) in PATCHES.items():
        lines = open(os.path.join(TOP, path)).read().split('\n')
        at = [i for i, l in enumerate(lines) if old in l]
        if len(at) != 1:
            sys.exit('%s has %d times: %s' % (path, len(at), old))
        start = lines[at[0]].index(old)
        for code, out in (
            builder.compile(path, (path, at[0], start, start + len(old), 'patch', new))[:2],
            builder.link('halfulp.o', 'halfulp-' + name.replace(' ', '-')),
        ):
            if code:
                sys.exit(out[-1000:])
    return {name: os.path.join(builder.dir, 'halfulp-' + name.replace(' ', '-')) for name in PATCHES}


def train(job):
    where, setup, change, more = job
    if os.path.exists(where + '/analysis/summary.json'):
        return
    shutil.rmtree(where, ignore_errors=True)
    program = PROGRAMS.get('fp16 velocity' if (setup, change) == ('sgd', 'fp16 momentum') else change)
    p = halfulp(
        'train',
        *SETUPS[setup].split(),
        '--quiet',
        '--trace-steps',
        'last',
        '--threads',
        '1',
        *more,
        where,
        program=program
    )
    q = halfulp('analyze', '--sample', '512', '--threads', '1', where)
    if p.returncode or q.returncode > 1:
        sys.exit(where + ': ' + p.stderr + q.stderr)


def tail(t, n):
    """P(T > t), by Simpson's rule in the angle: T = sqrt(n) tan(u) has the density cos(u)^(n-1)."""
    c = math.exp(math.lgamma((n + 1) / 2) - math.lgamma(n / 2)) / math.sqrt(math.pi)
    a, steps = math.atan(t / math.sqrt(n)), 2000
    h, f = (math.pi / 2 - a) / steps, lambda u: max(math.cos(u), 0) ** (n - 1)
    odd, even = (sum(f(a + i * h) for i in range(first, steps, 2)) for first in (1, 2))
    return c * h / 3 * (f(a) + f(math.pi / 2) + 4 * odd + 2 * even)


limits = {}


def limit(p, n):
    if (p, n) not in limits:
        low, high = 0.0, 1.0
        while tail(high, n) > p:
            high *= 2
        while high - low > 1e-9 * high:
            mid = (low + high) / 2
            low, high = (mid, high) if tail(mid, n) > p else (low, mid)
        limits[p, n] = high
    return limits[p, n]


def widening(n):
    """sqrt((n - 1)/x): the sum of n - 1 squares is below x with probability 10 % (Abramowitz and Stegun 26.4.4, 26.4.5)."""

    def above(x):
        start = 1 if (n - 1) % 2 else 2
        return (math.erfc(math.sqrt(x / 2)) if start == 1 else math.exp(-x / 2)) + sum(
            math.exp(k / 2 * math.log(x / 2) - x / 2 - math.lgamma(k / 2 + 1)) for k in range(start, n - 1, 2)
        )

    low, high = 1e-9, 1e3
    for _ in range(80):
        mid = (low + high) / 2
        low, high = (mid, high) if 1 - above(mid) < 0.1 else (low, mid)
    return math.sqrt((n - 1) / low)


FLOOR = {'loss': 1e-4, 'norm': 1e-3, 'error': 5e-3, 'share': 0.05}


class Setup:
    def __init__(self, name):
        self.name, self.dir = name, os.path.join(home, name)
        self.changes = [c for c in CHANGES if is_change(name, c)]
        self.cache = {}

    def where(self, change, s):
        return '%s/%s-%d' % (self.dir, change.replace(' ', '_').replace('%', 'p').replace(':', ''), s)

    def runs(self):
        for s in range(1, args.seeds + 1):
            seed = ['--seed', str(s)]
            yield self.where('base', s), self.name, '', seed
            yield self.where('other', s), self.name, '', seed + ['--accumulate', 'chunk:64']
            for change in HARMLESS:
                yield self.where(change, s), self.name, '', seed + HARMLESS[change]
            for change in self.changes if s <= CHANGED else []:
                yield self.where(change, s), self.name, change, seed + CHANGES[change][0](self.name)

    def bless(self, table, seeds):
        p = halfulp(
            'check',
            *[self.where(k, s) for s in seeds for k in ('base', 'other')],
            '--baseline',
            table,
            '--bless',
            '--statistics',
            '--reason',
            'measured'
        )
        if p.returncode:
            sys.exit(p.stderr)

    def read(self):
        seeds = range(1, args.seeds + 1)
        table = self.dir + '/all.tsv'
        self.bless(table, seeds)
        rows = [l.split('\t') for l in open(table).read().splitlines() if not l.startswith('#')][1:]
        self.kind = {r[0]: r[1] for r in rows}
        self.base = {r[0]: dict(zip(seeds, map(float, r[5::2]))) for r in rows}
        self.other = {r[0]: dict(zip(seeds, map(float, r[6::2]))) for r in rows}
        self.quantities = [q for q in self.kind if self.kind[q] in FLOOR]
        self.moved, self.exact, self.apart = {}, {}, set()
        for change in list(HARMLESS) + self.changes:
            for s in seeds if change in HARMLESS else range(1, CHANGED + 1):
                j = json.loads(halfulp('check', self.where(change, s), '--baseline', table, '--json').stdout)
                # A quantity that the run does not have, or that is not finite, is red
                self.moved[change, s] = {
                    f['quantity']: f.get('moved', math.inf) for f in j['findings'] if self.kind[f['quantity']] in FLOOR
                }
                self.exact[change, s] = all(f['ok'] for f in j['findings'] if self.kind[f['quantity']] not in FLOOR)
                if 'unpaired' in j['summary']:
                    self.apart.add((change, s))

    def spread(self, q, seeds):
        key = q, tuple(sorted(seeds))
        if key not in self.cache:
            v, n = [self.base[q][s] for s in seeds], len(seeds)
            mean = sum(v) / n
            self.cache[key] = (
                math.hypot(math.sqrt(sum((x - mean) ** 2 for x in v) / (n - 1)), FLOOR[self.kind[q]]),
                math.sqrt(sum((self.other[q][s] - self.base[q][s]) ** 2 for s in seeds) / n),
                mean,
            )
        return self.cache[key]

    def red(self, seeds, change, candidates, paired=True):
        """The verdict on runs of CANDIDATES with CHANGE against a baseline of SEEDS, computed here."""
        n, k = len(seeds), len(candidates)
        if not all(self.exact[change, s] for s in candidates):
            return True
        paired = paired and not any((change, s) in self.apart for s in candidates)
        for q in self.quantities:
            s, tau, mean = self.spread(q, seeds)
            one = self.kind[q] in ('error', 'share')
            p = (0.01 if one else 0.005) / len(self.quantities)
            d = sum(self.moved[change, c][q] + (0 if paired else self.base[q][c] - mean) for c in candidates) / k
            if paired:
                most = widening(n) * s / 2 + limit(p, n) * tau / math.sqrt(k)
            else:
                most = limit(p, n - 1 if k == 1 else n + k - 2) * s * math.sqrt(1 / n + 1 / k)
            most += math.log(1.35) if one else 0
            if not (d if one else abs(d)) <= most:
                return True
        return False

    def agrees(self, rng, times):
        """How often the program, asked with runs, says the same."""
        same, table = 0, self.dir + '/some.tsv'
        for _ in range(times):
            seeds = rng.sample(range(1, args.seeds + 1), 5)
            change = rng.choice(list(HARMLESS) + self.changes)
            s = rng.choice([x for x in seeds if x <= CHANGED or change in HARMLESS] or [0])
            if not s:
                same += 1
                continue
            self.bless(table, seeds)
            same += (halfulp('check', self.where(change, s), '--baseline', table).returncode == 1) == self.red(
                seeds, change, [s]
            )
        return same

    def rate(self, rng, changes, n, k, paired, trials):
        """How many of TRIALS are red: candidates are blessed seeds where they are paired, else others."""
        red = 0
        for _ in range(trials):
            change = rng.choice(changes)
            candidates = rng.sample(range(1, (args.seeds if change in HARMLESS else CHANGED) + 1), k)
            rest = [s for s in range(1, args.seeds + 1) if s not in candidates]
            red += self.red(
                candidates + rng.sample(rest, n - k) if paired else rng.sample(rest, n), change, candidates, paired
            )
        return red


MODES = [
    ('paired', 3, 1),
    ('paired', 5, 1),
    ('paired', 10, 1),
    ('paired', 5, 5),
    ('unpaired', 5, 1),
    ('unpaired', 10, 1),
    ('unpaired', 5, 5),
]
HEAD = 'setup change mode n k trials red runs'.split()


def measure():
    setups = [Setup(name) for name in SETUPS]
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        list(pool.map(train, [job for s in setups for job in s.runs()]))
    rng, out = random.Random(1), [
        '# halfulp operating curve: %d seeds; the program agreed with AGREED verdicts computed here' % args.seeds,
        '\t'.join(HEAD),
    ]
    agreed = asked = 0
    for s in setups:
        s.read()
        for change in ['none'] + s.changes:
            for mode, n, k in MODES:
                if n + (0 if mode == 'paired' else k) > args.seeds:
                    continue
                trials = args.trials if change == 'none' else max(100, args.trials // 5)
                red = s.rate(rng, list(HARMLESS) if change == 'none' else [change], n, k, mode == 'paired', trials)
                out.append(
                    '\t'.join(
                        map(
                            str,
                            (
                                s.name,
                                change,
                                mode,
                                n,
                                k,
                                trials,
                                red,
                                len(HARMLESS) * args.seeds if change == 'none' else CHANGED,
                            ),
                        )
                    )
                )
        agreed, asked = agreed + s.agrees(rng, 10), asked + 10
    out[0] = out[0].replace('AGREED', '%d of %d' % (agreed, asked))
    open(home + '/operating-curve.tsv', 'w').write('\n'.join(out) + '\n')
    return home + '/operating-curve.tsv'


def show(path):
    """The tables of doc/gate.md."""
    rows = [dict(zip(HEAD, l.split('\t'))) for l in open(path).read().splitlines()[2:]]
    at = {
        (r['setup'], r['change'], r['mode'], int(r['n']), int(r['k'])): 100 * int(r['red']) / int(r['trials'])
        for r in rows
    }
    names = ['%s%s' % (s, ', held out' if s in HELD_OUT else '') for s in SETUPS]
    print('| change, paired 5/1 | ' + ' | '.join(names) + ' |\n| --- |' + ' --- |' * len(names))
    for change in ['none'] + list(CHANGES):
        print(
            '| %s | %s |'
            % (
                change,
                ' | '.join(
                    '%.1f' % at[s, change, 'paired', 5, 1] if (s, change, 'paired', 5, 1) in at else '–' for s in SETUPS
                ),
            )
        )
    modes = [m for m in MODES if ('float32', 'none') + m in at]
    print(
        '\n| change, all set-ups | ' + ' | '.join('%s %d/%d' % m for m in modes) + ' |\n| --- |' + ' --- |' * len(modes)
    )
    for change in ['none'] + list(CHANGES):
        cells = [[at[(s, change) + m] for s in SETUPS if (s, change) + m in at] for m in modes]
        print(
            '| %s | %s |'
            % (
                change,
                ' | '.join('%.1f' % max(c) if max(c) == min(c) else '%.1f to %.1f' % (min(c), max(c)) for c in cells),
            )
        )
    quiet = [r for r in rows if r['change'] == 'none' and r['mode'] == 'paired' and r['n'] == '5' and r['k'] == '1']
    print(
        '\n%d distinct runs in which only the order of sums is another, %d trials paired 5/1: %d red.'
        % (sum(int(r['runs']) for r in quiet), sum(int(r['trials']) for r in quiet), sum(int(r['red']) for r in quiet))
    )


if args.kept:
    show(args.kept)
else:
    home = args.keep or tempfile.mkdtemp(prefix='halfulp-curve-')
    os.makedirs(home, exist_ok=True)
    PROGRAMS = patched()
    show(measure())
    if not args.keep:
        shutil.rmtree(home)
