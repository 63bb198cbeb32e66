# SPDX-License-Identifier: Apache-2.0
# PyTorch's own kernels on the CPU, and the facts under which each is declared: cases of t-kernel-torch.py and of
# x-kernel-torch.py. A case is (kernel, operands, result, facts).
import torch
import torch.nn.functional as F

TYPES = {'bf16': torch.bfloat16, 'fp16': torch.float16, 'fp32': torch.float32}


def draw(g, *shape, scale=1.0, dtype=torch.float32):
    return (torch.randn(*shape, generator=g) * scale).to(dtype)


# PyTorch's flash attention computes in fp32, with an exponential of some 20 bits, or of some 14 in types of 16 bits
def attention(g, t, scale, n):
    q, k, v = (draw(g, 2, 2, n, 32, scale=scale, dtype=t) for _ in range(3))
    causal = n % 2
    yield 'attention', dict(q=q, k=k, v=v), F.scaled_dot_product_attention(q, k, v, is_causal=bool(causal)), \
        dict(causal=causal, exp='2^-14' if t != torch.float32 else '2^-18', block=16)


def softmaxes(g, t, scale, n):
    x = draw(g, 16, n, scale=scale, dtype=t)
    yield 'softmax', dict(x=x), torch.softmax(x, -1), {}
    # it keeps the logarithm of the sum in the type of its operand
    yield 'log_softmax', dict(x=x), torch.log_softmax(x, -1), dict(log_sum='in')
    yield 'logsumexp', dict(x=x.float()), torch.logsumexp(x.float(), -1), {}


def norms(g, t, scale, n):
    x, w, b = (draw(g, *s, scale=scale, dtype=t) for s in ((16, n), (n,), (n,)))
    yield 'layernorm', dict(x=x, w=w, b=b), F.layer_norm(x, (n,), w, b, 1e-5), {}
    yield 'rmsnorm', dict(x=x, w=w), F.rms_norm(x, (n,), w, 1e-6), dict(eps=1e-6)


def pointwise(g, t, scale, n):
    x = draw(g, 16, n, scale=scale, dtype=t)
    u = draw(g, 16, n, scale=scale, dtype=t)
    yield 'gelu', dict(x=x), F.gelu(x), {}
    yield 'gelu_tanh', dict(x=x), F.gelu(x, approximate='tanh'), {}
    yield 'silu', dict(x=x), F.silu(x), {}
    form = {v: k for k, v in TYPES.items()}[t]
    yield 'swiglu', dict(gate=x, up=u), F.silu(x) * u, dict(hidden=form)


def products(g, t, scale, n):
    x, w, b = draw(g, 16, n, scale=scale, dtype=t), draw(g, 24, n, scale=scale, dtype=t), draw(g, 24, dtype=t)
    yield 'linear', dict(x=x, w=w), F.linear(x, w), {}
    yield 'matmul', dict(a=x, b=w), x @ w.T, dict(tb=1)
    w1, w2 = draw(g, n, 40, scale=n ** -0.5, dtype=t), draw(g, 40, 8, scale=0.2, dtype=t)
    form = {v: k for k, v in TYPES.items()}[t]
    yield 'mlp', dict(x=x, w1=w1, w2=w2), F.gelu(x @ w1) @ w2, dict(product=form, hidden=form)


