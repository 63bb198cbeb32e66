# SPDX-License-Identifier: Apache-2.0
"""Batch, layer and group normalisation."""
import math

import torch

from ..formats import RANK, Unknown
from ..moves import flat_move, permuting_move
from ..values import Value, snapshot
from .operands import floats, native
from .table import operator


def channels_last(s, x):
    """x with its axis 1 behind the others."""
    if x.dim() < 2 or x.dim() > RANK:
        raise Unknown("neither rows nor images")
    if x.dim() in (2, 4):
        return s.input(x, "nhwc" if x.dim() == 4 else "plain")
    order = [0] + list(range(2, x.dim())) + [1]
    i = s.input(x)
    return s.call("move", [i], [("x@last", s.values[i].permute(order).contiguous())],
            permuting_move(list(x.size()), order))[0]


def last(t):
    """The values of t with its axis 1 behind the others."""
    return snapshot(t).permute([0] + list(range(2, t.dim())) + [1]).contiguous() if t.dim() > 2 else snapshot(t)


def settle(s, t, i, layout="plain"):
    s.known[s.key(t)] = Value(snapshot(t), {layout: i})


def settle_last(s, t, i):
    """Tensor i is t with its axis 1 behind the others."""
    n = t.dim()
    if n in (2, 4):
        settle(s, t, i, "nhwc" if n == 4 else "plain")
        return
    back = [0, n - 1] + list(range(1, n - 1))
    settle(s, t, s.call("move", [i], [("y", snapshot(t))], permuting_move(list(s.values[i].shape), back))[0])


def parameter(s, t, x, otherwise, n):
    """The program's tensor of a parameter, or where there is none n times the number that it stands for."""
    dtype = torch.promote_types(x.dtype, torch.float32)
    return s.constant(otherwise, dtype, (n,)) if t is None else s.input(t)


@operator("native_batch_norm", "_native_batch_norm_legit", "cudnn_batch_norm", "miopen_batch_norm")
def native_batch_norm(s, a, out):
    x, y, mean, var = a["input"], out[0], a.get("running_mean"), a.get("running_var")
    floats(s, x, y)
    n = x.size(1)
    rest = [parameter(s, t, x, k, n) for t, k in ((a["weight"], 1.0), (a["bias"], 0.0), (mean, 0.0), (var, 1.0))]
    i, eps = channels_last(s, x), a.get("eps", a.get("epsilon"))
    if not a.get("training", True):
        settle_last(s, y, s.call("batchnorm_eval", [i] + rest, [("y", last(y))], {"eps": eps}, library=True)[0])
        return
    if is_short(out[1]):
        short_statistics(s, a, i, rest, out)
        return
    made = [("y", last(y)), ("mean", snapshot(out[1])), ("rstd", snapshot(out[2]))]
    moving = [t for t in (mean, var) if t is not None]
    made += [(role, snapshot(t)) for role, t in zip(("running_mean_next", "running_var_next"), moving)]
    attr = {"eps": eps, "momentum": 1 - a.get("momentum", a.get("exponential_average_factor")), "unbiased": 1}
    ids = s.call("batchnorm", [i] + rest, made, attr, library=True)
    settle_last(s, y, ids[0])
    for t, k in zip(list(out[1:3]) + moving, ids[1:]):
        settle(s, t, k)


def is_short(t):
    return t.dtype in (torch.bfloat16, torch.float16)


def statistics(s, i, axes, over, mean, rstd, eps):
    """The mean over axes of tensor i, and 1 / sqrt(var + eps), each rounded to a format of 16 bits from wider sums; and
    the square of the mean's rounding error where the variance is that about the mean as it is rounded, else None."""
    x = s.values[i].to(torch.float64)
    exact, own = x.mean(over), snapshot(rstd)
    shape = exact.shape
    j = s.call("reduce_mean", [i], [("mean", snapshot(mean).reshape(shape))], axes, library=True)[0]
    var, off = variance(s, i, axes, over, 0), s.values[j].to(torch.float64) - exact
    square = None
    if nearer(own.reshape(shape), *((s.values[var] + more + eps).rsqrt() for more in (off * off, 0 * off))):
        k = s.call("reduce_mean", [i], [("mean_exact", exact)], axes, library=True, compute="fp64")[0]
        k = s.call("sub", [j, k], [("mean_off", off)])[0]
        square = s.call("mul", [k, k], [("mean_off", off * off)])[0]
        var = s.call("add", [var, square], [("var", s.values[var] + off * off)])[0]
    more = s.spread(s.constant(eps, torch.float64), tuple(s.values[var].shape))
    k = s.call("add", [var, more], [("shifted", s.values[var] + eps)])[0]
    k = s.call("rsqrt", [k], [("rstd", own.reshape(shape))], library=True, compute=native(rstd))[0]
    return j, k, square


