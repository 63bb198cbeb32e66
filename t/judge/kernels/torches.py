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


FAMILIES = (attention, softmaxes, norms, pointwise, products)


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