def convolutions(g, t, scale, n):
    x, w, b = draw(g, 2, 4, 9, 8, scale=scale, dtype=t), draw(g, 6, 2, 3, 3, scale=0.3, dtype=t), draw(g, 6, dtype=t)
    how = dict(stride=2, padding=1, groups=2)
    yield 'conv', dict(x=x, w=w, b=b), F.conv2d(x, w, b, **how), how
    x1, w1 = draw(g, 2, 4, max(3 * n, 6), scale=scale, dtype=t), draw(g, 6, 4, 3, scale=0.3, dtype=t)
    yield 'conv', dict(x=x1, w=w1), F.conv1d(x1, w1, dilation=2), dict(dilation=2)
    x3, w3 = draw(g, 1, 3, 4, 5, 3, scale=scale, dtype=t), draw(g, 3, 2, 2, 3, 2, scale=0.3, dtype=t)
    # on processors without AVX-512 what the 3 channels give is stored in types of 16 bits, and added up in these
    low = {} if t == torch.float32 else dict(acc={v: k for k, v in TYPES.items()}[t] + '@3')
    yield 'conv_transpose', dict(x=x3, w=w3), F.conv_transpose3d(x3, w3, stride=2, padding=1, output_padding=1), \
        dict(stride=2, padding=1, output_padding=1, **low)
    yield 'maxpool', dict(x=x), F.max_pool2d(x, 3, 2, 1), dict(window=3, stride=2, padding=1)
    yield 'avgpool', dict(x=x), F.avg_pool2d(x, 3, 2, 1), dict(window=3, stride=2, padding=1)


def scans(g, t, scale, n):
    x = draw(g, 6, n, scale=scale, dtype=t)
    yield 'cumsum', dict(x=x), torch.cumsum(x, -1), {}
    yield 'cumsum', dict(x=x), torch.cumsum(x, -1), dict(order='sequential')
    p = (1 + 0.1 * draw(g, 6, n)).to(t)
    yield 'cumprod', dict(x=p), torch.cumprod(p, -1), {}
    yield 'topk', dict(x=x), torch.topk(x, min(n, 3))[1], dict(k=min(n, 3))
    yield 'argmax', dict(x=x), torch.argmax(x, -1), {}
    yield 'sum', dict(x=x), torch.sum(x, -1), {}
    yield 'mean', dict(x=x), torch.mean(x, -1), {}
    yield 'l2norm', dict(x=x), F.normalize(x, dim=-1), dict(norm='in')   # the norm is stored in the operand's type


def losses(g, t, scale, n):
    x, y, target = draw(g, 16, n, scale=scale), draw(g, 16, n), torch.randint(n, (16,), generator=g)
    yield 'cross_entropy', dict(x=x, target=target), F.cross_entropy(x, target), {}
    leaf = x.clone().requires_grad_()
    F.cross_entropy(leaf, target).backward()
    yield 'cross_entropy_dx', dict(x=x, target=target), leaf.grad, {}
    yield 'mse', dict(x=x, target=y), F.mse_loss(x, y), {}
    yield 'huber', dict(x=x, target=y), F.smooth_l1_loss(x, y), {}


def backwards(g, t, scale, n):
    x, w, dy = (draw(g, *s, scale=scale, dtype=t).requires_grad_() for s in ((16, n), (n,), (16, n)))
    F.rms_norm(x, (n,), w, 1e-6).backward(dy.detach())
    yield 'rmsnorm_dx', dict(x=x, dy=dy, w=w), dict(dx=x.grad, dw=w.grad), dict(eps=1e-6)
    x.grad = None
    F.layer_norm(x, (n,), w, None, 1e-5).backward(dy.detach())
    # mean and 1/std wait for the backward pass in the type of the operand
    yield 'layernorm_dx', dict(x=x, dy=dy, w=w), x.grad, dict(stats='in')
    q, k, v = (draw(g, 1, 2, n, 16, scale=scale, dtype=t).requires_grad_() for _ in range(3))
    do = draw(g, 1, 2, n, 16, scale=scale, dtype=t)
    o = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    o.backward(do)
    # dk and dv are added up in the type of the operands, after each block of 32 rows or more
    low = {} if t == torch.float32 else dict(acc_kv={v: k for k, v in TYPES.items()}[t] + '@32', exp='2^-14')
    yield 'attention_dx', dict(q=q, k=k, v=v, do=do, o=o), dict(dq=q.grad, dk=k.grad, dv=v.grad), dict(causal=1, **low)


def steps(g, t, scale, n):
    w = draw(g, 16 * n, scale=scale).requires_grad_()
    w.grad = draw(g, 16 * n, scale=0.1 * scale)
    old, zero = w.detach().clone(), torch.zeros(16 * n)
    step = torch.optim.AdamW([w], lr=1e-3)
    step.step()
    yield 'adamw', dict(w=old, g=w.grad, m=zero, v=zero), dict(
        w1=w.detach(), m1=step.state[w]['exp_avg'], v1=step.state[w]['exp_avg_sq']), {}


