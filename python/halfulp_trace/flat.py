# SPDX-License-Identifier: Apache-2.0
"""Selections: results whose elements are elements of other tensors, in any order and as often as one likes, and sums
of elements that a selection sent to one place. A selection is a gather from the elements of its sources, one behind
the other, by an index that the step has as an input."""
import torch

from .formats import WHOLE, Unknown
from .moves import flat_move
from .values import Value, geometry, snapshot, tensors_in

EXACT = 1 << 24                                  # whole numbers below this are fp32 numbers


def role_of(s, i):
    return s.program.tensors[i]["name"].rpartition(".")[2].split("@")[0]


def reshaped(s, i, shape, role=None, layer=None):
    """Tensor i of the program in another shape of as many elements."""
    shape = tuple(shape)
    if tuple(s.values[i].shape) == shape:
        return i
    layer = layer or s.program.tensors[i]["name"].rpartition(".")[0]
    return s.call("move", [i], [(role or role_of(s, i) + "@shape", s.values[i].reshape(shape))], flat_move(shape),
            layer=layer)[0]


def flat(s, i):
    return reshaped(s, i, (s.values[i].numel(),))


def behind(s, ids, axis=0):
    """Tensors of the program, one behind the other along an axis."""
    if len(ids) == 1:
        return ids[0]
    data = torch.cat([s.values[i] for i in ids], axis)
    return s.call("concat", ids, [(role_of(s, ids[0]) + "@more", data)], {"axis": axis},
            layer=s.program.tensors[ids[0]]["name"].rpartition(".")[0])[0]


def unknown_places(s):
    """The program's tensors of the whole numbers and truth values among the running operator's arguments that depend on
    what no rule takes."""
    ids = []
    for t in tensors_in(s.running[1:]):
        if t.dtype not in WHOLE:
            continue
        whole, above = t, s.parent.get((s.storage(t), geometry(t)))
        while above is not None and s.key(whole) not in s.known:
            whole, above = above, s.parent.get((s.storage(above), geometry(above)))
        v = s.was.get(id(t)) or s.known.get(s.key(whole))
        if v is not None and s.taint(v):
            ids += s.operands([s.value(t)])
    return ids


def index_input(s, at):
    """Places as a tensor of the program: an input, since they are taken as recorded, unless they depend on what no rule
    takes."""
    at = at.to("cpu")
    small = at.numel() == 0 or int(at.max()) < EXACT
    data = at.to(torch.float32 if small else torch.float64).contiguous()
    ids = unknown_places(s)
    s.mark(tensors_in(s.running[1:]))
    if ids:
        why = {"name": "an index", "reason": "what chose it has no rule"}
        return s.call("opaque", ids, [("index", data)], opaque=why)[0]
    return s.add("", data, name="input.index", cls="other")


def runs(at, total):
    """How many of the last elements of `at` follow one another everywhere, from a multiple of their number on: these
    are rows, which one index serves. They are whole axes of `at`, but not all of them."""
    for d in range(at.dim() - 1, 0, -1):
        n = at[(0,) * (at.dim() - d)].numel()
        row = at.reshape(-1, n)
        if n > 1 and total % n == 0 and not (row[:, 0] % n).any() and bool(
                (row == row[:, :1] + torch.arange(n)).all()):
            return n
    return 1


