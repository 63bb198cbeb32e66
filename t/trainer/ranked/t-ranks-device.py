# SPDX-License-Identifier: Apache-2.0
"""Trainings whose micro-batches several ranks share on devices, which the launch shim stands for: the bits of one
process on the CPU, an overflow on one rank alone, batchnorm, gathers, what travels, what a rank holds, a device
that is lost, and what is refused. x-ranks.py has more models."""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
from mpi import differences, need_mpi, ranks, said, untimed  # noqa: E402
from npzfile import npz  # noqa: E402
from tap import NO_SHIM, finish, halfulp, has_shim, home, ok, skip_all  # noqa: E402

need_mpi(or_stub=True)
if not has_shim():
    skip_all(NO_SHIM)
folder = home()
DEVICE = ('--backend', 'shim')


def at(run):
    return os.path.join(folder, run)


def table(run):
    rows = untimed(at(run + '/ranks.tsv'))
    return [dict(zip(rows[0], row)) for row in rows[1:]]


def same(p, one, other, what):
    """The process p made a run of the same tables, programs, traces and checkpoints, and `diff` finds it the same."""
    wrong = differences(at(one), at(other)) if p.returncode == 0 else [p.stderr]
    if not wrong:
        p = halfulp('diff', at(one), at(other))
        wrong = [] if p.returncode == 0 else [p.stdout, p.stderr]
    ok(not wrong, what, wrong)


def refused(p, code, words, what):
    lines = said(p)
    ok(p.returncode == code and len(lines) == 1 and words in lines[0], what, [p.returncode] + p.stderr.splitlines())


# --- an overflow in the rows of one rank alone: one sample is too large for float16. The metrics name the first tensor
# --- that is not finite, which rank 0 does not have, how many of its elements are not, and in how many steps
samples = [((k * 7919) % 256) / 256 for k in range(24 * 4)]
samples[4 * 5] = 60000.0
npz(at('data.npz'), x=((24, 2, 2, 1), samples), labels=((24,), [k % 3 for k in range(24)], '<i8'))
OVERFLOW = '--quiet --data npz:%s,split=20 --batch 4:micro=4 --epochs 2 --model width=0.05 --optimizer lr=0.01 ' % at(
    'data.npz'
)
OVERFLOW += (
    '--policy mixed_float16 --loss-scale init=1024 --optimizer adamw:clip_norm=0.5 --trace steps=0,1,2,3,4,5,6,7,8,9'
    ' --count *'
)
p = halfulp('train', *OVERFLOW.split(), at('one'))
rows = untimed(at('one/metrics.tsv')) if p.returncode == 0 else [['skipped']]
skipped = sum(row[rows[0].index('skipped')] == '1' for row in rows[1:])
ok(0 < skipped < len(rows) - 1, 'one process on the cpu: %d of %d steps are skipped' % (skipped, len(rows) - 1),
   p.stderr)
for n in 3, 4:
    p = ranks(n, 'train', *OVERFLOW.split(), *DEVICE, at('over%d' % n))
    same(p, 'one', 'over%d' % n, '%d ranks on devices, of which one overflows: the run of that process' % n)
for k, words in enumerate(('--backend fuse=off', '')):
    os.environ['HALFULP_SHIM_SEED'] = str(k + 2)
    p = ranks(2, 'train', *OVERFLOW.split(), *DEVICE, *words.split(), at('order%d' % k))
    same(p, 'one', 'order%d' % k, 'the same where transfers and kernels run in another order %s' % words)
del os.environ['HALFULP_SHIM_SEED']

