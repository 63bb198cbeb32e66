# SPDX-License-Identifier: Apache-2.0
"""Recipes of trainings whose tensors come and go by other ways than operators: memory that is shared, saved and loaded,
gradients that are gone when the step ends, modes of PyTorch under which others of its operators run, and operators that
take functions."""
import io
import warnings

import numpy
import torch

from tutorials import data, entropy, net, nn, plain, wide

F = nn.functional
MEMORY = {}


def recipe(f):
    return MEMORY.setdefault(f.__name__, f)


def loss(f, make=lambda: net(16, 32, 4)):
    MEMORY[f.__name__] = plain(torch.optim.SGD, f, make, lr=0.1)
    return f


@recipe
def as_one_vector(dtype):
    """Parameters become views of one vector, that of the update."""
    model = net(16, 32, 4).to(dtype)

    def step(k):
        model.zero_grad()
        x, y = data(k, dtype)
        entropy(model(x), y).backward()
        own = nn.utils.parameters_to_vector(model.parameters()).detach()
        g = nn.utils.parameters_to_vector([p.grad for p in model.parameters()])
        nn.utils.vector_to_parameters(own - 0.05 * g / (1 + g.norm()), model.parameters())
    return model, step


@recipe
def loaded_bytes(dtype):
    """Weights are saved behind the update, loaded, and come back a little shorter."""
    model = net(16, 32, 4).to(dtype)
    opt = torch.optim.SGD(model.parameters(), 0.1)

    def step(k):
        opt.zero_grad()
        x, y = data(k, dtype)
        entropy(model(x), y).backward()
        opt.step()
        file = io.BytesIO()
        torch.save(model.state_dict(), file)
        file.seek(0)
        loaded = torch.load(file)
        with torch.no_grad():
            for name, p in model.named_parameters():
                p.copy_(loaded[name] * 0.999)
    return model, step


@loss
def in_files(model, x, y):
    """What the backward pass wants is kept in files meanwhile, as PyTorch's tutorial of saved tensors has it."""
    def put(t):
        file = io.BytesIO()
        torch.save(t.detach(), file)
        return file

    def get(file):
        file.seek(0)
        return torch.load(file)
    with torch.autograd.graph.saved_tensors_hooks(put, get):
        h = model[0](x)
        return entropy(model[2](torch.tanh(h) * torch.sin(32 * model[1](h))), y)


@loss
def lent(model, x, y):
    """Another library gets the memory of activations, and computes with it."""
    h = model[1](model[0](x))
    return entropy(model[2](h * torch.from_dlpack(h.detach().contiguous()).mul(32).sin()), y)


def by_another(model, x, y):
    """Another library makes a factor of the activations."""
    h = wide(model[1](model[0](x)))
    factor = torch.from_dlpack(numpy.sin(32 * numpy.from_dlpack(h.detach().contiguous())))
    return entropy(model[2]((h * factor).to(x.dtype)), y)


OPAQUE = {'by_another': plain(torch.optim.SGD, by_another, lambda: net(16, 32, 4), lr=0.1)}


@recipe
def used_and_freed(dtype):
    """Each gradient is clipped, used and freed as soon as it is there (LOMO)."""
    model = net(16, 32, 32, 4).to(dtype)

    def use(p):
        with torch.no_grad():
            p.add_(p.grad.clamp(-0.05, 0.05), alpha=-0.1)
        p.grad = None
    for p in model.parameters():
        p.register_post_accumulate_grad_hook(use)

    def step(k):
        x, y = data(k, dtype)
        entropy(model(x), y).backward()
    return model, step


