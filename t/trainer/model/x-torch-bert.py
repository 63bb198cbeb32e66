#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bert against PyTorch with the same weights and batches in float32: the gradients of step 0, and the losses of 30
steps of AdamW, which differ from PyTorch's no more than twice what two summation models of our own differ by."""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ.get('srcdir', '.'), 't', 'tool'))
from tap import ok, skip_all, finish  # noqa: E402

try:
    import torch
except ImportError:
    skip_all('Python has no torch')
from torchnets import bert, load  # noqa: E402

HALFULP = os.environ.get('HALFULP', 'halfulp')
LAYERS, HIDDEN, HEADS, LENGTH, BATCH, STEPS = 2, 32, 4, 24, 8, 30
SIZES = '--model layers=%d,hidden=%d,heads=%d --data length=%d --batch %d --data train=256,eval=8 --steps %d' % (
    LAYERS,
    HIDDEN,
    HEADS,
    LENGTH,
    BATCH,
    STEPS,
)


def tensors(path):
    return {name: torch.from_numpy(a.copy()) for name, a in load(path).items()}


def train(home, name, more):
    where = os.path.join(home, name)
    subprocess.run([HALFULP, 'train', '--model', 'bert', '--quiet', *SIZES.split(), *more.split(), where], check=True)
    rows = [line.rstrip('\n').split('\t') for line in open(where + '/metrics.tsv') if line[0] != '#']
    return where, [float(r[rows[0].index('loss')]) for r in rows[1:]]


def forward(p, inputs):
    return torch.nn.functional.cross_entropy(bert(p, inputs, LAYERS, HEADS), inputs['input.labels'].long())


def gradients(weights, inputs, dtype):
    p = {k: v.to(dtype).clone().requires_grad_() for k, v in weights.items()}
    forward(p, inputs).backward()
    return {k: v.grad for k, v in p.items()}


def distance(a, b):
    return ((a.double() - b.double()).norm() / b.double().norm()).item()


with tempfile.TemporaryDirectory() as home:
    run, fma = train(home, 'fma', '--trace steps=%s' % ','.join(map(str, range(STEPS))))
    _, chunk = train(home, 'chunk', '--accumulate chunk:64 --trace steps=none')
    first = tensors(run + '/trace/step-000000.safetensors')
    weights = {k: v for k, v in first.items() if k.split('.')[-1] in ('w', 'b', 'gamma', 'beta')}
    theirs, exact = (gradients(weights, first, t) for t in (torch.float32, torch.float64))
    far = []
    for name, g in theirs.items():
        layer, role = name.split('.')
        ours = first['%s.d%s_unscaled' % (layer, role)]
        if layer.endswith('_key') and role == 'b':  # softmax does not see what all scores of a row share: exactly 0
            size = exact[layer + '.w'].norm()
            ok(
                ours.norm() < 1e-5 * size and exact[name].norm() < 1e-13 * size,
                '%s: its gradient is 0 but for roundings' % name,
            )
        else:
            far.append((distance(ours, g), name))
    ok(
        max(far)[0] <= 1e-5,
        '%d gradients of step 0 are within 1e-5 of PyTorch\'s: the farthest, %s, by %.2g'
        % (len(far), max(far)[1], max(far)[0]),
    )

    p = {k: v.clone().requires_grad_() for k, v in weights.items()}
    optimizer = torch.optim.AdamW(list(p.values()), lr=1e-3, betas=(0.9, 0.999), eps=1e-7, weight_decay=0.01)
    losses = []
    for step in range(STEPS):
        optimizer.zero_grad()
        loss = forward(p, tensors('%s/trace/step-%06d.safetensors' % (run, step)))
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    own = max(abs(a - b) for a, b in zip(fma, chunk))
    between = max(abs(a - b) for a, b in zip(fma, losses))
    ok(
        own > 0 and between <= own,
        'losses of %d steps: %.3g from PyTorch\'s, and %.3g between fma and chunk:64' % (STEPS, between, own),
    )
finish()