# --- batchnorm, whose running statistics pass through the micro-batches of all ranks, and gathers of embeddings
BASE = '--quiet --batch micro=4 --batch 8 --steps 3 --data train=24,eval=4 --trace steps=0,last '
CASES = {
    'convnet': (2, '--model convnet:width=0.04 --data size=12 --policy mixed_float16'),
    'convnet32': (3, '--model convnet:width=0.04 --data size=12 --policy float32'),
    'bert': (2, '--model bert:layers=1 --policy mixed_float16'),
}
for name, (n, words) in CASES.items():
    p = halfulp('train', *(BASE + words).split(), at(name))
    p = ranks(n, 'train', *(BASE + words).split(), *DEVICE, at(name + '.device'))
    same(p, name, name + '.device', '%s on %d devices: the run of one process on the cpu' % (words, n))
p = halfulp('verify', at('convnet.device'))
ok(p.returncode == 0, 'one process on the cpu verifies it', p.stderr)

# --- what travels is what travels between processors, and a rank holds the tensors of its own micro-batches alone
p = ranks(2, 'train', *(BASE + CASES['convnet'][1]).split(), at('cpu2'))
two, cpu = table('convnet.device'), table('cpu2')
COLUMNS = 'bytes_sent', 'bytes_received'
ok([[t[k] for k in COLUMNS] for t in two] == [[t[k] for k in COLUMNS] for t in cpu],
   'as many bytes travel as between processors', [str(two), str(cpu)])
ok([t['device'] for t in two + cpu] == ['shim'] * 2 + ['cpu'] * 2, 'ranks.tsv says what each rank computed on',
   str(two + cpu))
LARGE = '--quiet --model convnet:width=0.04 --data size=24 --batch micro=4 --batch 32 --steps 1 --data train=32,eval=4 '
for n in 2, 4:
    p = ranks(n, 'train', *LARGE.split(), *DEVICE, at('large%d' % n))
most = [max(float(t['memory']) for t in table('large%d' % n)) for n in (2, 4)]
ok(most[1] < 0.9 * most[0], 'and its memory: %d bytes where there are two ranks, %d where there are four' % tuple(most))

# --- a device is lost: others go on from the checkpoint, on the cpu, and end as one process does that lost none
LONG = (
    '--quiet --data size=8 --model width=0.1 --batch micro=4 --batch 8 --steps 12 --data train=48,eval=4'
    ' --checkpoint-every 3 '
)
LONG += '--policy mixed_float16 --trace steps=last'
p = halfulp('train', *LONG.split(), at('whole'))
os.environ['HALFULP_SHIM_LOSE_AFTER'] = '700'
p = ranks(2, 'train', *LONG.split(), *DEVICE, at('cut'))
del os.environ['HALFULP_SHIM_LOSE_AFTER']
manifest = at('cut/manifest.json')
done = json.load(open(manifest))['steps_done'] if os.path.exists(manifest) else 0
ok(p.returncode == 4 and 0 < done < 12, 'devices are lost: %d of 12 steps are kept' % done, [p.returncode, p.stderr])
p = ranks(3, 'train', '--resume', '--quiet', '--backend', 'cpu', at('cut'))
wrong = differences(at('whole'), at('cut')) if p.returncode == 0 else [p.stderr]
ok(not wrong, 'three ranks go on from there on the cpu, to the tables, trace and checkpoint of one process', wrong)

# --- what is said, and refused in one line of rank 0 without a run
SMALL = '--data size=8 --model width=0.05 --batch 8 --steps 1 --data train=8,eval=4 --batch micro=2'.split()
p = ranks(2, 'train', *SMALL, *DEVICE, at('said'))
lines = [line for line in p.stdout.splitlines() if line.startswith('Devices:')]
ok(len(lines) == 1 and lines[0].startswith('Devices: 2 ranks share one, shim of '), 'ranks share a device', p.stdout)
p = ranks(2, 'train', *SMALL, at('no'), last=DEVICE)
refused(p, 3, 'its back end is shim and that of rank 0 is cpu', 'rank 1 has another back end')
p = ranks(2, 'train', *SMALL, *DEVICE, '--backend', 'graph=off', at('no'))
refused(p, 2, '--backend graph= has no effect', 'graph=off with several ranks')
ok(not os.path.exists(at('no')), 'none of these left a run')
finish()
