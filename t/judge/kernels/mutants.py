# SPDX-License-Identifier: Apache-2.0
# Kernels written by hand, right ones and wrong ones. RIGHT has, for each kernel, a function that
# computes as declared; WRONG has the same kernel with one mistake that people and machines make. A kernel computes in
# fp32 and rounds its result to the type of its operands. Functions of two arguments get the operands and the type.
import math

import torch

f32 = torch.float32


def lo(x, t):
    return x.to(t).float()


def trunc(x, t):
    """Rounds toward zero to bf16 or fp16, as a kernel that drops bits does."""
    y = x.to(t)
    down = torch.nextafter(y, torch.zeros_like(y))
    return torch.where(y.float().abs() > x.float().abs(), down, y)


# --- right kernels, with a switch for each mistake --------------------------------------------------------------------
def softmax(o, t, shift=True, drop=0, base=math.e, top=None, acc=None, plus=0.0, axis=-1, end=None, cap=None):
    x = o['x'].float()
    m = x.amax(axis, keepdim=True) if shift else torch.zeros(())
    if top == 'first':
        m = x[..., :1]
    e = (x - m) * math.log2(base) if base != math.e else x - m
    e = torch.exp2(e) if base != math.e else torch.exp(e)
    n = x.shape[-1]
    s = e[..., :n - drop].sum(axis, keepdim=True) + plus
    if acc:
        s = torch.zeros_like(s)
        for i in range(n):
            s = lo(s + e[..., i:i + 1], acc)
    if cap:
        e = e.clamp(max=cap)
    return (end or (lambda y: y.to(t)))(e / s)


def rms(o, t, eps=1e-6, n=0, root=True, mean=True, weight=True, plus=0, inner=None, drop=0, acc=None, residual=True,
        square=2, end=None, half=False):
    x = o['x'].float()
    if 'residual' in o and residual:
        x = x + o['residual'].float()
    d = x.shape[-1]
    q = x[..., :d - drop].abs() ** square
    s = q.sum(-1, keepdim=True)
    if acc:
        s = torch.zeros_like(s)
        for i in range(d):
            s = lo(s + lo(q[..., i:i + 1], acc), acc)
    s = s / ((d + n) if mean else 1)
    r = torch.rsqrt(s + eps) if root else 1 / (s + eps)
    if half:
        r = lo(r, t)
    y = x * r
    if inner:
        y = lo(y, inner)
    if weight:
        y = y * (o['w'].float() + plus)
    return (end or (lambda y: y.to(t)))(y)


def layer(o, t, eps=1e-5, unbiased=False, centre=True, bias=True, one=False, inner=None, drop=0, outside=False,
          end=None):
    x, w, b = o['x'].float(), o['w'].float(), o['b'].float()
    d = x.shape[-1]
    m = x[..., :d - drop].sum(-1, keepdim=True) / d if centre else 0
    v = ((x - m) ** 2).sum(-1, keepdim=True) / (d - 1 if unbiased else d)
    if one:
        v = lo((x * x).mean(-1, keepdim=True), inner) - lo(m * m, inner)
    r = 1 / (v.clamp(min=0).sqrt() + eps) if outside else torch.rsqrt(v + eps)
    y = (x - m) * r
    y = y * w + (b if bias else 0)
    return (end or (lambda y: y.to(t)))(y)


def attention(o, t, scale=None, causal=0, p='in', mask='-inf', drop=0, dead=False, swap=False, rescale=True,
              block=32, diagonal=0, transposed=False, tail=False, late=False, end=None, acc=None, qs=False,
              offset=0.0):
    q, k, v = o['q'].float(), o['k'].float(), o['v'].float()
    n, m = q.shape[-2], k.shape[-2]
    c = scale if scale is not None else q.shape[-1] ** -0.5
    s = (lo(q * c, t) @ k.mT) if qs else (q @ k.mT) * c
    keep = torch.ones(n, m).tril(diagonal).bool() if causal else torch.ones(n, m).bool()
    s = s.masked_fill(~keep, float('-inf') if mask == '-inf' else mask)
    if drop:
        s[..., m - drop:] = float('-inf')
    if tail:
        s = torch.cat([s, torch.zeros(*s.shape[:-1], 1)], -1)
        v = torch.cat([v, torch.zeros(*v.shape[:-2], 1, v.shape[-1])], -2)
    acc_o = torch.zeros(*q.shape[:-1], v.shape[-1])
    top = torch.full(q.shape[:-1], float('-inf'))[..., None]
    den = torch.zeros_like(top)
    for j in range(0, s.shape[-1], block):
        part = s[..., j:j + block]
        new = torch.maximum(top, part.amax(-1, keepdim=True))
        safe = torch.where(new > float('-inf'), new, torch.zeros(()))
        e = torch.exp(part - safe + offset)
        f = torch.exp(top - safe) if rescale else torch.ones(())
        f = torch.where(top > float('-inf'), f, torch.zeros_like(f)) if rescale else f
        stored = lo(e, t) if p == 'in' else p(e) if callable(p) else e
        den = den * (f if not late else 1) + e.sum(-1, keepdim=True)
        acc_o = acc_o * f + stored @ v[..., j:j + block, :]
        if acc:
            acc_o = lo(acc_o, acc)
        top = new
    y = acc_o / den
    if swap:
        y[..., [3, 7], :] = y[..., [7, 3], :]
    if dead:
        y[..., n - 1, :] = 0
    if transposed:
        y = y.transpose(1, 2).reshape(y.shape)
    return (end or (lambda y: y.to(t)))(y)


