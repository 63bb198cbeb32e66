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


class Zeroed:
    """Gradients that a recorded step set to zero behind its update, and that nothing wrote to since."""

    def __init__(self):
        self.places = {}

    def note(self, s):
        """Takes those of a step that ends."""
        self.places = {}
        for _, _, g in s.parameters():
            if g is None or g.layout is not torch.strided:
                continue
            value = s.known.get(s.key(g))
            i = value.ids.get("plain") if value is not None and value.data is not None else None
            if i is not None and i not in s.program.maker and not s.taint(value) and not value.data.any():
                storage = g.untyped_storage()
                self.places[storage._cdata] = WeakStorage(storage), g._version

    def has(self, t):
        if not self.places or t.layout is not torch.strided:
            return False
        place = self.places.get(t.untyped_storage()._cdata)
        return place is not None and place[1] == t._version and not t.detach().any()
