# SPDX-License-Identifier: Apache-2.0
# The part of subtle.py with scans, images and reductions, and what all its parts use.
import torch
import torch.nn.functional as F

from hostile_long import BF, E4, E5, lo


def narrow(t):
    """The 16 bits in which a kernel for t may have added."""
    return torch.float16 if t == torch.float16 else BF


def added(x, f):
    """Sums along the last axis, one element after the other, in f."""
    y = torch.zeros(x.shape[:-1])
    for part in x.unbind(-1):
        y = lo(y + part, f)
    return y


def by_parts(a, b, f, n):
    """A product whose parts of n terms are added in f."""
    y = torch.zeros(*a.shape[:-1], b.shape[-1])
    for i in range(0, a.shape[-1], n):
        y = lo(y + a[..., i : i + n] @ b[..., i : i + n, :], f)
    return y


def fast_exp(x):
    """Schraudolph's exponential: the bits of a number read as its logarithm."""
    return ((x.clamp(-87, 87) * 1.4426950408889634 + 126.9564) * 2**23).int().view(torch.float32)


def short_exp(x, degree):
    """2^x by a polynomial of its fraction."""
    y = x.clamp(-120, 120) * 1.4426950408889634
    f = y - y.floor()
    p = 1 + f * (0.6565 + 0.3435 * f) if degree == 2 else 1 + f * (0.6951 + f * (0.2276 + 0.0773 * f))
    return torch.ldexp(p, y.floor().int())


def scans(d, t):
    x = d(21, 211).to(t)
    u = x.float()
    c = u.cumsum(-1)
    hops = u.clone()
    for h in (1, 2, 4, 8, 16, 32, 64):  # the last hop of Kogge and Stone, 128, is left out
        hops = hops + F.pad(hops, (h, 0))[:, :-h]
    tiles = F.pad(u, (0, 13)).view(21, 7, 32)
    local, sums = tiles.cumsum(-1), tiles.sum(-1)
    late = (local + F.pad(sums, (1, 0))[:, :-1, None]).reshape(21, 224)[:, :211]
    low = torch.stack([added(u[:, : i + 1], narrow(t)) for i in range(211)], 1)
    yield 'cumsum', dict(x=x), {}, [
        ('right', c),
        ('right, by trees', (local + F.pad(sums.cumsum(-1), (1, 0))[:, :-1, None]).reshape(21, 224)[:, :211]),
        ('added in 16 bits', low),
        ('the last hop is left out', hops),
        ('a tile\'s sum for its prefix', late),
        ('an average', c / torch.arange(1, 212)),
        ('the first of each tile twice', c + F.pad(tiles[..., 0], (0, 0))[:, 1:2] * (torch.arange(211) > 32)),
        ('the second half starts again', torch.cat([c[:, :105], u[:, 105:].cumsum(-1)], 1)),
        ('of |x|', u.abs().cumsum(-1)),
    ]
    m = (torch.arange(211) % 4 != 1).float().expand(21, 211).contiguous()
    h = (u * m).cumsum(-1)
    yield 'masked_cumsum', dict(x=x, mask=m), {}, [
        ('right', h),
        ('the mask of the result', c * m),
        ('what is shut counts a 64th', (u * m.clamp(min=1 / 64)).cumsum(-1)),
        ('the mask inverted', (u * (1 - m)).cumsum(-1)),
        ('the mask of 208', (u * torch.cat([m[:, :200], 1 + 0 * m[:, 200:]], 1)).cumsum(-1)),
    ]
    f = (1 + 0.05 * d(21, 97)).to(t)
    f[3, 50] = -f[3, 50]
    g = f.float().cumprod(-1)
    yield 'cumprod', dict(x=f), {}, [
        ('right', g),
        ('by sums of logarithms of |x|', f.float().abs().log().cumsum(-1).exp()),
        ('cut at 1.5', g.clamp(max=1.5)),
        ('in 8 bits by 24', torch.cat([g[:, :24], lo(g[:, 23:24], E4) * f.float()[:, 24:].cumprod(-1)], 1)),
        ('logarithms in 16 bits', torch.sign(g) * lo(f.float().abs().log(), BF).cumsum(-1).exp()),
    ]
    a, b, k = torch.sigmoid(d(2, 41, 3, 4)).to(t), d(2, 41, 3, 4).to(t), d(2, 41, 1, 4).to(t)
    aa, bb, kk = a.float(), b.float(), k.float()

    def scan(step=lambda a, h, b: a * h + b, f=None, reset=0, early=False, state=None):
        h, y = torch.zeros(2, 3, 4), []
        for i in range(41):
            h = h * 0 if reset and i % reset == 0 else h
            old, h = h, step(aa[:, i], h, bb[:, i])
            h = lo(h, f) if f else h
            y.append(((old if early else h) * (kk[:, i] if state is None else kk[:, state])).sum(-1))
        return torch.stack(y, 1)

    yield 'selective_scan', dict(a=a, b=b, c=k), {}, [
        ('right', scan()),
        ('states in fewer bits', scan(f=E4 if t != torch.float32 else BF)),
        ('b times 1 - a', scan(lambda a, h, b: a * h + (1 - a) * b)),
        ('the state before', scan(early=True)),
        ('starts again each 16', scan(reset=16)),
        ('c of the first step', scan(state=0)),
        ('a is squared', scan(lambda a, h, b: a * a * h + b)),
        ('b decays too', scan(lambda a, h, b: a * (h + b))),
    ]
    q, r, v = d(2, 53, 24).to(t), d(2, 53, 24).to(t), d(2, 53, 20).to(t)
    s = r.float().mT @ v.float()
    yield 'linear_attention', dict(q=q, k=r, v=v), {}, [
        ('right', q.float() @ s),
        ('right, scores first', (q.float() @ r.float().mT) @ v.float()),
        ('states in 16 bits by ' '8', q.float() @ by_parts(r.float().mT, v.float(), narrow(t), 8)),
        ('the last 5 keys', q.float() @ (r.float()[:, :48].mT @ v.float()[:, :48])),
        ('scaled', q.float() @ s * 24**-0.5),
        ('normalised', (q.float() @ s) / (q.float() @ r.float().sum(1)[..., None]).abs().clamp(min=1)),
        ('causal', (q.float() @ r.float().mT).tril() @ v.float()),
    ]
    x, w, z = d(3, 6, 43).to(t), d(6, 1, 4).to(t), d(6).to(t)
    u, k, c = x.float(), w.float(), z.float()
    y = F.conv1d(F.pad(u, (3, 0)), k, c, groups=6)
    carried = torch.cat([u.roll(1, 0)[..., -3:], u], -1)
    yield 'causal_conv1d', dict(x=x, w=w, b=z), {}, [
        ('right', y),
        ('centred', F.conv1d(F.pad(u, (1, 2)), k, c, groups=6)),
        ('the state of another sequence', F.conv1d(carried, k, c, groups=6)),
        ('taps flipped', F.conv1d(F.pad(u, (3, 0)), k.flip(-1), c, groups=6)),
        ('the residual is added', y + u),
        ('taps of 8 bits', F.conv1d(F.pad(u, (3, 0)), lo(k, E4), c, groups=6)),
        ('the last 3 by zeros', torch.cat([y[..., :40], 0 * y[..., 40:]], -1)),
    ]


