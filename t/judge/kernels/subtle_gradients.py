# SPDX-License-Identifier: Apache-2.0
# The part of subtle.py with gradients, rotations, embeddings and losses.
import torch
import torch.nn.functional as F

from subtle_long import BF, E4, E5, added, by_parts, fast_exp, lo, narrow


def gradients(d, t):
    q, k, v, do = (d(1, 2, 65, 40).to(t) for _ in range(4))
    a, b, c, e = (x.float() for x in (q, k, v, do))
    scale = 40**-0.5
    p = torch.softmax(a @ b.mT * scale, -1)
    o = (lo(p, t) @ c).to(t)
    low = E4 if t != torch.float32 else BF

    def back(p=p, delta=None, ds=t, dv=None, scale=scale, q=a, product=lambda x, y: x @ y, keep=1.0):
        delta = (e * o.float()).sum(-1, True) if delta is None else delta
        w = lo(p * (e @ c.mT - delta) * keep, ds)
        return dict(
            dq=(product(w, b) * scale).to(t),
            dk=(product(w.mT, q) * scale).to(t),
            dv=product(lo(p, t) if dv is None else dv, e).to(t) if dv is not None else product(lo(p, t).mT, e).to(t),
        )

    yield 'attention_dx', dict(q=q, k=k, v=v, do=do, o=o), {}, [
        ('right', back()),
        ('right, in parts of 13', back(product=lambda x, y: by_parts(x, y, torch.float32, 13))),
        ('delta is the mean', back(delta=(e * o.float()).mean(-1, True))),
        ('delta of 8 bits', back(delta=lo((e * o.float()).sum(-1, True), low) * (1 + 2**-6))),
        ('dS in fewer bits', back(ds=low)),
        ('the scale is missing', back(scale=1.0)),
        ('the scale twice', back(scale=1 / 40)),
        ('accumulated in 16 bits by 8', back(product=lambda x, y: by_parts(x, y, narrow(t), 8))),
        ('the diagonal has no gradient', back(keep=1 - torch.eye(65))),
        ('dv by P, not its transpose', back(dv=lo(p, t))),
        ('P with the scale of 64', back(p=torch.softmax(a @ b.mT / 8, -1))),
        ('dk of the last key is lost', back(keep=(torch.arange(65) < 64).float())),
    ]
    x, dy, w = d(53, 131).to(t), d(53, 131).to(t), (1 + 0.3 * d(131)).to(t)
    u, f, g = x.float(), dy.float(), w.float()
    for name, centred, eps in (('rmsnorm_dx', 0, 1e-6), ('layernorm_dx', 1, 1e-5)):
        m = u.mean(-1, True) if centred else 0 * u[:, :1]
        r = torch.rsqrt(((u - m) ** 2).mean(-1, True) + eps)

        def out(h=f * g, r=r, n=131, sums=lambda x: x.sum(0), second=1.0, centred=centred, m=m):
            z = (u - m) * r
            y = r * (h - (h.sum(-1, True) / n if centred else 0) - second * z * (h * z).sum(-1, True) / n)
            both = dict(dx=y.to(t), dw=sums(f * z).to(t))
            return dict(both, db=sums(f).to(t)) if name == 'layernorm_dx' else both

        yield name, dict(x=x, dy=dy, w=w), {}, [
            ('right', out()),
            ('right, dw by rows of 8', out(sums=lambda x: sum(y.sum(0) for y in x.split(8)))),
            ('dw is not ' 'summed over the last 5', out(sums=lambda x: x[:48].sum(0))),
            ('dw is the mean', out(sums=lambda x: x.mean(0))),
            (
                'dw added in 16 bits by 4',
                out(
                    sums=lambda x: added(
                        torch.stack([y.sum(0) for y in x.split(4)], -1), narrow(t) if t == torch.float32 else E4
                    )
                ),
            ),
            ('over 128', out(n=128)),
            ('the second term is ' 'halved', out(second=0.5)),
            ('dy without w', out(h=f)),
            ('the mean\'s term is for the other norm', out(centred=1 - centred)),
            ('1/std of 8 bits', out(r=lo(r, E5))),
            ('1/std squared', out(r=r * r)),
            ('w twice', out(h=f * g * g)),
        ]
    table, index = d(41, 23).to(t), torch.arange(95) ** 2 % 41
    h = table.float()[index]
    dy = d(95, 23).to(t)
    f = dy.float()
    full = torch.zeros(41, 23).index_add(0, index, f)
    last = torch.zeros(41, 23)
    for n in range(95):
        last[index[n]] = f[n]
    narrowed = torch.zeros(41, 23)
    for n in range(95):
        narrowed[index[n]] = lo(narrowed[index[n]] + f[n], narrow(t) if t == torch.float32 else E4)
    yield 'embedding', dict(table=table, index=index), {}, [
        ('right', h),
        ('index + 1', table.float()[(index + 1) % 41]),
        ('index 0 is zeros', h * (index > 0)[:, None]),
        ('of int8', torch.round(h / h.abs().amax() * 127) / 127 * h.abs().amax()),
        ('the norm is cut at 1', h / h.norm(dim=-1, keepdim=True).clamp(min=1)),
        ('columns reversed', h.flip(1)),
        ('the last row is not read', torch.cat([h[:94], h[93:94]])),
    ]
    yield 'embedding_dw', dict(dy=dy, index=index), dict(rows=41), [
        ('right', full),
        ('duplicates overwrite', last),
        ('the mean of duplicates', full / torch.bincount(index, minlength=41).clamp(min=1)[:, None]),
        ('added in fewer bits', narrowed),
        ('the first 94', torch.zeros(41, 23).index_add(0, index[:94], f[:94])),
        ('padding 0 has no gradient', full * (torch.arange(41) > 0)[:, None]),
        ('the index before', torch.zeros(41, 23).index_add(0, index.roll(1), f)),
        ('the gradient is halved', full / 2),
    ]


