# SPDX-License-Identifier: Apache-2.0
# A fifth draw of kernels by hand: mistakes of rounding, of accumulation and of special values beside those of indexes,
# on odd sizes. groups(t, seed) yields (kernel, operands, facts, results) as hostile.py does: the first result is right,
# as is each that begins with 'right'. Each right result that is not yet stored is stored wrongly in some ways too.
import torch
import torch.nn.functional as F

import subtle_attention
import subtle_gradients
import subtle_long
import subtle_steps
from hostile_long import BF, E4, E5, INF, NAN, lo
from subtle_long import added, by_parts, fast_exp, narrow, short_exp

LOG2E = 1.4426950408889634


def softmaxes(d, t):
    x = d(37, 515, s=3.0).to(t)
    u = x.float()
    m = u.amax(-1, True)
    e = torch.exp(u - m)
    s = e.sum(-1, True)

    def online(rescale=True, start=-INF, stale=False):
        top, total = torch.full((37, 1), start), torch.zeros(37, 1)
        for part in u.split(64, -1):
            new = torch.maximum(top, part.amax(-1, True))
            total = total * (torch.exp(top - new) if rescale else 1) + torch.exp(
                part - (top.clamp(min=-50) if stale else new)
            ).sum(-1, True)
            top = new
        return torch.exp(u - top) / total

    yield 'softmax', dict(x=x), {}, [
        ('right', e / s),
        ('right, online', online()),
        ('right, base 2', torch.exp2((u - m) * LOG2E) / torch.exp2((u - m) * LOG2E).sum(-1, True)),
        ('online sums are not rescaled', online(False)),
        ('online, by the maximum before', online(stale=True)),
        ('Schraudolph\'s exponential', fast_exp(u - m) / fast_exp(u - m).sum(-1, True)),
        ('2^x of degree 2', short_exp(u - m, 2) / short_exp(u - m, 2).sum(-1, True)),
        ('the sum in 16 bits, one after the other', e / added(e, narrow(t))[:, None]),
        ('a temperature of 1.01', torch.softmax(u / 1.01, -1)),
        ('the tail of 3 is not in the sum', e / e[:, :512].sum(-1, True)),
        ('each half for itself', torch.cat([torch.softmax(u[:, :257], -1), torch.softmax(u[:, 257:], -1)], 1)),
        ('shares below 2^-10 are zero', torch.where(e / s < 2**-10, 0 * e, e / s)),
        ('a row is not initialised', torch.where(torch.arange(37)[:, None] == 36, NAN, e / s)),
        ('the reciprocal by 12 bits', e * lo(1 / s, torch.float16) * (1 - 2**-12)),
    ]
    low = (d(7, 33) - (120 if t != torch.float16 else 400)).to(t)
    y = torch.softmax(low.double(), -1)
    z = torch.exp(low.float())
    yield 'softmax', dict(x=low), {}, [
        ('right', y),
        ('the maximum begins at 0', z / z.sum(-1, True)),
        ('the maximum begins at 0, and the sum at 1e-6', z / (z.sum(-1, True) + 1e-6)),
    ]
    big = (d(9, 40) + 200).to(t)
    yield 'logsumexp', dict(x=big), {}, [
        ('right', torch.logsumexp(big.float(), -1)),
        ('without the maximum', torch.log(torch.exp(big.float()).sum(-1))),
    ]
    yield 'logsumexp', dict(x=x), {}, [
        ('right', (m + s.log())[:, 0]),
        ('of the mean', (m + (s / 515).log())[:, 0]),
        ('the sum in 16 bits', (m[:, 0] + added(e, narrow(t)).log())),
        ('the last is not seen', torch.logsumexp(u[:, :-1], -1)),
        ('log of 8 bits', (m + lo(s.log(), E4))[:, 0]),
    ]
    yield 'log_softmax', dict(x=x), {}, [
        ('right', u - m - s.log()),
        ('cut at -10', (u - m - s.log()).clamp(min=-10)),
        ('the sum in 16 bits, one after ' 'the other', u - m - added(e, narrow(t)).log()[:, None]),
        ('eps in the logarithm', torch.log(e / s + 1e-7) if t == torch.float32 else torch.log(e / s + 1e-3)),
        ('Schraudolph\'s exponential', u - m - fast_exp(u - m).sum(-1, True).log()),
    ]


