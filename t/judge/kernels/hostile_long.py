# SPDX-License-Identifier: Apache-2.0
# The part of hostile.py with scans, images, reductions, quantised products, routers and optimizers.
import torch
import torch.nn.functional as F

INF, NAN = float('inf'), float('nan')
E4, E5, BF = torch.float8_e4m3fn, torch.float8_e5m2, torch.bfloat16


def lo(x, t):
    return x.float().to(t).float()


def chop(x, t):
    """Rounds toward zero at the store only; fp32 results are one unit in the last place too small."""
    if t == torch.float32:
        return torch.nextafter(x.float(), torch.zeros(()))
    y = x.float().to(t)
    return torch.where(y.float().abs() > x.float().abs(), torch.nextafter(y, torch.zeros_like(y)), y)


def scans(d, t):
    x = d(20, 192).to(t)
    m = (torch.arange(192) % 5 != 2).float().expand(20, 192).contiguous()
    u = x.float()
    c = u.cumsum(-1)
    tiles = u.view(20, 6, 32)
    carry = tiles.sum(-1).cumsum(-1)
    local = tiles.cumsum(-1)

    def joined(carry, local=local):
        return (local + torch.cat([0 * carry[:, :1], carry[:, :-1]], 1)[..., None]).reshape(20, 192)
    yield 'cumsum', dict(x=x), {}, [
        ('right', c), ('right, by tiles', joined(carry)), ('right, in float64', u.double().cumsum(-1)),
        ('carries in e4m3', joined(lo(carry, E4))), ('the carry of the tile itself', (local + carry[...,
                None]).reshape(20, 192)),
        ('one tile\'s carry is lost', joined(carry - tiles.sum(-1)[:, 2:3] * (torch.arange(6) > 3))),
        ('a hop of 16 is forgotten', joined(carry, torch.cat([local[..., :16], local[..., 16:] - local[..., 15:16]],
                -1))),
        ('the row before is carried in', c + c.roll(1, 0)[:, -1:] * 0.125), ('chopped', chop(c, t))]
    h = (u * m).cumsum(-1)
    yield 'masked_cumsum', dict(x=x, mask=m), {}, [
        ('right', h), ('the mask one on', (u * m.roll(1, 1)).cumsum(-1)), ('reset at the mask', torch.cat([
            (u * m)[:, i:i + 5].cumsum(-1) for i in range(0, 192, 5)], 1)), ('the first always counts', h + u[:,
                    :1] * .5)]
    f = (1 + .05 * d(20, 96)).to(t)
    g = f.float().cumprod(-1)
    yield 'cumprod', dict(x=f), {}, [
        ('right', g), ('right, in float64', f.double().cumprod(-1)), ('the last factor is lost', torch.cat([g[:, :1],
                g[:, :-1]], 1)),
        ('the carry of 32 in e4m3', torch.cat([g[:, :32], lo(g[:, 31:32], E4) * f.float()[:, 32:].cumprod(-1)], 1)),
        ('by sums of what is above 1', torch.exp((f.float() - 1).cumsum(-1)))]
    a, b, k = torch.sigmoid(d(2, 40, 3, 4)).to(t), d(2, 40, 3, 4).to(t), d(2, 40, 1, 4).to(t)
    aa, bb, kk = a.float(), b.float(), k.float()

    def scan(store=lambda h: h, lag=0, chunk=0, leave=4, first=0.0):
        h, y, p = torch.full((2, 3, 4), first), [], 1.0
        for i in range(40):
            if chunk and i % chunk == 0 and i:
                h = h * 0.9   # the carry decays once too often
            h = store(aa[:, i - lag if i >= lag else 0] * h + bb[:, i])
            y.append((h * kk[:, i])[..., :leave].sum(-1))
        return torch.stack(y, 1)
    yield 'selective_scan', dict(a=a, b=b, c=k), {}, [
        ('right', scan()), ('the decay of the step before', scan(lag=1)), ('a carry decays twice', scan(chunk=16)),
        ('one state of four is lost', scan(leave=3)), ('states in e4m3', scan(lambda h: lo(h, E4))),
        ('begins with ones', scan(first=1.0)), ('states are cut at 2', scan(lambda h: h.clamp(-2, 2)))]
    q, r, v = d(2, 48, 24).to(t), d(2, 48, 24).to(t), d(2, 48, 24).to(t)
    s = r.float().mT @ v.float()
    yield 'linear_attention', dict(q=q, k=r, v=v), {}, [
        ('right', q.float() @ s), ('right, by chunks', q.float() @ sum(r.float()[:, i:i + 16].mT @ v.float()[:,
                i:i + 16] for i in (0, 16, 32))),
        ('the state of the other batch', q.float() @ s.roll(1, 0)), ('the state transposed', q.float() @ s.mT),
                ('the state in e4m3',
            q.float() @ lo(s, E4)), ('elu + 1 on q', (F.elu(q.float()) + 1) @ s), ('divided by the length',
                    q.float() @ s / 48),
        ('a chunk twice', q.float() @ (s + r.float()[:, :16].mT @ v.float()[:, :16]))]
    x, w, bias = d(2, 5, 37).to(t), d(5, 1, 4).to(t), d(5).to(t)
    u, k, z = x.float(), w.float(), bias.float()
    y = F.conv1d(F.pad(u, (3, 0)), k, z, groups=5)
    again = torch.cat([F.conv1d(F.pad(u[..., i:i + 16], (3, 0)), k, z, groups=5) for i in range(0, 37, 16)], -1)
    yield 'causal_conv1d', dict(x=x, w=w, b=bias), {}, [
        ('right', y), ('each tile begins with zeros', again), ('SiLU behind', F.silu(y)), ('one step late',
                torch.cat([
            z[:, None].expand(2, 5, 1), y[..., :-1]], -1)), ('the channel before\'s taps', F.conv1d(F.pad(u, (3, 0)),
                    k.roll(
                1, 0), z, groups=5)), ('the first three repeat the edge', F.conv1d(F.pad(u, (3, 0), mode='replicate'),
                        k, z, groups=5)),
        ('bias for each tap', y + 3 * z[:, None])]


