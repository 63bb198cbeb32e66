# SPDX-License-Identifier: Apache-2.0
"""Operators that run for the shapes of their results alone, as sharding and compilers ask for them."""
import torch
from torch._subclasses.fake_tensor import FakeTensor

KEY = getattr(getattr(torch._C, "_TorchDispatchModeKey", None), "FAKE", None)


def of_shapes(types):
    """Whether the running operator has tensors without values, or makes such."""
    return FakeTensor in types or KEY is not None and torch._C._get_dispatch_mode(KEY) is not None
