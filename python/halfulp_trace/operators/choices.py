# SPDX-License-Identifier: Apache-2.0
"""Choices by the values of floats that the exact step takes as recorded, such as the indices of topk: the comparisons
that they rest on are calls, whose results have `choice`, so that `analyze` counts how many of them exact values make
otherwise."""
import torch

from ..flat import picked
from ..formats import Unknown
from ..values import snapshot


def ordered(s, sources, above, below):
    """A choice that rests on elements at the places `above` of PyTorch's tensors `sources`, one behind the other, that
    are no less than those at the places `below`."""
    if not above.numel() or not any(s.learned(x) for x in sources):
        return
    ids = [s.elements(x) for x in sources]
    if len({s.values[i].dtype for i in ids}) > 1:
        return
    a, b = (picked(s, ids, at.reshape(-1).to("cpu", torch.int64), role) for at, role in (
        (above, "above"), (below, "below")))
    i = s.call("greater_equal", [a, b], [("chosen", (s.values[a] >= s.values[b]).to(torch.float32))])[0]
    s.program.tensors[i]["choice"] = True


def selected(s, x, dim, indices):
    """Elements of x along an axis, which were chosen because they are the largest or the smallest, because as many
    others are smaller, or in an order."""
    if not x.dim() or not indices.numel() or not s.learned(x):
        return
    own = snapshot(x).reshape(x.shape).movedim(dim, -1)
    place = torch.arange(x.numel()).reshape(x.shape).movedim(dim, -1).reshape(-1, own.shape[-1])
    own = own.reshape(place.shape).float()
    at = indices.detach().cpu().movedim(dim, -1).reshape(len(own), -1)
    chosen, mine, k = own.gather(1, at), place.gather(1, at), at.shape[1]
    free = torch.ones_like(own, dtype=torch.bool).scatter(1, at, False)
    if not bool((free.sum(1) == own.shape[1] - k).all()):
        return                                   # some element more than once, as of cummax
    if k == own.shape[1]:
        rises = bool((chosen[:, 1:] >= chosen[:, :-1]).all())
        ordered(s, [x], *((mine[:, 1:], mine[:, :-1]) if rises else (mine[:, :-1], mine[:, 1:])))
        return
    rest, other = place[free].reshape(len(own), -1), own[free].reshape(len(own), -1)
    if k == 1:
        less = other <= chosen
        ordered(s, [x], torch.where(less, mine, rest), torch.where(less, rest, mine))
        return
    sign = 1 if bool((chosen.amin(1) >= other.amax(1)).all()) else -1
    last, next = mine.gather(1, (sign * chosen).argmin(1, True)), rest.gather(1, (sign * other).argmax(1, True))
    sides = torch.cat([last.expand_as(rest), mine], 1), torch.cat([rest, next.expand_as(mine)], 1)
    ordered(s, [x], *sides[::sign])


def of_windows(s, x, indices, attr):
    """The largest elements of windows of an image, whose places are used themselves."""
    if attr.get("dilation_h", 1) != 1 or attr.get("dilation_w", 1) != 1 or "ceil" in attr:
        raise Unknown("places of a pooling with dilation, or rounded up")
    n = torch.arange(1, x.numel() + 1).reshape(x.shape)
    pads = attr["padding_left"], attr["padding_right"], attr["padding_top"], attr["padding_bottom"]
    windows = torch.nn.functional.pad(n, pads).unfold(2, attr["size_h"], attr["stride_h"]).unfold(
        3, attr["size_w"], attr["stride_w"]).flatten(4) - 1
    plane = x.size(2) * x.size(3)
    first = torch.arange(x.size(0) * x.size(1)).reshape(x.size(0), x.size(1), 1, 1) * plane
    mine = (indices.detach().cpu() + first).unsqueeze(-1).expand(windows.shape)
    other = (windows >= 0) & (windows != mine)
    ordered(s, [x], mine[other], windows[other])


def between(s, x, bounds, indices):
    """Elements of x, each between the two numbers of a rising sequence that its index names."""
    if bounds.dim() != 1 or x.dtype != bounds.dtype:
        return
    at, own = indices.detach().cpu().reshape(-1), torch.arange(x.numel())
    low, high = at > 0, at < len(bounds)
    at = x.numel() + at
    ordered(s, [x, bounds], torch.cat([own[low], at[high]]), torch.cat([at[low] - 1, own[high]]))
