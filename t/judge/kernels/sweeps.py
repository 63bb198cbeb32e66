# SPDX-License-Identifier: Apache-2.0
# Kernels of PyTorch for the operands of --make, which t-kernel-sweeps.py judges. A row of ROWS is (kernel, function,
# facts, names of cases in which the function is known to be wrong), one of WRONG (kernel, mistake, function, facts, a
# case that shows it).
import torch

F = torch.nn.functional
f32 = torch.float32


def grads(f, wanted, *leaves):
    leaves = [x.detach().requires_grad_() for x in leaves]
    return dict(zip(wanted, torch.autograd.grad(f(*leaves), leaves)))


def attention_dx(q, k, v, do):
    leaves = [x.detach().requires_grad_() for x in (q, k, v)]
    return dict(zip(('dq', 'dk', 'dv'), torch.autograd.grad(F.scaled_dot_product_attention(*leaves), leaves, do)))


def norm_dx(norm):
    def f(x, dy):
        leaf = x.detach().requires_grad_()
        return dict(dx=torch.autograd.grad(norm(leaf), leaf, dy)[0])
    return f


def rope(x, cos, sin):
    a, b, c, s = x[..., :16].float(), x[..., 16:].float(), cos.float(), sin.float()
    return torch.cat([a * c - b * s, b * c + a * s], -1).to(x.dtype)


def cross_entropy_dx(x, target):
    return grads(lambda u: F.cross_entropy(u, target), ['dx'], x.float())['dx'].to(x.dtype)


def linear_cross_entropy_dx(x, w, target):
    p = torch.softmax(x.float() @ w.float().T, -1)
    p[torch.arange(len(p)), target] -= 1
    d = (p / len(p)).to(x.dtype)
    return dict(dx=d @ w, dw=d.T @ x)


def gated_mlp(x, wg, wu, wd):
    return (F.silu(x @ wg) * (x @ wu)) @ wd


def spread(x, s, n):
    return x.float() * s.float().repeat_interleave(n, 1)[:, :x.shape[1]]


def int4_matmul(x, q, scale):
    return x @ spread(q, scale, 128).to(x.dtype).T


def scaled_matmul(a, sa, b, sb):
    return (spread(a, sa, 32) @ spread(b, sb, 32).T).to(a.dtype)


def deepseek_matmul(a, sa, b, sb):
    return (spread(a, sa, 128) @ (b.float() * sb.float()).T).to(a.dtype)


def grouped_matmul(x, w, index):
    return torch.einsum('rk,rkn->rn', x.float(), w[index].float()).to(x.dtype)


def experts(x, wg, wu, wd, index, gate):
    a, b = grouped_matmul(x, wg, index), grouped_matmul(x, wu, index)
    h = (F.silu(a.float()) * b.float()).to(x.dtype)
    return grouped_matmul(h, wd, index) * gate


def selective_scan(a, b, c):
    h, out = torch.zeros_like(b[:, 0], dtype=f32), []
    for t in range(a.shape[1]):
        h = a[:, t].float() * h + b[:, t].float()
        out.append((h * c[:, t].float()).sum(-1))
    return torch.stack(out, 1).to(a.dtype)


def linear_attention(q, k, v):
    return (q.float() @ (k.float().transpose(-1, -2) @ v.float())).to(q.dtype)


def embedding_dw(dy, index):
    return torch.zeros(7, dy.shape[1]).index_add_(0, index, dy.float()).to(dy.dtype)


def adamw(w, g, m, v):
    w, g, m, v, t = w.float(), g.float(), m.float(), v.float(), w.dtype
    m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
    w = w * (1 - 1e-5) - 1e-3 / 0.1 * m / (v.sqrt() / 0.001 ** 0.5 + 1e-8)
    return dict(w1=w.to(t), m1=m.to(t), v1=v.to(t))


def lion(w, g, m):
    t, w, g, m = w.dtype, w.float(), g.float(), m.float()
    return dict(w1=(w - 1e-4 * torch.sign(0.9 * m + 0.1 * g)).to(t), m1=(0.99 * m + 0.01 * g).to(t))


def muon(w, g, m, o):
    t, w, g, m, o = w.dtype, w.float(), g.float(), m.float(), o.float()
    m = m.lerp(g, 0.05)
    return dict(w1=(w * (1 - 1e-4) - 1e-3 * o).to(t), m1=m.to(t), u=g.lerp(m, 0.95).to(t))


def newton_schulz(x):
    g = x @ x.T
    t = (-4.7750 * g.float() + 2.0315 * (g @ g).float()).to(x.dtype)
    return (3.4445 * x.float() + t.float() @ x.float()).to(x.dtype)


def unit(p):
    return lambda x: (x.float() / p(x.float())).to(x.dtype)


def loss(f, *how):
    return lambda **x: f(*(v.float() for v in x.values()), *how)


LONGEST = {'attention_dx': 300}  # longer cases take half a minute each

