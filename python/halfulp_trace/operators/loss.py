# SPDX-License-Identifier: Apache-2.0
"""Losses of each element: squared, absolute and smoothed differences, and the cross-entropy of probabilities."""
import torch

from ..flat import same_bits
from ..formats import Unknown
from ..values import tensors_in
from .operands import floats, native, spread_plain
from .reduce import reduced
from .table import operator

NONE, MEAN, SUM = 0, 1, 2


def finish(s, i, a, out):
    """Gives out the reduction of the elements' losses, which are tensor i of the program."""
    if a["reduction"] == NONE:
        raise ValueError("no reduction")
    reduced(s, "reduce_mean" if a["reduction"] == MEAN else "reduce_sum", s.values[i], None, out, role="loss", i=i)


def elements(s, a, out, op, operands, data, attr=None, library=False, factor=None):
    """The call that computes the elements' losses, whose values PyTorch's own kernel gives without a reduction, times
    a weight of each element where there is one; then the reduction."""
    out = next(tensors_in(out))
    floats(s, out)
    alone, compute = a["reduction"] == NONE, native(data) if library else None
    if alone and factor is None:
        s.result(op, operands, out, attr, role="loss", library=library, compute=compute)
        return
    i = s.call(op, operands, [("losses", data)], attr, library=library, compute=compute)[0]
    if factor is not None:
        factor = s.spread(s.input(factor), tuple(data.shape))
        if alone:
            s.result("mul", [i, factor], out, role="loss")
            return
        i = s.call("mul", [i, factor], [("weighted", data * s.values[factor])])[0]
    finish(s, i, a, out)


def pair(s, a):
    """Input and target as tensors of the program of one shape, and an empty tensor of the losses' shape and format."""
    x, y = a["self"], a["target"]
    like = torch.empty(torch.broadcast_shapes(x.shape, y.shape), dtype=torch.result_type(x, y))
    floats(s, like)
    return spread_plain(s, [x, y], like), like


@operator("mse_loss")
def mse_loss(s, a, out):
    """The square of a difference, each rounded to the tensors' format."""
    (i, j), like = pair(s, a)
    d = (s.values[i].to(like.dtype) - s.values[j].to(like.dtype))
    k = s.call("sub", [i, j], [("difference", d)])[0]
    elements(s, a, out, "mul", [k, k], d * d)


def share(a, n):
    return 1.0 / n if a["reduction"] == MEAN else 1.0


def slope(s, a, op, attr, out):
    out = next(tensors_in(out))
    ids = spread_plain(s, [a["self"], a["target"], a["grad_output"]], out)
    s.result(op, ids, out, attr, role="dx", library=True, compute=native(out))


@operator("mse_loss_backward")
def mse_loss_backward(s, a, out):
    slope(s, a, "mse_dx", {"factor": 2.0 * share(a, a["self"].numel())}, out)


@operator("smooth_l1_loss")
def smooth_l1_loss(s, a, out):
    ids, _ = pair(s, a)
    if not a["beta"]:
        raise Unknown("a beta of 0")
    data = torch.ops.aten.smooth_l1_loss(s.values[ids[0]], s.values[ids[1]], NONE, a["beta"])
    elements(s, a, out, "smooth_l1", ids, data, {"beta": float(a["beta"])}, library=True)


@operator("smooth_l1_loss_backward")
def smooth_l1_loss_backward(s, a, out):
    if not a["beta"]:
        raise Unknown("a beta of 0")
    slope(s, a, "smooth_l1_dx", {"beta": float(a["beta"]), "factor": share(a, a["self"].numel())}, out)


@operator("huber_loss")
def huber_loss(s, a, out):
    ids, _ = pair(s, a)
    data = torch.ops.aten.huber_loss(s.values[ids[0]], s.values[ids[1]], NONE, a["delta"])
    elements(s, a, out, "huber", ids, data, {"beta": float(a["delta"])}, library=True)


@operator("huber_loss_backward")
def huber_loss_backward(s, a, out):
    slope(s, a, "huber_dx", {"beta": float(a["delta"]), "factor": share(a, a["self"].numel())}, out)


@operator("binary_cross_entropy")
def binary_cross_entropy(s, a, out):
    ids, _ = pair(s, a)
    data = torch.ops.aten.binary_cross_entropy(s.values[ids[0]], s.values[ids[1]], None, NONE)
    elements(s, a, out, "bce", ids, data, None, True, a["weight"])


@operator("binary_cross_entropy_backward")
def binary_cross_entropy_backward(s, a, out):
    """The gradient of each element, times its weight, over their number: each rounded by itself."""
    out = next(tensors_in(out))
    ids = spread_plain(s, [a["self"], a["target"], a["grad_output"]], out)
    dy = s.values[ids[2]]
    data = torch.ops.aten.binary_cross_entropy_backward(dy.contiguous(), s.values[ids[0]], s.values[ids[1]], None, NONE)
    weight, mean = a["weight"], a["reduction"] == MEAN
    if weight is None and not mean:
        s.result("bce_dx", ids, out, role="dx", library=True, compute=native(out))
        return
    i = s.call("bce_dx", ids, [("dlosses", data)], library=True, compute=native(out))[0]
    if weight is not None:
        w = s.spread(s.input(weight), tuple(out.size()))
        if not mean:
            s.result("mul", [i, w], out, role="dx")
            return
        i = s.call("mul", [i, w], [("weighted", data * s.values[w])])[0]
    n = s.spread(s.constant(float(out.numel()), torch.float32), tuple(out.size()))
    s.result("div", [i, n], out, role="dx", library=True)


@operator("binary_cross_entropy_with_logits")
def binary_cross_entropy_with_logits(s, a, out):
    """(1 - t) x - log(sigmoid(x)), whose logarithm has the factor 1 + (p - 1) t where positive labels weigh p; each
    operation rounded to the tensors' format, as PyTorch computes it."""
    out = next(tensors_in(out))
    (i, j), like = pair(s, a)
    x, t, shape = s.values[i], s.values[j], tuple(like.shape)
    if not x.dtype == t.dtype == like.dtype:
        raise Unknown("other formats")
    one = s.spread(s.constant(1.0, torch.float32), shape)
    rest = s.call("sub", [one, j], [("rest", 1 - t)])[0]
    first = s.call("mul", [rest, i], [("first", (1 - t) * x)])[0]
    negative = s.call("neg", [i], [("negative", -x)])[0]
    log = torch.nn.functional.logsigmoid(x)
    soft = s.call("softplus", [negative], [("softplus", -log)], library=True)[0]
    if a["pos_weight"] is not None:
        p = s.spread(s.input(a["pos_weight"]), shape)
        less = s.call("sub", [p, one], [("more", s.values[p] - 1)])[0]
        factor = s.call("mul", [less, j], [("share", s.values[less] * t)])[0]
        factor = s.call("add", [factor, one], [("weight", s.values[factor] + 1)])[0]
        soft = s.call("mul", [soft, factor], [("weighted", s.values[soft] * s.values[factor])])[0]
    losses = s.values[first] + s.values[soft]
    call = ("add", [first, soft])
    again = torch.nn.functional.binary_cross_entropy_with_logits(x, t, reduction="none", pos_weight=None
            if a["pos_weight"] is None else s.values[p])
    if not same_bits(again, losses):
        raise Unknown("a loss that PyTorch computes in another way")
    elements(s, a, [out], call[0], call[1], losses, factor=a["weight"])