def variance(s, i, axes, over, correction):
    data = s.values[i].to(torch.float64).var(over, correction=correction)
    attr = dict(axes, correction=float(correction)) if correction else axes
    return s.call("reduce_var", [i], [("var", data)], attr, library=True, compute="fp64")[0]


def nearer(own, first, second):
    """Whether the first of two tensors explains a result better than the second."""
    own = own.to(torch.float64)
    far = [float(((own - x) / x).abs().amax()) for x in (first, second)]
    return far[0] < far[1]


def short_statistics(s, a, i, rest, out):
    """A batch norm whose statistics have 16 bits: y = x alpha + (beta - mean alpha) with alpha = gamma rstd, from mean
    and rstd as they are rounded; sums and running statistics by wider ones."""
    shape, momentum = tuple(s.values[i].shape), a["momentum"]
    axes, x = {"axis": 0, "axes": len(shape) - 1}, s.values[i].to(torch.float64)
    over = list(range(len(shape) - 1))
    mean, rstd, square = statistics(s, i, axes, over, out[1], out[2], a["eps"])
    gamma, beta = rest[:2]
    g, b, m, r = (s.values[k].to(torch.float32) for k in (gamma, beta, mean, rstd))
    alpha = s.call("mul", [rstd, gamma], [("alpha", r * g)])[0]
    taken = s.call("mul", [mean, alpha], [("taken", m * (r * g))])[0]
    offset = s.call("sub", [beta, taken], [("offset", b - m * (r * g))])[0]
    y = s.call("addcmul", [s.spread(offset, shape), i, s.spread(alpha, shape)], [("y", last(out[0]))], library=True)[0]
    settle_last(s, out[0], y)
    settle(s, out[1], mean)
    settle(s, out[2], rstd)
    n = x.numel() // x.shape[-1]
    for t, k, fresh in ((a.get("running_mean"), rest[2], lambda: s.call("reduce_mean", [i], [("fresh", x.mean(over))],
                                axes, library=True, compute="fp64")[0]),
                        (a.get("running_var"), rest[3], lambda: spread_of(s, i, axes, over, square, n))):
        if t is not None:
            fresh = fresh()
            settle(s, t, s.call("axpby", [k, fresh], [("next", snapshot(t))], {"alpha": 1 - momentum, "beta": momentum},
                    library=True, compute=native(t))[0])


def spread_of(s, i, axes, over, square, n):
    """The variance over n elements as running statistics have it, about the mean that the kernel takes."""
    var = variance(s, i, axes, over, 1)
    if square is None:
        return var
    more = s.call("scale", [square], [("mean_off", s.values[square] * (n / (n - 1)))], {"factor": n / (n - 1)})[0]
    return s.call("add", [var, more], [("fresh", s.values[var] + s.values[more])])[0]


def norm_backward(s, op, ids, shapes, outs, again):
    """The call of a norm's gradients, of which PyTorch computes those that are asked for: `again` computes them all
    by its kernel, `shapes` gives what the program has of each. Returns the tensors of those that PyTorch made."""
    every = outs
    if outs[0] is None or outs[2] is not None and outs[1] is None:
        every = again()
    roles = ("dx", "dgamma", "dbeta")[:3 if outs[2] is not None else 2 if outs[1] is not None else 1]
    made = s.call(op, ids, [(r, shape(t)) for r, shape, t in zip(roles, shapes, every)], library=True,
            layer=s.layer_of(ids[1:2]))
    return list(zip(outs, made))


@operator("native_batch_norm_backward")
def native_batch_norm_backward(s, a, out):
    if not a["train"]:
        fixed_statistics(s, a, out)
        return
    batch_backward(s, a, a["grad_out"], a["save_mean"], a["save_invstd"], out)


@operator("cudnn_batch_norm_backward", "miopen_batch_norm_backward")
def cudnn_batch_norm_backward(s, a, out):
    batch_backward(s, a, a["grad_output"], a["save_mean"], a["save_var"], out)


def batch_backward(s, a, dy, mean, rstd, out):
    x, w = a["input"], a["weight"]

    def again():
        return torch.ops.aten.native_batch_norm_backward(dy, x, w, a["running_mean"], a["running_var"], mean, rstd,
                True, a.get("eps", a.get("epsilon")), [True] * 3)
    ids = [channels_last(s, x), parameter(s, w, x, 1.0, x.size(1)), s.input(mean), s.input(rstd), channels_last(s, dy)]
    outs = [t if t is not None and t.numel() else None for t in (list(out) + [None] * 3)[:3]]
    for k, (t, i) in enumerate(norm_backward(s, "batchnorm_dx", ids, (last, snapshot, snapshot), outs, again)):
        if t is not None:
            (settle if k else settle_last)(s, t, i)


