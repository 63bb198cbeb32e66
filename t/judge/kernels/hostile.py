# SPDX-License-Identifier: Apache-2.0
# A third draw of kernels by hand, whose mistakes were listed before anybody looked at how judge works: those of
# indexes, of warps and blocks that are lost or counted twice, of types of intermediate values, of states that are
# stale, of special values. groups(t, seed) yields (kernel, operands, facts, results), the last a list of (what,
# result): the first is right, as is each that begins with 'right'; the others name their mistake.
import math

import torch
import torch.nn.functional as F

import hostile_attention
import hostile_long

INF, NAN = float('inf'), float('nan')
E4, E5, BF = torch.float8_e4m3fn, torch.float8_e5m2, torch.bfloat16
lo, chop = hostile_long.lo, hostile_long.chop


def rows(d, t):
    x = d(36, 320, s=2.0).to(t)
    u = x.float()
    m = u.amax(-1, True)
    e = torch.exp(u - m)
    s = e.sum(-1, True)
    lanes = e.view(36, 10, 32)
    tree = lanes.clone()
    for half in (16, 8, 4, 2, 1):
        tree = tree[..., :half] + tree[..., half:2 * half]
    shuffled = lanes.sum(1)
    for hop in (16, 8, 4, 2):   # the last exchange of a warp's reduction is forgotten
        shuffled = shuffled + shuffled.roll(-hop, -1)
    yield 'softmax', dict(x=x), {}, [
        ('right', e / s), ('right, by trees of 32', e / tree.sum((1, 2))[:, None]),
        ('right, in float64', torch.softmax(u.double(), -1)),
        ('half of a warp\'s lanes is lost', e / lanes[..., :16].sum((1, 2))[:, None]),
        ('the last exchange of the warp is forgotten', e / shuffled[:, :1]),
        ('a boundary element counts twice', e / (s + e[:, 160:161])),
        ('the largest is not in the sum', e / (s - 1).clamp(min=1e-6)),
        ('one over the sum in bf16', e * lo(1 / s, BF)), ('the sum in fp16', e / lo(s,
                torch.float16) * (1 + 2 ** -11)),
        ('arguments rounded to bf16', torch.exp(lo(u - m, BF)) / s),
        ('arguments below -8 are cut', torch.exp((u - m).clamp(min=-8)) / torch.exp((u - m).clamp(min=-8)).sum(-1,
                True)),
        ('a row of a tile is stale', torch.where(torch.arange(36)[:, None] == 20, (e / s)[19:20], e / s))]
    tiny = d(8, 64, s=2.0).to(t)
    tiny[:, 0] += 14 if t == torch.float16 else 90
    y = torch.softmax(tiny.double(), -1).to(t)
    yield 'softmax', dict(x=tiny), {}, [
        ('right', y), ('subnormal shares are flushed', torch.where(y.abs() < torch.finfo(t).tiny, 0 * y, y))]
    yield 'log_softmax', dict(x=x), {}, [
        ('right', u - m - s.log()), ('right, in float64', torch.log_softmax(u.double(), -1)),
        ('log of a share plus 1e-4', torch.log(e / s + 1e-4)), ('the sum in bf16', u - m - lo(s, BF).log()),
        ('log1p for log', u - m - s.log1p()), ('the row before\'s sum', u - m - s.roll(1, 0).log()),
        ('x - m in bf16', lo(u - m, BF) - s.log()), ('chopped', chop(u - m - s.log(), t))]
    yield 'logsumexp', dict(x=x), {}, [
        ('right', (m + s.log())[:, 0]), ('a warp\'s half is lost', (m + lanes[..., :16].sum((1, 2))[:, None].log())[:,
                0]),
        ('the maximum of the first block', (u[:, :32].amax(-1, True) + s.log())[:, 0]),
        ('the maximum twice', (2 * m + s.log())[:, 0]), ('a term twice', (m + (s + e[:, :1] * 3).log())[:, 0]),
        ('log2 not turned back', (m + s.log2())[:, 0])]


