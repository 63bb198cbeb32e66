# SPDX-License-Identifier: Apache-2.0
"""Residual nets and U-Nets against PyTorch, where Python has it: the same weights and the same batch. In float64 the
gradients of step 0 agree to 1e-10 in relative L2 norm and the losses of 30 steps of gradient descent to 1e-7. In
float32 gradients agree to 1e-5 or to twice the distance of two summation models of our own, fma and chunk:64, and our
losses are at most twice as far from those of float64 as the largest of that distance, PyTorch's own in float32, and
what float64's move by where each first weight is one rounding of float32 away. Where a sum is so near zero that its
rounding decides whether relu lets it pass, gradients jump, and each step of a deep net (--depth 50) multiplies a
difference by ten: of that the losses of five steps are compared in float64, and no gradients in float32. A batch is all
rows there are, so that the order in which a step takes them changes the order of sums and nothing else."""

import copy
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tool'))
from tap import bail_out, finish, halfulp, home, ok, skip_all  # noqa: E402

try:
    import numpy as np
    import torch
    from torch.nn import functional
except (ImportError, OSError) as why:
    skip_all('PyTorch is not to be had: %s' % str(why).splitlines()[0])

from torchnets import ResNet, ResNet1d, UNet, images, load, of_ours, save  # noqa: E402

STEPS = 30
folder = home()
torch.manual_seed(3)
torch.set_num_threads(1)


def ours(name, words, batch, how, weights=''):
    """30 steps with the options `words` and `how`: the losses, and the gradients of step 0 by name."""
    run = '%s/%s-%s%s' % (folder, name, how[-1].replace(':', ''), weights)
    p = halfulp(
        'train',
        *words.split(),
        '--data',
        'npz:%s/%s.npz' % (folder, name),
        '--split',
        str(batch),
        '--batch',
        str(batch),
        '--init',
        '%s/%s%s.safetensors' % (folder, name, weights),
        '--optimizer',
        'sgd',
        '--steps',
        str(STEPS),
        '--trace-steps',
        '0',
        '--trace',
        '*.dw_unscaled,*.db_unscaled,*.dgamma_unscaled,*.dbeta_unscaled',
        *how,
        '--quiet',
        run
    )
    if p.returncode:
        bail_out(p.stderr)
    rows = [line.split('\t') for line in open(run + '/metrics.tsv') if line[0] != '#']
    at = rows[0].index('loss')
    return np.array([float(r[at]) for r in rows[1:]]), load(run + '/trace/step-000000.safetensors')


def gradient(traced, name, like):
    """Our gradient of PyTorch's parameter `name`, in PyTorch's order of dimensions."""
    g = of_ours(traced, name, like, 'd%s_unscaled')
    if g is None:
        bail_out('no gradient of ' + name)
    return g


def nudged(name, net, words, batch, exact):
    """How far three trainings in float64 are from the losses `exact` whose first weights are the next float32 numbers,
    up or down by chance: what roundings as small as any of float32's own must be expected to do."""
    state, most = {k: v for k, v in net.state_dict().items() if 'num_batches' not in k}, 0.0
    for k in range(3):
        ways = {key: torch.where(torch.rand(v.shape) < 0.5, -torch.inf, torch.inf) for key, v in state.items()}
        save(
            '%s/%s-nudged%d.safetensors' % (folder, name, k),
            {key: v if 'running' in key else torch.nextafter(v, ways[key]) for key, v in state.items()},
        )
        losses, _ = ours(name, words, batch, ('--policy', 'float64'), '-nudged%d' % k)
        most = max(most, np.abs(losses - exact).max())
    return most


def far(a, b):
    return np.linalg.norm((a - b).ravel().astype(np.float64)) / max(
        np.linalg.norm(a.ravel().astype(np.float64)), 1e-30
    )


def theirs(net, lr, dtype, x, target, loss_of):
    """30 steps of PyTorch from the weights that net has: the losses, and the gradients of step 0 by name."""
    net = copy.deepcopy(net).to(dtype).train()
    optimizer = torch.optim.SGD(net.parameters(), lr)
    x = images(x).to(dtype)
    losses, gradients = [], {}
    for step in range(STEPS):
        optimizer.zero_grad()
        loss = loss_of(net(x), target)
        loss.backward()
        if step == 0:
            gradients = {key: p.grad.numpy().copy() for key, p in net.named_parameters()}
        optimizer.step()
        losses.append(loss.item())
    return np.array(losses), gradients


