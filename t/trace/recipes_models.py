# SPDX-License-Identifier: Apache-2.0
"""Recipes of trainings, as tutorials.py has them: weights that are computed from others, gradients of gradients,
clipped values, several optimizers, layers that are thawed, formats by layer, simulated quantisation, weights in two
formats."""
import copy

import torch
from torch.utils.checkpoint import checkpoint

from tutorials import data, entropy, net, nn, plain, wide

F = nn.functional
MODELS = {}


def recipe(f):
    return MODELS.setdefault(f.__name__, f)


def normed(dtype, norm):
    model = net(16, 32, 4).to(dtype)
    norm(model[0])
    norm(model[2])
    opt = torch.optim.SGD(model.parameters(), 0.1)

    def step(k):
        opt.zero_grad()
        x, y = data(k, dtype)
        entropy(model(x), y).backward()
        opt.step()
    return model, step


MODELS['weight_norm'] = lambda dtype: normed(dtype, nn.utils.parametrizations.weight_norm)
MODELS['orthogonal_weights'] = lambda dtype: normed(dtype, lambda m: nn.utils.parametrize.register_parametrization(
    m, 'weight', Centred()))


class Centred(nn.Module):
    """Rows of a weight less their mean, over their length."""

    def forward(self, w):
        w = w - w.mean(1, keepdim=True)
        return w / (w.square().sum(1, keepdim=True) + 1e-3).sqrt()


@recipe
def largest_singular_value(dtype):
    """A layer over its largest singular value, by a step of power iteration whose vectors are buffers."""
    model = net(16, 32, 4).to(dtype)
    model.register_buffer('u', F.normalize(torch.ones(32), dim=0).to(dtype))
    opt = torch.optim.SGD(model.parameters(), 0.1)

    def step(k):
        opt.zero_grad()
        x, y = data(k, dtype)
        w = model[0].weight
        with torch.no_grad():
            v = F.normalize(w.t() @ model.u, dim=0, eps=1e-4)
            model.u.copy_(F.normalize(w @ v, dim=0, eps=1e-4))
        sigma = torch.dot(model.u.clone(), (w @ v).to(model.u.dtype))
        h = F.gelu(F.linear(x, (w / sigma).to(x.dtype), model[0].bias))
        entropy(model[2](h), y).backward()
        opt.step()
    return model, step


@recipe
def clipped_values(dtype):
    model = net(16, 32, 32, 4).to(dtype)
    opt = torch.optim.AdamW(model.parameters(), 1e-3, eps=1e-4)

    def step(k):
        opt.zero_grad()
        x, y = data(k, dtype)
        entropy(model(x), y).backward()
        nn.utils.clip_grad_value_(model.parameters(), 0.01)
        opt.step()
    return model, step


@recipe
def slope_penalty(dtype):
    """A critic whose slope is held to 1, as of Wasserstein GANs: the gradient of a gradient."""
    model = nn.Sequential(nn.Linear(16, 32), nn.Tanh(), nn.Linear(32, 1)).to(dtype)
    opt = torch.optim.SGD(model.parameters(), 0.05)

    def step(k):
        opt.zero_grad()
        x, y = data(k, dtype)
        x.requires_grad_(True)
        out = model(x)
        slope, = torch.autograd.grad(out.sum(), x, create_graph=True)
        held = (wide(slope).square().sum(1).add(1e-6).sqrt() - 1).square().mean()
        (wide(out).mean() + held).backward()
        opt.step()
    return model, step


@recipe
def quasi_newton(dtype):
    model = net(16, 16, 4).to(dtype)
    opt = torch.optim.LBFGS(model.parameters(), 0.05, max_iter=2, history_size=3)

    def step(k):
        x, y = data(0, dtype)

        def closure():
            opt.zero_grad()
            loss = entropy(model(x), y)
            loss.backward()
            return loss
        opt.step(closure)
    return model, step


