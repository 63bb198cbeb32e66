# SPDX-License-Identifier: Apache-2.0
# Steps of trainings that diverge, whose state is finite still but whose outputs overflow or are beside themselves: the exact step
# again in intervals of rationals, outside the program, and by MPFR throughout. What analyze tells must be theirs.
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
from fractions import Fraction as Q

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from independent import Ideal, NotFinite, Safetensors, error_ulps, trim  # noqa: E402

HALFULP = os.environ.get('HALFULP', './halfulp')
FIGURES = ('propagated_ulp_max', 'propagated_ulp_mean', 'propagated_rel_normwise')
LOCAL = ('ulp_max', 'ulp_mean', 'ulp_p99', 'rel_max', 'backward_normwise', 'condition_max', 'bound_ratio_max', 'over_bound', 'worst_element')
tests = failures = 0


def ok(passed, text, why=()):
    global tests, failures
    tests += 1
    failures += not passed
    print('%s %d - %s' % ('ok' if passed else 'not ok', tests, text))
    for line in list(why)[:12] if not passed else []:
        print('# ' + line)
    sys.stdout.flush()


def run(*words):
    r = subprocess.run([HALFULP, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    if r.returncode:
        print('Bail out! halfulp %s: exit %d: %s' % (' '.join(words), r.returncode, r.stderr.strip()[:300]))
        sys.exit(255)


def table(path):
    lines = [line.rstrip('\n').split('\t') for line in open(path) if not line.startswith('#')]
    return [dict(zip(lines[0], line)) for line in lines[1:]]


class Step(Ideal):
    """Ideal, with steps that the finite check skipped, and sgd."""

    def op_adam_clock(self, call, ins, out, k, i):
        return ins[0][i] if ins[1][0].lo else Ideal.op_adam_clock(self, call, ins, out, k, i)

    def op_adamw(self, call, ins, out, k, i):
        return ins[(0, 3, 4)[k]][i] if ins[2][0].lo else Ideal.op_adamw(self, call, ins, out, k, i)

    def op_sgd(self, call, ins, out, k, i):
        w, g, found = ins
        return w[i] if found[0].lo else w[i] * (1 - Q(call['attr']['lr']) * Q(call['attr'].get('weight_decay', 0))) - g[i] * Q(call['attr']['lr'])


def distance(ideal, t):
    """Ideal.distance, where the recorded values may be infinite or NaN: infinitely many ulps, and not part of the norms."""
    got, ulps, error, norm, finite = ideal.recorded[t], [], Q(0), Q(0), 0
    for i in range(got.n):
        x = ideal.t[t][i].lo
        try:
            ulps.append(error_ulps(got[i], x, got.format))
            error, norm, finite = error + trim((got[i] - x) ** 2, True), norm + trim(x * x, True), finite + 1
        except NotFinite:
            ulps.append(math.inf)
    return max(ulps), sum(ulps) / len(ulps), math.sqrt(error / norm) if norm else 0.0 if finite and not error else None


def close(mine, theirs, slack):
    if theirs == '-' or mine is None:
        return theirs == '-' and mine is None
    theirs = float(theirs)
    return mine == theirs or abs(mine - theirs) <= slack * mine + 1e-12


def one(name, *options):
    path = os.path.join(folder, name)
    run('train', '--model', 'mlp', '--width', '0.03125', '--size', '8', '--train', '16', '--eval', '4', '--batch', '2', '--quiet', *options, path)
    run('analyze', '--only', 'replay', '--sample', 'all', path)
    rows = table(os.path.join(path, 'analysis', 'replay.tsv'))
    program = json.load(open(os.path.join(path, 'program-train.json')))
    traces = os.listdir(os.path.join(path, 'trace'))
    ideal = Step(program, Safetensors(os.path.join(path, 'trace', traces[0])))
    ids = {t['name']: t['id'] for t in program['tensors']}
    wrong, infinite, worst = [], 0, 0.0
    for row in rows:
        mine, theirs = distance(ideal, ids[row['tensor']]), [row[f] for f in FIGURES]
        infinite += theirs[0] == 'inf'
        worst = max(worst, 0 if theirs[2] == '-' else float(theirs[2]))
        # fp64 is the format of norms and counts that no figure is made of
        if row['format'] != 'fp64' and not all(close(a, b, 2**-10) for a, b in zip(mine, theirs)):
            wrong.append('%s: %r here, %r there' % (row['tensor'], mine, theirs))
    ok(len(rows) >= 30 and not wrong, '%s: the propagated errors of %d tensors agree; %d overflowed, the largest relative error is %.3g' % (name, len(rows), infinite, worst), wrong)
    run('analyze', '--only', 'replay', '--sample', 'all', '--engine', 'mpfr', path)
    wrong = []
    for row, other in zip(rows, table(os.path.join(path, 'analysis', 'replay.tsv'))):
        for f in LOCAL + FIGURES:
            slack = 2**-10 if f in FIGURES else 1e-12
            if row[f] != other[f] and not (row[f] != '-' and other[f] != '-' and abs(float(row[f]) - float(other[f])) <= slack * abs(float(other[f]))):
                wrong.append('%s %s: %s, by MPFR %s' % (row['tensor'], f, row[f], other[f]))
    ok(not wrong, '%s: and all of replay.tsv is MPFR\'s' % name, wrong)
    return infinite, worst


folder = tempfile.mkdtemp(prefix='halfulp-test-')
told = [one('skipped', '--policy', 'mixed_float16', '--loss-scale', 'static:1048576', '--lr', '3', '--steps', '2', '--trace-steps', '1'),
        one('moved', '--policy', 'bfloat16', '--lr', '3', '--steps', '2', '--trace-steps', '1')]
ok(told[0][0] >= 10 and told[1][1] > 1e-3, 'outputs overflowed in the one, and the other is off by more than its roundings: %r' % told)
print('1..%d' % tests)
if failures:
    print('# files kept in ' + folder)
else:
    shutil.rmtree(folder)
sys.exit(failures > 0)
