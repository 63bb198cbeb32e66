# SPDX-License-Identifier: Apache-2.0
"""Sums, means and maxima of rows of a table, and counts."""
import torch

from ..flat import pick, picked, reshaped, sums
from ..formats import FORMATS, Unknown
from ..values import Value, snapshot, tensors_in
from .added import serial
from .formula import Formula
from .operands import floats
from .table import operator

SUM, MEAN, MAX = range(3)


@operator("_embedding_bag", "_embedding_bag_forward_only")
def embedding_bag(s, a, out):
    y, w = out[0], a["weight"]
    floats(s, y, w)
    s.decided([w], *[t for t in out[1:] if t.numel()])
    factors = a["per_sample_weights"]
    table, columns = s.input(w), torch.arange(w.size(1))
    if a["mode"] == MAX:
        at = out[3].cpu().reshape(y.shape)
        empty = (out[2].cpu() == 0)[:, None]
        pick(s, [table], torch.where(empty, -1, at * w.size(1) + columns), y)
        return
    ends = a["offsets"].tolist() + ([] if a["include_last_offset"] else [a["indices"].numel()])
    indices = a["indices"].cpu()
    bags = [torch.arange(start, stop) for start, stop in zip(ends, ends[1:])]     # of uses of rows
    bags = [bag[indices[bag] != a["padding_idx"]] if a["padding_idx"] >= 0 else bag for bag in bags]
    own, ids, where, n = snapshot(y), [], torch.full(y.shape, -1, dtype=torch.int64), 0
    # sums of means are rounded to a CPU's 16 bits before they are divided
    compute = serial(y) if a["mode"] == MEAN else None
    for size in sorted({len(bag) for bag in bags} - {0}):
        mine = [k for k, bag in enumerate(bags) if len(bag) == size]
        uses = torch.stack([bags[k] for k in mine])
        rows = picked(s, [table], indices[uses][:, :, None] * w.size(1) + columns, "rows")
        if factors is not None:                  # each row is multiplied, exactly, before it is added
            i = picked(s, [s.input(factors)], uses[:, :, None].expand(s.values[rows].shape), "factors")
            rows = s.call("mul", [rows, i], [("rows", s.values[rows].double() * s.values[i].double())])[0]
        ids.append(s.call("reduce_sum" if a["mode"] == SUM else "reduce_mean", [rows], [("y", own[mine])],
                {"axis": 1, "axes": 1}, library=True, compute=compute)[0])
        where[mine] = n + torch.arange(len(mine) * w.size(1)).reshape(len(mine), -1)
        n += len(mine) * w.size(1)
    if not ids:
        raise Unknown("empty bags")
    s.known[s.key(y)] = Value(own, {"plain": picked(s, ids, where, "y")})


@operator("_embedding_bag_dense_backward", "_embedding_bag_backward")
def embedding_bag_backward(s, a, out):
    t, dy = next(tensors_in(out)), a["grad"]
    floats(s, t, dy)
    if a["scale_grad_by_freq"]:
        raise Unknown("weights of samples")
    columns, indices, bag = torch.arange(t.size(1)), a["indices"].cpu(), a["offset2bag"].cpu()
    if not bag.numel() and a["mode"] != MAX:
        bag = torch.searchsorted(a["offsets"].cpu(), torch.arange(len(indices)), right=True) - 1
        bag = bag.clamp(max=dy.size(0) - 1)
    if a["mode"] == MAX:
        rows = a["maximum_indices"].cpu().reshape(dy.shape)
        bags = (a["bag_size"].cpu() > 0)[:, None].expand(dy.shape)
        at = torch.where(bags, rows * t.size(1) + columns, -1)
        sums(s, None, s.input(dy), at, t, "dw", compute=serial(t))
        return
    i = picked(s, [s.input(dy)], bag[:, None] * t.size(1) + columns, "rows")
    if a["mode"] == MEAN:                        # each is multiplied, exactly, before it is added
        by = (1 / a["bag_size"].cpu()[bag].to(torch.float64))[:, None].expand(s.values[i].shape).contiguous()
        by = s.add("", by, name="input.share", cls="other")
        i = s.call("mul", [i, by], [("shared", s.values[i].double() * s.values[by])])[0]
    if a["per_sample_weights"] is not None:
        k = picked(s, [s.input(a["per_sample_weights"])], torch.arange(len(bag))[:, None].expand(s.values[i].shape), "by")
        i = s.call("mul", [i, k], [("shared", s.values[i].double() * s.values[k].double())])[0]
    at = indices[:, None] * t.size(1) + columns
    at = torch.where((indices == a["padding_idx"])[:, None], -1, at) if a["padding_idx"] >= 0 else at
    sums(s, None, i, at, t, "dw", compute=serial(t))


