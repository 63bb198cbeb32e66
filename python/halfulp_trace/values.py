# SPDX-License-Identifier: Apache-2.0
"""Values of PyTorch's tensors, and what names and describes them."""
import torch

from .formats import WHOLE


class Value:
    """The values that a tensor of PyTorch had at some time, and the program's tensors that hold them: `plain`, in
    PyTorch's own order of axes, and in halfulp's layouts. What is missing is made by a move."""

    def __init__(self, data, ids=None):
        self.data, self.ids = data, dict(ids or {})


def geometry(t):
    return t.dtype, t.storage_offset(), tuple(t.size()), tuple(t.stride())


def tensors_in(x):
    if isinstance(x, torch.Tensor):
        yield x
    elif isinstance(x, (list, tuple)):
        for y in x:
            yield from tensors_in(y)
    elif isinstance(x, dict):
        for y in x.values():
            yield from tensors_in(y)


def snapshot(t):
    """A copy of t's values that nothing writes to, in memory of its own, row-major."""
    t = t.detach()
    t = t.to(WHOLE[t.dtype]) if t.dtype in WHOLE else t
    return t.to("cpu", copy=True).clone(memory_format=torch.contiguous_format)


def bind(func, args, kwargs):
    """The arguments by the schema's names, with its defaults."""
    a = {}
    for k, arg in enumerate(func._schema.arguments):
        a[arg.name] = args[k] if k < len(args) and not arg.kwarg_only else kwargs.get(arg.name, arg.default_value)
    return a


def tensor_name(name):
    """LAYER.ROLE of halfulp: the modules of a path are parted by a stroke, as in layer1/0/conv1.weight."""
    layer, _, role = name.rpartition(".")
    return "%s.%s" % (layer.replace(".", "/") or "model", role)