def linear(o, t, acc=None, drop=0, bias=True, order=1, chop=False, half=False, twice=False, end=None, shift=0):
    x, w = o['x'].float(), o['w'].float()
    k = x.shape[-1]
    if acc:
        y = torch.zeros(x.shape[0], w.shape[0])
        for i in range(0, k, order):
            y = lo(y + x[:, i:i + order] @ w[:, i:i + order].T, acc)
    else:
        y = x[:, :k - drop] @ w[:, shift:k - drop + shift].T if not shift else x[:, :k - shift] @ w[:, shift:].T
    if half:
        y = lo(y, t)
    if bias:
        y = y + o['b'].float() * (2 if twice else 1)
    return (end or (lambda y: y.to(t)))(y)


def mlp(o, t, act=torch.nn.functional.gelu, product=True, hidden=None, end=None, acc=None, drop=0, bias=True):
    x, w1, w2 = o['x'].float(), o['w1'].float(), o['w2'].float()
    h = x @ w1
    h = lo(h, t) if product else h
    h = (hidden or (lambda y: lo(y, t)))(act(h))
    if acc:
        y = torch.zeros(x.shape[0], w2.shape[1])
        for i in range(0, h.shape[1], 16):
            y = lo(y + h[:, i:i + 16] @ w2[i:i + 16], acc)
    else:
        y = h[:, :h.shape[1] - drop] @ w2[:h.shape[1] - drop]
    return (end or (lambda y: y.to(t)))(y)


def rope(o, t, sign=1, inter=False, order=False, end=None, half=None, table=None):
    x, c, s = o['x'].float(), o['cos'].float(), o['sin'].float()
    if table:
        c, s = lo(c, table), lo(s, table)
    n = x.shape[-1] // 2
    if inter:
        a, b = x[..., ::2], x[..., 1::2]
    else:
        a, b = x[..., :n], x[..., n:]
    u, v = a * c - sign * b * s, b * c + sign * a * s
    if half:
        u, v = lo(lo(a * c, half) - lo(b * s, half), half), lo(lo(b * c, half) + lo(a * s, half), half)
    y = torch.cat([u, v], -1)
    if order:
        y = torch.cat([v, u], -1)
    return (end or (lambda y: y.to(t)))(y)


def swiglu(o, t, act=torch.nn.functional.silu, swap=False, hidden=None, end=None):
    g, u = o['gate'].float(), o['up'].float()
    if swap:
        g, u = u, g
    h = act(g)
    h = hidden(h) if hidden else h
    return (end or (lambda y: y.to(t)))(h * u)


def gelu(o, t, f=torch.nn.functional.gelu, end=None):
    return (end or (lambda y: y.to(t)))(f(o['x'].float()))


# --- operands ---------------------------------------------------------------------------------------------------------
def operands(kernel, t, seed, scale=1.0):
    g = torch.Generator().manual_seed(seed)

    def d(*shape, s=scale):
        return (torch.randn(*shape, generator=g) * s).to(t)
    if kernel == 'softmax':
        return dict(x=d(64, 512)), {}
    if kernel == 'rmsnorm':
        return dict(x=d(64, 512), w=d(512, s=1)), dict(eps=1e-6)
    if kernel == 'rmsnorm+':
        return dict(x=d(64, 512), w=d(512, s=1), residual=d(64, 512)), dict(eps=1e-6)
    if kernel == 'layernorm':
        return dict(x=d(64, 512), w=d(512, s=1), b=d(512, s=1)), {}
    if kernel in ('attention', 'causal'):
        return dict(q=d(1, 2, 128, 32), k=d(1, 2, 128, 32), v=d(1, 2, 128, 32)), \
            dict(causal=int(kernel == 'causal'), block=32, exp='2^-21')
    if kernel == 'linear':
        return dict(x=d(64, 256), w=d(64, 256, s=0.0625), b=d(64, s=1)), {}
    if kernel == 'mlp':
        return dict(x=d(64, 128), w1=d(128, 256, s=0.09), w2=d(256, 64, s=0.0625)), dict(product='in', hidden='in')
    if kernel == 'rope':
        a = torch.arange(64)[:, None] * 10000.0 ** (-torch.arange(32) / 32)
        return dict(x=d(4, 64, 64), cos=a.cos(), sin=a.sin()), {}
    if kernel == 'swiglu':
        return dict(gate=d(64, 256), up=d(64, 256)), {}
    return dict(x=d(64, 512)), {}


