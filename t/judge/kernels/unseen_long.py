# SPDX-License-Identifier: Apache-2.0
# The part of unseen.py with scans, convolutions, quantised products, routers, optimizers.
import torch
import torch.nn.functional as F

E4, BF = torch.float8_e4m3fn, torch.bfloat16


def lo(x, t):
    return x.to(t).float()


def scans(d, t):
    x, m = d(16, 150).to(t), (torch.arange(150) % 3 > 0).float().expand(16, 150).contiguous()
    u = x.float()
    c = u.cumsum(-1)
    lost = torch.cat([u[:, :64].cumsum(-1), u[:, 64:128].cumsum(-1) + c[:, 63:64],
            u[:, 128:].cumsum(-1) + c[:, 63:64]], -1)
    for what, y in (('right', c), ('right, in blocks', torch.cat([u[:, :75].cumsum(-1),
            u[:, 75:].cumsum(-1) + c[:, 74:75]], -1)), (
            'a carry is stale', lost), ('exclusive', c - u), ('down columns', u.cumsum(0)),
            ('the last is not written', torch.cat([c[
                :, :-1], 0 * c[:, :1]], -1)), ('shifted', c.roll(1, -1))):
        yield 'cumsum', what, dict(x=x), y.to(t), {}
    for what, y in (('right', (u * m).cumsum(-1)), ('masked behind', u.cumsum(-1) * m),
            ('inverted', (u * (1 - m)).cumsum(-1))):
        yield 'masked_cumsum', what, dict(x=x, mask=m), y.to(t), {}
    f = (1 + 0.1 * d(16, 60)).to(t)
    g = f.float().cumprod(-1)
    for what, y in (('right', g), ('right, by logarithms of 64 bits', f.double().cumprod(-1)),
            ('starts with 1', g / f.float()), (
            'by logarithms in fp32', torch.exp(lo(f.float().abs().log(), BF).cumsum(-1))),
            ('starts again', torch.cat([g[:, :32], f[
                :, 32:].float().cumprod(-1)], -1))):
        yield 'cumprod', what, dict(x=f), y.to(t), {}
    a, b, k = torch.sigmoid(d(2, 24, 3, 4)).to(t), d(2, 24, 3, 4).to(t), d(2, 24, 1, 4).to(t)

    def scan(reset=0, before=False, decay=1, store=None):
        h, y = torch.zeros(2, 3, 4), []
        for i in range(24):
            h = h * 0 if reset and i % reset == 0 else h
            old = h
            h = a[:, i].float() ** decay * h + b[:, i].float()
            h = lo(h, store) if store else h
            y.append(((old if before else h) * k[:, i].float()).sum(-1))
        return torch.stack(y, 1)
    for what, how in (('right', {}), ('reset each 8', dict(reset=8)), ('the state before', dict(before=True)),
            ('decay squared', dict(
            decay=2)), ('no decay', dict(decay=0)), ('a state of e5m2', dict(store=torch.float8_e5m2))):
        yield 'selective_scan', what, dict(a=a, b=b, c=k), scan(**how).to(t), {}
    q, r, v = (d(2, 40, 16).to(t).float() for _ in range(3))
    for what, y in (('right', q @ (r.mT @ v)), ('right, scores first', (q @ r.mT) @ v),
            ('causal', (q @ r.mT).tril() @ v), (
            'scaled', q @ (r.mT @ v) / 4), ('the last 8', q @ (r[:, :32].mT @ v[:, :32])),
            ('k and v', q @ (v.mT @ r))):
        yield 'linear_attention', what, dict(q=q.to(t), k=r.to(t), v=v.to(t)), y.to(t), {}
    w = d(6, 1, 4).to(t)
    x = d(2, 6, 30).to(t)
    u, k = x.float(), w.float()
    for what, y in (('right', F.conv1d(F.pad(u, (3, 0)), k, groups=6)), ('right, tap by tap', sum(F.pad(u, (3 - i, 0))[
            ..., :30] * k[:, 0, i:i + 1] for i in range(4))), ('sees the future',
            F.conv1d(F.pad(u, (2, 1)), k, groups=6)), (
                'taps reversed', F.conv1d(F.pad(u, (3, 0)), k.flip(-1), groups=6)),
                ('three taps', F.conv1d(F.pad(u, (2, 0)), k[..., 1:],
                    groups=6)), ('wraps around', F.conv1d(F.pad(u, (3, 0), mode='circular'), k, groups=6))):
        yield 'causal_conv1d', what, dict(x=x, w=w), y.to(t), {}


