# SPDX-License-Identifier: Apache-2.0
"""Recipes of losses and models, as recipes.py has those of updates: each is a training that differs from others in what
its forward pass computes."""
import torch

from tutorials import entropy, net, nn, plain, wide

F = nn.functional
LOSSES = {}


def loss(optimizer=torch.optim.SGD, make=lambda: net(16, 32, 4), **how):
    def register(f):
        LOSSES[f.__name__] = plain(optimizer, f, make, **(how or {'lr': 0.1}))
        return f
    return register


@loss()
def focal(model, x, y):
    p = F.log_softmax(wide(model(x)), -1).gather(1, y[:, None])
    return (-(1 - p.exp()) ** 2 * p).mean()


@loss(make=lambda: net(16, 32, 12))
def mixture(model, x, y):
    """The negative logarithm of a mixture of four normal densities."""
    share, mean, width = wide(model(x)).chunk(3, -1)
    far = (wide(x).sum(-1, keepdim=True) - mean) / F.softplus(width).clamp(min=0.05)
    height = F.log_softmax(share, -1) - F.softplus(width).clamp(min=0.05).log()
    return -torch.logsumexp(height - far * far / 2, -1).mean()


@loss(make=lambda: nn.ModuleList([net(16, 16, 8), net(4, 16, 16)]))
def variational(model, x, y):
    """An autoencoder whose noise is given."""
    mean, spread = model[0](x).chunk(2, -1)
    noise = torch.linspace(-1, 1, mean.numel()).reshape(mean.shape).to(x.dtype)
    again = model[1](mean + noise * torch.exp(spread / 2))
    apart = -0.5 * (1 + wide(spread) - wide(mean) ** 2 - wide(spread).exp()).sum(-1)
    return F.mse_loss(wide(again), wide(x)) + 0.1 * apart.mean()


@loss(make=lambda: net(32, 32, 16))
def denoising(model, x, y):
    """The noise of a sample at a time that sines and cosines tell."""
    t = torch.linspace(0.02, 1, len(x), dtype=wide(x).dtype)[:, None]
    angle = t * 1000 * torch.exp(-torch.arange(8, dtype=t.dtype) * 0.9)
    noise = torch.sin(torch.arange(x.numel(), dtype=t.dtype)).reshape(x.shape).to(x.dtype)
    seen = torch.cos(t).to(x.dtype) * x + torch.sin(t).to(x.dtype) * noise
    out = model(torch.cat([seen, torch.sin(angle).to(x.dtype), torch.cos(angle).to(x.dtype)], -1))
    return F.smooth_l1_loss(wide(out), wide(noise))


@loss(make=lambda: nn.ModuleList([net(16, 16, 4), net(16, 16, 1)]))
def clipped_ratio(model, x, y):
    """A policy's gain, clipped, and a value."""
    p = F.log_softmax(wide(model[0](x)), -1)
    ratio = (p.gather(1, y[:, None]) - p.detach().gather(1, y[:, None]) + 0.1 * torch.sin(wide(x[:, :1]))).exp()
    value = wide(model[1](x))
    gain = (wide(x[:, 1:2]) - value).detach()
    gain = (gain - gain.mean()) / (gain.std() + 1e-3)
    chosen = torch.min(ratio * gain, ratio.clamp(0.8, 1.2) * gain).mean()
    return -chosen + 0.5 * (value - wide(x[:, 1:2])).square().mean() + 0.01 * (p * p.exp()).sum(-1).mean()


@loss(make=lambda: net(16, 32, 8))
def triplet(model, x, y):
    h = wide(model(x))
    return F.triplet_margin_loss(h, h.roll(1, 0), h.roll(3, 0)) + F.cosine_embedding_loss(h, h.flip(0), 2 * (y > 1) - 1)


@loss(make=lambda: net(16, 32, 8))
def decorrelated(model, x, y):
    """Barlow twins: the correlations of two views are the identity."""
    a, b = (wide(model(v)) for v in (x, x + 0.1 * x.roll(1, 1)))
    a, b = ((v - v.mean(0)) / (v.std(0) + 1e-2) for v in (a, b))
    c = a.T @ b / len(a)
    return (c.diagonal() - 1).square().sum() + 0.02 * (c - torch.diag_embed(c.diagonal())).square().sum()


@loss()
def unrolled(model, x, y):
    """An inner step of descent that the outer gradient goes through."""
    w = dict(model.named_parameters())
    inner = F.cross_entropy(wide(torch.func.functional_call(model, w, (x[:16],))), y[:16])
    slopes = torch.autograd.grad(inner, list(w.values()), create_graph=True)
    moved = {n: p - 0.1 * g for (n, p), g in zip(w.items(), slopes)}
    return F.cross_entropy(wide(torch.func.functional_call(model, moved, (x[16:],))), y[16:])


@loss(make=lambda: nn.ModuleList([nn.Linear(16, 16), nn.Linear(16, 4)]))
def flowing(model, x, y):
    """Eight steps of Euler, and a fixed point that is iterated."""
    h = x
    for _ in range(8):
        h = h + 0.125 * torch.tanh(model[0](h))
    return entropy(model[1](h), y)


@loss(make=lambda: nn.ModuleDict({'q': nn.Linear(4, 12), 'out': nn.Linear(4, 4)}))
def masked_attention(model, x, y):
    """Two heads over four places, of which some are padding."""
    q, k, v = model['q'](x.reshape(32, 4, 4)).reshape(32, 4, 3, 2, 2).permute(2, 0, 3, 1, 4)
    hidden = (torch.arange(4)[None] > y[:, None])[:, None, None, :]
    scores = (torch.einsum('bhid,bhjd->bhij', q, k) / 2 ** 0.5).masked_fill(hidden, -torch.inf)
    h = torch.einsum('bhij,bhjd->bihd', wide(scores).softmax(-1).to(v.dtype), v).flatten(2)
    return entropy(model['out'](h).mean(1), y)


