# SPDX-License-Identifier: Apache-2.0
# A seventh draw: right kernels that are written in unusual ways, and the mistakes that lie beside each of these ways.
# The part here has attention, softmax, norms and losses. groups(t, seed) yields (kernel, operands, facts, results) as
# hostile.py does: the first result is right, as is each that begins with 'right'.
import math

import torch
import torch.nn.functional as F

import unusual_products
from hostile_attention import exact
from unusual_products import BF, E4, INF, folded, lo

LOG2E, LN2 = 1 / math.log(2), math.log(2)


def flash(a, b, c, t, keep, block=16, base=LOG2E, lazy=0.0, p=None, amax=0.0, order=None, sum_lazy=True, top=None,
          first=False, rows=1.0):
    """Attention by blocks of keys with powers of two: the scores' scale has log2 e in it. lazy: the maximum is only
    raised, and what there is rescaled, where it grows by more; amax: P is stored by that scale of each block."""
    n = b.shape[-2]
    s = (a @ b.mT * torch.tensor(a.shape[-1]**-0.5 * base)).masked_fill(~keep, -INF)
    m, o = torch.full_like(s[..., :1], -INF), torch.zeros_like(a[..., :1] * c[..., :1, :])
    total = torch.zeros_like(m)
    for j in order or range(0, n, block):
        x = s[..., j : j + block]
        new = torch.maximum(m, x.amax(-1, True)) if top is None else top
        new = torch.where((new <= m + lazy) & (m > -INF), m, new)
        still = new.clamp(min=-1e30)
        e = torch.exp2(x - (m.clamp(min=-1e30) if first and j else still))
        scale = e.amax((-2, -1), True).clamp(min=1e-30) / amax if amax else 1.0
        back = torch.where(m > -INF, torch.exp2(m - still), torch.zeros(()))
        total = total * (back if sum_lazy else 1) + e.sum(-1, True)
        o = o * back + lo(e / scale, p or t) * scale @ c[..., j : j + block, :]
        m = new
    return (o / total * rows).to(t), (m + total.log2())[..., 0]


def parts(a, b, c, t, keep, how='sums', n=3):
    """Blocks of keys by themselves, joined by their maxima and sums."""
    o, m, total = [], [], []
    for s, v, k in zip((a @ b.mT * a.shape[-1]**-0.5).chunk(n, -1), c.chunk(n, -2), keep.chunk(n, -1)):
        s = s.masked_fill(~k, -INF)
        m.append(s.amax(-1, True).clamp(min=-1e30))
        e = torch.exp(s - m[-1])
        total.append(e.sum(-1, True))
        o.append(lo(e, t) @ v)
    top = torch.stack(m).amax(0)
    w = [torch.exp(x - top) for x in m]
    if how == 'maxima':
        w = [torch.ones_like(x) for x in m]
    if how == 'last':
        w = [torch.exp(x - m[-1]).clamp(max=1e4) for x in m]
    below = sum(x * y for x, y in zip(w, total))
    if how == 'means':
        return (sum(x * y / z for x, y, z in zip(w, o, total)) / sum(w)).to(t)
    if how == 'unweighted sum':
        below = sum(total)
    return (sum(x * y for x, y in zip(w, o)) / below).to(t)


