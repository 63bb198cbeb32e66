# SPDX-License-Identifier: Apache-2.0
"""Every benchmark runs, at its smallest size: each program and script of bench/ has a line here, what it prints are
rows of numbers under a heading, and it exits with 0. Of bench/operating-curve.py, whose smallest size takes minutes,
runs what it changes in the source (t-curve.py has the file that it left); bench/gpu.sh runs in t/cuda."""
import math
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tool'))
from tap import HALFULP, TOP, finish, home, none, ok, skip  # noqa: E402

BUILD = os.path.dirname(HALFULP)
ELSEWHERE = {'gpu', 'gpu-pack', 'gpu-parts', 'gpu-trainings'}
SMALL = dict(os.environ, HALFULP=HALFULP, PEAK=os.path.join(BUILD, 'bench', 'tool', 'peak'), OMP_NUM_THREADS='1')
SMALL.update(BATCHES='2 4', WIDTH='0.0625', MODELS='mlp', POLICIES='float32 mixed_float16')
# name: its arguments, rows that it prints at least, what it needs, and variables of its own
RUNS = {
    'analyze': (['--steps', '1', 'mlp'], 1, None, {}),
    'cast': (['--format', 'bf16', '--mode', 'RNE', '--sizes', '1', '--trials', '1', '--no-python'], 3, None, {}),
    'exact': (['16', '2'], 4, None, {}),
    'gate-reruns': (['--most', '1'], 0, None, {}),
    'gemm': (['fma,acc=fp32'], 2, None, {}),
    'mpfr': ([], 4, None, {}),
    'operating-curve': (['--places'], 4, None, {}),
    'pairs': (['--mb', '1', '--times', '1'], 3, None, {}),
    'ranks': (['--times', '1', '--scale', '0.01', '--jobs', 'compare'], 3, 'mpirun', {}),
    'replay': ([], 3, None, {'STEPS': '1'}),
    'steps': ([], 2, None, {'STEPS': '4'}),
    'torch-steps': (['--rounds', '1', '--steps', '1', 'ncf', 'convnet'], 6, 'torch', {}),
}


def there(what):
    """Whether what a benchmark needs is here."""
    if what == 'torch':
        code = 'import torch'
        return subprocess.run([sys.executable, '-c', code], capture_output=True).returncode == 0
    return what is None or shutil.which(what)


def numbers(line):
    """The finite numbers among the cells of a line."""
    found = []
    for cell in re.split(r'\t| {2,}|\|', line):
        try:
            found.append(float(cell.split()[0]) if cell.split() else math.nan)
        except ValueError:
            pass
    return [x for x in found if math.isfinite(x)]


os.chdir(home())
have = {}
for line in open(os.path.join(TOP, 'bench', 'local.mk')):
    m = re.match(r'(SCRIPT_BENCHES|C_BENCHES) \+= (bench/([\w-]+)(\.\w+)?)$', line.strip())
    if m:
        have[m[3]] = m[2]
none(sorted(set(have) ^ (set(RUNS) | (ELSEWHERE & set(have)))), 'every benchmark has a smallest size here')
for name, (options, rows, needs, own) in RUNS.items():
    path = have.get(name, '')
    if not there(needs):
        skip('%s runs' % name, 'no %s' % needs)
        continue
    how = {'.py': [sys.executable], '.sh': ['sh']}.get(os.path.splitext(path)[1], [])
    line = [*how, os.path.join(TOP if how else BUILD, path), *options]
    ran = subprocess.run(line, env=dict(SMALL, **own), stdin=subprocess.DEVNULL, capture_output=True, text=True)
    told = [x for x in ran.stdout.splitlines() if len(numbers(x)) >= 2]
    ok(ran.returncode == 0 and len(told) >= rows and 'rror' not in ran.stderr,
       '%s runs at its smallest size and prints %d rows of numbers' % (name, len(told)),
       '%s\n%s' % (ran.stderr[-1500:], ran.stdout[-1500:]))
finish()