RIGHT = {'softmax': softmax, 'rmsnorm': rms, 'rmsnorm+': rms, 'layernorm': layer, 'attention': attention,
         'causal': lambda o, t: attention(o, t, causal=1), 'linear': linear, 'mlp': mlp, 'rope': rope, 'swiglu': swiglu,
         'gelu': gelu}
silu = torch.nn.functional.silu


def kind(kernel, what, **change):
    base = {'rmsnorm+': rms, 'causal': attention}.get(kernel) or RIGHT[kernel]
    if kernel == 'causal':
        change = dict(dict(causal=1), **change)
    return kernel, what, lambda o, t: base(o, t, **change)




def with_end(kernel, what, f):
    """A mistake behind the last operation: f(y in fp32, t)."""
    return kernel, what, lambda o, t: ({'rmsnorm+': rms, 'causal': attention}.get(kernel) or RIGHT[kernel])(
        o, t, end=lambda y: f(y, t), **(dict(causal=1) if kernel == 'causal' else {}))


def zero_last(y, t, n=1):
    y = y.clone()
    y[-n:] = 0
    return y.to(t)


def poly_exp(x):
    """2^x by a cubic on [0, 1), exact to 4 digits."""
    z = x * 1.44269504
    i = z.floor()
    f = z - i
    return torch.ldexp(1 + f * (0.695146143 + f * (0.227564394 + f * 0.077119090)), i.to(torch.int32))