def fixed_statistics(s, a, out):
    """The gradients of a batch norm in evaluation: dx = dy gamma rstd, and sums of dy and dy (x - mean) rstd, where
    rstd = 1 / sqrt(var + eps) has the precision of fp64."""
    x, dy, w = a["input"], a["grad_out"], a["weight"]
    i, j, n = channels_last(s, x), channels_last(s, dy), x.size(1)
    shape = tuple(s.values[i].shape)
    var, wide = s.input(a["running_var"]), torch.float64
    eps = s.spread(s.constant(a["eps"], wide), (n,))
    shifted = s.values[var].to(wide) + a["eps"]
    k = s.call("add", [var, eps], [("shifted", shifted)])[0]
    rstd = s.call("rsqrt", [k], [("rstd", shifted.rsqrt())], library=True)[0]
    outs = (list(out) + [None] * 3)[:3]
    if outs[0] is not None:
        g = parameter(s, w, x, 1.0, n)
        factor = s.call("mul", [g, rstd], [("factor", s.values[g].to(wide) * s.values[rstd])])[0]
        dx = s.call("mul", [j, s.spread(factor, shape)], [("dx", last(outs[0]))], library=True)[0]
        settle_last(s, outs[0], dx)
    if outs[1] is not None:
        mean = s.spread(s.input(a["running_mean"]), shape)
        settle(s, outs[1], s.call("groupnorm_dgamma", [i, mean, s.spread(rstd, shape), j], [("dgamma",
                snapshot(outs[1]))], library=True)[0])
    if outs[2] is not None:
        settle(s, outs[2], s.call("bias_db", [j], [("dbeta", snapshot(outs[2]))], library=True)[0])