@operator("histc")
def histc(s, a, out):
    """Each element adds 1 to its bin. Which bin that is, is taken as PyTorch found it."""
    x = a["self"]
    floats(s, out)
    low, high = (float(a["min"]), float(a["max"])) if a["min"] != a["max"] else (float(x.min()), float(x.max()))
    inside = (x >= low) & (x <= high)
    bins = ((x.double() - low) / (high - low) * a["bins"]).floor().clamp(max=a["bins"] - 1).to(torch.int64)
    at = torch.where(inside, bins, -1).reshape(-1)
    if not torch.equal(at[at >= 0].bincount(minlength=a["bins"]).to(out.dtype), out):
        raise Unknown("bins that rounding decides")
    ones = s.constant(1, out.dtype, (at.numel(),))
    sums(s, None, ones, at, out, "counts")


@operator("_embedding_bag_per_sample_weights_backward")
def per_sample_weights_backward(s, a, out):
    """Of each use the product of its row with its bag's gradient."""
    t, w, dy = next(tensors_in(out)), a["weight"], a["grad"]
    floats(s, t, w, dy)
    n, columns = w.size(1), torch.arange(w.size(1))
    indices = a["indices"].cpu()
    ends = a["offsets"].cpu()
    bag = (torch.searchsorted(ends, torch.arange(len(indices)), right=True) - 1).clamp(max=dy.size(0) - 1)
    i = picked(s, [s.input(dy)], bag[:, None] * n + columns, "rows")
    j = picked(s, [s.input(w)], indices[:, None] * n + columns, "rows")
    k = s.call("mul", [i, j], [("products", s.values[i].double() * s.values[j].double())])[0]
    kept = indices != a["padding_idx"]
    if not kept.all():
        k = picked(s, [k], torch.where(kept[:, None], torch.arange(s.values[k].numel()).reshape(-1, n), -1), "products")
    own = snapshot(t)
    i = s.call("reduce_sum", [k], [("dw", own.reshape(-1))], {"axis": 1, "axes": 1}, library=True)[0]
    s.known[s.key(t)] = Value(own, {"plain": reshaped(s, i, own.shape, "dw")})


@operator("embedding_renorm")
def embedding_renorm(s, a, out):
    """Rows that are read and whose norm is above a limit are multiplied by limit / (norm + 1e-7). Norm and factor are
    rounded to the table's format."""
    t = next(tensors_in(out))
    floats(s, t)
    if float(a["norm_type"]) != 2:
        raise Unknown("a norm of another order")
    own, i, n = snapshot(t), s.input(a["self"]), t.size(1)
    used = a["indices"].reshape(-1).unique().cpu()
    rows = picked(s, [i], used[:, None] * n + torch.arange(n), "rows")
    norm = s.values[rows].norm(2, 1)
    j = s.call("reduce_norm", [rows], [("norm", norm)], {"axis": 1, "axes": 1}, library=True)[0]
    m = Formula(s, own, norm.shape)
    above = m("greater", j, float(a["max_norm"]))
    factor = m("div", float(a["max_norm"]), m("add", j, m.of(s.constant(1e-7, torch.float64))))
    factor = m("where", above, factor, 1.0, dtype=torch.float64)
    if own.dtype.itemsize < 4:
        data = s.values[factor].to(own.dtype)
        factor = s.call("cast", [factor], [("factor@" + FORMATS[own.dtype], data)])[0]
    factor = reshaped(s, factor, (len(used), 1))
    new = own[used]
    made = s.call("mul", [rows, s.spread(factor, tuple(new.shape))], [("rows", new)], library=True)[0]
    where = torch.arange(own.numel()).reshape(own.shape)
    where[used] = own.numel() + torch.arange(new.numel()).reshape(new.shape)
    s.known[s.key(t)] = Value(own, {"plain": picked(s, [i, made], where, "w")})
