# SPDX-License-Identifier: Apache-2.0
"""Branches that torch.cond takes. While a step is recorded nothing is compiled, and PyTorch's own branches need that
for their gradients: the one that the condition asks for runs as Python would run it, of the same operators."""
import contextlib
import sys

import torch
from torch.utils._python_dispatch import _get_current_dispatch_mode_stack


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
