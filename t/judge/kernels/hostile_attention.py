# SPDX-License-Identifier: Apache-2.0
# The part of hostile.py with attention, forward and backward, gradients and losses.
import torch
import torch.nn.functional as F

from hostile_long import BF, E4, E5, INF, chop, lo


def exact(q, k, v, t, keep, scale=None, p=None, bias=0.0, after=lambda p: p, sinks=None, before=lambda s: s, cap=0.0,
          weights=lambda p: p):
    """Attention with whole rows in fp32; P is stored in t as a kernel stores it, relative to the row's maximum."""
    n = q.shape[1] // k.shape[1]
    k, v = k.repeat_interleave(n, 1), v.repeat_interleave(n, 1)
    s = before(q @ k.mT * (q.shape[-1] ** -0.5 if scale is None else scale))
    s = (cap * torch.tanh(s / cap) if cap else s) + bias
    s = s.masked_fill(~keep, -INF)
    m = s.amax(-1, True)
    m = torch.maximum(m, sinks.view(1, -1, 1, 1)) if sinks is not None else m
    e = torch.exp(s - m.clamp(min=-1e30))
    below = e.sum(-1, True) + (torch.exp(sinks.view(1, -1, 1, 1) - m) if sinks is not None else 0)
    o = after(weights(lo(e, p or t)) @ v / below)
    return o.to(t), (m + below.log())[..., 0]


def split(a, b, c, t, keep, scale, how='right', at=40):
    """Two kernels on halves of the keys, whose results a third one joins by their lse."""
    one, l1 = exact(a, b[..., :at, :], c[..., :at, :], torch.float32, keep[..., :at], scale, p=t)
    two, l2 = exact(a, b[..., at:, :], c[..., at:, :], torch.float32, keep[..., at:], scale, p=t)
    l1, l2 = l1[..., None], l2[..., None]
    m = torch.maximum(l1, l2)
    w1, w2 = torch.exp(l1 - m), torch.exp(l2 - m)
    if how == 'not normalised':
        return ((w1 * one + w2 * two)).to(t)
    if how == 'equal weights':
        return ((one + two) / 2).to(t)
    if how == 'stored halves':
        one, two = lo(one, E4), lo(two, E4)
    if how == 'lse in bf16':
        w1, w2 = torch.exp(lo(l1, BF) - lo(m, BF)), torch.exp(lo(l2, BF) - lo(m, BF))
    return ((w1 * one + w2 * two) / (w1 + w2)).to(t)