@recipe
def values_ahead(dtype):
    """Double Q-learning, whose targets are computed in inference mode."""
    model = nn.ModuleDict({'q': net(16, 32, 4), 'target': net(16, 32, 4).requires_grad_(False)}).to(dtype)
    opt = torch.optim.AdamW(model['q'].parameters(), 1e-3, eps=1e-4, amsgrad=True)

    def step(k):
        (x, y), (later, _) = data(k, dtype), data(k + 50, dtype)
        with torch.inference_mode():
            best = model['q'](later).argmax(1, keepdim=True)
            target = x[:, 0] + 0.99 * model['target'](later).gather(1, best).squeeze(1)
        opt.zero_grad()
        q = model['q'](x).gather(1, y[:, None]).squeeze(1)
        F.smooth_l1_loss(wide(q), wide(target.clone())).backward()
        opt.step()
    return model, step


def traced(dtype):
    """A layer that TorchScript has, which looks for equal constants as it first runs."""
    model = net(16, 32, 4).to(dtype)
    opt = torch.optim.SGD(model.parameters(), 0.1)
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        gate = torch.jit.trace(lambda h: torch.tanh(h * 0.5 + 0.25) * h.sigmoid(), torch.zeros(32, 4, dtype=dtype),
                               check_trace=False)

    def step(k):
        opt.zero_grad()
        x, y = data(k, dtype)
        entropy(gate(model(x).to(dtype)), y).backward()
        opt.step()
    return model, step


MEMORY['traced'] = traced


@loss
def chosen_branch(model, x, y):
    h = model[0](x)
    return entropy(model[2](torch.cond(h.detach().sum() > -1e9, lambda t: t.sin() * 2, lambda t: t.cos(), (h,))), y)


@loss
def associated(model, x, y):
    """A scan of a function that is associative, which is an operator of PyTorch."""
    from torch._higher_order_ops.associative_scan import associative_scan
    h = torch.sigmoid(wide(model[0](x))).view(4, 8, 32)
    h = associative_scan(lambda a, b: a * b + 0.1 * a, h, 0, combine_mode='generic')
    return entropy(model[2](h.reshape(32, 32).to(x.dtype)), y)


def padded(model, x, y):
    """Attention over places of which some are padding, by PyTorch's module, which adds -inf to their scores."""
    z, places = x.view(32, 4, 4), torch.arange(4)[None] >= (torch.arange(32) % 4 + 1)[:, None]
    z, _ = model['heads'](z, z, z, key_padding_mask=places)
    return entropy(model['out'](z.mean(1)), y)


loss(padded, lambda: nn.ModuleDict({'heads': nn.MultiheadAttention(4, 2, batch_first=True), 'out': nn.Linear(4, 4)}))


def dilated(model, x, y):
    """WaveNet's gated layers, whose taps are one, two and four apart."""
    z = x.view(32, 1, 16)
    for k, layer in enumerate(model):
        h = F.conv1d(F.pad(z, (2 ** k, 0)), layer.weight, layer.bias, dilation=2 ** k)
        z = z + torch.tanh(h[:, :1]) * torch.sigmoid(h[:, 1:])
    return F.mse_loss(wide(z)[..., :-1], wide(x.view(32, 1, 16))[..., 1:])


loss(dilated, lambda: nn.ModuleList(nn.Conv1d(1, 2, 2) for _ in range(3)))


@loss
def inverted(model, x, y):
    """A flow's linear layer, with its determinant and its inverse, and a Gaussian process over what it makes."""
    w = wide(model[0].weight[:16])
    w = w + torch.eye(16, dtype=w.dtype)
    z = wide(x) @ torch.linalg.inv(w)
    k = torch.exp(-torch.cdist(z[:8], z[:8]).square() / 32) + 0.25 * torch.eye(8, dtype=z.dtype)
    f = torch.linalg.cholesky(k)
    a = torch.cholesky_solve(wide(x)[:8, :1], f)
    return (z.square().sum(1) / 2).mean() / 16 - torch.linalg.slogdet(w)[1] / 16 + entropy(model(x), y) + (
        (wide(x)[:8, :1] * a).sum() / 2 + f.diagonal().log().sum()) / 8
