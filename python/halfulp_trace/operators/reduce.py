# SPDX-License-Identifier: Apache-2.0
"""Sums, means, norms and extremes over axes."""
import math

import torch

from ..formats import FORMATS, RANK, WHOLE, Unknown
from ..moves import flat_move, permuting_move
from ..values import Value, snapshot, tensors_in
from .copies import truncated
from .formula import nearest, rounding
from .operands import floats, native
from .table import operator


def axes_of(x, dims):
    """The axes that a reduction runs over, in ascending order: all of them where none is named."""
    if dims is None or (isinstance(dims, (list, tuple)) and not dims):
        return list(range(x.dim()))
    return sorted(d % x.dim() for d in ([dims] if isinstance(dims, int) else dims)) if x.dim() else []


def along(s, i, dims):
    """Tensor i with the axes `dims` side by side, moved behind the others where they are not, and attributes of a
    reduction over them."""
    n = len(s.program.tensors[i]["shape"])
    if not dims or len(dims) == n:
        return i, {}
    if dims != list(range(dims[0], dims[0] + len(dims))):
        order = [k for k in range(n) if k not in dims] + dims
        data = s.values[i].permute(order).contiguous()
        i = s.call("move", [i], [("x@axes", data)], permuting_move(list(s.values[i].shape), order))[0]
        dims = list(range(n - len(dims), n))
    return i, {"axis": dims[0], "axes": len(dims)}


def reduced(s, op, x, dims, out, library=True, role="y", attr=None, i=None, compute=None):
    """The reduction of x, or of the program's tensor i of its shape, that makes out."""
    i = s.input(x) if i is None else i
    if s.values[i].dtype == torch.float64 and x.dtype not in FORMATS and out.dtype in FORMATS:
        raise Unknown("whole numbers")
    i, axes = along(s, i, axes_of(x, dims))
    own = snapshot(out)
    shape = list(s.values[i].shape)
    if axes:
        del shape[axes["axis"]:axes["axis"] + axes["axes"]]
    else:
        shape = []
    j = s.call(op, [i], [(role, own.reshape(shape))], dict(axes, **(attr or {})), library=library, compute=compute)[0]
    if shape != list(own.shape):
        j = s.call("move", [j], [(role + "@keep", own)], flat_move(tuple(own.shape)))[0]
    s.known[s.key(out)] = Value(own, {"plain": j})


@operator("sum", "nansum")
def sum(s, a, out):
    reduced(s, "reduce_sum", a["self"], a.get("dim"), next(tensors_in(out)))


@operator("mean")
def mean(s, a, out):
    floats(s, a["self"])
    reduced(s, "reduce_mean", a["self"], a.get("dim"), next(tensors_in(out)))


@operator("prod")
def prod(s, a, out):
    out, x = next(tensors_in(out)), a["self"]
    reduced(s, "reduce_prod", x, a.get("dim"), out, compute=native(out))
    if torch.is_grad_enabled() and s.phase() == "forward" and s.learned(x):
        s.r.warn("the gradient of a product (prod) has another formula in PyTorch while operators are watched: the "
                 "training's bits may differ from those without the recorder")


@operator("logsumexp")
def logsumexp(s, a, out):
    out = next(tensors_in(out))
    reduced(s, "logsumexp", a["self"], a["dim"], out, compute=native(out))


@operator("amax")
def amax(s, a, out):
    reduced(s, "reduce_max", a["self"], a["dim"], next(tensors_in(out)), library=False)


@operator("amin")
def amin(s, a, out):
    reduced(s, "reduce_min", a["self"], a["dim"], next(tensors_in(out)), library=False)


@operator("max")
def max(s, a, out):
    extreme(s, a, out, "max")


@operator("min")
def min(s, a, out):
    extreme(s, a, out, "min")


def extreme(s, a, out, which):
    """The largest or smallest, and where dim is named also its index: the first one, as ours is."""
    out = list(tensors_in(out))
    reduced(s, "reduce_" + which, a["self"], a.get("dim"), out[0], library=False)
    if len(out) > 1:
        index(s, a["self"], a["dim"], out[1], which)


@operator("argmax")
def argmax(s, a, out):
    index(s, a["self"], a["dim"], next(tensors_in(out)), "max")


@operator("argmin")
def argmin(s, a, out):
    index(s, a["self"], a["dim"], next(tensors_in(out)), "min")


def index(s, x, dim, out, which):
    floats(s, x)
    own = snapshot(x).reshape(-1) if dim is None else snapshot(x).movedim(dim, -1)
    best = own.amax(-1, True) if which == "max" else own.amin(-1, True)
    places = torch.arange(own.shape[-1]).expand(own.shape)
    first = torch.where(own == best, places, own.shape[-1]).amin(-1)
    if torch.equal(first, out.detach().cpu().reshape(first.shape)):
        reduced(s, "arg" + which, x, dim, out, library=False, role="index")
    else:                                        # of several equal ones PyTorch took another than the first
        s.known[s.key(out)] = s.unmade(out, "index")


