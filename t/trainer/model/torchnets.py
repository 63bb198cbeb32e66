# SPDX-License-Identifier: Apache-2.0
# Our models once more in PyTorch, for the tests and the benchmark that compare both: image models as modules, whose
# parameters have PyTorch's names and order of dimensions, encoders and collaborative filtering as functions of a
# dictionary of our own tensors. Whoever imports it has made sure that Python has torch and numpy.
import json
import math
import struct

import numpy as np
import torch
from torch import nn
from torch.nn import functional

TYPES = {'F32': '<f4', 'F64': '<f8'}
ROLES = {'weight': ('w', 'gamma'), 'bias': ('b', 'beta')}


def load(path):
    """The arrays of a safetensors file, such as a traced step, by name; of F32 and F64 alone."""
    raw = open(path, 'rb').read()
    first = 8 + struct.unpack('<Q', raw[:8])[0]
    return {
        name: np.frombuffer(
            raw, TYPES[t['dtype']], offset=first + t['data_offsets'][0], count=math.prod(t['shape'])
        ).reshape(t['shape'])
        for name, t in json.loads(raw[8:first]).items()
        if name != '__metadata__' and t['dtype'] in TYPES
    }


def save(path, tensors):
    """Writes PyTorch's tensors as a safetensors file of F32."""
    at, head, body = 0, {}, b''
    for name, t in tensors.items():
        raw = t.detach().numpy().astype('<f4').tobytes()
        head[name] = {'dtype': 'F32', 'shape': list(t.shape), 'data_offsets': [at, at + len(raw)]}
        at, body = at + len(raw), body + raw
    text = json.dumps(head).encode()
    with open(path, 'wb') as f:
        f.write(struct.pack('<Q', len(text)) + text + body)


def of_ours(ours, name, like, role='%s'):
    """Our array of PyTorch's parameter `name`, in PyTorch's order of dimensions; role: 'd%s_unscaled' for its gradient.
    None where there is none."""
    layer, kind = name.rsplit('.', 1)
    for word in ROLES[kind]:
        a = ours.get('%s.%s' % (layer.replace('.', '_'), role % word))
        if a is not None:
            a = a.transpose(3, 2, 0, 1) if a.ndim == 4 else a.T if a.ndim == 2 else a
            return a.reshape(like.shape)
    return None


def init(net, ours):
    """Gives the module our weights. Returns it."""
    with torch.no_grad():
        for name, p in net.named_parameters():
            p.copy_(torch.from_numpy(of_ours(ours, name, p).copy()))
    return net


def images(x):
    """Our rows of images [n, height, width, channels] in PyTorch's order."""
    return torch.from_numpy(np.moveaxis(x, -1, 1).copy())


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


class ConvNet(nn.Module):
    """Convolutions with stride 2 and SAME padding, which is one smaller before than behind where it is odd."""

    def __init__(self, width, channels, classes):
        super().__init__()
        before, self.sizes = channels, (5, 7, 11)
        for i, size in enumerate(self.sizes):
            n = int(width * (32 << i) + 0.5)
            self.add_module('conv%d' % (i + 1), nn.Conv2d(before, n, size, 2))
            self.add_module('bn%d' % (i + 1), nn.BatchNorm2d(n, 1e-3))
            before = n
        self.dense1 = nn.Linear(before, classes)

    def forward(self, x):
        for i, size in enumerate(self.sizes):
            more = [max((-(-n // 2) - 1) * 2 + size - n, 0) for n in (x.shape[3], x.shape[2])]
            x = functional.pad(x, [p for n in more for p in (n // 2, n - n // 2)])
            x = functional.relu(getattr(self, 'conv%d' % (i + 1))(x))
            x = getattr(self, 'bn%d' % (i + 1))(x)
        return self.dense1(x.mean((2, 3)))


def dense(p, layer, x):
    """x w + b, as torch.nn.Linear computes it, with our w [in, out]."""
    return torch.addmm(p[layer + '.b'], x.reshape(-1, x.shape[-1]), p[layer + '.w']).view(*x.shape[:-1], -1)


def normal(p, layer, x, epsilon):
    return functional.layer_norm(x, x.shape[-1:], p[layer + '.gamma'], p[layer + '.beta'], epsilon)


def attention(p, b, x, heads, unseen):
    """The attention of block b in its parts, where scores of unseen keys are -10000."""
    batch, length, hidden = x.shape

    def split(y):
        return y.view(batch, length, heads, hidden // heads).transpose(1, 2)

    q, k, v = (split(dense(p, b + w, x)) for w in ('query', 'key', 'value'))
    scores = (q @ k.transpose(2, 3)) / math.sqrt(hidden // heads)
    y = (scores.masked_fill(unseen, -10000).softmax(-1) @ v).transpose(1, 2).reshape(batch, length, hidden)
    return dense(p, b + 'output', y)


def bert(p, inputs, layers, heads):
    """The encoder's logits from our tensors p and a step's inputs, in attention's parts."""
    tokens, segments = (inputs['input.' + k].long() for k in ('tokens', 'segments'))
    length = tokens.shape[1]
    padding = inputs['input.mask'][:, None, None, :] == 0

    def norm(layer, x):
        return normal(p, layer, x, 1e-12)

    x = functional.embedding(tokens, p['tokens.w']) + functional.embedding(segments, p['segments.w'])
    x = norm('norm', x + p['positions.w'][:length])
    for i in range(1, layers + 1):
        b = 'block%d_' % i
        x = norm(b + 'norm1', x + attention(p, b, x, heads, padding))
        x = norm(b + 'norm2', x + dense(p, b + 'down', functional.gelu(dense(p, b + 'up', x))))
    return dense(p, 'classifier', torch.tanh(dense(p, 'pooler', x[:, 0])))


def gpt(p, inputs, layers, heads):
    """The decoder's logits of the next token, in attention's parts."""
    tokens = inputs['input.tokens'].long()
    length = tokens.shape[1]
    later = torch.ones(length, length, dtype=torch.bool, device=tokens.device).triu(1)
    x = functional.embedding(tokens, p['tokens.w']) + p['positions.w'][:length]
    for i in range(1, layers + 1):
        b = 'block%d_' % i
        x = x + attention(p, b, normal(p, b + 'norm1', x, 1e-5), heads, later)
        y = functional.gelu(dense(p, b + 'up', normal(p, b + 'norm2', x, 1e-5)), approximate='tanh')
        x = x + dense(p, b + 'down', y)
    return normal(p, 'norm', x, 1e-5) @ p['tokens.w'].T


def mlp(p, inputs):
    """The classes' logits of images, whose pixels follow each other."""
    x = inputs['input.x'].flatten(1)
    for i in (1, 2):
        x = functional.relu(dense(p, 'dense%d' % i, x))
    return dense(p, 'dense3', x)


def ncf(p, inputs, layers):
    """The logit that each user chose the item."""
    users, items = (inputs['input.' + k].long() for k in ('users', 'items'))

    def rows(table, index):
        return functional.embedding(index, p[table + '.w'])

    product = rows('gmf_users', users) * rows('gmf_items', items)
    x = torch.cat([rows('mlp_users', users), rows('mlp_items', items)], 1)
    for i in range(1, layers + 1):
        x = functional.relu(dense(p, 'mlp%d' % i, x))
    return dense(p, 'output', torch.cat([product, x], 1))[:, 0]
