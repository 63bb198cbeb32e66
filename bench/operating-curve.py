#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# How often `check` in statistics mode is red where nothing was changed, and where something was: runs of three ordinary
# set-ups, resampled. What the program says of each run's quantities is read from its --json; the limits are computed again
# here, and compared with the program's. Prints the tables of doc/operating-curve.md.
#   python3 bench/operating-curve.py [--seeds 8] [--trials 2000] [--jobs 2] [--keep FOLDER]
import argparse
import concurrent.futures
import json
import math
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile

arguments = argparse.ArgumentParser()
arguments.add_argument('--seeds', type=int, default=8)
arguments.add_argument('--trials', type=int, default=2000)
arguments.add_argument('--jobs', type=int, default=2)
arguments.add_argument('--keep')
args = arguments.parse_args()
HALFULP = os.path.abspath(os.environ.get('HALFULP', 'build/halfulp'))
home = args.keep or tempfile.mkdtemp(prefix='halfulp-curve-')
os.makedirs(home, exist_ok=True)
COMMON = 'train --model mlp --width 0.25 --size 12 --train 2000 --eval 500 --batch 64 --epochs 15 --quiet --trace-steps last --threads 1'.split()
SETUPS = {'float32': ['--policy', 'float32'], 'mixed_float16': ['--policy', 'mixed_float16'], 'mixed_bfloat16': ['--policy', 'mixed_bfloat16']}
HARMLESS = {'kahan': ['--accumulate', 'kahan'], 'pairwise': ['--accumulate', 'pairwise']}
CHANGES = {'lr +1 %': ['--lr', '0.00101'], 'lr +5 %': ['--lr', '0.00105'], 'lr +20 %': ['--lr', '0.0012'], 'lr -20 %': ['--lr', '0.0008'], 'eps 1e-3': ['--eps', '1e-3'],
           'beta2 0.9': ['--beta2', '0.9'], 'no decay': ['--weight-decay', '0'], 'fp16 sums': ['--accumulate', 'fma,acc=fp16']}
CHANGED = min(5, args.seeds)


def halfulp(*line):
    return subprocess.run([HALFULP] + list(line), capture_output=True, text=True, env=dict(os.environ, OMP_WAIT_POLICY='passive'))


def train(job):
    where, more = job
    if os.path.exists(where + '/analysis/summary.json'):
        return
    shutil.rmtree(where, ignore_errors=True)
    p = halfulp(*COMMON, *more, where)
    q = halfulp('analyze', '--sample', '512', '--threads', '1', where)
    if p.returncode or q.returncode > 1:
        sys.exit(p.stderr + q.stderr)


def tail(t, n):
    """P(T > t), by Simpson's rule in the angle: T = sqrt(n) tan(u) has the density cos(u)^(n-1)."""
    c = math.exp(math.lgamma((n + 1) / 2) - math.lgamma(n / 2)) / math.sqrt(math.pi)
    a, steps = math.atan(t / math.sqrt(n)), 2000
    h = (math.pi / 2 - a) / steps
    f = lambda u: max(math.cos(u), 0) ** (n - 1)
    return c * h / 3 * (f(a) + f(math.pi / 2) + 4 * sum(f(a + i * h) for i in range(1, steps, 2)) + 2 * sum(f(a + i * h) for i in range(2, steps, 2)))


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
    """sqrt((n - 1)/x): x is what the sum of n - 1 squares is below with probability 10 %, by the sums of Abramowitz and Stegun 26.4.4 and 26.4.5."""
    def above(x):
        start = 1 if (n - 1) % 2 else 2
        return (math.erfc(math.sqrt(x / 2)) if start == 1 else math.exp(-x / 2)) + sum(math.exp(k / 2 * math.log(x / 2) - x / 2 - math.lgamma(k / 2 + 1)) for k in range(start, n - 1, 2))
    low, high = 1e-9, 1e3
    for _ in range(80):
        mid = (low + high) / 2
        low, high = (mid, high) if 1 - above(mid) < 0.1 else (low, mid)
    return math.sqrt((n - 1) / low)


FLOOR = {'loss': 1e-4, 'norm': 1e-3, 'error': 5e-3, 'share': 0.05}