@loss(make=lambda: net(16, 32, 16))
def rendered(model, x, y):
    """Densities along rays, of which products of what is left are the weights."""
    dense = F.softplus(wide(model(x)))
    left = torch.cumprod(torch.exp(-0.2 * dense), -1)
    weights = (1 - torch.exp(-0.2 * dense)) * torch.cat([torch.ones_like(left[:, :1]), left[:, :-1]], -1)
    return ((weights * wide(x)).sum(-1) - wide(x).mean(-1)).square().mean()


@loss(make=lambda: nn.ModuleDict({'made': nn.Linear(4, 80), 'norm': nn.BatchNorm1d(16)}))
def hypernetwork(model, x, y):
    """Weights of a layer that another layer makes, behind a batch norm."""
    w, b = model['made'](x[:1, :4]).reshape(-1).split([64, 16])
    return entropy(F.linear(model['norm'](x), w.reshape(4, 16), b[:4]), y)


@loss(torch.optim.AdamW, lr=1e-3, eps=1e-4)
def pseudo_labels(model, x, y):
    """Labels that the model itself is sure enough of."""
    with torch.no_grad():
        sure, label = wide(model(x)).softmax(-1).max(-1)
    out = F.cross_entropy(wide(model(x + 0.1)), label, reduction='none')
    return (out * (sure > 0.26)).mean() + entropy(model(x[:4]), y[:4])


@loss(make=lambda: nn.Sequential(nn.Unflatten(1, (1, 4, 4)), nn.Conv2d(1, 8, 3, padding=1), nn.GroupNorm(2, 8),
                                 nn.SiLU(), nn.MaxPool2d(2), nn.Conv2d(8, 4, 2), nn.Flatten()))
def pictures(model, x, y):
    flipped = torch.where((y > 1)[:, None], x, x.flip(1))
    return entropy(model(flipped), y)


@loss(torch.optim.Adam, lr=1e-3, eps=1e-4)
def ranked(model, x, y):
    """Places in a list: a listwise loss over sorted scores."""
    s = wide(model(x))[:, 0]
    order = s.argsort(descending=True)
    gain = (wide(x[:, 0])[order] > 0).to(s.dtype) / torch.log2(torch.arange(2, 34, dtype=s.dtype))
    return -(F.log_softmax(s[order], 0) * gain).sum() + torch.logcumsumexp(s[order].flip(0), 0).mean()


class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.left, self.right, self.scale = net(16, 32, 8), net(16, 32, 8), nn.Parameter(torch.tensor(2.625))


@loss(make=Pair)
def contrasted(model, x, y):
    """Pairs of rows, at a temperature that is learned and has no axes."""
    a, b = F.normalize(model.left(x), dim=-1), F.normalize(model.right(x.flip(1)), dim=-1)
    z = model.scale.exp() * a @ b.t()
    return (entropy(z, torch.arange(32)) + entropy(z.t(), torch.arange(32))) / 2


@loss()
def aligned(model, x, y):
    """Two texts beside sixteen times."""
    logs = F.log_softmax(wide(model(x)).reshape(16, 2, 4), 2)
    return F.ctc_loss(logs, 1 + y[:8].reshape(2, 4) % 3, torch.tensor([16, 12]), torch.tensor([4, 3]))


class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate, self.head = nn.Linear(16, 4), nn.Linear(16, 4)
        self.own = nn.Parameter(torch.randn(4, 16, 16) / 4)


@loss(make=Experts)
def full_experts(model, x, y):
    """Experts that take six rows each; the other rows go by."""
    share, at = torch.softmax(wide(model.gate(x)), -1).max(-1)
    hot = F.one_hot(at, 4)
    place = (hot.cumsum(0) * hot).sum(-1) - 1
    kept = place < 6
    rows = torch.zeros(4, 6, 16, dtype=x.dtype).index_put((at[kept], place[kept]), x[kept])
    out = torch.bmm(rows, model.own.to(rows.dtype))[at[kept], place[kept]].to(x.dtype)
    got = torch.zeros_like(x).index_put((kept.nonzero()[:, 0],), out)
    return entropy(model.head(got * share[:, None].to(x.dtype) + x), y)


@loss(make=lambda: nn.ModuleList([nn.Linear(16, 32), nn.Linear(32, 4)]))
def ring(model, x, y):
    """A graph whose rows are neighbours on a ring, as a sparse matrix, in float32 or wider."""
    at = torch.arange(32)
    at = torch.stack([torch.cat([at, at]), torch.cat([at, (at + 1) % 32])])
    h = wide(model[0](x))
    near = torch.sparse_coo_tensor(at, torch.full((64,), 0.5, dtype=h.dtype), (32, 32))
    return entropy(model[1](torch.sparse.mm(near, F.relu(h)).to(x.dtype)), y)


@loss(make=lambda: net(16, 32, 16))
def of_spectra(model, x, y):
    """A signal beside another by the magnitudes of their frequencies, as speech and music are compared."""
    a, b = (torch.fft.rfft(wide(t)).abs() for t in (model(x), x.roll(3, 1)))
    return (a - b).square().mean() + ((a + 0.1).log() - (b + 0.1).log()).square().mean()


@loss(make=lambda: nn.ModuleList([net(16, 16, 16), net(16, 16, 4)]))
def mixed_by_frequencies(model, x, y):
    """A layer that mixes tokens by a transform along both axes (FNet)."""
    h = model[0](x)
    mixed = torch.fft.fft2(wide(h)).real / 16
    return entropy(model[1](torch.tanh(mixed).to(h.dtype)), y)