def images(d, t):
    x, w, b = d(2, 6, 11, 9).to(t), d(8, 3, 3, 3, s=.3).to(t), d(8).to(t)
    u, v, c = x.float(), w.float(), b.float()
    how = dict(stride=2, padding=1, groups=2)
    for what, y in (('right', F.conv2d(u, v, c, **how)), ('right, float64',
            F.conv2d(u.double(), v.double(), c.double(), **how)), (
            'other groups', F.conv2d(u.view(2, 3, 2, 11, 9).transpose(1, 2).reshape(2, 6, 11, 9), v, c, **how)),
            ('the bias twice', F.conv2d(
                u, v, 2 * c, **how)), ('rows and columns', F.conv2d(u, v.mT, c, **how)),
                ('one tap is lost', F.conv2d(u, torch.cat([v[
                    ..., :2], 0 * v[..., 2:]], -1), c, **how)), ('padded by ones',
                    F.conv2d(F.pad(u, (1, 1, 1, 1), value=1.0), v, c, stride=2,
                        groups=2)), ('half a pixel', F.conv2d(F.pad(u, (0, 2, 0, 2)), v, c, stride=2, groups=2))):
        yield 'conv', what, dict(x=x, w=w, b=b), y.to(t), how
    z = d(6, 4, 3, 3, s=.3).to(t)
    k = z.float()
    for what, y in (('right', F.conv_transpose2d(u, k, stride=2, padding=1)),
            ('flipped', F.conv_transpose2d(u, k.flip(-1), stride=2,
                    padding=1)), ('no overlap is added', F.conv_transpose2d(u,
                    torch.cat([k[..., :2], 0 * k[..., 2:]], -1), stride=2, padding=1))):
        yield 'conv_transpose', what, dict(x=x, w=z), y.to(t), dict(stride=2, padding=1)
    for what, y in (('right', F.max_pool2d(u, 3, 2, 1)), ('padded by 0', F.max_pool2d(F.pad(u, (1, 1, 1, 1)), 3, 2)),
            ('the mean', F.avg_pool2d(
            u, 3, 2, 1)), ('magnitudes', F.max_pool2d(u.abs(), 3, 2, 1))):
        yield 'maxpool', what, dict(x=x), y.to(t), dict(window=3, stride=2, padding=1)
    for what, y in (('right', F.avg_pool2d(u, 3, 2, 1)), ('padding is not counted',
            F.avg_pool2d(u, 3, 2, 1, count_include_pad=False)), (
            'the sum', 9 * F.avg_pool2d(u, 3, 2, 1)), ('over 8', 9 / 8 * F.avg_pool2d(u, 3, 2, 1))):
        yield 'avgpool', what, dict(x=x), y.to(t), dict(window=3, stride=2, padding=1)
    x = d(20, 130).to(t)
    u = x.float()
    acc = torch.zeros(20)
    for i in range(130):
        acc = lo(acc + u[:, i], BF)
    for name, f, n in (('sum', u.sum(-1), 1), ('mean', u.mean(-1), 130)):
        for what, y in (('right', f), ('right, in pairs', u.view(20, 65, 2).sum(-1).sum(-1) / n),
                ('the tail of 2', u[:, :128].sum(-1) / n), (
                'in bf16', acc / n), ('the padded width', f * 130 / 192), ('magnitudes', u.abs().sum(-1) / n)):
            yield name, what, dict(x=x), y.to(t), {}
    for name, f in (('max', torch.amax), ('min', torch.amin)):
        for what, y in (('right', f(u, -1)), ('never beyond 0', f(u, -1) * 0),
                ('the last 30 are lost', f(u[:, :100], -1)),
                        ('of magnitudes', f(u.abs(), -1)), ('the row before', f(u, -1).roll(1))):
            yield name, what, dict(x=x), y.to(t), {}
    ranks = d(4, 50).to(t)
    r = ranks.float()
    for what, y in (('right', r.sum(0)), ('right, a ring', ((r[3] + r[2]) + r[1]) + r[0]), ('the mean', r.mean(0)),
            ('a rank is lost', r[:3]
                    .sum(0)), ('a rank twice', r.sum(0) + r[1]), ('wire of e4m3', lo(r, E4).sum(0)),
                    ('the next chunk', r.sum(0).roll(10))):
        yield 'all_reduce', what, dict(x=ranks), y.to(t), {}