@recipe
def adversaries(dtype):
    """Two models with losses and optimizers of their own, and one loss scale."""
    model = nn.ModuleDict({'made': net(16, 32, 16), 'judge': net(16, 32, 1)}).to(dtype)
    make = torch.optim.Adam(model['made'].parameters(), 1e-3, eps=1e-4)
    judge = torch.optim.SGD(model['judge'].parameters(), 0.05)
    scaler = torch.amp.GradScaler('cpu', init_scale=1024.0, enabled=dtype in (torch.float32, torch.bfloat16))

    def step(k):
        x, _ = data(2 * k, dtype)
        noise, _ = data(2 * k + 1, dtype)
        judge.zero_grad()
        with torch.autocast('cpu', torch.bfloat16, enabled=torch.is_autocast_enabled('cpu'), cache_enabled=False):
            fake = model['made'](noise)
            loss = F.softplus(-wide(model['judge'](x))) + F.softplus(wide(model['judge'](fake.detach())))
            scaler.scale(loss.mean()).backward()
            scaler.step(judge)
            make.zero_grad()
            scaler.scale(F.softplus(-wide(model['judge'](fake))).mean()).backward()
        scaler.step(make)
        scaler.update()
    return model, step


@recipe
def thawed(dtype):
    """A group that is frozen in the first step and trained in the second, at a rate of its own."""
    model = net(16, 32, 32, 4).to(dtype)
    for p in model[0].parameters():
        p.requires_grad_(False)
    opt = torch.optim.AdamW([{'params': model[2].parameters()}, {'params': model[4].parameters(), 'lr': 3e-4},
                             {'params': model[0].parameters(), 'lr': 1e-4, 'weight_decay': 0.0}], 1e-3, eps=1e-4)

    def step(k):
        for p in model[0].parameters():
            p.requires_grad_(k > 0)
        opt.zero_grad()
        x, y = data(k, dtype)
        entropy(model(x), y).backward()
        opt.step()
    return model, step


@recipe
def last_channels(dtype):
    """Images with their channels last in memory."""
    model = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.GroupNorm(2, 8), nn.ReLU(), nn.Conv2d(8, 8, 3, stride=2,
                          groups=2), nn.SiLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 4))
    model = model.to(dtype).to(memory_format=torch.channels_last)
    opt = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)

    def step(k):
        opt.zero_grad()
        x, y = data(k, dtype, columns=64)
        entropy(model(x.reshape(-1, 1, 8, 8).contiguous(memory_format=torch.channels_last)), y).backward()
        opt.step()
    return model, step


@recipe
def wide_norms(dtype):
    """A model in short formats whose norms are in float32, with casts about them."""
    model = nn.Sequential(nn.Linear(16, 32), nn.LayerNorm(32), nn.GELU(), nn.Linear(32, 4)).to(dtype)
    model[1].to(torch.promote_types(dtype, torch.float32))
    opt = torch.optim.SGD(model.parameters(), 0.1)

    def step(k):
        opt.zero_grad()
        x, y = data(k, dtype)
        h = model[0](x)
        h = model[1](h.to(model[1].weight.dtype)).to(h.dtype)
        entropy(model[3](F.gelu(h)), y).backward()
        opt.step()
    return model, step


@recipe
def straight_through(dtype):
    """Weights as they would be in 8 bits, with the gradient of the identity."""
    model = net(16, 32, 4).to(dtype)
    opt = torch.optim.SGD(model.parameters(), 0.05)

    def short(w):
        scale = wide(w).abs().amax(1, keepdim=True).detach() / 127
        q = (wide(w) / scale).round().clamp(-127, 127) * scale
        return w + (q.to(w.dtype) - w).detach()

    def step(k):
        opt.zero_grad()
        x, y = data(k, dtype)
        h = F.gelu(F.linear(x, short(model[0].weight), model[0].bias))
        entropy(F.linear(h, short(model[2].weight), model[2].bias), y).backward()
        opt.step()
    return model, step


