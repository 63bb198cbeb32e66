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
import json
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tool'))
from tap import bail_out, finish, halfulp, home, ok, skip_all  # noqa: E402

try:
    import numpy as np
    import torch
    from torch import nn
    from torch.nn import functional
except (ImportError, OSError) as why:
    skip_all('PyTorch is not to be had: %s' % str(why).splitlines()[0])

STEPS = 30
folder = home()
torch.manual_seed(3)
torch.set_num_threads(1)


# --- the models once more, in PyTorch
class Block(nn.Module):
    """A residual block of one or two dimensions: two convolutions, or three of which the middle one has the stride."""

    def __init__(self, before, filters, stride, bottleneck=False, conv=nn.Conv2d, norm=nn.BatchNorm2d, taps=3):
        super().__init__()
        out = 4 * filters if bottleneck else filters
        sizes = (
            [(1, 1, filters), (3, stride, filters), (1, 1, out)]
            if bottleneck
            else [(taps, stride, filters), (taps, 1, out)]
        )
        self.count = len(sizes)
        for i, (size, step, n) in enumerate(sizes):
            self.add_module(
                'conv%d' % (i + 1), conv(before if i == 0 else sizes[i - 1][2], n, size, step, size // 2, bias=False)
            )
            self.add_module('bn%d' % (i + 1), norm(n))
        if stride != 1 or before != out:
            self.downsample = nn.Sequential(conv(before, out, 1, stride, bias=False), norm(out))

    def forward(self, x):
        y = x
        for i in range(self.count):
            y = getattr(self, 'bn%d' % (i + 1))(getattr(self, 'conv%d' % (i + 1))(y))
            if i + 1 < self.count:
                y = functional.relu(y)
        return functional.relu(y + (self.downsample(x) if hasattr(self, 'downsample') else x))


class ResNet(nn.Module):
    def __init__(self, width, counts, bottleneck, classes, imagenet):
        super().__init__()
        self.conv1 = nn.Conv2d(3, width, 7 if imagenet else 3, 2 if imagenet else 1, 3 if imagenet else 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.pool = nn.MaxPool2d(3, 2, 1) if imagenet else nn.Identity()
        before = width
        for stage, count in enumerate(counts):
            blocks = []
            for k in range(count):
                blocks.append(Block(before, width << stage, 2 if stage and not k else 1, bottleneck))
                before = (width << stage) * (4 if bottleneck else 1)
            self.add_module('layer%d' % (stage + 1), nn.Sequential(*blocks))
        self.fc = nn.Linear(before, classes)

    def forward(self, x):
        x = self.pool(functional.relu(self.bn1(self.conv1(x))))
        for stage in range(4):
            x = getattr(self, 'layer%d' % (stage + 1))(x)
        return self.fc(x.mean((2, 3)))


# --- ours
def save(path, tensors):
    at, head, body = 0, {}, b''
    for name, t in tensors.items():
        raw = t.detach().numpy().astype('<f4').tobytes()
        head[name] = {'dtype': 'F32', 'shape': list(t.shape), 'data_offsets': [at, at + len(raw)]}
        at, body = at + len(raw), body + raw
    text = json.dumps(head).encode()
    open(path, 'wb').write(struct.pack('<Q', len(text)) + text + body)


def load(path):
    raw = open(path, 'rb').read()
    size = struct.unpack('<Q', raw[:8])[0]
    head = json.loads(raw[8 : 8 + size])
    return {
        name: np.frombuffer(
            raw,
            {'F32': '<f4', 'F64': '<f8'}[t['dtype']],
            offset=8 + size + t['data_offsets'][0],
            count=int(np.prod(t['shape'])),
        ).reshape(t['shape'])
        for name, t in head.items()
        if name != '__metadata__'
    }


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


ROLES = {'weight': ('w', 'gamma'), 'bias': ('b', 'beta')}


def gradient(traced, name, like):
    """Our gradient of PyTorch's parameter `name`, in PyTorch's order of dimensions."""
    layer, role = name.rsplit('.', 1)
    for ours_role in ROLES[role]:
        key = '%s.d%s_unscaled' % (layer.replace('.', '_'), ours_role)
        if key in traced:
            g = traced[key]
            if g.ndim == 4:
                g = g.transpose(3, 2, 0, 1)
            return (g.T if g.ndim == 2 else g).reshape(like.shape)
    bail_out('no gradient of ' + name)


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
    x = torch.tensor(np.moveaxis(x, -1, 1).copy()).to(dtype)
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
images = rng.random((24, 24, 24, 3), dtype=np.float32) + 0.05 * labels[:, None, None, None].astype(np.float32)
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
        images,
        {'labels': labels},
        functional.cross_entropy,
        smooth=not bottleneck,
    )


class ResNet1d(nn.Module):
    def __init__(self, width, channels, classes):
        super().__init__()
        before = channels
        for i, n in enumerate((width, 2 * width, 4 * width, 4 * width)):
            block = Block(before, n, 2, conv=nn.Conv1d, norm=nn.BatchNorm1d, taps=9)
            if not hasattr(block, 'downsample'):
                raise AssertionError('every block has stride 2')
            self.add_module('layer%d' % (i + 1), block)
            before = n
        self.fc1, self.fc2 = nn.Linear(before, 4 * width), nn.Linear(4 * width, classes)

    def forward(self, x):
        x = x[:, :, 0]
        for i in range(4):
            x = getattr(self, 'layer%d' % (i + 1))(x)
        return self.fc2(functional.relu(self.fc1(x.mean(2))))


class Twice(nn.Module):
    def __init__(self, before, n):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(before, n, 3, padding=1, bias=False), nn.BatchNorm2d(n)
        self.conv2, self.bn2 = nn.Conv2d(n, n, 3, padding=1, bias=False), nn.BatchNorm2d(n)

    def forward(self, x):
        return functional.relu(self.bn2(self.conv2(functional.relu(self.bn1(self.conv1(x))))))


class UNet(nn.Module):
    def __init__(self, width, levels, classes):
        super().__init__()
        self.levels = levels
        for i in range(levels + 1):
            self.add_module('down%d' % i, Twice(width << (i - 1) if i else 3, width << i))
        for i in range(levels):
            up = Twice(2 * (width << i), width << i)
            up.up = nn.ConvTranspose2d(width << (i + 1), width << i, 2, 2)
            self.add_module('up%d' % i, up)
        self.out = nn.Conv2d(width, classes, 1)

    def forward(self, x):
        skip = []
        for i in range(self.levels + 1):
            x = getattr(self, 'down%d' % i)(functional.max_pool2d(x, 2) if i else x)
            skip.append(x)
        for i in reversed(range(self.levels)):
            up = getattr(self, 'up%d' % i)
            y = up.up(x, output_size=skip[i].shape[2:])
            x = up(torch.cat([skip[i], y], 1))
        return self.out(x)


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