def norms(d, t):
    x, w, b, r = d(44, 224).to(t), (1 + 0.3 * d(224)).to(t), d(224).to(t), d(44, 224).to(t)
    u, g, c, h = x.float(), w.float(), b.float(), r.float()
    q = (u * u).mean(-1, True)
    by = u.view(44, 7, 32)
    yield 'rmsnorm', dict(x=x, w=w), dict(eps=1e-5), [
        ('right', u * torch.rsqrt(q + 1e-5) * g), ('right, the weight first', u * g / (q + 1e-5).sqrt()),
        ('eps times the width', u * torch.rsqrt((u * u).sum(-1, True) + 0.05) * 224 ** .5 * g),
        ('a warp of seven is lost', u * torch.rsqrt((by[:, :6] ** 2).sum((1, 2))[:, None] / 224 + 1e-5) * g),
        ('x in bf16 for the squares', u * torch.rsqrt((chop(u * .999, BF).float() ** 2).mean(-1, True) + 1e-5) * g),
        ('the square of the mean', u * torch.rsqrt(by.abs().mean(-1).square().mean(-1, True) + 1e-5) * g),
        ('an approximate root of 9 bits', u * lo(torch.rsqrt(q + 1e-5), E4 if t != torch.float32 else BF) * g),
        ('the weight of the tile before', u * torch.rsqrt(q + 1e-5) * g.roll(32)),
        ('the row\'s stride is the padded one', (lambda y: torch.as_strided(
            torch.cat([y.flatten(), torch.zeros(44 * 32)]), (44, 224), (225, 1)))(u * torch.rsqrt(q + 1e-5) * g))]
    z = u + h
    y = z * torch.rsqrt((z * z).mean(-1, True) + 1e-5) * g
    yield 'rmsnorm', dict(x=x, w=w, residual=r), dict(eps=1e-5), [
        ('right', y), ('statistics of x alone', z * torch.rsqrt(q + 1e-5) * g),
        ('the row before\'s residual', (lambda z: z * torch.rsqrt((z * z).mean(-1, True) + 1e-5) * g)(u + h.roll(1,
                0))),
        ('x + residual in e5m2', (lambda z: z * torch.rsqrt((z * z).mean(-1, True) + 1e-5) * g)(lo(z, E5)))]
    mu, var = u.mean(-1, True), u.var(-1, unbiased=False, keepdim=True)
    y = (u - mu) * torch.rsqrt(var + 1e-5)
    run, m2 = torch.zeros(44, 1), torch.zeros(44, 1)   # Welford's
    for i in range(224):
        step = u[:, i:i + 1] - run
        run = run + step / (i + 1)
        m2 = m2 + step * (u[:, i:i + 1] - run)
    bad = m2 + 0
    yield 'layernorm', dict(x=x, w=w, b=b), {}, [
        ('right', y * g + c), ('right, by Welford', (u - run) * torch.rsqrt(m2 / 224 + 1e-5) * g + c),
        ('the mean of half', (u - u[:, :112].mean(-1, True)) * torch.rsqrt(var + 1e-5) * g + c),
        ('Welford\'s step is not divided', (u - run * 1.01) * torch.rsqrt(bad / 224 + 1e-5) * g + c),
        ('groups joined without the means\' difference', (u - mu) * torch.rsqrt(
            u.view(44, 2, 112).var(-1, unbiased=False).mean(-1, True) + 1e-5) * g + c),
        ('the weight of the bias', y * c + g), ('rounded before the bias', lo(y * g, BF) + c),
        ('the weight for centred x + mean', y * g + c + mu * 2 ** -6),
        ('the neighbour row\'s variance', (u - mu) * torch.rsqrt(var.roll(1, 0) + 1e-5) * g + c),
        ('the last 4 without bias', torch.cat([(y * g + c)[:, :-4], (y * g)[:, -4:]], 1))]
    v, k, l = d(3, 8, 6, 5).to(t), d(8).to(t), d(8).to(t)
    a, k2, l2 = v.float(), k.float(), l.float()
    shape = (1, 8, 1, 1)
    n = F.group_norm(a, 2)
    yield 'groupnorm', dict(x=v, w=k, b=l), dict(groups=2), [
        ('right', F.group_norm(a, 2, k2, l2)), ('the weight by group', n * k2[:2].repeat_interleave(4).view(shape) +
                                                l2.view(shape)),
        ('Bessel\'s correction', F.group_norm(a, 2, k2 * (119 / 120) ** .5, l2)),
        ('the last row of pixels is not in the mean', F.group_norm(a, 2, k2, l2) + (
            a.view(3, 2, 120).mean(-1) - a[..., :5, :].reshape(3, 2, 100).mean(-1)).repeat_interleave(4, 1)[..., None,
                    None]),
        ('the image before\'s statistics', (a - a.roll(1, 0).view(3, 2, 120).mean(-1).repeat_interleave(
            4, 1)[..., None, None]) * k2.view(shape) + l2.view(shape)),
        ('bias twice', F.group_norm(a, 2, k2, 2 * l2))]
    yield 'batchnorm', dict(x=v, w=k, b=l), {}, [
        ('right', F.batch_norm(a, None, None, k2, l2, True)),
        ('Bessel\'s correction', F.batch_norm(a, None, None, k2 * (89 / 90) ** .5, l2, True)),
        ('the running mean\'s momentum', F.batch_norm(a, a.mean((0, 2, 3)) * .9, a.var((0, 2, 3)), k2, l2, False)),
        ('the channel before\'s weight', F.batch_norm(a, None, None, k2.roll(1), l2, True)),
        ('eps 1e-3', F.batch_norm(a, None, None, k2, l2, True, eps=1e-3 if t == torch.float32 else 3e-2)),
        ('the bias is scaled', F.batch_norm(a, None, None, k2, l2 * k2, True))]
    for name, p in (('l1norm', u.abs().sum(-1, True)), ('l2norm', u.norm(dim=-1, keepdim=True)), ('frobenius',
            u.norm())):
        part = {'l1norm': by.abs()[..., :31].sum((1, 2))[:, None], 'l2norm': (by[..., :31] ** 2).sum((1, 2))[:,
                None] ** .5,
                'frobenius': (by[..., :31] ** 2).sum() ** .5}[name]
        yield name, dict(x=x), {}, [
            ('right', u / p), ('right, in float64', u.double() / p), ('lane 31 is lost', u / part),
            ('the norm in bf16', u / lo(p, BF) * (1 + (2 ** -8 if t != torch.float32 else 0))), ('eps 1e-2 below',
                    u / (
                p * 1.0 + 1e-2 * p)), ('the next row\'s norm', u / (p.roll(1, 0) if p.dim() else p * (43 / 44))),
            ('chopped', chop(u / p, t))]


