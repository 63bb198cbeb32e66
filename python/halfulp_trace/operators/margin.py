# SPDX-License-Identifier: Apache-2.0
"""Losses with margins: the soft one of signs, and that of several classes. PyTorch computes them operation by operation
in the tensors' own format, and so do these calls."""
import torch

from ..flat import behind, picked, reshaped, sums
from ..formats import Unknown
from ..values import Value, snapshot, tensors_in
from .formula import Formula
from .loss import MEAN, NONE, share
from .operands import number
from .reduce import reduced
from .table import operator


def reduction(s, m, i, a, out):
    """The reduction of the losses that tensor i of the program has."""
    reduced(s, "reduce_mean" if a["reduction"] == MEAN else "reduce_sum", s.values[i], None, out, role="loss", i=i)


def waned(m, a, dtype):
    """exp(-y x)"""
    product = m("mul", m("neg", a["target"], dtype=dtype), a["self"], dtype=dtype)
    return m("exp", product, dtype=dtype)


@operator("soft_margin_loss")
def soft_margin_loss(s, a, out):
    """log(1 + exp(-y x))"""
    out = next(tensors_in(out))
    if a["self"].dtype != a["target"].dtype:
        raise Unknown("other formats")
    m = Formula(s, out, a["self"].shape)
    z = waned(m, a, out.dtype)
    if a["reduction"] == NONE:
        m.end("log1p", z)
    else:
        reduction(s, m, m("log1p", z, dtype=out.dtype), a, out)


@operator("soft_margin_loss_backward")
def soft_margin_loss_backward(s, a, out):
    """-y z / (1 + z) times the gradient and a share, which is rounded to the tensors' format, with z = exp(-y x)."""
    out = next(tensors_in(out))
    if a["self"].dtype != a["target"].dtype:
        raise Unknown("other formats")
    m, low = Formula(s, out), out.dtype
    z = waned(m, a, low)
    top, by = m("mul", a["target"], z, dtype=low), -share(a, a["self"].numel())
    if low.itemsize < 4:
        top = m("mul", top, number(s, by, low), dtype=low)
    else:
        top = m("scale", top, dtype=low, factor=by)
    m.end("mul", m("div", top, m("add", z, 1.0, dtype=low), dtype=low), a["grad_output"], role="dx")


def listed(s, a, out):
    """Of each row of a loss with several labels the spans 1 - (x_t - x_i) of all pairs of a label t and a class i that
    is none: the formula, tensors of the program [row, label, class] of the span and of whether it counts, and the
    labels in the order of their list, which ends at the first negative one."""
    x, t = (a[k].reshape(-1, a[k].size(-1)) if a[k].dim() > 1 else a[k][None] for k in ("self", "target"))
    t, (n, c) = t.cpu(), x.shape
    there = (t >= 0).cumprod(1) > 0
    label = torch.zeros(n, c, dtype=torch.bool)
    for row in range(n):
        label[row, t[row][there[row]]] = True
    m = Formula(s, out, (n, c, c))
    i = s.input(a["self"])
    at = torch.arange(n)[:, None] * c
    own = picked(s, [i], (at + t.clamp(min=0))[:, :, None], "label")
    each = picked(s, [i], (at + torch.arange(c))[:, None, :], "class")
    z = m("add", m("sub", 1.0, own, dtype=m.wide), each, dtype=m.wide)
    pairs = (there[:, :, None] & ~label[:, None, :]).to(torch.float32).contiguous()
    pairs = s.add("", pairs, name="input.pairs", cls="other")
    return m, z, m("mask", pairs, m("greater", z, 0.0), dtype=torch.float32), t, there


@operator("multilabel_margin_loss_forward")
def multilabel_margin_loss(s, a, out):
    """The mean over classes of the sum of all spans that are positive."""
    s.decided([a["self"]], out[1])
    out = out[0]
    m, z, counts, t, _ = listed(s, a, out)
    n, c = t.shape
    h = m("mask", counts, z, dtype=m.wide)
    last = a["reduction"] == NONE or out.numel() == 1 and n == 1
    h = s.call("scale", [h], [("shared", s.values[h].double() * (1 / c))], {"factor": 1 / c})[0]
    if a["reduction"] == NONE:
        own = snapshot(out)
        i = s.call("reduce_sum", [h], [("loss", own.reshape(n))], {"axis": 1, "axes": 2}, library=True)[0]
        s.known[s.key(out)] = Value(own, {"plain": reshaped(s, i, own.shape, "loss")})
        return
    if a["reduction"] == MEAN and not last:
        h = s.call("scale", [h], [("shared", s.values[h].double() * (1 / n))], {"factor": 1 / n})[0]
    s.result("reduce_sum", [h], out, role="loss", library=True)


