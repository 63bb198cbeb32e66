# SPDX-License-Identifier: Apache-2.0
# The rules by which kernels are accepted today, each as it is in its source; a rule returns whether it accepts.
# KernelBench and flash-attention compare with PyTorch's own result in the same type, and in fp32.
import torch


def assert_close(got, low, high):
    try:
        torch.testing.assert_close(got, low)
        return True
    except AssertionError:
        return False


def allclose(got, low, high):
    return torch.allclose(got.float(), low.float(), rtol=1e-2, atol=1e-2)


def kernelbench(got, low, high):
    e = 1e-4 if got.dtype == torch.float32 else 1e-2
    return torch.allclose(got.float(), low.float(), rtol=e, atol=e)


def flash_attention(got, low, high):
    return bool((got.float() - high).abs().max() <= 2 * (low.float() - high).abs().max() + 1e-5)


RULES = {'assert_close': assert_close, 'allclose 1e-2': allclose, 'KernelBench': kernelbench,
         'flash-attention': flash_attention}


def references(kernel, o):
    """PyTorch's result in the operands' type, and in fp32."""
    F = torch.nn.functional
    up = {k: v.float() for k, v in o.items()}

    def of(o):
        if kernel == 'softmax':
            return torch.softmax(o['x'], -1)
        if kernel.startswith('rmsnorm'):
            x = o['x'] + o['residual'] if 'residual' in o else o['x']
            return F.rms_norm(x, x.shape[-1:], o['w'], 1e-6)
        if kernel == 'layernorm':
            return F.layer_norm(o['x'], o['x'].shape[-1:], o['w'], o['b'])
        if kernel in ('attention', 'causal'):
            return F.scaled_dot_product_attention(o['q'], o['k'], o['v'], is_causal=kernel == 'causal')
        if kernel == 'linear':
            return F.linear(o['x'], o['w'], o['b'])
        if kernel == 'mlp':
            return F.gelu(o['x'] @ o['w1']) @ o['w2']
        if kernel == 'rope':
            n = o['x'].shape[-1] // 2
            c, s = o['cos'].to(o['x'].dtype), o['sin'].to(o['x'].dtype)
            a, b = o['x'][..., :n], o['x'][..., n:]
            return torch.cat([a * c - b * s, b * c + a * s], -1)
        if kernel == 'swiglu':
            return F.silu(o['gate']) * o['up']
        return F.gelu(o['x'])
    return of(o), of(up)