@recipe
def recomputed(dtype):
    """A checkpointed block that drops elements, whose random numbers are drawn again."""
    model = net(16, 32, 32, 4).to(dtype)
    opt = torch.optim.AdamW(model.parameters(), 1e-3, eps=1e-4)

    def block(x):
        h = F.gelu(model[0](x))
        h = h * (torch.rand(h.shape) > 0.25).to(h.dtype)
        return F.gelu(model[2](h))

    def step(k):
        opt.zero_grad()
        torch.manual_seed(k)
        x, y = data(k, dtype)
        entropy(model[4](checkpoint(block, x, use_reentrant=False)), y).backward()
        opt.step()
    return model, step


@recipe
def replicas(dtype):
    """Two copies of a model take half of the rows each, and their gradients are averaged into the model's."""
    model = net(16, 32, 4).to(dtype)
    opt = torch.optim.SGD(model.parameters(), 0.2)

    def step(k):
        opt.zero_grad()
        x, y = data(k, dtype)
        copies = [copy.deepcopy(model) for _ in range(2)]
        for own, a, b in zip(copies, x.chunk(2), y.chunk(2)):
            own.zero_grad()
            entropy(own(a), b).backward()
        for p, *q in zip(model.parameters(), *[c.parameters() for c in copies]):
            p.grad = torch.stack([c.grad for c in q]).mean(0)
        opt.step()
    return model, step


@recipe
def tied_formats(dtype):
    """A table of words that is the last layer as well, there rounded to a shorter format."""
    model = nn.ModuleDict({'words': nn.Embedding(12, 16), 'mix': nn.Linear(16, 16)}).to(dtype)
    opt = torch.optim.SGD(model.parameters(), 0.5)
    low = dtype if dtype == torch.float64 else torch.bfloat16

    def step(k):
        opt.zero_grad()
        at = data(k, dtype)[1].reshape(8, 4) * 3 % 12
        h = torch.tanh(model['mix'](model['words'](at).mean(1)))
        logits = h.to(low) @ model['words'].weight.to(low).t()
        F.cross_entropy(wide(logits), at[:, 0]).backward()
        opt.step()
    return model, step


def pairs(model, x, y):
    """Angles between pairs of outputs."""
    out = wide(model(x))
    return (torch.atan2(out[:, 0], out[:, 1] + 2) - 0.5).square().mean() + torch.acos(torch.tanh(out[:, 2])).mean()


MODELS['angles'] = plain(torch.optim.SGD, pairs, lambda: net(16, 32, 4), lr=0.1)


@recipe
def rows_of_a_table(dtype):
    """A table with sparse gradients, and an optimizer of its own beside that of the other layers."""
    model = nn.ModuleDict({'words': nn.Embedding(24, 16, sparse=True), 'head': net(16, 16, 4)}).to(dtype)
    opts = torch.optim.Adagrad(model['words'].parameters(), 0.01), torch.optim.SGD(model['head'].parameters(), 0.1)

    def step(k):
        for o in opts:
            o.zero_grad()
        x, y = data(k, dtype)
        at = (y[:, None] + torch.arange(4) * 5) % 24
        entropy(model['head'](model['words'](at).sum(1)), y).backward()
        for o in opts:
            o.step()
    return model, step


def through_the_host(scale, inverse):
    """A clipping by hand, whose factor is a number of Python, made of the gradients of a scaled loss."""
    def of(dtype):
        model = net(16, 32, 4).to(dtype)
        opt = torch.optim.SGD(model.parameters(), 0.1)

        def step(k):
            opt.zero_grad()
            x, y = data(k, dtype)
            (entropy(model(x), y) * scale).backward()
            grads = [p.grad for p in model.parameters()]
            if inverse:
                factor = (sum((g * g).sum() for g in grads).sqrt() / scale).clamp(min=0.25).reciprocal().item() / 4
            else:
                factor = min(1.0, 0.25 * scale / (float(sum((g * g).sum() for g in grads).sqrt()) + 1e-6))
            for g in grads:
                g.mul_(factor / scale)
            opt.step()
        return model, step
    return of


MODELS['clipped_by_item'] = through_the_host(4.0, False)
MODELS['divided_by_item'] = through_the_host(4.0, True)
