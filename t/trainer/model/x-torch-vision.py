# SPDX-License-Identifier: Apache-2.0
"""Residual nets and U-Nets against PyTorch, where Python has it: the same weights and the same batch. In float64 the
gradients of step 0 agree to 1e-10 in relative L2 norm and the losses of 30 steps of gradient descent to 1e-7. In
float32 each gradient agrees to 1e-5 or to twice the distance of two summation models of our own, fma and chunk:64, and
the losses to twice those models' distance. How far both are from float64's is said beside it, and how far float64's own
move where each weight is one rounding of float32 away: where a sum is so near zero that its rounding decides whether
relu lets it pass, gradients jump. A step of ResNet-50 multiplies a difference by ten at a learning rate of 0.01, and by
one at 1e-4, which it has here; with other first weights its gradients may part by more than the models do.
A batch is all rows there are, so that the order in which a step takes
them changes the order of sums and nothing else. Arguments name those that are compared [all]."""

import copy
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
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
torch.set_num_threads(1)


def ours(name, words, batch, how, weights=''):
    """30 steps with the options `words` and `how`: the losses, and the gradients of step 0 by name."""
    run = '%s/%s-%s%s' % (folder, name, how[-1].replace(':', ''), weights)
    p = halfulp('train', *words.split(), '--data', 'npz:%s/%s.npz' % (folder, name), '--data', 'split=' + str(batch),
                '--batch', str(batch), '--init', '%s/%s%s.safetensors' % (folder, name, weights), '--optimizer',
                'sgd', '--steps', str(STEPS), '--trace', 'steps=0', '--trace',
                '*.dw_unscaled,*.db_unscaled,*.dgamma_unscaled,*.dbeta_unscaled', *how, '--quiet', run)
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


def nudged(name, net, words, batch, exact, ideal):
    """How far three trainings in float64 are from the losses `exact`, and their gradients by name from `ideal`, whose
    first weights are the next float32 numbers, up or down by chance: what roundings as small as any of float32's own
    must be expected to do."""
    off = dict.fromkeys(ideal, 0.0)
    state, most = {k: v for k, v in net.state_dict().items() if 'num_batches' not in k}, 0.0
    for k in range(3):
        ways = {key: torch.where(torch.rand(v.shape) < 0.5, -torch.inf, torch.inf) for key, v in state.items()}
        save(
            '%s/%s-nudged%d.safetensors' % (folder, name, k),
            {key: v if 'running' in key else torch.nextafter(v, ways[key]) for key, v in state.items()},
        )
        losses, grads = ours(name, words, batch, ('--policy', 'float64'), '-nudged%d' % k)
        most = max(most, np.abs(losses - exact).max())
        off = {key: max(off[key], far(g, gradient(grads, key, g))) for key, g in ideal.items()}
    return most, off


def far(a, b):
    return np.linalg.norm((a - b).ravel().astype(np.float64)) / max(np.linalg.norm(a.ravel().astype(np.float64)), 1e-30)


def seeded(model, *sizes):
    """The model with weights of its own seed, so that those named on the command line have them too."""
    torch.manual_seed(3)
    return model(*sizes)


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


def compare(name, net, words, lr, x, arrays, loss_of):
    """x and arrays are rows in our order of dimensions; loss_of(output, labels) is the loss."""
    if sys.argv[1:] and name not in sys.argv[1:]:
        return
    batch = len(x)
    pad = {k: np.concatenate([v, v[:1]]) for k, v in dict(arrays, x=x).items()}  # a row must be left to evaluate
    np.savez('%s/%s.npz' % (folder, name), **pad)
    save('%s/%s.safetensors' % (folder, name), {k: v for k, v in net.state_dict().items() if 'num_batches' not in k})
    words += ' --optimizer lr=%g' % lr
    target = torch.tensor(list(arrays.values())[0].astype(np.int64))

    losses, grads = theirs(net, lr, torch.float64, x, target, loss_of)
    wide, gw = ours(name, words, batch, ('--policy', 'float64'))
    worst = max((far(g, gradient(gw, key, g)), key) for key, g in grads.items())
    ok(
        worst[0] <= 1e-10,
        '%s, float64: gradients of step 0, %d tensors, at most %.2g apart' % (name, len(grads), worst[0]), worst[1]
    )
    apart = np.abs(losses - wide).max()
    ok(len(wide) == STEPS and apart <= 1e-7, '%s, float64: losses of %d steps, from %.4f to %.4f, at most %.2g apart'
       % (name, STEPS, losses[0], losses[-1], apart))

    exact, ideal = losses, grads
    losses, grads = theirs(net, lr, torch.float32, x, target, loss_of)
    (fma, gf), (chunk, gc) = [ours(name, words, batch, ('--accumulate', how)) for how in ('fma', 'chunk:64')]
    moved, shifted = nudged(name, net, words, batch, wide, ideal)
    wrong, off = [], [0, 0, 0]
    for key, g in grads.items():
        mine, limit = gradient(gf, key, g), max(1e-5, 2 * far(gradient(gf, key, g), gradient(gc, key, g)))
        exact_to = [far(ideal[key], mine), far(ideal[key], g), shifted[key]]
        off = [max(a, b) for a, b in zip(off, exact_to)]
        if not far(g, mine) <= limit:
            wrong.append('%s: %.3g of %.3g; from float64 %.3g, %.3g, %.3g' % (key, far(g, mine), limit, *exact_to))
    ok(not wrong,
       "%s, float32: %d gradients of step 0 agree; from float64's at most %.2g, PyTorch's %.2g, weights a rounding "
       "away %.2g" % (name, len(grads), *off), wrong)
    between, own, there, here = [
        np.abs(a - b).max() for a, b in ((losses, fma), (fma, chunk), (losses, exact), (fma, exact))
    ]
    ok(between <= 2 * own,
       "%s, float32: losses %.2g from PyTorch's, our two models %.2g apart; from float64's %.2g, PyTorch's %.2g, "
       "weights a rounding away %.2g" % (name, between, own, here, there, moved))


rng = np.random.default_rng(5)
labels = np.arange(24) % 6
pictures = rng.random((24, 24, 24, 3), dtype=np.float32) + 0.05 * labels[:, None, None, None].astype(np.float32)
for name, counts, bottleneck, stem, lr in (
    ('18', (2, 2, 2, 2), False, 'cifar', 0.01),
    ('18', (2, 2, 2, 2), False, 'imagenet', 0.01),
    ('50', (3, 4, 6, 3), True, 'cifar', 1e-4),
):
    compare('resnet%s-%s' % (name, stem), seeded(ResNet, 8, counts, bottleneck, 6, stem == 'imagenet'),
            '--model resnet:width=0.125,depth=%s,stem=%s' % (name, stem), lr, pictures, {'labels': labels},
            functional.cross_entropy)

signals = rng.standard_normal((24, 1, 500, 2)).astype(np.float32) + np.sin(
    0.1 * np.arange(500) * (1 + labels[:, None])
)[:, None, :, None].astype(np.float32)
compare('resnet1d', seeded(ResNet1d, 16, 2, 6), '--model resnet1d:width=0.25', 0.01, signals, {'labels': labels},
        functional.cross_entropy)
small = rng.random((8, 22, 19, 3), dtype=np.float32)
mask = (small.sum(3) > 1.5).astype(np.int64)
compare('unet', seeded(UNet, 8, 2, 2), '--model unet:width=0.5,levels=2', 0.01, small, {'mask': mask},
        functional.cross_entropy)
finish()
