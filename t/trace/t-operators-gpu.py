# SPDX-License-Identifier: Apache-2.0
"""Operators that PyTorch has for GPUs alone, as the recorder has them (operators.py says how they are judged), by
kernels for the processor that stand in for a GPU's (gpu.py): what these round, and the shapes of their results."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from operators import Row, fixed, judge, normal, positive, torch  # noqa: E402
import gpu  # noqa: E402, F401, which registers the kernels
from halfulp_trace.operators import scaled  # noqa: E402
from tap import finish, home  # noqa: E402

os.chdir(home())
aten = torch.ops.aten
q, k, v = normal(2, 4, 7, 8), normal(2, 4, 9, 8), normal(2, 4, 9, 8)
few = normal(2, 2, 9, 8)
long = normal(1, 2, 40, 16)
bias = fixed(normal(2, 4, 7, 9))
hidden = fixed(lambda g: torch.zeros(2, 4, 7, 9).masked_fill(torch.rand(2, 4, 7, 9, generator=g) > 0.75, -float('inf')))
w, b = normal(6), normal(6)


def flash(*x, causal=False, scale=None):
    return aten._scaled_dot_product_flash_attention(*x, 0.0, causal, scale=scale)[0]


def efficient(*x, causal=False, lse=True):
    return aten._scaled_dot_product_efficient_attention(*x[:3], x[3] if len(x) > 3 else None, lse, 0.0, causal)[0]


def cudnn(*x, causal=False):
    return aten._scaled_dot_product_cudnn_attention(*x[:3], x[3] if len(x) > 3 else None, True, 0.0, causal, False)[0]


def rms(*a):
    return aten._fused_rms_norm(*a)[0]


def eight_bits(x, w, a, b):
    """A product of matrices of 8 bits, which float64 has not."""
    if x.dtype == torch.float64:
        return x @ w * a * b
    y = x.to(torch.float8_e4m3fn), w.to(torch.float8_e4m3fn)
    return torch._scaled_mm(*y, scale_a=a.float(), scale_b=b.float(), out_dtype=x.dtype) * 2


scaled.in_float32 = lambda out: False


def batch(kernel, training):
    def f(x, w, b, m, v):
        m, v = m.clone(), v.clone()
        return kernel(x, w, b, m, v, training, 0.125, 1e-3)[0] * 1, m * 1, v * 1
    return f


moving = fixed(normal(6)), fixed(positive(6))
# bounds of sums of 14 bits are too wide for a kernel that is wrong by 2^-9
EIGHT = {'grad': False, 'compared': False, 'formats': ('bf16', 'fp16')}
WIDE = {'formats': ('fp32',)}
ROWS = [
    Row('flash', flash, q, k, v),
    Row('flash_scale', lambda *x: flash(*x, scale=0.125), q, k, v),
    Row('flash_causal', lambda *x: flash(*x, causal=True), long, long, long),
    Row('flash_shared', flash, q, few, few),
    Row('efficient', efficient, q, k, v),
    Row('efficient_bias', efficient, q, k, v, bias),
    Row('efficient_hidden', efficient, q, k, v, hidden),
    Row('efficient_causal', lambda *x: efficient(*x, causal=True), long, long, long),
    Row('efficient_alone', lambda *x: efficient(*x, lse=False), q, k, v, bias, grad=False),
    Row('cudnn', cudnn, q, k, v),
    Row('cudnn_bias', cudnn, q, k, v, bias),
    Row('cudnn_causal', lambda *x: cudnn(*x, causal=True), long, long, long),
    Row('rms', lambda x, w: rms(x, [6], w, 1e-5), normal(3, 5, 6), w),
    Row('rms_plain', lambda x: rms(x, [6], None, None), normal(3, 5, 6), compared=False),     # float64 has another eps
    Row('rms_axes', lambda x, w: rms(x, [5, 6], w, 2.0 ** -10), normal(4, 5, 6), normal(5, 6)),
    Row('rms_small', lambda x, w: rms(x * 2.0 ** -12, [64], w, 1e-6), normal(9, 64), normal(64)),
    Row('eight_bits', eight_bits, normal(16, 512), normal(512, 32), fixed(positive(1)), fixed(positive(1)),
        **EIGHT),
    Row('eight_bits_rows', eight_bits, positive(16, 512), positive(512, 32), fixed(positive(16, 1)),
        fixed(positive(1, 32)), **EIGHT),
    Row('softmax_wide', lambda x: aten._softmax(x, -1, x.element_size() == 2), normal(5, 12)),
    Row('log_softmax_wide', lambda x: aten._log_softmax(x, 1, x.element_size() == 2), normal(5, 12)),
    Row('batch_cudnn', batch(aten.cudnn_batch_norm, True), normal(3, 6, 4, 5), w, b, *moving, **WIDE),
    Row('batch_cudnn_rows', batch(aten.cudnn_batch_norm, True), normal(12, 6), w, b, *moving, **WIDE),
    Row('batch_cudnn_eval', batch(aten.cudnn_batch_norm, False), normal(3, 6, 4, 5), w, b, *moving, grad=False, **WIDE),
    Row('batch_miopen', batch(aten.miopen_batch_norm, True), normal(3, 6, 4, 5), w, b, *moving, **WIDE),
]
judge('gpu', ROWS)
finish()