def rotations(d, t):
    x = d(2, 3, 37, 40).to(t)
    power = torch.arange(20) / 20
    e = torch.arange(37)[:, None] * 10000.0**-power
    u, c, s = x.float(), e.cos(), e.sin()

    def turn(c=c, s=s, inter=0, u=u, sign=1):
        a, b = (u[..., ::2], u[..., 1::2]) if inter else (u[..., :20], u[..., 20:])
        y, z = a * c - sign * b * s, b * c + sign * a * s
        return torch.stack([y, z], -1).flatten(-2) if inter else torch.cat([y, z], -1)

    low = E4 if t != torch.float32 else BF
    base = torch.arange(37)[:, None] * 500000.0**-power
    step = (torch.arange(37)[:, None] + 1) * 10000.0**-power
    for inter in (0, 1):
        yield 'rope', dict(x=x, cos=c, sin=s), dict(interleaved=inter), [
            ('right', turn(inter=inter)),
            ('the other layout', turn(inter=1 - inter)),
            ('tables in fewer bits', turn(lo(c, low), lo(s, low), inter)),
            ('the other direction', turn(inter=inter, sign=-1)),
            ('half of the head', torch.cat([turn(inter=inter)[..., :20], u[..., 20:]], -1)),
            ('base 500000', turn(base.cos(), base.sin(), inter)),
            ('positions one on', turn(step.cos(), step.sin(), inter)),
            ('turned twice', turn(inter=inter, u=turn(inter=inter))),
            ('x in fewer bits', turn(inter=inter, u=lo(u, low))),
            (
                'sin for cos in the second half',
                torch.cat([turn(inter=inter)[..., :20], turn(s, c, inter)[..., 20:]], -1),
            ),
            ('heads share the first\'s', turn(inter=inter)[:, :1].expand(2, 3, 37, 40)),
            ('products in fewer bits', (lambda y: lo(y - u * 0.5, low) + u * 0.5)(turn(inter=inter))),
        ]


