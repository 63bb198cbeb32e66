# SPDX-License-Identifier: Apache-2.0
# The part of subtle.py with quantised products, experts, choices and optimizers.
import torch
import torch.nn.functional as F

from subtle_long import BF, E4, E5, by_parts, lo, narrow


def quantised(d, t):
    x, q = d(19, 256).to(t), (torch.arange(24 * 256).view(24, 256) * 29 + torch.arange(24)[:, None] * 3) % 16
    s, z = (d(24, 4).abs() * 0.05 + 0.02).to(t), (torch.arange(96).view(24, 4) * 5 + 3) % 16
    u = x.float()

    def four(q=q, s=s.float(), z=z, f=t, product=lambda w: u @ w.T):
        e, h = s.repeat_interleave(64, 1)[:, :256], z.repeat_interleave(64, 1)[:, :256]
        return product(lo((q - h) * e, f)).to(t)

    off = (torch.arange(256) + 1) // 64
    off = off.clamp(max=3)
    yield 'int4_matmul', dict(x=x, q=q, scale=s, zero=z), dict(group=64), [
        ('right', four()),
        (
            'right, in parts',
            four(product=lambda w: sum(u[:, i : i + 64] @ w[:, i : i + 64].T for i in range(0, 256, 64))),
        ),
        ('a group\'s boundary is one off', (u @ lo((q - z[:, off]) * s.float()[:, off], t).T).to(t)),
        ('zero one more', four(z=z + 1)),
        ('zero of the other sign', four(z=-z)),
        ('zero behind the scale', (u @ (q * s.float().repeat_interleave(64, 1) - z.repeat_interleave(64, 1)).T).to(t)),
        ('scales by columns', four(s=s.float().T.reshape(24, 4))),
        ('high and low nibbles', four(q.view(24, 128, 2).flip(-1).reshape(24, 256))),
        ('high halves first', four(torch.stack([q[:, :128], q[:, 128:]], -1).flatten(1))),
        ('weights of 8 bits', four(f=E4)),
        ('accumulated in 16 bits by 16', four(product=lambda w: by_parts(u, w.T, narrow(t), 16))),
        ('15 for -1', four(torch.where(q == 15, torch.full_like(q, -1), q))),
        ('scales of 3 bits', four(s=lo(s, E5))),
        (
            'activations in int8',
            four(product=lambda w: (torch.round(u / u.abs().amax(1, True) * 127) / 127 * u.abs().amax(1, True)) @ w.T),
        ),
    ]
    out = dict(out={BF: 'bf16', torch.float16: 'fp16'}.get(t, 'fp32'))
    a, sa = lo(d(22, 160), E4), torch.ldexp(torch.ones(22, 5), (torch.arange(110) * 7 % 6 - 3).view(22, 5))
    b, sb = lo(d(26, 160), E4), torch.ldexp(torch.ones(26, 5), (torch.arange(130) * 5 % 4 - 2).view(26, 5))

    def dot(a=a, sa=sa, b=b, sb=sb, product=lambda x, w: x @ w.T):
        return product(a * sa.repeat_interleave(32, 1), b * sb.repeat_interleave(32, 1)).to(t)

    one = sa.clone()
    one[:, 2] *= 2

    def aligned(x, w):  # accumulators of 13 fraction bits, as fp8 units have, chopped after each 32
        y = torch.zeros(22, 26)
        for i in range(0, 160, 32):
            y = y + x[:, i : i + 32] @ w[:, i : i + 32].T
            step = torch.exp2(y.abs().clamp(min=1e-9).log2().floor() - 6)
            y = torch.trunc(y / step) * step
        return y

    yield 'scaled_matmul', dict(a=a, sa=sa, b=b, sb=sb), out, [
        ('right', dot()),
        (
            'right, scales behind the parts',
            sum(
                (a[:, i * 32 : i * 32 + 32] @ b[:, i * 32 : i * 32 + 32].T) * sa[:, i : i + 1] * sb[:, i]
                for i in range(5)
            ).to(t),
        ),
        ('a scale rounded up for down', dot(sa=one)),
        ('no scale of b', dot(sb=torch.ones(26, 5))),
        ('scales of a for b', dot(sb=sa[:1].expand(26, 5))),
        ('accumulated in few ' 'chopped bits', dot(product=aligned)),
        ('accumulated in 16 bits', dot(product=lambda x, w: by_parts(x, w.T, narrow(t), 8))),
        ('fnuz: elements halved', dot(a=a / 2)),
        ('scales one block on', dot(sa=sa.roll(-1, 1))),
        ('e5m2 read as e4m3', dot(a=lo(a, E5))),
        ('elements of 2 bits', dot(b=torch.round(b).clamp(-2, 2))),
    ]
    a, sa, b, sb = lo(d(14, 256), E4), d(14, 2).abs() + 0.1, lo(d(256, 256), E4), d(2, 2).abs() + 0.1

    def deep(sa=sa, sb=sb, k=(0, 1), f=torch.float32):
        y = torch.zeros(14, 256)
        for i in k:
            y = lo(
                y
                + (a[:, i * 128 : i * 128 + 128] @ b[:, i * 128 : i * 128 + 128].T)
                * sa[:, i : i + 1]
                * sb[:, i].repeat_interleave(128),
                f,
            )
        return y.to(t)

    yield 'deepseek_matmul', dict(a=a, sa=sa, b=b, sb=sb), out, [
        ('right', deep()),
        ('right, backward', deep(k=(1, 0))),
        ('scales transposed', deep(sb=sb.T)),
        ('one scale for b', deep(sb=sb.mean() + 0 * sb)),
        ('promoted in 8 bits', deep(f=E5)),
        ('the second part twice', deep(k=(0, 1, 1))),
        ('scales of a of the next row', deep(sa=sa.roll(-1, 0))),
        ('the root of the scale', deep(sa=sa.sqrt())),
    ]
    x, w, index = d(35, 44).to(t), d(5, 44, 26, s=0.2).to(t), torch.arange(35) ** 2 % 5
    u, each = x.float(), torch.einsum('rk,ekn->ern', x.float(), w.float())
    y = each[index, range(35)]
    order = index.argsort()
    yield 'grouped_matmul', dict(x=x, w=w, index=index), {}, [
        ('right', y),
        ('in the experts\' order', y[order]),
        ('put back twice', y[order.argsort()]),
        (
            'the first expert ' 'for the first row of each',
            each[torch.where(F.pad(index[1:] != index[:-1], (1, 0)), 0 * index, index), range(35)],
        ),
        (
            'added in 16 bits by 4',
            torch.stack([by_parts(u[i : i + 1], w.float()[index[i]], narrow(t), 4)[0] for i in range(35)]),
        ),
        ('a row of the next tile', each[index, torch.arange(35).roll(-1)]),
        ('all experts', each.sum(0)),
    ]
    wg, wu = d(4, 44, 30, s=0.2).to(t), d(4, 44, 30, s=0.2).to(t)
    wd, gate, index = d(4, 30, 26, s=0.2).to(t), torch.sigmoid(d(35, 1)).to(t), torch.arange(35) * 3 % 4

    def moe(act=F.silu, early=False, e=index, gate=gate.float(), s=None, h=t):
        a, b = (lo(torch.einsum('rk,rkn->rn', u * (gate if early else 1), m.float()[index]), t) for m in (wg, wu))
        z = act(a) if s is None else lo(act(a), s)
        return (lo(torch.einsum('rk,rkn->rn', lo(z * b, h), wd.float()[e]), t) * (1 if early else gate)).to(t)

    low = E4 if t != torch.float32 else BF
    yield 'experts', dict(x=x, wg=wg, wu=wu, wd=wd, index=index, gate=gate), {}, [
        ('right', moe()),
        ('the gate goes in', moe(early=True)),
        ('wd of the next expert', moe(e=(index + 1) % 4)),
        ('gates are not applied', moe(gate=1.0)),
        ('silu in fewer bits', moe(s=low)),
        ('hidden in fewer bits', moe(h=low)),
        ('gelu', moe(F.gelu)),
        ('gates through a softmax again', moe(gate=torch.softmax(gate.float(), 0))),
        ('gates of the next token', moe(gate=gate.float().roll(-1, 0))),
        ('tokens of expert 3 are dropped', moe(gate=(gate.float() * (index != 3)[:, None]))),
    ]


