# SPDX-License-Identifier: Apache-2.0
"""What comes into a step from elsewhere and is the step's own: memory that a tensor got from another library, by DLPack
or as an array, and that a tensor of the step has, too; what was saved and loaded in the step that made it, as weights
or activations are. No operator tells of either, so that it is noticed where such a tensor is read first."""
from .values import Value
from .weak import WeakStorage

LEAST = 4                # elements of a tensor that is known by its bits


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
    """The Value of a tensor that has the bits of what a call of this step made, or, once Python has read an
    array, of any other tensor; None where it has not, or has one number all over, as any constant."""
    dtype, _, size, _ = key[2]
    flat = t.detach().reshape(-1)
    if flat.numel() < LEAST or not bool((flat != flat[0]).any()):
        return None
    for (_, _, (own, _, shape, _)), v in reversed(list(s.known.items())):
        if own != dtype or shape != size or v.data is None or not v.ids:
            continue
        made = s.reads.arrays or any(i in s.program.maker for i in v.ids.values())
        if made and v.data.reshape(-1)[-1] == flat[-1] and v.holds(t):
            s.known[key] = Value(v.data, {"plain": s.get(v)})
            return s.known[key]
    return None