class Setup:
    def __init__(self, name):
        self.name, self.dir = name, os.path.join(home, name)

    def runs(self):
        more = SETUPS[self.name]
        for s in range(1, args.seeds + 1):
            yield '%s/base-%d' % (self.dir, s), more + ['--seed', str(s)]
            yield '%s/other-%d' % (self.dir, s), more + ['--seed', str(s), '--accumulate', 'chunk:64']
            for change, options in list(HARMLESS.items()) + list(CHANGES.items()):
                if change in HARMLESS or s <= CHANGED:
                    yield '%s/%s-%d' % (self.dir, change.replace(' ', '_').replace('%', 'p'), s), more + ['--seed', str(s)] + options

    def read(self):
        seeds = range(1, args.seeds + 1)
        table = self.dir + '/all.tsv'
        p = halfulp('check', *['%s/%s-%d' % (self.dir, k, s) for s in seeds for k in ('base', 'other')], '--baseline', table, '--bless', '--statistics', '--reason', 'all seeds')
        if p.returncode:
            sys.exit(p.stderr)
        rows = [l.split('\t') for l in open(table).read().splitlines() if not l.startswith('#')][1:]
        self.kind = {r[0]: r[1] for r in rows}
        self.base = {r[0]: dict(zip(seeds, map(float, r[5::2]))) for r in rows}
        self.other = {r[0]: dict(zip(seeds, map(float, r[6::2]))) for r in rows}
        self.quantities = [q for q in self.kind if self.kind[q] in FLOOR]
        self.moved, self.exact = {}, {}
        for change in list(HARMLESS) + list(CHANGES):
            for s in seeds if change in HARMLESS else range(1, CHANGED + 1):
                run = '%s/%s-%d' % (self.dir, change.replace(' ', '_').replace('%', 'p'), s)
                j = json.loads(halfulp('check', run, '--baseline', table, '--json').stdout)
                self.moved[change, s] = {f['quantity']: f['moved'] for f in j['findings'] if 'moved' in f}
                self.exact[change, s] = all(f['ok'] for f in j['findings'] if 'moved' not in f)
                if 'unpaired' in j['summary']:
                    sys.exit('%s is no pair: %s' % (run, j['summary']))

    def spread(self, q, seeds):
        v = [self.base[q][s] for s in seeds]
        return math.hypot(statistics.stdev(v), FLOOR[self.kind[q]]), math.sqrt(statistics.fmean((self.other[q][s] - self.base[q][s]) ** 2 for s in seeds))

    def red(self, seeds, change, candidates, paired=True):
        """The verdict on runs of CANDIDATES with CHANGE against a baseline of SEEDS, computed here."""
        n, k = len(seeds), len(candidates)
        if not all(self.exact[change, s] for s in candidates):
            return True
        for q in self.quantities:
            s, tau = self.spread(q, seeds)
            one = self.kind[q] in ('error', 'share')
            p = (0.01 if one else 0.005) / len(self.quantities)
            if paired:
                d = statistics.fmean(self.moved[change, c][q] for c in candidates)
                most = widening(n) * s / 2 + limit(p, n) * tau / math.sqrt(k)
            else:
                d = statistics.fmean(self.base[q][c] + self.moved[change, c][q] for c in candidates) - statistics.fmean(self.base[q][c] for c in seeds)
                most = limit(p, n - 1 if k == 1 else n + k - 2) * s * math.sqrt(1 / n + 1 / k)
            most += math.log(1.35) if one else 0
            if (d if one else abs(d)) > most:
                return True
        return False

    def agrees(self, rng, times):
        """How often the program, asked with runs, says the same."""
        same = 0
        for _ in range(times):
            seeds = rng.sample(range(1, args.seeds + 1), 5)
            change = rng.choice(list(HARMLESS) + list(CHANGES))
            s = rng.choice([x for x in seeds if x <= CHANGED or change in HARMLESS] or [None])
            if s is None:
                same += 1
                continue
            table = self.dir + '/some.tsv'
            halfulp('check', *['%s/%s-%d' % (self.dir, k, x) for x in seeds for k in ('base', 'other')], '--baseline', table, '--bless', '--statistics', '--reason', 'some seeds')
            p = halfulp('check', '%s/%s-%d' % (self.dir, change.replace(' ', '_').replace('%', 'p'), s), '--baseline', table)
            same += (p.returncode == 1) == self.red(seeds, change, [s])
        return same


def rate(setup, rng, changes, n, k, paired, trials):
    red = 0
    for _ in range(trials):
        change = rng.choice(changes)
        limit_to = args.seeds if change in HARMLESS else CHANGED
        if paired:
            candidates = rng.sample(range(1, limit_to + 1), k)
            rest = [s for s in range(1, args.seeds + 1) if s not in candidates]
            seeds = candidates + rng.sample(rest, n - k)
        else:
            candidates = rng.sample(range(1, limit_to + 1), k)
            seeds = rng.sample([s for s in range(1, args.seeds + 1) if s not in candidates], n)
        red += setup.red(seeds, change, candidates, paired)
    return 100 * red / trials


def main():
    setups = [Setup(name) for name in SETUPS]
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        list(pool.map(train, [job for s in setups for job in s.runs()]))
    rng = random.Random(1)
    print('| change | ' + ' | '.join('%s, paired 5/1 | unpaired 5/1' % s for s in SETUPS) + ' |')
    print('| --- |' + ' --- |' * (2 * len(SETUPS)))
    for s in setups:
        s.read()
    few = max(100, args.trials // 10)
    for label, changes, trials in [('none (another order of sums)', list(HARMLESS), args.trials)] + [(c, [c], few) for c in CHANGES]:
        cells = []
        for s in setups:
            cells.append('%.1f' % rate(s, rng, changes, 5, 1, True, trials))
            cells.append('%.1f' % rate(s, rng, changes, min(5, args.seeds - 1), 1, False, trials))
        print('| %s | %s |' % (label, ' | '.join(cells)), flush=True)
    print()
    for s in setups:
        print('%s: %d quantities, %d blessed and %d repeated runs, %d harmless ones, %d changed ones; the program agreed with %d of 20 verdicts computed here' % (s.name, len(s.quantities), args.seeds, args.seeds, len(HARMLESS) * args.seeds, len(CHANGES) * CHANGED, s.agrees(rng, 20)))
    if not args.keep:
        shutil.rmtree(home)


main()
