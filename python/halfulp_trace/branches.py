# SPDX-License-Identifier: Apache-2.0
"""Operators that take functions, such as torch.cond, and constants of TorchScript, under a mode that sees what runs.
While a step is recorded nothing is compiled, and PyTorch's own branches need that for their gradients: the one that
the condition asks for runs as Python would run it, of the same operators."""
import contextlib
import sys

import torch
from torch.utils._python_dispatch import _get_current_dispatch_mode_stack

CONSTANT = torch.ops.aten.equal.default, torch.ops.aten._local_scalar_dense.default


def of_constants(func, args):
    """The arguments of an operator, tensors for numbers: TorchScript looks at its constants by operators of tensors."""
    return tuple(x if isinstance(x, torch.Tensor) else torch.tensor(x) for x in args) if func in CONSTANT else args


@contextlib.contextmanager
def unasked(kernel):
    """Until this ends, a kernel that refuses to run in a mode finds none."""
    names, asked = kernel.__globals__, "_get_current_dispatch_mode"
    usual = names.get(asked)
    if usual is not None:
        names[asked] = lambda: None
    try:
        yield
    finally:
        if usual is not None:
            names[asked] = usual


@contextlib.contextmanager
def taken(s):
    """Until this ends, what torch.cond chooses runs by itself."""
    module = sys.modules.get("torch._higher_order_ops.cond")
    cond = getattr(module, "CondOp", None)
    if cond is None:
        yield
        return
    usual = cond.__call__

    def run(op, condition, first, second, operands):
        modes = _get_current_dispatch_mode_stack()
        if modes and modes[-1] is s and not torch._C._are_functorch_transforms_active():
            return (first if condition else second)(*operands)
        return usual(op, condition, first, second, operands)
    cond.__call__ = run
    try:
        yield
    finally:
        cond.__call__ = usual
