# SPDX-License-Identifier: Apache-2.0
"""Recipes of trainings, as tutorials.py has them: adapters beside frozen weights, updates written by hand, losses with
masks, gradients by other means than backward()."""
import torch

from tutorials import data, entropy, net, nn, plain, wide

F = nn.functional
RECIPES = {}


def recipe(f):
    return RECIPES.setdefault(f.__name__, f)


class Adapted(nn.Module):
    """A frozen layer with an adapter of rank 4, whose second factor begins at zero."""

    def __init__(self, n, m, dtype):
        super().__init__()
        low = dtype if dtype == torch.float64 else torch.bfloat16
        self.base = nn.Linear(n, m).to(low).requires_grad_(False)
        self.down, self.up = nn.Linear(n, 4, bias=False).to(dtype), nn.Linear(4, m, bias=False).to(dtype)
        nn.init.zeros_(self.up.weight)

    def forward(self, x):
        return self.base(x.to(self.base.weight.dtype)).to(x.dtype) + 2 * self.up(self.down(x)).to(x.dtype)


@recipe
def adapters(dtype):
    model = nn.Sequential(Adapted(16, 32, dtype), nn.SiLU(), Adapted(32, 4, dtype))
    opt = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], 1e-3)

    def step(k):
        opt.zero_grad()
        x, y = data(k, dtype)
        entropy(model(x), y).backward()
        opt.step()
    return model, step


@recipe
def poisoned(dtype):
    """A loss scale (which PyTorch has not for gradients in fp16), and an infinite small batch: its step is skipped."""
    model = net(16, 32, 4).to(dtype)
    opt = torch.optim.SGD(model.parameters(), 0.1)
    scaler = torch.amp.GradScaler('cpu', init_scale=256.0, enabled=dtype in (torch.float32, torch.bfloat16))

    def step(k):
        for j in range(2):
            x, y = data(2 * k + j, dtype, 8)
            x[0, 0] = torch.inf if k == 0 and j else x[0, 0]
            scaler.scale(entropy(model(x), y) / 2).backward()
        if scaler.is_enabled() or k:
            scaler.step(opt)
            scaler.update()
        opt.zero_grad()
    return model, step


@recipe
def averaged(dtype):
    """A moving average of the weights in 16 bits, which PyTorch's own class keeps."""
    held = nn.ModuleDict({'net': net(16, 32, 4).to(dtype)})
    swa = torch.optim.swa_utils
    held['mean'] = swa.AveragedModel(held['net'], avg_fn=swa.get_ema_avg_fn(0.9)).requires_grad_(False)
    held['mean'].to(torch.bfloat16 if dtype == torch.float32 else dtype)
    held['mean'].n_averaged.fill_(1)
    opt = torch.optim.SGD(held['net'].parameters(), 0.1)

    def step(k):
        opt.zero_grad()
        x, y = data(k, dtype)
        entropy(held['net'](x), y).backward()
        opt.step()
        held['mean'].update_parameters(held['net'])
    return held, step


@recipe
def looking_ahead(dtype):
    """Slow weights that go half the way to the fast ones behind each step."""
    model = net(16, 32, 4).to(dtype)
    opt, slow = torch.optim.SGD(model.parameters(), 0.1), []

    def step(k):
        slow.extend([] if slow else [p.detach().clone() for p in model.parameters()])
        opt.zero_grad()
        x, y = data(k, dtype)
        entropy(model(x), y).backward()
        opt.step()
        with torch.no_grad():
            for p, q in zip(model.parameters(), slow):
                q.add_(p - q, alpha=0.5)
                p.copy_(q)
    return model, step


class Branch(nn.Module):
    """A residual branch whose last factor begins at zero, or near it."""

    def __init__(self, n, first):
        super().__init__()
        self.norm, self.inner = nn.LayerNorm(n, elementwise_affine=False), net(n, 2 * n, n)
        self.gain = nn.Parameter(torch.full((n,), first))

    def forward(self, x):
        return x + self.gain * self.inner(self.norm(x))


for name, first in (('zero_gain', 0.0), ('small_gain', 1e-6)):
    RECIPES[name] = plain(torch.optim.SGD, make=lambda first=first: nn.Sequential(
        nn.Linear(16, 32), Branch(32, first), Branch(32, first), nn.Linear(32, 4)), lr=0.1)


@recipe
def forward_gradient(dtype):
    """The slope along a random direction, by forward differentiation: nothing runs backward."""
    model = net(16, 32, 4).to(dtype)

    def step(k):
        x, y = data(k, dtype)
        g = torch.Generator().manual_seed(k)
        p = {n: w.detach() for n, w in model.named_parameters()}
        v = {n: torch.randn(w.shape, generator=g).to(dtype) for n, w in p.items()}
        _, slope = torch.func.jvp(lambda q: entropy(torch.func.functional_call(model, q, (x,)), y), (p,), (v,))
        with torch.no_grad():
            for n, w in model.named_parameters():
                w.sub_(0.01 * slope.to(dtype) * v[n])
    return model, step


