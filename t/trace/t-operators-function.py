# SPDX-License-Identifier: Apache-2.0
"""Elementary functions and activations that are a formula of several calls as the recorder has them (operators.py says
how they are judged)."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from operators import Row, between, fixed, given, judge, normal, positive, torch  # noqa: E402
from tap import finish, home  # noqa: E402

os.chdir(home())
F = torch.nn.functional
x, p, b = normal(7, 12), positive(7, 12), between(7, 12)
wide = lambda g: torch.randn(7, 12, generator=g) * 8  # noqa: E731
ROWS = [
    Row('exp2', torch.exp2, x),
    Row('log2', torch.log2, p),
    Row('log10', torch.log10, p),
    Row('tan', torch.tan, x),
    Row('atan2', torch.atan2, x, x),
    Row('atan2_far', torch.atan2, wide, p),
    Row('inverse', lambda x, b: (torch.atan(x), torch.asin(b * 0.875), torch.acos(0.875 - b)), wide, b),
    Row('roots', lambda x: (torch.asin(x), torch.asinh(x), torch.acosh(x + 1)), between(4096), compared=False),
    Row('roots_of_some', lambda x: torch.rsqrt(x), normal(64), compared=False),      # of others they are NaN
    Row('erfc', lambda x: torch.erfc(x), x),
    Row('entropy', lambda x: torch.special.entr(x), b),
    Row('entropy_of_none', lambda x: torch.special.entr(x), given(0.0, 0.25, 1.0, dtype=torch.float32), grad=False),
    Row('xlog1py', lambda x, y: torch.special.xlog1py(x, y), x, p),
    Row('ldexp', lambda x: torch.ldexp(x, torch.tensor([3, -2, 0, 1] * 3)), normal(7, 12)),
    Row('heaviside', lambda x, y: torch.heaviside(x.round(), y), x, fixed(x), grad=False),
    Row('hyperbolic', lambda x: (torch.sinh(x), torch.cosh(x)), wide),
    Row('asinh', torch.asinh, wide),
    Row('acosh', lambda x: torch.acosh(x + 1.5), p),
    Row('atanh', lambda x: torch.atanh(x * 0.875), b),
    Row('hypot', torch.hypot, x, x),
    Row('logaddexp', torch.logaddexp, x, x),
    Row('copysign', torch.copysign, x, x),
    Row('fmax', lambda x, y: (torch.fmax(x, y), torch.fmin(x, y)), x, x, grad=False),
    Row('whole_parts', lambda x: (torch.trunc(x), torch.frac(x)), wide),
    Row('fmod', lambda x: (torch.fmod(x, 0.75), torch.remainder(x, 0.75), torch.remainder(x, -1.5)), wide),
    Row('quotients', lambda x, y: (torch.div(x, y, rounding_mode='floor'), torch.div(x, y, rounding_mode='trunc')),
        wide, p, grad=False),
    Row('logit', torch.logit, b),
    Row('logit_eps', lambda x: torch.logit(x, 0.125), b),
    Row('threshold', lambda x: F.threshold(x, 0.25, -0.5), x),
    Row('shrink', lambda x: (F.softshrink(x, 0.25), F.hardshrink(x, 0.375)), x),
    # what is drawn in float64 is not what is drawn in fp32
    Row('rrelu', lambda x: F.rrelu(x, 0.125, 0.375, True), x, formats=('fp32',), compared=False),
    Row('rrelu_eval', lambda x: F.rrelu(x, 0.125, 0.375), x),
    Row('celu_factor', lambda x: F.celu(x, 2.0), x),
    Row('celu_in_place', lambda x: F.celu(x * 2, 0.75, True), x),
    Row('elu_in_place', lambda x: F.elu(x * 2, 0.75, True), x),
    Row('softplus_steep', lambda x: F.softplus(x, 2.0), x),
    Row('softplus_threshold', lambda x: F.softplus(x, 4.0, 2.0), x),
    Row('sinc', torch.sinc, x, grad=False),
]
judge('function', ROWS)
finish()
