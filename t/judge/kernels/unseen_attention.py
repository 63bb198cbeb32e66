# SPDX-License-Identifier: Apache-2.0
# The part of unseen.py with attention, gradients and losses.
import torch
import torch.nn.functional as F

E4, BF, INF = torch.float8_e4m3fn, torch.bfloat16, float('inf')


def lo(x, t):
    return x.to(t).float()


def flash(q, k, v, t, keep, scale=None, block=32, cap=0.0, late_cap=False, share=None, p=None, kept=1.0, skip=0,
        bias=0):
    """Attention by blocks of keys, as a fused kernel computes it; keep says which scores count."""
    group = q.shape[1] // k.shape[1]
    k, v = (x.repeat(1, group, 1, 1) if share == 'tiled' else x.repeat_interleave(group, 1) for x in (k, v))
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    top, den = torch.full((*q.shape[:-1], 1), -INF), torch.zeros(*q.shape[:-1], 1)
    o = torch.zeros(*q.shape[:-1], v.shape[-1])
    stops = range(0, k.shape[-2] - skip, block)
    for j in stops:
        s = q @ k[..., j:j + block, :].mT
        s = cap * torch.tanh(s / cap) * scale if cap and late_cap else s * scale
        s = cap * torch.tanh(s / cap) if cap and not late_cap else s
        s = s + bias[..., j:j + block] if torch.is_tensor(bias) else s
        s = s.masked_fill(~keep[..., j:j + block], -INF)
        new = torch.maximum(top, s.amax(-1, keepdim=True))
        safe = torch.where(new > -INF, new, torch.zeros(()))
        e, f = torch.exp(s - safe), torch.where(top > -INF, torch.exp(top - safe), torch.zeros(()))
        den, o, top = den * f ** kept + e.sum(-1, keepdim=True), o * f + lo(e, p or t) @ v[..., j:j + block, :], new
    return (o / den).to(t), (top + den.log())[..., 0]


