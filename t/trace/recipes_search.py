# SPDX-License-Identifier: Apache-2.0
"""Trainings whose program goes on by what it read of tensors: line searches, trust regions, loops until convergence,
updates by Python's own numbers."""
import numpy
import torch

from tutorials import data, entropy, net, nn, wide

F = nn.functional
SEARCHES = {}


def search(f):
    return SEARCHES.setdefault(f.__name__, f)


def calm(dtype):
    """A net whose losses have float32, or float64."""
    torch.manual_seed(2)
    return net(16, 16, 4).to(dtype)


def lbfgs(scale=1.0, **how):
    def of(dtype):
        model = calm(dtype)
        opt = torch.optim.LBFGS(model.parameters(), 1.0, max_iter=4, **how)

        def step(k):
            x, y = data(k, dtype)

            def closure():
                opt.zero_grad()
                loss = entropy(scale * model(x), y)
                loss.backward()
                return loss
            opt.step(closure)
        return model, step
    return of


SEARCHES['wolfe'] = lbfgs(line_search_fn='strong_wolfe')
SEARCHES['wolfe_steep'] = lbfgs(4.0, line_search_fn='strong_wolfe')
SEARCHES['without_search'] = lbfgs()


@search
def backtracking(dtype):
    """Armijo's rule by hand: the step is halved until the loss falls enough."""
    model = calm(dtype)

    def step(k):
        x, y = data(k, dtype)
        model.zero_grad()
        loss = entropy(model(x), y)
        loss.backward()
        first, slope = loss.item(), sum(float(p.grad.float().square().sum()) for p in model.parameters())
        with torch.no_grad():
            start, t = [p.clone() for p in model.parameters()], 64.0
            while t > 1e-3:
                for p, w in zip(model.parameters(), start):
                    p.copy_(w - t * p.grad)
                if entropy(model(x), y).item() <= first - 1e-4 * t * slope:
                    break
                t /= 2
    return model, step


@search
def backtracking_aside(dtype):
    """The same at weights beside the model's own, by functional_call."""
    model = calm(dtype)

    def step(k):
        x, y = data(k, dtype)
        names = dict(model.named_parameters())
        loss = entropy(model(x), y)
        slopes = torch.autograd.grad(loss, list(names.values()))
        with torch.no_grad():
            t, square = 64.0, sum(float(g.float().square().sum()) for g in slopes)
            while t > 1e-3:
                tried = {n: p - t * g for (n, p), g in zip(names.items(), slopes)}
                if float(entropy(torch.func.functional_call(model, tried, (x,)), y)) <= loss.item() - 1e-4 * t * square:
                    break
                t /= 2
            for n, p in names.items():
                p.copy_(tried[n])
    return model, step


@search
def trust_region(dtype):
    """The radius grows where the loss falls as the model of first order has it."""
    model, held = calm(dtype), {'radius': 1.0}

    def step(k):
        x, y = data(k, dtype)
        for _ in range(4):
            model.zero_grad()
            loss = entropy(model(x), y)
            loss.backward()
            with torch.no_grad():
                norm = torch.stack([p.grad.float().norm() for p in model.parameters()]).norm().item()
                start = [p.clone() for p in model.parameters()]
                for p in model.parameters():
                    p.sub_(held['radius'] / norm * p.grad)
                ratio = (loss - entropy(model(x), y)).item() / (held['radius'] * norm)
                if ratio < 0.25:
                    held['radius'] /= 4
                elif ratio > 0.75:
                    held['radius'] *= 2
                if ratio < 0.1:
                    for p, w in zip(model.parameters(), start):
                        p.copy_(w)
    return model, step


@search
def until_low(dtype):
    """Steps of descent until the loss is below a number."""
    model = calm(dtype)

    def step(k):
        x, y = data(k, dtype)
        for _ in range(30):
            model.zero_grad()
            loss = entropy(model(x), y)
            if loss.item() < 1.25 - 0.1 * k:
                break
            loss.backward()
            with torch.no_grad():
                for p in model.parameters():
                    p.sub_(0.1 * p.grad)
    return model, step


