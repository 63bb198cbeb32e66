#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Runs that are to be the same, bit for bit: four small trainings with an exercise, recorded by HALFULP, and gated again
# with other numbers of threads, instruction sets and back ends, by HALFULP and by each PROGRAM (builds by other
# compilers and with other optimisation). Every one that is red is a false alarm, which is printed, and the exit code 1.
#   python3 bench/gate-reruns.py [--most N] [PROGRAM...]
import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile

arguments = argparse.ArgumentParser()
arguments.add_argument('--most', type=int, default=40, help='reruns drawn of all there are; 0: all')
arguments.add_argument('programs', nargs='*')
args = arguments.parse_args()
HALFULP = os.path.abspath(os.environ.get('HALFULP', 'build/halfulp'))
SETUPS = {
    'mlp': '--model mlp:width=0.125 --data size=8,train=256,eval=64 --batch 32 --epochs 1 --policy mixed_float16',
    'convnet': '--model convnet:width=0.0625 --data size=8,train=64,eval=32 --batch 16 --epochs 1 '
    '--policy mixed_float16 --loss-scale init=1024',
    'sgd': '--model mlp:width=0.125 --data size=8,train=128,eval=32 --batch 32 --epochs 1 --optimizer sgd '
    '--optimizer momentum=0.9 --policy autocast_float16',
    'half': '--model mlp:width=0.125 --data size=8,train=128,eval=32 --batch 32 --epochs 1 --optimizer adam '
    '--loss-scale pytorch --policy float16',
}
home = tempfile.mkdtemp(prefix='halfulp-reruns-')


def halfulp(program, *line):
    p = subprocess.run([program, *line], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    return p.returncode, p.stdout, p.stderr


def ways(program):
    """Options that change no bit."""
    out = halfulp(program, 'doctor')[1]
    simd = [s for s in ('scalar', 'avx2', 'avx512') if s in out.partition('this build uses ')[2].partition(' here')[0]]
    found = [['--threads', t, '--backend', 'simd=' + s] for t in '1230' for s in simd + ['auto']]
    if 'shim' in out.partition('back ends')[2].split('\n')[0]:
        found += [
            ['--backend', 'shim:gemm=simt', *more]
            for more in ([], ['--backend', 'fuse=off'], ['--backend', 'graph=off'])
        ]
    return found


def main():
    programs = [HALFULP] + [os.path.abspath(p) for p in args.programs]
    for name, options in SETUPS.items():
        for line in (
            ['train', '--quiet', *options.split(), '--exercise', '%s/%s' % (home, name)],
            ['analyze', '%s/%s' % (home, name)],
            [
                'baseline',
                '%s/%s' % (home, name),
                '-o',
                '%s/%s.tsv' % (home, name),
                '--reason',
                'once',
                '--allow-nonfinite',
            ],
        ):
            code, out, err = halfulp(HALFULP, *line)
            if code:
                sys.exit('%s: %s' % (' '.join(line), err))
    every = [(p, name, way) for p in programs for way in ways(p) for name in SETUPS]
    random.Random(1).shuffle(every)
    chosen = every[: args.most or None]
    red = 0
    for program, name, way in chosen:
        where = home + '/again'
        shutil.rmtree(where, ignore_errors=True)
        line = [
            'gate',
            '--baseline',
            '%s/%s.tsv' % (home, name),
            where,
            '--',
            *SETUPS[name].split(),
            '--exercise',
            *way,
        ]
        code, out, err = halfulp(program, *line)
        if code:
            red += 1
            print(
                '%s %s %s: exit %d: %s' % (program, name, ' '.join(way), code, (out + err).split('\n')[0]), flush=True
            )
    print(
        '%d re-runs of %d trainings by %d builds, of %d ways that change no bit: %d red'
        % (len(chosen), len(SETUPS), len(programs), len(every), red)
    )
    shutil.rmtree(home)
    sys.exit(red != 0)


main()