def images(d, t):
    x, w, b = d(2, 4, 10, 13).to(t), d(6, 4, 3, 3, s=.2).to(t), d(6).to(t)
    u, v, c = x.float(), w.float(), b.float()
    two = dict(padding=2, dilation=2)
    y = F.conv2d(u, v, c, **two)
    win = F.conv2d(u, lo(v, E4), c, **two)
    yield 'conv', dict(x=x, w=w, b=b), two, [
        ('right', y), ('right, in float64', F.conv2d(u.double(), v.double(), c.double(), **two)), ('not dilated',
                F.conv2d(u, v, c, padding=1)),
        ('channels last, read as first', F.conv2d(u.permute(0, 2, 3, 1).reshape(2, 4, 10, 13), v, c, **two)),
        ('transformed weights in e4m3', win), ('the kernel flipped in both', F.conv2d(u, v.flip(-1, -2), c, **two)),
        ('the last output channel is the one before', torch.cat([y[:, :5], y[:, 4:5]], 1)),
                ('in and out channels exchanged', F.conv2d(
            u, v[:4].transpose(0, 1).reshape(4, 4, 3, 3).repeat(2, 1, 1, 1)[:6], c, **two)),
                    ('reflected at the border', F.conv2d(
                F.pad(u, (2, 2, 2, 2), mode='reflect'), v, c, dilation=2)), ('bias by rows', y - c[:, None,
                        None] + c.repeat(2)[:10][:, None]),
        ('the border\'s padding is the mean', F.conv2d(F.pad(u, (2, 2, 2, 2), value=.05), v, c, dilation=2))]
    z, up = d(4, 3, 3, 3, s=.3).to(t), dict(stride=2, padding=1, output_padding=1)
    k = z.float()
    y = F.conv_transpose2d(u, k, **up)
    yield 'conv_transpose', dict(x=x, w=z), up, [
        ('right', y), ('right, in float64', F.conv_transpose2d(u.double(), k.double(), **up)), ('one pixel on',
                y.roll((1, 1), (2, 3))),
        ('the last row is not written', torch.cat([y[..., :-1, :], 0 * y[..., -1:, :]], -2)),
                ('a race loses the last tap',
            F.conv_transpose2d(u, k * (torch.arange(9).view(3, 3) < 8), **up)), ('kernel axes exchanged',
                    F.conv_transpose2d(u, k.mT, **up)),
        ('overlaps are averaged', y / F.conv_transpose2d(torch.ones(1, 1, 10, 13), torch.ones(1, 1, 3, 3), **up))]
    neg = -u.abs() - .1
    yield 'maxpool', dict(x=neg.to(t)), dict(window=3, stride=1, padding=1), [
        ('right', F.max_pool2d(neg.to(t).float(), 3, 1, 1)), ('begins with 0', F.max_pool2d(F.pad(neg, (1, 1, 1, 1)),
                3, 1)),
        ('a window of 2', F.pad(F.max_pool2d(neg, 2, 1), (0, 1, 0, 1), value=-1.0)), ('the corner is not seen',
                -F.avg_pool2d(-neg, 3, 1, 1)),
        ('the column before', F.max_pool2d(neg, 3, 1, 1).roll(1, -1))]
    bad = u.clone()
    bad[0, 1, 4, 4] = NAN
    yield 'maxpool', dict(x=bad.to(t)), dict(window=2, stride=2), [
        ('right', F.max_pool2d(bad, 2)), ('NaN is swallowed', F.max_pool2d(bad.nan_to_num(-9), 2)),
                ('NaN becomes Inf', F.max_pool2d(
            bad, 2).nan_to_num(INF))]
    av = dict(window=3, stride=2, padding=1, count_padding=0)
    y = F.avg_pool2d(u, 3, 2, 1, count_include_pad=False)
    yield 'avgpool', dict(x=x), av, [
        ('right', y), ('padding is counted', F.avg_pool2d(u, 3, 2, 1)), ('the corner has six', torch.cat([
            y[..., :1] * 2 / 3, y[..., 1:]], -1)), ('the largest', F.max_pool2d(u, 3, 2, 1)), ('rows of 2',
                    F.avg_pool2d(
                u, (2, 3), 2, (0, 1), count_include_pad=False)), ('1/9 in e4m3', F.avg_pool2d(u, 3, 2, 1,
                        count_include_pad=False) * (
                    9 * lo(torch.tensor(1 / 9.), E4)))]
    x = d(28, 224).to(t)
    u = x.float()
    by = u.view(28, 7, 32)
    for name, n in (('sum', 1), ('mean', 224)):
        f = u.sum(-1) / n
        yield name, dict(x=x), {}, [
            ('right', f), ('right, lanes first', by.sum(1).sum(-1) / n), ('half of the lanes', by[..., :16].sum((1,
                    2)) / n),
            ('a warp counts twice', f + by[:, 3].sum(-1) / n), ('the last element is lost', u[:, :-1].sum(-1) / n), (
                'warps\' sums in e4m3', lo(by.sum(-1), E4).sum(-1) / n), ('reads one past the row', f + u.roll(-1,
                        0)[:, 0] / n),
            ('sums of |x|', by.abs().sum((1, 2)) / n), ('chopped', chop(f, t))]
    for name, f, fill in (('max', torch.amax, -9.0), ('min', torch.amin, 9.0)):
        at = u.argmax(-1) if name == 'max' else u.argmin(-1)
        hidden = u.clone()
        hidden[range(28), at] = 0
        yield name, dict(x=x), {}, [
            ('right', f(u, -1)), ('the second', f(hidden, -1)), ('the last lane is lost', f(by[..., :31], (1, 2))), (
                'the first tile', f(u[:, :32], -1)), ('of e4m3', lo(f(u, -1), E4)), ('chopped to 6 bits', lo(f(u, -1),
                        E5))]
        nan = u.clone()
        nan[3, 40], nan[9, 223] = NAN, NAN
        yield name, dict(x=nan.to(t)), {}, [
            ('right', f(nan, -1)), ('NaN is swallowed', f(nan.nan_to_num(fill), -1)),
                    ('NaN swallowed by the last comparison', torch.where(
                torch.arange(28) == 9, f(nan[:, :223], -1), f(nan, -1)))]
    ranks = d(8, 70).to(t)
    r = ranks.float()
    yield 'all_reduce', dict(x=ranks), {}, [
        ('right', r.sum(0)), ('right, by a tree', (r[0] + r[1]) + (r[2] + r[3]) + ((r[4] + r[5]) + (r[6] + r[7]))),
                ('two chunks exchanged', torch.cat([
            r.sum(0)[35:], r.sum(0)[:35]])), ('one rank a step behind', r.sum(0) - r[2] + r[2].roll(1)),
                    ('the own part is not added', r[1:].sum(0)),
        ('each hop in e5m2', lo(lo(lo(r[0] + r[1], E5) + r[2] + r[3], E5) + r[4:].sum(0), E5)), ('the mean',
                r.mean(0)), ('the tail of 6 is not sent', torch.cat(
            [r.sum(0)[:64], r[0, 64:]]))]


