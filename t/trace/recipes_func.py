# SPDX-License-Identifier: Apache-2.0
"""Recipes of trainings by PyTorch's transforms of functions, by hooks, by functions with gradients of their own, and
under its wrappers for several processes."""
import copy

import torch

from tutorials import data, entropy, net, nn, plain, wide

F = nn.functional
FUNCTIONS = {}


def recipe(f):
    return FUNCTIONS.setdefault(f.__name__, f)


def loss(f, make=lambda: net(16, 32, 4)):
    FUNCTIONS[f.__name__] = plain(torch.optim.SGD, f, make, lr=0.1)
    return f


@loss
def slope_along(model, x, y):
    """A penalty on the derivative along a direction, by forward differentiation, whose zeros have no memory."""
    out, slope = torch.func.jvp(model, (x,), (torch.ones_like(x),))
    return entropy(out, y) + 0.1 * wide(slope).square().mean()


@loss
def curvature(model, x, y):
    """A penalty on the Hessian's trace, by one product with a vector of signs."""
    value, w = entropy(model(x), y), model[2].weight
    g, = torch.autograd.grad(value, w, create_graph=True)
    sign = torch.sign(torch.sin(torch.arange(w.numel(), dtype=torch.float64) + 0.5)).reshape(w.shape).to(g.dtype)
    product, = torch.autograd.grad((g * sign).sum(), w, create_graph=True)
    return value + 0.1 * wide(product * sign).sum()


@loss
def learned_start(model, x, y):
    """The loss of half of the rows after a step by those of the other half."""
    names = dict(model.named_parameters())
    value = entropy(torch.func.functional_call(model, names, (x[:16],)), y[:16])
    g = torch.autograd.grad(value, list(names.values()), create_graph=True)
    fast = {n: p - 0.5 * d for (n, p), d in zip(names.items(), g)}
    return entropy(torch.func.functional_call(model, fast, (x[16:],)), y[16:])


@recipe
def private(dtype):
    """Gradients of single rows, clipped by their norms, and averaged."""
    model = net(16, 32, 4).to(dtype)

    def one(p, a, b):
        return entropy(torch.func.functional_call(model, p, (a[None],)), b[None])

    def step(k):
        x, y = data(k, dtype)
        names = {n: p.detach() for n, p in model.named_parameters()}
        g = torch.func.vmap(torch.func.grad(one), (None, 0, 0))(names, x, y)
        norm = torch.stack([wide(v.flatten(1)).norm(dim=1) for v in g.values()]).norm(dim=0)
        factor = (0.5 / (norm + 1e-6)).clamp(max=1)
        with torch.no_grad():
            for n, p in model.named_parameters():
                p.sub_(0.3 * torch.einsum('b,b...->...', factor.to(p.dtype), g[n]) / 32)
    return model, step


class Saved(torch.autograd.Function):
    """A product that keeps its input in bf16 for the gradient of the weights."""

    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x.to(x.dtype if x.dtype == torch.float64 else torch.bfloat16), w)
        return x @ w.t()

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        return g @ w, g.t() @ x.to(g.dtype)


@loss
def kept_short(model, x, y):
    h = Saved.apply(x, model[0].weight.to(x.dtype)) + model[0].bias.to(x.dtype)
    return entropy(model[2](F.gelu(h)), y)


@recipe
def hooked(dtype):
    """Hooks change an output, a gradient of an input and one of a weight."""
    model = net(16, 32, 4).to(dtype)
    model[0].register_forward_hook(lambda m, x, y: y * 0.5 + y.detach().mean())
    model[2].register_full_backward_hook(lambda m, dx, dy: (dx[0] * 1.5,))
    model[2].weight.register_hook(lambda g: g.clamp(-0.0078125, 0.0078125))
    opt = torch.optim.SGD(model.parameters(), 0.3)

    def step(k):
        opt.zero_grad()
        x, y = data(k, dtype)
        entropy(model(x), y).backward()
        opt.step()
    return model, step


