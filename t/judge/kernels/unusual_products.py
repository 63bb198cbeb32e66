# SPDX-License-Identifier: Apache-2.0
# The part of unusual.py with products, scans, optimizers, gathers and reductions, and what the parts share.
import torch
import torch.nn.functional as F

INF = float('inf')
BF, E4 = torch.bfloat16, torch.float8_e4m3fn


def lo(x, t):
    return x.to(t).float()


def folded(q, k, v, keep=1.0):
    """Linear attention that is not causal by a state that grows over chunks of 8 keys."""
    state = torch.zeros(q.shape[-1], v.shape[-1])
    for a, b in zip(k.split(8), v.split(8)):
        state = keep * state + a.T @ b
    return q @ state


def three(x):
    """fp32 as three bf16, whose sum is x."""
    high = lo(x, BF)
    mid = lo(x - high, BF)
    return high, mid, lo(x - high - mid, BF)


def kahan(a, b, sign=1.0, keep=True):
    s, c = torch.zeros(a.shape[0], b.shape[1]), torch.zeros(a.shape[0], b.shape[1])
    for k in range(a.shape[1]):
        y = a[:, k : k + 1] * b[k] - sign * c
        z = s + y
        c, s = ((z - s) - y) * keep, z
    return s


def stochastic(x, t, g, bits=16, up=None, wide=1.0):
    """Rounds to a neighbour, up with the probability of the distance; fp32 stays."""
    if t == torch.float32:
        return x
    near = x.to(t)
    far = torch.nextafter(near, torch.where(near.float() > x, -INF, INF).to(t))
    low, high = torch.minimum(near, far), torch.maximum(near, far)
    share = ((x - low.float()) / (high.float() - low.float())).nan_to_num(0) * wide
    r = torch.rand(x.shape, generator=g) if up is None else torch.full_like(x, up)
    return torch.where(torch.floor(share * 2.0**bits) / 2.0**bits > r, high, low)