@recipe
def mixed_lists(dtype):
    """Lists of tensors of several formats in one call, which PyTorch parts by their format."""
    model = net(16, 32, 32, 4).to(dtype)
    if dtype != torch.float64:
        model[2].to(torch.float32 if dtype != torch.float32 else torch.bfloat16)
    opt = torch.optim.AdamW(model.parameters(), 1e-3, eps=1e-4, foreach=True)

    def step(k):
        opt.zero_grad()
        x, y = data(k, dtype)
        for m in model:
            x = m(x.to(m.weight.dtype) if isinstance(m, nn.Linear) else x)
        entropy(x, y).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.5, foreach=True)
        opt.step()
    return model, step


def there_and_back(model, x, y):
    h = torch.tanh(F.linear(x, model[0].weight, model[0].bias))
    again = F.linear(h, model[0].weight.t())
    return entropy(model[1](torch.tanh(F.linear(again + x, model[0].weight))), y) + wide(again - x).square().mean()


RECIPES['used_twice'] = plain(torch.optim.SGD, there_and_back, lambda: nn.Sequential(nn.Linear(16, 32),
                              nn.Linear(32, 4)), lr=0.1)


def smoothed(model, x, y):
    y = torch.where(torch.arange(len(y)) % 3 == 0, -100, y)
    return F.cross_entropy(wide(model(x)), y, torch.tensor([1, 2, 0.5, 1], dtype=wide(x).dtype), label_smoothing=0.1)


RECIPES['smoothed'] = plain(torch.optim.AdamW, smoothed, lr=1e-3, eps=1e-4)


@recipe
def distilled(dtype):
    """A teacher that is not trained, whose softened outputs are the labels."""
    model = nn.ModuleDict({'pupil': net(16, 16, 4), 'teacher': net(16, 32, 4).requires_grad_(False)}).to(dtype)
    opt = torch.optim.SGD(model['pupil'].parameters(), 0.2)

    def step(k):
        opt.zero_grad()
        x, y = data(k, dtype)
        with torch.no_grad():
            soft = F.log_softmax(wide(model['teacher'](x)) / 2, -1)
        out = wide(model['pupil'](x))
        loss = F.kl_div(F.log_softmax(out / 2, -1), soft, reduction='batchmean', log_target=True) * 4
        (loss + 0.1 * F.cross_entropy(out, y)).backward()
        opt.step()
    return model, step


@recipe
def by_closure(dtype):
    model = net(16, 32, 4).to(dtype)
    opt = torch.optim.Adagrad(model.parameters(), 0.01)

    def step(k):
        def closure():
            opt.zero_grad()
            x, y = data(k, dtype)
            loss = entropy(model(x), y)
            loss.backward()
            return loss
        opt.step(closure)
    return model, step


class Spectral(nn.Module):
    """A layer with complex weights, which multiplies pairs of its inputs."""

    def __init__(self, dtype):
        super().__init__()
        pair = torch.complex128 if dtype == torch.float64 else torch.complex64
        self.weight = nn.Parameter(torch.randn(8, 16, dtype=torch.complex64).to(pair) / 4)
        self.head = nn.Linear(16, 4).to(dtype)

    def forward(self, x):
        z = torch.view_as_complex(x.to(self.weight.real.dtype).reshape(len(x), 8, 2).contiguous())
        h = (z[:, :, None] * self.weight).sum(1)
        return self.head(torch.view_as_real(h).square().sum(-1).sqrt().to(self.head.weight.dtype))


def spectral(optimizer, **how):
    def of(dtype):
        model = Spectral(dtype)
        opt = optimizer(model.parameters(), **how)

        def step(k):
            opt.zero_grad()
            x, y = data(k, dtype)
            entropy(model(x), y).backward()
            opt.step()
        return model, step
    return of


RECIPES['complex_weights'] = spectral(torch.optim.SGD, lr=0.05)
RECIPES['complex_moments'] = spectral(torch.optim.AdamW, lr=1e-3, eps=1e-4)
RECIPES['complex_momentum'] = spectral(torch.optim.SGD, lr=0.05, momentum=0.9, weight_decay=0.01, foreach=False)


def uncached(model, x, y):
    with torch.autocast('cpu', torch.bfloat16, enabled=torch.is_autocast_enabled('cpu'), cache_enabled=False):
        return entropy(model(x), y) + entropy(model(-x), y)


RECIPES['uncached'] = plain(torch.optim.RAdam, uncached, lr=1e-3)


class Wrong(torch.autograd.Function):
    """A function whose author forgot a factor of its gradient."""
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors[0]


RECIPES['wrong_gradient'] = plain(torch.optim.SGD, lambda m, x, y: entropy(m[2](Wrong.apply(m[0](x))), y),
                                  lambda: net(16, 32, 4), lr=0.1)


