# SPDX-License-Identifier: Apache-2.0
"""What comes into a step from elsewhere and is the step's own: memory that a tensor got from another library, by DLPack
or as an array, and that a tensor of the step has, too; what was saved and loaded in the step that made it, as weights
or activations are. No operator tells of either, so that it is noticed where such a tensor is read first."""
import torch

from .flat import picked
from .values import Value, geometry, snapshot, words
from .weak import WeakStorage
from .writes import places

LEAST = 4                # elements of a tensor that is known by its bits
LEAST_PART = 16          # of one that is known as a part of another one
MOST = 64                # places of a part that are looked at


def owner(s, t):
    """The storage in whose memory t's storage begins, of parameters and of what this step made or wrote to, and at
    which byte of it; None if there is none."""
    mine, own = t.untyped_storage(), s.storage(t)
    first = mine.data_ptr()
    for name, held in list(s.alive.items()):
        changes = name in s.born or name in s.trained or s.version[name]
        other = held.get() if changes and name != own and isinstance(held, WeakStorage) else None
        if other is not None and other.device == mine.device and 0 <= first - other.data_ptr() < other.nbytes():
            return name, first - other.data_ptr()
    return None


def value_of(s, t, key):
    """The Value of a tensor that no operator of this step made, where its memory is that of one which was: the same, or
    an opaque one; the Value whose bits it has, of what a call made; None where it is neither."""
    found = owner(s, t)
    if found is None:
        return loaded(s, t, key)
    name, begin = found
    dtype, offset, size, stride = key[2]
    same = dtype, offset + begin // t.element_size(), size, stride
    v = s.known.get((name, s.version[name], same))
    if v is not None and v.data is not None and v.ids and v.holds(t):
        s.known[key] = Value(v.data, v.ids)
    else:
        s.opaque("memory that is shared", "another library gave it the memory of a tensor of this step",
                 s.inside(name), [t])
    return s.known[key]


def loaded(s, t, key):
    """The Value of a tensor that has the bits of what a call of this step made, or, once Python has read an array, of
    any other tensor: in any shape, or as some of its elements, as a saved view has them, whose memory is saved as a
    whole. None where it has not, or has one number all over, as any constant."""
    own = snapshot(t)
    found = found_in(s, own.reshape(-1), key[2][0], tuple(own.shape))
    if found is not None:
        v, first = found
        if v.data.shape == own.shape:
            s.known[key] = Value(v.data, {"plain": s.get(v)})
        else:
            at = first + torch.arange(own.numel()).reshape(own.shape)
            s.known[key] = Value(own, {"plain": picked(s, [s.get(v)], at, "loaded")})
        return s.known[key]
    n = t.untyped_storage().nbytes() // t.element_size()
    if n <= own.numel() and t.is_contiguous():
        return None
    memory = snapshot(t.detach().as_strided((n,), (1,), 0))
    found = found_in(s, memory.reshape(-1), key[2][0], None)
    if found is None:
        return None
    v, first = found
    at = first + places(n, geometry(t)).reshape(own.shape)
    s.known[key] = Value(own, {"plain": picked(s, [s.get(v)], at, "loaded")})
    return s.known[key]


def found_in(s, flat, dtype, shape):
    """The Value of a tensor of a format among whose elements those of `flat` stand one behind the other, and the place
    of the first; of such the one of this shape, where there is one. None where there is none."""
    n = flat.numel()
    if n < LEAST or not bool((flat != flat[0]).any()):
        return None
    bits, part = words(flat), None
    mark = int(bits.abs().argmax())              # an element that few others are equal to
    for (_, _, (own, _, _, _)), v in reversed(list(s.known.items())):
        if own != dtype or v.data is None or not v.ids or v.data.numel() < n:
            continue
        if not s.reads.arrays and not any(i in s.program.maker for i in v.ids.values()):
            continue
        if v.data.shape == shape:
            if torch.equal(words(v.data).reshape(-1), bits):
                return v, 0
        elif part is None and (v.data.numel() == n or n >= LEAST_PART):
            all_of_it = words(v.data).reshape(-1)
            for k in (all_of_it[mark:mark + len(all_of_it) - n + 1] == bits[mark]).nonzero()[:MOST].reshape(-1):
                if torch.equal(all_of_it[k:k + n], bits):
                    part = v, int(k)
                    break
    return part