def compare(name, net, words, lr, x, arrays, loss_of, smooth=True):
    """x and arrays are rows in our order of dimensions; loss_of(output, labels) is the loss. smooth: the gradients of
    float32 are compared too."""
    batch = len(x)
    pad = {k: np.concatenate([v, v[:1]]) for k, v in dict(arrays, x=x).items()}  # a row must be left to evaluate
    np.savez('%s/%s.npz' % (folder, name), **pad)
    save('%s/%s.safetensors' % (folder, name), {k: v for k, v in net.state_dict().items() if 'num_batches' not in k})
    words += ' --lr %g' % lr
    target = torch.tensor(list(arrays.values())[0].astype(np.int64))

    losses, grads = theirs(net, lr, torch.float64, x, target, loss_of)
    wide, gw = ours(name, words, batch, ('--policy', 'float64'))
    worst = max((far(g, gradient(gw, key, g)), key) for key, g in grads.items())
    ok(
        worst[0] <= 1e-10,
        '%s, float64: gradients of step 0, %d tensors, at most %.2g apart' % (name, len(grads), worst[0]),
        worst[1],
    )
    n = STEPS if smooth else 5
    apart = np.abs(losses - wide)[:n].max()
    ok(
        len(wide) == STEPS and apart <= 1e-7,
        '%s, float64: losses of %d steps, from %.4f to %.4f, at most %.2g apart'
        % (name, n, losses[0], losses[n - 1], apart),
    )

    exact = losses
    losses, grads = theirs(net, lr, torch.float32, x, target, loss_of)
    (fma, gf), (chunk, gc) = [ours(name, words, batch, ('--accumulate', how)) for how in ('fma', 'chunk:64')]
    limits = {key: max(1e-5, 2 * far(gradient(gf, key, g), gradient(gc, key, g))) for key, g in grads.items()}
    wrong = [
        '%s: %.3g of its limit %.3g' % (key, far(g, gradient(gf, key, g)), limits[key])
        for key, g in grads.items()
        if not far(g, gradient(gf, key, g)) <= limits[key]
    ]
    if smooth:
        ok(
            not wrong,
            '%s, float32: gradients of step 0 within 1e-5, or twice what two of our models differ by' % name,
            wrong,
        )
    between, own, there, here = [
        np.abs(a - b).max() for a, b in ((losses, fma), (fma, chunk), (losses, exact), (fma, exact))
    ]
    moved = nudged(name, net, words, batch, wide)
    ok(
        here <= 2 * max(own, there, moved),
        "%s, float32: losses %.2g from float64's, PyTorch's %.2g from its float64's; "
        "%.2g from PyTorch's, our two models %.2g apart, weights a rounding away %.2g"
        % (name, here, there, between, own, moved),
    )


rng = np.random.default_rng(5)
labels = np.arange(24) % 6
pictures = rng.random((24, 24, 24, 3), dtype=np.float32) + 0.05 * labels[:, None, None, None].astype(np.float32)
for name, counts, bottleneck, stem, lr in (
    ('18', (2, 2, 2, 2), False, 'cifar', 0.01),
    ('18', (2, 2, 2, 2), False, 'imagenet', 0.01),
    ('50', (3, 4, 6, 3), True, 'cifar', 0.01),
):
    compare(
        'resnet%s-%s' % (name, stem),
        ResNet(8, counts, bottleneck, 6, stem == 'imagenet'),
        '--model resnet --width 0.125 --depth %s --stem %s' % (name, stem),
        lr,
        pictures,
        {'labels': labels},
        functional.cross_entropy,
        smooth=not bottleneck,
    )

signals = rng.standard_normal((24, 1, 500, 2)).astype(np.float32) + np.sin(
    0.1 * np.arange(500) * (1 + labels[:, None])
)[:, None, :, None].astype(np.float32)
compare(
    'resnet1d',
    ResNet1d(16, 2, 6),
    '--model resnet1d --width 0.25',
    0.01,
    signals,
    {'labels': labels},
    functional.cross_entropy,
)
small = rng.random((8, 22, 19, 3), dtype=np.float32)
mask = (small.sum(3) > 1.5).astype(np.int64)
compare(
    'unet', UNet(8, 2, 2), '--model unet --width 0.5 --levels 2', 0.01, small, {'mask': mask}, functional.cross_entropy
)
finish()