def losses(d, t):
    x, target = d(51, 97, s=2.0), torch.arange(51) * 5 % 97
    lse, at = torch.logsumexp(x, -1), x[range(51), target]
    nll, one = lse - at, F.one_hot(target, 97).float()
    yield 'cross_entropy', dict(x=x, target=target), {}, [
        ('right', nll.mean()),
        ('right, one after the other', nll.flip(0).cumsum(0)[-1] / 51),
        ('label smoothing of 0.01', F.cross_entropy(x, target, label_smoothing=0.01)),
        ('target 0 is ignored', nll[target != 0].mean()),
        ('the sum over 52', nll.sum() / 52),
        ('the median', nll.median()),
        ('added in bf16', added(nll, BF) / 51),
        ('logits in fp16 over 4', F.cross_entropy(lo(x / 4, torch.float16) * 4.01, target)),
        ('the focal weight', (nll * (1 - torch.exp(-nll))).mean()),
        ('fast exponentials', (fast_exp(x - x.amax(-1, True)).sum(-1).log() + x.amax(-1) - at).mean()),
        ('one row\'s maximum is left out', (nll.sum() - x[7].amax()) / 51),
    ]
    far = x + 120
    yield 'cross_entropy', dict(x=far, target=target), {}, [
        ('right', F.cross_entropy(far, target)),
        ('without the maximum', (torch.log(torch.exp(far).sum(-1)) - far[range(51), target]).mean()),
    ]
    p = torch.softmax(x, -1)
    yield 'cross_entropy_dx', dict(x=x, target=target), {}, [
        ('right', (p - one) / 51),
        ('smoothing of 0.01', (p - one * 0.99 - 0.01 / 97) / 51),
        ('the sum', p - one),
        ('shares in ' 'fp16', (lo(p, torch.float16) - one) / 51),
        ('the target twice', (p - 2 * one) / 51),
        ('of the first 96', torch.cat([(p - one)[:, :96], 0 * p[:, 96:]], 1) / 51),
        ('fast exponentials', (fast_exp(x - lse[:, None]) - one) / 51),
        ('target 0 is ignored', (p - one) * (target != 0)[:, None] / 51),
        ('the logits\' own', (x - one) / 51),
    ]
    h, w, tg = d(47, 42).to(t), d(83, 42, s=0.3).to(t), torch.arange(47) * 3 % 83
    z = h.float() @ w.float().T
    low = E4 if t != torch.float32 else BF
    chunks = [torch.logsumexp(c, -1) for c in z.split(32, 1)]
    yield 'linear_cross_entropy', dict(x=h, w=w, target=tg), {}, [
        ('right', F.cross_entropy(z, tg)),
        ('right, by chunks of the vocabulary', (torch.logsumexp(torch.stack(chunks), 0) - z[range(47), tg]).mean()),
        ('the largest chunk alone', (torch.stack(chunks).amax(0) - z[range(47), tg]).mean()),
        ('chunks are added', (sum(c.exp() for c in chunks[:2]).log() - z[range(47), tg]).mean()),
        ('logits in few bits', F.cross_entropy(lo(z, E5), tg)),
        ('x in fewer bits', F.cross_entropy(lo(h, E5) @ w.float().T, tg)),
        ('a target of the next row', F.cross_entropy(z, tg.roll(1))),
        ('the softcap of 30', F.cross_entropy(30 * torch.tanh(z / 30), tg)),
    ]
    g = lo((torch.softmax(z, -1) - F.one_hot(tg, 83)) / 47, t)

    def both(g=g, gw=None, mul=lambda a, b: a @ b):
        gw = g if gw is None else gw
        return dict(dx=mul(g, w.float()).to(t), dw=mul(gw.T, h.float()).to(t))

    yield 'linear_cross_entropy_dx', dict(x=h, w=w, target=tg), {}, [
        ('right', both()),
        ('dw without the mean', both(gw=g * 47)),
        ('dlogits in fewer bits', both(lo(g * 512, low) / 512)),
        ('added in 16 bits by 4', both(mul=lambda a, b: by_parts(a, b, narrow(t) if t == torch.float32 else E5, 4))),
        ('dw lacks the last 7 rows', both(gw=g * (torch.arange(47) < 40)[:, None])),
        ('the last class is not in dx', both(g * (torch.arange(83) < 82), g)),
        ('the target is not subtracted in dw', both(gw=lo(torch.softmax(z, -1) / 47, t))),
    ]
    a, b, n = d(37, 53), d(37, 53), d(37, 53)
    e, s = a - b, torch.where(b > 0, 1.0, -1.0)
    near, away = (a - b + 1e-6).norm(dim=-1), (a - n + 1e-6).norm(dim=-1)
    q, r = torch.log_softmax(a, -1), torch.softmax(b, -1)
    kl = (r * (r.log() - q)).sum(-1)
    for name, ops, forms in (
        (
            'mse',
            dict(x=a, target=b),
            [
                ('right', (e * e).mean()),
                ('a half', (e * e).mean() / 2),
                ('added in bf16', added((e * e).flatten()[None], BF)[0] / 1961),
                ('the root', (e * e).mean().sqrt()),
                ('rows of 52', (e[:, :52] ** 2).mean()),
                ('the mean of ' 'magnitudes', e.abs().mean()),
                ('squares in bf16', (lo(e, BF) ** 2).mean() * 1.001),
            ],
        ),
        (
            'huber',
            dict(x=a, target=b),
            [
                ('right', F.smooth_l1_loss(a, b)),
                ('beta 0.5', F.smooth_l1_loss(a, b, beta=0.5)),
                ('pseudo-Huber', ((1 + e * e).sqrt() - 1).mean()),
                ('the sum', F.smooth_l1_loss(a, b, reduction='sum')),
                ('differences of 8 ' 'bits', F.smooth_l1_loss(lo(a, E4), b)),
                ('added in bf16', added(F.smooth_l1_loss(a, b, reduction='none').flatten()[None], BF)[0] / 1961),
            ],
        ),
        (
            'hinge',
            dict(x=a, target=s),
            [
                ('right', torch.relu(1 - a * s).mean()),
                ('a margin of 0.99', torch.relu(0.99 - a * s).mean()),
                ('squared', (torch.relu(1 - a * s) ** 2).mean()),
                ('no relu', (1 - a * s).mean()),
                ('added in bf16', added(torch.relu(1 - a * s).flatten()[None], BF)[0] / 1961),
                ('of the first 1952', torch.relu(1 - a * s).flatten()[:1952].sum() / 1961),
            ],
        ),
        (
            'kl_div',
            dict(x=q, target=r),
            [
                ('right', kl.mean()),
                ('the mean of elements', kl.mean() / 53),
                ('the cross entropy', -(r * q).sum(-1).mean()),
                ('log2', kl.mean() * 1.4427),
                ('the target in bf16', (lo(r, BF) * (lo(r, BF).log() - q)).sum(-1).mean() * 1.001),
                ('exchanged', (q.exp() * (q - r.log())).sum(-1).mean()),
            ],
        ),
        (
            'triplet',
            dict(anchor=a, positive=b, negative=n),
            [
                ('right', torch.relu(near - away + 1).mean()),
                ('squared', torch.relu(near**2 - away**2 + 1).mean()),
                ('exchanged', torch.relu(away - near + 1).mean()),
                ('a margin of 1.1', torch.relu(near - away + 1.1).mean()),
                ('the harder negative', torch.relu(near - torch.minimum(away, (b - n).norm(dim=-1)) + 1).mean()),
                ('over 36', torch.relu(near - away + 1).sum() / 36),
            ],
        ),
    ):
        yield name, ops, {}, forms


FAMILIES = (gradients, rotations, losses)
