# SPDX-License-Identifier: Apache-2.0
# The part of ported.py with pools and norms of images, embeddings, optimizers and sums over ranks.
import torch
import torch.nn.functional as F

from ported_products import E4, INF, by_stride, lo


def images(d, t):
    x, w, b = (d(2, 6, 7, 9) + 0.4).to(t), (1 + 0.2 * d(6)).to(t), d(6).to(t)
    u, g, c = x.float(), w.float(), b.float()
    shape = (1, 6, 1, 1)
    yield 'maxpool', dict(x=(x - 3).to(t)), dict(window=3, stride=2, padding=1), [
        ('right', F.max_pool2d((x - 3).float(), 3, 2, 1)),
        ('padding by 0', F.max_pool2d(F.pad((x - 3).float(), (1,) * 4), 3, 2)),
        (
            'height and width exchanged',
            F.max_pool2d(by_stride((x - 3).float().flatten(0, 2)).view(2, 6, 7, 9), 3, 2, 1),
        ),
        (
            'the window\'s last column is lost',
            F.max_pool2d(F.pad((x - 3).float(), (1, 1, 1, 1), value=-INF), (3, 2), 2)[..., :5],
        ),
    ]
    y = F.avg_pool2d(u, 3, 2, 1)
    yield 'avgpool', dict(x=x), dict(window=3, stride=2, padding=1), [
        ('right', y),
        ('padding is not counted', F.avg_pool2d(u, 3, 2, 1, count_include_pad=False)),
        ('the sum', 9 * y),
        ('channels last read as first', F.avg_pool2d(u.permute(0, 2, 3, 1).contiguous().view(2, 6, 7, 9), 3, 2, 1)),
        (
            'the second row begins at 1',
            torch.cat([y[..., :1, :], F.avg_pool2d(u[..., 1:, :], 3, 2, 1)[..., :3, :]], -2),
        ),
    ]
    n = F.group_norm(u, 3)
    yield 'groupnorm', dict(x=x, w=w, b=b), dict(groups=3), [
        ('right', F.group_norm(u, 3, g, c)),
        ('groups of 3 channels', F.group_norm(u, 2, g, c)),
        (
            'the channel modulo 3',
            F.group_norm(u.view(2, 3, 2, 7, 9).transpose(1, 2).reshape(2, 6, 7, 9), 3)
            .view(2, 2, 3, 7, 9)
            .transpose(1, 2)
            .reshape(2, 6, 7, 9)
            * g.view(shape)
            + c.view(shape),
        ),
        (
            'the tail of 62 is not in the mean',
            F.group_norm(u, 3, g, c)
            + (u.view(2, 3, 126).mean(-1) - u.view(2, 3, 126)[..., :64].mean(-1)).repeat_interleave(2, 1)[
                ..., None, None
            ],
        ),
        ('eps outside the root', n * (1 - 4e-2) * g.view(shape) + c.view(shape)),
        ('bias before the weight', (n + c.view(shape)) * g.view(shape)),
    ]
    yield 'batchnorm', dict(x=x, w=w, b=b), {}, [
        ('right', F.batch_norm(u, None, None, g, c, True)),
        ('each image by itself', F.instance_norm(u, None, None, g, c)),
        (
            'the variance of the first image',
            (u - u.mean((0, 2, 3), True))
            * torch.rsqrt(u[:1].var((0, 2, 3), unbiased=False, keepdim=True) + 1e-5)
            * g.view(shape)
            + c.view(shape),
        ),
        (
            'E[x x] without the mean',
            (u - u.mean((0, 2, 3), True)) * torch.rsqrt((u * u).mean((0, 2, 3), True) + 1e-5) * g.view(shape)
            + c.view(shape),
        ),
    ]
    table, index = d(23, 18).to(t), torch.arange(41) ** 2 % 23
    yield 'embedding', dict(table=table, index=index), {}, [
        ('right', table[index]),
        ('the index of the row before', table[index.roll(1)]),
        ('rows of 16', torch.cat([table[index][:, :16], 0 * table[index][:, 16:]], 1)),
        ('index 0 is padding', table[index] * (index > 0)[:, None]),
        ('the table by columns', by_stride(table)[index]),
    ]
    dy = d(41, 18).to(t)
    f = dy.float()
    full = torch.zeros(23, 18).index_add(0, index, f)
    yield 'embedding_dw', dict(dy=dy, index=index), dict(rows=23), [
        ('right', full),
        ('the last of each index wins', torch.zeros(23, 18).index_copy(0, index, f)),
        ('added to the table', full + table.float()),
        ('a warp of 32 rows alone', torch.zeros(23, 18).index_add(0, index[:32], f[:32])),
        ('columns beyond 16 are zero', full * (torch.arange(18) < 16)),
        ('by atomic additions in 16 bits', torch.stack([torch.zeros(18)] * 23).index_add(0, index, f).mul(1 - 2**-6)),
    ]