def attention(d, t):
    q, k, v = d(2, 4, 72, 32).to(t), d(2, 2, 72, 32).to(t), d(2, 2, 72, 32).to(t)
    a, b, c = q.float(), k.float(), v.float()
    i, j = torch.arange(72)[:, None], torch.arange(72)
    all_, past = torch.ones(72, 72).bool(), j <= i
    tile = past.clone()
    tile[32:64, 64:] = True
    window = past & (j > i - 16)
    slopes = torch.tensor([0.5, 0.25, 0.125, 0.0625])
    alibi = slopes[:, None, None] * (j - i)
    for what, how in (('right', {}), ('right, blocks of 16', dict(block=16)), ('right, one block', dict(block=72)),
                      ('heads are tiled, not repeated', dict(share='tiled')), ('the scale of d/2', dict(scale=.25)),
                      ('the last block is skipped', dict(skip=8)), ('the scale squared', dict(scale=1 / 32)),
                      ('P in e5m2', dict(p=torch.float8_e5m2)), ('scale is ln 2 too small',
                      dict(scale=32 ** -.5 * .693)),
                      ('a denominator rescaled by a root', dict(kept=0.5)), ('causal', dict(keep=past))):
        yield 'attention', what, dict(q=q, k=k, v=v), flash(a, b, c, t, **dict(dict(keep=all_), **how))[0], {}
    for what, keep in (('right', past), ('a tile is not masked', tile),
            ('the diagonal is masked', (j < i) | (i + j == 0)),
                       ('one key of the future', j <= i + 1), ('mask by blocks of 8', j // 8 <= i // 8)):
        o, lse = flash(a, b, c, t, keep)
        yield 'attention', 'causal: ' + what, dict(q=q, k=k, v=v), dict(o=o, lse=lse), dict(causal=1)
    o, lse = flash(a, b, c, t, past)
    for what, wrong in (('the logarithm to base 2', lse * 1.442695), ('a stale maximum', lse + 0.01),
            ('not shifted', lse - (
            a @ b.repeat_interleave(2, 1).mT * 32 ** -.5).masked_fill(~past, -INF).amax(-1))):
        yield 'attention', 'lse: ' + what, dict(q=q, k=k, v=v), dict(o=o, lse=wrong), dict(causal=1)
    for what, keep in (('right', window), ('one key more', past & (j >= i - 16)),
            ('one key less', past & (j > i - 15)),
                       ('no window', past)):
        yield 'attention', 'window: ' + what, dict(q=q, k=k, v=v), flash(a, b, c, t, keep)[0], dict(causal=1,
                window=16)
    for what, how in (('right', {}), ('before the scale', dict(late_cap=True)), ('none', dict(cap=0)),
            ('of 10', dict(cap=10))):
        yield 'attention', 'softcap: ' + what, dict(q=q, k=k, v=v), flash(a, b, c, t, all_,
                **dict(dict(cap=2.0), **how))[
            0], dict(softcap=2)
    for what, bias in (('right', alibi), ('slopes of another head', alibi.roll(1, 0)), ('its sign', -alibi),
            ('none', 0)):
        yield 'attention', 'ALiBi: ' + what, dict(q=q, k=k, v=v, slopes=slopes), flash(a, b, c, t, past,
                bias=bias)[0], \
            dict(causal=1)


def packed(d, t):
    q, k, v = d(50, 4, 16).to(t), d(50, 2, 16).to(t), d(50, 2, 16).to(t)
    cu = torch.tensor([0, 7, 7, 40, 50])

    def varlen(cu=cu, causal=True, mixed=False, block=32, drop=0):
        o, lse = torch.zeros(50, 4, 16), torch.zeros(4, 50)
        for a, b in zip(cu[:-1].tolist(), cu[1:].tolist()):
            f, g, h = (x.float()[a:b].transpose(0, 1)[None] for x in (q, k, v))
            if b > a:
                n = b - a
                keep = torch.ones(n, n).tril().bool() if causal else torch.ones(n, n).bool()
                keep[:, n - drop if n > 10 else n:] = False
                y, z = flash(f, g, h, torch.float32, keep, block=block, p=t, share='tiled' if mixed else None)
                o[a:b], lse[:, a:b] = y[0].transpose(0, 1), z[0]
        return dict(o=o.to(t), lse=lse)
    for what, how in (('right', {}), ('right, blocks of 16', dict(block=16)), ('one sequence', dict(cu=cu[[0, 4]])),
                      ('an offset one off', dict(cu=torch.tensor([0, 7, 7, 39, 50]))), ('no mask', dict(causal=False)),
                      ('other heads', dict(mixed=True))):
        yield 'varlen_attention', what, dict(q=q, k=k, v=v, cu=cu), varlen(**how), dict(causal=1)
    for what, how in (('right', {}), ('the last 2 keys of long ones', dict(drop=2))):
        yield 'varlen_attention', 'whole: ' + what, dict(q=q, k=k, v=v, cu=cu), varlen(causal=False, **how), {}
    q, kc, vc = d(3, 4, 2, 16).to(t), d(9, 8, 2, 16).to(t), d(9, 8, 2, 16).to(t)
    table, lengths = torch.tensor([[3, 1, 7], [0, 8, 2], [5, 4, 6]]), torch.tensor([17, 24, 3])

    def paged(table=table, lengths=lengths, end=0, swap=False):
        y = []
        for i in range(3):
            n = int(lengths[i])
            f, g = (c.float()[table[i]].reshape(24, 2, 16).transpose(0, 1)[None, :, :n] for c in (kc,
                    kc if swap else vc))
            keep = torch.arange(n) <= torch.arange(2)[:, None] + n - 2 + end
            y.append(flash(q[i:i + 1].float(), f, g, t, keep)[0])
        return torch.cat(y)
    for what, how in (('right', {}), ('pages in order', dict(table=table.sort(-1)[0])),
            ('keys for values', dict(swap=True)),
                      ('one key more', dict(lengths=(lengths + 1).clamp(max=24))), ('a page of another', dict(
                          table=table.roll(1, 0))), ('the last query sees one less', dict(end=-1)),
                      ('not causal', dict(end=1))):
        yield 'paged_attention', what, dict(q=q, k_cache=kc, v_cache=vc, pages=table,
                lengths=lengths), paged(**how), {}
    q, kv = d(2, 3, 20, 48).to(t), d(2, 1, 20, 48).to(t)
    keep = torch.ones(20, 20).tril().bool()

    def mla(first=0, scale=None, depth=48, keep=keep):
        return flash(q.float()[..., :depth], kv.float()[..., :depth], kv.float()[..., first:first + 32], t, keep,
                     48 ** -.5 if scale is None else scale)[0]
    for what, how in (('right', {}), ('the scale of the values', dict(scale=32 ** -.5)),
            ('rope is left out', dict(depth=32)),
                      ('the last 32 as values', dict(first=16)), ('no mask', dict(keep=keep | True))):
        yield 'mla', what, dict(q=q, kv=kv), mla(**how), dict(causal=1, value=32)


def gradients(d, t):
    q, k, v, do = (d(1, 2, 64, 32).to(t) for _ in range(4))
    a, b, c, e = q.float(), k.float(), v.float(), do.float()
    s = (a @ b.mT * 32 ** -.5).masked_fill(~torch.ones(64, 64).tril().bool(), -INF)
    p, lse = torch.softmax(s, -1), torch.logsumexp(s, -1, keepdim=True)
    o = (lo(p, t) @ c).to(t)

    def backward(p=p, o=o.float(), scale=32 ** -.5, dv_p=None, store=t, dk_scale=None, keys=64):
        ds = lo(p * (e @ c.mT - (e * o).sum(-1, keepdim=True)), store)
        dk = ds.mT @ a * (scale if dk_scale is None else dk_scale)
        dk[..., keys:, :] = 0
        return dict(dq=(ds @ b * scale).to(t), dk=dk.to(t), dv=(lo(p if dv_p is None else dv_p, t).mT @ e).to(t))
    for what, how in (('right', {}), ('P by the stored lse', dict(p=torch.exp(s - lse))), ('o of the next row', dict(
            o=o.float().roll(1, -2))), ('lse one row off', dict(p=torch.exp(s - lse.roll(1, -2)).nan_to_num(0, 0))), (
                'dk is not scaled', dict(dk_scale=1)), ('dS in e5m2', dict(store=torch.float8_e5m2)), (
                    'dv by unmasked P', dict(dv_p=torch.softmax(a @ b.mT * 32 ** -.5, -1))),
                    ('keys of the last block', dict(
                        keys=48)), ('scale squared', dict(scale=1 / 32))):
        yield 'attention_dx', 'right, ' + what if 'stored lse' in what else what, dict(q=q, k=k, v=v, do=do, o=o), \
            backward(**how), dict(causal=1)
    x, dy, w = d(48, 96).to(t), d(48, 96).to(t), d(96).to(t)
    u, g, z = x.float(), dy.float(), w.float()
    m, r = u.mean(-1, True), torch.rsqrt(u.var(-1, unbiased=False, keepdim=True) + 1e-5)
    n = (u - m) * r
    h = g * z

    def dx(centre=1, along=1, k=96, h=h):
        return r * (h - centre * h.sum(-1, True) / k - along * n * (h * n).sum(-1, True) / k)
    part = torch.stack([(g * n)[i::4].sum(0) for i in range(4)])
    narrow = torch.zeros(96)
    for i in range(48):
        narrow = lo(narrow + (g * n)[i], BF)
    for what, y, dw in (('right', dx(), (g * n).sum(0)), ('right, parts', dx(), part.sum(0)),
            ('no mean of g', dx(0), part.sum(
            0)), ('no projection', dx(1, 0), part.sum(0)), ('over n - 1', dx(k=95), part.sum(0)),
            ('without w', dx(h=g), part.sum(
                0)), ('dw of three parts', dx(), part[:3].sum(0)), ('dw in bf16', dx(), narrow),
                ('dw by x', dx(), (g * u).sum(0))):
        yield 'layernorm_dx', what, dict(x=x, dy=dy, w=w), dict(dx=y.to(t), dw=dw.to(t), db=g.sum(0).to(t)), {}
    q = torch.rsqrt((u * u).mean(-1, True) + 1e-6)
    n = u * q
    for what, y, dw in (('right', q * (h - n * (h * n).mean(-1, True)), (g * n).sum(0)),
                        ('right, dw in parts', q * h - u * q ** 3 * (h * u).mean(-1, True),
                        sum((g * n)[i::4].sum(0) for i in range(4))),
                        ('1/rms not cubed', q * h - u * q ** 2 * (h * u).mean(-1, True), (g * n).sum(0)),
                        ('centred', q * (h - h.mean(-1, True) - n * (h * n).mean(-1, True)), (g * n).sum(0)),
                        ('dw by h', q * (h - n * (h * n).mean(-1, True)), (h * n).sum(0)),
                        ('dw is not zeroed', q * (h - n * (h * n).mean(-1, True)), (g * n).sum(0) + g[0])):
        yield 'rmsnorm_dx', what, dict(x=x, dy=dy, w=w), dict(dx=y.to(t), dw=dw.to(t)), {}
    table, index = d(30, 16).to(t), torch.arange(100) * 7 % 30
    rows = table.float()[index]
    dy = d(100, 16).to(t)
    full = torch.zeros(30, 16).index_add(0, index, dy.float())
    lost = torch.zeros(30, 16)
    lost[index] = dy.float()
    for what, y in (('right', rows), ('one row off', table.float()[(index + 1) % 30]),
            ('clamped', table.float()[index.clamp(
            max=28)])):
        yield 'embedding', what, dict(table=table, index=index), y.to(t), {}
    pad = full.clone()
    pad[0] = 0
    for what, y in (('right', full), ('the last writer wins', lost), ('row 0 is padding', pad),
            ('the mean', full / 3)):
        yield 'embedding_dw', what, dict(dy=dy, index=index), y.to(t), dict(rows=30)


def losses(d, t):
    x, target = d(50, 120), torch.arange(50) * 11 % 120
    each = F.cross_entropy(x, target, reduction='none')
    for what, y in (('right', each.mean()), ('right, by log_softmax', -torch.log_softmax(x, -1)[range(50),
            target].mean()),
                    ('over one row less', each.sum() / 49), ('the last row is lost', each[:49].sum() / 50), (
                        'targets one off', F.cross_entropy(x, (target + 1) % 120)),
                        ('no maximum', torch.log(torch.exp(lo(x, BF))
                         .sum(-1)).mean() - x[range(50), target].mean()), ('the wrong sign', -each.mean())):
        yield 'cross_entropy', what, dict(x=x, target=target), y, {}
    p, one = torch.softmax(x, -1), F.one_hot(target, 120)
    for what, y in (('right', (p - one) / 50), ('over columns', (p - one) / 120), ('the sign', (one - p) / 50), (
            'shares of the row before', (p.roll(1, 0) - one) / 50), ('smoothed', (p - 0.99 * one - 0.01 / 120) / 50)):
        yield 'cross_entropy_dx', what, dict(x=x, target=target), y, {}
    h, w, tg = d(40, 32).to(t), d(64, 32, s=0.3).to(t), torch.arange(40)
    z = h.float() @ w.float().T
    chunks = torch.cat([torch.logsumexp(z[:, i:i + 16], -1, True) for i in range(0, 64, 16)], -1)
    for what, y in (('right', F.cross_entropy(z, tg)), ('right, by chunks',
            (torch.logsumexp(chunks, -1) - z[range(40), tg])
                    .mean()), ('a chunk is lost', (torch.logsumexp(chunks[:, :3], -1) - z[range(40), tg]).mean()), (
                        'logits in e4m3', F.cross_entropy(lo(z, E4), tg)),
                        ('the sum', F.cross_entropy(z, tg, reduction='sum'))):
        yield 'linear_cross_entropy', what, dict(x=h, w=w, target=tg), y, {}
    g = lo((torch.softmax(z, -1) - F.one_hot(tg, 64)) / 40, t)
    for what, y, dw in (('right', g @ w.float(), g.T @ h.float()), ('dw of the first 32 rows', g @ w.float(),
            g[:32].T @ h.float()[
            :32]), ('not the mean', g @ w.float() * 40, g.T @ h.float()),
            ('dx of 48 columns', g[:, :48] @ w.float()[:48], g.T @ h
                    .float())):
        yield 'linear_cross_entropy_dx', what, dict(x=h, w=w, target=tg), dict(dx=y.to(t), dw=dw.to(t)), {}
    a, b, n = d(30, 40), d(30, 40), d(30, 40)
    s = torch.where(b > 0, 1.0, -1.0)
    e = a - b
    for name, ops, forms in (
            ('mse', dict(x=a, target=b), (('right', (e * e).mean()), ('the sum', (e * e).sum()),
                ('halved', (e * e).mean() / 2), (
                'a mean of row sums', (e * e).sum(-1).mean()), ('root', (e * e).mean().sqrt()))),
            ('huber', dict(x=a, target=b), (('right', F.smooth_l1_loss(a, b)),
                ('without the half', torch.where(e.abs() < 1, e * e, e
                .abs() - .5).mean()), ('L1', e.abs().mean()), ('beta 2', F.smooth_l1_loss(a, b, beta=2.0)))),
            ('hinge', dict(x=a, target=s), (('right', torch.relu(1 - a * s).mean()),
                ('no margin', torch.relu(-a * s).mean()), (
                'squared', (torch.relu(1 - a * s) ** 2).mean()), ('the sign', torch.relu(1 + a * s).mean()))),
            ('kl_div', dict(x=torch.log_softmax(a, -1), target=torch.softmax(b, -1)),
            (('right', F.kl_div(torch.log_softmax(a, -1), torch
                .softmax(b, -1), reduction='batchmean')), ('the mean of elements',
                F.kl_div(torch.log_softmax(a, -1), torch.softmax(b, -1))),
                ('without the entropy', -(torch.softmax(b, -1) * torch.log_softmax(a, -1)).sum(-1).mean()))),
            ('triplet', dict(anchor=a, positive=b, negative=n), (('right', F.triplet_margin_loss(a, b, n)),
                ('squared distances', torch.relu(
                ((a - b) ** 2).sum(-1) - ((a - n) ** 2).sum(-1) + 1).mean()),
                ('no margin', torch.relu((a - b).norm(dim=-1) - (a - n).norm(
                    dim=-1)).mean()), ('exchanged', F.triplet_margin_loss(a, n, b))))):
        for what, y in forms:
            yield name, what, ops, y, {}


FAMILIES = (attention, packed, gradients, losses)
