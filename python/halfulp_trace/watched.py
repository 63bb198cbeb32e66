# SPDX-License-Identifier: Apache-2.0
"""The ways by which Python gets at all of a tensor's elements without an operator: as an array, as a capsule for
another library, by the address of its memory, which PyTorch's own code asks for without reading there, or by the
memory itself."""
import contextlib
import sys

import torch
from torch.utils._python_dispatch import _disable_current_modes, _get_current_dispatch_mode_stack

from .formats import FORMATS, WHOLE

MEANS = "numpy", "tolist", "__array__", "__dlpack__"     # methods of a tensor
CAPSULES = (torch, "to_dlpack"), (torch.utils.dlpack, "to_dlpack")       # functions of one


def by_stranger(depth):
    """Whether the code so many calls above this is none of PyTorch's."""
    return not sys._getframe(depth).f_globals.get("__name__", "").startswith("torch.")


def noting(s, usual, f, wanted):
    """The function `usual` of a tensor, or of its memory, which first calls f with it where it is wanted."""
    def read(x, *args, **kwargs):
        if s in _get_current_dispatch_mode_stack() and wanted(x):        # the recorder's own reads are not in it
            with _disable_current_modes(), s.lock:
                s.was = {}
                s.r.guard(f, s, x)
        return usual(x, *args, **kwargs)
    return read


def plain(t):
    return type(t) in (torch.Tensor, torch.nn.Parameter) and (t.dtype in FORMATS or t.dtype in WHOLE)


@contextlib.contextmanager
def watched(s):
    """Until this ends, what Python reads of tensors as arrays is noted."""
    note, tensor, memory = s.reads.note, torch.Tensor, torch.UntypedStorage
    places = [(tensor, name, noting(s, getattr(tensor, name), note, plain)) for name in MEANS]
    places += [(at, name, noting(s, getattr(at, name), note, plain)) for at, name in CAPSULES if hasattr(at, name)]
    places.append((tensor, "data_ptr", noting(s, tensor.data_ptr, note, lambda t: by_stranger(3) and plain(t))))
    at, item, within = memory.data_ptr, memory.__getitem__, s.reads.note_memory
    places += [(memory, "data_ptr", noting(s, at, within, lambda m: by_stranger(3))),
               (memory, "__getitem__", noting(s, item, within, lambda m: not s.reads.arrays))]
    own = {(at, name): vars(at)[name] for at, name, _ in places if name in vars(at)}
    for place in places:
        setattr(*place)
    try:
        yield
    finally:
        for at, name, _ in places:
            if (at, name) in own:
                setattr(at, name, own[at, name])
            else:
                delattr(at, name)