def products(d, t):
    a, b = d(21, 330).to(t), d(330, 17).to(t)
    f, g = a.float(), b.float()
    split = [f[:, k : k + 48] @ g[k : k + 48] for k in range(0, 330, 48)]
    rows = [
        ('right', f @ g),
        ('right, Kahan\'s sums', kahan(f, g)),
        ('right, seven parts from the last', sum(reversed(split))),
        ('right, every eighth term together', sum(f[:, k::8] @ g[k::8] for k in range(8))),
        ('Kahan\'s correction has the other sign', kahan(f, g, -1.0 if t == torch.float32 else -2.0**13)),
        ('a part is added by two blocks at once', sum(split) - split[3] * (torch.arange(17) % 4 == 1)),
        ('parts of the tile\'s first column', sum(split[:-1]) + split[-1][:, :1]),
        ('a part of k is read by the stride of n', sum(split[:-1]) + f[:, 288:] @ g[:42]),
        ('the accumulator of the tile before', f @ g + 2.0**-4 * (f @ g).roll(1, 0)),
        ('sums wait in e5m2 between parts', lo(sum(split[:3]), torch.float8_e5m2) + sum(split[3:])),
    ]
    if t == torch.float32:
        x, y = three(f), three(g)
        six = sum(x[i] @ y[j] for i in range(3) for j in range(3) if i + j < 3)
        rows += [
            ('right, bf16 in nine products', sum(x[i] @ y[j] for i in (2, 1, 0) for j in (2, 1, 0))),
            ('bf16 in one product', x[0] @ y[0]),
            ('bf16 in three products', x[0] @ y[0] + x[0] @ y[1] + x[1] @ y[0] * 0.998),
            ('the middle parts\' product is left out', six - x[1] @ y[1] * 40),
            ('one cross product twice', six - x[0] @ y[1] + x[1] @ y[0]),
        ]
    yield 'matmul', dict(a=a, b=b), {}, rows
    x, s = d(14, 192).to(t), (0.05 + 0.1 * torch.rand(10, 3, generator=d.g)).to(t)
    q, z = torch.randint(16, (10, 192), generator=d.g), torch.randint(16, (10, 3), generator=d.g)
    u, c, groups = x.float(), s.float(), q.view(10, 3, 64).float()
    part = torch.einsum('mgk,ngk->mng', u.view(14, 3, 64), groups)
    sums = u.view(14, 3, 64).sum(-1)

    def late(zero=z.float(), sums=sums, scale=c):
        return ((part - zero * sums[:, None]) * scale).sum(-1)

    yield 'int4_matmul', dict(x=x, q=q, scale=s, zero=z), dict(group=64, dequantised='none'), [
        ('right', u @ ((groups - z[..., None]) * c[..., None]).view(10, 192).T),
        ('right, scales and zeros behind the sums', late()),
        ('right, zeros behind the sums', (u.view(14, 1, 192) * (groups * c[..., None]).view(10, 192)).sum(-1) - (
            (c * z)[None] * sums[:, None]).sum(-1)),
        ('the sum of x is over the row', late(sums=sums.sum(-1, True).expand(14, 3))),
        ('zeros are not scaled', (part * c - z * sums[:, None]).sum(-1)),
        ('zeros of 8 for all', late(zero=torch.full((10, 3), 8.0))),
        ('the zero is one more, as GPTQ stores it', late(zero=z + 1.0)),
        ('codes are signed', u @ ((groups - 16 * (groups > 7) - z[..., None]) * c[..., None]).view(10, 192).T),
        ('nibbles are exchanged', u @ ((groups.view(10, 3, 32, 2).flip(-1).reshape(10, 3, 64) - z[..., None]) *
                                        c[..., None]).view(10, 192).T),
        ('scales are read by groups first', late(scale=c.T.contiguous().view(10, 3))),
    ]
    m, sa = lo(d(12, 128), E4).to(t), torch.exp2(torch.randint(-3, 3, (12, 4), generator=d.g).float())
    n, sb = lo(d(9, 128), E4).to(t), torch.exp2(torch.randint(-3, 3, (9, 4), generator=d.g).float())
    block = torch.einsum('mgk,ngk->mng', m.float().view(12, 4, 32), n.float().view(9, 4, 32))

    def prefix(late=False):
        y = torch.zeros(12, 9)
        for g in range(4):
            y = (y + block[..., g]) * sa[:, None, g] * sb[None, :, g] if late else y + block[..., g] * sa[
                :, None, g] * sb[None, :, g]
        return y

    yield 'scaled_matmul', dict(a=m, sa=sa.to(t), b=n, sb=sb.to(t)), {}, [
        ('right', prefix()),
        ('right, scales first', (m.float().view(12, 4, 32) * sa[..., None]).view(12, 128) @ (
            n.float().view(9, 4, 32) * sb[..., None]).view(9, 128).T),
        ('the running sum is scaled', prefix(True)),
        ('exponents are subtracted', torch.einsum('mng,mg,ng->mn', block, sa, 1 / sb)),
        ('scales of the block before', torch.einsum('mng,mg,ng->mn', block, sa.roll(1, -1), sb.roll(1, -1))),
        ('the mean of scales', torch.einsum('mng,mg,ng->mn', block, sa, sb.mean(-1, True).expand(9, 4))),
        ('the scales\' sum', (block * (sa[:, None] + sb[None])).sum(-1)),
        ('a scale of 2^2 saturates at 2', torch.einsum('mng,mg,ng->mn', block, sa.clamp(max=2), sb.clamp(max=2))),
    ]
    x, w = d(29, 40).to(t), d(4, 40, 13).to(t)
    index = torch.randint(4, (29,), generator=d.g)
    order = index.argsort(stable=True)
    back = torch.empty_like(order)
    back[order] = torch.arange(29)
    u, h = x.float(), w.float()
    each = torch.einsum('rk,rkn->rn', u, h[index])
    edges = index[order]
    yield 'grouped_matmul', dict(x=x, w=w, index=index), {}, [
        ('right', each),
        ('right, sorted by experts', torch.cat([u[order][edges == e] @ h[e] for e in range(4)])[back]),
        ('put back by the order itself', each[order][order]),
        ('not put back', each[order]),
        ('rows are taken by the inverse order', torch.einsum('rk,rkn->rn', u[back], h[edges])[back]),
        ('each expert\'s first row is the expert before\'s', torch.einsum('rk,rkn->rn', u[order], h[torch.cat(
            [edges[:1], edges[:-1]])])[back]),
        ('experts\' counts without the last\'s', torch.where((edges == 3)[back][:, None], torch.zeros(()), each)),
        ('tiles of 8 rows have the first row\'s expert', torch.einsum('rk,rkn->rn', u[order], h[edges[
            torch.arange(29) // 8 * 8]])[back]),
    ]


def scans(d, t):
    x = d(7, 100).to(t)
    u = x.float()

    def steps(race=False, stop=7):
        y = u.clone()
        for k in range(stop):
            n = 2**k
            if race:   # reads what this step has written already, in blocks of 32 lanes
                for j in range(32, 100, 32):
                    y[:, j : j + 32] = y[:, j : j + 32] + F.pad(y, (n, 0))[:, :100][:, j : j + 32]
            else:
                y = y + F.pad(y, (n, 0))[:, :100]
        return y

    def sweep(root=True):
        y, n = F.pad(u, (0, 28)), 1
        while n < 128:
            y[:, 2 * n - 1 :: 2 * n] += y[:, n - 1 :: 2 * n]
            n *= 2
        if root:
            y[:, -1] = 0
        while n > 1:
            n //= 2
            left, right = y[:, n - 1 :: 2 * n].clone(), y[:, 2 * n - 1 :: 2 * n].clone()
            y[:, n - 1 :: 2 * n], y[:, 2 * n - 1 :: 2 * n] = right, left + right
        return y[:, :100]

    chunks = u.view(7, 4, 25)
    inside = chunks @ torch.ones(25, 25).triu()
    carry = F.pad(chunks.sum(-1).cumsum(-1), (1, 0))[:, :4, None]
    yield 'cumsum', dict(x=x), {}, [
        ('right', u.cumsum(-1)),
        ('right, Hillis and Steele', steps()),
        ('right, a triangle of ones in chunks', (inside + carry).view(7, 100)),
        ('right, Blelloch and the element', sweep() + u),
        ('steps race', steps(True)),
        ('one step is missing', steps(stop=6)),
        ('the root is not cleared', sweep(False) + u),
        ('exclusive and inclusive mixed', torch.cat([sweep()[:, :64], (sweep() + u)[:, 64:]], -1)),
        ('the triangle has no diagonal', (chunks @ torch.ones(25, 25).triu(1) + carry).view(7, 100)),
        ('the carry is inclusive', (inside + chunks.sum(-1).cumsum(-1)[..., None]).view(7, 100)),
        ('the triangle is the other one', (chunks @ torch.ones(25, 25).tril() + carry).view(7, 100)),
    ]
    a, b, c = (torch.rand(2, 24, 3, 4, generator=d.g) * 0.9 + 0.05).to(t), d(2, 24, 3, 4).to(t), d(2, 24, 1, 4).to(t)
    f, g, k = a.float(), b.float(), c.float()

    def tree(order=lambda p, q: (p[0] * q[0], q[0] * p[1] + q[1]), f=f):
        p, n = (f, g), 1
        while n < 24:
            old = tuple(F.pad(z, (0, 0, 0, 0, n, 0), value=v)[:, :24] for z, v in zip(p, (1.0, 0.0)))
            p, n = order(old, p), 2 * n
        return (p[1] * k).sum(-1)

    log = f.log().cumsum(1)

    def masses(own=0, log=log):
        gap = log[:, :, None] - (log - (f.log() if own else 0))[:, None]
        past = torch.ones(24, 24).tril()[None, :, :, None, None]
        return ((torch.exp(gap.masked_fill(past == 0, -INF)) * g[:, None]).sum(2) * k).sum(-1)

    yield 'selective_scan', dict(a=a, b=b, c=c), {}, [
        ('right', tree()),
        ('right, a matrix of decays', masses()),
        ('pairs are joined in the other order', tree(lambda p, q: (p[0] * q[0], p[0] * q[1] + p[1]))),
        ('decays are not multiplied', tree(lambda p, q: (q[0], q[0] * p[1] + q[1]))),
        ('the matrix has the input\'s own decay', masses(1)),
        ('decays are added', tree(lambda p, q: ((p[0] + q[0]) / 2, q[0] * p[1] + q[1]))),
        ('the first decay of each chunk of 8 is 1', tree(f=torch.where((torch.arange(24) % 8 == 0)[
            None, :, None, None], torch.ones(()), f))),
    ]


def steps(d, t):
    w, g, m = d(40, 50).to(t), d(40, 50, s=0.5).to(t), d(40, 50, s=0.2).to(t)
    v = (d(40, 50, s=0.3)**2 + 0.01).to(t)
    a, b, c, e = (z.float() for z in (w, g, m, v))
    n = 3

    def adam(store, eps=1e-6, root=torch.sqrt, first=1 - 0.9**n, second=1 - 0.999**n, lerp=False, decay=0.01):
        m1 = torch.lerp(c, b, 0.1) if lerp else 0.9 * c + 0.1 * b
        v1 = torch.lerp(e, b * b, 0.001) if lerp else 0.999 * e + 0.001 * b * b
        step = m1 * (1e-2 / first) / (root(v1) / second**0.5 + eps)
        return dict(w1=store(a * (1 - 1e-2 * decay) - step), m1=store(m1), v1=store(v1))

    def near(x):
        return x.to(t)

    def sr(**words):
        return lambda x: stochastic(x, t, d.g, **words)

    facts, ops = dict(lr=1e-2, eps=1e-6, decay=0.01, step=n), dict(w=w, g=g, m=m, v=v)
    yield 'adamw', ops, facts, [
        ('right', adam(near)),
        ('right, by lerp', adam(near, lerp=True)),
        ('right, the root by 1/sqrt', adam(near, root=lambda x: x * torch.rsqrt(x))),
        ('corrections are exchanged', adam(near, first=1 - 0.999**n, second=1 - 0.9**n)),
        ('the root of the correction is not taken', adam(near, second=(1 - 0.999**n)**2)),
        ('lerp\'s ends are exchanged', dict(adam(near), m1=near(torch.lerp(b, c, 0.1)))),
        ('the decay is added', adam(near, decay=-0.01)),
    ]
    if t != torch.float32:
        yield 'adamw', ops, dict(facts, store='sr'), [
            ('right', adam(near)),
            ('right, stored stochastically', adam(sr())),
            ('right, by 8 random bits', adam(sr(bits=8))),
            ('random bits are 0', adam(sr(up=0.0))),
            ('random bits are all ones', adam(sr(up=1.0))),
            ('the distance is doubled', adam(sr(wide=2.0))),
            ('one random number for all', adam(sr(up=0.25))),
            ('noise of a whole range on top', adam(lambda x: stochastic(x * (1 + (2**-6 if t == BF else 2**-9) * (
                torch.rand(x.shape, generator=d.g) - 0.5)), t, d.g))),
            ('two bits alone', adam(sr(bits=2))),
        ]
    x = d(5, 64).to(t)
    r = x.float()
    yield 'all_reduce', dict(x=x), {}, [
        ('right', r.sum(0)),
        ('right, pairs', (r[0] + r[1]) + (r[2] + r[3]) + r[4]),
        ('right, scattered chunks', torch.cat([z.roll(i, 0).sum(0) for i, z in enumerate(r.split(13, -1))])),
        ('a rank\'s chunk one place on', torch.cat([z.sum(0) - z[i] + r[i].roll(-13)[13 * i :][: z.shape[-1]]
                                                     for i, z in enumerate(r.split(13, -1))])),
        ('the fifth rank is beyond the tree', r[:4].sum(0)),
        ('pairs add the pair\'s lower rank twice', 2 * r[0] + (r[2] + r[3]) + r[4]),
        ('an average of averages', ((r[0] + r[1]) / 2 + (r[2] + r[3]) / 2) / 2 * 5 + 0 * r[4]),
    ]
    dy, index = d(60, 9).to(t), torch.randint(11, (60,), generator=d.g)
    f, order = dy.float(), index.argsort(stable=True)
    full = torch.zeros(11, 9).index_add(0, index, f)
    sums = f[order].cumsum(0)
    ends = torch.bincount(index, minlength=11).cumsum(0)
    begins = F.pad(ends, (1, 0))[:-1]
    yield 'embedding_dw', dict(dy=dy, index=index), dict(rows=11, order='any'), [
        ('right', full),
        ('right, sorted segments', torch.stack([f[order][i:j].sum(0) for i, j in zip(begins, ends)])),
        ('segments end one early', torch.stack([f[order][i : max(i, j - 1)].sum(0) for i, j in zip(begins, ends)])),
        ('segments\' rows are not sorted', torch.stack([f[i:j].sum(0) for i, j in zip(begins, ends)])),
        ('the last segment is not written', torch.cat([full[:10], 0 * full[:1]])),
        ('a warp\'s segment that spans two is its second part', torch.stack([f[order][max(i, j // 16 * 16) : j].sum(
            0) if i // 16 != (j - 1) // 16 else f[order][i:j].sum(0) for i, j in zip(begins.tolist(), ends.tolist())])),
        ('running sums of the segment before', sums[(ends - 1).clamp(min=0)]),
    ]


FAMILIES = (products, scans, steps)
