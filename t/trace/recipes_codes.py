# SPDX-License-Identifier: Apache-2.0
"""Recipes of trainings with values of 8 bits: codes of weights and of moments, simulated quantisation by PyTorch's own
observers, floats of 8 bits, nearest vectors of a code book."""
import torch

from tutorials import data, entropy, net, nn, plain, wide

F = nn.functional
CODES = {}


def recipe(f):
    return CODES.setdefault(f.__name__, f)


def loss(f, make=lambda: net(16, 32, 4)):
    CODES[f.__name__] = plain(torch.optim.SGD, f, make, lr=0.1)
    return f


@loss
def coded_weights(model, x, y):
    """Weights as codes of 8 bits, with the gradient of the identity; float64 goes without."""
    q = w = model[0].weight
    if w.dtype != torch.float64:
        scale = wide(w).abs().amax(1, keepdim=True) / 127
        codes = (wide(w) / scale).round().to(torch.int8)
        q = w + (codes.to(w.dtype) * scale.to(w.dtype) - w).detach()
    return entropy(model[2](F.gelu(F.linear(x.to(q.dtype), q, model[0].bias))), y)


@recipe
def coded_moments(dtype):
    """Momentum that is kept as codes of 8 bits and a scale; float64 keeps it whole."""
    model, held = net(16, 32, 4).to(dtype), {}

    def step(k):
        model.zero_grad()
        x, y = data(k, dtype)
        entropy(model(x), y).backward()
        with torch.no_grad():
            for p in model.parameters():
                zeros = torch.zeros_like(p, dtype=torch.int8), torch.ones((), dtype=wide(p).dtype)
                codes, most = held.setdefault(p, zeros)
                m = codes if codes.dtype == torch.float64 else codes.to(most.dtype) * most / 127
                m = 0.9 * m + 0.1 * wide(p.grad)
                if dtype == torch.float64:
                    held[p] = m, most
                else:
                    most.copy_(m.abs().max())
                    codes.copy_((m / most * 127).round())
                p.sub_((0.3 * m).to(p.dtype))
    return model, step


class Short(torch.autograd.Function):
    """A product of e4m3 values that are scaled to the format's range; its gradients are those of the operands."""

    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        if x.dtype == torch.float64:
            return x @ w.t()
        sx, sw = 448 / x.abs().amax().float(), 448 / w.abs().amax().float()
        low = [(t.float() * s).to(torch.float8_e4m3fn).float() for t, s in ((x, sx), (w, sw))]
        return (low[0] @ low[1].t() / (sx * sw)).to(x.dtype)

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        return g @ w.to(g.dtype), g.t() @ x.to(g.dtype)


@loss
def products_of_e4m3(model, x, y):
    h = Short.apply(x, model[0].weight.to(x.dtype)) + model[0].bias.to(x.dtype)
    return entropy(model[2](F.gelu(h)), y)


@recipe
def observed(dtype):
    """Quantisation that PyTorch simulates, in float32: averages of the activations' ends, and ends of rows of weights.
    The twin is the same in float64 but for them."""
    from torch.ao import quantization as q
    model = net(16, 32, 4).to(torch.promote_types(dtype, torch.float32))
    of_inputs = q.FakeQuantize(q.MovingAverageMinMaxObserver, 0, 255, dtype=torch.quint8)
    of_weights = q.FakeQuantize(q.PerChannelMinMaxObserver, -127, 127, dtype=torch.qint8,
            qscheme=torch.per_channel_symmetric)
    fused = q.FusedMovingAvgObsFakeQuantize(q.MovingAverageMinMaxObserver, 0, 255, dtype=torch.quint8)
    opt = torch.optim.SGD(model.parameters(), 0.1)

    def step(k):
        opt.zero_grad()
        x, y = data(k, torch.float32)
        low = model[0].weight.dtype
        h = F.linear(of_inputs(x).to(low), of_weights(model[0].weight.float()).to(low), model[0].bias)
        entropy(model[2](fused(F.gelu(h).float()).to(low)), y).backward()
        opt.step()
    return model, step


def nearest(model, x, y):
    """An autoencoder by vectors of a given book, with the gradient of the identity."""
    z = model[0](x)
    book = torch.sin(torch.arange(64, dtype=torch.float64)).reshape(8, 8).to(z.dtype)
    q = book[torch.cdist(wide(z), wide(book)).argmin(1)]
    again = model[1](z + (q - z).detach())
    return F.mse_loss(wide(again), wide(x)) + 0.25 * F.mse_loss(wide(z), wide(q))


loss(nearest, lambda: nn.ModuleList([net(16, 16, 8), net(8, 16, 16)]))
