# SPDX-License-Identifier: Apache-2.0
# Further kernels by hand, right ones and wrong ones: convolutions, scans, losses, gradients, quantised products, gated
# MLPs, an optimizer, routers. cases(t) yields (kernel, what, operands, result, facts); what is 'right' or a mistake.
import torch
import torch.nn.functional as F

E4 = torch.float8_e4m3fn


def lo(x, t):
    return x.to(t).float()


def convolutions(d, t):
    x, w, b = d(4, 8, 14, 14).to(t), d(16, 8, 3, 3, s=0.1).to(t), d(16).to(t)
    u, v, c = x.float(), w.float(), b.float()

    def out(u, v, c, padding=1):
        return F.conv2d(u, v, c, padding=padding).to(t)
    cut, dead, added = v.clone(), out(u, v, c), torch.zeros(4, 16, 14, 14)
    cut[:, -1] = 0
    dead[..., -1] = 0
    for i in range(8):
        added = lo(added + F.conv2d(u[:, i:i + 1], v[:, i:i + 1], padding=1), t)
    for what, got in (('right', out(u, v, c)), ('the kernel is flipped', out(u, v.flip(-1), c)),
                      ('no bias', out(u, v, None)),
                      ('the border is repeated', out(F.pad(u, (1, 1, 1, 1), mode='replicate'), v, c, 0)),
                      ('the last channel is missing', out(u, cut, c)), ('the last column is not written', dead),
                      ('channels are added in 16 bits', (added + c[None, :, None, None]).to(t))):
        yield 'conv', what, dict(x=x, w=w, b=b), got, dict(padding=1)


def scans(d, t):
    x = d(64, 200).to(t)
    s, narrow = x.float(), [torch.zeros(64)]
    for i in range(200):
        narrow.append(lo(narrow[-1] + s[:, i], t))
    blocks = torch.cat([s[:, i:i + 64].cumsum(-1) for i in range(0, 200, 64)], 1)
    for what, got in (('right', s.cumsum(-1)), ('exclusive', s.cumsum(-1) - s), ('starts again each 64', blocks),
                      ('accumulated in 16 bits', torch.stack(narrow[1:], 1)),
                      ('reversed', s.flip(-1).cumsum(-1).flip(-1))):
        yield 'cumsum', what, dict(x=x), got.to(t), {}


def losses(d, t):
    x, target = d(64, 300), torch.arange(64) * 4
    each, p, one = F.cross_entropy(x, target, reduction='none'), torch.softmax(x, -1), F.one_hot(target, 300).float()
    smooth = F.cross_entropy(x, target, label_smoothing=0.01)
    for what, got in (('right', each.mean()), ('the sum', each.sum()),
                      ('rows in bf16', lo(each, torch.bfloat16).mean()),
                      ('smoothed labels', smooth)):
        yield 'cross_entropy', what, dict(x=x, target=target), got, {}
    for what, got in (('right', (p - one) / 64), ('not the mean', p - one), ('the target is not subtracted', p / 64),
                      ('shares in bf16', (lo(p, torch.bfloat16) - one) / 64)):
        yield 'cross_entropy_dx', what, dict(x=x, target=target), got, {}


def norms(d, t):
    x, dy, w = d(64, 128).to(t), d(64, 128).to(t), d(128).to(t)
    u, v, g = x.float(), dy.float(), w.float()
    r = torch.rsqrt((u * u).mean(-1, keepdim=True) + 1e-6)
    n, g = u * r, v * g
    m = (g * n).mean(-1, keepdim=True)
    for what, dx, rows in (('right', r * (g - n * m), 64), ('no correction', r * g, 64),
                           ('its sign', r * (g + n * m), 64),
                           ('the sum for the mean', r * (g - n * m * 128), 64),
                           ('1/rms in 16 bits', lo(r, t) * (g - n * m), 64),
                           ('no weight', r * (v - n * (v * n).mean(-1, keepdim=True)), 64),
                           ('dw lacks the last row', r * (g - n * m), 63)):
        yield 'rmsnorm_dx', what, dict(x=x, dy=dy, w=w), dict(dx=dx.to(t), dw=(v * n)[:rows].sum(0).to(t)), {}


def attention(d, t):
    q, k, v, do = (d(1, 2, 96, 32).to(t) for _ in range(4))
    a, b, c, e = q.float(), k.float(), v.float(), do.float()

    def backward(scale=32 ** -0.5, causal=True, delta=1, dq_scale=None, p_in=None, rows=96):
        s = a @ b.mT * scale
        s = s.masked_fill(~torch.ones(96, 96).tril().bool(), float('-inf')) if causal else s
        p = torch.softmax(s, -1)
        o = lo(p @ c, t)
        ds = lo(p * (e @ c.mT - delta * (e * o).sum(-1, keepdim=True)), t)
        ds[..., rows:, :] = 0
        dq = ds @ b * (dq_scale or scale)
        return o.to(t), dict(dq=dq.to(t), dk=(ds.mT @ a * scale).to(t), dv=(lo(p, p_in or t).mT @ e).to(t))
    o = backward()[0]
    for what, how in (('right', {}), ('delta is missing', dict(delta=0)), ('no mask', dict(causal=False)),
                      ('dq is not scaled', dict(dq_scale=1)), ('the last query is missing', dict(rows=95)),
                      ('scale 1/d', dict(scale=1 / 32)), ('P in e4m3', dict(p_in=E4))):
        yield 'attention_dx', what, dict(q=q, k=k, v=v, do=do, o=o), backward(**how)[1], dict(causal=1)


