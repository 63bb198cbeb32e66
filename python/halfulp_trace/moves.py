# SPDX-License-Identifier: Apache-2.0
"""The moves that views and layouts are: their attributes as halfulp has them."""
from .formats import RANK


def flat_move(shape):
    return dict({"rank": len(shape), "flat": 1}, **{"d%d" % j: n for j, n in enumerate(shape)})


def permuting_move(shape, order):
    attr = {"rank": len(order)}
    for j, k in enumerate(order):
        attr["d%d" % j], attr["from%d" % j] = shape[k], k
    return attr


def view_moves(parent, child):
    """Attributes of the moves that make the view `child` of the tensor `parent`, both as (offset, size, stride):
    slices, permutations, repetitions; then another shape. None where they are no such moves."""
    offset, size, stride = parent
    rest = child[0] - offset
    start = [0] * len(size)
    for k in sorted(range(len(size)), key=lambda k: -stride[k]):
        if size[k] > 1 and stride[k] > 0:
            start[k] = min(rest // stride[k], size[k] - 1)
            rest -= start[k] * stride[k]
    if rest:
        return None
    axes, free = [], [k for k in range(len(size)) if size[k] > 1]
    for n, s in zip(child[1], child[2]):
        take = None
        if n > 1 and s != 0:
            fits = [k for k in free if stride[k] > 0 and s % stride[k] == 0
                    and start[k] + (n - 1) * (s // stride[k]) < size[k]]
            take = max(fits, key=lambda k: stride[k], default=None)
            if take is None:
                return None
            free.remove(take)
        axes.append((n, take, s // stride[take] if take is not None else 1))
    axes = [(1, k, 1) for k in free] + axes      # axes that a selection leaves out have one element, and then vanish
    if len(axes) > RANK:
        return None
    attr = {"rank": len(axes)}
    for j, (n, k, step) in enumerate(axes):
        attr["d%d" % j] = n
        if k is not None:
            attr["from%d" % j] = k
            if start[k]:
                attr["start%d" % j] = start[k]
            if step != 1:
                attr["step%d" % j] = step
    return [attr] + ([flat_move(child[1])] if free else [])


def same_order(a, b):
    """Whether two views of a storage have the same elements in the same order."""
    def runs(t):
        out = []
        for n, s in zip(t.size(), t.stride()):
            if n == 1:
                continue
            if out and out[-1][1] == n * s:
                out[-1] = (out[-1][0] * n, s)
            else:
                out.append((n, s))
        return out
    return a.storage_offset() == b.storage_offset() and runs(a) == runs(b)