def quantised(d, t):
    a, sa = lo(d(24, 128), E4), torch.ldexp(torch.ones(24, 4), (torch.arange(96) % 5 - 2).view(24, 4))
    b, sb = lo(d(32, 128), E4), torch.ldexp(torch.ones(32, 4), (torch.arange(128) % 3 - 1).view(32, 4))

    def dot(sa=sa, sb=sb, k=128, a=a, b=b):
        x, y = a * sa.repeat_interleave(32, 1), b * sb.repeat_interleave(32, 1)
        return (x[:, :k] @ y[:, :k].T).to(t)
    for what, y in (('right', dot()), ('scales of the next block', dot(sa.roll(1, 1))),
            ('b\'s scales are lost', dot(sb=0 * sb + 1)), (
            'scales by rows exchanged', dot(sb=sb.view(4, 32).T.contiguous())), ('exponents one off', dot(2 * sa)),
            ('the last block', dot(k=96)), (
                'elements in e5m2', dot(a=lo(a, torch.float8_e5m2)))):
        yield 'scaled_matmul', what, dict(a=a, sa=sa, b=b, sb=sb), y, dict(
                out={BF: 'bf16', torch.float16: 'fp16'}.get(t, 'fp32'))
    a, sa, b, sb = lo(d(16, 256), E4), d(16, 2).abs() + .1, lo(d(256, 256), E4), d(2, 2).abs() + .1

    def deep(sb=sb, sa=sa):
        return ((a * sa.repeat_interleave(128, 1)) @ (b * sb.repeat_interleave(128, 0).repeat_interleave(128,
                1)).T).to(t)
    for what, y in (('right', deep()), ('transposed scales', deep(sb.T)),
            ('one scale', deep(sb[:1, :1].expand(2, 2))), ('a\'s exchanged', deep(sa=sa
                    .flip(1)))):
        yield 'deepseek_matmul', what, dict(a=a, sa=sa, b=b, sb=sb), y, {}
    x, q, s, z = d(16, 256).to(t), torch.arange(24 * 256).view(24, 256) * 31 % 16, (d(24, 2).abs() * .05 + .01).to(
            t), torch.arange(48).view(24, 2) % 16

    def four(z=z, s=s.float(), q=q, store=t):
        return (x.float() @ lo((q - z.repeat_interleave(128, 1)) * s.repeat_interleave(128, 1), store).T).to(t)
    for what, y in (('right', four()), ('zero is one off', four(z + 1)), ('no zero', four(0 * z)),
            ('nibbles are signed', four(q=(q + 8) % 16 - 8)), (
            'groups exchanged', four(s=s.float().flip(1))), ('zeros of the group before', four(z.roll(1, 1))),
            ('weights in e4m3', four(store=E4))):
        yield 'int4_matmul', what, dict(x=x, q=q, scale=s, zero=z), y, {}
    x, w, index = d(30, 24).to(t), d(4, 24, 20, s=.2).to(t), torch.arange(30) * 3 % 4
    each = torch.einsum('rk,ekn->ern', x.float(), w.float())
    for what, y in (('right', each[index, range(30)]), ('sorted, not put back',
            each[index, range(30)][index.argsort(stable=True)]), (
            'the expert before', each[(index + 3) % 4, range(30)]), ('expert 0 for the tail',
            torch.cat([each[index, range(30)][:28], each[0, 28:]]))):
        yield 'grouped_matmul', what, dict(x=x, w=w, index=index), y.to(t), {}
    wg, wu, wd, gate = (d(4, 24, 20, s=.2).to(t), d(4, 24, 20, s=.2).to(t), d(4, 20, 24, s=.2).to(t),
            torch.sigmoid(d(30, 1)).to(t))

    def moe(act=F.silu, gate=gate.float(), down=index, before=False):
        g, u = (lo(torch.einsum('rk,rkn->rn', x.float() * (gate if before else 1), m.float()[index]),
                t) for m in (wg, wu))
        y = lo(torch.einsum('rk,rkn->rn', lo(act(g) * u, t), wd.float()[down]), t)
        return (y * (1 if before else gate)).to(t)
    for what, how in (('right', {}), ('no gate', dict(gate=1.)), ('the gate before', dict(before=True)),
            ('gelu', dict(act=F.gelu)), (
            'another expert\'s down', dict(down=(index + 1) % 4)), ('the gate of the next row',
            dict(gate=gate.float().roll(1, 0)))):
        yield 'experts', what, dict(x=x, wg=wg, wu=wu, wd=wd, index=index, gate=gate), moe(**how), {}


