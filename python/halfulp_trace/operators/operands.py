# SPDX-License-Identifier: Apache-2.0
"""Operands of calls: formats, layouts and broadcasting, as several operators need them."""
import torch

from ..formats import FORMATS, Unknown


def floats(s, *tensors):
    for t in tensors:
        if t.dtype not in FORMATS:
            raise Unknown("whole numbers")


def shared_layout(values):
    """nhwc where an operand has that alone, so that what follows a convolution stays in its order."""
    return "nhwc" if all(v.data is not None and v.data.dim() == 4 for v in values) and any(
        "plain" not in v.ids for v in values) else "plain"


def spread_all(s, operands, out):
    """Tensors of the program for operands, tensors or numbers, of the shape of the result, and their layout."""
    floats(s, out)
    shape = tuple(out.size())
    values = [s.old(x) for x in operands if isinstance(x, torch.Tensor)]
    if len(values) == len(operands) and all(v.data is not None and tuple(v.data.shape) == shape for v in values):
        layout = shared_layout(values)
        return [s.ids(v, layout) for v in values], layout
    ids = []
    for x in operands:
        if isinstance(x, torch.Tensor):
            ids.append(s.spread(s.input(x), shape))
        else:
            # a number takes part in the format that PyTorch computes in
            ids.append(s.spread(s.constant(x, torch.float64 if out.dtype == torch.float64 else torch.float32), shape))
    return ids, "plain"
