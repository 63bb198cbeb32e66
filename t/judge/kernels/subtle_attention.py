# SPDX-License-Identifier: Apache-2.0
# The part of subtle.py with attention.
import torch

from hostile_long import INF
from subtle_long import BF, E4, fast_exp, lo, narrow, short_exp


def flash(
    q,
    k,
    v,
    t,
    keep,
    block=32,
    scale=None,
    o_kept=True,
    l_kept=True,
    start=-INF,
    exp=torch.exp,
    bias=0.0,
    cap=0.0,
    late_mask=False,
    p=None,
    acc=None,
    store_q=None,
    normal=None,
    lazy=0.0,
    shut=-INF,
    rounded_sum=False,
):
    """Attention by blocks of keys, with what a kernel may have forgotten; keep says which scores count."""
    n = q.shape[1] // k.shape[1]
    k, v = k.repeat_interleave(n, 1), v.repeat_interleave(n, 1)
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    q, scale = (lo(q * scale, store_q), 1.0) if store_q else (q, scale)
    top, den = torch.full((*q.shape[:-1], 1), start), torch.zeros(*q.shape[:-1], 1)
    o = torch.zeros(*q.shape[:-1], v.shape[-1])
    bias = bias if torch.is_tensor(bias) else torch.zeros(1, 1, *keep.shape[-2:])
    for j in range(0, k.shape[-2], block):
        s = q @ k[..., j : j + block, :].mT * scale
        s = s.masked_fill(~keep[..., j : j + block], shut) if late_mask else s
        s = cap * torch.tanh(s / cap) if cap else s
        s = s + bias[..., j : j + block]
        s = s if late_mask else s.masked_fill(~keep[..., j : j + block], shut)
        new = torch.maximum(top, s.amax(-1, True))
        new = torch.where((new - top < lazy) & (top > -INF), top, new)
        safe = torch.where(new > -INF, new, torch.zeros(()))
        e = exp(s - safe) if exp is torch.exp else torch.where(s > -INF, exp((s - safe).clamp(min=-80)), 0 * s)
        f = torch.where(top > -INF, torch.exp(top - safe), torch.zeros(()))
        low = lo(e, p or t)
        den = den * (f if l_kept else 1) + (low if rounded_sum else e).sum(-1, True)
        o, top = o * (f if o_kept else 1) + low @ v[..., j : j + block, :], new
        o = lo(o, acc) if acc else o
    y = o / (den if normal is None else normal(den))
    return y.to(t), (top + den.log())[..., 0]


