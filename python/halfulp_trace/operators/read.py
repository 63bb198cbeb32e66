# SPDX-License-Identifier: Apache-2.0
"""Numbers that Python reads of tensors, as item() and float() do. What is made of them no operator shows: a factor of a
clipping by hand is 0 where the norm that was read had overflowed."""
import math

from .table import operator


@operator("_local_scalar_dense")
def read(s, a, out):
    t = a["self"].detach()
    if t.dtype.is_floating_point and not math.isfinite(t.item()) and s.learned(t):
        s.doubtful = True
