# SPDX-License-Identifier: Apache-2.0
# A sixth draw of kernels by hand: mistakes of ports to Triton and CUDA, over the kernels that other draws have least
# of. They are those of tails and their masks, of strides, of grids, of state that is stale, initialised late or
# added twice, of a type that is too narrow in one place. groups(t, seed) yields (kernel, operands, facts, results) as
# hostile.py does: the first result is right, as is each that begins with 'right'.
import torch
import torch.nn.functional as F

import ported_products
import ported_steps
from ported_products import INF, by_stride, lo, short, tiles


def reductions(d, t):
    x = (d(27, 203) - 3).to(t)  # the largest of a row is often below 0, as padding by 0 is not
    u = x.float()
    yield 'max', dict(x=x), {}, [
        ('right', u.amax(-1)),
        ('right, by tiles of 64', torch.stack([p.amax(-1) for p in u.split(64, -1)], -1).amax(-1)),
        ('the tail is padded with 0', F.pad(u - 4, (0, 53)).amax(-1) + 4),
        ('whole tiles alone', u[:, :192].amax(-1)),
        ('columns for rows', by_stride(u).amax(-1)),
        ('each thread\'s first element', u[:, ::4].amax(-1)),
        ('a race keeps the later tile\'s', torch.where(torch.arange(27) % 5 == 2, u[:, 192:].amax(-1), u.amax(-1))),
    ]
    yield 'min', dict(x=x), {}, [
        ('right', u.amin(-1)),
        ('the tail is padded with -3', F.pad(u, (0, 53), value=-7.0).amin(-1)),
        ('whole tiles alone', u[:, :192].amin(-1)),
        ('columns for rows', by_stride(u).amin(-1)),
        ('of magnitudes', u.gather(-1, u.abs().argmin(-1, True))[:, 0]),
    ]
    big = d(21, 300).to(t)
    v = big.float()
    yield 'sum', dict(x=big), {}, [
        ('right', v.sum(-1)),
        ('right, from the last', v.flip(-1).sum(-1)),
        ('the tail wraps to the row\'s begin', F.pad(v, (0, 20), mode='circular').sum(-1)),
        ('columns for rows', by_stride(v).sum(-1)),
        ('blocks of the split are added without order, one is lost', v.sum(-1) - v[:, 128:192].sum(-1)),
        ('each step of the tree is stored in 16 bits', tiles(v, 32, lambda p: short(p.sum(-1), t)).sum(-1)),
        ('the output was not zeroed before the atomic additions', v.sum(-1) + v.sum(-1).roll(1) * 2**-3),
    ]
    yield 'mean', dict(x=big), {}, [
        ('right', v.mean(-1)),
        ('over the padded width of 512', v.sum(-1) / 512),
        ('over 304', v.sum(-1) / 304),
        ('the mean of tiles\' means, the last of 44', tiles(v, 64, lambda p: p.mean(-1)).mean(-1)),
    ]
    for name, least in (('argmax', False), ('argmin', True), ('topk', False)):
        w = -u if least else u
        top = w.argmax(-1)
        late = 202 - w.flip(-1).argmax(-1)
        yield name, dict(x=x), {}, [
            ('right', top),
            ('right, the last of ties', late),
            ('padding by 0 wins', F.pad(w - 6 if least else w, (0, 53)).argmax(-1)),
            ('an index of 7 bits', top % 128),
            ('of the column', by_stride(w).argmax(-1)),
            ('of the tile that came last', w[:, 192:].argmax(-1) + 192),
        ]