def quantised(d, t):
    a, sa = lo(d(20, 160), E4), torch.ldexp(torch.ones(20, 5), (torch.arange(100) * 7 % 6 - 3).view(20, 5))
    b, sb = lo(d(24, 160), E4), torch.ldexp(torch.ones(24, 5), (torch.arange(120) * 5 % 4 - 2).view(24, 5))

    def dot(a=a, sa=sa, b=b, sb=sb, group=32):
        return ((a * sa.repeat_interleave(group, 1)[:, :160]) @ (b * sb.repeat_interleave(group, 1)[:, :160]).T).to(t)
    last = sa.clone()
    last[:, -1] = last[:, -2]
    swizzled = sa.view(5, 4, 5).transpose(0, 1).reshape(20, 5)
    yield 'scaled_matmul', dict(a=a, sa=sa, b=b, sb=sb), dict(out={BF: 'bf16', torch.float16: 'fp16'}.get(t,
            'fp32')), [
        ('right', dot()), ('the last block has its neighbour\'s scale', dot(sa=last)),
                ('scales are laid out by fours of rows', dot(sa=swizzled)),
        ('scales of the row before', dot(sb=sb.roll(1, 0))), ('a group of 16', dot(sa=sa.repeat_interleave(2,
                1).roll(1, 1)[:, ::2])),
        ('scales are multiplied twice', dot(sa=sa * sa)), ('a block of -0.5 exponents',
                dot(sb=torch.where(torch.arange(5) == 2, sb / 2, sb))),
        ('elements cut at 2', dot(a=a.clamp(-2, 2))), ('subnormal elements are flushed',
                dot(a=torch.where(a.abs() < 2 ** -6, 0 * a, a),
                b=torch.where(b.abs() < 2 ** -6, 0 * b, b)))]
    a, sa, b, sb = lo(d(12, 256), E4), d(12, 2).abs() + .1, lo(d(384, 256), E4), d(3, 2).abs() + .1

    def deep(sa=sa, sb=sb, keep=1.0):
        parts = [(a[:, i * 128:i * 128 + 128] @ b[:, i * 128:i * 128 + 128].T) * sa[:, i:i + 1] * sb[:,
                i].repeat_interleave(128)
                 for i in range(2)]
        return (parts[0] * keep + parts[1]).to(t)
    yield 'deepseek_matmul', dict(a=a, sa=sa, b=b, sb=sb), {}, [
        ('right', deep()), ('the scale is promoted late', deep(sa[:, :1].expand(12, 2))),
                ('scales of the next block of rows', deep(
            sb=sb.roll(-1, 0))), ('one over the scale', deep(sa=1 / sa)), ('scales as powers of two',
                    deep(sb=torch.exp2(sb.log2().floor()))),
        ('the first part is stale', deep(keep=0.0)), ('scales in e4m3', deep(sa=lo(sa, E4)))]
    x, q = d(18, 256).to(t), (torch.arange(20 * 256).view(20, 256) * 37 + torch.arange(20)[:, None] * 5) % 16
    s, z = (d(20, 2).abs() * .05 + .02).to(t), (torch.arange(40).view(20, 2) * 3 + 5) % 16

    def four(q=q, z=z, s=s.float(), store=t, group=128):
        return (x.float() @ lo((q - z.repeat_interleave(128, 1)) * s.repeat_interleave(128, 1), store).T).to(t)
    swapped = q.view(20, 128, 2).flip(-1).reshape(20, 256)
    awq = q.view(20, 32, 8)[..., [0, 4, 1, 5, 2, 6, 3, 7]].reshape(20, 256)
    yield 'int4_matmul', dict(x=x, q=q, scale=s, zero=z), {}, [
        ('right', four()), ('zeros of the groups exchanged', four(z=z.flip(1))), ('nibbles exchanged', four(swapped)),
                ('the packing\'s order of 8', four(awq)),
        ('zeros of the row before', four(z=z.roll(1, 0))), ('the zero is cut at 7', four(z=z.clamp(max=7))),
                ('q is signed by 8', four(q - 8)),
        ('zero times scale in e4m3', (x.float() @ (q * s.float().repeat_interleave(128, 1) - lo(z * s.float(),
                E4).repeat_interleave(128, 1)).T).to(t)),
        ('q of 15 becomes 14', four(q.clamp(max=14))), ('scales of e5m2', four(s=lo(s, E5)))]
    x, w, index = d(33, 40).to(t), d(5, 40, 24, s=.2).to(t), torch.arange(33) ** 2 % 5
    each = torch.einsum('rk,ekn->ern', x.float(), w.float())
    y = each[index, range(33)]
    yield 'grouped_matmul', dict(x=x, w=w, index=index), {}, [
        ('right', y), ('right, in float64', torch.einsum('rk,rkn->rn', x.double(), w.double()[index])),
                ('the last row of each group by the next', each[
            torch.where(torch.arange(33) % 8 == 7, (index + 1) % 5, index), range(33)]),
                    ('tokens over the capacity are dropped', y * (
                torch.arange(33) < 30)[:, None]), ('w transposed', torch.einsum('rk,rnk->rn', x.float(),
                        w.float().reshape(5, 24, 40)[index])),
        ('an empty group shifts the rest', each[(index - (index > 2).long()).clamp(min=0), range(33)]), ('chopped',
                chop(y, t))]
    wg, wu = d(4, 40, 28, s=.2).to(t), d(4, 40, 28, s=.2).to(t)
    wd, gate = d(4, 28, 36, s=.2).to(t), torch.sigmoid(d(33, 1)).to(t)
    index = torch.arange(33) * 3 % 4

    def moe(gate=gate.float(), up=None, mix=lambda a, b: F.silu(a) * b):
        a, b = (lo(torch.einsum('rk,rkn->rn', x.float(), m.float()[i]), t) for m, i in ((wg, index), (wu,
                index if up is None else up)))
        return (lo(torch.einsum('rk,rkn->rn', lo(mix(a, b), t), wd.float()[index]), t) * gate).to(t)
    yield 'experts', dict(x=x, wg=wg, wu=wu, wd=wd, index=index, gate=gate), {}, [
        ('right', moe()), ('gates sum to 1', moe(gate.float() / gate.float().mean())), ('the gate in e4m3',
                moe(lo(gate, E4))),
        ('up by the expert before', moe(up=(index + 3) % 4)), ('the gate squared', moe(gate.float() ** 2)),
        ('clamped at 1 as in gpt-oss', moe(mix=lambda a, b: F.silu(a.clamp(max=1)) * (b + 1))),
                ('the shared expert is added', moe() + moe() * .1)]