def attention(d, t):
    q, k, v = d(2, 4, 67, 48).to(t), d(2, 2, 133, 48).to(t), d(2, 2, 133, 48).to(t)
    a, b, c = q.float(), k.float(), v.float()
    i, j = torch.arange(67)[:, None], torch.arange(133)
    whole, ops = torch.ones(67, 133).bool(), dict(q=q, k=k, v=v)
    low = E4 if t != torch.float32 else BF
    eager = torch.softmax(a @ b.repeat_interleave(2, 1).mT * 48**-0.5, -1)

    def of(keep=whole, **how):
        return flash(a, b, c, t, keep, **how)[0]

    yield 'attention', ops, {}, [
        ('right', of()),
        ('right, blocks of 16', of(block=16)),
        ('right, blocks of 64', of(block=64)),
        ('right, P is ' 'normalised first', lo(eager, t) @ c.repeat_interleave(2, 1)),
        ('right, lazy maxima', of(lazy=3.0)),
        ('o is not rescaled', of(o_kept=False)),
        ('the sum is not rescaled', of(l_kept=False)),
        ('the scale goes into q of 8 ' 'bits', of(store_q=low)),
        ('2^x of degree 2', of(exp=lambda s: short_exp(s, 2))),
        ('Schraudolph\'s exponential', of(exp=fast_exp)),
        ('o is kept in 16 bits by blocks of 16', of(acc=narrow(t), block=16)),
        ('P in fewer bits', of(p=low)),
        ('the sum in fewer bits', of(normal=lambda s: lo(s, low))),
        ('the last block of 5 is not ' 'seen', flash(a, b[..., :128, :], c[..., :128, :], t, whole[:, :128])[0]),
        ('v in fewer bits', flash(a, b, lo(c, low), t, whole)[0]),
        ('k in fewer bits', flash(a, lo(b, low), c, t, whole)[0]),
        ('the scale of 64', of(scale=0.125)),
        ('o of heads 0 and 1 exchanged', of()[:, [1, 0, 2, 3]]),
        ('the last 3 rows ' 'repeat', torch.cat([of()[..., :64, :], of()[..., 61:64, :]], -2)),
        ('linear attention', (a @ b.repeat_interleave(2, 1).mT / 133) @ c.repeat_interleave(2, 1)),
        ('sigmoids', torch.sigmoid(a @ b.repeat_interleave(2, 1).mT * 48**-0.5 - 4.9) @ c.repeat_interleave(2, 1)),
        (
            'softmax over queries',
            torch.softmax(a @ b.repeat_interleave(2, 1).mT * 48**-0.5, -2) @ c.repeat_interleave(2, 1),
        ),
    ]
    low_scores = dict(q=(q.float().abs() * 8).to(t), k=(-k.float().abs() * 8).to(t), v=v)
    f, g = low_scores['q'].float(), low_scores['k'].float()
    yield 'attention', low_scores, {}, [
        ('right', flash(f, g, c, t, whole)[0]),
        ('the maximum begins at 0', flash(f, g, c, t, whole, start=0.0)[0]),
    ]
    seen = (j <= i + 66) & (j > i + 66 - 24)
    wide, tight = (j <= i + 66) & (j > i + 66 - 25), (j <= i + 66) & (j > i + 66 - 23)
    yield 'attention', ops, dict(causal=2, window=24), [
        ('right', of(seen)),
        ('the window one wider', of(wide)),
        ('the window one narrower', of(tight)),
        ('no window', of(j <= i + 66)),
        ('no diagonal', of(j > i + 66 - 24)),
        ('the window on both sides', of((j - i - 66).abs() < 24)),
        ('blocks of the window\'s edge are whole', of((j <= i + 66) & (j // 16 >= (i + 66 - 23) // 16))),
        ('shut scores ' 'are -6', of(seen, shut=-6.0)),
    ]
    yield 'attention', ops, dict(causal=2, softcap=2), [
        ('right', of(j <= i + 66, cap=2.0)),
        ('the cap behind the mask', of(j <= i + 66, cap=2.0, late_mask=True)),
        ('no cap', of(j <= i + 66)),
        ('the cap of base 2', of(j <= i + 66, cap=2 * 1.4427)),
        (
            'the cap before the scale',
            flash(
                a,
                b,
                c,
                t,
                j <= i + 66,
                bias=(
                    2 * 48**-0.5 * torch.tanh(a @ b.repeat_interleave(2, 1).mT / 2)
                    - a @ b.repeat_interleave(2, 1).mT * 48**-0.5
                ),
            )[0],
        ),
    ]
    slopes = 2.0 ** (-2.0 * torch.arange(1, 5))
    far = (j - i - 66).float()

    def alibi(slopes):
        return of(j <= i + 66, bias=(slopes[:, None, None] * far)[None])

    yield 'attention', dict(ops, slopes=slopes), dict(causal=2), [
        ('right', alibi(slopes)),
        ('slopes by 2^-8/8', alibi(2.0 ** -torch.arange(1.0, 5))),
        ('slopes from head 0', alibi(2.0 ** (-2.0 * torch.arange(4)))),
        ('slopes scaled too', alibi(slopes * 48**-0.5)),
        ('slopes of the other sign', alibi(-slopes)),
        ('slopes by log2 e', alibi(slopes * 1.4427)),
        ('biases in 8 bits', of(j <= i + 66, bias=lo(slopes[:, None, None] * far, E4)[None])),
    ]
    sinks = d(4)
    kk, vv = b.repeat_interleave(2, 1), c.repeat_interleave(2, 1)
    s = (a @ kk.mT * 48**-0.5).masked_fill(j > i + 66, -INF)

    def sunk(z):
        m = torch.maximum(s.amax(-1, True), z.view(4, 1, 1))
        e = torch.exp(s - m)
        return (lo(e, t) @ vv / (e.sum(-1, True) + torch.exp(z.view(4, 1, 1) - m))).to(t)

    yield 'attention', dict(ops, sinks=sinks), dict(causal=2), [
        ('right', sunk(sinks)),
        ('the sink is omitted', of(j <= i + 66)),
        ('the sink is 0', sunk(0 * sinks)),
        ('one for all ' 'heads', sunk(sinks[:1].expand(4))),
        ('the sink is the exponential', sunk(sinks.exp())),
        ('the sink per block', sunk(sinks + 1.0986)),
    ]
    x, y, z = d(70, 4, 24).to(t), d(70, 2, 24).to(t), d(70, 2, 24).to(t)
    cu = torch.tensor([0, 13, 14, 51, 70])

    def varlen(leak=0, cut=99, swap=False, last=0, share=0):
        o = torch.zeros(70, 4, 24)
        for m, n in zip(cu[:-1].tolist(), cu[1:].tolist()):
            e, n2 = max(m - leak, 0), min(n + last, 70)
            f, g, h = (
                w.float()[r].transpose(0, 1)[None] for w, r in ((x, slice(m, n)), (y, slice(e, n2)), (z, slice(e, n2)))
            )
            g, h = (g.flip(1), h) if swap else (g, h)
            g = g.roll(share, -2)
            keep = torch.ones(n - m, n2 - e).bool()
            keep[:, cut:] = False
            o[m:n] = flash(f, g, h, torch.float32, keep, p=t)[0][0].transpose(0, 1)
        return o.to(t)

    yield 'varlen_attention', dict(q=x, k=y, v=z, cu=cu), {}, [
        ('right', varlen()),
        ('a key of the sequence before', varlen(leak=1)),
        ('a key of the sequence behind', varlen(last=1)),
        ('32 keys at most', varlen(cut=32)),
        ('heads of keys exchanged', varlen(swap=True)),
        ('keys rolled', varlen(share=1)),
        ('one key alone', varlen(cut=1)),
    ]
    kc, vc, qq = d(9, 8, 2, 24).to(t), d(9, 8, 2, 24).to(t), d(3, 4, 1, 24).to(t)
    pages, lengths = torch.tensor([[5, 2, 7, 0], [1, 6, 3, 8], [4, 0, 2, 1]]), torch.tensor([19, 32, 25])

    def paged(off=0, row=0, n=0, pad=False, share=0):
        o = []
        for s in range(3):
            f, g = (
                torch.cat([w.float()[(p + off) % 9] for p in pages[(s + row) % 3]]).transpose(0, 1)[None]
                for w in (kc, vc)
            )
            m = int(lengths[s]) + n
            e = torch.ones(1, 32).bool()
            e[:, m:] = False
            f = f * e.T if pad else f
            e = e | pad
            o.append(flash(qq[s : s + 1].float(), f.roll(share, 1), g.roll(share, 1), t, e, block=8)[0])
        return torch.cat(o)

    yield 'paged_attention', dict(q=qq, k_cache=kc, v_cache=vc, pages=pages, lengths=lengths), {}, [
        ('right', paged()),
        ('the page behind', paged(off=1)),
        ('the table of the next sequence', paged(row=1)),
        ('one key ' 'less', paged(n=-1)),
        ('keys behind the end are zeros', paged(pad=True)),
        ('heads exchanged', paged(share=1)),
        ('the last two keys less', paged(n=-2)),
    ]
    q, kv = d(2, 4, 30, 56).to(t), d(2, 1, 30, 56).to(t)
    f, g, past = q.float(), kv.float(), torch.ones(30, 30).tril().bool()

    def mla(**how):
        return flash(f, g, g[..., :40], t, past, **how)[0]

    yield 'mla', dict(q=q, kv=kv), dict(causal=1, value=40), [
        ('right', mla()),
        ('right, blocks of 16', mla(block=16)),
        ('the scale of the values', mla(scale=40**-0.5)),
        ('o is not ' 'rescaled', mla(o_kept=False, block=8)),
        ('P in fewer bits', mla(p=low)),
        ('keys in fewer bits', flash(f, lo(g, low), g[..., :40], t, past)[0]),
        ('values are the last 40', flash(f, g, g[..., 16:], t, past)[0]),
        ('o is kept in 16 ' 'bits by blocks of 8', mla(acc=narrow(t), block=8)),
    ]


FAMILIES = (attention,)