@recipe
def orthogonal(dtype):
    """Muon by hand: the momentum of a matrix is made orthogonal in bf16."""
    model = net(16, 32, 32, 4).to(dtype)
    low, held = dtype if dtype == torch.float64 else torch.bfloat16, {}

    def turned(g):
        x = g.to(low) / (g.norm() + 1e-7).to(low)
        for _ in range(5):
            a = x @ x.mT
            x = 3.4445 * x + (-4.775 * a + 2.0315 * a @ a) @ x
        return x

    def step(k):
        model.zero_grad()
        x, y = data(k, dtype)
        entropy(model(x), y).backward()
        with torch.no_grad():
            for p in model.parameters():
                m = held.setdefault(p, torch.zeros_like(p)).lerp_(p.grad, 0.1)
                p.sub_(0.02 * (turned(m).to(p.dtype) if p.dim() == 2 else m))
    return model, step


@recipe
def sharpness_aware(dtype):
    """The gradient at weights that are moved uphill, which are put back before the update."""
    model = net(16, 32, 4).to(dtype)
    opt = torch.optim.SGD(model.parameters(), 0.1)

    def step(k):
        x, y = data(k, dtype)
        opt.zero_grad()
        with torch.autocast('cpu', torch.bfloat16, enabled=torch.is_autocast_enabled('cpu'), cache_enabled=False):
            entropy(model(x), y).backward()
        with torch.no_grad():
            norm = torch.stack([p.grad.norm() for p in model.parameters()]).norm()
            moved = [0.05 * p.grad / norm for p in model.parameters()]
            for p, e in zip(model.parameters(), moved):
                p.add_(e)
        opt.zero_grad()
        with torch.autocast('cpu', torch.bfloat16, enabled=torch.is_autocast_enabled('cpu'), cache_enabled=False):
            entropy(model(x), y).backward()
        with torch.no_grad():
            for p, e in zip(model.parameters(), moved):
                p.sub_(e)
        opt.step()
    return model, step


def preferred(model, x, y):
    """DPO: the margin of two answers' logarithms of probabilities, beside those of a model that is kept."""
    p = F.log_softmax(wide(model(x)), -1)
    better, worse = (p.gather(1, (y[:, None] + k) % 4) for k in (0, 1))
    return -F.logsigmoid(0.5 * (better - worse - (better - worse).detach() * 0.9)).mean()


RECIPES['preferred'] = plain(torch.optim.SGD, preferred, lr=0.2)


@recipe
def scaled_by_hand(dtype):
    """A fixed loss scale, which the gradients are divided by in place."""
    model = net(16, 32, 4).to(dtype)
    opt = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9, nesterov=True, weight_decay=0.01)

    def step(k):
        x, y = data(k, dtype)
        (entropy(model(x), y) * 512).backward()
        for p in model.parameters():
            p.grad.div_(512)
            p.grad.sub_(p.grad.mean(0, keepdim=True))
        opt.step()
        opt.zero_grad(set_to_none=False)
    return model, step


@recipe
def compensated(dtype):
    """Descent in the weights' own format with Kahan's compensation, kept as one more tensor."""
    model, rest = net(16, 32, 4).to(dtype), {}
    model.whole = lambda: [p.detach().double() + (rest[p].double() if p in rest else 0) for p in model.parameters()]

    def step(k):
        model.zero_grad()
        x, y = data(k, dtype)
        entropy(model(x), y).backward()
        with torch.no_grad():
            for p in model.parameters():
                c = rest.setdefault(p, torch.zeros_like(p))
                c.sub_(p.grad, alpha=1e-3)
                new = p + c
                c.sub_(new - p)
                p.copy_(new)
    return model, step


@recipe
def through_time(dtype):
    """A recurrence whose state goes from part to part without its graph."""
    model = nn.ModuleDict({'cell': nn.GRUCell(4, 16), 'head': nn.Linear(16, 4)}).to(dtype)
    opt = torch.optim.SGD(model.parameters(), 0.2)

    def step(k):
        x, y = data(k, dtype)
        h = torch.zeros(32, 16, dtype=dtype)
        for part in x.reshape(32, 2, 2, 4).unbind(1):
            opt.zero_grad()
            h = h.detach()
            for at in part.unbind(1):
                h = model['cell'](at, h).to(dtype)
            entropy(model['head'](h), y).backward()
            opt.step()
    return model, step


@recipe
def one_memory(dtype):
    """Parameters that are views of one tensor, which the update writes to as a whole."""
    model, whole = net(16, 32, 4).to(dtype), []

    def step(k):
        if not whole:
            whole.append(torch.cat([p.detach().flatten() for p in model.parameters()]))
            at = 0
            for p in model.parameters():
                p.data = whole[0][at:at + p.numel()].view_as(p)
                at += p.numel()
        model.zero_grad()
        x, y = data(k, dtype)
        entropy(model(x), y).backward()
        whole[0].sub_(torch.cat([p.grad.flatten() for p in model.parameters()]), alpha=1e-3)
    return model, step
