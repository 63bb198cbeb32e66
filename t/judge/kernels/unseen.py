# SPDX-License-Identifier: Apache-2.0
# A second draw of kernels by hand, made without a look at what the judge finds: every kernel that judge knows as
# a person writes it in fp32, bf16 or fp16, right in other orders and blocks, and wrong by one mistake. cases(t, seed)
# yields (kernel, what, operands, result, facts); what begins with 'right', or names the mistake.
import math

import torch
import torch.nn.functional as F

import unseen_attention
import unseen_long

f32 = torch.float32
E4, BF = torch.float8_e4m3fn, torch.bfloat16


def lo(x, t):
    return x.to(t).float()


def chop(x, t):
    """Rounds toward zero, as a kernel does that shifts bits away."""
    if t == f32:
        return x.double().mul(1 - 2.0 ** -24).float()
    bits = {torch.bfloat16: 16, torch.float16: 13}[t]
    return (x.contiguous().view(torch.int32) >> bits << bits).view(f32).to(t)


def blocks(x, n):
    """A sum along the last axis by blocks of n."""
    return torch.stack([p.sum(-1) for p in x.split(n, -1)], -1).sum(-1)


def shares(d, t):
    x = d(48, 200).to(t)
    u = x.float()
    m = u.amax(-1, keepdim=True)
    e = torch.exp(u - m)
    online, top = torch.zeros(48, 1), torch.full((48, 1), -math.inf)
    stale, first = torch.zeros(48, 1), torch.zeros(48, 1)
    for part in u.split(32, -1):
        new = torch.maximum(top, part.amax(-1, keepdim=True))
        online = online * torch.exp(top - new) + torch.exp(part - new).sum(-1, keepdim=True)
        stale = stale + torch.exp(part - new).sum(-1, keepdim=True)
        first, top = first + torch.exp(part - part.amax(-1, keepdim=True)).sum(-1, keepdim=True), new
    padded = e.sum(-1, keepdim=True) + 56 * torch.exp(-m)
    for what, y in (('right', e / e.sum(-1, keepdim=True)), ('right, one pass of blocks', e / online),
                    ('right, base 2', torch.exp2((u - m) * math.log2(math.e)) / e.sum(-1, keepdim=True)),
                    ('the denominator is not rescaled', e / stale), ('maxima of blocks', e / first),
                    ('56 zeros pad the row', e / padded), ('the last block is skipped', e / e[:, :192].sum(-1, True)),
                    ('the neighbour row\'s maximum', torch.exp(u - m.roll(1, 0)) / e.sum(-1, True)),
                    ('base 2 without the factor', torch.exp2(u - m) / torch.exp2(u - m).sum(-1, True)),
                    ('numerators in e4m3', lo(e, E4) / e.sum(-1, True)),
                    ('rows are written one too far', (e / e.sum(-1, True)).roll(1, 0)),
                    ('an eps of 1e-2 in the denominator', e / (e.sum(-1, True) + 1e-2 * e.sum(-1, True)))):
        yield 'softmax', what, dict(x=x), y.to(t), {}
    lse = torch.logsumexp(u, -1, keepdim=True)
    for what, y in (('right', u - lse), ('right, maximum apart', u - m - e.sum(-1, True).log()),
                    ('the maximum is not added back', u - e.sum(-1, True).log()),
                    ('log of the rounded share', torch.log(lo(e / e.sum(-1, True), BF))),
                    ('log2 for log', u - m - e.sum(-1, True).log2())):
        yield 'log_softmax', what, dict(x=x), y.to(t), {}
    for what, y in (('right', lse), ('without the maximum', e.sum(-1, True).log()), ('the mean', lse - math.log(200)),
                    ('the last 8 are missing', torch.logsumexp(u[:, :192], -1, keepdim=True))):
        yield 'logsumexp', what, dict(x=x), y[:, 0].to(t), {}