def choices(d, t):
    x = d(45, 130).to(t)
    u = x.float()
    for name, sign, k in (('topk', 1, 5), ('argmax', 1, 1), ('argmin', -1, 1)):
        s = sign * u
        right = s.topk(k)[1]

        def shape(y):
            return y if name == 'topk' else y[:, 0]

        parts = [
            ('right', shape(right)),
            ('rounded to 4 bits', shape(lo(s * 1.01, E5).topk(k)[1])),
            ('the last two are not ' 'seen', shape(s[:, :126].topk(k)[1])),
            ('by magnitude', shape(s.abs().topk(k)[1])),
            ('of tiles of 64', shape(s[:, :64].topk(k)[1])),
            ('the last lane wins', shape(torch.full_like(right, 129))),
            ('of a row of 128', shape(F.pad(s.flatten(), (0, 0))[: 45 * 128].view(45, 128).topk(k)[1])),
            (
                'the worst of the best is one ' 'lower',
                shape(torch.cat([s.topk(k + 1)[1][:, : k - 1], s.topk(k + 1)[1][:, k:]], 1)),
            ),
        ]
        yield name, dict(x=x), dict(k=k) if name == 'topk' else {}, parts
    w = d(16, 130, s=0.1).to(t)
    z = u @ w.float().T
    yield 'router', dict(x=x, w=w), dict(k=2), [
        ('right', z.topk(2)[1]),
        ('right, of a softmax', torch.softmax(z.double(), -1).topk(2)[1]),
        ('noise as in training', (z + 0.3 * d(45, 16)).topk(2)[1]),
        ('logits of 8 bits', lo(z, E5).topk(2)[1]),
        ('one of each half', torch.stack([z[:, :8].argmax(-1), 8 + z[:, 8:].argmax(-1)], 1)),
        ('weights of another layer', (u @ w.float().roll(1, 0).T).topk(2)[1]),
        ('the largest twice', z.topk(2)[1][:, :1].expand(45, 2)),
        ('the last 2 of k', (u[:, :128] * 1.0 @ w.float()[:, :128].T * 1.0 + 0.05 * torch.arange(16)).topk(2)[1]),
    ]