def gated(d, t):
    x, wg, wu, wd = d(24, 64).to(t), d(64, 80, s=.1).to(t), d(64, 80, s=.1).to(t), d(80, 32, s=.1).to(t)

    def mlp(act=F.silu, behind=False, store=t, order=1, skip=0):
        g, u = lo(x.float() @ wg.float(), t), lo(x.float() @ wu.float(), t)
        h = act(g * u) if behind else lo(act(g), store) * u
        h = lo(h, store)
        k = 80 - skip
        return sum(h[:, i:k:order] @ wd.float()[i:k:order] for i in range(order)).to(t)
    for what, how in (('right', {}), ('right, in four sums', dict(order=4)), ('activated behind', dict(behind=True)),
                      ('relu', dict(act=torch.relu)), ('hidden in e5m2', dict(store=torch.float8_e5m2)),
                      ('the last block', dict(skip=16))):
        yield 'gated_mlp', what, dict(x=x, wg=wg, wu=wu, wd=wd), mlp(**how), {}


def choices(d, t):
    x = d(40, 64).to(t)
    u = x.float()
    for name, ops, facts, forms in (
            ('topk', dict(x=x), dict(k=4), (('right', u.topk(4)[1]), ('right, by sorting',
                u.argsort(-1, True)[:, :4]), ('magnitudes', u.abs().topk(
                4)[1]), ('the fifth for the fourth', u.topk(5)[1][:, [0, 1, 2, 4]]),
                ('the smallest', u.topk(4, largest=False)[1]), (
                    'the last 8 unseen', u[:, :56].topk(4)[1]))),
            ('argmax', dict(x=x), {}, (('right', u.argmax(-1)), ('the second', u.topk(2)[1][:, 1]),
                ('one off', (u.argmax(-1) + 1) % 64))),
            ('argmin', dict(x=x), {}, (('right', u.argmin(-1)), ('argmax', u.argmax(-1)),
                ('least magnitude', u.abs().argmin(-1))))):
        for what, y in forms:
            yield name, what, ops, y, facts
    w = d(8, 64).to(t)
    logits = u @ w.float().T
    for what, y in (('right', logits.topk(2)[1]), ('right, of logarithms', torch.log_softmax(logits, -1).topk(2)[1]),
            ('limited to half', logits[:, :4].topk(2)[
            1]), ('weights one row off', (u @ w.float().roll(1, 0).T).topk(2)[1]),
            ('logits in e5m2', lo(logits, torch.float8_e5m2).topk(2)[1])):
        yield 'router', what, dict(x=x, w=w), y, dict(k=2)


