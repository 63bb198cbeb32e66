#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# How often `check` in statistics mode is red where nothing was changed, and where something was: runs of five ordinary
# set-ups, and of four that were chosen after the method was, resampled. What the program says of each run's quantities
# is read from its --json; the limits are computed again here, and compared with the program's. Of --seeds each run is
# made again in other orders of its sums, and of five with each change; unpaired rates draw on all --fresh seeds. Changes
# that no option makes are patches of the source, linked into a program of their own. Writes a row a rate to --keep
# FOLDER/operating-curve.tsv, which the tables of doc/gate.md are made of (--from FILE prints them and runs nothing).
# --places names the line of the source that each patch changes, and runs nothing.
#   python3 bench/operating-curve.py [--seeds 8] [--fresh 40] [--trials 1000] [--jobs 1] [--setups LIST]
#       [--keep FOLDER] [--from FILE] [--places]
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
sys.path[:0] = [os.path.join(TOP, 't', 'tool'), os.path.join(TOP, 'bench', 'tool')]
from curve_setups import CHANGES, HARMLESS, PATCHES, SETUPS, is_change  # noqa: E402
from curve_tables import HEAD, MODES, show  # noqa: E402
from limits import limit, widening  # noqa: E402

arguments = argparse.ArgumentParser()
arguments.add_argument('--seeds', type=int, default=8)
arguments.add_argument('--fresh', type=int, default=40)
arguments.add_argument('--trials', type=int, default=1000)
arguments.add_argument('--jobs', type=int, default=1)
arguments.add_argument('--places', action='store_true')
arguments.add_argument('--setups', metavar='LIST', help='those set-ups alone; the smallest is sgd')
arguments.add_argument('--keep')
arguments.add_argument('--from', dest='kept')
args = arguments.parse_args()
if args.seeds < 3:
    arguments.error('--seeds: statistics need at least 3')
HALFULP = os.path.abspath(os.environ.get('HALFULP', 'build/halfulp'))
if args.setups:
    SETUPS = {k: SETUPS[k] for k in args.setups.split(',')}
CHANGED = min(5, args.seeds)


def halfulp(*line, program=None):
    return subprocess.run(
        [program or HALFULP] + list(line),
        capture_output=True,
        text=True,
        cwd=TOP,
        env=dict(os.environ, OMP_WAIT_POLICY='passive'),
    )


def place(path, old):
    """The line, from 0, and the column of what a patch changes."""
    lines = open(os.path.join(TOP, path)).read().split('\n')
    at = [i for i, l in enumerate(lines) if old in l]
    if len(at) != 1:
        sys.exit('%s has %d times: %s' % (path, len(at), old))
    return at[0], lines[at[0]].index(old)


def patched():
    """A program for each patch."""
    from mutation.builder import Builder

    builder = Builder(TOP, os.path.dirname(HALFULP), 55)
    for name, (path, old, new) in PATCHES.items():
        line, start = place(path, old)
        for code, out in (
            builder.compile(path, (path, line, start, start + len(old), 'patch', new))[:2],
            builder.link('halfulp.o', 'halfulp-' + name.replace(' ', '-')),
        ):
            if code:
                sys.exit(out[-1000:])
    return {name: os.path.join(builder.dir, 'halfulp-' + name.replace(' ', '-')) for name in PATCHES}


if args.places:
    for name, (path, old, _) in PATCHES.items():
        print('%s\t%s\t%d\t%d' % ((name, path) + place(path, old)))
    sys.exit(0)


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
        '--trace',
        'steps=last',
        '--threads',
        '1',
        *more,
        where,
        program=program
    )
    q = halfulp('analyze', '--sample', '512', '--threads', '1', where)
    if p.returncode or q.returncode > 1:
        sys.exit(where + ': ' + p.stderr + q.stderr)


FLOOR = {'loss': 1e-4, 'norm': 1e-3, 'error': 5e-3, 'share': 0.05}


def table(path):
    cells = [l.rstrip('\n').split('\t') for l in open(path) if not l.startswith('#')]
    return [dict(zip(cells[0], c)) for c in cells[1:]]