@operator("multilabel_margin_loss_backward")
def multilabel_margin_loss_backward(s, a, out):
    """Each pair that counts adds a share of the gradient to its class and takes it from its label."""
    out = next(tensors_in(out))
    m, _, counts, t, there = listed(s, a, out)
    n, c = t.shape
    by = 1 / (n * c) if a["reduction"] == MEAN else 1 / c
    dy = a["grad_output"]
    dy = s.input(dy) if dy.dim() == 0 else picked(s, [s.input(dy)], torch.arange(n)[:, None, None], "dloss")
    h = m("scale", m("mul", counts, dy), factor=by)
    at = torch.arange(n)[:, None, None] * c
    to = torch.stack([(at + torch.arange(c)).expand(n, c, c), (at + t.clamp(min=0)[:, :, None]).expand(n, c, c)])
    both = behind(s, [reshaped(s, h, (1, n, c, c)), reshaped(s, m("neg", h), (1, n, c, c))], 0)
    sums(s, None, both, torch.where(there[None, :, :, None], to, -1), out, "dx")


def spans(s, a, out):
    """Of each class but the label how far its logit comes within the margin of the label's: the formula, and tensors
    of the program that have that distance z and whether it counts."""
    x, t = a["self"], a["target"].reshape(-1).cpu()
    if x.dim() != 2 or float(a["p"]) not in (1.0, 2.0):
        raise Unknown("no rows of classes")
    m = Formula(s, out, x.shape)
    n, c = x.shape
    own = picked(s, [s.input(x)], (torch.arange(n) * c + t)[:, None], "label")
    z = m("add", m("sub", float(a["margin"]), own, dtype=m.wide), m.of(x), dtype=m.wide)
    label = torch.nn.functional.one_hot(t, c).to(torch.float32)
    label = s.add("", label, name="input.label", cls="other")
    return m, z, m("mask_out", label, m("greater", z, 0.0), dtype=torch.float32), label


def weighed(s, m, i, a):
    """Tensor i times the weight of each row's label."""
    if a["weight"] is None:
        return i
    w = picked(s, [s.input(a["weight"])], a["target"].reshape(-1, 1).cpu(), "weight")
    return m("mul", i, w, dtype=m.wide)


@operator("multi_margin_loss")
def multi_margin_loss(s, a, out):
    out = next(tensors_in(out))
    m, z, counts, _ = spans(s, a, out)
    h = m("mask", counts, z, dtype=m.wide)
    h = weighed(s, m, m("mul", h, h, dtype=m.wide) if float(a["p"]) == 2 else h, a)
    data = s.values[h].to(torch.float64).mean(1)
    last = a["reduction"] == NONE
    i = s.call("reduce_mean", [h], [("loss" if last else "losses", snapshot(out) if last else data)],
            {"axis": 1, "axes": 1}, library=True)[0]
    if last:
        s.known[s.key(out)] = Value(snapshot(out), {"plain": i})
    else:
        reduction(s, m, i, a, out)


@operator("multi_margin_loss_backward")
def multi_margin_loss_backward(s, a, out):
    """2 z, or 1, where z counts, and for the label the negative of their sum; times a share and the gradient."""
    out = next(tensors_in(out))
    m, z, counts, label = spans(s, a, out)
    each = 1.0 / out.size(1) * share(a, out.size(0))
    if float(a["p"]) == 2:
        h = m("scale", z, dtype=m.wide, factor=2 * each)
    else:
        h = m.of(each)
    h = m("mask", counts, weighed(s, m, h, a), dtype=m.wide)
    total = s.call("reduce_sum", [h], [("total", s.values[h].to(torch.float64).sum(1, keepdim=True))],
            {"axis": 1, "axes": 1, "keep": 1}, library=True)[0]
    dy = a["grad_output"]
    dy = s.input(dy) if dy.dim() == 0 else picked(s, [s.input(dy)], torch.arange(out.size(0))[:, None], "dloss")
    m.end("mul", m("where", label, m("neg", total, dtype=torch.float64), h, dtype=torch.float64), dy, role="dx")
