# SPDX-License-Identifier: Apache-2.0
# A fourth draw of kernels by hand, in the idioms of Triton kernels and of PyTorch code that serves and trains language
# models: split-K, caches of pages, grouped int4, scaled fp8, fused residual norms. cases(seed) yields (what, kernel,
# operands, facts, result, right result, culprit): culprit is what an answer has to say of the mistake, None where no
# fact of the kernel is the mistake and an answer may name none.
import math

import torch
import torch.nn.functional as F

BF, E4 = torch.bfloat16, torch.float8_e4m3fn


def lo(x, t=BF):
    return x.to(t).to(x.dtype)


def heads(q, k, v, keep=None, scale=None, bias=0, cap=0, share=torch.repeat_interleave):
    """Attention in float64, all roundings of which are the result's."""
    q, k, v = q.double(), k.double(), v.double()
    n = q.shape[1] // k.shape[1]
    k, v = (share(x, n, 1) if share is torch.repeat_interleave else share(x, n) for x in (k, v))
    s = q @ k.mT * (scale or q.shape[-1] ** -.5) + bias
    s = cap * torch.tanh(s / cap) if cap else s
    s = s if keep is None else s.masked_fill(~keep, -math.inf)
    return (torch.softmax(s, -1) @ v).to(BF)


def serving(d):
    q, k, v = d(1, 4, 40, 32).to(BF), d(1, 2, 40, 32).to(BF), d(1, 2, 40, 32).to(BF)
    i, j = torch.arange(40)[:, None], torch.arange(40)
    o, plain = dict(q=q, k=k, v=v), dict(causal=1, p='none')
    good = heads(q, k, v, j <= i)
    yield ('heads of queries share keys in turns, as tile() repeats them', 'attention', o, plain,
           heads(q, k, v, j <= i, share=lambda x, n: x.repeat(1, n, 1, 1)), good, 'heads of keys in turns')
    yield ('the mask compares with <', 'attention', o, plain, torch.where(i.view(40, 1) == 0, good, heads(
        q, k, v, (j < i) | (i == 0) & (j == 0))), good, 'diagonal|causal mask')
    yield ('one more key is seen', 'attention', o, plain, heads(q, k, v, j <= i + 1), good, 'causal mask were off by 1')
    near = dict(causal=1, window=8, p='none')
    yield ('the window has its far end too', 'attention', o, near, heads(q, k, v, (j <= i) & (j >= i - 8)),
           heads(q, k, v, (j <= i) & (j > i - 8)), 'window')
    yield ('the scale is applied to q in bf16 and again to the scores', 'attention', o, plain,
           heads(lo(q.double() * 32 ** -.5), k, v, j <= i), good, 'scale')
    yield ('scores are divided by the head size', 'attention', o, plain, heads(q, k, v, j <= i, scale=1 / 32), good,
           'the scale were 0.03125')
    yield ('the softcap is behind the mask', 'attention', o, dict(causal=1, softcap=5, p='none'), (
        torch.softmax(5 * torch.tanh((q.double() @ k.double().repeat_interleave(2, 1).mT * 32 ** -.5).masked_fill(
            j > i, -1e4) / 5), -1) @ v.double().repeat_interleave(2, 1)).to(BF), heads(q, k, v, j <= i, cap=5), None)
    slopes = 2.0 ** -torch.arange(1, 5)
    yield ('ALiBi\'s slopes in reversed order', 'attention', dict(o, slopes=slopes), plain, heads(
        q, k, v, j <= i, bias=slopes.flip(0)[:, None, None] * (j - i)), heads(
            q, k, v, j <= i, bias=slopes[:, None, None] * (j - i)), None)
    halves = [(F.softmax((q.double() @ x.double().repeat_interleave(2, 1).mT) * 32 ** -.5, -1)
               @ y.double().repeat_interleave(2, 1)) for x, y in zip(k.split(20, 2), v.split(20, 2))]
    yield ('split keys are joined without their log-sum-exp', 'attention', o, dict(p='none'),
           (sum(halves) / 2).to(BF), heads(q, k, v), None)
    yield ('the token\'s own key is not in the cache yet', 'attention', dict(o, q=q[:, :, -1:]),
           dict(causal=2, p='none'), heads(q[:, :, -1:], k[:, :, :-1], v[:, :, :-1]), heads(q[:, :, -1:], k, v), '1')
    cache_k, cache_v = d(6, 8, 2, 32).to(BF), d(6, 8, 2, 32).to(BF)
    pages, lengths, one = torch.tensor([[0, 3, 1], [4, 2, 5]]), torch.tensor([19, 22]), d(2, 4, 1, 32).to(BF)

    def paged(table, lengths=lengths):
        rows = []
        for b in range(2):
            x, y = (c[table[b]].flatten(0, 1)[:lengths[b]].transpose(0, 1)[None] for c in (cache_k, cache_v))
            rows.append(heads(one[b:b + 1], x, y))
        return torch.cat(rows)
    o = dict(q=one, k_cache=cache_k, v_cache=cache_v, pages=pages, lengths=lengths)
    stale = pages.clone()
    stale[1, 1] = 0
    yield 'a stale page of another sequence', 'paged_attention', o, dict(p='none'), paged(stale), paged(pages), None
    yield ('lengths are rounded up to pages', 'paged_attention', o, dict(p='none'),
           paged(pages, torch.tensor([24, 24])), paged(pages), None)


