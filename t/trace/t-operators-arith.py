# SPDX-License-Identifier: Apache-2.0
"""Operators of arithmetic, activations, reductions and comparisons as the recorder has them (operators.py says how they
are judged)."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from operators import Row, between, fixed, given, judge, normal, positive, torch, whole  # noqa: E402
from tap import finish, home  # noqa: E402

os.chdir(home())
F = torch.nn.functional


def foreach(f):
    """A function of lists that writes to copies of its first list's tensors."""
    def run(*x):
        own = [t.clone() for t in x]
        f(own)
        return own
    return run


n = (7, 12)
x, p = normal(*n), positive(*n)
masked = torch.tensor([[True] * 12] + [[False] * 11 + [True]] * 6)
ROWS = [
    Row('add_alpha', lambda x, y: torch.add(x, y, alpha=-1.5), x, x),
    Row('add_scalar', lambda x: x + 0.75, x),
    Row('add_rounded', lambda x: x + 0.30078125, x, grad=False),
    Row('sub_alpha', lambda x, y: torch.sub(x, y, alpha=0.375), x, normal(12)),
    Row('rsub', lambda x: 2.5 - x, x),
    Row('rsub_alpha', lambda x, y: torch.rsub(x, y, alpha=3), x, x),
    Row('addcmul', lambda x, y, z: torch.addcmul(x, y, z, value=-0.5), x, x, normal(12)),
    Row('addcdiv', lambda x, y, z: torch.addcdiv(x, y, z, value=0.75), x, x, p),
    Row('lerp_low', lambda x, y: torch.lerp(x, y, 0.25), x, x),
    Row('lerp_high', lambda x, y: torch.lerp(x, y, 0.875), x, x),
    Row('lerp_tensor', lambda x, y, w: torch.lerp(x, y, w), x, x, fixed(between(*n)), grad=False),
    Row('pow2', lambda x: x ** 2, x),
    Row('pow3', lambda x: x ** 3, x),
    Row('pow1', lambda x: x.pow(1) * 2, x),
    Row('pow_half', lambda x: x ** 0.5, p),
    Row('pow_less', lambda x: x ** -0.5 + x ** -1 + x ** 1.25, p),
    Row('pow_tensors', lambda x, y: x ** y, p, fixed(x)),
    Row('pow_base', lambda x: 2 ** x, x, grad=False),
    Row('sin_cos', lambda x: (torch.sin(x * 8), torch.cos(x * 8)), x),
    Row('logs', lambda x: (torch.log1p(x), torch.expm1(x)), p),
    Row('signs', lambda x: (torch.sign(x), torch.floor(x), torch.ceil(x), torch.round(x)), x, grad=False),
    Row('xlogy', lambda x, y: torch.xlogy(x, y), x, p, grad=False),
    Row('clamp', lambda x: x.clamp(-0.5, 1), x),
    Row('clamp_low', lambda x: x.clamp(min=0.25), x),
    Row('clamp_tensors', lambda x, a, b: x.clamp(a, b), x, fixed(lambda g: -torch.rand(12, generator=g)),
        fixed(between(12)), grad=False),
    Row('where', lambda x, y: torch.where(x > y, x, y * 2), x, x),
    Row('compare', lambda x, y: torch.where((x >= 0.5) & ~(y < x) | (x == y), x, y), x, x),
    Row('compare_ne', lambda x, y: torch.where((x != y) & (x <= 1), x, y), x, x),
    Row('leaky_relu', lambda x: F.leaky_relu(x, 0.125), x),
    Row('elu', lambda x: F.elu(x, 0.75), x),
    Row('selu', F.selu, x),
    Row('celu', F.celu, x),
    Row('softplus', F.softplus, x),
    Row('hardsigmoid', lambda x: F.hardsigmoid(x * 4), x, grad=False),
    # in float64 PyTorch's gradient has a sixth rounded to fp32
    Row('hardsigmoid_dx', lambda x: F.hardsigmoid(x * 4), x, compared=False),
    Row('hardswish', lambda x: F.hardswish(x * 4), x),
    Row('hardtanh', lambda x: F.hardtanh(x), x),
    Row('relu6', lambda x: F.relu6(x * 8), x),
    Row('prelu', lambda x, w: F.prelu(x, w), normal(4, 5, 6), normal(5)),
    Row('glu', lambda x: F.glu(x, 1), x, grad=False),
    # PyTorch rounds the gate to 16 bits before its gradient, which the exact step, having no such rounding, does not
    Row('glu_dx', lambda x: F.glu(x, 0), normal(6, 5)),
    Row('mul_whole', lambda x: x * 0.3, whole(900, *n), grad=False, compared=False),
    Row('addmm_factors', lambda c, x, y: torch.addmm(c, x, y, beta=0.375, alpha=-1.5), normal(7, 5), normal(7, 9),
        normal(9, 5)),
    Row('addmm_turned', lambda c, x, y: torch.addmm(c, x.t(), y.t(), beta=2, alpha=0.1), normal(5, 9), normal(6, 5),
        normal(9, 6)),
    Row('addmm_column', lambda c, x, y: torch.addmm(c, x, y), normal(5, 1), normal(5, 6), normal(6, 4)),
    Row('addmm_none', lambda c, x, y: torch.addmm(c, x, y, beta=0, alpha=0.75), normal(5, 4), normal(5, 6), normal(6, 4)),
    Row('baddbmm', lambda c, x, y: torch.baddbmm(c, x, y, beta=0.5, alpha=0.25), normal(3, 7, 5), normal(3, 7, 9),
        normal(3, 9, 5)),
    Row('addmv', lambda c, x, y: torch.addmv(c, x, y, beta=0.5, alpha=-0.25), normal(7), normal(7, 9), normal(9)),
    Row('norms_of_order', lambda x: (x.norm(3, 1), x.norm(1.5), torch.linalg.vector_norm(x, 4, 0, keepdim=True)), p),
    Row('log_sigmoid', F.logsigmoid, x),
    Row('mish', F.mish, x),
    Row('sum_axes', lambda x: x.sum((0, 2)), normal(4, 5, 6, 3)),
    Row('mean_keep', lambda x: x.mean((0, 2), keepdim=True) + x.mean(-1, keepdim=True), normal(4, 5, 6)),
    Row('sum_all', lambda x: x.sum() * x.mean(), normal(4, 5, 6)),
    Row('prod', lambda x: x.prod(1), p, grad=False),
    Row('amax', lambda x: (x.amax((0, 2)), x.amin(-1, keepdim=True)), normal(4, 5, 6)),
    Row('max_dim', lambda x: (x.max(1)[0], x.min(0)[0], x.max()), x, grad=False),
    Row('logsumexp', lambda x: x.logsumexp((0, 2)), normal(4, 5, 6)),
    Row('norms', lambda x: (x.norm(), x.norm(dim=1), torch.linalg.vector_norm(x, 1, 0), x.norm(float('inf'))), x),
    Row('normalize', lambda x: F.normalize(x), x),
    Row('cumsum', lambda x: (x.cumsum(0), x.cumsum(1), x.cumsum(-1)), normal(4, 5, 6), grad=False),
    Row('safe_softmax', lambda x: torch.ops.aten._safe_softmax(x.masked_fill(masked, -float('inf')), 1), x, grad=False),
    Row('foreach', foreach(lambda x: [torch._foreach_add_(x, 0.5), torch._foreach_mul_(x, [2.0, 0.75, 0.5]),
        torch._foreach_addcmul_(x, [t + 1 for t in x], [t * 2 for t in x], 0.5),
        torch._foreach_lerp_(x, [t * t for t in x], 0.25),
        torch._foreach_sub_(x, [t * t for t in x], alpha=0.5), torch._foreach_div_(x, 4.0)]), x, x,
        x, grad=False),
    Row('foreach_new', lambda x, y: torch._foreach_sqrt(torch._foreach_add([x, y], [y, x], alpha=0.5)) +
        torch._foreach_maximum([x, y], [y, x]) + torch._foreach_pow([x, y], 2.0), p, p, grad=False),
    Row('foreach_norm', lambda x, y: torch._foreach_norm([x, y]) + torch._foreach_norm([x, y], float('inf')), x,
        normal(5), grad=False),
    Row('inplace', lambda x, y: x.clone().mul_(y).add_(y, alpha=0.5).clamp_(-1, 1).addcdiv_(x, y, value=0.25), x,
        p, grad=False),
    Row('out', lambda x, y: torch.maximum(x, y, out=torch.empty_like(x)) + torch.add(x, y, out=torch.empty_like(x)),
        x, x, grad=False),
]
judge('arith', ROWS)
finish()