@search
def keeping_best(dtype):
    """Of three lengths of a step that with the least loss."""
    model = calm(dtype)

    def step(k):
        x, y = data(k, dtype)
        model.zero_grad()
        entropy(model(x), y).backward()
        with torch.no_grad():
            start, best = [p.clone() for p in model.parameters()], None
            for t in (1.0, 1.5, 2.0, 3.0):
                for p, w in zip(model.parameters(), start):
                    p.copy_(w - t * p.grad)
                loss = entropy(model(x), y)
                if best is None or loss < best:
                    best, kept = loss, [p.clone() for p in model.parameters()]
            for p, w in zip(model.parameters(), kept):
                p.copy_(w)
    return model, step


@search
def resilient(dtype):
    """Rprop by Python's own numbers: an element's step is as long as it was, or shorter where its sign changed."""
    model, before = net(16, 4).to(dtype), {}

    def step(k):
        x, y = data(k, dtype)
        model.zero_grad()
        entropy(model(x), y).backward()
        with torch.no_grad():
            for p in model.parameters():
                for j, g in enumerate(p.grad.flatten()):
                    size, old = before.get((p, j), (0.01, 0.0))
                    size *= 1.2 if g.item() * old > 0 else 0.5 if g.item() * old < 0 else 1
                    before[p, j] = size, g.item()
                    p.view(-1)[j] -= size * ((g > 0).item() - (g < 0).item())
    return model, step


@search
def by_arrays(dtype):
    """Descent by the signs of gradients that a library of arrays computes."""
    model = calm(dtype)

    def step(k):
        x, y = data(k, dtype)
        model.zero_grad()
        entropy(model(x), y).backward()
        with torch.no_grad():
            for p in model.parameters():
                sign = torch.tensor([(g > 0) - (g < 0) for g in p.grad.flatten().tolist()])
                p.copy_(p - 0.01 * sign.to(p.dtype).view_as(p))
    return model, step


@search
def by_arrays_of_floats(dtype):
    model = calm(dtype)

    def step(k):
        x, y = data(k, dtype)
        model.zero_grad()
        entropy(model(x), y).backward()
        with torch.no_grad():
            for p in model.parameters():
                new = p.double().numpy() - 0.01 * numpy.sign(p.grad.double().numpy())
                p.copy_(torch.from_numpy(new))
    return model, step


@search
def polyak(dtype):
    """Polyak's step: as long as the loss is above 1, by the gradient's square."""
    model = calm(dtype)

    def step(k):
        x, y = data(k, dtype)
        model.zero_grad()
        loss = entropy(model(x), y)
        loss.backward()
        with torch.no_grad():
            square = sum((p.grad * p.grad).sum() for p in model.parameters()).item()
            for p in model.parameters():
                p.sub_((loss.item() - 1.3) / square * p.grad)
    return model, step


@search
def fixed_point(dtype):
    """An implicit layer: its state is computed until it stands still."""
    torch.manual_seed(2)
    model = nn.ModuleDict({'own': nn.Linear(16, 16, bias=False), 'into': nn.Linear(16, 16), 'head': nn.Linear(16, 4)})
    nn.init.orthogonal_(model['own'].weight, 0.7)
    model = model.to(dtype)
    opt = torch.optim.SGD(model.parameters(), 0.1)

    def step(k):
        opt.zero_grad()
        x, y = data(k, dtype)
        u = model['into'](x)
        z = torch.zeros_like(u)
        for _ in range(60):
            new = torch.tanh(model['own'](z) + u)
            far = (new - z).norm() / new.norm()
            z = new
            if far < 1e-2:
                break
        entropy(model['head'](z), y).backward()
        opt.step()
    return model, step