def positions(d):
    x = d(1, 2, 600, 32).to(BF)

    def angles(base=1e6, at=torch.arange(600).double(), t=torch.float64):
        a = (at[:, None] * base ** (-torch.arange(16) / 16)).to(t).double()
        return a.cos().float(), a.sin().float()

    def turn(cos, sin):
        a, b = x.double().chunk(2, -1)
        return torch.cat([a * cos - b * sin, b * cos + a * sin], -1).to(BF)
    cos, sin = angles()
    o, good = dict(x=x, cos=cos, sin=sin), turn(cos.double(), sin.double())
    yield 'base 1e4 for 1e6', 'rope', o, {}, turn(*angles(1e4)), good, None
    yield 'positions in bf16', 'rope', o, {}, turn(*angles(at=lo(torch.arange(600.)).double())), good, None
    yield 'positions begin with 1', 'rope', o, {}, turn(*angles(at=torch.arange(1, 601).double())), good, None
    even = torch.stack([x[..., 0::2] * cos - x[..., 1::2] * sin, x[..., 1::2] * cos + x[..., 0::2] * sin], -1)
    yield 'neighbours are pairs', 'rope', o, {}, even.flatten(-2).to(BF), good, 'layout were the other one'


def norms(d):
    x, r, w, b = d(48, 256).to(BF), d(48, 256).to(BF), (1 + d(256, s=.1)).to(BF), d(256, s=.1).to(BF)
    u, z, g, c = (y.double() for y in (x, r, w, b))
    keep = (torch.arange(48 * 256).view(48, 256) * 2654435761 % 97 < 78).double() * 1.25
    graph = 'm = mul(x, keep); h = add(m, residual); y = layernorm(h, w, b, eps=1e-5)'
    o = dict(x=x, keep=keep.float(), residual=r, w=w, b=b)

    def layer(h):
        return F.layer_norm(h, (256,), g, c).to(BF)
    yield 'the dropout\'s mask twice', graph, o, {}, layer(u * keep * keep + z), layer(u * keep + z), r'm were 1\.2[45]'
    yield 'the residual is dropped too', graph, o, {}, layer((u + z) * keep), layer(u * keep + z), None

    def rms(h, g=g, eps=1e-6):
        return (h * torch.rsqrt(h.square().mean(-1, True) + eps) * g).to(BF)
    o = dict(x=x, residual=r, w=w)
    yield 'bf16 is added before it becomes fp32', 'rmsnorm', o, {}, rms(lo(u + z)), rms(u + z), 'bf16'
    yield 'the weight is one more', 'rmsnorm', dict(x=x, w=w), {}, rms(u, 1 + g), rms(u), 'times what it is'
    yield 'eps beside the root', 'rmsnorm', dict(x=x, w=w), dict(eps=1e-2), (
        u / (u.square().mean(-1, True).sqrt() + 1e-2) * g).to(BF), rms(u, eps=1e-2), None
    far = (d(48, 256).float() * .02 + 40).to(torch.float32)
    f = far.double()
    m = far.mean(-1, True)
    var = (far * far).mean(-1, True) - m * m
    yield ('variance as E[x x] - E[x] E[x]', 'layernorm', dict(x=far, w=w.float(), b=b.float()), {},
           (far - m) * torch.rsqrt(var.clamp(min=0) + 1e-5) * w.float() + b.float(),
           F.layer_norm(f, (256,), g, c).float(), None)
    image = d(4, 6, 5, 5).to(BF)
    v = image.double()
    mean, var = v.mean((0, 2, 3), True), v.var((0, 2, 3), correction=0, keepdim=True)
    yield ('the variance of n - 1', 'batchnorm', dict(x=image), {}, ((v - mean) * torch.rsqrt(
        v.var((0, 2, 3), correction=1, keepdim=True) + 1e-5)).to(BF), ((v - mean) * torch.rsqrt(var + 1e-5)).to(BF),
           None)


