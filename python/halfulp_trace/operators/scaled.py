# SPDX-License-Identifier: Apache-2.0
"""Products of matrices of 8 bits with a scale for each matrix, or for each of its rows, as training in FP8 has them."""
import torch

from ..flat import reshaped
from ..formats import Unknown
from .granted import granted, wide
from .matmul import beside, matrix, product
from .operands import floats
from .table import operator

# Hopper's tensor cores add 32 products at a time to a sum of which they keep 14 bits (DeepSeek-AI, arXiv:2412.19437,
# section 3.3.2); other GPUs keep more.
GROUP, LOST = 32, 2.0 ** -13


def times(s, i, scale, axis):
    """Matrix i times its scale, or the scales of its rows (axis 0) or columns, exactly."""
    rows = s.values[i].shape
    shape = [1, 1]
    if scale.numel() != 1:
        if scale.numel() != rows[axis] or max(scale.shape) != scale.numel():
            raise Unknown("scales of blocks")
        shape[axis] = rows[axis]
    k = s.spread(reshaped(s, s.input(scale), tuple(shape)), tuple(rows))
    return wide(s, "mul", torch.mul, i, k)


def in_float32(out):
    """Whether the kernel that made out adds up in float32."""
    return out.device.type == "cpu"


@operator("_scaled_mm")
def scaled_mm(s, a, out):
    x, w, bias = a["self"], a["mat2"], a["bias"]
    if a["scale_a"].dtype != torch.float32 or a["scale_b"].dtype != torch.float32:
        raise Unknown("scales of blocks")
    if out.dtype.itemsize < 2:
        raise Unknown("a result of 8 bits")
    floats(s, x, w, out, a["scale_a"], a["scale_b"])
    (i, ta), (j, tb) = matrix(s, x), matrix(s, w)
    i, j = times(s, i, a["scale_a"], 1 if ta else 0), times(s, j, a["scale_b"], 0 if tb else 1)
    if bias is not None:
        k = reshaped(s, s.input(bias), (bias.numel(), 1) if tb else (1, bias.numel()))
        one = s.constant(1, torch.float32, (1, x.size(0)) if ta else (x.size(0), 1))
        i, j = beside(s, i, one, 0 if ta else 1), beside(s, j, k, 1 if tb else 0)
    if in_float32(out):
        product(s, (i, ta), (j, tb), out)
        return
    left, right = (s.values[k].double().mT if t else s.values[k].double() for k, t in ((i, ta), (j, tb)))
    y = s.call("matmul", [i, j], [("y", left @ right)], {"ta": ta, "tb": tb}, library=True, compute="fp64")[0]
    e = (left.size(1) / GROUP + 1) * LOST * (left.abs() @ right.abs())
    granted(s, y, e, out)