def activations(d, t):
    x, up = d(30, 128, s=1.5).to(t), d(30, 128).to(t)
    u, v = x.float(), up.float()
    right = F.gelu(u)
    yield 'gelu', dict(x=x), {}, [
        ('right', right), ('right, by erfc', 0.5 * u.double() * torch.erfc(-u.double() / math.sqrt(2))),
        ('the sigmoid\'s approximation', u * torch.sigmoid(1.702 * u)), ('cut to 0 below -2.5', torch.where(u < -2.5,
                0 * u, right)),
        ('the density is added', right + u * torch.exp(-u * u / 2) * 0.01), ('every fourth is x', torch.where(
            torch.arange(128) % 4 == 3, u, right)),
        ('sqrt 2 is 1.4', 0.5 * u * (1 + torch.erf(u / 1.4)))]
    inner = math.sqrt(2 / math.pi) * (u + 0.044715 * u ** 3)
    yield 'gelu_tanh', dict(x=x), {}, [
        ('right', F.gelu(u, approximate='tanh')), ('the exact one', right),
        ('tanh of 8 bits', 0.5 * u * (1 + lo(torch.tanh(inner), E4))), ('the argument is cut at 1', 0.5 * u * (
            1 + torch.tanh(inner.clamp(max=1)))),
        ('2/pi without the root', 0.5 * u * (1 + torch.tanh(inner * math.sqrt(2 / math.pi))))]
    yield 'silu', dict(x=x), {}, [
        ('right', F.silu(u)), ('exp in bf16', u / (1 + lo(torch.exp(-u), BF)) * (1 + 2 ** -9)),
        ('the sigmoid by tanh of x', u * (0.5 + 0.5 * torch.tanh(u))),
        ('1/(1 + e^-x) of 11 bits', u * (lo(torch.sigmoid(u), BF))), ('chopped', chop(F.silu(u), t)),
        ('two neighbours exchanged', F.silu(u).view(30, 64, 2).flip(-1).reshape(30, 128))]
    zero = torch.tensor([-0.0, 0.0] * 64).expand(4, 128).contiguous().to(t)
    yield 'silu', dict(x=torch.cat([x[:4], zero])), {}, [
        ('right', F.silu(torch.cat([u[:4], zero.float()]))), ('Inf for a large argument', F.silu(torch.cat([
            u[:4], zero.float()])) + torch.cat([torch.where(u[:4] > 3, INF, 0.0), 0 * zero.float()]))]
    for name, act in (('swiglu', F.silu), ('geglu', F.gelu)):
        yield name, dict(gate=x, up=up), {}, [
            ('right', act(u) * v), ('right, in float64', act(u.double()) * v), ('up + 1', act(u) * (v + 1)),
            ('the gate of the pair before', act(u.roll(1, -1)) * v), ('the product in e5m2', lo(act(u) * v, E5)),
            ('up is cut at 1', act(u) * v.clamp(max=1.0)), ('activated in fp16 with a carry',
                    act(u) * (1 + 2 ** -7) * v),
            ('the last 32 by the other function', torch.cat([(act(u) * v)[:, :96], (torch.relu(u) * v)[:, 96:]], 1))]


