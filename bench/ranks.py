#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# What sharing work by ranks costs: two ranks of one thread beside one process of two threads, on the same analysis and
# on the same comparison, which take turns in one run; and how even the shares of a trace with one huge call are, and what
# 32 to 1024 processes would make of its units. Wall seconds want a machine that does nothing else; seconds of the
# processor, user and system, of all processes together, show what sharing adds whatever else runs. A unit's seconds are
# the processor's too, by a clock that is compiled and put before the C library's.
#   python3 bench/ranks.py [--times 3] [--scale 1] [--jobs analyze,compare,huge]
# At scale 1 each job takes twenty seconds or more on two cores.
import argparse
import heapq
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
arguments.add_argument('--jobs', default='analyze,compare,huge')
args = arguments.parse_args()
if not shutil.which('mpirun'):
    print('ranks: skipped, since there is no mpirun')
    sys.exit(0)
HALFULP = os.path.abspath(os.environ.get('HALFULP', 'build/halfulp'))
ENVIRONMENT = dict(os.environ, **OPEN_MPI)
STEPS = max(2, round(16 * args.scale))


CLOCK = """#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t c, struct timespec *t)
{
	return (int)syscall(SYS_clock_gettime, c == CLOCK_MONOTONIC ? CLOCK_PROCESS_CPUTIME_ID : c, t);
}
"""


def processor_clock():
    """Environment variables by which halfulp measures its units with the processor's clock."""
    open('clock.c', 'w').write(CLOCK)
    subprocess.run(['cc', '-O1', '-shared', '-fPIC', '-o', 'clock.so', 'clock.c'], check=True)
    return {'LD_PRELOAD': os.path.abspath('clock.so')}


def took(*line, **more):
    """Seconds of the wall clock and of the processor."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.time()
    p = subprocess.run(line, env=dict(ENVIRONMENT, **more), stdin=subprocess.DEVNULL, capture_output=True, text=True)
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


def train_huge():
    wide = ['--model', 'mlp:width=4', '--data', 'train=16000,eval=8', '--batch', '16000', '--quiet']
    took(HALFULP, 'train', *wide, '--steps', '1', '--trace', 'steps=0', '--trace', 'dense1.*,input.*', 'huge')


def uneven(shards, clock):
    """The processor's seconds of each unit, by shard. Shards run one after another, each several times, and of each unit
    the quickest counts: what else a machine does would else be taken for uneven shares. Opening the run, which every
    shard does alike, is no unit."""
    only = ['--sample', 'all', '--no-propagate', '--only', 'replay', '--threads', '1', 'huge']
    best = {}
    for _ in range(args.times):
        for i in range(shards):
            shutil.rmtree('huge/analysis', ignore_errors=True)
            took(HALFULP, 'analyze', '--shard', '%d/%d' % (i + 1, shards), *only, **clock)
            rows = [line.split('\t') for line in open('huge/analysis/parts/%d-of-%d.part' % (i + 1, shards))]
            for unit, _, seconds in (row[:3] for row in rows if len(row) > 3 and row[0] != 'unit'):
                best[i, unit] = min(float(seconds), best.get((i, unit), math.inf))
    return best


def schedule(units, n):
    """The end of n processes that take the longest unit left whenever one is free, as merge --list simulates it."""
    loads = [0.0] * n
    for x in sorted(units, reverse=True):
        heapq.heapreplace(loads, loads[0] + x)
    return max(loads)


def huge():
    clock = processor_clock()
    train_huge()
    for n in (2, 4, 8):
        best = uneven(n, clock)
        seconds = [sum(s for (k, _), s in best.items() if k == i) for i in range(n)]
        over, most = max(seconds) / statistics.mean(seconds) - 1, max(seconds)
        print('%d shards of one huge call: the longest is %.1f %% above the mean (%.2f s)' % (n, 100 * over, most))
        sys.stdout.flush()
    units = list(uneven(1, clock).values())
    print('%d units, %.2f s, the longest %.3f s' % (len(units), sum(units), max(units)))
    for n in (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024):
        end = schedule(units, n)
        print('%4d processes: %.3f s, %.1f %% efficient' % (n, end, 100 * sum(units) / n / end))
    print('load %.1f %.1f %.1f' % os.getloadavg())


with tempfile.TemporaryDirectory(prefix='halfulp-ranks-') as home:
    os.chdir(home)
    jobs = args.jobs.split(',')
    if 'analyze' in jobs or 'compare' in jobs:
        print('| job | who | wall, s | processor, s |')
        print('| --- | --- | --- | --- |')
    if 'analyze' in jobs:
        net = ['--model', 'convnet', '--data', 'train=64,eval=8', '--batch', '64', '--quiet']
        net += ['--policy', 'mixed_float16']
        steps = ','.join(str(i) for i in range(STEPS // 2))
        took(HALFULP, 'train', *net, '--steps', str(STEPS // 2), '--trace', 'steps=' + steps, 'run')
        side_by_side('analyze', ['analyze', 'run'], 'run/analysis')
    if 'compare' in jobs:
        sweep = ['compare', '--policy', 'float32,mixed_float16', '--seeds', '1,2,3,4', '--model', 'mlp', '--data', 'train=2000']
        sweep += ['--data', 'eval=200', '--batch', '50', '--steps', str(25 * STEPS), 'sweep']
        side_by_side('compare', sweep, 'sweep')
    if 'huge' in jobs:
        huge()