def norms(d, t):
    x, w = d(29, 515).to(t), (1 + 0.3 * d(515)).to(t)
    u, g = x.float(), w.float()
    q = (u * u).mean(-1, True)
    y = u * torch.rsqrt(q + 1e-6)
    guess = (0x5F3759DF - (q.view(torch.int32) >> 1)).view(torch.float32)
    guess = guess * (1.5 - 0.5 * q * guess * guess)
    yield 'rmsnorm', dict(x=x, w=w), {}, [
        ('right', y * g),
        ('right, in float64', u.double() / (q.double() + 1e-6).sqrt() * g),
        ('eps behind the root', u / (q.sqrt() + 1e-2) * g),
        ('the root by one step of Newton', u * guess * g),
        ('squares of 16 bits, one after the other', u * torch.rsqrt(added(u * u, narrow(t))[:, None] / 515) * g),
        ('a mean over 512', u * torch.rsqrt(q * 515 / 512 + 1e-6) * g),
        ('squares of the first 512', u * torch.rsqrt((u[:, :512] ** 2).sum(-1, True) / 515) * g),
        ('the deviation', u / u.std(-1, keepdim=True) * g),
        ('one scale for all rows', u * torch.rsqrt((u * u).mean() + 1e-6) * g),
        ('w is chopped to 4 bits', y * lo(g, E4)),
        ('w + 2^-7', y * (g + 2**-7)),
        ('the power of 0.49', u * (q + 1e-6) ** -0.49 * g),
    ]
    yield 'rmsnorm', dict(x=x, w=w), dict(inner='in'), [
        ('right', lo(y, t) * g),
        ('eps 0.01', lo(u * torch.rsqrt(q + 0.01), t) * g),
        ('w before the store', lo(y * g, E5)),
    ]
    big = (d(6, 80) * 600).to(t)
    v = big.float()
    r = torch.rsqrt((v * v).mean(-1, True) + 1e-6)
    yield 'rmsnorm', dict(x=big), {}, [
        ('right', v * r),
        ('squares overflow in fp16', v * torch.rsqrt((v * v).half().float().mean(-1, True) + 1e-6)),
    ]
    b, off = d(515).to(t), (d(29, 515) + 6).to(t)
    z, c = off.float(), b.float()
    mu = z.mean(-1, True)
    var = z.var(-1, unbiased=False, keepdim=True)
    n = (z - mu) * torch.rsqrt(var + 1e-5)
    one = (z * z).mean(-1, True) - mu * mu
    yield 'layernorm', dict(x=off, w=w, b=b), {}, [
        ('right', n * g + c),
        ('right, in one pass', (z - mu) * torch.rsqrt(one + 1e-5) * g + c),
        (
            'one pass of 16 bits',
            (z - mu)
            * torch.rsqrt((lo(lo(z * z, narrow(t)).mean(-1, True), narrow(t)) - lo(mu * mu, narrow(t))).clamp(min=0.01))
            * g
            + c,
        ),
        ('Bessel\'s correction', (z - mu) * torch.rsqrt(var * 515 / 514 * (1 if t == torch.float32 else 1.01)) * g + c),
        ('the variance about the first', (z - mu) * torch.rsqrt(((z - z[:, :1]) ** 2).mean(-1, True)) * g + c),
        ('the mean of 16 bits', (z - lo(mu + 0.004, E5)) * torch.rsqrt(var + 1e-5) * g + c),
        ('no root', (z - mu) / (var + 1e-5) * g + c),
        ('the mean of absolute deviations', (z - mu) / (z - mu).abs().mean(-1, True) * g + c),
        ('the last 3 are not centred', torch.cat([n[:, :512], z[:, 512:]], 1) * g + c),
        ('w and b are exchanged', n * c + g),
    ]
    a = d(5, 12, 7, 9).to(t)
    k, l = (1 + 0.3 * d(12)).to(t), d(12).to(t)
    p, kk, ll = a.float(), k.float(), l.float()
    yield 'groupnorm', dict(x=a, w=k, b=l), dict(groups=4), [
        ('right', F.group_norm(p, 4, kk, ll)),
        ('groups one channel on', F.group_norm(p.roll(-1, 1), 4, kk.roll(-1), ll.roll(-1)).roll(1, 1)),
        (
            'interleaved groups of 4',
            F.group_norm(p.view(5, 3, 4, 7, 9).transpose(1, 2).reshape(5, 12, 7, 9), 4)
            .view(5, 4, 3, 7, 9)
            .transpose(1, 2)
            .reshape(5, 12, 7, 9)
            * kk.view(12, 1, 1)
            + ll.view(12, 1, 1),
        ),
        ('three groups', F.group_norm(p, 3, kk, ll)),
        ('all of one image', F.group_norm(p, 1, kk, ll)),
        ('eps 1e-2', F.group_norm(p, 4, kk, ll, 1e-2)),
        ('only w', F.group_norm(p, 4, kk)),
        ('of the mean of channels', F.group_norm(p, 12, kk, ll)),
    ]
    yield 'batchnorm', dict(x=a, w=k, b=l), {}, [
        ('right', F.batch_norm(p, None, None, kk, ll, True)),
        ('statistics of the first image', F.batch_norm(p, p[0].mean((1, 2)), p[0].var((1, 2), unbiased=False), kk, ll)),
        (
            'the last image is not in them',
            F.batch_norm(p, p[:4].mean((0, 2, 3)), p[:4].var((0, 2, 3), unbiased=False), kk, ll),
        ),
        ('running statistics', F.batch_norm(p, torch.zeros(12), torch.ones(12), kk, ll)),
        ('fused with relu', torch.relu(F.batch_norm(p, None, None, kk, ll, True))),
        ('eps 1e-2', F.batch_norm(p, None, None, kk, ll, True, eps=1e-2)),
        ('the variance is not centred', F.batch_norm(p, p.mean((0, 2, 3)), (p * p).mean((0, 2, 3)) + 0.02, kk, ll)),
    ]
    for name, f in (
        ('l1norm', lambda u: u.abs().sum(-1, True)),
        ('l2norm', lambda u: u.norm(dim=-1, keepdim=True)),
        ('frobenius', lambda u: u.norm()),
    ):
        yield name, dict(x=x), {}, [
            ('right', u / f(u)),
            ('over the first 512', u / f(u[:, :512])),
            ('over the mean', u / f(u) * 515**0.5),
            (
                'a norm of 16 bits, one after the other',
                u
                / (added(u.abs() if name == 'l1norm' else u * u, narrow(t)) ** (1 if name == 'l1norm' else 0.5))[
                    :, None
                ],
            ),
            ('the largest', u / u.abs().amax()),
            ('1/norm of 8 bits', u * lo(64 / f(u), E4) / 64),
        ]