def norms(d, t):
    x, w, b, res = d(40, 192).to(t), d(192).to(t), d(192).to(t), d(40, 192).to(t)
    u, g, c, r = x.float(), w.float(), b.float(), res.float()

    def rms(u, g=g, eps=1e-6, n=192, inner=None):
        y = u * torch.rsqrt(blocks(u * u, 64)[:, None] / n + eps)
        return ((lo(y, inner) if inner else y) * g).to(t)
    for what, y in (('right', rms(u)), ('right, one division',
            (u / ((u * u).mean(-1, True) + 1e-6).sqrt() * g).to(t)),
                    ('divided by the padded width', rms(u, n=256)), ('eps outside the root', (u / (
                        (u * u).mean(-1, True).sqrt() + 1e-1) * g).to(t)),
                        ('the weight is one off', rms(u, g.roll(1))),
                    ('the weight of 1 + w', rms(u, 1 + g)), ('centred', rms(u - u.mean(-1, True))),
                    ('the statistics of row 0', (u * torch.rsqrt((u[:1] ** 2).mean(-1, True) + 1e-6) * g).to(t)),
                    ('the second half\'s weight is missing', torch.cat([rms(u)[:, :96], rms(u, 0 * g + 1)[:, 96:]],
                    1)),
                    ('squares in bf16', (u * torch.rsqrt(lo(u * u, BF).mean(-1, True) * (1 + 2 ** -9)) * g).to(t))):
        yield 'rmsnorm', what, dict(x=x, w=w), y, dict(eps=1e-6)
    for what, y in (('right', rms(u + r)), ('the residual twice', rms(u + 2 * r)), ('without the residual', rms(u)),
                    ('the residual subtracted', rms(u - r))):
        yield 'rmsnorm', what, dict(x=x, w=w, residual=res), y, dict(eps=1e-6)

    def layer(u, eps=1e-5, axis=-1, unbiased=False, times=1, c=c):
        m = u.mean(axis, keepdim=True)
        return ((u - m) * torch.rsqrt(u.var(axis, unbiased, keepdim=True) + eps) * g + c * times).to(t)
    for what, y in (('right', layer(u)), ('right, by blocks', ((u - blocks(u, 64)[:, None] / 192) * torch.rsqrt(
            blocks((u - u.mean(-1, True)) ** 2, 32)[:, None] / 192 + 1e-5) * g + c).to(t)),
                    ('the bias twice', layer(u, times=2)), ('Bessel\'s correction', layer(u, unbiased=True)),
                    ('statistics down columns', layer(u, axis=0)), ('the bias inside the weight', (
                        (layer(u, times=0).float() / 1 + c * g)).to(t)), ('eps 1e-1', layer(u, 1e-1)),
                    ('sigma in place of 1/sigma', ((u - u.mean(-1, True)) * u.std(-1, keepdim=True) * g + c).to(t)),
                    ('the bias is one off', layer(u, c=c.roll(-1)))):
        yield 'layernorm', what, dict(x=x, w=w, b=b), y, {}
    v, h = d(2, 12, 5, 7).to(t), d(12).to(t)
    k, q = v.float(), h.float()
    for what, y in (('right', F.group_norm(k, 3, q)), ('other groups', F.group_norm(k, 4, q)),
                    ('a batch norm', F.batch_norm(k, None, None, q, None, True)),
                    ('interleaved groups', F.group_norm(k.view(2, 4, 3, 35).transpose(1, 2).reshape(2, 12, 5, 7), 3,
                    q)
                     .view(2, 3, 4, 35).transpose(1, 2).reshape(2, 12, 5, 7))):
        yield 'groupnorm', what, dict(x=v, w=h), y.to(t), dict(groups=3)
    for what, y in (('right', F.batch_norm(k, None, None, q, None, True)), ('an instance norm', F.instance_norm(
            k, weight=q)), ('the last image\'s statistics', (k - k[1:].mean((0, 2, 3), True)) * torch.rsqrt(
                k[1:].var((0, 2, 3), unbiased=False, keepdim=True) + 1e-5) * q[None, :, None, None])):
        yield 'batchnorm', what, dict(x=v, w=h), y.to(t), {}
    for name, p in (('l1norm', u.abs().sum(-1, True)), ('l2norm', u.norm(dim=-1, keepdim=True)),
            ('frobenius', u.norm())):
        for what, y in (('right', u / p), ('right, by a reciprocal', u * (1 / p)), ('the sum of squares', u / (
                p * p)), ('the last 12 are missing', u / (p * (180 / 192) ** (1 if name == 'l1norm' else .5))),
                        ('the largest', u / u.abs().amax(-1, True))):
            yield name, what, dict(x=x), y.to(t), {}


