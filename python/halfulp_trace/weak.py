# SPDX-License-Identifier: Apache-2.0
"""Tensors of PyTorch that the recorder remembers without keeping their memory alive, so that a recorded step needs no
more of a device's memory than the step itself."""
import torch


class Weak:
    """A tensor as a place in a storage. The storage's address is no other's as long as this lives."""

    def __init__(self, t):
        plain = (type(t) in (torch.Tensor, torch.nn.Parameter) and t.layout is torch.strided and not t.is_nested
                 and not t.is_conj() and not t.is_neg() and not t.is_quantized)
        self.kept, self.ref = None, None
        if plain:
            self.ref = WeakStorage(t.untyped_storage())
            self.how = t.dtype, t.device
            self.place = t.storage_offset(), tuple(t.size()), tuple(t.stride())
        else:
            self.kept = t.detach()

    def get(self):
        """The tensor, or None if nothing else kept its memory."""
        if self.ref is None:
            return self.kept
        storage = self.ref.get()
        if storage is None:
            return None
        return torch.empty(0, dtype=self.how[0], device=self.how[1]).set_(storage, *self.place)


class WeakStorage:
    def __init__(self, storage):
        self.ref = storage._weak_ref()

    def get(self):
        return torch.UntypedStorage._new_with_weak_ptr(self.ref)

    def __del__(self):
        torch.UntypedStorage._free_weak_ref(self.ref)


class WeakTensors:
    """A dictionary of tensors that holds each of them weakly."""

    def __init__(self):
        self.places = {}

    def __contains__(self, key):
        return key in self.places

    def __setitem__(self, key, t):
        self.places[key] = Weak(t)

    def get(self, key):
        place = self.places.get(key)
        return place.get() if place is not None else None

    def items(self):
        for key, place in list(self.places.items()):
            t = place.get()
            if t is not None:
                yield key, t