@operator("linalg_vector_norm")
def linalg_vector_norm(s, a, out):
    """The norm of order 2 is a root of a sum of squares, of 1 the sum of absolute values, of infinity the largest."""
    x, out, order = a["self"], next(tensors_in(out)), float(a["ord"])
    floats(s, x, out)
    if order == 2:
        reduced(s, "reduce_norm", x, a["dim"], out)
        return
    if order not in (1, math.inf, -math.inf):
        power_norm(s, x, order, a["dim"], out)
        return
    i = s.input(x)
    i = s.call("abs", [i], [("abs", s.values[i].abs())])[0]
    op = "reduce_sum" if order == 1 else "reduce_max" if order > 0 else "reduce_min"
    reduced(s, op, x, a["dim"], out, library=order == 1, i=i)


def power_norm(s, x, order, dims, out):
    """The root of a sum of powers. The sum is a kernel's own, as far as the root tells it."""
    if order == 0 or not math.isfinite(order):
        raise Unknown("a norm of another order")
    i, axes = along(s, s.input(x), axes_of(x, dims))
    data, own = s.values[i].double().abs(), snapshot(out)
    over = list(range(axes["axis"], axes["axis"] + axes["axes"])) if axes else list(range(data.dim()))
    i = s.call("abs", [i], [("abs", s.values[i].abs())])[0]
    by = s.spread(s.constant(order, torch.float64), tuple(data.shape))
    powers = data ** order
    i = s.call("pow", [i, by], [("powers", powers)], library=True)[0]
    total = powers.sum(over)
    low, high = (e.clamp(min=0).reshape(total.shape) ** order for e in rounding(out))
    j = s.call("reduce_sum", [i], [("powers", nearest(total, (low, high)))], axes, library=True, compute="fp32" if
            out.dtype != torch.float64 else None)[0]
    by = s.spread(s.constant(1 / order, torch.float64), tuple(total.shape))
    j = s.call("pow", [j, by], [("y", own.reshape(total.shape))], library=True)[0]
    if tuple(total.shape) != tuple(own.shape):
        j = s.call("move", [j], [("y@keep", own)], flat_move(tuple(own.shape)))[0]
    s.known[s.key(out)] = Value(own, {"plain": j})


@operator("norm")
def norm(s, a, out):
    """torch.norm as autograd has it: of order 2 where none is given."""
    p = a.get("p")
    linalg_vector_norm(s, {"self": a["self"], "ord": 2 if p is None else p, "dim": a.get("dim")}, out)


@operator("cumsum")
def cumsum(s, a, out):
    """Sums of the elements up to each one along an axis."""
    out, x = next(tensors_in(out)), a["self"]
    if out.dtype in WHOLE:                       # counts, as indices are made of them
        if x.dtype in FORMATS and s.learned(x):
            truncated(s, x)
        s.decided([x], out)
        return
    floats(s, x, out)
    n, dim = x.dim(), a["dim"] % x.dim() if x.dim() else 0
    if not n or n > RANK or out.dtype != x.dtype and FORMATS[out.dtype] != "fp32":
        raise Unknown("no axis")
    own = snapshot(out)
    j = s.call("cumsum", [s.input(x)], [("y", own)], {"axis": dim}, library=True)[0]
    s.known[s.key(out)] = Value(own, {"plain": j})


@operator("var", "std", "var_mean", "std_mean")
def var(s, a, out):
    """The variance, or its root, and the mean beside it where that is asked for. The variance below a root has the
    precision of fp64."""
    out, x = list(tensors_in(out)), a["self"]
    dims, root = axes_of(x, a.get("dim")), s.running[0]._schema.name.partition("::")[2].startswith("std")
    n = math.prod(x.size(d) for d in dims)
    correction = a.get("correction", 1 if a.get("unbiased", True) else 0)
    correction = 1.0 if correction is None else float(correction)
    floats(s, x, out[0])
    attr = {"correction": correction}
    if n <= correction:
        raise Unknown("a variance of too few elements")
    if root:
        i, axes = along(s, s.input(x), dims)
        exact = s.values[i].to(torch.float64)
        over = list(range(axes["axis"], axes["axis"] + axes["axes"])) if axes else list(range(exact.dim()))
        exact = exact.var(over, correction=correction)
        j = s.call("reduce_var", [i], [("var", exact)], dict(axes, **attr), library=True, compute="fp64")[0]
        own = snapshot(out[0])
        j = s.call("sqrt", [j], [("std", own.reshape(exact.shape))], library=True, compute=deviation(out[0], n))[0]
        if tuple(exact.shape) != tuple(own.shape):
            j = s.call("move", [j], [("std@keep", own)], flat_move(tuple(own.shape)))[0]
        s.known[s.key(out[0])] = Value(own, {"plain": j})
    else:
        reduced(s, "reduce_var", x, a.get("dim"), out[0], attr=attr)
    if len(out) > 1:
        reduced(s, "reduce_mean", x, a.get("dim"), out[1])


def deviation(out, n):
    """What std computes in: fp32 from sums in fp64, but of fp16 from sums in fp32, whose errors its own roundings
    cover."""
    return native(out)