def pointwise(d, t):
    x, up = d(40, 100).to(t), d(40, 100).to(t)
    u, v = x.float(), up.float()
    tanh = 0.5 * u * (1 + torch.tanh(math.sqrt(2 / math.pi) * (u + 0.044715 * u ** 3)))
    for what, y in (('right', F.gelu(u)), ('right, erf by hand', 0.5 * u * (1 + torch.erf(u / math.sqrt(2)))),
                    ('erf of x in 16 bits', 0.5 * u * (1 + lo(torch.erf(u / math.sqrt(2)), BF))),
                    ('cut at 2', torch.where(u > 2, u, F.gelu(u))),
                    ('the cube\'s constant', 0.5 * u * (1 + torch.tanh(
                        0.79788 * (u + 0.0447 * u ** 3))))):
        yield 'gelu', what, dict(x=x), y.to(t), {}
    for what, y in (('right', tanh), ('right, by a sigmoid', u * torch.sigmoid(2 * math.sqrt(2 / math.pi) * (
            u + 0.044715 * u ** 3))), ('0.0044715', 0.5 * u * (1 + torch.tanh(0.7978845608 * (
                u + 0.0044715 * u ** 3)))), ('x squared', 0.5 * u * (1 + torch.tanh(0.7978845608 * (
                    u + 0.044715 * u ** 2)))), ('no factor', 0.5 * u * (1 + torch.tanh(u + 0.044715 * u ** 3)))):
        yield 'gelu_tanh', what, dict(x=x), y.to(t), {}
    for what, y in (('right', F.silu(u)), ('right, by a quotient', u / (1 + torch.exp(-u))), ('sigmoid(2 x)', u *
                    torch.sigmoid(2 * u)), ('the sign', u * torch.sigmoid(-u)), ('hard', F.hardswish(u)),
                    ('the last column', torch.cat([F.silu(u)[:, :-1], u[:, -1:]], 1))):
        yield 'silu', what, dict(x=x), y.to(t), {}
    for name, act, wrong in (('swiglu', F.silu, F.gelu), ('geglu', F.gelu, F.silu)):
        for what, y in (('right', act(u) * v), ('right, up first', v * act(u)), ('the other function', wrong(u) * v),
                        ('activated behind the product', act(u * v)), ('the sum', act(u) + v),
                        ('exchanged', act(v) * u),
                        ('interleaved halves', act(torch.cat([u[:, ::2], u[:, 1::2]], 1)) * v),
                        ('the gate\'s row is one off', act(u.roll(1, 0)) * v),
                        ('the gate in e4m3', lo(act(u), E4) * v)):
            yield name, what, dict(gate=x, up=up), y.to(t), {}


