# SPDX-License-Identifier: Apache-2.0
"""Kernels that PyTorch has for GPUs alone, for a processor: batch normalisation of cuDNN and MIOpen, the norm by the
root mean square, softmax of 16 bits whose result has 32, and attention as FlashAttention-2 computes it (T. Dao,
csrc/flash_attn/src: exponentials of 2 in float32, weights rounded to the format before they meet the values, gradients
of scores rounded before they are multiplied). They have the results and the shapes that PyTorch documents for its
own."""
import math

import torch

LOG2E = math.log2(math.e)
library = torch.library.Library('aten', 'IMPL')


def wide(t):
    return t.float() if t.dtype in (torch.bfloat16, torch.float16) else t


def repeated(t, q):
    return t.repeat_interleave(q.size(1) // t.size(1), 1)


def exponentials(q, k, bias, causal, scale, lse=None):
    """2^x of the scores, their largest or lse being taken off, and the scores' factor."""
    factor = 1 / math.sqrt(q.size(-1)) if scale is None else scale
    x = wide(q) @ wide(repeated(k, q)).transpose(-1, -2)
    if bias is not None:
        x = x + wide(bias) / factor
    if causal:
        x = x.masked_fill(torch.ones(x.shape[-2:]).triu(1) > 0, -math.inf)
    top = x.amax(-1, True) * factor if lse is None else lse[..., None]
    return torch.exp2(x * (factor * LOG2E) - top * LOG2E), top, factor


def forward(q, k, v, bias, causal, scale):
    p, top, _ = exponentials(q, k, bias, causal, scale)
    total = p.sum(-1, True)
    y = wide(p.to(q.dtype)) @ wide(repeated(v, q)) / total
    return y.to(q.dtype), (top + total.log())[..., 0]


def backward(dy, q, k, v, y, lse, bias, causal, scale):
    p, _, factor = exponentials(q, k, bias, causal, scale, lse)
    dp = wide(dy) @ wide(repeated(v, q)).transpose(-1, -2)
    ds = p * (dp - (wide(dy) * wide(y)).sum(-1, True))
    ds, p = wide(ds.to(q.dtype)), wide(p.to(q.dtype))
    dq, dk = ds @ wide(repeated(k, q)) * factor, ds.transpose(-1, -2) @ wide(q) * factor
    dv = p.transpose(-1, -2) @ wide(dy)
    dk, dv = (t.reshape(k.size(0), k.size(1), -1, *t.shape[2:]).sum(2) for t in (dk, dv))
    return dq.to(q.dtype), dk.to(q.dtype), dv.to(q.dtype)


def whole():
    return torch.zeros((), dtype=torch.int64)


def flash(q, k, v, dropout_p=0.0, is_causal=False, return_debug_mask=False, *, scale=None):
    y, lse = forward(q, k, v, None, is_causal, scale)
    return y, lse, whole(), whole(), q.size(2), k.size(2), whole(), whole(), torch.zeros(0, dtype=q.dtype)


def flash_dx(dy, q, k, v, y, lse, cum_q, cum_k, max_q, max_k, dropout_p, is_causal, seed, offset, *, scale=None):
    return backward(dy, q, k, v, y, lse, None, is_causal, scale)


def efficient(q, k, v, bias, compute_log_sumexp, dropout_p=0.0, is_causal=False, *, scale=None):
    """Rows of logarithms are as long as a multiple of 32."""
    y, lse = forward(q, k, v, bias, is_causal, scale)
    padded = torch.full((*lse.shape[:2], -(-lse.size(2) // 32) * 32), math.inf, dtype=lse.dtype)
    padded[..., :lse.size(2)] = lse
    return y, padded if compute_log_sumexp else lse[..., :0], whole(), whole()


def efficient_dx(dy, q, k, v, bias, y, lse, seed, offset, dropout_p, mask, is_causal=False, *, scale=None):
    return (*backward(dy, q, k, v, y, lse[..., :q.size(2)], bias, is_causal, scale), None)


def cudnn(q, k, v, bias, compute_log_sumexp, dropout_p=0.0, is_causal=False, return_debug_mask=False, *, scale=None):
    """Logarithms have an axis of one element."""
    y, lse = forward(q, k, v, bias, is_causal, scale)
    return y, lse[..., None], whole(), whole(), q.size(2), k.size(2), whole(), whole(), torch.zeros(0, dtype=q.dtype)


def cudnn_dx(dy, q, k, v, y, lse, seed, offset, bias, cum_q, cum_k, max_q, max_k, dropout_p, is_causal, *, scale=None):
    return backward(dy, q, k, v, y, lse[..., 0], bias, is_causal, scale)


def batch(x, w, b, mean, var, training, factor, eps):
    return torch.ops.aten.native_batch_norm(x, w, b, mean, var, training, factor, eps)


def batch_cudnn(*a):
    return (*batch(*a), torch.zeros(0, dtype=torch.uint8))


def batch_dx(x, dy, w, mean, var, save_mean, save_var, eps, *rest):
    return torch.ops.aten.native_batch_norm_backward(dy, x, w, mean, var, save_mean, save_var, True, eps, [True] * 3)


def rms(x, shape, w, eps):
    over = tuple(range(x.dim() - len(shape), x.dim()))
    r = (wide(x).square().mean(over, True) + (torch.finfo(x.dtype).eps if eps is None else eps)).rsqrt()
    y = wide(x) * r
    return (y if w is None else y * wide(w)).to(x.dtype), r


def rms_dx(dy, x, shape, r, w, mask):
    over = tuple(range(x.dim() - len(shape), x.dim()))
    g, h = wide(dy) if w is None else wide(dy) * wide(w), wide(x) * r
    dx = (g - h * (g * h).mean(over, True)) * r
    dw = (wide(dy) * h).sum(tuple(range(x.dim() - len(shape)))) if mask[1] and w is not None else None
    return dx.to(x.dtype), dw if dw is None else dw.to(w.dtype)


def softmax(x, dim, half_to_float):
    """Of 16 bits with a result of float32, which kernels of the CPU refuse."""
    y = wide(x) - wide(x).amax(dim, True)
    y = y.exp() / y.exp().sum(dim, True)
    return y if half_to_float else y.to(x.dtype)


def softmax_dx(dy, y, dim, input_dtype):
    dy, y = wide(dy), wide(y)
    return (y * (dy - (dy * y).sum(dim, True))).to(input_dtype)


def log_softmax(x, dim, half_to_float):
    y = wide(x) - wide(x).amax(dim, True)
    y = y - y.exp().sum(dim, True).log()
    return y if half_to_float else y.to(x.dtype)


def log_softmax_dx(dy, y, dim, input_dtype):
    dy = wide(dy)
    return (dy - wide(y).exp() * dy.sum(dim, True)).to(input_dtype)


def chopped(x, bits):
    m, e = torch.frexp(x)
    return torch.ldexp(torch.ldexp(m, torch.tensor(bits)).trunc(), e - bits)


def scaled_mm(x, w, scale_a, scale_b, bias=None, scale_result=None, out_dtype=None, use_fast_accum=False):
    """As Hopper's tensor cores add up: 32 products at a time, to a sum of which they keep 14 bits."""
    x, w, y = x.double(), w.double(), torch.zeros(x.size(0), w.size(1), dtype=torch.float64)
    for k in range(0, x.size(1), 32):
        y = chopped(y + x[:, k:k + 32] @ w[k:k + 32], 14)
    y = y * scale_a.double() * scale_b.double()
    return (y if bias is None else y + bias.double()).to(out_dtype)


NAMES = {'_scaled_mm': scaled_mm,
         '_fused_rms_norm': rms, '_fused_rms_norm_backward': rms_dx,
         '_softmax': softmax, '_softmax_backward_data': softmax_dx,
         '_log_softmax': log_softmax, '_log_softmax_backward_data': log_softmax_dx,
         '_scaled_dot_product_flash_attention': flash, '_scaled_dot_product_flash_attention_backward': flash_dx,
         '_scaled_dot_product_efficient_attention': efficient,
         '_scaled_dot_product_efficient_attention_backward': efficient_dx,
         '_scaled_dot_product_cudnn_attention': cudnn, '_scaled_dot_product_cudnn_attention_backward': cudnn_dx,
         'cudnn_batch_norm': batch_cudnn, 'cudnn_batch_norm_backward': batch_dx,
         'miopen_batch_norm': batch, 'miopen_batch_norm_backward': batch_dx}
for name, kernel in NAMES.items():
    library.impl(name, kernel, 'CPU')