# Muon's update and orthogonal matrix are between its lines: its iteration is put in place by one that keeps them
def further_steps(g, t, scale, n):
    w = draw(g, 16 * n, scale=scale).requires_grad_()
    w.grad = draw(g, 16 * n, scale=0.1 * scale)
    step = torch.optim.SGD([w], lr=0.1, momentum=0.9, weight_decay=0.01, nesterov=True)
    step.step()
    old, m = w.detach().clone(), step.state[w]['momentum_buffer'].clone()
    w.grad = draw(g, 16 * n, scale=0.1 * scale)
    step.step()
    yield 'sgd', dict(w=old, g=w.grad, m=m), dict(w1=w.detach(), m1=step.state[w]['momentum_buffer']), \
        dict(lr=0.1, momentum=0.9, decay=0.01, nesterov=1)
    w = draw(g, 2 * n, n, scale=scale).requires_grad_()
    w.grad = draw(g, 2 * n, n, scale=0.1 * scale)
    old, kept, zero = w.detach().clone(), [], torch.zeros(2 * n, n)
    iteration = torch.optim._muon._zeropower_via_newtonschulz

    def keep(u, *how):
        kept.extend([u.clone(), iteration(u, *how)])
        return kept[1]
    torch.optim._muon._zeropower_via_newtonschulz = keep
    step = torch.optim.Muon([w])
    step.step()
    torch.optim._muon._zeropower_via_newtonschulz = iteration
    yield 'muon', dict(w=old, g=w.grad, m=zero, o=kept[1]), dict(
        w1=w.detach(), m1=step.state[w]['momentum_buffer'], u=kept[0]), dict(scale=2 ** 0.5)


def channels(g, t, scale, n):
    x, w, b = draw(g, 3, 6, 4, 5, scale=scale, dtype=t), draw(g, 6, dtype=t), draw(g, 6, dtype=t)
    yield 'groupnorm', dict(x=x, w=w, b=b), F.group_norm(x, 2, w, b), dict(groups=2)
    yield 'groupnorm', dict(x=x.float()), F.instance_norm(x.float()), dict(groups=0)
    yield 'batchnorm', dict(x=x.float(), w=w.float(), b=b.float()), F.batch_norm(
        x.float(), None, None, w.float(), b.float(), training=True), {}
    y = draw(g, 2, 6, n + 3, scale=scale, dtype=t)
    k = draw(g, 6, 1, 4, dtype=t)
    yield 'causal_conv1d', dict(x=y, w=k), F.conv1d(F.pad(y, (3, 0)), k, groups=6), {}
    a, p, q = (draw(g, 8, n, scale=scale) for _ in range(3))
    yield 'triplet', dict(anchor=a, positive=p, negative=q), F.triplet_margin_loss(a, p, q), {}
    low, target = torch.log_softmax(a, -1), torch.softmax(p / (1 + scale), -1)
    yield 'kl_div', dict(x=low, target=target), F.kl_div(low, target, reduction='batchmean'), {}
    yield 'max', dict(x=x), x.amax(-1), {}
    yield 'argmin', dict(x=a), a.argmin(-1), {}


FAMILIES = (attention, softmaxes, norms, pointwise, products, convolutions, scans, losses, backwards, steps,
        further_steps,
            channels)


def cases(seeds, sizes, types=('bf16', 'fp16', 'fp32'), scales=(0.05, 1.0, 8.0)):
    for seed in seeds:
        for name in types:
            for scale in scales:
                for n in sizes:
                    g = torch.Generator().manual_seed(seed * 1000 + n)
                    for family in FAMILIES:
                        for kernel, inputs, got, facts in family(g, TYPES[name], scale, n):
                            what = '%s %s scale %g n %d seed %d' % (kernel, name, scale, n, seed)
                            yield what, kernel, inputs, got, facts