def exact_of(where):
    """What is compared as it is: counts of a run, from its files."""
    steps, calls = table(where + '/metrics.tsv'), table(where + '/analysis/replay.tsv')
    skipped = [float(r['skipped']) > 0 for r in steps]
    return {
        'exact/nonfinite_losses': sum(not s and not math.isfinite(float(r['loss'])) for r, s in zip(steps, skipped)),
        'exact/skipped_steps': sum(skipped),
        'exact/last_loss_scale': float(steps[-1]['loss_scale']),
        'exact/outputs_over_bound': sum(r['over_bound'] not in ('-', '0') for r in calls),
    }


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
        for s in range(args.seeds + 1, args.fresh + 1):
            yield self.where('base', s), self.name, '', ['--seed', str(s)]

    def record(self, path, seeds):
        p = halfulp(
            'baseline',
            *[self.where(k, s) for s in seeds for k in ('base', 'other')],
            '-o',
            path,
            '--statistics',
            '--reason',
            'measured'
        )
        if p.returncode:
            sys.exit(p.stderr)

    def read(self):
        seeds = range(1, args.seeds + 1)
        path = self.dir + '/all.tsv'
        self.record(path, seeds)
        rows = [l.split('\t') for l in open(path).read().splitlines() if not l.startswith('#')][1:]
        self.kind = {r[0]: r[1] for r in rows}
        self.base = {r[0]: dict(zip(seeds, map(float, r[5::2]))) for r in rows}
        self.other = {r[0]: dict(zip(seeds, map(float, r[6::2]))) for r in rows}
        self.quantities = [q for q in self.kind if self.kind[q] in FLOOR]
        self.evaluated = json.load(open(self.where('base', 1) + '/manifest.json'))['dataset']['eval']
        self.moved, self.exact, self.apart = {}, {}, set()
        for change in ['base', 'other'] + list(HARMLESS) + self.changes:
            last = args.fresh if change == 'base' else CHANGED if change in self.changes else args.seeds
            for s in range(1, last + 1):
                self.exact[change, s] = exact_of(self.where(change, s))
                if change in ('base', 'other') and s <= args.seeds:
                    self.moved[change, s] = dict.fromkeys(self.quantities, 0)
                    continue
                j = json.loads(halfulp('check', self.where(change, s), '--baseline', path, '--json').stdout)
                # A quantity that the run does not have, or that is not finite, is red
                moved = {
                    f['quantity']: f.get('moved', math.inf) for f in j['findings'] if self.kind[f['quantity']] in FLOOR
                }
                if 'unpaired' in j['summary']:
                    # It is the mean of the baseline runs that it was moved from
                    self.apart.add((change, s))
                    for q in self.quantities:
                        mean = sum(self.base[q][x] for x in seeds) / args.seeds
                        if s > args.seeds:
                            self.base[q][s] = mean + moved[q]
                        moved[q] += mean - self.base[q][s]
                self.moved[change, s] = moved

    def spread(self, q, seeds):
        """The sum of the squares of the values of SEEDS, the floor, tau, and their mean."""
        key = q, tuple(sorted(seeds))
        if key not in self.cache:
            v, n = [self.base[q][s] for s in seeds], len(seeds)
            mean, floor = sum(v) / n, FLOOR[self.kind[q]]
            if q == 'eval_accuracy/last':  # one sample more or less
                p = 1 / (1 + math.exp(-mean))
                floor = 1 / ((self.evaluated + 1) * p * (1 - p))
            noise = [(self.other[q][s] - self.base[q][s]) ** 2 for s in seeds if s in self.other[q]]
            self.cache[key] = sum((x - mean) ** 2 for x in v), floor, math.sqrt(sum(noise) / max(1, len(noise))), mean
        return self.cache[key]

    def red(self, seeds, change, candidates, paired=True):
        """The verdict on runs of CANDIDATES with CHANGE against a baseline of SEEDS, computed here."""
        n, k = len(seeds), len(candidates)
        paired = paired and not any((change, s) in self.apart for s in candidates)
        recorded = [self.exact[x, s] for s in seeds for x in ('base', 'other') if (x, s) in self.exact]
        for q in recorded[0]:
            low, high = min(b[q] for b in recorded), max(b[q] for b in recorded)
            if not paired and q == 'exact/skipped_steps':
                low, high = low - 1, high + 1
            if not paired and q == 'exact/last_loss_scale' and (low, high) != (1, 1):
                low, high = low / 2, high * 2
            if q in ('exact/nonfinite_losses', 'exact/outputs_over_bound'):
                low = 0
            if not all(low <= self.exact[change, c][q] <= high for c in candidates):
                return True
        for q in self.quantities:
            squares, floor, tau, mean = self.spread(q, seeds)
            one = self.kind[q] in ('error', 'share')
            p = (0.01 if one else 0.005) / len(self.quantities)
            x = [self.moved[change, c][q] + (0 if paired else self.base[q][c]) for c in candidates]
            d = sum(x) / k
            if paired:
                s = math.hypot(math.sqrt(squares / (n - 1)), floor)
                most = widening(n) * s / 2 + limit(p, n) * tau / math.sqrt(k)
            else:
                within = sum((v - d) ** 2 for v in x) if math.isfinite(d) else 0
                if q == 'eval_accuracy/last':  # decisions of unpaired runs are independent ones
                    floor = math.sqrt(floor)
                s = math.hypot(math.sqrt((squares + within) / (n + k - 2)), floor)
                most = limit(p / 2, n + k - 2) * s * math.sqrt(1 / n + 1 / k)
                d -= mean
            most += math.log(1.35) if one else 0
            if not (d if one else abs(d)) <= most:
                return True
        return False

    def agrees(self, rng, times):
        """How often the program, asked with runs, says the same: of a baseline seed, of another, of five others."""
        same, path = 0, self.dir + '/some.tsv'
        for i in range(times):
            seeds = rng.sample(range(1, args.seeds + 1), 5)
            change, others = rng.choice(list(HARMLESS) + self.changes), range(args.seeds + 1, args.fresh + 1)
            if i % 3:
                change, candidates = 'base', rng.sample(others, 1 if i % 3 == 1 else 5)
            else:
                candidates = [s for s in seeds if s <= CHANGED or change in HARMLESS][:1]
            self.record(path, seeds)
            runs = [self.where(change, s) for s in candidates]
            same += (halfulp('check', *runs, '--baseline', path).returncode == 1) == self.red(
                seeds, change, candidates, i % 3 == 0
            )
        return same

    def rate(self, rng, changes, n, k, paired, trials):
        """How many of TRIALS are red: candidates are baseline seeds where they are paired, else others."""
        red, all_seeds = 0, range(1, (args.seeds if paired else args.fresh) + 1)
        for _ in range(trials):
            change = rng.choice(changes) if paired or changes[0] not in HARMLESS else 'base'
            candidates = rng.sample(all_seeds if changes[0] in HARMLESS else range(1, CHANGED + 1), k)
            rest = [s for s in all_seeds if s not in candidates]
            red += self.red(
                candidates + rng.sample(rest, n - k) if paired else rng.sample(rest, n), change, candidates, paired
            )
        return red