E4 = torch.float8_e4m3fn
WRONG = [
    kind('softmax', 'the sum lacks the last term', drop=1),
    kind('softmax', 'the sum lacks the last 16 terms', drop=16),
    kind('softmax', 'base 2 in place of e', base=2.0),
    kind('softmax', 'base 2.7', base=2.7),
    kind('softmax', 'the sum in bf16', acc=torch.bfloat16),
    kind('softmax', 'the sum in fp16', acc=torch.float16),
    kind('softmax', '1e-3 added to the sum', plus=1e-3 * 800),
    kind('softmax', 'along the other axis', axis=0),
    kind('softmax', 'numerators clipped at 0.9', cap=0.9),
    with_end('softmax', 'zeros', lambda y, t: torch.zeros_like(y).to(t)),
    with_end('softmax', 'the last row is not written', zero_last),
    with_end('softmax', 'stored toward zero', trunc),
    with_end('softmax', 'stored as e4m3 first', lambda y, t: lo(y, E4).to(t)),
    with_end('softmax', 'uniform shares', lambda y, t: torch.full_like(y, 1 / y.shape[-1]).to(t)),
    kind('rmsnorm', 'eps 1e-3 for 1e-6', eps=1e-3),
    kind('rmsnorm', 'eps 1e-2 for 1e-6', eps=1e-2),
    kind('rmsnorm', 'no square root', root=False),
    kind('rmsnorm', 'the sum in place of the mean', mean=False),
    kind('rmsnorm', 'the mean over n - 1', n=-1),
    kind('rmsnorm', 'the mean lacks the last 8', drop=8),
    kind('rmsnorm', 'no weight', weight=False),
    kind('rmsnorm', 'weight + 1', plus=1),
    kind('rmsnorm', 'the sum of squares in bf16', acc=torch.bfloat16),
    kind('rmsnorm', 'rounded before the weight', inner=torch.bfloat16),
    kind('rmsnorm', 'the factor rounded to 16 bits', half=True),
    kind('rmsnorm', 'mean of |x| in place of squares', square=1),
    with_end('rmsnorm', 'stored toward zero', trunc),
    with_end('rmsnorm', 'rows rolled by one', lambda y, t: y.roll(1, 0).to(t)),
    kind('rmsnorm+', 'the residual is not added', residual=False),
    kind('layernorm', 'the variance over n - 1', unbiased=True),
    kind('layernorm', 'not centred', centre=False),
    kind('layernorm', 'no bias', bias=False),
    kind('layernorm', 'eps outside the root', outside=True, eps=1e-2),
    kind('layernorm', 'eps 1e-2 for 1e-5', eps=1e-2),
    kind('layernorm', 'the mean lacks the last 4', drop=4),
    kind('layernorm', 'E x^2 - mean^2 in bf16', one=True, inner=torch.bfloat16),
    with_end('layernorm', 'the last row is not written', zero_last),
    kind('attention', 'no scale', scale=1.0),
    kind('attention', 'scale 1/d', scale=1 / 32),
    kind('attention', 'no rescaling of the output', rescale=False),
    kind('attention', 'no rescaling of the denominator', late=True),
    kind('attention', 'the last key is missing', drop=1),
    kind('attention', 'the last 16 keys are missing', drop=16),
    kind('attention', 'one key too many, of zeros', tail=True),
    kind('attention', 'P as e4m3', p=lambda e: lo(e, E4)),
    kind('attention', 'P chopped to bf16', p=lambda e: trunc(e, torch.bfloat16).float()),
    kind('attention', 'rows 3 and 7 are swapped', swap=True),
    kind('attention', 'the last row is not written', dead=True),
    kind('attention', 'heads and rows are exchanged', transposed=True),
    kind('attention', 'the output accumulated in bf16', acc=torch.bfloat16),
    with_end('attention', 'the mean of V', lambda y, t: y.mean(-2, keepdim=True).expand_as(y).to(t)),
    with_end('attention', 'zeros', lambda y, t: torch.zeros_like(y).to(t)),
    kind('causal', 'the mask is one off, to the right', diagonal=1),
    kind('causal', 'the mask is one off, to the left', diagonal=-1),
    kind('causal', 'no mask', causal=0),
    kind('causal', 'the mask adds -8', mask=-8.0),
    kind('linear', 'accumulated in bf16', acc=torch.bfloat16),
    kind('linear', 'accumulated in bf16, blocks of 64', acc=torch.bfloat16, order=64),
    kind('linear', 'accumulated in fp16', acc=torch.float16),
    kind('linear', 'the last of 256 terms is missing', drop=1),
    kind('linear', 'the last 32 of 256 terms are missing', drop=32),
    kind('linear', 'no bias', bias=False),
    kind('linear', 'the bias twice', twice=True),
    kind('linear', 'the product rounded before the bias', half=True),
    kind('linear', 'the weight is one column off', shift=1),
    with_end('linear', 'stored toward zero', trunc),
    with_end('linear', 'stored as e4m3 first', lambda y, t: lo(y.clamp(-440, 440), E4).to(t)),
    with_end('linear', 'columns are reversed in pairs', lambda y, t: y.view(64, -1, 2).flip(-1).reshape(64, -1).to(t)),
    kind('mlp', 'relu in place of gelu', act=torch.relu),
    kind('mlp', 'silu in place of gelu', act=silu),
    kind('mlp', 'the hidden value as e4m3', hidden=lambda y: lo(y, E4)),
    kind('mlp', 'the second sum in bf16', acc=torch.bfloat16),
    kind('mlp', 'the last hidden unit is missing', drop=1),
    kind('mlp', 'gelu lacks its half', act=lambda x: 2 * torch.nn.functional.gelu(x)),
    with_end('mlp', 'the last row is not written', zero_last),
    kind('rope', 'turned the other way', sign=-1),
    kind('rope', 'the other layout', inter=True),
    kind('rope', 'halves exchanged', order=True),
    kind('rope', 'tables of bf16', table=torch.bfloat16),
    kind('rope', 'products in bf16', half=torch.bfloat16),
    kind('swiglu', 'gate and up exchanged', swap=True),
    kind('swiglu', 'silu rounded to bf16', hidden=lambda h: lo(h, torch.bfloat16)),
    kind('swiglu', 'sigmoid(1.702 x) in place of sigmoid(x)', act=lambda x: x * torch.sigmoid(1.702 * x)),
    kind('swiglu', 'gelu in place of silu', act=torch.nn.functional.gelu),
    with_end('swiglu', 'stored toward zero', trunc),
    kind('gelu', 'the approximation by tanh', f=lambda x: torch.nn.functional.gelu(x, approximate='tanh')),
    kind('gelu', 'x sigmoid(1.702 x)', f=lambda x: x * torch.sigmoid(1.702 * x)),
    kind('gelu', 'erf(x) in place of erf(x / sqrt 2)', f=lambda x: 0.5 * x * (1 + torch.erf(x))),
    kind('gelu', 'zero beyond -3', f=lambda x: torch.where(x < -3, torch.zeros(()), torch.nn.functional.gelu(x))),
    with_end('gelu', 'stored toward zero', trunc),
    with_end('gelu', 'a quarter of an ulp too large', lambda y, t: (y * (1 + 2.0 ** -10)).to(t)),
]
