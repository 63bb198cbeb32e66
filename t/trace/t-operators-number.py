# SPDX-License-Identifier: Apache-2.0
"""Operators of tensors and numbers that no format of 16 bits holds. Some of PyTorch's kernels round the number to the
tensor's format before it takes part, and some do not (operators.py says how rows are judged)."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from operators import Row, fixed, judge, normal, positive, torch  # noqa: E402
from tap import finish, home  # noqa: E402

os.chdir(home())
F = torch.nn.functional
LOW = 'bf16', 'fp16'
C, THIRD = 0.7, 1 / 3


def scalar(t):
    """The number as a tensor without axes, of another format than the tensor beside it."""
    return torch.full((), C, dtype=torch.promote_types(t.dtype, torch.float32))


def wide(t):
    return t.to(torch.promote_types(t.dtype, torch.float32))


def near(g):
    """Normally distributed numbers, and those beside numbers that a format of 16 bits rounds up or down, which is
    what these operators may compare with."""
    beside = torch.tensor(ENDS)[:, None] * (1 + torch.arange(-8, 9) * 2.0 ** -11)
    return torch.cat([torch.randn(300, generator=g), beside.flatten(), -beside.flatten()])


n = (9, 40)
# where PyTorch rounds the number into a tensor of its own, the exact step has the rounded number, too:
# such rows are not compared
ENDS = 0.7, 0.3, 1.1
x, p = normal(*n), positive(*n)
ROWS = [
    Row('number_alpha', lambda x: (torch.add(x, C, alpha=3), torch.sub(x, C, alpha=0.3)), x),
    Row('mul', lambda x: x * C, x), Row('mul_zero_axes', lambda x: x * scalar(x), x, grad=False),
    Row('div', lambda x: x / C, x), Row('div_zero_axes', lambda x: x / scalar(x), x, grad=False),
    Row('div_number', lambda x: C / x, p),
    Row('mul_zero_axes_first', lambda x: scalar(x) * x, x, grad=False),
    Row('div_zero_axes_first', lambda x: scalar(x) / x, p, grad=False),
    Row('temperature', lambda x, t: [wide(t).exp() * x, x * wide(t).exp(), x / wide(t).exp()], x,
        lambda g: torch.tensor(2.625), compared=False),
    Row('addcmul_zero_axes', lambda x: torch.addcmul(x, scalar(x), x) + torch.addcmul(x, x, scalar(x)), x, grad=False),
    Row('addcdiv_zero_axes', lambda x: torch.addcdiv(x, scalar(x), x) + torch.addcdiv(x, x, scalar(x)), p, grad=False),
    Row('where_zero_axes', lambda x: torch.where(x > 0, scalar(x), x), x, grad=False, compared=False),
    Row('functions_zero_axes', lambda x: [torch.atan2(scalar(x), x), torch.atan2(x, scalar(x)),
        torch.hypot(x, scalar(x)), torch.logaddexp(scalar(x), x)], p, grad=False),
    Row('add', lambda x: x + C, x), Row('add_zero_axes', lambda x: x + scalar(x), x, grad=False),
    Row('sub', lambda x: x - C, x), Row('rsub', lambda x: C - x, x),
    Row('sub_zero_axes', lambda x: x - scalar(x), x, grad=False),
    Row('rsub_zero_axes', lambda x: scalar(x) - x, x, grad=False),
    Row('add_alpha', lambda x, y: torch.add(x, y, alpha=C), x, x),
    Row('sub_alpha', lambda x, y: torch.sub(x, y, alpha=C), x, x),
    Row('addcmul', lambda x, y, z: torch.addcmul(x, y, z, value=C), x, x, x),
    Row('addcdiv', lambda x, y, z: torch.addcdiv(x, y, z, value=C), x, x, p, grad=False),
    Row('lerp', lambda x, y: torch.lerp(x, y, C), x, x),
    Row('pow', lambda x: x ** C, p), Row('pow_third', lambda x: x ** THIRD, p),
    Row('pow_less', lambda x: (x + 1) ** -THIRD, p), Row('pow_base', lambda x: C ** x, x, grad=False),
    Row('pow_zero_axes', lambda x: x ** scalar(x), p, grad=False),
    Row('clamp', lambda x: x.clamp(-C, C), x), Row('clamp_low', lambda x: x.clamp_min(C), x),
    Row('maximum_zero_axes', lambda x: torch.maximum(x, scalar(x)), x, grad=False),
    Row('leaky_relu', lambda x: F.leaky_relu(x, C), x), Row('elu', lambda x: F.elu(x, C), x),
    Row('celu', lambda x: F.celu(x, C), x), Row('softplus', lambda x: F.softplus(x, C), x),
    Row('hardtanh', lambda x: F.hardtanh(x, -C, C), x), Row('threshold', lambda x: F.threshold(x, C, C), x),
    Row('hardshrink', lambda x: F.hardshrink(x, C), x), Row('softshrink', lambda x: F.softshrink(x, C), x),
    Row('masked_fill', lambda x: x.masked_fill(x > 0, C), x), Row('where', lambda x: torch.where(x > 0, x, C), x, compared=False),
    # the exact step takes PyTorch's whole quotient, which the rounded number may change
    Row('fmod', lambda x: torch.fmod(x, C), x, grad=False, compared=False),
    Row('remainder', lambda x: x % C, x, grad=False, compared=False),
    Row('compare', lambda x: torch.where(x >= C, x, 0) + torch.where(x < -C, x, 0), x, compared=False),
    Row('xlogy', lambda x: torch.xlogy(x, C), x, grad=False),
    Row('xlogy_number', lambda x: torch.xlogy(C, x), p, grad=False),
    Row('huber', lambda x, y: F.huber_loss(x, y, delta=C), x, x),
    Row('smooth_l1', lambda x, y: F.smooth_l1_loss(x, y, beta=C), x, x),
    Row('hardtanh_ends', lambda x: [F.hardtanh(x, -c, c) for c in ENDS], near, compared=False),
    Row('threshold_ends', lambda x: [F.threshold(x, c, c) for c in ENDS], near, compared=False),
    Row('hardshrink_ends', lambda x: [F.hardshrink(x, c) for c in ENDS], near, compared=False),
    Row('softshrink_ends', lambda x: [F.softshrink(x, c) for c in ENDS], near, compared=False),
    Row('clamp_ends', lambda x: [x.clamp(-c, c) for c in ENDS], near, compared=False),
    Row('huber_ends', lambda x: [F.huber_loss(x, x.detach() * 0, delta=c) for c in ENDS], near, compared=False),
    Row('smooth_l1_ends', lambda x: [F.smooth_l1_loss(x, x.detach() * 0, beta=c) for c in ENDS], near, compared=False),
    Row('foreach', lambda x, y: torch._foreach_mul([x, y], C) + torch._foreach_div([x, y], C) +
        torch._foreach_add([x, y], C) + torch._foreach_pow([x, y], C) + torch._foreach_lerp([x, y], [y, x], C) +
        torch._foreach_addcmul([x, y], [y, x], [x, y], C) + torch._foreach_addcdiv([x, y], [y, x], [x, y], C) +
        torch._foreach_add([x, y], [y, x], alpha=C), p, p, grad=False),
    Row('inplace', lambda x: x.clone().mul_(C).add_(C).div_(C).sub_(C), x, grad=False),
    Row('gelu', F.gelu, x), Row('logaddexp', torch.logaddexp, x, x),
]
for row in ROWS:
    row.formats = LOW
judge('number', ROWS)
# float32 does not hold these numbers either, which the exact step has as they are
judge('number_wide', [Row(r.name, r.f, *r.operands, formats=('fp32',), grad=r.grad, compared=False) for r in ROWS])
finish()
