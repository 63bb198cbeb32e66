# SPDX-License-Identifier: Apache-2.0
"""Operators whose results are elements of their operands: by indices, by masks, by a fixed order, beside a constant.
Which element is where, the operator itself says, when it runs once more on the numbers 1, 2, 3, … of the elements: so
a row of the table is the names of the operands whose elements are moved. Choices that values make (topk, sort) are
taken as recorded: their results are the elements at the indices that PyTorch returned."""
import torch

from ..flat import behind, pick, reshaped, unknown_places
from ..formats import FORMATS, RANK, WHOLE, Unknown
from ..values import Value, tensors_in
from .choices import between, of_windows, selected
from .operands import floats
from .reduce import reduced
from .table import operator

# The operands that are moved. Where an operator has a number `value`, that is what fills the rest; else it is 0.
MOVED = {
    "index": ["self"], "_unsafe_index": ["self"], "index_select": ["self"], "gather": ["self"], "take": ["self"],
    "masked_select": ["self"], "roll": ["self"], "flip": ["self"], "triu": ["self"], "tril": ["self"],
    "repeat": ["self"], "rot90": ["self"], "constant_pad_nd": ["self"], "reflection_pad1d": ["self"],
    "reflection_pad2d": ["self"], "reflection_pad3d": ["self"], "replication_pad1d": ["self"],
    "replication_pad2d": ["self"], "replication_pad3d": ["self"], "pixel_shuffle": ["self"],
    "pixel_unshuffle": ["self"], "channel_shuffle": ["self"], "im2col": ["self"], "diag_embed": ["self"],
    "upsample_nearest1d": ["self"], "upsample_nearest2d": ["self"], "upsample_nearest3d": ["self"],
    "_upsample_nearest_exact1d": ["self"], "_upsample_nearest_exact2d": ["self"],
    "_upsample_nearest_exact3d": ["self"],
    "slice_scatter": ["self", "src"], "select_scatter": ["self", "src"], "diagonal_scatter": ["self", "src"],
    "as_strided_scatter": ["self", "src"], "index_copy": ["self", "source"], "masked_scatter": ["self", "source"],
    "max_unpool3d": ["self"],
    "index_fill": ["self", "value"], "scatter": ["self", "src"],
}
VIEWED = ["view", "expand", "permute", "slice", "select", "narrow", "as_strided", "diagonal", "unfold", "alias", "t",
          "transpose", "squeeze", "unsqueeze", "detach"]
for name in VIEWED:                              # copies of views, as functionalised programs have them
    MOVED[name + "_copy"] = ["self"]
SMALL = 1 << 53                                  # whole numbers below this are fp64 numbers
HOLE = -9                                        # in the place of an element that was not yet written


def numbered(operands):
    """Tensors that hold 1, 2, 3, … in the place of the elements of these, one operand behind the other."""
    out, n = [], 1
    for x in operands:
        out.append(torch.arange(n, n + x.numel(), dtype=torch.float64, device=x.device).reshape(x.shape))
        n += x.numel()
    return out


def places(s, operands, more=None):
    """For each element of what the operator returns where it is from: its number among the elements of the operands,
    or -1 where it is from none."""
    stand_in = {id(x): y for x, y in zip(operands, numbered(operands))}

    def swap(x):
        if isinstance(x, (list, tuple)):
            return type(x)(swap(y) for y in x)
        return stand_in.get(id(x), x) if isinstance(x, torch.Tensor) else x
    args, kwargs = [swap(x) for x in s.running[1]], {k: swap(x) for k, x in s.running[2].items()}
    names = [arg.name for arg in s.running[0]._schema.arguments]
    if "value" in names and isinstance(args[names.index("value")] if names.index("value") < len(args)
                                       else kwargs.get("value"), (int, float)):
        k = names.index("value")
        if k < len(args):
            args[k] = 0.0
        else:
            kwargs["value"] = 0.0
    if "out" in kwargs:
        kwargs["out"] = torch.empty(0, dtype=torch.float64, device=operands[0].device)
    at = next(tensors_in(s.running[0](*args, **kwargs)))
    return at.to("cpu", torch.int64) - 1


def moved(s, a, out, names):
    t = next(tensors_in(out))
    operands = [a[k] for k in names if isinstance(a.get(k), torch.Tensor)]
    floats(s, t, *operands)
    at = places(s, operands)
    empty = s.was.get(id(operands[0])) or s.value(operands[0]) if len(names) > 1 and operands[0].numel() else None
    if empty is not None and not empty.is_hollow():
        empty = None
    ids = [s.elements(x) for x in operands[empty is not None:] if x.numel()]
    value = a.get("value")
    if isinstance(value, (int, float)) and value and (at < 0).any():
        at = torch.where(at < 0, sum(x.numel() for x in operands), at)
        ids.append(s.constant(float(value), t.dtype, (1,)))
    if not ids:
        raise Unknown("no elements")
    if empty is not None:
        into_empty(s, empty, ids, at, t)
    else:
        pick(s, ids, at, t)


def into_empty(s, empty, ids, at, t):
    """Some elements are written to a tensor that was made empty: those of `ids`, behind the tensor's own in the numbers
    `at`. Until each of them is written none is read."""
    n, total = t.numel(), sum(s.values[i].numel() for i in ids)
    before, held = empty.filled or ([], torch.full((n,), HOLE))
    old = held[at.clamp(0, n - 1)]
    at = torch.where(at >= n, at - n, torch.where(at < 0, at, torch.where(old >= 0, old + total, old)))
    if not (at == HOLE).any():
        pick(s, ids + before, at, t)
        return
    if unknown_places(s):
        raise Unknown("what chose where it writes has no rule")
    s.mark(tensors_in(s.running[1:]))
    s.known[s.key(t)] = Value(None, name="empty", filled=(ids + before, at.reshape(-1)))