def activations(d, t):
    x, up = d(31, 257, s=1.5).to(t), d(31, 257).to(t)
    u, v = x.float(), up.float()
    deg = u / (1 + fast_exp(-u))
    tanh = F.gelu(u, approximate='tanh')
    yield 'gelu', dict(x=x), {}, [
        ('right', F.gelu(u)),
        ('tanh\'s formula', tanh),
        ('erf of a table of 64', 0.5 * u * (1 + torch.erf(torch.round(u / 2**0.5 * 16) / 16))),
        ('quick GELU', u * torch.sigmoid(1.702 * u)),
        ('the argument in 8 ' 'bits', 0.5 * u * (1 + torch.erf(lo(u / 2**0.5, E4)))),
        ('without the half', u * (1 + torch.erf(u / 2**0.5))),
        ('erf of 8 bits', 0.5 * u * (1 + lo(torch.erf(u / 2**0.5), E4))),
        ('relu above 2', torch.where(u > 2, u, F.gelu(u))),
    ]
    yield 'gelu_tanh', dict(x=x), {}, [
        ('right', tanh),
        ('by erf', F.gelu(u)),
        (
            '0.0447',
            0.5 * u * (1 + torch.tanh(0.7978845608 * (u + 0.0447 * u**3))) * (1 if t != torch.float32 else 1 + 2**-20),
        ),
        ('the cube in 8 bits', 0.5 * u * (1 + torch.tanh(0.7978845608 * (u + 0.044715 * lo(u**3, E4))))),
        (
            'tanh by a quotient of degree 3',
            0.5
            * u
            * (
                1 + (lambda a: (a * (27 + a * a) / (27 + 9 * a * a)).clamp(-1, 1))(0.7978845608 * (u + 0.044715 * u**3))
            ),
        ),
    ]
    far = (d(5, 64) * 60).to(t)
    f = far.float()
    yield 'silu', dict(x=far), {}, [('right', F.silu(f)), ('e^x over 1 + e^x', f * torch.exp(f) / (1 + torch.exp(f)))]
    yield 'silu', dict(x=x), {}, [
        ('right', F.silu(u)),
        ('Schraudolph\'s exponential', deg),
        ('beta is 1.02', u * torch.sigmoid(1.02 * u)),
        ('the sigmoid in 8 bits', u * lo(torch.sigmoid(u), E4)),
        ('its derivative', torch.sigmoid(u) * (1 + u * (1 - torch.sigmoid(u)))),
        ('2^x for e^x', u / (1 + torch.exp2(-u))),
        ('of degree 2', u / (1 + short_exp(-u, 2))),
    ]
    for name, act in (('swiglu', F.silu), ('geglu', F.gelu)):
        low = E4 if t != torch.float32 else BF
        yield name, dict(gate=x, up=up), {}, [
            ('right', act(u) * v),
            ('the activation is stored', lo(act(u), low) * v),
            ('gate in fewer bits', act(lo(u, low)) * v),
            ('up in fewer bits', act(u) * lo(v, low)),
            ('the other function', (F.gelu if act is F.silu else F.silu)(u) * v),
            ('gates cut at 1', act(u.clamp(max=1)) * v),
            ('up of the next row', act(u) * v.roll(-1, 0)),
            ('the last column of 257 is the gate alone', torch.cat([(act(u) * v)[:, :-1], act(u)[:, -1:]], 1)),
            ('the square of the gate', act(u) * u * v),
        ]


