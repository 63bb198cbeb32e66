# SPDX-License-Identifier: Apache-2.0
"""Small trainings as tutorials have them, each a function of a format that makes a model and a function that takes a
step. All of them run in float64 as well (t-tutorials.py)."""
import copy

import torch
from torch.utils.checkpoint import checkpoint

nn, F = torch.nn, torch.nn.functional
TRAININGS = {}


def training(f):
    TRAININGS[f.__name__] = f
    return f


def net(*sizes):
    layers = [x for n, m in zip(sizes, sizes[1:]) for x in (nn.Linear(n, m), nn.GELU())]
    return nn.Sequential(*layers[:-1])


def data(k, dtype, rows=32, columns=16):
    g = torch.Generator().manual_seed(k)
    return torch.randn(rows, columns, generator=g).to(dtype), torch.randint(0, 4, (rows,), generator=g)


def wide(x):
    return x.to(torch.promote_types(x.dtype, torch.float32))


def entropy(logits, y):
    return F.cross_entropy(wide(logits), y)


def plain(optimizer, forward=None, make=lambda: net(16, 32, 32, 4), **how):
    """A training that differs from others in its optimizer, its model or its loss."""
    def of(dtype):
        model = make().to(dtype)
        opt = optimizer(model.parameters(), **how)

        def step(k):
            opt.zero_grad()
            x, y = data(k, dtype)
            (forward(model, x, y) if forward else entropy(model(x), y)).backward()
            opt.step()
        return model, step
    return of


@training
def buckets(dtype):
    """Gradients that go over a wire in bf16, as those of several processes do."""
    model = net(16, 32, 32, 4).to(dtype)
    opt = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)
    wire = dtype if dtype == torch.float64 else torch.bfloat16

    def step(k):
        opt.zero_grad()
        x, y = data(k, dtype)
        entropy(model(x), y).backward()
        flat = torch.cat([p.grad.flatten() for p in model.parameters()]).to(wire) / 2
        flat += flat.clone()
        for p, g in zip(model.parameters(), flat.split([p.numel() for p in model.parameters()])):
            p.grad.copy_(g.view_as(p))
        opt.step()
    return model, step


@training
def accumulated(dtype):
    model = net(16, 32, 4).to(dtype)
    opt = torch.optim.AdamW(model.parameters(), 1e-3, eps=1e-4)

    def step(k):
        for j in range(4):
            x, y = data(4 * k + j, dtype, 8)
            (entropy(model(x), y) / 4).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        opt.zero_grad()
    return model, step


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.dense, self.norm = nn.Embedding(20, 16), nn.Linear(16, 16), nn.RMSNorm(16)
        self.head = nn.Linear(16, 20, bias=False)
        self.head.weight = self.table.weight

    def forward(self, i):
        return self.head(self.norm(F.gelu(self.dense(self.table(i)))))


@training
def tied(dtype):
    model = Tied().to(dtype)
    opt = torch.optim.Adam(model.parameters(), 1e-3)

    def step(k):
        opt.zero_grad()
        i = torch.randint(0, 20, (4, 9), generator=torch.Generator().manual_seed(k))
        entropy(model(i[:, :-1]).flatten(0, 1), i[:, 1:].flatten()).backward()
        nn.utils.clip_grad_value_(model.parameters(), 0.5)
        opt.step()
    return model, step


def in_parts(model, x, y):
    h = checkpoint(model[:2], x.requires_grad_(), use_reentrant=True)
    return entropy(model[4](checkpoint(model[2:4], h, use_reentrant=False)), y)


TRAININGS['checkpointed'] = plain(torch.optim.RMSprop, in_parts, lr=1e-3)


class Straight(torch.autograd.Function):
    """Rounding to a grid whose gradient goes straight through."""
    @staticmethod
    def forward(ctx, x, grid):
        ctx.save_for_backward(x)
        ctx.grid = grid
        return (x / grid).round().clamp(-8, 7) * grid

    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return g * ((x / ctx.grid).abs() <= 8).to(g.dtype), None