for name, names in MOVED.items():
    operator(name)(lambda s, a, out, names=names: moved(s, a, out, names))


@operator("max_unpool2d")
def max_unpool2d(s, a, out):
    """Elements at the places that a pooling chose, which is a choice where that is known."""
    chosen = s.windows.get(s.key(a["indices"]))
    if chosen is not None:
        of_windows(s, *chosen)
    moved(s, a, out, ["self"])


@operator("_pack_padded_sequence")
def packed(s, a, out):
    """The rows of sequences of several lengths, and how many sequences have each row."""
    moved(s, a, out, ["input"])
    s.decided([a["lengths"]], out[1])


@operator("topk", "sort", "kthvalue", "median", "nanmedian", "mode", "cummax", "cummin")
def chosen(s, a, out):
    """The elements along an axis at the indices that the operator returned."""
    results = list(tensors_in(out))
    if len(results) == 1:                        # the median of all
        at = (a["self"] == results[0]).reshape(-1).nonzero()[0]
        pick(s, [s.elements(a["self"])], at.reshape(()), results[0])
        return
    values, indices = results
    s.decided([a["self"]], indices)
    x = a["self"]
    if x.dtype in WHOLE:
        s.decided([x], values)
        return
    number = numbered([x])[0]
    dim = a.get("dim", -1)
    if indices.dim() < x.dim():
        indices = indices.unsqueeze(dim)
    selected(s, x, dim, indices)
    at = number.gather(dim, indices) if x.dim() else number
    pick(s, [s.input(x)], at.reshape(values.shape).to("cpu", torch.int64) - 1, values)


def truth(s, a, out):
    """Whether any, or all, of truth values that calls made of what is learned hold, which is a call of its own. Returns
    whether it is that."""
    name, x = s.running[0]._schema.name.partition("::")[2], a.get("self")
    if name not in ("any", "all") or x.dtype != torch.bool or not s.decisions([x]) or s.taint(s.old(x)):
        return False
    reduced(s, "reduce_max" if name == "any" else "reduce_min", x, a.get("dim"), out, library=False)
    return True


@operator("nonzero", "argsort", "unique2", "_unique2", "unique_dim", "unique_consecutive", "searchsorted", "bucketize",
          "bincount", "isinf", "isfinite", "isin", "any", "all")
def found(s, a, out):
    """Places and truth values that an operator finds by its operands' values."""
    results = list(tensors_in(out))
    if any(t.dtype in FORMATS for t in results):
        raise Unknown("a result that is no choice")
    if truth(s, a, results[0]):
        return
    s.decided([t for t in tensors_in(a)], *results)
    name = s.running[0]._schema.name.partition("::")[2]
    if name == "argsort":
        selected(s, a["self"], a["dim"], results[0])
    elif name in ("searchsorted", "bucketize") and isinstance(a["self"], torch.Tensor):
        between(s, a["self"], a["boundaries"] if name == "bucketize" else a["sorted_sequence"], results[0])


def in_format(s, x, dtype):
    """A tensor of PyTorch as the program has it, cast to a format where it has another."""
    i = s.elements(x)
    if s.values[i].dtype == dtype:
        return i
    name = s.program.tensors[i]["name"].rpartition(".")
    return s.call("cast", [i], [("%s@%s" % (name[2].split("@")[0], FORMATS[dtype]), s.values[i].to(dtype))],
            layer=name[0])[0]


@operator("cat", "concatenate")
def cat(s, a, out):
    """Operands without elements are left out; another format than the result's is cast."""
    t = next(tensors_in(out))
    floats(s, t)
    kept = [x for x in a["tensors"] if x.numel()]
    ids = [in_format(s, x, t.dtype) for x in kept]
    if len(ids) > 1:
        s.result("concat", ids, t, {"axis": a["dim"] % t.dim()})
    elif ids:
        pick(s, ids, torch.arange(t.numel()).reshape(t.shape), t)


@operator("_chunk_cat", "fsdp.chunk_cat", "fsdp.chunk_cat_mixed_dtype")
def chunk_cat(s, a, out):
    """The chunks of tensors side by side, zeros where one is short, as FSDP hands its gradients over."""
    t, operands = next(tensors_in(out)), a["tensors"]
    at = torch._chunk_cat(numbered(operands), a["dim"], a["num_chunks"])
    pick(s, [in_format(s, x, t.dtype) for x in operands], at.reshape(t.shape) - 1, t)


@operator("block_diag")
def block_diag(s, a, out):
    operands = [x for x in a["tensors"] if x.numel()]
    pick(s, [in_format(s, x, out.dtype) for x in operands], places(s, operands), out)


@operator("aminmax")
def aminmax(s, a, out):
    """The smallest and the largest element, as elements of the operand."""
    x, dim = a["self"], a["dim"]
    for t, f in zip(tensors_in(out), (torch.argmin, torch.argmax)):
        at = f(x) if dim is None else numbered([x])[0].gather(dim, f(x, dim, True)).to(torch.int64) - 1
        pick(s, [s.elements(x)], at.reshape(t.shape), t)


@operator("stack")
def stack(s, a, out):
    t = next(tensors_in(out))
    floats(s, t)
    axis = a["dim"] % t.dim()
    if not t.numel():
        return
    if t.dim() > RANK:
        every = places(s, a["tensors"])
        pick(s, [in_format(s, x, t.dtype) for x in a["tensors"]], every, t)
        return
    shape = list(t.shape)
    shape[axis] = 1
    ids = [reshaped(s, in_format(s, x, t.dtype), shape) for x in a["tensors"]]
    s.result("concat", ids, t, {"axis": axis})