def steps(d, t):
    w, g, m, v = d(601), d(601, s=0.1), d(601, s=0.1), d(601, s=0.1) ** 2

    def adam(
        b1=0.9,
        b2=0.999,
        eps=1e-8,
        decay=0.01,
        n=5,
        grad=g,
        root=torch.sqrt,
        c1=None,
        c2=None,
        keep=lambda x: x,
        square=lambda g: g * g,
        end=601,
    ):
        a, b = b1 * m + (1 - b1) * grad, b2 * v + (1 - b2) * square(grad)
        c1, c2 = 1 - b1**n if c1 is None else c1, 1 - b2**n if c2 is None else c2
        y = keep(w * (1 - 1e-3 * decay) - 1e-3 * a / c1 / (root(b / c2) + eps))
        return dict(w1=torch.where(torch.arange(601) < end, y, w), m1=a, v1=b)

    yield 'adamw', dict(w=w, g=g, m=m, v=v), dict(step=5), [
        ('right', adam()),
        ('right, of 64 bits', {k: y.float() for k, y in adam(root=lambda b: b.double().sqrt()).items()}),
        ('the square is not corrected', adam(c2=1.0)),
        ('the mean is not corrected', adam(c1=1.0)),
        ('the correction\'s ' 'root', adam(c2=(1 - 0.999**5) ** 0.5)),
        ('weights in bf16', adam(keep=lambda x: lo(x, BF))),
        ('root of 8 bits', adam(root=lambda b: lo(b.sqrt() * 8, E4) / 8)),
        ('v of |g|', adam(square=lambda g: g.abs())),
        ('clipped ' 'to the norm of 1', adam(grad=g / g.norm())),
        ('the decay in the gradient', adam(grad=g + 0.01 * w, decay=0)),
        ('the last block is skipped', adam(end=600)),
        ('the old mean', dict(adam(), m1=m)),
        ('eps in the root', adam(eps=0, root=lambda b: (b + 1e-5).sqrt())),
        ('weights in fp16', adam(keep=lambda x: lo(x, torch.float16))),
        ('eps is 1e-6 of 8 bits', adam(eps=1e-4)),
    ]

    def lion(b1=0.9, b2=0.99, lr=1e-4, decay=0.1, old=m, sign=torch.sign):
        return dict(w1=w * (1 - lr * decay) - lr * sign(b1 * old + (1 - b1) * g), m1=b2 * m + (1 - b2) * g)

    yield 'lion', dict(w=w, g=g, m=m), dict(decay=0.1), [
        ('right', lion()),
        ('by the new momentum', lion(old=0.99 * m + 0.01 * g)),
        ('the gradient\'s sign', lion(b1=0.0)),
        ('no decay', lion(decay=0.0)),
        ('1 for the sign of 0 and below', lion(sign=lambda c: torch.where(c > -0.01, 1.0, -1.0))),
        ('momentum in bf16', (lambda r: dict(r, m1=lo(r['m1'], BF)))(lion())),
        ('lr of fp16', lion(lr=float(torch.tensor(1e-4).half()) * 1.01)),
    ]

    def sgd(mo=0.9, decay=0.01, nest=True, lr=0.1):
        h = g + decay * w
        b = mo * m + h
        return dict(w1=w - lr * (h + mo * b if nest else b), m1=b)

    yield 'sgd', dict(w=w, g=g, m=m), dict(lr=0.1, momentum=0.9, decay=0.01, nesterov=1), [
        ('right', sgd()),
        ('not Nesterov\'s', sgd(nest=False)),
        ('no decay', sgd(decay=0)),
        ('momentum 0.95', sgd(0.95)),
        ('the buffer in bf16', (lambda r: dict(r, m1=lo(r['m1'], BF)))(sgd())),
        ('uphill', sgd(lr=-0.1)),
        ('the buffer is the ' 'gradient', dict(sgd(), m1=g)),
    ]
    o = d(601, s=0.05)

    def muon(mo=0.95, decay=0.1, scale=0.8, o=o):
        b = mo * m + (1 - mo) * g
        return dict(w1=w * (1 - 1e-3 * decay) - 1e-3 * scale * o, m1=b, u=(1 - mo) * g + mo * b)

    yield 'muon', dict(w=w, g=g, m=m, o=o), dict(scale=0.8), [
        ('right', muon()),
        ('o of bf16 twice', muon(o=lo(o, E4))),
        ('the sum of momentum', dict(muon(), m1=0.95 * m + g)),
        ('decay 0.01', muon(decay=0.01)),
        ('scale 1', muon(scale=1)),
        ('u is the gradient', dict(muon(), u=g)),
    ]
    x = (d(30, 50) / 30).to(t)

    def ns(a=3.4445, b=-4.7750, c=2.0315, f=t, right=False, gram=lambda y: y @ y.T):
        y = x.float()
        p = lo(gram(y), f)
        return (a * y + lo(b * p + c * lo(p @ p, f), f) @ y).to(t)

    yield 'newton_schulz', dict(x=x), {}, [
        ('right', ns()),
        ('coefficients of degree 3', ns(1.5, -0.5, 0.0)),
        ('products in fewer bits', ns(f=E4 if t != torch.float32 else BF)),
        ('b and c exchanged', ns(b=2.0315, c=-4.775)),
        ('columns of half the width', ns(gram=lambda y: y[:, :48] @ y[:, :48].T)),
        ('not added to x', ns(a=0.0)),
        ('the products are added in 16 bits', ns(gram=lambda y: by_parts(y, y.T, narrow(t), 4))),
    ]


FAMILIES = (quantised, choices, steps)