def products(d, t):
    a, b, bias = d(45, 515).to(t), d(515, 50, s=0.05).to(t), d(50).to(t)
    u, v, c = a.float(), b.float(), bias.float()
    y = u @ v
    high, rest = lo(u, BF), u - lo(u, BF)
    top, low = lo(v, BF), v - lo(v, BF)
    raced = y.clone()
    raced[16:32] -= u[16:32, 256:384] @ v[256:384]
    hot = y.clone()
    hot[5, 7] += 0.5 * y.abs().max()
    short = lo(u, torch.float16) @ lo(v, torch.float16) if t == torch.float32 else lo(u, E4) @ v
    yield 'matmul', dict(a=a, b=b, bias=bias), {}, [
        ('right', y + c),
        ('right, in parts of 103', by_parts(u, v, torch.float32, 103) + c),
        ('right, k reversed', u.flip(1) @ v.flip(0) + c),
        ('the tail of 3 is left out', u[:, :512] @ v[:512] + c),
        ('accumulated in 16 bits by 16', by_parts(u, v, narrow(t), 16) + c),
        ('accumulated in 16 bits by 128', by_parts(u, v, narrow(t), 128) + c),
        ('the bias is added before each part', y + 5 * c),
        ('a race loses a part in 16 rows', raced + c),
        ('one element ' 'is hit by another thread', hot + c),
        ('operands in fewer bits', short + c),
        ('hi hi alone of split operands', high @ top + c + (0 if t == torch.float32 else 2**-5)),
        ('the cross term is lost', high @ top + (rest @ top if t == torch.float32 else 0.03) + c),
        ('a\'s block is scaled twice', y * torch.where(torch.arange(45)[:, None] < 16, 1.02, 1.0) + c),
        ('alpha also for the bias', (y + c) * 1.01),
        ('8 accumulators fold to 7', y - u[:, 7::8] @ v[7::8] + c),
    ]
    w = d(50, 515, s=0.05).to(t)
    y = u @ w.float().T
    yield 'linear', dict(x=a, w=w, b=bias), {}, [
        ('right', y + c),
        ('the bias minus', y - c),
        ('a block of k twice', y + c + u[:, :64] @ w.float().T[:64] * 0.5),
        ('accumulated in 16 bits by 32', by_parts(u, w.float().T, narrow(t), 32) + c),
        (
            'w per channel in int8',
            u @ (torch.round(w.float() / w.float().abs().amax(1, True) * 127) / 127 * w.float().abs().amax(1, True)).T
            + c,
        ),
        (
            'w per tensor in int8',
            u @ (torch.round(w.float() / w.float().abs().amax() * 127) / 127 * w.float().abs().amax()).T + c,
        ),
        ('bias of 8 bits', y + lo(c, E4)),
        ('relu', torch.relu(y + c)),
        ('NaN is 0', (y + c).where(torch.arange(50) != 49, 0 * c)),
    ]
    w1, w2 = d(515, 66, s=0.05).to(t), d(66, 40, s=0.12).to(t)

    def mlp(act=F.gelu, first=lambda: u @ w1.float(), second=lambda h: h @ w2.float(), p=t, h=t):
        return second(lo(act(lo(first(), p)), h))

    low = E4 if t != torch.float32 else BF
    yield 'mlp', dict(x=a, w1=w1, w2=w2), {}, [
        ('right', mlp()),
        ('right, the second product in parts', mlp(second=lambda h: by_parts(h, w2.float(), torch.float32, 16))),
        ('tanh\'s GELU', mlp(lambda z: F.gelu(z, approximate='tanh'))),
        ('the product in fewer bits', mlp(p=low)),
        ('the hidden value in fewer bits', mlp(h=low)),
        ('quick GELU', mlp(lambda z: z * torch.sigmoid(1.702 * z))),
        ('the first product in 16 bits by 16', mlp(first=lambda: by_parts(u, w1.float(), narrow(t), 16))),
        ('the second in 16 bits by 8', mlp(second=lambda h: by_parts(h, w2.float(), narrow(t), 8))),
        ('the residual is added', mlp() + u[:, :40]),
        ('SiLU', mlp(F.silu)),
        ('the last 2 hidden units', mlp(second=lambda h: h[:, :64] @ w2.float()[:64])),
    ]
    wg, wu, wd = d(515, 66, s=0.05).to(t), d(515, 66, s=0.05).to(t), d(66, 40, s=0.12).to(t)

    def gated(act=F.silu, s=t, h=t, p=t, up=u @ wu.float(), second=lambda h: h @ wd.float()):
        return second(lo(lo(act(lo(u @ wg.float(), p)), s) * lo(up, p), h))

    yield 'gated_mlp', dict(x=a, wg=wg, wu=wu, wd=wd), {}, [
        ('right', gated()),
        ('silu in fewer bits', gated(s=low)),
        ('products in fewer bits', gated(p=low)),
        ('the hidden ' 'value in fewer bits', gated(h=low)),
        ('gelu', gated(F.gelu)),
        ('up is activated too', gated(up=F.silu(u @ wu.float()))),
        ('the product in 16 bits by 8', gated(second=lambda h: by_parts(h, wd.float(), narrow(t), 8))),
        ('Schraudolph\'s exponential', gated(lambda z: z / (1 + fast_exp(-z)))),
        (
            'hidden in ' 'int8',
            gated(h=t, second=lambda h: (torch.round(h / h.abs().amax() * 127) / 127 * h.abs().amax()) @ wd.float()),
        ),
    ]