class Swish(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        s = torch.sigmoid(x)
        ctx.save_for_backward(x, s)
        return x * s

    @staticmethod
    def backward(ctx, g):
        x, s = ctx.saved_tensors
        return g * (s * (1 + x * (1 - s)))


def own_functions(model, x, y):
    h = Swish.apply(F.linear(x, Straight.apply(model[0].weight, 0.03125), model[0].bias))
    return entropy(model[4](Swish.apply(model[2](h))), y)


TRAININGS['own_functions'] = plain(torch.optim.NAdam, own_functions, lr=1e-3)


def reparametrised():
    p = nn.utils.parametrizations
    return nn.Sequential(p.weight_norm(nn.Linear(16, 32)), nn.ReLU(), p.spectral_norm(nn.Linear(32, 32)), nn.Tanh(),
                         nn.Linear(32, 4))


TRAININGS['reparametrised'] = plain(torch.optim.AdamW, make=reparametrised, lr=1e-3)


@training
def by_hand(dtype):
    model = net(16, 32, 4).to(dtype)
    velocity = [torch.zeros_like(p) for p in model.parameters()]

    def step(k):
        x, y = data(k, dtype)
        slopes = torch.autograd.grad(entropy(model(x), y), list(model.parameters()))
        with torch.no_grad():
            for p, g, v in zip(model.parameters(), slopes, velocity):
                v.mul_(0.9).add_(g)
                p -= 0.05 * v
    return model, step


@training
def assigned(dtype):
    """Weights that are given other memory."""
    model = net(16, 32, 4).to(dtype)

    def step(k):
        x, y = data(k, dtype)
        model.zero_grad()
        entropy(model(x), y).backward()
        for p in model.parameters():
            p.data = p.data - 0.05 * p.grad
    return model, step


@training
def masters(dtype):
    model = net(16, 32, 4).to(dtype)
    held, made = [], []

    def step(k):
        if not held:
            held.extend(wide(p.detach()).clone().requires_grad_() for p in model.parameters())
            made.append(torch.optim.AdamW(held, 1e-4))
        x, y = data(k, dtype)
        model.zero_grad()
        entropy(model(x), y).backward()
        for q, p in zip(held, model.parameters()):
            q.grad = p.grad.to(q.dtype)
        made[0].step()
        with torch.no_grad():
            for q, p in zip(held, model.parameters()):
                p.copy_(q)
    return model, step


class Int8(torch.optim.Optimizer):
    """Descent with a momentum that is stored in 8 bits, with a scale a tensor."""

    def __init__(self, parameters, lr):
        super().__init__(parameters, {'lr': lr})

    @torch.no_grad()
    def step(self):
        for p in self.param_groups[0]['params']:
            s, g = self.state[p], wide(p.grad)
            m = 0.1 * g + (0.9 * s['codes'].to(g.dtype) * s['scale'] if s else 0)
            p.add_((m * -self.param_groups[0]['lr']).to(p.dtype))
            exact = p.dtype == torch.float64
            s['scale'] = torch.ones((), dtype=g.dtype) if exact else m.abs().max() / 127
            s['codes'] = m if exact else (m / s['scale']).round().to(torch.int8)


TRAININGS['int8'] = plain(Int8, lr=0.1)


@training
def in_hooks(dtype):
    """Each weight is updated as soon as it has its gradient."""
    model = net(16, 32, 4).to(dtype)
    each = {p: torch.optim.SGD([p], 0.1) for p in model.parameters()}

    def update(p):
        each[p].step()
        each[p].zero_grad()
    for p in model.parameters():
        p.register_hook(lambda g: g * 0.5)
        p.register_post_accumulate_grad_hook(update)

    def step(k):
        x, y = data(k, dtype)
        entropy(model(x), y).backward()
    return model, step


@training
def of_samples(dtype):
    """Gradients of single samples by torch.func."""
    model = net(16, 32, 4).to(dtype)

    def loss(p, x, y):
        return entropy(torch.func.functional_call(model, p, (x[None],)), y[None])

    def step(k):
        x, y = data(k, dtype, 8)
        p = {n: p.detach() for n, p in model.named_parameters()}
        slopes = torch.func.vmap(torch.func.grad(loss), (None, 0, 0))(p, x, y)
        with torch.no_grad():
            for n, p in model.named_parameters():
                p.sub_(slopes[n].mean(0), alpha=0.05)
    return model, step


@training
def rivals(dtype):
    """Two nets with an optimizer each. An epsilon of 1e-4 is far above what fp16 keeps of a second moment."""
    model = nn.ModuleDict({'makes': net(8, 16, 16), 'judges': net(16, 16, 1)}).to(dtype)
    opt = {k: torch.optim.Adam(m.parameters(), 1e-3, eps=1e-4) for k, m in model.items()}

    def loss(x, real):
        z = wide(model['judges'](x))
        return F.binary_cross_entropy_with_logits(z, torch.full_like(z, real))

    def step(k):
        x, z = data(k, dtype)[0], data(k + 99, dtype, 32, 8)[0]
        opt['judges'].zero_grad()
        (loss(x, 1.0) + loss(model['makes'](z).detach(), 0.0)).backward()
        opt['judges'].step()
        opt['makes'].zero_grad()
        loss(model['makes'](z), 1.0).backward()
        opt['makes'].step()
    return model, step


def penalised(model, x, y):
    loss = entropy(model(x.requires_grad_()), y)
    return loss + 10 * wide(torch.autograd.grad(loss, x, create_graph=True)[0]).square().sum()


TRAININGS['penalised'] = plain(torch.optim.SGD, penalised, lambda: nn.Sequential(
    nn.Linear(16, 32), nn.Tanh(), nn.Linear(32, 4)), lr=0.05)


@training
def taught(dtype):
    """A pupil, and a teacher that is its moving average."""
    model = nn.ModuleDict({'pupil': net(16, 32, 4)})
    model['teacher'] = copy.deepcopy(model['pupil']).requires_grad_(False)
    model.to(dtype)
    opt = torch.optim.SGD(model['pupil'].parameters(), 0.1, momentum=0.9)

    def step(k):
        x = data(k, dtype)[0]
        opt.zero_grad()
        a = F.normalize(model['pupil'](x), dim=1)
        with torch.no_grad():
            b = F.normalize(model['teacher'](x + 0.1), dim=1)
        entropy(a @ b.T / 0.2, torch.arange(32)).backward()
        opt.step()
        with torch.no_grad():
            for p, q in zip(model['teacher'].parameters(), model['pupil'].parameters()):
                p.lerp_(q, 0.01)
    return model, step


@training
def fused(dtype):
    model = net(16, 32, 32, 4).to(dtype)
    opt = torch.optim.AdamW(model.parameters(), 1e-4, fused=dtype != torch.float64)

    def step(k):
        opt.zero_grad()
        x, y = data(k, dtype)
        entropy(model(x), y).backward()
        opt.step()
    return model, step


@training
def experts(dtype):
    model = nn.ModuleDict({'router': nn.Linear(16, 4), 'experts': nn.ModuleList(net(16, 8, 4) for _ in range(4))})
    model.to(dtype)
    opt = torch.optim.AdamW(model.parameters(), 1e-3, eps=1e-4)

    def step(k):
        opt.zero_grad()
        x, y = data(k, dtype)
        share, chosen = model['router'](x).softmax(-1).topk(2)
        out = torch.zeros(32, 4, dtype=x.dtype)
        for j, expert in enumerate(model['experts']):
            row, slot = (chosen == j).nonzero(as_tuple=True)
            if len(row):
                out = out.index_add(0, row, (expert(x[row]) * share[row, slot, None]).to(out.dtype))
        entropy(out, y).backward()
        opt.step()
    return model, step