def scans(d, t):
    x = d(9, 174).to(t)
    u = x.float()
    parts = u.split(32, -1)
    local = torch.cat([p.cumsum(-1) for p in parts], -1)
    carry = torch.stack([p.sum(-1) for p in parts], -1)
    before = (carry.cumsum(-1) - carry).repeat_interleave(32, -1)[:, :174]
    stale = F.pad(carry, (1, 0))[:, :-1].repeat_interleave(32, -1)[:, :174]
    for name, o, r in (
        ('cumsum', dict(x=x), None),
        ('masked_cumsum', dict(x=x, mask=(d(9, 174) > -0.6).float().to(t)), 1),
    ):
        if r:
            u = x.float() * o['mask'].float()
            parts = u.split(32, -1)
            local = torch.cat([p.cumsum(-1) for p in parts], -1)
            carry = torch.stack([p.sum(-1) for p in parts], -1)
            before = (carry.cumsum(-1) - carry).repeat_interleave(32, -1)[:, :174]
            stale = F.pad(carry, (1, 0))[:, :-1].repeat_interleave(32, -1)[:, :174]
        yield name, o, {}, [
            ('right', u.cumsum(-1)),
            ('right, by blocks', local + before),
            ('the carry of one block back alone', local + stale),
            ('blocks start anew', local),
            ('the carry is the block\'s own', local + before + carry.repeat_interleave(32, -1)[:, :174] * 2**-2),
            ('exclusive', u.cumsum(-1) - u),
            ('the carry waits in 16 bits and is cut', local + short(before * 0.97, t)),
            ('a stride of two for lanes', torch.cat([u[:, ::2].cumsum(-1), u[:, 1::2].cumsum(-1)], -1)),
        ]
    p = (1 + 0.05 * d(7, 90)).to(t)
    q = p.float()
    blocks = [b.cumprod(-1) for b in q.split(32, -1)]
    yield 'cumprod', dict(x=p), {}, [
        ('right', q.cumprod(-1)),
        ('blocks start anew', torch.cat(blocks, -1)),
        ('the tail is multiplied by padding 0', torch.cat([q.cumprod(-1)[:, :64], 0 * q[:, 64:]], -1)),
        ('exclusive', F.pad(q.cumprod(-1), (1, 0), value=1.0)[:, :-1]),
        (
            'by exp of sums of logarithms of 16 bits',
            short(q.log(), t if t != torch.float32 else torch.bfloat16).cumsum(-1).exp(),
        ),
    ]
    a, b, c = (
        torch.rand(2, 37, 3, 4, generator=d.g).mul(0.8).add(0.1).to(t),
        d(2, 37, 3, 4).to(t),
        d(2, 37, 1, 4).to(t),
    )

    def scan(a, b, c, cut=0, keep=lambda h: h):
        h, y = torch.zeros(2, 3, 4), []
        for i in range(37):
            h = keep((0 if cut and i % cut == 0 else 1) * a[:, i] * h + b[:, i])
            y.append((h * c[:, i]).sum(-1))
        return torch.stack(y, 1)

    f, g, k = a.float(), b.float(), c.float()
    yield 'selective_scan', dict(a=a, b=b, c=c), {}, [
        ('right', scan(f, g, k)),
        ('chunks of 16 begin with 0', scan(f, g, k, 16)),
        ('c of the channel\'s neighbour state', scan(f, g, k.roll(1, -1))),
        ('states of one channel for all', scan(f[:, :, :1].expand_as(f), g, k)),
        ('the batch\'s stride is another', scan(f, g.flip(0), k)),
        ('the decay is applied behind the input', scan(f, g * f, k)),
        (
            'states wait in 16 bits',
            scan(f, g, k, keep=lambda h: short(h, torch.bfloat16) if t != torch.float32 else h * (1 + 2**-14)),
        ),
    ]
    x, w = d(2, 5, 61).to(t), d(5, 1, 4).to(t)
    u, k = x.float(), w.float()

    def conv(u, k, pad=(3, 0)):
        return F.conv1d(F.pad(u, pad), k, groups=5)

    joined = u.transpose(0, 1).reshape(1, 5, 122)
    yield 'causal_conv1d', dict(x=x, w=w), {}, [
        ('right', conv(u, k)),
        ('centred', conv(u, k, (1, 2))),
        ('the window\'s order is turned', conv(u, k.flip(-1))),
        ('the sequence before is its past', conv(joined, k).view(5, 2, 61).transpose(0, 1)),
        ('tiles of 16 do not see the tile before', torch.cat([conv(p, k) for p in u.split(16, -1)], -1)),
        ('the window of the next channel', conv(u, k.roll(1, 0))),
        ('SiLU is fused in', F.silu(conv(u, k))),
    ]
    q, k, v = (d(2, 33, 12).to(t) for _ in range(3))
    state = k.float().transpose(1, 2) @ v.float()
    o = q.float() @ state
    yield 'linear_attention', dict(q=q, k=k, v=v), {}, [
        ('right', o),
        ('the tail of 1 is not in the state', q.float() @ (k[:, :32].float().transpose(1, 2) @ v[:, :32].float())),
        ('the state of the other sequence', q.float() @ state.flip(0)),
        ('the state is transposed', q.float() @ state.transpose(1, 2)),
        ('over the root of 12', o * 12**-0.5),
        ('the state is not cleared between sequences', q.float() @ (state + F.pad(state, (0, 0, 0, 0, 1, 0))[:-1])),
    ]


