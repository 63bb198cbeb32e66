#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# What the analysis of a traced training step costs beside the step: the processor time, of all threads together, of
# `halfulp analyze` over that of one step of the same training without a trace. A row per model. step_ms is the
# difference of two trainings, divided by the steps that the longer one has more; sample_s and all_s are the seconds of
# an analysis with the default sample and of every element, the reading of the run included; ratio and ratio_all are
# these over a step. --each: a row for each analyzer by itself, too.
#   python3 bench/analyze.py [--policy P] [--steps N] [--each] [MODEL...]
import argparse
import os
import re
import resource
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MODELS = {
    'mlp': '--model mlp',
    'convnet': '--model convnet --model width=0.25',
    'resnet': '--model resnet --data scenes:size=32 --model stem=cifar --batch 4',
    'resnet1d': '--model resnet1d --batch 8',
    'unet': '--model unet --batch 2',
    'ncf': '--model ncf',
    'bert': '--model bert',
    'gpt': '--model gpt',
}
arguments = argparse.ArgumentParser()
arguments.add_argument('--policy', default='mixed_float16')
arguments.add_argument('--steps', type=int, default=12, help='steps by which the longer training is longer')
arguments.add_argument('--each', action='store_true', help='every analyzer by itself, too')
arguments.add_argument('models', nargs='*', metavar='MODEL', help=' '.join(MODELS))
args = arguments.parse_args()
HALFULP = os.path.abspath(os.environ.get('HALFULP', 'build/halfulp'))


def seconds(*command):
    """The processor time of a command that succeeds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([HALFULP, *command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode not in (0, 1):
        sys.exit('%s: %s' % (' '.join(command), done.stderr.strip()))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def analyzers():
    """The names that --only takes, and whose work no option has to ask for, with what they are told."""
    with open(os.path.join(TOP, 'analyzers', 'run', 'analyzers.def')) as table:
        rows = re.findall(r'^ANALYZER\(\w+, "([^"]+)", ([^,]*), "([^"]*)"', table.read(), re.M)
    own = [(name, reads) for name, flags, reads in rows if 'ASKED' not in flags and 'VERDICT' not in flags]
    return [(name, ['--sample', 'all'] if 'sample' in reads else []) for name, reads in own]


def row(model, folder):
    train = ['train', '--quiet', *MODELS[model].split(), '--policy', args.policy, '--data', 'train=256,eval=8']
    few, many = os.path.join(folder, 'few'), os.path.join(folder, 'many')
    step = seconds(*train, '--steps', str(2 + args.steps), '--trace', 'steps=none', many)
    step = (step - seconds(*train, '--steps', '2', '--trace', 'steps=none', few)) / args.steps
    run = os.path.join(folder, 'run')
    seconds(*train, '--steps', '3', '--trace', 'steps=last', run)
    some, every = seconds('analyze', run), seconds('analyze', '--sample', 'all', run)
    print('%s\t%.2f\t%.3f\t%.3f\t%.1f\t%.1f' % (model, 1e3 * step, some, every, some / step, every / step), flush=True)
    for name, told in analyzers() if args.each else ():
        alone = seconds('analyze', *told, '--only', name, run)
        print('%s:%s\t\t\t%.3f\t\t%.1f' % (model, name, alone, alone / step), flush=True)


version = subprocess.run([HALFULP, '--version'], capture_output=True, text=True).stdout.splitlines()[0]
print('# analysis of a step of %s beside the step, processor time, %s' % (args.policy, version))
print('model\tstep_ms\tsample_s\tall_s\tratio\tratio_all')
for wanted in args.models or MODELS:
    with tempfile.TemporaryDirectory(prefix='halfulp-bench.') as place:
        row(wanted, place)