def steps(d, t):
    w, g, m, v = d(400), d(400, s=.1), d(400, s=.1), d(400, s=.1) ** 2

    def adam(lr=1e-3, b1=.9, b2=.999, eps=1e-8, decay=.01, n=7, coupled=False, corrected=True, old=False):
        h = g + decay * w if coupled else g
        a, b = b1 * m + (1 - b1) * h, b2 * v + (1 - b2) * h * h
        c1, c2 = (1 - b1 ** n, 1 - b2 ** n) if corrected else (1, 1 - b2 ** n)
        a_, b_ = (m, v) if old else (a, b)
        return dict(w1=w * (1 if coupled else 1 - lr * decay) - lr * a_ / c1 / ((b_ / c2).sqrt() + eps), m1=a, v1=b)
    for what, how in (('right', {}), ('beta1 0.95', dict(b1=.95)), ('coupled decay', dict(coupled=True)),
            ('half corrected', dict(corrected=False)), (
            'the moments before', dict(old=True)), ('step 6', dict(n=6)), ('decay 0.1', dict(decay=.1)),
            ('eps 1e-3', dict(eps=1e-3))):
        yield 'adamw', what, dict(w=w, g=g, m=m, v=v), adam(**how), dict(step=7)

    def lion(b1=.9, b2=.99, lr=1e-4, decay=.1, raw=False):
        c = b1 * m + (1 - b1) * g
        return dict(w1=w * (1 - lr * decay) - lr * (c if raw else c.sign()), m1=b2 * m + (1 - b2) * g)
    for what, how in (('right', {}), ('betas exchanged', dict(b1=.99, b2=.9)), ('no sign', dict(raw=True)),
            ('no decay', dict(decay=0)), ('lr 3e-4', dict(
            lr=3e-4))):
        yield 'lion', what, dict(w=w, g=g, m=m), lion(**how), dict(decay=.1)

    def sgd(lr=0.1, momentum=.9, dampening=.1, decay=.01, nesterov=True, after=False):
        h = g + (0 if after else decay * w)
        b = momentum * m + (1 - dampening) * h
        return dict(w1=w - lr * ((h + momentum * b if nesterov else b) + (decay * w if after else 0)), m1=b)
    for what, how in (('right', {}), ('no dampening', dict(dampening=0)), ('no decay', dict(decay=0)),
            ('decay behind', dict(
            after=True)), ('not Nesterov', dict(nesterov=False)), ('momentum 0.99', dict(momentum=.99))):
        yield 'sgd', what, dict(w=w, g=g, m=m), sgd(**how), dict(lr=.1, momentum=.9, dampening=.1, decay=.01,
                nesterov=1)
    o = d(400, s=.05)

    def step(momentum=.95, decay=.1, scale=1.5, summed=False, coupled=False):
        b = momentum * m + (g if summed else (1 - momentum) * g)
        u = g + momentum * b if summed else torch.lerp(g, b, momentum)
        return dict(w1=w - 1e-3 * (decay * w + scale * o) if not coupled else w - 1e-3 * scale * (
            o + decay * w), m1=b, u=u)
    for what, how in (('right', {}), ('momentum is summed', dict(summed=True)),
            ('lr is not adjusted', dict(scale=1)), (
            'decay is adjusted', dict(coupled=True)), ('momentum 0.9', dict(momentum=.9)),
            ('no decay', dict(decay=0))):
        yield 'muon', what, dict(w=w, g=g, m=m, o=o), step(**how), dict(scale=1.5)
    x = (d(24, 40) / 40).to(t)
    u = x.float()

    def muon(a=3.4445, b=-4.7750, c=2.0315, side=True):
        p = lo(u @ u.T, t)
        return (a * u + lo(b * p + c * lo(p @ p if side else p, t), t) @ u).to(t)
    for what, how in (('right', {}), ('cubic', dict(a=1.5, b=-.5, c=0)), ('signs', dict(b=4.775)),
            ('no square', dict(side=False)), ('a = 3.4', dict(a=3.4))):
        yield 'newton_schulz', what, dict(x=x), muon(**how), {}


FAMILIES = (scans, images, quantised, gated, choices, steps)
