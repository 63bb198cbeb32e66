# SPDX-License-Identifier: Apache-2.0
# Radii against the arithmetic itself: operands are stored in a narrow format, so that they have radii; a result that
# PyTorch computes in float64, from operands moved by up to these radii, must be within the bound; and the exact values
# against float64. tests(n) yields (name, (elements beyond, elements, exact values, without bound), wanted).
import json
import os
import subprocess
import tempfile

import numpy as np
import torch

f64 = torch.float64
HALFULP = os.path.abspath(os.environ.get('HALFULP', './halfulp'))


def erfc_gelu(x):
    return 0.5 * x * torch.special.erfc(-x * 0.5 ** 0.5)


def gelu_tanh(x):
    return x * torch.sigmoid(2 * (2 / torch.pi) ** 0.5 * (x + 0.044715 * x ** 3))


F = torch.nn.functional
# operator: function, and the range of operands
ONE = {'exp': (torch.exp, -8, 8), 'log': (torch.log, 0.1, 30), 'sqrt': (torch.sqrt, 0.1, 30),
       'rsqrt': (torch.rsqrt, 0.1, 30),
       'reciprocal': (torch.reciprocal, 0.5, 8), 'square': (lambda x: x * x, -8, 8), 'sigmoid': (torch.sigmoid, -9, 9),
       'tanh': (torch.tanh, -4, 4), 'erf': (torch.erf, -4, 4), 'gelu': (erfc_gelu, -6, 6),
       'gelu_tanh': (gelu_tanh, -6, 6),
       'silu': (lambda x: x * torch.sigmoid(x), -9, 9), 'softplus': (lambda x: torch.log1p(torch.exp(x)), -9, 9),
       'mish': (lambda x: x * torch.tanh(torch.log1p(torch.exp(x))), -9, 9), 'sin': (torch.sin, -9, 9),
       'cos': (torch.cos, -9, 9), 'relu': (torch.relu, -2, 2), 'abs': (torch.abs, -2, 2), 'neg': (torch.neg, -2, 2),
       'elu': (F.elu, -4, 4), 'selu': (F.selu, -4, 4), 'softsign': (F.softsign, -4, 4),
       'hardtanh': (F.hardtanh, -3, 3),
       'hardsigmoid': (F.hardsigmoid, -5, 5), 'hardswish': (F.hardswish, -5, 5), 'exp2': (torch.exp2, -8, 8)}
TWO = {'add': torch.add, 'sub': torch.sub, 'mul': torch.mul, 'div': torch.div, 'max': torch.maximum,
       'min': torch.minimum}
ROWS = {'softmax(h)': lambda x: torch.softmax(x, -1), 'log_softmax(h)': lambda x: torch.log_softmax(x, -1),
        'logsumexp(h)': lambda x: torch.logsumexp(x, -1), 'sum(h)': lambda x: x.sum(-1),
        'mean(h)': lambda x: x.mean(-1),
        'sum_abs(h)': lambda x: x.abs().sum(-1), 'sum_squares(h)': lambda x: (x * x).sum(-1),
        'norm2(h)': lambda x: x.norm(dim=-1), 'reduce_max(h)': lambda x: x.amax(-1),
        'reduce_min(h)': lambda x: x.amin(-1),
        'rmsnorm(h, eps=1e-5)': lambda x: x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-5),
        'layernorm(h, eps=1e-5)': lambda x: F.layer_norm(x, x.shape[-1:], eps=1e-5),
        'cumsum(h)': lambda x: torch.cumsum(x, -1), 'cumprod(h)': lambda x: torch.cumprod(x, -1),
        'prod(h)': lambda x: x.prod(-1), 'clip(h, low=-1, high=2)': lambda x: x.clamp(-1, 2)}


def run(graph, arrays, got):
    """How many elements of GOT are beyond the bound, of how many; the program's exact values."""
    with tempfile.TemporaryDirectory() as d:
        words = [HALFULP, 'judge', graph, '--got', d + '/got.npy', '--exact', d + '/e.npy', '--no-culprit', '--set',
                 'out=fp64']
        np.save(d + '/got.npy', got.numpy())
        for name, a in arrays.items():
            np.save('%s/%s.npy' % (d, name), a.numpy())
            words += ['--in', '%s=%s/%s.npy' % (name, d, name)]
        p = subprocess.run(words + ['--json'], capture_output=True, text=True)
        if not p.stdout:
            raise ValueError(p.stderr)
        r = json.loads(p.stdout)['results'][0]
        return r['beyond_proven'], r['elements'], torch.from_numpy(np.load(d + '/e.npy')), r['without_bound']