def rows(s, i, columns):
    """Tensor i as rows of so many columns."""
    shape = (s.values[i].numel() // columns, columns)
    if tuple(s.values[i].shape) == shape:
        return i
    return s.call("move", [i], [("x@rows", s.values[i].reshape(shape))], flat_move(shape))[0]


def shaped(s, t, i):
    """Tensor i has the elements of t in their order."""
    shape = tuple(t.size())
    if tuple(s.values[i].shape) != shape:
        i = s.call("move", [i], [("y", snapshot(t))], flat_move(shape))[0]
    settle(s, t, i)


def flat(t):
    return snapshot(t).reshape(-1)


@operator("native_layer_norm")
def native_layer_norm(s, a, out):
    x, n = a["input"], math.prod(a["normalized_shape"])
    floats(s, x)
    ids = [s.input(x)] + [parameter(s, a[k], x, o, n) for k, o in (("weight", 1.0), ("bias", 0.0))]
    ids = layer_operands(s, ids, 3, len(a["normalized_shape"]), n)
    own = snapshot(out[0]).reshape(s.values[ids[0]].shape)
    by_rows(s, "layernorm", ids, own, a["eps"], out)


def by_rows(s, op, ids, own, eps, out):
    """A norm whose last axis is a group. Statistics of 16 bits are rounded from those that y is made of."""
    made = [("y", own), ("mean", flat(out[1])), ("rstd", flat(out[2]))]
    short = is_short(out[1])
    made = s.call(op, ids, made[:1] if short else made, {"eps": eps}, library=True)
    if short:
        axes = {"axis": s.values[ids[0]].dim() - 1, "axes": 1}
        made = made + list(statistics(s, ids[0], axes, [-1], out[1], out[2], eps)[:2])
    for t, i in zip(out, made):
        shaped(s, t, i)


def layer_operands(s, ids, parameters, axes, n):
    """The operands as layernorm takes them: the first, and those from `parameters` on, have rows of n elements, the
    others are flat."""
    x = s.values[ids[0]]
    if axes == 1 and x.dim() > 1:
        return ids
    out = []
    for k, i in enumerate(ids):
        whole = k == 0 or k >= parameters
        if not whole and s.values[i].dim() > 1:
            i = s.call("move", [i], [("w@flat", s.values[i].reshape(-1))], flat_move((n,)))[0]
        out.append(rows(s, i, n) if whole else i)
    return out


@operator("native_layer_norm_backward")
def native_layer_norm_backward(s, a, out):
    x, dy, w, shape = a["input"], a["grad_out"], a["weight"], a["normalized_shape"]
    n = math.prod(shape)
    statistics = []
    for key in ("mean", "rstd"):
        i = s.input(a[key])
        statistics.append(s.call("move", [i], [(key, s.values[i].reshape(-1))], flat_move((s.values[i].numel(),)))[0]
                if s.values[i].dim() != 1 else i)
    ids = [s.input(x), parameter(s, w, x, 1.0, n)] + statistics + [s.input(dy)]
    ids = layer_operands(s, ids, 4, len(shape), n)
    like = s.values[ids[0]].shape

    def again():
        return torch.ops.aten.native_layer_norm_backward(dy, x, shape, a["mean"], a["rstd"], w, a["bias"], [True] * 3)
    forms = (lambda t: snapshot(t).reshape(like), flat, flat)
    for t, i in norm_backward(s, "layernorm_dx", ids, forms, (list(out) + [None] * 3)[:3], again):
        if t is not None:
            shaped(s, t, i)


def of_groups(s, t, like, n, groups):
    """A statistic of each group of each image, as one for every element of `like`."""
    i = s.input(t)
    i = s.call("move", [i], [("statistic", s.values[i].reshape(n * groups, 1))], flat_move((n * groups, 1)))[0] \
        if s.values[i].dim() != 2 or s.values[i].shape[1] != 1 else i
    return s.spread(i, like)


def of_channels(s, i, x, like, groups):
    """A parameter of each channel as one for every element of x, as rows of a group each."""
    c, inner = x.size(1), x.numel() // (x.size(0) * x.size(1))
    i = s.call("move", [i], [("w@column", s.values[i].reshape(c, 1))], flat_move((c, 1)))[0]
    i = s.spread(i, (x.size(0), c, inner))
    return rows(s, i, like[1])


@operator("native_group_norm")
def native_group_norm(s, a, out):
    x, groups = a["input"], a["group"]
    floats(s, x)
    like = (x.size(0) * groups, x.numel() // (x.size(0) * groups))
    i = rows(s, s.input(x), like[1])
    w, b = (of_channels(s, parameter(s, a[k], x, o, x.size(1)), x, like, groups)
            for k, o in (("weight", 1.0), ("bias", 0.0)))
    by_rows(s, "groupnorm", [i, w, b], snapshot(out[0]).reshape(like), a["eps"], out)


@operator("native_group_norm_backward")
def native_group_norm_backward(s, a, out):
    """dx is layernorm's of rows that are a group each, with gamma dy, whose product fp64 holds, for dy; the gradient
    of the factors is a sum over images and places of each channel."""
    x, dy, groups = a["input"], a["grad_out"], a["group"]
    floats(s, x, dy)
    n, c = x.size(0), x.size(1)
    like, (dx, dw, db) = (n * groups, x.numel() // (n * groups)), (list(out) + [None] * 3)[:3]
    i, j = s.input(x), s.input(dy)
    mean, rstd = (of_groups(s, a[k], like, n, groups) for k in ("mean", "rstd"))
    if dx is not None:
        r = rows(s, j, like[1])
        if a["weight"] is not None:
            w = of_channels(s, s.input(a["weight"]), x, like, groups)
            r = s.call("mul", [w, r], [("g", s.values[w].to(torch.float64) * s.values[r].to(torch.float64))])[0]
        one = s.constant(1.0, torch.promote_types(x.dtype, torch.float32), (like[1],))
        stats = [s.call("move", [k], [("statistic", s.values[k].reshape(-1))], flat_move((like[0],)))[0]
                 if s.values[k].dim() != 1 else k for k in (s.input(a["mean"]), s.input(a["rstd"]))]
        k = s.call("layernorm_dx", [rows(s, i, like[1]), one] + stats + [r], [("dx", snapshot(dx).reshape(like))],
                library=True, layer=s.layer_of([i]))[0]
        shaped(s, dx, k)
    if dw is None and db is None:
        return
    layer = s.layer_of([s.input(a["weight"])]) if a["weight"] is not None else s.layer_of([i])
    dy_last = channels_last(s, dy)
    if dw is not None:
        each = []
        for k in (mean, rstd):
            shape, order = (n, c, x.numel() // (n * c)), [0, 2, 1]
            k = s.call("move", [k], [("statistic@image", s.values[k].reshape(shape))], flat_move(shape))[0]
            data = s.values[k].permute(order).reshape(s.values[dy_last].shape)
            k = s.call("move", [k], [("statistic@last", s.values[k].permute(order).contiguous())],
                    permuting_move(list(shape), order))[0]
            each.append(k if data.dim() == 3 else s.call("move", [k], [("statistic@shape", data)],
                    flat_move(tuple(data.shape)))[0])
        k = s.call("groupnorm_dgamma", [channels_last(s, x)] + each + [dy_last], [("dgamma", snapshot(dw))],
                library=True, layer=layer)[0]
        settle(s, dw, k)
    if db is not None:
        settle(s, db, s.call("bias_db", [dy_last], [("dbeta", snapshot(db))], library=True, layer=layer)[0])