def images(d, t):
    x, w, b = d(2, 6, 11, 13).to(t), d(8, 3, 3, 3, s=0.2).to(t), d(8).to(t)
    u, v, c = x.float(), w.float(), b.float()
    how = dict(stride=2, padding=1, groups=2)
    y = F.conv2d(u, v, c, **how)
    cols = F.unfold(u[:, :3], 3, padding=1, stride=2)
    low = by_parts(v[:4].reshape(4, 27)[None], cols, narrow(t), 9).view(2, 4, 6, 7)
    yield 'conv', dict(x=x, w=w, b=b), how, [
        ('right', y),
        ('9 taps each added in 16 bits', torch.cat([low + c[:4, None, None], y[:, 4:]], 1)),
        ('groups ' 'exchanged', F.conv2d(u.roll(3, 1), v, c, **how)),
        (
            'channels interleaved over groups',
            F.conv2d(u.view(2, 3, 2, 11, 13).transpose(1, 2).reshape(2, 6, 11, 13), v, c, **how),
        ),
        ('padding before alone', F.conv2d(F.pad(u, (2, 0, 2, 0)), v, c, stride=2, groups=2)),
        ('not flipped back', F.conv2d(u, v.flip(-1), c, **how)),
        ('the bias of the next', F.conv2d(u, v, c.roll(1), **how)),
        ('stride counted from 1', F.conv2d(F.pad(u, (1, 2, 1, 2))[..., 1:, 1:], v, c, stride=2, groups=2)),
        ('the border is averaged', torch.cat([y[..., :1] * 1.5, y[..., 1:]], -1)),
        (
            'weights in int8 per tensor',
            F.conv2d(u, torch.round(v / v.abs().amax() * 127) / 127 * v.abs().amax(), c, **how),
        ),
    ]
    k = d(6, 4, 3, 3, s=0.3).to(t)
    z = F.conv_transpose2d(u, k.float(), stride=2, padding=1)
    yield 'conv_transpose', dict(x=x, w=k), dict(stride=2, padding=1), [
        ('right', z),
        ('the kernel flipped', F.conv_transpose2d(u, k.float().flip(-1, -2), stride=2, padding=1)),
        (
            'written, not added',
            F.interpolate(F.conv_transpose2d(u, k.float()[..., 1:2, 1:2]), scale_factor=2)[..., :21, :25],
        ),
        ('padding 0 cut behind', F.conv_transpose2d(u, k.float(), stride=2)[..., :21, :25]),
        ('a channel is missing', F.conv_transpose2d(u[:, :5], k.float()[:5], stride=2, padding=1)),
        ('taps of 8 bits', F.conv_transpose2d(u, lo(k, E4), stride=2, padding=1)),
    ]
    yield 'maxpool', dict(x=x), dict(window=3, stride=2), [
        ('right', F.max_pool2d(u, 3, 2)),
        ('begins with the smallest positive', F.max_pool2d(u, 3, 2).clamp(min=1e-38)),
        ('the largest magnitude', F.max_pool2d(u.abs(), 3, 2)),
        ('stride 1 cut', F.max_pool2d(u, 3, 1)[..., :5, :6]),
        ('a window of 3 by 2', F.max_pool2d(u, (3, 2), 2)),
        ('8 bits', lo(F.max_pool2d(u, 3, 2), E4)),
    ]
    yield 'avgpool', dict(x=x), dict(window=3, stride=2), [
        ('right', F.avg_pool2d(u, 3, 2)),
        ('over 8', F.avg_pool2d(u, 3, 2) * 9 / 8),
        ('each row of 8 bits', lo(F.avg_pool2d(u, (1, 3), (1, 2)), E5).unfold(2, 3, 2).mean(-1)),
        ('a window of 2', F.avg_pool2d(u, 2, 2)[..., :5, :6]),
        ('of squares', F.lp_pool2d(u, 2, 3, 2) / 3),
        (
            '9 terms in 16 bits',
            lo(added(u.unfold(2, 3, 2).unfold(3, 3, 2).flatten(-2), narrow(t) if t == torch.float32 else E4) / 9, t),
        ),
    ]
    x = d(33, 301).to(t)
    u = x.float()
    for name, n in (('sum', 1), ('mean', 301)):
        s = u.sum(-1)
        yield name, dict(x=x), {}, [
            ('right', s / n),
            ('right, by halves', (u[:, :150].sum(-1) + u[:, 150:].sum(-1)) / n),
            ('one after the other in ' '16 bits', added(u, narrow(t)) / n),
            ('over 300', s / (n if n > 1 else 1) * 301 / 300),
            ('vectors of 8 alone', u[:, :296].sum(-1) / n),
            ('Kahan\'s compensation twice', s / n * (1 + 2**-6)),
            ('rows run on', (s + u.roll(-1, 0)[:, :3].sum(-1)) / n),
            ('by lanes of 8 bits', lo(u[:, :300].view(33, 30, 10).sum(1), E4).sum(-1) / n + u[:, 300] / n),
        ]
    for name, f in (('max', torch.amax), ('min', torch.amin)):
        below = (-u.abs() if name == 'max' else u.abs()).to(t)
        yield name, dict(x=below), {}, [
            ('right', f(below.float(), -1)),
            ('begins with the least positive number', torch.full((33,), 2.0**-14)),
            ('begins with 0', torch.zeros(33)),
            ('the last 5 are not seen', f(below.float()[:, :296], -1) + (below.float()[:, 296:].amin(-1) < -9)),
            ('of neighbours\' means', f((below.float()[:, 1:] + below.float()[:, :-1]) / 2, -1)),
            ('the mean', below.float().mean(-1)),
        ]
    r = d(16, 90).to(t)
    v = r.float()
    yield 'all_reduce', dict(x=r), {}, [
        ('right', v.sum(0)),
        ('right, by pairs', sum(v[i] + v[i + 8] for i in range(8))),
        ('each hop in 16 bits', added(v.mT, narrow(t) if t == torch.float32 else E4)),
        ('a chunk lacks its last hop', torch.cat([v[:, :30].sum(0), v[:15, 30:60].sum(0), v[:, 60:].sum(0)])),
        ('two of one rank', v.sum(0) - v[3] + v[4]),
        ('in int8 with one ' 'scale', (torch.round(v / v.abs().amax() * 127) / 127 * v.abs().amax()).sum(0)),
        ('a chunk is ' 'stale', torch.cat([v[:, :60].sum(0), v[0, 60:]])),
    ]


FAMILIES = (scans, images)
