# SPDX-License-Identifier: Apache-2.0
"""Sums, means and maxima of rows of a table, and counts."""
import torch

from ..flat import pick, picked, reshaped, sums
from ..formats import Unknown
from ..values import Value, snapshot, tensors_in
from .added import serial
from .operands import floats
from .table import operator

SUM, MEAN, MAX = range(3)


@operator("_embedding_bag", "_embedding_bag_forward_only")
def embedding_bag(s, a, out):
    y, w = out[0], a["weight"]
    floats(s, y, w)
    s.decided([w], *[t for t in out[1:] if t.numel()])
    if a["per_sample_weights"] is not None:
        raise Unknown("weights of samples")
    table, columns = s.input(w), torch.arange(w.size(1))
    if a["mode"] == MAX:
        at = out[3].cpu().reshape(y.shape)
        empty = (out[2].cpu() == 0)[:, None]
        pick(s, [table], torch.where(empty, -1, at * w.size(1) + columns), y)
        return
    ends = a["offsets"].tolist() + ([] if a["include_last_offset"] else [a["indices"].numel()])
    bags = [a["indices"][start:stop].cpu() for start, stop in zip(ends, ends[1:])]
    bags = [bag[bag != a["padding_idx"]] if a["padding_idx"] >= 0 else bag for bag in bags]
    own, ids, where, n = snapshot(y), [], torch.full(y.shape, -1, dtype=torch.int64), 0
    # sums of means are rounded to a CPU's 16 bits before they are divided
    compute = serial(y) if a["mode"] == MEAN else None
    for size in sorted({len(bag) for bag in bags} - {0}):
        mine = [k for k, bag in enumerate(bags) if len(bag) == size]
        at = torch.stack([bags[k] for k in mine])[:, :, None] * w.size(1) + columns
        rows = picked(s, [table], at, "rows")
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
    if a["per_sample_weights"] is not None or a["scale_grad_by_freq"]:
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