def products(d):
    a, b = d(40, 256).to(BF), d(256, 48).to(BF)
    u, w = a.double(), b.double()
    parts = [u[:, i:i + 64] @ w[i:i + 64] for i in range(0, 256, 64)]
    lost = parts[1].clone()
    lost[16:32, 16:32] = 0
    o, good = dict(a=a, b=b), sum(parts).to(BF)
    yield 'an atomic addition of split K is lost in a tile', 'matmul', o, {}, (
        parts[0] + lost + parts[2] + parts[3]).to(BF), good, None
    yield 'the last split of K is lost', 'matmul', o, {}, sum(parts[:3]).to(BF), good, r'missing \(64\)'
    half = torch.zeros(40, 48, dtype=torch.float64)
    for p in parts:
        half = lo(half + lo(p))
    yield 'splits of K are added in bf16', 'matmul', o, {}, half.to(BF), good, 'bf16'
    gate, up = d(40, 96).to(BF), d(40, 96).to(BF)
    yield ('gate and up are exchanged', 'swiglu', dict(gate=gate, up=up), {}, (F.silu(up.double()) * gate).to(BF),
           (F.silu(gate.double()) * up).to(BF), 'gate and up were exchanged')
    yield ('tanh for erf', 'gelu', dict(x=gate), {}, F.gelu(gate.double(), approximate='tanh').to(BF),
           F.gelu(gate.double()).to(BF), 'gelu_tanh')
    x, q = d(24, 256).to(BF), torch.arange(20 * 256).view(20, 256) * 37 % 16
    s, z = (d(20, 8).abs() * .05 + .02).to(BF), torch.arange(160).view(20, 8) * 3 % 16

    def four(s=s, z=z, late=False):
        s, z = s.double().repeat_interleave(32, 1), z.double().repeat_interleave(32, 1)
        return (x.double() @ lo((q * s - z) if late else (q - z) * s).T).to(BF)
    o = dict(x=x, q=q, scale=s, zero=z)
    yield ('the group\'s index is off by one', 'int4_matmul', o, dict(group=32), four(s.roll(-1, 1), z.roll(-1, 1)),
           four(), None)
    yield 'the zero is taken behind the scale', 'int4_matmul', o, dict(group=32), four(late=True), four(), None
    a, sa, b, sb = lo(d(24, 64), E4), d(24, 2).abs() + .2, lo(d(32, 64), E4), d(32, 2).abs() + .2

    def scaled(sa=sa, sb=sb):
        return ((a.double() * sa.repeat_interleave(32, 1)) @ (b.double() * sb.repeat_interleave(32, 1)).T).to(BF)
    o = dict(a=a, sa=sa, b=b, sb=sb)
    yield 'the reciprocal scale', 'scaled_matmul', o, dict(out='bf16'), scaled(1 / sa), scaled(), None
    yield 'scales of a in bf16', 'scaled_matmul', o, dict(out='bf16'), scaled(lo(sa)), scaled(), 'bf16'
    x, w = d(40, 64).to(BF), d(32, 64, s=.1).to(BF)
    logits = x.double() @ w.double().T
    yield ('experts of logits in e4m3', 'router', dict(x=x, w=w), dict(k=2), lo(logits.float(), E4).topk(2)[1],
           logits.topk(2)[1], None)
    rows, index, near = d(40, 64).to(BF), torch.arange(40) * 7 % 4, torch.softmax(logits, -1)
    wg, wu, wd = (d(4, 64, 64, s=.1).to(BF) for _ in range(3))
    chosen = near.topk(2)[0]
    weight = (chosen / chosen.sum(-1, True))[:, :1]

    def moe(gate):
        g, y = (lo(torch.stack([rows[i].double() @ m[index[i]].double() for i in range(40)])) for m in (wg, wu))
        h = lo(F.silu(g) * y)
        return (lo(torch.stack([h[i] @ wd[index[i]].double() for i in range(40)])) * gate).to(BF)
    yield ('experts\' weights are not normalised behind top-k', 'experts', dict(
        x=rows, wg=wg, wu=wu, wd=wd, index=index, gate=weight.float()), {}, moe(near.topk(2)[0][:, :1]), moe(
            weight.float()), r'were 0\.2')