def picked(s, ids, at, role="y", **how):
    """The tensor of the program whose element k is element at[k] of the sources `ids`, one behind the other. An element
    at a negative place is 0."""
    if (at < 0).any():
        at = torch.where(at < 0, sum(s.values[i].numel() for i in ids), at)
        ids = ids + [s.constant(0, s.values[ids[0]].dtype, (1,))]
    source = behind(s, [flat(s, i) for i in ids])
    data = s.values[source]
    if at.numel() == data.numel() and torch.equal(at.reshape(-1), torch.arange(at.numel())):
        return reshaped(s, source, at.shape, role, how.get("layer"))
    values = data[at.reshape(-1)].reshape(at.shape)
    n = runs(at, data.numel()) if at.numel() else 1
    if n == 1:
        return s.call("gather", [source, index_input(s, at)], [(role, values)], {"axis": 0}, **how)[0]
    rows = reshaped(s, source, (data.numel() // n, n))
    at = at.reshape(-1, n)[:, 0] // n
    made = s.call("gather", [rows, index_input(s, at)], [(role, values.reshape(-1, n))], {"axis": 0}, **how)[0]
    return reshaped(s, made, values.shape, role, how.get("layer"))


def pick(s, ids, at, t, role="y", **how):
    """Notes that PyTorch's tensor t is a selection."""
    own = snapshot(t)
    i = picked(s, ids, at.to("cpu", torch.int64).reshape(own.shape), role, **how)
    if not same_bits(s.values[i], own):
        raise Unknown("other values than a selection has")
    s.known[s.key(t)] = Value(own, {"plain": i})
    return i


def same_bits(x, y):
    """Whether two tensors of a format have the same numbers; NaN is NaN, and the sign of 0 is not looked at."""
    if x.element_size() == 1:
        x, y = x.to(torch.float32), y.to(torch.float32)
    return x.shape == y.shape and torch.equal(x.isnan(), y.isnan()) and bool(((x == y) | x.isnan()).all())


def sums(s, base, dy, at, t, role="dx", **how):
    """Notes that t is `base`, a tensor of the program or None for zeros, to which the elements of dy were added one
    after the other, element k at place at[k]; elements at negative places were added nowhere."""
    at = at.to("cpu", torch.int64)
    shape = at.shape if at.shape == s.values[dy].shape else (at.numel(),)
    n, at, dy = t.numel(), at.reshape(shape), reshaped(s, dy, shape)
    if (at < 0).any():
        kept = (at.reshape(-1) >= 0).nonzero().reshape(-1)
        if not len(kept):                        # as of an embedding whose every index is its padding
            i = s.constant(0, t.dtype, tuple(t.shape)) if base is None else reshaped(s, base, tuple(t.shape))
            if not same_bits(s.values[i], snapshot(t)):
                raise Unknown("other values than nothing that is added has")
            s.known[s.key(t)] = Value(snapshot(t), {"plain": i})
            return i
        rows = at.dim() > 1 and bool(((at < 0) == (at < 0)[..., :1]).all())
        if rows:
            kept = kept.reshape(-1, at.size(-1))
        dy, at = picked(s, [dy], kept, role_of(s, dy) + "@some"), at.reshape(-1)[kept]
    width = runs(at, n) if at.dim() > 1 else 1   # rows are added as such
    at = at.reshape(-1, width)[:, 0] // width
    dy = reshaped(s, dy, (len(at), width) if width > 1 else (len(at),))
    shape = (n // width, width) if width > 1 else (n,)
    if base is not None and (s.values[base] != 0).any():
        into = reshaped(s, base, shape)
        dy, at = behind(s, [into, dy]), torch.cat([torch.arange(shape[0]), at])
    else:
        into = alike(s, shape, s.values[dy].dtype)
    own = snapshot(t)
    how.setdefault("layer", s.layer_of([i for i in (base, dy) if i is not None]))
    made = s.call("gather_dx", [dy, index_input(s, at), into], [(role, own.reshape(shape))], {"axis": 0}, library=True,
            **how)[0]
    i = reshaped(s, made, own.shape, role, how.get("layer"))
    s.known[s.key(t)] = Value(own, {"plain": i})
    return i


def alike(s, shape, dtype):
    """A tensor of the program of which only the shape is read: a parameter, or else zeros."""
    for i, x in s.values.items():
        if x.dtype == dtype and tuple(x.shape) == shape and s.program.tensors[i]["class"] == "weight":
            return i
    return s.constant(0, dtype, shape)