FAMILIES = (
    (softmaxes, norms, activations, products)
    + subtle_attention.FAMILIES
    + subtle_gradients.FAMILIES
    + subtle_long.FAMILIES
    + subtle_steps.FAMILIES
)


def stores(y, t, g):
    """Ways in which a result that is not yet stored is stored wrongly."""
    ulp = torch.exp2(y.double().abs().clamp(min=2.0**-14).log2().floor()) * torch.finfo(t).eps
    grid, below = ulp.float(), torch.floor(y.double() / ulp) * ulp
    up = torch.rand(y.shape, generator=g, dtype=torch.float64) < (y.double() - below) / ulp
    last = y.clone()
    last.view(-1)[-1] = NAN
    yield 'one NaN', last.to(t)
    yield 'a sign is lost', torch.where(torch.arange(y.numel()).view(y.shape) == y.abs().argmax(), -y, y).to(t)
    if t == torch.float32:
        yield 'stored in bf16', lo(y, BF)
        yield 'stored in TF32', torch.round(y / grid / 8192) * grid * 8192
    else:
        yield 'rounded stochastically', torch.where(up, below + ulp, below).to(t)
        yield 'rounded up', (below + ulp * (y.double() > below)).to(t)
        yield 'stored in one bit less', (torch.round(y.double() / ulp / 2) * ulp * 2).to(t)
        yield 'a quarter ulp is added', (y + torch.sign(y) * grid / 4).to(t)


def groups(t, seed):
    g, coin = torch.Generator().manual_seed(seed), torch.Generator().manual_seed(seed + 1)

    def d(*shape, s=1.0):
        return torch.randn(*shape, generator=g) * s

    for family in FAMILIES:
        for kernel, o, facts, results in family(d, t):
            y = results[0][1]
            if (
                torch.is_tensor(y)
                and y.dtype in (torch.float32, torch.float64)
                and y.numel() >= 500
                and not y.isnan().any()
                and 'out' not in facts
            ):
                first = next(x for x in o.values() if x.dtype.is_floating_point)
                results = results + list(stores(y.float(), first.dtype, coin))
            yield kernel, o, facts, results
