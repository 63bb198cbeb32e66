# SPDX-License-Identifier: Apache-2.0
"""Copies and selections of complex numbers are those of pairs of real ones."""
import torch

from ..flat import pick, picked
from ..formats import Unknown
from ..values import Value, tensors_in
from ..writes import real
from .added import ADJOINTS, numbers, slope_of, whence
from .complex import extend, pair
from .select import MOVED, places


def copied(s, a, z):
    """The destination has the source's values, of which real ones get an imaginary part of 0."""
    x = a["src"] if "src" in a else a["self"]
    if x.dtype not in (z.dtype, z.real.dtype):
        raise Unknown("a copy in another format")
    if x.is_complex():
        i = pair(s, x)
    else:
        at = torch.arange(x.numel()).reshape(x.shape)
        i = picked(s, [s.input(x)], torch.stack([at, torch.full_like(at, -1)], -1), "pairs")
    i = s.spread(i, tuple(z.shape) + (2,))
    s.known[s.key(real(s, z))] = Value(s.values[i], {"plain": i})


def moved(s, a, z, names):
    operands = list(tensors_in([a.get(k) for k in names]))
    at = places(s, operands).unsqueeze(-1)
    if (at < 0).any() and a.get("value"):
        raise Unknown("complex numbers beside another one than 0")
    pick(s, [pair(s, x) for x in operands], torch.where(at < 0, at, 2 * at + torch.tensor([0, 1])), real(s, z))


def back(s, a, z, forward):
    """The gradient of a selection that took each element once at most."""
    at = whence(forward(a, numbers(z.shape)), z.numel())
    if at is None:
        raise Unknown("sums of complex numbers by their places")
    at = at.reshape(z.shape).unsqueeze(-1)
    pick(s, [pair(s, slope_of(a))], torch.where(at < 0, at, 2 * at + torch.tensor([0, 1])), real(s, z), "dx")


extend("copy", copied)
extend("_to_copy", copied)
for name, forward in ADJOINTS.items():
    extend(name, lambda s, a, z, forward=forward: back(s, a, z, forward))
for name, names in (MOVED | {"cat": ["tensors"], "concatenate": ["tensors"], "stack": ["tensors"]}).items():
    extend(name, lambda s, a, z, names=names: moved(s, a, z, names))
