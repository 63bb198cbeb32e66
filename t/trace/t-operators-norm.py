# SPDX-License-Identifier: Apache-2.0
"""Normalisations, variances and their gradients as the recorder has them (operators.py says how they are judged)."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from operators import Row, fixed, judge, normal, positive, torch  # noqa: E402
from tap import finish, home  # noqa: E402

os.chdir(home())
F = torch.nn.functional
w6, b6 = normal(6), normal(6)


def batch(training, *shape, **how):
    def f(x, w, b, m, v):
        m, v = m.clone(), v.clone()
        y = F.batch_norm(x, m, v, w, b, training, 0.125, 1e-3)
        return y, m, v
    return f, normal(*shape), w6, b6, fixed(normal(6)), fixed(positive(6))


def two(last, turn):
    """The statistics of two rows whose elements are so near each other that the rounding of their mean to 16 bits is a
    good part of their variance, which some of PyTorch's kernels take about the rounded mean."""
    def f(x, w, b, m, v):
        m, v = m.clone(), v.clone() * 2.0 ** -10
        x = torch.stack([x, x], 0)
        x = x + torch.tensor([0.0, 2.0 ** -7]).to(x.dtype)[:, None]
        x = turn(x.reshape(2, 6, *last))
        return torch.ops.aten.native_batch_norm(x, w, b, m, v, True, 0.5, 1e-5)[1:] + (m, v)
    return f, lambda g: torch.rand(6, generator=g) + 1, w6, b6, fixed(normal(6)), fixed(positive(6))


# In 16 bits PyTorch's kernel sums the gradients of a layer norm's parameters in the format of its input (doc/torch.md has
# an example); rows with them are in fp32 alone.
ROWS = [
    Row('batch_rows', *batch(True, 9, 6)),
    Row('batch_sequence', *batch(True, 4, 6, 5)),
    Row('batch_images', *batch(True, 3, 6, 4, 5)),
    Row('batch_volumes', *batch(True, 2, 6, 3, 4, 2)),
    Row('batch_two', *two((), lambda x: x), grad=False),
    Row('batch_two_strided', *two((), lambda x: torch.stack([x, x], -1)[..., 0]), grad=False),
    Row('batch_two_images', *two((1, 1), lambda x: x.contiguous(memory_format=torch.channels_last)), grad=False),
    Row('batch_eval', *batch(False, 3, 6, 4, 5)),
    Row('batch_plain', lambda x: F.batch_norm(x, None, None, training=True), normal(3, 6, 4, 5)),
    Row('instance', lambda x, w, b: F.instance_norm(x, weight=w, bias=b), normal(2, 6, 4, 5), w6, b6),
    Row('layer', lambda x, w, b: F.layer_norm(x, (6,), w, b), normal(3, 5, 6), w6, b6, formats=('fp32',)),
    Row('layer_plain', lambda x: F.layer_norm(x, (6,)), normal(3, 5, 6)),
    Row('layer_axes', lambda x, w, b: F.layer_norm(x, (5, 6), w, b), normal(4, 5, 6), normal(5, 6), normal(5, 6),
        formats=('fp32',)),
    Row('layer_fixed', lambda x, w, b: F.layer_norm(x, (6,), w, b), normal(3, 5, 6), fixed(w6), fixed(b6)),
    Row('layer_input_fixed', lambda x, w, b: F.layer_norm(x, (6,), w, b), fixed(normal(3, 5, 6)), w6, b6,
        formats=('fp32',)),
    Row('group', lambda x, w, b: F.group_norm(x, 3, w, b), normal(2, 6, 4, 5), w6, b6),
    Row('group_sequence', lambda x, w, b: F.group_norm(x, 2, w, b), normal(3, 6, 7), w6, b6),
    Row('group_plain', lambda x: F.group_norm(x, 1), normal(2, 6, 4)),
    Row('group_rows', lambda x, w, b: F.group_norm(x, 2, w, b), normal(5, 6), w6, b6),
    Row('rms', lambda x, w: F.rms_norm(x, (6,), w, 2.0 ** -10), normal(3, 5, 6), w6),
    Row('var', lambda x: (x.var(), x.var(1), x.var((0, 2), correction=0, keepdim=True)), normal(4, 5, 6)),
    Row('std', lambda x: (x.std(), x.std(1), x.std((0, 2), correction=0, keepdim=True)), normal(4, 5, 6)),
    Row('var_mean', lambda x: torch.var_mean(x, 1) + torch.std_mean(x, 0), normal(4, 5, 6), grad=False),
    Row('weight_norm', lambda v, g: torch._weight_norm(v, g, 0), normal(5, 6), positive(5, 1)),
    Row('weight_norm_images', lambda v, g: torch._weight_norm(v, g, 1), normal(3, 4, 2, 2), positive(1, 4, 1, 1)),
    Row('bilinear', lambda x, y, w: F.bilinear(x, y, w), normal(4, 6), normal(4, 5), normal(3, 6, 5)),
]
judge('norm', ROWS)
finish()