def in_depth(model, x, y):
    """A differential equation in four steps of the fourth order."""
    def slope(z):
        return torch.tanh(model[0](z))
    for _ in range(4):
        a = slope(x)
        b = slope(x + a / 8)
        c = slope(x + b / 8)
        x = x + (a + 2 * b + 2 * c + slope(x + c / 4)) / 24
    return entropy(model[1](x), y)


def implicit(model, x, y):
    """A fixed point, whose gradient is solved for by a fixed point of its own."""
    def again(z):
        return torch.tanh(0.3 * model[0](z) + x)
    with torch.no_grad():
        z = torch.zeros_like(x)
        for _ in range(8):
            z = again(z)
    z = again(z)
    start = z.detach().requires_grad_()
    end = again(start)

    def solved(g):
        v = g
        for _ in range(5):
            v = torch.autograd.grad(end, start, v, retain_graph=True)[0] + g
        return v
    z.register_hook(solved)
    return entropy(model[1](z), y)


for f in (in_depth, implicit):
    loss(f, lambda: nn.ModuleList([nn.Linear(16, 16), nn.Linear(16, 4)]))


@recipe
def saved_and_loaded(dtype):
    """Weights and moments are copied, as deepcopy() copies memory, and loaded from the copies."""
    model = net(16, 32, 4).to(dtype)
    opt = torch.optim.Adam(model.parameters(), 1e-3, eps=1e-4)

    def step(k):
        opt.zero_grad()
        x, y = data(k, dtype)
        entropy(model(x), y).backward()
        opt.step()
        kept = copy.deepcopy(model.state_dict()), copy.deepcopy(opt.state_dict())
        model.load_state_dict({n: 1.5 * w for n, w in kept[0].items()})
        opt.load_state_dict(kept[1])
    return model, step


@recipe
def evolution(dtype):
    """The weights move towards those of their random neighbours that have the lower losses: there are no gradients."""
    model = net(16, 32, 4).to(dtype)

    def step(k):
        x, y = data(k, dtype)
        g, old = torch.Generator().manual_seed(k), {n: p.detach().clone() for n, p in model.named_parameters()}
        total = {n: torch.zeros_like(p) for n, p in old.items()}
        with torch.no_grad():
            for _ in range(4):
                e = {n: torch.randn(p.shape, generator=g).to(p.dtype) for n, p in old.items()}
                moved = {n: p + 0.1 * e[n] for n, p in old.items()}
                reward = -entropy(torch.func.functional_call(model, moved, (x,)), y)
                for n, sum_ in total.items():
                    sum_.add_((reward * e[n]).to(sum_.dtype))
            for n, p in model.named_parameters():
                p.add_(total[n], alpha=0.01)
    return model, step


def alone():
    """A group of one process."""
    d = torch.distributed
    if not d.is_initialized():
        d.init_process_group('gloo', store=d.HashStore(), rank=0, world_size=1)


def wrapped(wrap, longest=None):
    """A training with two small batches a step; `longest` is what the gradients' norm is clipped to."""
    def of(dtype):
        alone()
        model = wrap(net(16, 32, 4).to(dtype))
        opt = torch.optim.SGD(model.parameters(), 0.1)

        def step(k):
            opt.zero_grad()
            for x, y in zip(*(t.chunk(2) for t in data(k, dtype))):
                (entropy(model(x), y) / 2).backward()
            if longest is not None:
                torch.nn.utils.clip_grad_norm_(model.parameters(), longest)
            opt.step()
        return model, step
    return of


def sharded(model):
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard
    model = fully_shard(model, mesh=init_device_mesh('cpu', (1,)))
    model.whole = lambda: [p.detach().to_local() for p in model.parameters()]
    return model


FUNCTIONS['parallel'] = wrapped(torch.nn.parallel.DistributedDataParallel)
FUNCTIONS['sharded'] = wrapped(sharded)
FUNCTIONS['sharded_and_clipped'] = wrapped(sharded, 0.05)