def choices(d, t):
    x = d(44, 96).to(t)
    u = x.float()
    for name, sign, k in (('topk', 1, 6), ('argmax', 1, 1), ('argmin', -1, 1)):
        s = sign * u
        right = s.topk(k)[1]
        shape = (lambda y: y) if name == 'topk' else (lambda y: y[:, 0])
        forms = [('right', shape(right)), ('one in each half', shape(torch.cat([s[:, :48].topk((k + 1) // 2)[1],
                48 + s[:, 48:].topk(
            k // 2)[1] if k > 1 else right[:, :0]], 1))), ('the local index', shape(right % 32)), ('of e5m2',
                    shape(lo(s, E5).topk(k)[1])),
                 ('the row before', shape(right.roll(1, 0))), ('begins with 1', shape((right + 1) % 96)),
                         ('greater than 0 alone', shape(
                     torch.where(torch.arange(96) < 90, s, -9 + 0 * s).topk(k)[1])), ('the k behind',
                             shape(s.topk(k + 1)[1][:, 1:]))]
        if name == 'topk':
            forms += [('right, by parts', torch.gather(torch.cat([s[:, i:i + 32].topk(6)[1] + i for i in (0, 32, 64)],
                    1), 1, torch.cat(
                [s[:, i:i + 32].topk(6)[0] for i in (0, 32, 64)], 1).topk(6)[1])), ('an index twice', right[:, [0, 1,
                        2, 3, 4, 4]])]
        yield name, dict(x=x), dict(k=6) if name == 'topk' else {}, forms
    w = d(12, 96, s=.1).to(t)
    logits = u @ w.float().T
    yield 'router', dict(x=x, w=w), dict(k=3), [
        ('right', logits.topk(3)[1]), ('right, of sigmoids', torch.sigmoid(logits.double()).topk(3)[1]),
                ('a bias for balance', (
            logits + .1 * torch.arange(12)).topk(3)[1]), ('groups of 4 first', torch.stack([logits[:,
                    i:i + 4].argmax(-1) + i for i in (0, 4, 8)], 1)),
        ('x of e4m3', (lo(u, E5) @ w.float().T).topk(3)[1]), ('the last half of x', (u[:,
                48:] @ w.float().T[48:]).topk(3)[1]),
        ('the last expert never', logits[:, :11].topk(3)[1])]


def steps(d, t):
    w, g, m, v = d(500), d(500, s=.1), d(500, s=.1), d(500, s=.1) ** 2

    def adam(lr=1e-3, b1=.9, b2=.999, eps=1e-8, decay=.01, n=3, grad=g, root=lambda b: b.sqrt(), order=0, cv=1.0,
            store=lambda x: x):
        a, b = store(b1 * m + (1 - b1) * grad), store(b2 * v + (1 - b2) * grad * grad)
        c1, c2 = 1 - b1 ** n, (1 - b2 ** n) * cv
        if order:   # the decay is taken of the weight that was already moved
            y = w - lr * a / c1 / (root(b / c2) + eps)
            return dict(w1=y - lr * decay * y * order, m1=a, v1=b)
        return dict(w1=w * (1 - lr * decay) - lr * a / c1 / (root(b / c2) + eps), m1=a, v1=b)
    yield 'adamw', dict(w=w, g=g, m=m, v=v), dict(step=3), [
        ('right', adam()), ('right, by a reciprocal', adam(root=lambda b: 1 / torch.rsqrt(b))),
                ('the gradient is unscaled twice', adam(grad=g / 2)),
        ('clipped at 0.1', adam(grad=g.clamp(-.1, .1))), ('moments in bf16', adam(store=lambda x: lo(x, BF))),
                ('eps before the correction', adam(
            eps=1e-4)), ('steps from 0', adam(n=2)), ('beta2 for beta1', adam(b1=.999)), ('decay times 10',
                    adam(order=10.0)), ('w chopped', (
                lambda r: dict(r, w1=chop(r['w1'], BF).float()))(adam())), ('v is corrected by 1 % less',
                        adam(cv=.99)), (
                    'AMSGrad\'s maximum', (lambda r: dict(r, v1=torch.maximum(r['v1'], v)))(adam()))]

    def lion(b1=.9, b2=.99, lr=1e-4, decay=.1, sign=torch.sign, old=False):
        c = b1 * m + (1 - b1) * g
        return dict(w1=w * (1 - lr * decay) - lr * sign(c), m1=b2 * m + (1 - b2) * (c if old else g))
    yield 'lion', dict(w=w, g=g, m=m), dict(decay=.1), [
        ('right', lion()), ('the sign of m', lion(b1=1.0)), ('the momentum by the update', lion(old=True)),
                ('tanh for sign', lion(sign=lambda c: torch.tanh(
            20 * c))), ('decay without lr', lion(decay=.2)), ('beta2 0.98', lion(b2=.98)), ('uphill',
                    lion(sign=lambda c: -c.sign()))]

    def sgd(lr=.1, mo=.9, damp=0.0, decay=.01, late=False, first=1.0):
        h = g + decay * w
        b = mo * m * first + (1 - damp) * h
        return dict(w1=w - lr * (m if late else b), m1=b)
    yield 'sgd', dict(w=w, g=g, m=m), dict(lr=.1, momentum=.9, decay=.01), [
        ('right', sgd()), ('the buffer before', sgd(late=True)), ('the first step again', sgd(first=0.0)),
                ('dampened', sgd(damp=.9)), ('decay is a half', sgd(
            decay=.005)), ('lr in the buffer', (lambda b: dict(w1=w - b, m1=b))(.9 * m + .1 * (g + .01 * w))),
                    ('rows of 4 stay', dict(
                w1=torch.where(torch.arange(500) < 496, sgd()['w1'], w), m1=sgd()['m1']))]
    o = d(500, s=.05)

    def muon(mo=.95, decay=.1, scale=.8, lr=1e-3, nesterov=True, blend=None):
        b = mo * m + (1 - mo) * g
        return dict(w1=w * (1 - lr * decay) - lr * scale * o, m1=b, u=torch.lerp(g, b,
                mo if blend is None else blend) if nesterov else b)
    yield 'muon', dict(w=w, g=g, m=m, o=o), dict(scale=.8), [
        ('right', muon()), ('not Nesterov', muon(nesterov=False)), ('scale 0.2 root', muon(scale=.2)), ('decay 0',
                muon(decay=0)), ('lr 2e-3', muon(lr=2e-3)),
        ('the blend exchanged', muon(blend=.05)), ('momentum is m', dict(muon(), m1=m))]
    x = (d(28, 48) / 30).to(t)
    u = x.float()

    def ns(a=3.4445, b=-4.7750, c=2.0315, left=True, store=t, iterate=1):
        y = u
        for _ in range(iterate):
            p = lo(y @ y.T, store)
            y = a * y + lo(b * p + c * lo(p @ p, store), store) @ y
        return y.to(t)
    yield 'newton_schulz', dict(x=x), {}, [
        ('right', ns()), ('two steps', ns(iterate=2)), ('products in e5m2', ns(store=E5)), ('c is 2', ns(c=1.8)),
                ('a of another set', ns(a=3.4)), (
            'normalised again', (lambda y: (y / y.norm()).to(t))(ns().float())), ('the symmetric half is stale',
                    (u * 3.4445 + lo(
                -4.775 * (u @ u.T).tril(), t) @ u).to(t))]


FAMILIES = (scans, images, quantised, choices, steps)
