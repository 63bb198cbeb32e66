# SPDX-License-Identifier: Apache-2.0
# Steps of trainings that diverge, judged twice: by enclosures in doubles, which ask MPFR where they say nothing, and by
# MPFR throughout. Both tell the same.
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tool'))
from tap import HALFULP, bail_out, finish, home, ok  # noqa: E402

FIGURES = ('propagated_ulp_max', 'propagated_ulp_mean', 'propagated_rel_normwise')
LOCAL = ('ulp_max', 'ulp_mean', 'ulp_p99', 'rel_max', 'backward_normwise', 'condition_max', 'bound_ratio_max', 'over_bound', 'worst_element')


def run(*words):
    r = subprocess.run([HALFULP, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    if r.returncode:
        bail_out('halfulp %s: exit %d: %s' % (' '.join(words), r.returncode, r.stderr.strip()[:300]))


def table(path):
    lines = [line.rstrip('\n').split('\t') for line in open(path) if not line.startswith('#')]
    return [dict(zip(lines[0], line)) for line in lines[1:]]


def one(name, *options):
    path = os.path.join(folder, name)
    run('train', '--model', 'width=0.0625', '--data', 'size=8,train=16,eval=4', '--batch', '4', '--quiet', *options, path)
    run('analyze', '--only', 'replay', '--sample', 'all', path)
    rows = table(os.path.join(path, 'analysis', 'replay.tsv'))
    run('analyze', '--only', 'replay', '--sample', 'all', '--engine', 'mpfr', path)
    wrong = []
    for row, other in zip(rows, table(os.path.join(path, 'analysis', 'replay.tsv'))):
        for f in LOCAL + FIGURES:
            slack = 2**-10 if f in FIGURES else 1e-12
            if row[f] != other[f] and not (row[f] != '-' and other[f] != '-' and abs(float(row[f]) - float(other[f])) <= slack * abs(float(other[f]))):
                wrong.append('%s %s: %s, by MPFR %s' % (row['tensor'], f, row[f], other[f]))
    infinite = sum(row['ulp_max'] == 'inf' or row['propagated_ulp_max'] == 'inf' for row in rows)
    far = max(float(row['propagated_rel_normwise']) for row in rows if row['propagated_rel_normwise'] != '-')
    ok(len(rows) >= 30 and not wrong, '%s: %d tensors by both engines; %d overflowed, the largest relative error is %.3g' % (name, len(rows), infinite, far), wrong)
    return infinite, far


folder = home()
told = [one('skipped', '--model', 'mlp', '--policy', 'mixed_float16', '--loss-scale', 'static:1048576', '--optimizer', 'lr=3', '--steps', '2',
            '--trace', 'steps=1'),
        one('moved', '--model', 'mlp', '--policy', 'bfloat16', '--optimizer', 'lr=3', '--steps', '2',
            '--trace', 'steps=1'),
        one('nan', '--model', 'mlp', '--policy', 'float16', '--optimizer', 'sgd:lr=1e9', '--steps', '4'),
        one('far', '--model', 'convnet', '--policy', 'float32', '--optimizer', 'sgd', '--optimizer', 'lr=1e5', '--steps', '4', '--trace', 'steps=3')]
ok(sum(t[0] for t in told) >= 20 and max(t[1] for t in told) > 1e-3, 'outputs overflowed, and some are off by more than their roundings: %r' % told)
finish()
