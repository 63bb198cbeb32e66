# SPDX-License-Identifier: Apache-2.0
# Ranks and shards of train, compare and validate are killed at moments all over their work, one of them at a time:
# nothing half written is left under a table's name, and what goes on ends with what one process makes. analyze is
# killed in t/judge/shards/x-shards-kill.py.
import os
import random
import shutil
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
import onnxfile  # noqa: E402
from mpi import differences, killed, need_mpi, ranks, said  # noqa: E402
from npzfile import npz  # noqa: E402
from tap import HALFULP, bail_out, finish, halfulp, home, none, ok  # noqa: E402

need_mpi()
os.chdir(home())
dice = random.Random(int(os.environ.get('HALFULP_SEED', '20261123')))
TRIALS = int(os.environ.get('HALFULP_KILLS', '50')) // 5
NET = ['--model', 'mlp:width=0.5', '--data', 'size=12,train=256,eval=16', '--batch', '16']
NET += ['--policy', 'mixed_float16', '--threads', '1', '--quiet']
TRAIN = ['train', *NET, '--batch', 'micro=4', '--steps', '60', '--checkpoint-every', '5']
COMPARE = ['compare', '--policy', 'float32,mixed_float16', '--seeds', '1,2,3', *NET[:10], '--steps', '60']
COMPARE += ['--threads', '1']
VALIDATE = ['validate', 'm.onnx', '--data', 'x.npz', '--policy', 'float16,bfloat16', '--batch', '4', '--exact', '0']
VALIDATE += ['--report', 'page']


def lasts(what, *words):
    start = time.time()
    p = what(*words)
    if p.returncode not in (0, 1):
        bail_out('%s: exit %d: %s' % (words, p.returncode, p.stderr[:300]))
    return time.time() - start, p


def tables(path):
    """compare's tables without times and folder; nothing where there is none."""
    found = []
    for name in 'compare.tsv', 'compare-runs.tsv':
        f = os.path.join(path, name)
        if not os.path.exists(f):
            continue
        rows = [x.replace(path + '/', '').split('\t') for x in open(f).read().splitlines() if x[0] != '#']
        keep = [k for k, column in enumerate(rows[0]) if not column.startswith('ms_a_step')]
        found.append([[row[k] for k in keep] for row in rows])
    return found


def page():
    return open('page/validation.json', 'rb').read() if os.path.exists('page/validation.json') else b''


def trial_train(path, moment):
    code, err, hit = killed(['mpirun', '-n', '3', HALFULP, *TRAIN, path], moment, dice)
    wrong = [] if code or not hit else ['exit 0 although a rank was killed']
    for _ in range(2):
        if not os.path.exists(path + '/manifest.json'):
            shutil.rmtree(path, ignore_errors=True)
            p = ranks(2, *TRAIN, path)
        else:
            p = ranks(2, 'train', '--resume', '--quiet', path)
        if not p.returncode:
            break
    return hit, wrong + (['exit %d: %s' % (p.returncode, said(p))] if p.returncode else differences('train', path))


def trial_compare(path, moment):
    code, err, hit = killed(['mpirun', '-n', '3', HALFULP, *COMPARE, path], moment, dice)
    half = [t for t in tables(path) if t not in want_compare]
    p = ranks(2, 'compare', '--resume', *COMPARE[1:], path)
    return hit, ['a table is half written'] * bool(half) + (
        [] if tables(path) == want_compare else ['exit %d: %s' % (p.returncode, said(p))]
    )


def trial_compare_shard(path, moment):
    code, err, hit = killed([HALFULP, 'compare', '--shard', '1/2', *COMPARE[1:], path], moment / 2)
    halfulp('compare', '--shard', '1/2', '--resume', *COMPARE[1:], path)
    halfulp('compare', '--shard', '2/2', *COMPARE[1:], path)
    p = halfulp('merge', path)
    return hit, [] if tables(path) == want_compare else ['exit %d: %s' % (p.returncode, p.stderr[:300])]


def trial_validate(path, moment):
    shutil.rmtree('page', ignore_errors=True)
    code, err, hit = killed(['mpirun', '-n', '3', HALFULP, *VALIDATE], moment, dice)
    half = page() not in (b'', want_page)
    p = ranks(2, *VALIDATE, '--resume')
    return hit, ['the page is half written'] * half + ([] if page() == want_page else [str(said(p))])


def trial_validate_shard(path, moment):
    shutil.rmtree('page', ignore_errors=True)
    code, err, hit = killed([HALFULP, *VALIDATE, '--shard', '2/2'], moment / 2)
    halfulp(*VALIDATE, '--shard', '1/2')
    halfulp(*VALIDATE, '--shard', '2/2', '--resume')
    p = halfulp('merge', 'page')
    return hit, [] if page() == want_page else [p.stderr[:300]]


def drawn(n):
    return [dice.gauss(0, 0.3) for _ in range(n)]


onnxfile.write(
    'm.onnx',
    onnxfile.graph(
        [onnxfile.node('MatMul', 'x w1', 'a'), onnxfile.node('Relu', 'a', 'b'), onnxfile.node('MatMul', 'b w2', 'y')],
        [onnxfile.floats('w1', [64, 128], drawn(64 * 128)), onnxfile.floats('w2', [128, 10], drawn(1280))],
        [onnxfile.value('x', ['n', 64])],
        [onnxfile.value('y')],
    ),
)
npz('x.npz', x=((600, 64), drawn(600 * 64)))
lasts(halfulp, *TRAIN, 'train')
lasts(halfulp, *COMPARE, 'compare')
want_compare = tables('compare')
lasts(halfulp, *VALIDATE)
want_page = page()
kills = {}
for name, trial, line in (
    ('train', trial_train, [*TRAIN, 'length']),
    ('compare', trial_compare, [*COMPARE, 'length2']),
    ('compare-shard', trial_compare_shard, None),
    ('validate', trial_validate, VALIDATE),
    ('validate-shard', trial_validate_shard, None),
):
    length = lasts(lambda *words: ranks(3, *words), *line)[0] if line else length
    bad, kills[name] = [], 0
    for k in range(TRIALS):
        hit, wrong = trial('%s%d' % (name, k), (k + dice.random()) / TRIALS * 0.8 * length)
        kills[name] += hit
        length *= 1 if hit else 0.8  # the machine has become faster
        bad += ['trial %d: %s' % (k, w) for w in wrong]
    none(bad, '%s: %d kills, each resumed to what one process makes' % (name, kills[name]))
met = sum(kills.values())
ok(met >= 3 * TRIALS, '%d of %d kills met a process at work' % (met, 5 * TRIALS), str(kills))
finish()
