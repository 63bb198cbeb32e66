# SPDX-License-Identifier: Apache-2.0
"""Reductions of lists of elements: each element of a result is the product, extreme, sum or mean of elements of several
tensors, as prefixes along an axis and scatter_reduce have them. Lists of a length are rows of one reduction."""
import torch

from ..flat import picked
from ..formats import Unknown
from ..values import Value, snapshot, tensors_in
from .added import numbers, scatter_add
from .operands import floats, native
from .table import operator

MOST = 1 << 22                                   # elements that the lists of one operator may have together


def of_lists(s, op, ids, lists, t, kept=None, compute=None):
    """t has a reduction of each list, whose numbers are those of the elements of the tensors `ids`, one behind the
    other; where a list is empty it has element `kept` of these."""
    own = snapshot(t)
    data, made, n = own.reshape(-1), list(ids), sum(s.values[i].numel() for i in ids)
    where = torch.empty(len(lists), dtype=torch.int64)
    if sum(map(len, lists)) > MOST:
        raise Unknown("lists of more than %d elements" % MOST)
    for size in sorted({len(at) for at in lists}):
        mine = torch.tensor([k for k, at in enumerate(lists) if len(at) == size])
        if size == 0:
            where[mine] = torch.as_tensor(kept)[mine]
            continue
        at = torch.stack([torch.as_tensor(lists[k]) for k in mine.tolist()])
        if size == 1:
            where[mine] = at[:, 0]
            continue
        rows = picked(s, list(ids), at, "lists")
        made.append(s.call(op, [rows], [("reduced", data[mine])], {"axis": 1, "axes": 1},
                library=op not in ("reduce_max", "reduce_min"), compute=compute)[0])
        where[mine] = n + torch.arange(len(mine))
        n += len(mine)
    i = picked(s, made, where.reshape(own.shape), "y")
    if not torch.equal(torch.nan_to_num(s.values[i].to(own.dtype)), torch.nan_to_num(own)):
        raise Unknown("other values than its elements have")
    s.known[s.key(t)] = Value(own, {"plain": i})


def prefixes(s, a, out, op):
    """Of each element those up to it along an axis."""
    x, out = a["self"], next(tensors_in(out))
    floats(s, x, out)
    if x.dim() == 0 or x.numel() * x.size(a["dim"]) > MOST or x.dtype != out.dtype:
        raise Unknown("prefixes of more than %d elements" % MOST)
    at = torch.arange(x.numel()).reshape(x.shape).movedim(a["dim"], -1)
    lists = {int(row[k]): row[:k + 1] for row in at.reshape(-1, at.size(-1)) for k in range(len(row))}
    of_lists(s, op, [s.input(x)], [lists[k] for k in range(x.numel())], out, compute=native(out))


@operator("cumprod")
def cumprod(s, a, out):
    prefixes(s, a, out, "reduce_prod")


@operator("logcumsumexp")
def logcumsumexp(s, a, out):
    prefixes(s, a, out, "logsumexp")


REDUCTIONS = {"sum": "reduce_sum", "mean": "reduce_mean", "prod": "reduce_prod", "amax": "reduce_max",
              "amin": "reduce_min"}


@operator("scatter_reduce")
def scatter_reduce(s, a, out):
    """Elements that a list of places sends to one element, with what was there where that counts."""
    if a["reduce"] == "sum" and a["include_self"]:
        scatter_add(s, a, out)
        return
    t, x, index, source = next(tensors_in(out)), a["self"], a["index"], a["src"]
    floats(s, t, x, source)
    if a["reduce"] not in REDUCTIONS or x.dtype != source.dtype:
        raise Unknown("another reduction")
    at = numbers(t.shape, t.device).gather(a["dim"], index).reshape(-1).to("cpu", torch.int64) - 1
    from_ = numbers(source.shape)[tuple(slice(n) for n in index.shape)].reshape(-1).to(torch.int64) - 1
    lists = [[k] if a["include_self"] else [] for k in range(t.numel())]
    for to, of in zip(at.tolist(), from_.tolist()):
        lists[to].append(t.numel() + of)
    ids = [s.input(x), s.input(source)]
    of_lists(s, REDUCTIONS[a["reduce"]], ids, lists, t, torch.arange(t.numel()), native(t))