def moved(x, g, form):
    """x moved by up to half an ulp of the format at its magnitude: to an end, or anywhere."""
    bits = {'e4m3': 4, 'bf16': 8}[form]
    low = {'e4m3': -6, 'bf16': -126}[form]
    half = 2.0 ** (torch.floor(torch.log2(x.abs().clamp(min=1e-300))).clamp(min=low) - bits)
    where = torch.rand(x.shape, generator=g, dtype=f64) * 2 - 1
    ends = torch.rand(x.shape, generator=g) < 0.5
    return x + torch.where(ends, torch.sign(where), where) * half * (1 - 2 ** -30)


def tests(n, form='e4m3', seed=1):
    g = torch.Generator().manual_seed(seed)

    def draw(low, high, *shape):
        return torch.rand(*shape, generator=g, dtype=f64) * (high - low) + low
    for name, (f, low, high) in ONE.items():
        x = draw(low, high, n)
        yield name, run('h = store(x, to=%s); y = %s(h)' % (form, name), dict(x=x), f(moved(x, g, form))), f(x)
    for name, f in TWO.items():
        x, z = draw(-4, 4, n), draw(1, 4, n)
        graph = 'h = store(x, to=%s); k = store(z, to=%s); y = %s(h, k)' % (form, form, name)
        yield name, run(graph, dict(x=x, z=z), f(moved(x, g, form), moved(z, g, form))), f(x, z)
    for e in (2.0, 3.0, -1.0, 0.5, 2.5):
        x = draw(0.5, 3, n)
        yield 'pow %g' % e, run('h = store(x, to=%s); y = pow(h, e)' % form,
                dict(x=x, e=torch.full((1,), e, dtype=f64)),
                                moved(x, g, form) ** e), x ** e
    x, z = draw(-4, 4, n), draw(-4, 4, n)
    graph = 'h = store(x, to=%s); k = store(z, to=%s); c = less(h, k); y = where(c, h, k)' % (form, form)
    yield 'where', run(graph, dict(x=x, z=z), torch.minimum(moved(x, g, form), moved(z, g, form))), torch.minimum(x, z)
    for call, f in ROWS.items():
        x = draw(0.5, 1.5, n // 16, 16) if 'prod' in call else draw(-4, 4, n // 16, 16)
        yield call, run('h = store(x, to=%s); y = %s' % (form, call), dict(x=x), f(moved(x, g, form))), f(x)
    x, w = draw(-2, 2, n // 32, 32), draw(-2, 2, 32, 8)
    graph = 'h = store(x, to=%s); k = store(w, to=%s); y = matmul(h, k)' % (form, form)
    yield 'matmul', run(graph, dict(x=x, w=w), moved(x, g, form) @ moved(w, g, form)), x @ w
    q, k, v = (draw(-2, 2, 2, 2, n // 512 + 8, 8) for _ in range(3))
    graph = 'a = store(q, to=%s); b = store(k, to=%s); c = store(v, to=%s); y = attention(a, b, c)' % (form, form,
            form)
    attend = F.scaled_dot_product_attention
    yield 'attention', run(graph, dict(q=q, k=k, v=v), attend(*(moved(t, g, form) for t in (q, k, v)))), attend(q, k,
            v)
    a, b = draw(0.3, 0.9, 4, 24, n // 96), draw(-1, 1, 4, 24, n // 96)

    def scan(a, b):
        h, all_h = torch.zeros_like(a[:, 0]), []
        for t in range(a.shape[1]):
            h = a[:, t] * h + b[:, t]
            all_h.append(h)
        return torch.stack(all_h, 1)
    graph = 'd = store(a, to=%s); e = store(b, to=%s); y = recurrence(d, e, axis=1)' % (form, form)
    yield 'recurrence', run(graph, dict(a=a, b=b), scan(moved(a, g, form), moved(b, g, form))), scan(a, b)