def products(d, t):
    a, b, bias = d(32, 160).to(t), d(160, 48, s=0.1).to(t), d(48).to(t)
    u, v, c = a.float(), b.float(), bias.float()
    split = sum(u[:, i:i + 40] @ v[i:i + 40] for i in range(0, 160, 40))
    last = (u @ v + c).to(t)
    last[-1], tile = last[-2], (u @ v + c).to(t)
    tile[16:32, 32:] = tile[:16, 32:]
    k16 = torch.zeros(32, 48)
    for i in range(0, 160, 20):
        k16 = lo(k16 + u[:, i:i + 20] @ v[i:i + 20], BF if t == f32 else t)
    for what, y in (('right', u @ v + c), ('right, split along k', split + c), ('right, float64', (
            u.double() @ v.double() + c)), ('right, sequential', torch.cumsum(u[:, :, None] * v, 1)[:, -1] + c),
                    ('one split of four is lost', split - u[:, 120:] @ v[120:] + c),
                    ('one split twice', split + u[:, 120:] @ v[120:] + c),
                    ('the last term twice', split + c + u[:, -1:]
                    @ v[-1:]), ('the bias in each split', split + 4 * c),
                    ('the bias down columns', split + d(32)[:, None]),
                    ('added in 16 bits by 20', k16 + c), ('operands in e4m3', lo(u, E4) @ lo(v, E4) + c),
                    ('the last row is its neighbour', last), ('a tile twice', tile), ('chopped', chop(split + c, t)),
                    ('B with strides exchanged', u @ v.T.reshape(160, 48) + c),
                    ('A in bf16, chopped', chop(u * 0.999, BF).float() @ v + c)):
        yield 'matmul', what, dict(a=a, b=b, bias=bias), y.to(t), {}
    w = d(48, 160, s=0.1).to(t)
    for what, y in (('right', u @ w.float().T + c), ('rounded before the bias', lo(u @ w.float().T, BF) + c),
                    ('the row of w is one off', u @ w.float().roll(1, 0).T + c), ('without bias', u @ w.float().T)):
        yield 'linear', what, dict(x=a, w=w, b=bias), y.to(t), {}
    w1, w2, b1 = d(160, 64, s=0.1).to(t), d(64, 24, s=0.2).to(t), d(64).to(t)

    def mlp(act=F.gelu, first=b1.float(), store=t, terms=64):
        return lo(act(lo(u @ w1.float() + first, store)), store)[:, :terms] @ w2.float()[:terms]
    for what, y in (('right', mlp()), ('relu squared', mlp(lambda h: torch.relu(h) ** 2)),
            ('without b1', mlp(first=0)),
                    ('b1 twice', mlp(first=2 * b1.float())), ('hidden in e4m3', mlp(store=E4)),
                    ('4 hidden units are lost', mlp(terms=60)), ('the linear part alone', mlp(lambda h: h))):
        yield 'mlp', what, dict(x=a, w1=w1, w2=w2, b1=b1), y.to(t), {}


def rotations(d, t):
    x, e = d(2, 3, 24, 32).to(t), torch.arange(24)[:, None] * 100.0 ** (-torch.arange(16) / 16)
    u, c, s = x.float(), e.cos(), e.sin()

    def turn(c=c, s=s, inter=False):
        a, b = (u[..., ::2], u[..., 1::2]) if inter else (u[..., :16], u[..., 16:])
        y, z = a * c - b * s, b * c + a * s
        return torch.stack([y, z], -1).flatten(-2) if inter else torch.cat([y, z], -1)
    for inter in (False, True):
        i = dict(inter=inter)
        for what, y in (('right', turn(**i)), ('right, by complex numbers', torch.view_as_real(torch.complex(
                u[..., ::2].contiguous(), u[..., 1::2].contiguous()) * torch.complex(c,
                s)).flatten(-2) if inter else turn()), ('the other layout', turn(inter=not inter)),
                ('one position on', turn(
                    c.roll(-1, 0), s.roll(-1, 0), **i)), ('the same for all rows', turn(c[:1], s[:1], **i)),
                        ('backward', turn(c, -s, **i)), ('cos and sin exchanged', turn(s, c, **i)),
                        ('frequencies reversed', turn(c.flip(-1), s.flip(-1), **i)),
                        ('half of the head', torch.cat([turn(**i)[..., :16], u[..., 16:]], -1)),
                        ('tables in e4m3', turn(lo(c, E4), lo(s, E4), **i))):
            yield 'rope', what, dict(x=x, cos=c, sin=s), y.to(t), dict(interleaved=int(inter))


FAMILIES = (shares, norms, pointwise, products, rotations) + unseen_attention.FAMILIES + unseen_long.FAMILIES


def cases(t, seed, scale=1.0):
    g = torch.Generator().manual_seed(seed)

    def d(*shape, s=1.0):
        return torch.randn(*shape, generator=g) * s * scale
    for family in FAMILIES:
        yield from family(d, t)