def losses(d, t):
    x, y = d(31, 67).to(t), d(31, 67).to(t)
    u, v = x.float(), y.float()
    e = u - v
    n = e.numel()
    yield 'mse', dict(x=x, target=y), {}, [
        ('right', (e * e).mean()),
        ('over the rows', (e * e).sum() / 31),
        ('the padding counts', (e * e).sum() / (31 * 128)),
        ('the mean\'s square', e.mean(-1).square().mean()),
        ('one block\'s sum is added twice', ((e * e).sum() + (e[:4] ** 2).sum()) / n),
        ('rows of a transposed target', (u - by_stride(v)).square().mean()),
        ('the tail of 77 is lost', (e * e).flatten()[:2000].sum() / n),
    ]
    h = torch.where(e.abs() < 1, 0.5 * e * e, e.abs() - 0.5)
    yield 'huber', dict(x=x, target=y), {}, [
        ('right', h.mean()),
        ('no half below', torch.where(e.abs() < 1, e * e, e.abs() - 0.5).mean()),
        ('beta is compared with the square', torch.where(e * e < 1.5, 0.5 * e * e, e.abs() - 0.5).mean()),
        ('the sign is lost in the linear part', torch.where(e.abs() < 1, 0.5 * e * e, e - 0.5).mean()),
        ('the tail of 77 is lost', h.flatten()[:2000].sum() / n),
        ('of means of rows, of which one is missing', h.mean(-1)[:30].sum() / 31),
    ]
    s = torch.sign(v)
    z = (1 - u * s).clamp(min=0)
    yield 'hinge', dict(x=x, target=s.to(t)), {}, [
        ('right', z.mean()),
        ('the margin is added behind', ((-u * s).clamp(min=0) + 1).mean()),
        ('the sign of x', (1 - u.abs()).clamp(min=0).mean()),
        ('the padding has a loss of 1', (z.sum() + 31 * 61) / n),
        ('targets of the next row', (1 - u * s.roll(1, 0)).clamp(min=0).mean()),
    ]
    p, q = torch.log_softmax(u, -1), torch.softmax(v, -1)
    x2, y2 = p.to(t), q.to(t).clamp(min=2**-14)
    p, q = x2.float(), y2.float()
    k = q * (q.log() - p)
    yield 'kl_div', dict(x=x2, target=y2), {}, [
        ('right', k.sum(-1).mean()),
        ('over the classes too', k.mean()),
        ('without the target\'s entropy', (-q * p).sum(-1).mean()),
        ('logarithms of probabilities again', (q * (q.log() - p.exp())).sum(-1).mean()),
        ('the tail of 3 classes is lost', k[:, :64].sum(-1).mean()),
        ('the first row is added twice', (k.sum() + k[0].sum()) / 31),
    ]
    a, b, c = (d(23, 45).to(t) for _ in range(3))
    f, g, i = a.float(), b.float(), c.float()
    near, far = (f - g + 1e-6).norm(dim=-1), (f - i + 1e-6).norm(dim=-1)
    yield 'triplet', dict(anchor=a, positive=b, negative=c), {}, [
        ('right', (near - far + 1).clamp(min=0).mean()),
        ('squared distances', (near**2 - far**2 + 1).clamp(min=0).mean()),
        ('the margin is outside', ((near - far).clamp(min=0) + 1).mean()),
        ('cosine distances', (F.cosine_similarity(f, i) - F.cosine_similarity(f, g) + 1).clamp(min=0).mean()),
        ('the hinge of the mean', (near - far + 1).mean().clamp(min=0) + 0 * near[0]),
        (
            'the tail of 13 features is lost',
            ((f - g)[:, :32].norm(dim=-1) - (f - i)[:, :32].norm(dim=-1) + 1).clamp(min=0).mean(),
        ),
    ]
    logits, target = (2 * d(19, 130)).to(t), torch.randint(130, (19,), generator=d.g)
    u = logits.float()
    lse, at = torch.logsumexp(u, -1), u[torch.arange(19), target]
    yield 'logsumexp', dict(x=logits), {}, [
        ('right', lse),
        ('the tail is padded with 0', torch.logsumexp(F.pad(u, (0, 62)), -1)),
        ('of the tiles\' maxima', tiles(u, 64, lambda p: p.amax(-1)).logsumexp(-1)),
        ('the row is read by columns', torch.logsumexp(by_stride(u), -1)),
        ('the sum begins with 1', (lse.exp() + 1).log()),
    ]
    yield 'cross_entropy', dict(x=logits, target=target), {}, [
        ('right', (lse - at).mean()),
        ('the padding has weight', (torch.logsumexp(F.pad(u, (0, 126)), -1) - at).mean()),
        ('targets begin with 1', (lse - u[torch.arange(19), (target - 1) % 130]).mean()),
        ('the last row is masked and counts', (lse - at)[:18].sum() / 19),
        ('smoothing of 0.05', (lse - 0.95 * at - 0.05 * u.mean(-1)).mean()),
        (
            'the largest class is left out',
            (u.masked_fill(F.one_hot(u.argmax(-1), 130).bool(), -INF).logsumexp(-1) - at).mean(),
        ),
    ]
    share = torch.softmax(u, -1)
    hot = F.one_hot(target, 130).float()
    yield 'cross_entropy_dx', dict(x=logits, target=target), {}, [
        ('right', (share - hot) / 19),
        (
            'the tail\'s tile has the target subtracted again',
            (share - hot * (1 + (target[:, None] >= 128))) / 19 - hot * (torch.arange(19)[:, None] == 7) / 19,
        ),
        ('it adds to what was there', (share - hot) / 19 * 2),
        ('over the classes', (share - hot) / 130),
        ('the target of the row before', (share - hot.roll(1, 0)) / 19),
        (
            'shares by another row\'s sum',
            (share * share.new_tensor(1.0) * (lse - lse.roll(1)).exp()[:, None].clamp(0.5, 2) - hot) / 19,
        ),
    ]


def groups(t, seed):
    g = torch.Generator().manual_seed(seed)

    def d(*shape, s=1.0):
        return torch.randn(*shape, generator=g) * s

    d.g = g
    for family in (reductions, scans, losses) + ported_products.FAMILIES + ported_steps.FAMILIES:
        yield from family(d, t)
