# SPDX-License-Identifier: Apache-2.0
# The part of ported.py with attention to packed and paged sequences, quantised and grouped products, routers and
# fused losses, and what the parts share.
import torch
import torch.nn.functional as F

from hostile_attention import exact

INF = float('inf')
BF, E4 = torch.bfloat16, torch.float8_e4m3fn


def lo(x, t):
    return x.to(t).float()


def short(x, t):
    """x in the 16 bits that a kernel of type t would use in the wrong place."""
    return lo(x, BF if t == torch.float32 else t)


def by_stride(x):
    """The matrix that a kernel sees which takes a transposed one's memory for rows."""
    return x.t().contiguous().view(x.shape)


def tiles(x, n, f):
    return torch.stack([f(p) for p in x.split(n, -1)], -1)


def unscaled(z):
    """An online log-sum-exp over tiles of 16 that does not rescale its sum where the maximum rises."""
    top, total = torch.full((len(z),), -INF), torch.zeros(len(z))
    for tile in z.split(16, -1):
        top = torch.maximum(top, tile.amax(-1))
        total = total + torch.exp(tile - top[:, None]).sum(-1)
    return top + total.log()


def attention(d, t):
    x, y, z = d(50, 4, 16).to(t), d(50, 2, 16).to(t), d(50, 2, 16).to(t)
    cu = torch.tensor([0, 13, 14, 38, 50])

    def packed(cu=cu, off=0, scale=None, pair=lambda w: w, keep=lambda i, j: j <= i):
        o = torch.zeros(50, 4, 16)
        for a, b in zip(cu[:-1].tolist(), cu[1:].tolist()):
            q = x.float()[a:b].transpose(0, 1)[None]
            k, v = (pair(w.float()[min(a + off, 50 - (b - a)) :][: b - a].transpose(0, 1)[None]) for w in (y, z))
            i, j = torch.arange(b - a)[:, None], torch.arange(b - a)
            o[a:b] = exact(q, k, v, torch.float32, keep(i, j), scale, p=t)[0][0].transpose(0, 1)
        return o.to(t)

    yield 'varlen_attention', dict(q=x, k=y, v=z, cu=cu), dict(causal=1), [
        ('right', packed()),
        ('one long sequence', packed(torch.tensor([0, 50]))),
        ('a sequence of 1 joins the next', packed(torch.tensor([0, 13, 38, 50]))),
        ('keys start at the next row', packed(off=1)),
        ('the scale is 1/16', packed(scale=1 / 16)),
        ('heads of keys in turns', packed(pair=lambda w: w.repeat(1, 2, 1, 1))),
        ('the tile of 16 is not masked', packed(keep=lambda i, j: j // 16 <= i // 16)),
        (
            'the maximum of the mask is -1e4 where a tile is masked',
            packed(keep=lambda i, j: (j <= i) | (j == 0) & (i < 0) | (j - i == 1) & (i % 16 == 15)),
        ),
    ]
    kc, vc, q = d(9, 16, 2, 24).to(t), d(9, 16, 2, 24).to(t), d(2, 6, 1, 24).to(t)
    pages, n = torch.tensor([[3, 8, 0], [7, 1, 4]]), torch.tensor([35, 18])

    def paged(table=pages, n=(35, 18), own=lambda w: w, scale=None, keys=lambda w: w):
        o = []
        for s in range(2):
            k, v = (own(w.float())[table[s]].flatten(0, 1)[: n[s]].transpose(0, 1)[None] for w in (kc, vc))
            o.append(exact(q[s : s + 1].float(), keys(k), v, t, torch.ones(1, n[s]).bool(), scale)[0])
        return torch.cat(o)

    yield 'paged_attention', dict(q=q, k_cache=kc, v_cache=vc, pages=pages, lengths=n), {}, [
        ('right', paged()),
        ('the length of the longest for all', paged(n=(35, 35))),
        ('the table is read by columns', paged(pages.t().contiguous().view(2, 3))),
        ('page and row exchanged', paged(own=lambda w: w.view(16, 9, 2, 24).transpose(0, 1))),
        ('the last page twice', paged(torch.tensor([[3, 8, 8], [7, 7, 4]]))),
        ('one key of the page behind', paged(n=(36, 19))),
        ('the scale of 32 for 24', paged(scale=32**-0.5)),
        ('keys of the other head', paged(keys=lambda k: k.roll(1, 1))),
    ]
    q, kv = d(2, 3, 21, 40).to(t), d(2, 1, 21, 40).to(t)
    f, g, past = q.float(), kv.float(), torch.ones(21, 21).tril().bool()

    def mla(v=g[..., :32], f=f, g=g, scale=None, keep=past):
        return exact(f, g, v, t, keep, scale)[0]

    yield 'mla', dict(q=q, kv=kv), dict(causal=1, value=32), [
        ('right', mla()),
        ('scores without the last 8', mla(f=f[..., :32], g=g[..., :32], scale=40**-0.5)),
        ('scaled by the values\' size', mla(scale=32**-0.5)),
        ('values of the other sequence', mla(g[..., :32].flip(0))),
        ('values one row back', mla(g[..., :32].roll(1, 2))),
        ('tiles of 8 see their end', mla(keep=torch.arange(21) // 8 <= torch.arange(21)[:, None] // 8)),
        ('the head\'s 8 first', mla(g[..., 8:])),
    ]
    q, k, v, do = (d(1, 2, 45, 16).to(t) for _ in range(4))
    a, b, c, e = (w.float() for w in (q, k, v, do))
    past = torch.ones(45, 45).tril().bool()
    s = (a @ b.mT / 4).masked_fill(~past, -INF)
    lse, o = torch.logsumexp(s, -1, True), exact(a, b, c, t, past)[0]

    def back(lse=lse, o=o.float(), scale=0.25, last=45, dp=None, mask=past, a=a):
        p = torch.exp((a @ b.mT / 4).masked_fill(~mask, -INF) - lse)
        dp = e @ c.mT if dp is None else dp
        ds = lo(p * (dp - (e * o).sum(-1, True)), t)
        rows = (torch.arange(45) < last)[:, None]
        return dict(
            dq=(ds @ b * scale).to(t), dk=((ds * rows).mT @ a * scale).to(t), dv=(lo(p, t).mT @ (e * rows)).to(t)
        )

    yield 'attention_dx', dict(q=q, k=k, v=v, do=do, o=o), dict(causal=1), [
        ('right', back()),
        ('rows of the tail are lost in dK and dV', back(last=40)),
        ('the lse of the head before', back(lse.roll(1, 1))),
        ('o of the row before', back(o=o.float().roll(1, 2))),
        ('dS without delta', back(o=0 * o.float())),
        ('the scale\'s root', back(scale=0.5)),
        ('dP by V\'s rows of the next head', back(dp=e @ c.roll(1, 1).mT)),
    ]


def quantised(d, t):
    out = dict(out={BF: 'bf16', torch.float16: 'fp16'}.get(t, 'fp32'))
    x, q = d(17, 192).to(t), (torch.arange(20 * 192).view(20, 192) * 11 + torch.arange(20)[:, None] * 7) % 16
    s, z = (d(20, 3).abs() * 0.04 + 0.02).to(t), (torch.arange(60).view(20, 3) * 7 + 2) % 16
    u = x.float()

    def four(q=q, s=s.float(), z=z, n=64, cut=192):
        w = lo((q - z.repeat_interleave(n, 1)[:, :192]) * s.repeat_interleave(n, 1)[:, :192], t)
        return u[:, :cut] @ w[:, :cut].T

    yield 'int4_matmul', dict(x=x, q=q, scale=s, zero=z), dict(group=64), [
        ('right', four()),
        ('nibbles are signed', four(torch.where(q > 7, q - 16, q))),
        ('a zero of 8 for all', four(z=0 * z + 8)),
        ('the scale of the row before', four(s=s.float().roll(1, 0))),
        ('the last group is lost', four(cut=128)),
        ('the shift of a word\'s last nibble is 24', four(torch.where(torch.arange(192) % 8 == 7, q.roll(1, 1), q))),
        ('the scale twice', four() * s.float().mean()),
        ('groups of 96', four(n=96)),
    ]
    a, b = lo(d(15, 96), E4), lo(d(18, 96), E4)
    sa = torch.ldexp(torch.ones(15, 3), (torch.arange(45) * 5 % 7 - 3).view(15, 3))
    sb = torch.ldexp(torch.ones(18, 3), (torch.arange(54) * 3 % 5 - 2).view(18, 3))

    def dot(a=a, sa=sa, b=b, sb=sb):
        return ((a * sa.repeat_interleave(32, 1)) @ (b * sb.repeat_interleave(32, 1)).T).to(t)

    yield 'scaled_matmul', dict(a=a, sa=sa, b=b, sb=sb), out, [
        ('right', dot()),
        ('a bias of 126', dot(sa=sa * 2)),
        ('one scale a row', dot(sa=sa[:, :1].expand(15, 3))),
        ('scales by columns', dot(sa=sa.T.reshape(15, 3))),
        ('only the first block is scaled', dot(sb=torch.where(torch.arange(3) == 0, sb, torch.ones(())))),
        ('b of the next row', dot(b=b.roll(-1, 0))),
    ]
    a, sa, b, sb = lo(d(11, 384), E4), d(11, 3).abs() + 0.1, lo(d(128, 384), E4), d(1, 3).abs() + 0.1

    def deep(sa=sa, sb=sb, parts=(0, 1, 2), f=torch.float32):
        y = torch.zeros(11, 128)
        for i in parts:
            at = slice(i * 128, i * 128 + 128)
            y = y + lo((a[:, at] @ b[:, at].T) * sa[:, i : i + 1] * sb[:, i], f)
        return y.to(t)

    yield 'deepseek_matmul', dict(a=a, sa=sa, b=b, sb=sb), out, [
        ('right', deep()),
        ('the scale of the last part for all', deep(sb=sb[:, 2:].expand(1, 3))),
        ('the tail\'s part is lost', deep(parts=(0, 1))),
        ('parts in 16 bits of 8', deep(f=BF) * (1 + 2**-7)),
        ('scales of a are squared', deep(sa * sa)),
        ('no scale of b', deep(sb=0 * sb + 1)),
        ('scales one part on', deep(sa.roll(-1, 1))),
    ]
    x, w, index = d(29, 36).to(t), d(4, 36, 22, s=0.2).to(t), torch.arange(29) * 5 % 4
    each = torch.einsum('rk,ekn->ern', x.float(), w.float())
    starts = index.sort().indices
    yield 'grouped_matmul', dict(x=x, w=w, index=index), {}, [
        ('right', each[index, range(29)]),
        (
            'tiles of 8 rows have one expert',
            each[index.repeat_interleave(1).view(29)[torch.arange(29) // 8 * 8], range(29)],
        ),
        ('not put back', each[index, range(29)][starts]),
        ('the last expert is empty', each[index.clamp(max=2), range(29)]),
        (
            'w is transposed by halves',
            torch.einsum('rk,ekn->ern', x.float(), w.float().roll(18, 1))[index, range(29)],
        ),
        ('rows beyond 24 are zero', each[index, range(29)] * (torch.arange(29) < 24)[:, None]),
    ]
    wg, wu, wd = d(4, 36, 20, s=0.2).to(t), d(4, 36, 20, s=0.2).to(t), d(4, 20, 22, s=0.2).to(t)
    gate = torch.sigmoid(d(29, 1)).to(t)

    def moe(e=index, up=index, gate=gate.float(), act=F.silu, cut=20):
        f, g = (lo(torch.einsum('rk,rkn->rn', x.float(), m.float()[i]), t) for m, i in ((wg, e), (wu, up)))
        h = lo(act(f) * g, t)
        return lo(torch.einsum('rk,rkn->rn', h[:, :cut], wd.float()[e, :cut]), t) * gate

    yield 'experts', dict(x=x, wg=wg, wu=wu, wd=wd, index=index, gate=gate), {}, [
        ('right', moe()),
        ('the gate of the sorted row', moe(gate=gate.float()[starts])),
        ('the tail of the hidden units is lost', moe(cut=16)),
        ('up of another expert', moe(up=index.roll(1))),
        ('the gate\'s logit again', moe(gate=torch.sigmoid(gate.float()))),
        ('gates of 1 for the first expert', moe(gate=torch.where(index[:, None] == 0, torch.ones(()), gate.float()))),
        ('relu for silu', moe(act=torch.relu)),
    ]
    w = d(12, 36).to(t)
    logits = x.float() @ w.float().T
    yield 'router', dict(x=x, w=w), dict(k=3), [
        ('right', logits.topk(3)[1]),
        ('k of 2 and the third is the first', torch.cat([logits.topk(2)[1], logits.topk(1)[1]], 1)),
        ('of magnitudes', logits.abs().topk(3)[1]),
        ('the last 4 experts are masked', logits[:, :8].topk(3)[1]),
        ('x by columns', (by_stride(x.float()) @ w.float().T).topk(3)[1]),
        ('by the least', (-logits).topk(3)[1]),
    ]
    h, w, tg = d(33, 28).to(t), d(70, 28, s=0.4).to(t), torch.arange(33) * 13 % 70
    z = h.float() @ w.float().T
    yield 'linear_cross_entropy', dict(x=h, w=w, target=tg), {}, [
        ('right', F.cross_entropy(z, tg)),
        ('the tail of the vocabulary is lost', (torch.logsumexp(z[:, :64], -1) - z[range(33), tg]).mean()),
        ('the sum is not rescaled at a new maximum', (unscaled(z) - z[range(33), tg]).mean()),
        ('the sum of rows', F.cross_entropy(z, tg) * 33),
        ('the target\'s logit is one column on', (torch.logsumexp(z, -1) - z[range(33), (tg + 1) % 70]).mean()),
        ('padding rows of 64', F.cross_entropy(z, tg, reduction='sum') / 64),
    ]
    p = (torch.softmax(z, -1) - F.one_hot(tg, 70)) / 33

    def both(g=p, k=p):
        return dict(dx=(lo(g, t) @ w.float()).to(t), dw=(lo(k, t).T @ h.float()).to(t))

    yield 'linear_cross_entropy_dx', dict(x=h, w=w, target=tg), {}, [
        ('right', both()),
        ('dw of the last chunk of rows', both(k=p * (torch.arange(33) >= 32)[:, None])),
        ('dx by 70', both(p * 33 / 70)),
        ('the tail of the vocabulary is not in dx', both(p * (torch.arange(70) < 64))),
        ('the target of a chunk\'s first row', both(p - F.one_hot(tg, 70) / 330 * (torch.arange(33) == 16)[:, None])),
        ('dw is added to itself', both(k=2 * p)),
    ]


FAMILIES = (attention, quantised)
