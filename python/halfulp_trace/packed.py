# SPDX-License-Identifier: Apache-2.0
"""Lengths of packed sequences. Where PyTorch unpacks one it counts the lengths in C++, into a tensor that was made
empty, so that no operator tells where they are from: they follow from the sizes of its batches."""
import contextlib

import torch
from torch.utils._python_dispatch import _disable_current_modes, _get_current_dispatch_mode_stack

NAME = "_pad_packed_sequence"


def note(s, sizes, lengths):
    if not s.taint(s.value(sizes)):
        s.known[s.key(lengths)] = s.unmade(lengths, "lengths")


@contextlib.contextmanager
def unpacked(s):
    """Until this ends, the lengths of sequences that are unpacked are known."""
    usual = getattr(torch._VF, NAME)

    def unpack(data, sizes, *args, **kwargs):
        out = usual(data, sizes, *args, **kwargs)
        if s in _get_current_dispatch_mode_stack():
            with _disable_current_modes(), s.lock:
                s.r.guard(note, s, sizes, out[1])
        return out
    setattr(torch._VF, NAME, unpack)
    try:
        yield
    finally:
        delattr(torch._VF, NAME)