def measure_one(name):
    """The rows of a set-up, how many verdicts the program was asked for, and of how many it said the same."""
    s, rng, out = Setup(name), random.Random(name), []
    s.read()
    for change in ['none'] + s.changes:
        for mode, n, k in MODES:
            paired, quiet = mode == 'paired', change == 'none'
            if (n if paired else n + k) > (args.seeds if paired else args.fresh):
                continue
            trials = args.trials if quiet else max(100, args.trials // 5)
            runs = CHANGED if not quiet else len(HARMLESS) * args.seeds if paired else args.fresh
            red = s.rate(rng, list(HARMLESS) if quiet else [change], n, k, paired, trials)
            out.append('\t'.join(map(str, (name, change, mode, n, k, trials, red, runs))))
    return out, 12, s.agrees(rng, 12)


def measure():
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        list(pool.map(train, [job for name in SETUPS for job in Setup(name).runs()]))
    with concurrent.futures.ProcessPoolExecutor(args.jobs) as pool:
        found = list(pool.map(measure_one, SETUPS))
    asked, agreed = (sum(f[i] for f in found) for i in (1, 2))
    head = '# halfulp operating curve: %d seeds, %d unpaired; the program agreed with %d of %d verdicts computed here'
    lines = [head % (args.seeds, args.fresh, agreed, asked), '\t'.join(HEAD)] + sum((f[0] for f in found), [])
    open(home + '/operating-curve.tsv', 'w').write('\n'.join(lines) + '\n')
    return home + '/operating-curve.tsv'


if args.kept:
    show(args.kept, SETUPS)
else:
    home = os.path.abspath(args.keep) if args.keep else tempfile.mkdtemp(prefix='halfulp-curve-')
    os.makedirs(home, exist_ok=True)
    PROGRAMS = patched()
    show(measure(), SETUPS)
    if not args.keep:
        shutil.rmtree(home)