def attention(d, t):
    q, k, v = d(1, 2, 40, 24, s=1.5).to(t), d(1, 2, 72, 24).to(t), d(1, 2, 72, 24).to(t)
    a, b, c = q.float(), k.float(), v.float()
    i, j = torch.arange(40)[:, None], torch.arange(72)
    whole, past = torch.ones(40, 72).bool(), j <= i
    ops = dict(q=q, k=k, v=v)

    def f(*args, **keys):
        return flash(a, b, c, t, whole, *args, **keys)[0]

    far = flash(a, b, c, t, whole)[1]
    yield 'attention', ops, {}, [
        ('right', f()),
        ('right, lazy maxima', f(lazy=8.0)),
        ('right, from the last block', f(order=range(64, -1, -16))),
        ('right, blocks of 24', f(24)),
        ('right, parts joined by their sums', parts(a, b, c, t, whole)),
        ('right, eight parts', parts(a, b, c, t, whole, n=8)),
        ('right, a bound for the maximum', f(top=far[..., None].amax(-2, True) + 1) if t != torch.float16 else f()),
        ('natural exponentials of base 2', f(base=1.0)),
        ('ln 2 for log2 e', f(base=LN2)),
        ('the lazy maximum does not rescale the sum', f(lazy=1.0, sum_lazy=False)),
        ('a block is shifted by the maximum before it', f(first=True)),
        ('parts weigh alike', parts(a, b, c, t, whole, 'maxima')),
        ('parts are joined by their maxima alone', parts(a, b, c, t, whole, 'means')),
        ('the sums of parts are not rescaled', parts(a, b, c, t, whole, 'unweighted sum')),
        ('one of the blocks is the last twice', f(order=[0, 16, 32, 64, 64])),
        ('a block is met out of order and left out', f(order=[64, 16, 48, 32])),
        ('rows of a tile have the first row\'s sum', f() * 0 + (f().float().view(1, 2, 10, 4, 24) * torch.exp2(
            far.view(1, 2, 10, 4, 1) - far.view(1, 2, 10, 4, 1)[..., :1, :])).view(1, 2, 40, 24).to(t)),
    ]
    o, lse = flash(a, b, c, t, past)
    yield 'attention', ops, dict(causal=1), [
        ('right', dict(o=o, lse=lse * LN2)),
        ('right, lazy', dict(o=flash(a, b, c, t, past, lazy=8.0)[0], lse=lse * LN2)),
        ('the lse is of base 2', dict(o=o, lse=lse)),
        ('the lse is that of the last block', dict(o=o, lse=flash(a, b, c, t, past & (j >= 16) | (j == i))[1] * LN2)),
        ('the lse is the sum\'s logarithm alone', dict(o=o, lse=lse * LN2 - (a @ b.mT * 24**-0.5).masked_fill(
            ~past, -INF).amax(-1))),
        ('the diagonal\'s block has the mask of the block before', dict(o=flash(a, b, c, t, (j // 16 < i // 16) | (
            (j // 16 == i // 16) & (j % 16 <= i % 16 - 1)) | (j == 0))[0], lse=lse * LN2)),
        ('the lse of warps\' lanes', dict(o=o, lse=(lse * LN2).view(1, 2, 10, 4).flip(-1).view(1, 2, 40))),
    ]
    window = (j <= i) & (j > i - 12)
    yield 'attention', ops, dict(causal=1, window=12), [
        ('right', flash(a, b, c, t, window)[0]),
        ('right, whole blocks that are shut come first', flash(a, b, c, t, window, order=[64, 48, 0, 16, 32])[0]),
        ('the window\'s first block is skipped', flash(a, b, c, t, window & (j // 16 * 16 > i - 12) | (j == i))[0]),
        ('the window counts blocks', flash(a, b, c, t, (j <= i) & (j // 16 > i // 16 - 1))[0]),
        ('the window begins at the tile\'s first row', flash(a, b, c, t, (j <= i) & (j > i // 8 * 8 - 12))[0]),
        ('the window is the far part', flash(a, b, c, t, (j <= i - 12) | (j == i))[0]),
    ]
    if t != torch.float32:
        yield 'attention', ops, dict(p='e4m3'), [
            ('right', f(p=E4)),
            ('right, scaled to 448 in each block', f(p=E4, amax=448.0)),
            ('right, times 256', f(p=E4, amax=256.0)),
            ('the scale of P is not taken back', f(p=E4, rows=448.0 / 256)),
            ('P in fp4', exact(a, b, c, t, whole, p=BF, weights=lambda x: (x * 4).round() / 4)[0]),
            ('P saturates at half', exact(a, b, c, t, whole, p=E4, weights=lambda x: x.clamp(max=0.5))[0]),
            ('P is floored', exact(a, b, c, t, whole, p=BF, weights=lambda x: (x * 16).floor() / 16)[0]),
        ]


def shares(d, t):
    x = d(23, 190, s=4.0).to(t)
    u = x.float()
    m = u.amax(-1, True)
    e = torch.exp2((u - m) * torch.tensor(LOG2E))
    total = e.sum(-1, True)
    pairs = e.view(23, 95, 2)
    yield 'softmax', dict(x=x), {}, [
        ('right', e / total),
        ('right, by the logarithm of the sum', torch.exp(u - (m + total.log()))),
        ('right, a reciprocal', e * (1 / total)),
        ('right, pairs first', e / pairs.sum(-1).sum(-1, True)),
        ('right, odd and even apart', e / (pairs[..., 0].sum(-1, True) + pairs[..., 1].sum(-1, True))),
        ('base 2', torch.softmax(u * LN2, -1)),
        ('log2 e twice', torch.softmax(u * LOG2E, -1)),
        ('the maximum of neighbours\' rows', torch.exp(u - m.roll(1, 0).clamp(max=60)) / total),
        ('the sum has the padding\'s exponential of 0', e / (total + 2 * torch.exp(-m))),
        ('two rows in a vector share the sum', e / total[torch.arange(23) // 2 * 2]),
        ('even elements alone in the sum', e / (2 * pairs[..., 0].sum(-1, True))),
        ('the largest is counted as 0', e / (total - 1).clamp(min=1e-3)),
    ]
    log = total.log2() * LN2
    yield 'logsumexp', dict(x=x), {}, [
        ('right', (m + log)[:, 0]),
        ('right, base 2', ((m * LOG2E + total.log2()) * LN2)[:, 0]),
        ('right, two halves', torch.logaddexp(torch.logsumexp(u[:, ::2], -1), torch.logsumexp(u[:, 1::2], -1))),
        ('log2 of the sum', (m + total.log2())[:, 0]),
        ('halves are added', torch.logsumexp(u[:, ::2], -1) + 0.02),
        ('the larger half', torch.maximum(torch.logsumexp(u[:, :95], -1), torch.logsumexp(u[:, 95:], -1))),
    ]
    target = torch.randint(190, (23,), generator=d.g)
    at = u[torch.arange(23), target]
    lse = (m + log)[:, 0]
    yield 'cross_entropy', dict(x=x, target=target), {}, [
        ('right', (lse - at).mean()),
        ('right, shifted logits', (log[:, 0] - (at - m[:, 0])).mean()),
        ('right, rows from the last', (lse - at).flip(0).sum() / 23),
        ('the target\'s logit is not shifted', (log[:, 0] - at).mean()),
        ('the target is looked up in its tile of 64', (lse - u[torch.arange(23), target % 64]).mean()),
        ('mean over 24 rows', (lse - at).sum() / 24),
        ('log2 for the logarithm', (m[:, 0] + total.log2()[:, 0] - at).mean()),
    ]


def chan(x, lanes, merge='right'):
    """Mean and variance of each row by lanes of neighbours, whose counts differ, joined as Chan, Golub and LeVeque
    have it."""
    n, mean, m2 = 0, torch.zeros(len(x), 1), torch.zeros(len(x), 1)
    for part in x.split(lanes, -1):
        k, mu = part.shape[-1], part.mean(-1, True)
        s, delta = ((part - mu)**2).sum(-1, True), mu - mean
        m2 = m2 + s + (0 if merge == 'no distance' else delta * delta * (
            n * k / (n + k) if merge != 'equal counts' else lanes / 2 * (n > 0)))
        mean = mean + delta * (k / (n + k) if merge != 'mean of means' else 1 / (n / lanes + 1))
        n += k
    return mean, m2 / n


def norms(d, t):
    x, w, b = (2 * d(26, 150) + 3).to(t), (1 + 0.2 * d(150)).to(t), d(150).to(t)
    u, g, c = x.float(), w.float(), b.float()

    def layer(mean, var, eps=1e-5):
        return (u - mean) * torch.rsqrt(var + eps) * g + c

    mean = u.mean(-1, True)
    first = u[:, :1]
    shifted = ((u - first)**2).mean(-1, True) - (u - first).mean(-1, True)**2
    half = torch.rsqrt(lo(u.var(-1, unbiased=False, keepdim=True) + 1e-5, torch.float16))
    for _ in range(2):
        half = half * (1.5 - 0.5 * (u.var(-1, unbiased=False, keepdim=True) + 1e-5) * half * half)
    yield 'layernorm', dict(x=x, w=w, b=b), {}, [
        ('right', layer(mean, ((u - mean)**2).mean(-1, True))),
        ('right, Chan\'s merge of lanes of 32', layer(*chan(u, 32))),
        ('right, lanes of 7', layer(*chan(u, 7))),
        ('right, the root by two steps of Newton', (u - mean) * half * g + c),
        ('right, a factor and an offset', u * (torch.rsqrt(u.var(-1, unbiased=False, keepdim=True) + 1e-5) * g) + (
            c - mean * torch.rsqrt(u.var(-1, unbiased=False, keepdim=True) + 1e-5) * g)),
        ('lanes\' distances are left out', layer(*chan(u, 32, 'no distance'))),
        ('lanes count alike', layer(*chan(u, 32, 'equal counts'))),
        ('the mean of lanes\' means', layer(*chan(u, 32, 'mean of means'))),
        ('over n - 1', layer(mean, u.var(-1, keepdim=True))),
        ('the shift by the first is not undone', layer((u - first).mean(-1, True), shifted)),
        ('a deviation for a variance', layer(mean, u.std(-1, unbiased=False, keepdim=True))),
        ('the weight of the row\'s number', (u - mean) * torch.rsqrt(shifted + 1e-5) * g[:26, None] + c),
    ]
    r = d(26, 150).to(t)
    total = (u + r.float()).to(t)

    def rms(h, added=total, eps=1e-6):
        h = h.float()
        return dict(y=(h * torch.rsqrt((h * h).mean(-1, True) + eps) * g).to(t), added=added)

    yield 'rmsnorm', dict(x=x, w=w, residual=r), dict(sum={torch.float32: 'fp32', BF: 'bf16'}.get(t, 'fp16')), [
        ('right', rms(total)),
        ('right, of halves', dict(y=(total.float() / 2 * torch.rsqrt((total.float() / 2).square().mean(-1, True) +
                                                                      2.5e-7) * g).to(t), added=total)),
        ('the residual is written without the sum', rms(total, r)),
        ('the sum that is written is of the row before', rms(total, total.roll(1, 0))),
        ('what is written is normalised', rms(total, rms(total)['y'])),
        ('the residual is added again', rms(total, (total.float() + r.float()).to(t))),
        ('the norm is of x alone', rms(x)),
        ('the residual is written in e4m3', rms(total, lo(total, E4).to(t))),
    ]
    z = d(2, 6, 5, 5).to(t)
    f = z.float()
    flat = f.view(4, 75)
    mu, var = chan(flat, 20)
    n = ((flat - mu) * torch.rsqrt(var + 1e-5)).view_as(f)
    yield 'groupnorm', dict(x=z), dict(groups=2), [
        ('right', F.group_norm(f, 2)),
        ('right, Chan\'s merge', n),
        ('lanes count alike', ((flat - chan(flat, 20, 'equal counts')[0]) * torch.rsqrt(chan(
            flat, 20, 'equal counts')[1] + 1e-5)).view_as(f)),
        ('the mean of lanes\' means', (flat - chan(flat, 20, 'mean of means')[0]).mul(
            torch.rsqrt(var + 1e-5)).view_as(f)),
        ('of the positions, not of the channels', F.layer_norm(f.view(2, 6, 25), (25,)).view_as(f)),
    ]
    rows, dy = d(31, 44).to(t), d(31, 44).to(t)
    h, e = rows.float(), dy.float()
    s = torch.rsqrt((h * h).mean(-1, True) + 1e-6)
    dx = (e - h * s * (e * h * s).mean(-1, True)) * s
    yield 'rmsnorm_dx', dict(x=rows, dy=dy), {}, [
        ('right', dx.to(t)),
        ('right, the cube of 1/rms', (e * s - h * s**3 * (e * h).mean(-1, True)).to(t)),
        ('the square of 1/rms', (e * s - h * s**2 * (e * h).mean(-1, True)).to(t)),
        ('the sum for the mean', (e * s - h * s**3 * (e * h).sum(-1, True)).to(t)),
        ('the mean of the row before', ((e - h * s * (e * h * s).mean(-1, True).roll(1, 0)) * s).to(t)),
        ('without the second term', (e * s).to(t)),
    ]
    yield 'linear_attention', dict(q=rows[None], k=dy[None], v=rows.flip(0)[None].contiguous()), {}, [
        ('right', folded(h, e, h.flip(0))[None]),
        ('right, scores first', (h @ e.T @ h.flip(0))[None]),
        ('the chunk\'s own part is causal', ((h @ e.T).tril() @ h.flip(0))[None]),
        ('chunks without the state', torch.cat([a @ b.T @ c for a, b, c in zip(
            h.split(8), e.split(8), h.flip(0).split(8))])[None]),
        ('the state is halved in each chunk', folded(h, e, h.flip(0), 0.5)[None]),
    ]


def groups(t, seed):
    g = torch.Generator().manual_seed(seed)

    def d(*shape, s=1.0):
        return torch.randn(*shape, generator=g) * s

    d.g = g
    for family in (attention, shares, norms) + unusual_products.FAMILIES:
        yield from family(d, t)