def quantised(d, t):
    x, q = d(64, 256).to(t), torch.arange(48 * 256).view(48, 256) * 7919 % 16 - 8
    scale = (d(48, 2).abs() * 0.05 + 0.01).to(t)
    s, u, y = scale.float().repeat_interleave(128, 1), x.float(), torch.zeros(64, 48)
    for j in range(0, 256, 64):
        y = lo(y + u[:, j:j + 64] @ lo(q * s, t)[:, j:j + 64].T, t)
    swapped = q.view(48, -1, 2).flip(-1).reshape(48, 256)
    for what, got in (('right', u @ lo(q * s, t).T), ('zero is 8', u @ lo((q - 8) * s, t).T),
                      ('one scale a row', u @ lo(q * scale.float()[:, :1], t).T),
                      ('halves are swapped', u @ lo(swapped * s, t).T),
                      ('scales in e4m3', u @ (q * lo(s, E4)).T), ('added in 16 bits', y)):
        yield 'int4_matmul', what, dict(x=x, q=q, scale=scale), got.to(t), {}


def gated(d, t):
    x, wg, wu, wd = d(64, 96).to(t), d(96, 128, s=0.1).to(t), d(96, 128, s=0.1).to(t), d(128, 48, s=0.1).to(t)

    def mlp(act=F.silu, exchanged=False, terms=128):
        a, u = lo(x.float() @ wg.float(), t), lo(x.float() @ wu.float(), t)
        a, u = (u, a) if exchanged else (a, u)
        return (lo(lo(act(a), t) * u, t)[:, :terms] @ wd.float()[:terms]).to(t)
    for what, how in (('right', {}), ('gelu', dict(act=F.gelu)), ('exchanged', dict(exchanged=True)),
                      ('one term less', dict(terms=127)),
                      ('sigmoid', dict(act=torch.sigmoid)), ('hard swish', dict(act=F.hardswish))):
        yield 'gated_mlp', what, dict(x=x, wg=wg, wu=wu, wd=wd), mlp(**how), {}


def optimizers(d, t):
    w, g, m, v = d(500), d(500, s=0.1), d(500, s=0.1), d(500, s=0.1) ** 2

    def adam(b2=0.999, decay=0.01, lr=1e-3, step=10, inside=False):
        a, b = 0.9 * m + 0.1 * g, b2 * v + (1 - b2) * g * g
        c1, c2 = (1 - 0.9 ** step, 1 - b2 ** step) if step else (1, 1)
        below = (b / c2 + 1e-8).sqrt() if inside else (b / c2).sqrt() + 1e-8
        return w * (1 - lr * decay) - lr * (a / c1) / below
    for what, how in (('right', {}), ('bias is not corrected', dict(step=0)), ('eps in the root', dict(inside=True)),
                      ('no decay', dict(decay=0)), ('beta2 0.99', dict(b2=0.99)), ('one step on', dict(step=11)),
                      ('rate 1.01e-3', dict(lr=1.01e-3))):
        yield 'adamw', what, dict(w=w, g=g, m=m, v=v), adam(**how), dict(step=10)


def choices(d, t):
    x, w, e = d(64, 32).to(t), d(8, 32).to(t), d(4, 32, 24, s=0.2).to(t)
    logits, index = x.float() @ w.float().T, torch.arange(64) * 5 % 4
    good, third = logits.topk(2)[1], logits.topk(3)[1][:, [0, 2]]
    for what, got in (('right', good), ('the third for the second', third), ('one expert twice', good[:, [0, 0]])):
        yield 'router', what, dict(x=x, w=w), got, dict(k=2)
    for what, moved in (('right', 0), ('one row by another matrix', 1)):
        used = index.clone()
        used[7] = (used[7] + moved) % 4
        yield 'grouped_matmul', what, dict(x=x, w=e, index=index), torch.stack(
            [x.float()[i] @ e.float()[used[i]] for i in range(64)]).to(t), {}


def cases(t, seed):
    g = torch.Generator().manual_seed(seed)

    def d(*shape, s=1.0):
        return torch.randn(*shape, generator=g) * s
    for family in (convolutions, scans, losses, norms, attention, quantised, gated, optimizers, choices):
        yield from family(d, t)