def attention(d, t):
    q, k, v = d(2, 6, 56, 32).to(t), d(2, 2, 80, 32).to(t), d(2, 2, 80, 32).to(t)
    a, b, c = q.float(), k.float(), v.float()
    i, j = torch.arange(56)[:, None], torch.arange(80)
    whole, end, start = torch.ones(56, 80).bool(), j <= i + 24, j <= i
    kk, vv = b.repeat_interleave(3, 1), c.repeat_interleave(3, 1)
    ops = dict(q=q, k=k, v=v)
    dropped = (torch.arange(80) % 10 != 3).float()
    yield 'attention', ops, {}, [
        ('right', exact(a, b, c, t, whole)[0]), ('right, two halves joined', split(a, kk, vv, t, whole, None)),
        ('right, joined at 16', split(a, kk, vv, t, whole, None, at=16)),
        ('halves are joined by equal weights', split(a, kk, vv, t, whole, None, 'equal weights')),
        ('joined halves are not normalised', split(a, kk, vv, t, whole, None, 'not normalised')),
        ('halves in e4m3', split(a, kk, vv, t, whole, None, 'stored halves')),
        ('the lse of halves in bf16', split(a, kk, vv, t, whole, None, 'lse in bf16')),
        ('three heads share by division of 6', exact(a, b.roll(1, 1), c, t, whole)[0]),
        ('the head\'s number modulo 2', exact(a, b.repeat(1, 3, 1, 1), c.repeat(1, 3, 1, 1), t, whole)[0]),
        ('dropout at inference', exact(a, b, c, t, whole, weights=lambda p: p * dropped)[0]),
        ('dropout rescaled', exact(a, b, c, t, whole, weights=lambda p: p * dropped / .9)[0]),
        ('the values are one key on', exact(a, b, c.roll(-1, -2), t, whole)[0]),
        ('keys of the next batch', exact(a, b.roll(1, 0), c, t, whole)[0]),
        ('scores in bf16', exact(a, b, c, t, whole, before=lambda s: lo(s, BF))[0]),
        ('scores in e4m3', exact(a, b, c, t, whole, before=lambda s: lo(s, E4))[0]),
        ('q is scaled in e5m2', exact(lo(a * 32 ** -.5, E5), b, c, t, whole, scale=1.0)[0]),
        ('the head size with its padding', exact(a, b, c, t, whole, scale=64 ** -.5)[0]),
        ('8 padded keys count as zeros', exact(a, torch.cat([b, 0 * b[..., :8, :]], -2), torch.cat([c, 0 * c[..., :8,
                :]], -2),
                                              t, torch.ones(56, 88).bool())[0]),
        ('a head\'s columns 16 to 32 are those of the next', exact(a, b, c, t, whole, after=lambda o: torch.cat(
            [o[..., :16], o.roll(-1, 1)[..., 16:]], -1))[0]),
        ('chopped', exact(a, b, c, torch.float32, whole, p=t, after=lambda o: chop(o, t).float())[0].to(t)),
        ('the 16 rows of a warp twice', exact(a, b, c, t, whole, after=lambda o: torch.cat(
            [o[..., :16, :], o[..., :16, :], o[..., 32:, :]], -2))[0])]
    o, lse = exact(a, b, c, t, start)
    e, le = exact(a, b, c, t, end)
    yield 'attention', ops, dict(causal=1), [
        ('right', o), ('the diagonal ends at the last key', e), ('one on', exact(a, b, c, t, j <= i + 1)[0]),
        ('blocks of 16 of the diagonal are whole', exact(a, b, c, t, j // 16 <= i // 16)[0]),
        ('blocks of the diagonal are left out', exact(a, b, c, t, (j // 8 < i // 8) | (j == 0))[0]),
        ('the mask is -1', exact(a, b, c, t, whole, bias=-1.0 * (j > i))[0])]
    yield 'attention', ops, dict(causal=2), [
        ('right', dict(o=e, lse=le)), ('the diagonal begins at the first key', dict(o=o, lse=lse)),
        ('the lse lacks the scale', dict(o=e, lse=exact(a, b, c, t, end, scale=.18)[1])),
        ('the lse of the row before', dict(o=e, lse=le.roll(1, -1))), ('the lse in bf16', dict(o=e, lse=lo(le, BF))),
        ('the lse counts the last block twice', dict(o=e, lse=torch.logaddexp(le, le - 3)))]
    sinks = d(6)
    so = exact(a, b, c, t, end, sinks=sinks)[0]
    yield 'attention', dict(ops, sinks=sinks), dict(causal=2), [
        ('right', so), ('the sink is forgotten', e), ('the sink of another head', exact(
            a, b, c, t, end, sinks=sinks.roll(1))[0]), ('the sink counts twice', exact(a, b, c, t, end,
                    sinks=sinks + .693)[0]),
        ('the sink is scaled', exact(a, b, c, t, end, sinks=sinks * 32 ** -.5)[0])]
    mask = d(1, 1, 56, 80)
    mask[..., 70:] = -INF
    yield 'attention', dict(ops, mask=mask), {}, [
        ('right', exact(a, b, c, t, whole, bias=mask)[0]), ('the mask is scaled', exact(a, b, c, t, whole,
                bias=mask * .176)[0]),
        ('the mask of the row before', exact(a, b, c, t, whole, bias=mask.roll(1, -2))[0]),
        ('only what is shut', exact(a, b, c, t, j < 70)[0]), ('the mask in e5m2', exact(a, b, c, t, whole,
                bias=lo(mask, E5))[0])]
    yield 'attention', ops, dict(softcap=3), [
        ('right', exact(a, b, c, t, whole, cap=3.0)[0]), ('clipped', exact(a, b, c, t, whole,
                before=lambda s: s.clamp(-3, 3))[0]),
        ('tanh not multiplied', exact(a, b, c, t, whole, before=lambda s: torch.tanh(s / 3))[0]),
        ('3.1', exact(a, b, c, t, whole, cap=3.1)[0])]
    x, y, z = d(60, 4, 16).to(t), d(60, 1, 16).to(t), d(60, 1, 16).to(t)
    cu = torch.tensor([0, 1, 18, 18, 49, 60])

    def varlen(cu=cu, diagonal=lambda i, j, n: j <= i, sequences=5, rows=0, roll=0):
        o = torch.zeros(60, 4, 16)
        for s, (a, b) in enumerate(zip(cu[:-1].tolist(), cu[1:].tolist())):
            if b > a and s < sequences:
                f, g, h = (w.float()[a:b].transpose(0, 1)[None] for w in (x, y.roll(roll, 0), z))
                keep = diagonal(torch.arange(b - a)[:, None], torch.arange(b - a), b - a)
                o[a:b - rows] = exact(f, g, h, torch.float32, keep, p=t)[0][0].transpose(0, 1)[:b - a - rows]
        return o.to(t)
    yield 'varlen_attention', dict(q=x, k=y, v=z, cu=cu), dict(causal=1), [
        ('right', varlen()), ('the last sequence is not computed', varlen(sequences=4)), ('an offset one on', varlen(
            torch.tensor([0, 1, 19, 19, 49, 60]))), ('the last row of each is not written', varlen(rows=1)),
        ('keys one row on', varlen(roll=-1)), ('the first 8 see all', varlen(diagonal=lambda i, j,
                n: (j <= i) | (j < 8)))]
    kc, vc, qq = d(8, 16, 2, 32).to(t), d(8, 16, 2, 32).to(t), d(2, 4, 1, 32).to(t)
    pages, lengths = torch.tensor([[5, 2, 7], [1, 6, 3]]), torch.tensor([37, 48])

    def paged(pages=pages, n=(37, 48), heads=1, step=16, last=None):
        o = []
        for s in range(2):
            f, g = (torch.cat([w.float()[p, :step] for p in pages[s]]).repeat(2, 1, 1)[:48] for w in (kc, vc))
            if last is not None:
                f, g = f.clone(), g.clone()
                g[n[s] - 1] = last
            f, g = (w.transpose(0, 1)[None, :, :n[s]] for w in (f, g))
            f, g = (f, g) if heads == 1 else (f.flip(1), g.flip(1))
            o.append(exact(qq[s:s + 1].float(), f, g, t, torch.ones(1, n[s]).bool())[0])
        return torch.cat(o)
    yield 'paged_attention', dict(q=qq, k_cache=kc, v_cache=vc, pages=pages, lengths=lengths), {}, [
        ('right', paged()), ('whole pages', paged(n=(48, 48))), ('the new key\'s value is not yet written',
                paged(last=0.0)),
        ('one key less', paged(n=(36, 47))), ('heads exchanged', paged(heads=2)), ('the last page of the first',
                paged(
            torch.tensor([[5, 2, 7], [1, 6, 7]]))), ('pages of 15', paged(step=15))]
    q, kv = d(1, 4, 24, 56).to(t), d(1, 1, 24, 56).to(t)
    past = torch.ones(24, 24).tril().bool()
    f, g = q.float(), kv.float()
    yield 'mla', dict(q=q, kv=kv), dict(causal=1, value=40), [
        ('right', exact(f, g, g[..., :40], t, past)[0]), ('the scale before absorption', exact(f, g, g[..., :40], t,
                past, 40 ** -.5)[0]),
        ('rope\'s part first', exact(f, g.roll(16, -1), g[..., :40], t, past)[0]), ('values with the last 16', exact(
            f, g, torch.cat([g[..., :24], g[..., 40:]], -1), t, past)[0]), ('half of rope', exact(f[..., :48], g[...,
                    :48], g[
                ..., :40], t, past, 56 ** -.5)[0])]


def gradients(d, t):
    q, k, v, do = d(1, 2, 72, 32).to(t), d(1, 2, 72, 32).to(t), d(1, 2, 72, 32).to(t), d(1, 2, 72, 32).to(t)
    a, b, c, e = q.float(), k.float(), v.float(), do.float()
    past = torch.ones(72, 72).tril().bool()
    s = (a @ b.mT * 32 ** -.5).masked_fill(~past, -INF)
    p, lse = torch.softmax(s, -1), torch.logsumexp(s, -1, True)
    o = (lo(p, t) @ c).to(t)

    def back(p=p, delta=None, scale=32 ** -.5, dv=lambda x: x, dq=lambda x: x, dk=lambda x: x, mask=None,
            ds=lambda x: x):
        delta = (e * o.float()).sum(-1, True) if delta is None else delta
        w = lo(ds(p * (e @ c.mT - delta)) if mask is None else ds(p * (e @ c.mT - delta) * mask), t)
        return dict(dq=dq(w @ b * scale).to(t), dk=dk(w.mT @ a * scale).to(t), dv=dv(lo(p, t).mT @ e).to(t))
    stale = torch.exp(s - lse.roll(16, -2)).clamp(max=1e3).masked_fill(~past, 0)
    yield 'attention_dx', dict(q=q, k=k, v=v, do=do, o=o), dict(causal=1), [
        ('right', back()), ('right, dk in two parts', back(dk=lambda x: (x.double()))), ('the lse of another block',
                back(p=stale)),
        ('the lse without the scale', back(p=torch.exp(s - lse * 1.01))), ('delta of P in e4m3', back(
            delta=(e * (lo(p, E4) @ c)).sum(-1, True))), ('delta in bf16', back(delta=lo((e * o.float()).sum(-1,
                    True), BF) * (
                1 + (2 ** -7 if t != torch.float32 else 0)))), ('dk by the scale twice',
                        back(dk=lambda x: x * 32 ** -.5)),
        ('dq of the last 8 keys is lost', back(dq=lambda x: x - 0, mask=(torch.arange(72) < 64).float())),
        ('dq is added to what was there', back(dq=lambda x: x + .01)), ('dv of two heads summed', back(
            dv=lambda x: x.sum(1, True).expand_as(x))), ('dk and dv blocks are one off', back(dk=lambda x: x.roll(1,
                    -2), dv=lambda
                x: x.roll(1, -2))), ('dS is cut at 0.1', back(ds=lambda x: x.clamp(-.1, .1)))]
    x, dy, w = d(50, 160).to(t), d(50, 160).to(t), (1 + .3 * d(160)).to(t)
    u, f, g = x.float(), dy.float(), w.float()
    for name, centred, eps in (('rmsnorm_dx', 0, 1e-6), ('layernorm_dx', 1, 1e-5)):
        def dx(h=f * g, m=None, k=160, r=None, eps=eps, centred=centred):
            m = (u.mean(-1, True) if centred else 0) if m is None else m
            r = torch.rsqrt(((u - m) ** 2).mean(-1, True) + eps) if r is None else r
            n = (u - m) * r
            return r * (h - (h.sum(-1, True) / k if centred else 0) - n * (h * n).sum(-1, True) / k), n
        y, n = dx()
        db = f.sum(0)

        def out(y=y, dw=(f * n).sum(0), db=db):
            return dict(dict(dx=y.to(t), dw=dw.to(t)), **(dict(db=db.to(t)) if centred else {}))
        r = torch.rsqrt(((u - (u.mean(-1, True) if centred else 0)) ** 2).mean(-1, True) + eps)
        yield name, dict(x=x, dy=dy, w=w), {}, [
            ('right', out()), ('right, dw by five parts', out(dw=sum((f * n)[i:i + 10].sum(0) for i in range(0, 50,
                    10)))),
            ('the row before\'s 1/std', out(dx(r=r.roll(1, 0))[0])), ('1/std in e4m3', out(dx(r=lo(r, E4))[0])),
            ('over the padded width', out(dx(k=192)[0])), ('the weight of the next column',
                    out(dx(h=f * g.roll(-1))[0])),
            ('the last 2 rows are not in dw', out(dw=(f * n)[:48].sum(0))), ('a row is twice in dw',
                    out(dw=(f * n).sum(0) + (
                f * n)[10])), ('dw is for weights of 1 + w', out(dw=(f * n).sum(0) - f[0] * .1)), ('dw as n times g',
                        out(dw=(
                    f * g * n).sum(0))), ('dx lacks its mean term', out(dx(k=1e9)[0]))]
    table, index = d(40, 24).to(t), torch.arange(90) ** 2 % 40
    dy, e = d(90, 24).to(t), table.float()[index]
    f = dy.float()
    full = torch.zeros(40, 24).index_add(0, index, f)
    once = torch.zeros(40, 24).index_add(0, index[:89], f[:89])
    narrow = torch.zeros(40, 24)
    for i in range(90):
        narrow[index[i]] = lo(narrow[index[i]] + f[i], BF if t != BF else E4)
    yield 'embedding', dict(table=table, index=index), {}, [
        ('right', e), ('scaled by the root of the width', e * 24 ** .5), ('the neighbour for every odd',
                table.float()[index ^ 1]),
        ('the last 8 columns of the row before', torch.cat([e[:, :16], e.roll(1, 0)[:, 16:]], 1)), ('of e4m3', lo(e,
                E4))]
    yield 'embedding_dw', dict(dy=dy, index=index), dict(rows=40), [
        ('right', full), ('right, backward', torch.zeros(40, 24).index_add(0, index.flip(0), f.flip(0))),
                ('one row is lost', once),
        ('added in fewer bits', narrow), ('the row 39 is not written', torch.cat([full[:39], 0 * full[:1]])),
        ('a race loses one of two', torch.zeros(40, 24).index_add(0, index[::2], f[::2])), ('by frequency', full / (
            torch.bincount(index, minlength=40).clamp(min=1)[:, None] ** .5))]


def losses(d, t):
    x, target = d(48, 96, s=2.0), torch.arange(48) * 5 % 96
    lse, at = torch.logsumexp(x, -1), x[range(48), target]
    yield 'cross_entropy', dict(x=x, target=target), {}, [
        ('right', (lse - at).mean()), ('right, in float64', F.cross_entropy(x.double(), target)),
                ('the mean of the rows that err', (
            lse - at)[x.argmax(-1) != target].mean()), ('base 2', (lse - at).mean() / .693), ('the first row twice', (
                (lse - at).sum() + (lse - at)[0]) / 48), ('z loss is added', (lse - at + 1e-4 * lse ** 2).mean()),
        ('logits in bf16', F.cross_entropy(lo(x, E4), target)), ('targets in columns', (lse - x[target % 48,
                range(48)]).mean())]
    p, one = torch.softmax(x, -1), F.one_hot(target, 96).float()
    yield 'cross_entropy_dx', dict(x=x, target=target), {}, [
        ('right', (p - one) / 48), ('right, by the stored lse', (torch.exp(x - lse[:, None]) - one) / 48),
        ('P in fp16', (lo(p, torch.float16) - one) / 48), ('1 at the next class', (p - one.roll(1, 1)) / 48), ('1/47',
                (p - one) / 47),
        ('the largest is the target', (p - F.one_hot(x.argmax(-1), 96)) / 48), ('z loss\'s part',
                (p * (1 + 2e-4 * lse[
            :, None]) - one) / 48), ('the last class without gradient', torch.cat([(p - one)[:, :-1], 0 * p[:, :1]],
                    1) / 48)]
    h, w, tg = d(44, 40).to(t), d(80, 40, s=.3).to(t), torch.arange(44) * 3 % 80
    z = h.float() @ w.float().T
    low = lo(z, BF if t != BF else E4)
    yield 'linear_cross_entropy', dict(x=h, w=w, target=tg), {}, [
        ('right', F.cross_entropy(z, tg)), ('right, in float64', F.cross_entropy(z.double(), tg)),
                ('the maximum of a chunk stays', (
            torch.log(sum(torch.exp(c - c.amax(-1, True)).sum(-1) for c in z.split(20,
                    1))) + z.amax(-1) - z[range(44), tg]).mean()),
        ('the target\'s logit in fewer bits', (torch.logsumexp(z, -1) - low[range(44), tg]).mean() + 1e-3),
                ('the vocabulary\'s padding', (
            torch.logsumexp(torch.cat([z, torch.zeros(44, 16)], 1), -1) - z[range(44), tg]).mean()),
                    ('the last row is ignored', F.cross_entropy(
                z[:43], tg[:43]))]
    g = lo((torch.softmax(z, -1) - F.one_hot(tg, 80)) / 44, t)
    dx, dw = g @ w.float(), g.T @ h.float()
    acc = torch.zeros(80, 40)
    for i in range(0, 44, 11):
        acc = lo(acc + g[i:i + 11].T @ h.float()[i:i + 11], E5 if t == BF else BF)
    yield 'linear_cross_entropy_dx', dict(x=h, w=w, target=tg), {}, [
        ('right', dict(dx=dx.to(t), dw=dw.to(t))), ('dw added in fewer bits by chunks', dict(dx=dx.to(t),
                dw=acc.to(t))),
        ('dw of the last chunk alone', dict(dx=dx.to(t), dw=(g[33:].T @ h.float()[33:]).to(t))), ('dlogits chopped',
                dict(dx=(
            lo(g * .997, t) @ w.float()).to(t), dw=dw.to(t))), ('dx by chunks is overwritten', dict(dx=(g[:,
                    60:] @ w.float()[
                60:]).to(t), dw=dw.to(t))), ('not less the target', dict(dx=((torch.softmax(z,
                        -1) / 44) @ w.float()).to(t), dw=dw.to(t)))]
    a, b, n = d(36, 48), d(36, 48), d(36, 48)
    e, s = a - b, torch.where(b > 0, 1.0, -1.0)
    dp, dn = (a - b + 1e-6).norm(dim=-1), (a - n + 1e-6).norm(dim=-1)
    q, r = torch.log_softmax(a, -1), torch.softmax(b, -1)
    kl = (r * (r.log() - q)).sum(-1)
    for name, ops, forms in (
            ('mse', dict(x=a, target=b), [('right', (e * e).mean()), ('right, in float64',
                    e.double().square().mean()), (
                'the rest of 16 is lost', (e * e).flatten()[:1712].sum() / 1728), ('n - 1', (e * e).sum() / 1727), (
                    'differences in bf16', (lo(e, E4) ** 2).mean()), ('x squared less target squared',
                            (a * a - b * b).mean())]),
            ('huber', dict(x=a, target=b), [('right', F.smooth_l1_loss(a, b)), ('0.5 is not taken off', torch.where(
                e.abs() < 1, e * e / 2, e.abs()).mean()), ('log cosh', torch.log(torch.cosh(e)).mean()),
                        ('quadratic up to 1.1', torch.where(
                    e.abs() < 1.1, e * e / 2, e.abs() - .5).mean())]),
            ('hinge', dict(x=a, target=s), [('right', torch.relu(1 - a * s).mean()), ('targets of 0 and 1',
                    torch.relu(1 - a * (
                s > 0)).mean()), ('over those that err', torch.relu(1 - a * s).sum() / (a * s < 1).sum()),
                        ('softplus', F.softplus(1 - a * s).mean())]),
            ('kl_div', dict(x=q, target=r), [('right', kl.mean()), ('the sum', kl.sum()), ('exchanged',
                    (q.exp() * (q - r.log())).sum(
                -1).mean()), ('log with 1e-3', (r * ((r + 1e-3).log() - q)).sum(-1).mean()), ('the last 16 classes',
                        (r * (
                    r.log() - q))[:, :32].sum(-1).mean())]),
            ('triplet', dict(anchor=a, positive=b, negative=n), [('right', torch.relu(dp - dn + 1).mean()), (
                'positive to negative', torch.relu(dp - (b - n).norm(dim=-1) + 1).mean()), ('L1',
                        torch.relu((a - b).abs().sum(-1) - (
                    a - n).abs().sum(-1) + 1).mean()), ('margin 1.01', torch.relu(dp - dn + 1.01).mean()),
                            ('the hinge is missing', (
                        dp - dn + 1).mean())])):
        yield name, ops, {}, forms


FAMILIES = (attention, gradients, losses)
