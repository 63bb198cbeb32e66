# SPDX-License-Identifier: Apache-2.0
"""Learning-rate schedules: the rates of metrics.tsv against the closed forms of PyTorch's schedulers, with and without
a warm-up and where a step is skipped; weights follow them; a resumed run, the launch shim and verify have the same
bits; every rate that replay judges is within its bound."""

import math
import os
import sys

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(here, '..'), os.path.join(here, '..', '..', 'tool')]
from tap import finish, halfulp, ok  # noqa: E402
from trained import Trainings  # noqa: E402

SMALL = '--model mlp --data size=8 --model width=0.03 --data train=40,eval=4 --batch 8 --quiet '
runs = Trainings(SMALL)
at, train, column, traced, resumed = runs.at, runs.train, runs.column, runs.traced, runs.resumed


def want(t, lr, warmup, schedule, n, rate=0.1, end=0.0):
    """The rate of step t as torch.optim.lr_scheduler has it: SequentialLR of LinearLR(1 / (warmup + 1)) and
    schedule."""
    if t < warmup:
        start = 1 / (warmup + 1)
        return lr * (start + (1 - start) * t / warmup)
    u = t - warmup
    return {
        'constant': lr,
        'step': lr * rate ** (u // n),
        'cosine': end + (lr - end) * (1 + math.cos(math.pi * min(u, n) / n)) / 2,
        'linear': lr * (1 + (end / lr - 1) * min(u, n) / n),
    }[schedule]


for run, words, form in (
    ('warm', '--optimizer adamw:lr=0.01 --schedule warmup=4', (0.01, 4, 'constant', 1)),
    ('step', '--optimizer sgd:lr=0.3 --schedule step', (0.3, 0, 'step', 4)),
    (
        'drops',
        '--optimizer adam --schedule step:steps=2,rate=0.7,warmup=1',
        (1e-3, 1, 'step', 2, 0.7),
    ),
    ('cosine', '--optimizer nesterov:lr=0.1 --schedule cosine:warmup=3', (0.1, 3, 'cosine', 9)),
    ('early', '--optimizer sgd --schedule cosine:steps=5,end=0.001', (0.01, 0, 'cosine', 5, 0, 0.001)),
    ('linear', '--optimizer adamw --schedule linear:end=0.004', (1e-3, 0, 'linear', 12, 0, 0.004)),
):
    if train(words + ' --steps 12 --trace steps=none', run):
        got = [float(x) for x in column(run, 'lr')]
        far = max(abs(x - want(t, *form)) / form[0] for t, x in enumerate(got))
        ok(len(got) == 12 and far < 2.0**-48 and len(set(got)) > 2, 'rates of %s' % words, '%r: %r' % (far, got))

# --- a step that is skipped moves the schedule on, and no weight; two epochs are the length that is not said
OVER = (
    '--policy mixed_float16 --loss-scale init=2^60,backoff=2^-50 --optimizer sgd:momentum=0.9 --schedule'
    ' linear:warmup=2 --optimizer lr=0.25 '
)
if train(OVER + '--epochs 2 --trace steps=0,4,9 --checkpoint-every 3', 'skips'):
    got, skipped = [float(x) for x in column('skips', 'lr')], [int(x) for x in column('skips', 'skipped')]
    far = max(abs(x - want(t, 0.25, 2, 'linear', 8)) for t, x in enumerate(got))
    ok(skipped[0] == 1 and sum(skipped) < 5 and far < 2.0**-50, 'skipped steps count', '%r %r' % (skipped, got))

    step = traced('skips', 9)
    rows = list(zip(step['dense1.w'], step['dense1.w_v_next'], step['dense1.w_next']))
    # the rate, the product and the difference each round to float32
    far = max(abs(w - got[9] * v - after) / (abs(w) + abs(v)) for w, v, after in rows)
    ok(far < 3 * 2.0**-24 and any(v for _, v, _ in rows), "the last step's weights move by its rate", far)

    p = halfulp('analyze', '--only', 'replay', at('skips'))
    ok(
        p.returncode == 0 and '; 0 outside their call' in p.stdout,
        "a traced step is within every call's bound",
        p.stdout,
    )
    p = halfulp('verify', at('skips'))
    ok(p.returncode == 0, 'verify repeats it', p.stdout + p.stderr)
    if train(OVER + '--epochs 2 --trace steps=none --backend shim', 'shim'):
        ok(column('shim', 'digest') == column('skips', 'digest'), 'the launch shim has the same bits')
    # stopped after a checkpoint: what came later is forgotten
    p = resumed('skips', 'again', 9)
    same = all(column('again', c) == column('skips', c) for c in ('digest', 'lr', 'loss'))
    ok(p.returncode == 0 and same, 'resumed from step 9, it has the same rates and bits', p.stderr)

for words, why in (
    ('--schedule cosin', 'did you mean cosine'),
    ('--schedule step:end=0.1', 'no effect with --schedule step'),
    ('--schedule steps=5', 'no effect with --schedule constant'),
    ('--schedule cosine:rate=0.1', 'no effect with --schedule cosine'),
    ('--schedule warmup=0', 'from 1 to'),
):
    p = halfulp('train', *(SMALL + '--steps 2 ' + words).split(), at('x'))
    ok(p.returncode == 2 and why in p.stderr and p.stderr.count('\n') == 1, 'train %s: %s' % (words, why), p.stderr)
finish()