def products(d, t):
    a, b, bias = d(40, 192).to(t), d(192, 56, s=.08).to(t), d(56).to(t)
    u, v, c = a.float(), b.float(), bias.float()
    y = u @ v
    parts = torch.stack([u[:, i:i + 48] @ v[i:i + 48] for i in range(0, 192, 48)])
    lost = y.clone()
    lost[8:16, 16:24] -= u[8:16, 96:112] @ v[96:112, 16:24]
    stale = y.clone()
    stale[32:40] = u[32:40, :144] @ v[:144] + u[24:32, 144:] @ v[144:]
    frag = (u.view(40, 12, 16)[:, :, [0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15]].reshape(40, 192)) @ v
    k64 = torch.zeros(40, 56)
    for i in range(0, 192, 64):
        k64 = lo(k64 + u[:, i:i + 64] @ v[i:i + 64], torch.float16 if t != torch.float16 else BF)
    yield 'matmul', dict(a=a, b=b, bias=bias), {}, [
        ('right', y + c), ('right, four splits backward', parts.flip(0).sum(0) + c), ('right, in float64',
                u.double() @ v.double() + c),
        ('right, the bias first', torch.addmm(c, u, v)),
        ('partial sums of splits in e5m2', lo(parts, E5).sum(0) + c), ('a fragment lacks 16 of k', lost + c),
        ('a stage of the pipeline is stale', stale + c), ('elements of a fragment are permuted', frag + c),
        ('sums of 64 in the other 16 bits', k64 + c), ('the tail of k is read from the next row', y + c + u.roll(-1,
                0)[:, :1] @ v[:1]),
        ('the bias is one tile on', y + c.roll(8)), ('bias in e4m3', y + lo(c, E4)), ('beta is 0.99', y + .99 * c),
        ('one column of 56 is not written', torch.cat([(y + c)[:, :-1], 0 * y[:, :1]], 1)),
        ('rows are read with stride 193', (torch.cat([a.float().flatten(), torch.zeros(40)])).as_strided((40, 192),
                (193, 1)) @ v + c),
        ('TF32 operands are chopped to bf16', chop(u * .9999, BF).float() @ chop(v * .9999, BF).float() + c)]
    big = (a.float() * 400).to(t)
    z = big.float() @ (v * 200)
    if t == torch.float16:
        vb = (v * 200).to(t)
        z = big.float() @ vb.float()
        yield 'matmul', dict(a=big, b=vb), {}, [('right', z), ('saturated where infinite', z.clamp(-65504, 65504))]
    w = d(56, 192, s=.08).to(t)
    y = u @ w.float().T
    yield 'linear', dict(x=a, w=w, b=bias), {}, [
        ('right', y + c), ('activation relu inside', torch.relu(y + c)), ('chopped', chop(y + c, t)),
        ('the output transposed in tiles', (lambda z: torch.cat([torch.cat([z[i:i + 8, j:j + 8].T for j in range(0,
                56, 8)], 1)
                                                                for i in range(0, 40, 8)]))(y + c)),
        ('rows of w of another layer\'s stride', u @ w.float().flatten().roll(1).view(56, 192).T + c),
        ('x is normalised by its maximum in e4m3', lo(u / u.abs().amax(-1, True) * 440, E4) / 440 * u.abs().amax(
            -1, True) @ w.float().T + c)]
    w1, b1, w2, b2 = d(192, 72, s=.08).to(t), d(72).to(t), d(72, 40, s=.1).to(t), d(40).to(t)

    def mlp(first=b1.float(), act=F.gelu, second=b2.float(), h=lambda z: lo(z, t), w2=w2.float()):
        return h(act(lo(u @ w1.float() + first, t))) @ w2 + second
    yield 'mlp', dict(x=a, w1=w1, w2=w2, b1=b1, b2=b2), {}, [
        ('right', mlp()), ('right, in float64 behind the stores', mlp(w2=w2.double(), h=lambda z: lo(z, t).double())),
        ('b2 twice', mlp(second=2 * b2.float())), ('b2 is lost', mlp(second=0)),
                ('the hidden units\' halves exchanged', mlp(
            h=lambda z: lo(z, t).roll(36, 1))), ('GELU of tanh without the cube', mlp(act=lambda z: .5 * z * (
                1 + torch.tanh(.79788 * z)))), ('one hidden unit is stale', mlp(h=lambda z: torch.cat([lo(z, t)[:,
                        :-1], lo(
                    z, t)[:, -2:-1]], 1))), ('dropout of 1 in 64 at inference', mlp(h=lambda z: lo(z, t) * (
                        torch.arange(72) % 64 != 5) * 64 / 63)), ('hidden in e5m2', mlp(h=lambda z: lo(z, E5)))]
    wg, wu, wd = d(192, 64, s=.08).to(t), d(192, 64, s=.08).to(t), d(64, 48, s=.12).to(t)

    def gated(mix=lambda g, h: lo(F.silu(g), t) * h, wd=wd.float(), cut=64):
        g, h = lo(u @ wg.float(), t), lo(u @ wu.float(), t)
        return lo(mix(g, h), t)[:, :cut] @ wd[:cut]
    yield 'gated_mlp', dict(x=a, wg=wg, wu=wu, wd=wd), {}, [
        ('right', gated()), ('gate and up interleaved', gated(lambda g, h: (lambda z: F.silu(z[:, :64]) * z[:, 64:])(
            torch.stack([g, h], -1).flatten(1)))), ('clamped at 0.5', gated(lambda g,
                    h: F.silu(g).clamp(max=.5) * h)),
        ('up plus 1', gated(lambda g, h: F.silu(g) * (h + 1))), ('8 columns are lost', gated(cut=56)),
        ('a rank\'s part is missing', gated(wd=wd.float() * (torch.arange(64) // 16 != 2)[:, None])),
        ('the last rank counts twice', gated(wd=wd.float() * (1 + (torch.arange(64) // 16 == 3))[:, None]))]


def rotations(d, t):
    x, e = d(2, 4, 30, 48).to(t), torch.arange(30)[:, None] * 1000.0 ** (-torch.arange(24) / 24)
    u, c, s = x.float(), e.cos(), e.sin()

    def turn(c=c, s=s, u=u, inter=0):
        a, b = (u[..., ::2], u[..., 1::2]) if inter else (u[..., :24], u[..., 24:])
        y, z = a * c - b * s, b * c + a * s
        return torch.stack([y, z], -1).flatten(-2) if inter else torch.cat([y, z], -1)
    for inter in (0, 1):
        def of(c=c, s=s, u=u):
            return turn(c, s, u, inter)
        overwritten = u.clone()   # the second half reads what the first has already written
        a = u[..., ::2] * c - u[..., 1::2] * s if inter else u[..., :24] * c - u[..., 24:] * s
        second = (u[..., 1::2] if inter else u[..., 24:]) * c + a * s
        overwritten = torch.stack([a, second], -1).flatten(-2) if inter else torch.cat([a, second], -1)
        other = 1000.0 ** (-torch.arange(24) / 24) * torch.arange(1, 31)[:, None]
        yield 'rope', dict(x=x, cos=c, sin=s), dict(interleaved=inter), [
            ('right', of()), ('right, in float64', of(c.double(), s.double(), u.double())), ('written in place',
                    overwritten),
            ('positions from 1', of(other.cos(), other.sin())), ('a head is not turned', torch.cat([of()[:, :3], u[:,
                    3:]], 1)),
            ('the position of the batch', of(c.roll(1, 0), s.roll(1, 0))), ('sin of 8 bits', of(c, lo(s, E5))),
            ('the last pair is not turned', of(torch.where(torch.arange(24) < 23, c, torch.ones(())), torch.where(
                torch.arange(24) < 23, s, torch.zeros(())))), ('scaled by 1.1 as in YaRN', of(1.01 * c, 1.01 * s)),
            ('the angle is halved', of((e / 2).cos(), (e / 2).sin())), ('chopped', chop(of(), t))]


FAMILIES = (rows, norms, activations, products, rotations) + hostile_attention.FAMILIES + hostile_long.FAMILIES


def groups(t, seed):
    g = torch.Generator().manual_seed(seed)

    def d(*shape, s=1.0):
        return torch.randn(*shape, generator=g) * s
    for family in FAMILIES:
        yield from family(d, t)