def training(d):
    w, g, m, v = d(400), d(400, s=.1), d(400, s=.1), d(400, s=.1) ** 2

    def adam(n=3, decay=.01, late=False):
        a, b = .9 * m.double() + .1 * g, .999 * v.double() + .001 * g.double() ** 2
        move = 1e-3 * a / (1 - .9 ** n) / ((b / (1 - .999 ** n)).sqrt() + 1e-8)
        return dict(w1=((w.double() - move) * (1 - 1e-3 * decay) if late else w * (1 - 1e-3 * decay) - move).float(),
                    m1=a.float(), v1=b.float())
    o, facts = dict(w=w, g=g, m=m, v=v), dict(step=3, decay=.01)
    yield 'the correction of step - 1', 'adamw', o, facts, adam(2), adam(), 'step'
    yield 'decay of lr forgotten', 'adamw', o, dict(step=3, decay=.1), adam(decay=100.), adam(decay=.1), 'w were 0.9'
    dy, index = d(600, 24).to(BF), torch.arange(600) * 11 % 5
    total, wide = torch.zeros(5, 24, dtype=torch.float64), torch.zeros(5, 24, dtype=torch.float64)
    for i in range(600):
        total[index[i]] = lo(total[index[i]] + dy[i].double())
        wide[index[i]] += dy[i].double()
    yield ('the embedding\'s gradient is added in bf16', 'embedding_dw', dict(dy=dy, index=index), dict(rows=5),
           total.to(BF), wide.to(BF), 'bf16')
    x, target = d(64, 50).to(BF), torch.arange(64) * 13 % 50
    keep = (torch.arange(64) % 4 > 0).float()
    graph = 'l = log_softmax(x); p = pick(l, target); m = mul(p, keep); s = sum(m); y = scale(s, k=%r)' % (-1 / 48)
    loss = -(torch.log_softmax(x.double(), -1)[range(64), target] * keep).sum()
    o = dict(x=x, target=target, keep=keep)
    yield ('ignored rows count in the denominator', graph, o, dict(out='fp32'), (loss / 64).float().view(()),
           (loss / 48).float().view(()), 'times what it is')
    ranks = d(8, 300).to(BF)
    yield ('a rank is not in the ring', 'all_reduce', dict(x=ranks), {}, ranks[:7].double().sum(0).to(BF),
           ranks.double().sum(0).to(BF), r'missing \(1\)')
    t, k = d(2, 6, 50).to(BF), d(6, 1, 4).to(BF)
    yield ('a convolution sees the next element', 'causal_conv1d', dict(x=t, w=k), {}, F.conv1d(
        F.pad(t.double(), (2, 1)), k.double(), groups=6).to(BF), F.conv1d(F.pad(t.double(), (3, 0)), k.double(),
                                                                       groups=6).to(BF), None)
    c = d(20, 300).to(BF)
    total = c.double().cumsum(-1)
    carry = total - (torch.arange(300) >= 128) * c.double()[:, 127:128]
    yield ('the carry of a block lacks its last element', 'cumsum', dict(x=c), {}, carry.to(BF), total.to(BF), None)


def cases(seed):
    for n, group in enumerate((serving, positions, norms, products, training)):
        g = torch.Generator().manual_seed(seed + n)
        yield from group(lambda *shape, s=1.0: torch.randn(*shape, generator=g) * s)
