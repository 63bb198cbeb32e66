# SPDX-License-Identifier: Apache-2.0
"""Recipes of updates that are written by hand, as papers on optimizers have them: moments of differences, averages that
take the place of schedules, factored moments, compressed gradients whose error is kept, and preconditioners."""
import torch

from tutorials import data, entropy, net, plain

UPDATES = {}


def update(f):
    """A training whose parameter p with the gradient g and its own states s is changed by f."""
    def of(dtype):
        model, states = net(16, 32, 4).to(dtype), {}

        def step(k):
            model.zero_grad()
            x, y = data(k, dtype)
            entropy(model(x), y).backward()
            with torch.no_grad():
                for p in model.parameters():
                    f(p, p.grad, states.setdefault(p, {}), k + 1)
        return model, step
    UPDATES[f.__name__] = of
    return f


UPDATES['centred'] = plain(torch.optim.RMSprop, make=lambda: net(16, 32, 4), lr=1e-2, centered=True, momentum=0.9,
                           eps=1e-2, foreach=True)
UPDATES['decayed_gradients'] = plain(torch.optim.Adam, make=lambda: net(16, 32, 4), lr=1e-3, eps=1e-4, fused=True,
                                     weight_decay=0.1)
UPDATES['largest_moments'] = plain(torch.optim.AdamW, make=lambda: net(16, 32, 4), lr=1e-2, eps=1e-3, fused=True,
                                   amsgrad=True)


def kept(s, name, p):
    return s.setdefault(name, torch.zeros_like(p))


def wide(g):
    return g.to(torch.promote_types(g.dtype, torch.float32))


@update
def adan(p, g, s, _):
    m, v, n, last = (kept(s, name, p) for name in 'mvng')
    d = g - last
    m.lerp_(g, 0.1)
    v.lerp_(d, 0.1)
    n.lerp_((g + 0.9 * d).square(), 0.1)
    p.sub_(1e-2 * (m + 0.9 * v) / (n.sqrt() + 1e-3))
    last.copy_(g)


@update
def mars(p, g, s, t):
    m, v, last = (kept(s, name, p) for name in 'mvg')
    c = g + 0.475 * (g - last)
    n = c.norm()
    c = torch.where(n > 1, c / n, c)
    m.mul_(0.95).add_(c, alpha=0.05)
    v.mul_(0.99).addcmul_(c, c, value=0.01)
    p.sub_(1e-2 * (m / (1 - 0.95 ** t)) / ((v / (1 - 0.99 ** t)).sqrt() + 1e-3) + 1e-4 * p)
    last.copy_(g)


@update
def without_schedule(p, g, s, t):
    z, x = s.setdefault('z', p.clone()), s.setdefault('x', p.clone())
    z.sub_(g, alpha=0.1)
    x.lerp_(z, 1 / t)
    p.copy_(0.1 * z + 0.9 * x)


@update
def factored(p, g, s, _):
    """CAME's second moment: one number a row and one a column."""
    square = g.square() + 1e-6
    if p.dim() == 2:
        r, c = kept(s, 'r', square.mean(1)), kept(s, 'c', square.mean(0))
        r.lerp_(square.mean(1), 0.1)
        c.lerp_(square.mean(0), 0.1)
        u = g * (r / r.mean()).rsqrt().unsqueeze(-1) * c.rsqrt().unsqueeze(0)
    else:
        u = g * kept(s, 'v', p).lerp_(square, 0.1).rsqrt()
    u.div_(u.square().mean().sqrt().clamp(min=1))
    p.add_(kept(s, 'm', p).lerp_(u, 0.1), alpha=-0.05)


@update
def signs_with_feedback(p, g, s, _):
    e = kept(s, 'e', p)
    q = g + e
    c = q.abs().mean() * q.sign()
    e.copy_(q - c)
    p.sub_(c, alpha=0.1)


@update
def low_rank(p, g, s, _):
    """PowerSGD: a gradient of rank 1, by a step of power iteration."""
    if p.dim() < 2:
        p.sub_(g, alpha=0.1)
        return
    q = s.setdefault('q', torch.ones(g.shape[1], 1, dtype=g.dtype))
    a = g @ q
    a = a / (a.norm() + 1e-3)
    q.copy_(g.T @ a)
    p.sub_(a @ q.T, alpha=0.1)


@update
def whitened(p, g, s, _):
    """Shampoo's left factor, whose root Newton's iteration finds."""
    if p.dim() < 2:
        p.sub_(g, alpha=0.1)
        return
    g = wide(g)
    one = torch.eye(len(g), dtype=g.dtype)
    factor = s.setdefault('L', 0.01 * one)
    factor.add_(g @ g.T)
    n = factor.norm()
    y, z = factor / n, one
    for _ in range(6):
        t = 0.5 * (3 * one - z @ y)
        y, z = y @ t, t @ z
    p.sub_((0.01 * (z @ g) / n.sqrt()).to(p.dtype))


@update
def triangular(p, g, _, __):
    if p.dim() < 2:
        p.sub_(g, alpha=0.1)
        return
    g = wide(g)
    factor = torch.linalg.cholesky(g @ g.T + 0.1 * torch.eye(len(g), dtype=g.dtype))
    p.sub_((0.02 * torch.linalg.solve_triangular(factor, g, upper=False)).to(p.dtype))


@update
def averaged_duals(p, g, s, t):
    """MADGRAD: sums of gradients and of their squares, from the first weights on."""
    first, a, b = s.setdefault('x', p.clone()), kept(s, 's', p), kept(s, 'v', p)
    a.add_(g, alpha=0.05 * t ** 0.5)
    b.addcmul_(g, g, value=0.05 * t ** 0.5)
    p.mul_(0.9).add_(first.addcdiv(a, b.pow(1 / 3) + 1e-2, value=-1), alpha=0.1)


def layerwise(p, g):
    """A step against g that is as long as a share of the weights' norm."""
    p.sub_(0.01 * (p.norm() / (g.norm() + 1e-6)).clamp(max=10) * g)


@update
def lars(p, g, s, _):
    layerwise(p, g + 1e-3 * p)


@update
def lamb(p, g, s, t):
    m, v = (kept(s, name, p) for name in 'mv')
    g = g + 1e-3 * p
    m.mul_(0.9).add_(g, alpha=0.1)
    v.mul_(0.99).addcmul_(g, g, value=0.01)
    layerwise(p, m / (1 - 0.9 ** t) / ((v / (1 - 0.99 ** t)).sqrt() + 1e-3))