@search
def until_all_stand(dtype):
    """The same by allclose, and by whether every element stands."""
    torch.manual_seed(2)
    model = nn.ModuleDict({'own': nn.Linear(16, 16, bias=False), 'into': nn.Linear(16, 16), 'head': nn.Linear(16, 4)})
    nn.init.orthogonal_(model['own'].weight, 0.7)
    model = model.to(dtype)
    opt = torch.optim.SGD(model.parameters(), 0.1)

    def step(k):
        opt.zero_grad()
        x, y = data(k, dtype)
        u = model['into'](x)
        z = torch.zeros_like(u)
        for _ in range(60):
            new = torch.tanh(model['own'](z) + u)
            done = torch.allclose(new, z, 0.0, 2e-2) if k else ((new - z).abs() < 2e-2).all()
            z = new
            if done:
                break
        entropy(model['head'](z), y).backward()
        opt.step()
    return model, step


class Bare(nn.Module):
    """Weights whose products no module computes."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(2)
        self.a, self.b = nn.Parameter(torch.randn(16, 16) / 4), nn.Parameter(torch.randn(4, 16) / 4)

    def of(self, x):
        return F.gelu(x @ self.a.t()) @ self.b.t()


@search
def without_modules(dtype):
    """Of three lengths of a step that with the least loss, which no module computes."""
    model = Bare().to(dtype)

    def step(k):
        x, y = data(k, dtype)
        model.zero_grad()
        entropy(model.of(x), y).backward()
        with torch.no_grad():
            start, best = [p.clone() for p in model.parameters()], None
            for t in (1.0, 1.5, 2.0, 3.0):
                for p, w in zip(model.parameters(), start):
                    p.copy_(w - t * p.grad)
                loss = entropy(model.of(x), y).item()
                if best is None or loss < best:
                    best, kept = loss, [p.clone() for p in model.parameters()]
            for p, w in zip(model.parameters(), kept):
                p.copy_(w)
    return model, step


@search
def by_slopes(dtype):
    """Longer steps, as long as the gradient at their end becomes shorter."""
    model = calm(dtype)

    def norm():
        return torch.stack([wide(p.grad).norm() for p in model.parameters()]).norm().item()

    def step(k):
        x, y = data(k, dtype)
        model.zero_grad()
        entropy(model(x), y).backward()
        g, start = [p.grad.clone() for p in model.parameters()], [p.detach().clone() for p in model.parameters()]
        least, t = norm(), 0.5
        for _ in range(12):
            with torch.no_grad():
                for p, w, d in zip(model.parameters(), start, g):
                    p.copy_(w - t * d)
            model.zero_grad()
            entropy(model(x), y).backward()
            before, least = least, norm()
            if least >= before:
                break
            t *= 1.25
    return model, step


def of_three(put, tried):
    """Of three lengths of a step that with the least loss, whose weights `put` puts into the model."""
    def of(dtype):
        model = calm(dtype)

        def step(k):
            x, y = data(k, dtype)
            model.zero_grad()
            entropy(model(x), y).backward()
            start, best = [(p.data, p.grad) for p in model.parameters()], None
            with torch.no_grad():
                for t in tried:
                    new = [w - t * g for w, g in start]
                    put(model, new)
                    loss = entropy(model(x), y).item()
                    if best is None or loss < best:
                        best, kept = loss, new
                put(model, kept)
        return model, step
    return of


def by_data(model, new):
    for p, w in zip(model.parameters(), new):
        p.data = w


def by_parameters(model, new):
    for m, (w, b) in zip([m for m in model if isinstance(m, nn.Linear)], zip(new[::2], new[1::2])):
        m.weight, m.bias = nn.Parameter(w), nn.Parameter(b)


SEARCHES['best_by_data'] = of_three(by_data, (1.0, 1.5, 2.0, 3.0))
SEARCHES['best_of_new'] = of_three(by_parameters, (1.0, 1.5, 2.0, 3.0))


@search
def steps_by_data(dtype):
    """Three steps of descent, each of which gives the parameters other memory."""
    model = calm(dtype)

    def step(k):
        for j in range(3):
            x, y = data(3 * k + j, dtype)
            model.zero_grad()
            entropy(model(x), y).backward()
            by_data(model, [p.data - 0.5 * p.grad for p in model.parameters()])
    return model, step
