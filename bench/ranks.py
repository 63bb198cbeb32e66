#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# What sharing work by ranks costs: two ranks of one thread beside one process of two threads, on the same analysis and
# on the same comparison, which take turns in one run; and how even the shares of a trace with one huge call are. Wall
# seconds want a machine that does nothing else; seconds of the processor, user and system, of all processes together,
# show what sharing adds whatever else runs.
#   python3 bench/ranks.py [--times 3] [--scale 1]
# At scale 1 each job takes twenty seconds or more on two cores.
import argparse
import math
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 't', 'tool'))
from mpi import OPEN_MPI  # noqa: E402

arguments = argparse.ArgumentParser()
arguments.add_argument('--times', type=int, default=3)
arguments.add_argument('--scale', type=float, default=1)
args = arguments.parse_args()
HALFULP = os.path.abspath(os.environ.get('HALFULP', 'build/halfulp'))
ENVIRONMENT = dict(os.environ, **OPEN_MPI)
STEPS = max(2, round(16 * args.scale))


def took(*line):
    """Seconds of the wall clock and of the processor."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.time()
    p = subprocess.run(line, env=ENVIRONMENT, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if p.returncode:
        sys.exit('%s: exit %d: %s' % (' '.join(line), p.returncode, p.stderr[:500]))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.time() - start, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def side_by_side(name, words, forget):
    """Both ways in turns, each after what the one before has left was removed."""
    each = {'1 process, 2 threads': ([HALFULP], '2'), '2 ranks, 1 thread': (['mpirun', '-n', '2', HALFULP], '1')}
    seen = {k: [] for k in each}
    for _ in range(args.times):
        for k, (start, threads) in each.items():
            shutil.rmtree(forget, ignore_errors=True)
            seen[k].append(took(*start, words[0], '--threads', threads, *words[1:]))
    middle = [[statistics.median(x[i] for x in seen[k]) for i in range(2)] for k in each]
    for k, (wall, cpu) in zip(each, middle):
        print('| %s | %s | %.1f | %.1f |' % (name, k, wall, cpu))
    print('| %s | ratio of speeds | %.3f | %.3f |' % (name, middle[0][0] / middle[1][0], middle[0][1] / middle[1][1]))
    sys.stdout.flush()


def uneven(shards):
    """How far the shard that took longest is above the mean, and its seconds. Shards run one after another, each several
    times, and of each unit the quickest counts: what else a machine does would else be taken for uneven shares. Opening
    the run, which every shard does alike, is no unit."""
    wide = ['--model', 'mlp', '--width', '4', '--train', '16000', '--eval', '8', '--batch', '16000', '--quiet']
    took(HALFULP, 'train', *wide, '--steps', '1', '--trace-steps', '0', '--trace', 'dense1.*,input.*', 'huge')
    only = ['--sample', 'all', '--no-propagate', '--only', 'replay', '--threads', '1', 'huge']
    best = {}
    for _ in range(args.times):
        for i in range(shards):
            shutil.rmtree('huge/analysis', ignore_errors=True)
            took(HALFULP, 'analyze', '--shard', '%d/%d' % (i + 1, shards), *only)
            rows = [line.split('\t') for line in open('huge/analysis/parts/%d-of-%d.part' % (i + 1, shards))]
            for unit, _, seconds in (row[:3] for row in rows if len(row) > 3 and row[0] != 'unit'):
                best[i, unit] = min(float(seconds), best.get((i, unit), math.inf))
    seconds = [sum(s for (k, _), s in best.items() if k == i) for i in range(shards)]
    return max(seconds) / statistics.mean(seconds) - 1, max(seconds)


with tempfile.TemporaryDirectory(prefix='halfulp-ranks-') as home:
    os.chdir(home)
    net = ['--model', 'convnet', '--train', '64', '--eval', '8', '--batch', '64', '--quiet']
    steps = ','.join(str(i) for i in range(STEPS // 2))
    took(HALFULP, 'train', *net, '--steps', str(STEPS // 2), '--trace-steps', steps, '--policy', 'mixed_float16', 'run')
    print('| job | who | wall, s | processor, s |')
    print('| --- | --- | --- | --- |')
    side_by_side('analyze', ['analyze', 'run'], 'run/analysis')
    sweep = ['compare', '--policies', 'float32,mixed_float16', '--seeds', '1,2,3,4', '--model', 'mlp', '--train', '2000']
    sweep += ['--eval', '200', '--batch', '50', '--steps', str(25 * STEPS), 'sweep']
    side_by_side('compare', sweep, 'sweep')
    for n in (2, 4, 8):
        over, longest = uneven(n)
        shutil.rmtree('huge')
        print('%d shards of one huge call: the longest is %.1f %% above the mean (%.2f s)' % (n, 100 * over, longest))