# PyTorch's GELU of an infinity is NaN on a CPU with AVX-512, and so is what is made of it. Where a key and a query are infinite,
# rows of P are NaN, and so is dV, but PyTorch's backward attention gives numbers for some of it.
GELU = ('infinite',) if torch.backends.cpu.get_cpu_capability() == 'AVX512' else ()
ROWS = [
    ('logsumexp', lambda x: torch.logsumexp(x.float(), -1).to(x.dtype), {}, ()),
    ('gelu', lambda x: F.gelu(x), {}, GELU),
    ('gelu_tanh', lambda x: F.gelu(x, approximate='tanh'), {}, ()),
    ('geglu', lambda gate, up: (F.gelu(gate.float()) * up.float()).to(up.dtype), {},
     GELU),
    ('mlp', lambda x, w1, w2: F.gelu(x @ w1) @ w2, {}, GELU),
    ('rope', rope, {}, ()),
    ('attention_dx', attention_dx, dict(acc_kv='bf16@32', exp='2^-14'), ('infinite',)),
    ('rmsnorm_dx', norm_dx(lambda x: F.rms_norm(x, x.shape[-1:], None, 1e-6)), {}, ()),
    ('layernorm_dx', norm_dx(lambda x: F.layer_norm(x, x.shape[-1:])), dict(stats='in'), ()),
    ('cross_entropy', lambda x, target: F.cross_entropy(x.float(), target), {}, ()),
    ('cross_entropy_dx', cross_entropy_dx, {}, ()),
    ('linear_cross_entropy', lambda x, w, target: F.cross_entropy(x.float() @ w.float().T, target), {}, ()),
    ('linear_cross_entropy_dx', linear_cross_entropy_dx, {}, ()),
    ('gated_mlp', gated_mlp, {}, ()),
    ('int4_matmul', int4_matmul, {}, ()),
    ('scaled_matmul', scaled_matmul, {}, ()),
    ('deepseek_matmul', deepseek_matmul, {}, ()),
    ('grouped_matmul', grouped_matmul, {}, ()),
    ('experts', experts, {}, ()),
    ('router', lambda x, w: (x.float() @ w.float().T).topk(1)[1], dict(k=1), ()),
    ('masked_cumsum', lambda x, mask: (x.float() * mask).cumsum(-1).to(x.dtype), {}, ()),
    ('cumprod', lambda x: x.float().cumprod(-1).to(x.dtype), {}, ()),
    ('selective_scan', selective_scan, {}, ()),
    ('linear_attention', linear_attention, {}, ()),
    ('l1norm', unit(lambda x: x.abs().sum(-1, True)), {}, ()),
    ('l2norm', unit(lambda x: x.norm(dim=-1, keepdim=True)), {}, ()),
    ('frobenius', unit(lambda x: x.norm()), {}, ()),
    ('mse', loss(F.mse_loss), {}, ()),
    ('huber', loss(F.smooth_l1_loss), {}, ()),
    ('hinge', loss(lambda x, target: F.relu(1 - x * target).mean()), {}, ()),
    ('embedding_dw', embedding_dw, dict(rows=7), ()),
    ('adamw', adamw, {}, ()),
    ('lion', lion, {}, ()),
    ('muon', muon, {}, ()),
    ('newton_schulz', newton_schulz, {}, ()),
    ('groupnorm', lambda x: F.group_norm(x, 1), {}, ()),
    ('batchnorm', lambda x: F.batch_norm(x.float(), None, None, training=True).to(x.dtype), {}, ()),
    ('kl_div', loss(lambda x, target: F.kl_div(x, target, reduction='batchmean')), {}, ()),
    ('triplet', loss(F.triplet_margin_loss), {}, ()),
    ('all_reduce', lambda x: x.float().sum(0).to(x.dtype), {}, ()),
    ('argmin', lambda x: x.argmin(-1), {}, ()),
]


def early(x):
    """The loop over whole blocks of 64 forgets the tail."""
    y = x.float().clone()
    whole = x.shape[-1] // 64 * 64 or x.shape[-1]
    return torch.logsumexp(y[..., :whole], -1).to(x.dtype)


def unstable(x):
    return torch.log(torch.exp(x.float()).sum(-1)).to(x.dtype)


def zero_row(x):
    n = x.float().norm(dim=-1, keepdim=True)
    return (x.float() / (n + 1e-3)).to(x.dtype)


def one_scale(x, q, scale):
    return x @ (q.float() * scale.float()[0]).to(x.dtype).T


def last_wins(dy, index):
    out = torch.zeros(7, dy.shape[1])
    out[index] = dy.float()
    return out.to(dy.dtype)


WRONG = [
    ('logsumexp', 'the tail of rows is missing', early, {}, 'N1025'),
    ('logsumexp', 'no maximum is taken out', unstable, {}, 'large'),
    ('l2norm', 'an epsilon is added', zero_row, {}, 'normal'),
    ('int4_matmul', 'one scale for all rows', one_scale, {}, 'normal'),
    ('embedding_dw', 'rows that meet are not added', last_wins, dict(rows=7), 'normal'),
    ('masked_cumsum', 'sums are masked in place of terms',
     lambda x, mask: (x.float().cumsum(-1) * mask).to(x.dtype), {}, 'normal'),
    ('argmin', 'the first column is not looked at', lambda x: (x[:, 1:].argmin(-1) + 1) % x.shape[1]
     if x.shape[1] > 1 else x.argmin(-1), {}, 'N3'),
    ('frobenius', 'squares overflow in the sum', lambda x: (x.float() / x.float().square().sum().clamp(max=1e6).sqrt())
     .to(x.dtype), {}, 'large'),
]