def steps(d, t):
    w, g, m = d(13, 21).to(t), d(13, 21, s=0.3).to(t), d(13, 21, s=0.2).to(t)
    a, b, c = w.float(), g.float(), m.float()

    def lion(blend=None, decay=0.1, m1=None, up=1.0):
        blend = 0.9 * c + 0.1 * b if blend is None else blend
        return dict(
            w1=(a * (1 - 0.03 * decay) - up * 0.03 * torch.sign(blend)).to(t),
            m1=(0.99 * c + 0.01 * b if m1 is None else m1).to(t),
        )

    yield 'lion', dict(w=w, g=g, m=m), dict(lr=0.03, decay=0.1), [
        ('right', lion()),
        ('betas exchanged', lion(0.99 * c + 0.01 * b, m1=0.9 * c + 0.1 * b)),
        ('the momentum is not written', lion(m1=c)),
        ('the decay of AdamW\'s default', lion(decay=0.01)),
        ('the sign of the tail is stale', lion(torch.cat([(0.9 * c + 0.1 * b)[:, :16], c[:, 11:16]], 1))),
        ('1 - beta for beta', lion(0.1 * c + 0.9 * b)),
    ]

    def sgd(m1=0.9 * c + b + 0.02 * a, w1=None, nesterov=True):
        step = b + 0.02 * a + 0.9 * m1 if nesterov else m1
        return dict(w1=(a - 0.05 * step if w1 is None else w1).to(t), m1=m1.to(t))

    yield 'sgd', dict(w=w, g=g, m=m), dict(lr=0.05, momentum=0.9, decay=0.02, nesterov=1), [
        ('right', sgd()),
        ('decay behind the momentum', sgd(0.9 * c + b)),
        ('dampened by a tenth', sgd(0.9 * c + 0.1 * (b + 0.02 * a))),
        ('the gradient is scaled by lr in the buffer', sgd(0.9 * c + 0.05 * (b + 0.02 * a))),
        (
            'the weights of the tail are not updated',
            sgd(w1=torch.cat([(a - 0.05 * (b + 0.02 * a + 0.9 * (0.9 * c + b + 0.02 * a)))[:, :16], a[:, 16:]], 1)),
        ),
        ('the momentum of the step before', sgd(nesterov=False)),
    ]
    n = 5
    v = (d(13, 21, s=0.2) ** 2).to(t)

    def adam(
        v1=0.999 * v.float() + 0.001 * b * b,
        m1=0.9 * c + 0.1 * b,
        first=1 - 0.9**n,
        second=1 - 0.999**n,
        eps=1e-3,
        inside=0.0,
    ):
        step = m1 / first / ((v1 / second + inside).sqrt() + eps)
        return dict(w1=(a * (1 - 1e-2 * 0.1) - 1e-2 * step).to(t), m1=m1.to(t), v1=v1.to(t))

    yield 'adamw', dict(w=w, g=g, m=m, v=v), dict(lr=1e-2, eps=1e-3, decay=0.1, step=n), [
        ('right', adam()),
        ('no correction of v', adam(second=1.0)),
        ('no correction of m', adam(first=1.0)),
        ('step - 1', adam(first=1 - 0.9 ** (n - 1), second=1 - 0.999 ** (n - 1))),
        ('eps inside the root', adam(eps=0.0, inside=1e-3)),
        ('the gradient\'s magnitude for its square', adam(0.999 * v.float() + 0.001 * b.abs())),
        ('m of the step before', dict(adam(m1=c), m1=adam()['m1'])),
    ]
    x = (d(12, 18) / 15).to(t)
    u = x.float()

    def newton(c1=2.0315, b1=-4.7750, a1=3.4445, stored=lambda y: lo(y, t), gram=None):
        p = stored(u @ u.T) if gram is None else gram
        return stored(b1 * p + c1 * stored(p @ p)) @ u + a1 * u

    yield 'newton_schulz', dict(x=x), {}, [
        ('right', newton()),
        ('the gram matrix of the other side', torch.cat([newton()[:, :16], u[:, 16:] * 3.4445], 1)),
        ('one term alone', newton(c1=0.0)),
        ('signs exchanged', newton(c1=-2.0315)),
        ('the gram is divided by its trace', newton(gram=lo(u @ u.T / (u * u).sum(), t))),
        ('a of 3.4', newton(a1=3.4)),
        ('the triangle above is not mirrored', newton(gram=lo((u @ u.T).tril(), t))),
    ]
    ranks = d(6, 83).to(t)
    r = ranks.float()
    yield 'all_reduce', dict(x=ranks), {}, [
        ('right', r.sum(0)),
        ('right, as a ring', r.roll(2, 0).sum(0)),
        ('rank 0 counts twice', r.sum(0) + r[0]),
        ('the average', r.mean(0)),
        ('the last chunk of 3 is its own', torch.cat([r.sum(0)[:80], r[0, 80:]])),
        ('the flag is read too early', torch.where(torch.arange(83) // 16 == 2, r[:5].sum(0), r.sum(0))),
        ('a tree of 4', r[:4].sum(0)),
        ('each hop in e4m3', lo(lo(r[0] + r[1], E4) + r[2:].sum(0), t)),
    ]


FAMILIES = (images, steps)
