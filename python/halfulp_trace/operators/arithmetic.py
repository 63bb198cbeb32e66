# SPDX-License-Identifier: Apache-2.0
"""Sums, products, quotients and powers of tensors and numbers."""
import math

import torch

from ..flat import same_bits
from ..formats import FORMATS, LAYOUTS, RANK, WHOLE
from ..values import folded, snapshot, tensors_in
from .elementary import rounded_quotient
from .operands import floats, native, pick_layout, rounded_scalar, shared_layout, spread_all, spread_plain, spread_wide
from .table import operator


@operator("add")
def add(s, a, out):
    weighted(s, a["self"], 1, a["other"], a.get("alpha", 1), out)


@operator("sub")
def sub(s, a, out):
    weighted(s, a["self"], 1, a["other"], -a.get("alpha", 1), out)


@operator("rsub")
def rsub(s, a, out):
    weighted(s, a["other"], 1, a["self"], -a.get("alpha", 1), out)


def weighted(s, x, alpha, y, beta, out):
    """x + y or x - y where the factors are 1 and 1 or -1; else alpha x + beta y, by a library's multiply-adds."""
    out = next(tensors_in(out))
    if not isinstance(x, torch.Tensor):
        x, alpha = alpha * x, 1
    ids, layout = spread_all(s, [x, y], out, rounded=True)
    if (alpha, beta) in ((1, 1), (1, -1)):
        s.result("add" if beta == 1 else "sub", ids, out, layout=layout)
    else:
        s.result("axpby", ids, out, {"alpha": float(alpha), "beta": float(beta)}, layout=layout, library=True,
                compute=native(out))


@operator("mul")
def mul(s, a, out):
    out = next(tensors_in(out))
    x, y = a["self"], a["other"]
    if not isinstance(y, torch.Tensor) and math.isfinite(y):
        floats(s, out)
        if x.dtype in WHOLE:                     # which are rounded to the result's format before
            i = s.input(x)
            i = s.call("cast", [i], [("x@" + FORMATS[out.dtype], s.values[i].to(out.dtype))])[0] \
                if s.values[i].dtype != out.dtype else i
            s.result("scale", [i], out, {"factor": float(y)})
            return
        layout = shared_layout([s.old(x)])
        s.result("scale", [s.input(x, layout)], out, {"factor": float(y)}, layout=layout)
        return
    ids, layout = first_rounded(s, x, y, out)
    s.result("mul", ids, out, layout=layout)


def first_rounded(s, x, y, out):
    """Factors, or a dividend and a divisor, as the CPU takes them: of two tensors one without axes is rounded to the
    other's 16 bits where it is the first."""
    if isinstance(x, torch.Tensor) and not x.dim() and out.dim():
        floats(s, out)
        i = s.spread(rounded_scalar(s, x, out), folded(out.size())) if out.dim() <= RANK else spread_wide(s, x, out)
        return [i] + spread_plain(s, [y], out), "plain"
    return spread_all(s, [x, y], out)


@operator("div")
def div(s, a, out):
    out = next(tensors_in(out))
    if a.get("rounding_mode") is not None:
        rounded_quotient(s, a, out)
        return
    ids, layout = first_rounded(s, a["self"], a["other"], out)
    s.result("div", ids, out, layout=layout, library=not isinstance(a["other"], torch.Tensor))


@operator("addcmul")
def addcmul(s, a, out):
    ternary(s, "addcmul", [a["self"], a["tensor1"], a["tensor2"]], a["value"], out)


@operator("addcdiv")
def addcdiv(s, a, out):
    ternary(s, "addcdiv", [a["self"], a["tensor1"], a["tensor2"]], a["value"], out)


@operator("lerp")
def lerp(s, a, out):
    if isinstance(a["weight"], torch.Tensor):
        ternary(s, "lerp", [a["self"], a["end"], a["weight"]], None, out)
    else:
        ternary(s, "lerp", [a["self"], a["end"]], a["weight"], out)


def ternary(s, op, operands, factor, out):
    out = next(tensors_in(out))
    ids, layout = spread_all(s, operands, out, rounded=True)
    s.result(op, ids, out, None if factor is None else {"factor": float(factor)}, layout=layout, library=True)


# Powers that PyTorch computes by an elementary operation: of a tensor x our operator, its operands, and whether its
# result is a library's.
POWERS = {2: ("mul", 2, False), -1: ("reciprocal", 1, False), 0.5: ("sqrt", 1, True), -0.5: ("rsqrt", 1, True)}


@operator("pow")
def pow(s, a, out):
    out = next(tensors_in(out))
    x, e = a["self"], a["exponent"]
    by = not isinstance(x, torch.Tensor) or isinstance(e, torch.Tensor)      # no number is the exponent
    if not by and e in (0, 1):
        floats(s, x, out)
        s.known[s.key(out)] = s.old(x) if e == 1 else s.unmade(out, "one", name="const.1")
        return
    if not by and e == 3 and cube(s, x, out):
        return
    if by or e not in POWERS:                    # the exponent or the base is rounded to the result's format before
        ids, layout = spread_all(s, [x, e], out, rounded=True)
        s.result("pow", ids, out, layout=layout, library=True, compute=native(out) if not by and e == -2 else None)
        return
    op, n, library = POWERS[e]
    ids, layout = spread_all(s, [x], out)
    s.result(op, ids * n, out, layout=layout, library=library, compute=native(out) if library else None)


def cube(s, x, out):
    """x x, then times x: rounded in between to bf16 where that is the format, else to fp32 or wider. Returns whether
    these are the result's bits."""
    (i,), layout = spread_all(s, [x], out)
    data = s.values[i]
    wide = data.dtype if data.dtype == torch.bfloat16 else torch.promote_types(data.dtype, torch.float32)
    square = (data.to(wide) * data.to(wide)).to(wide)
    own = snapshot(out)
    own = own if layout == "plain" else own.permute(LAYOUTS[layout])
    if not same_bits((square * data).to(own.dtype), own):
        return False
    k = s.call("mul", [i, i], [("square", square)])[0]
    s.result("mul", [k, i], out, layout=layout)
    return True


@operator("hardtanh_backward")
def hardtanh_backward(s, a, out):
    """The gradient strictly between the two ends, 0 elsewhere."""
    inside(s, a["self"], a["grad_output"], a["min_val"], a["max_val"], out)


def inside(s, x, dy, low, high, out, factor=None):
    """dy where low < x < high, else 0; times a factor."""
    x, dy = s.old(x), s.old(dy)
    i, j, layout = pick_layout(s, [x, dy])
    x, dy = s.values[i], s.values[j]
    low, high = (torch.tensor(k, dtype=torch.promote_types(x.dtype, torch.float32)) for k in (low, high))
    x = x.to(low.dtype)                          # ends are compared as fp32 numbers
    ends = [s.spread(s.constant(float(k), k.dtype), tuple(x.shape)) for k in (low, high)]
    kept = (x > low) & (x < high)
    above = s.call("greater", [i, ends[0]], [("above", (x > low).to(dy.dtype))])[0]
    below = s.call("less", [i, ends[1]], [("below", (x < high).to(dy.dtype))])[0]
    both = s.call("logical_and", [above, below], [("inside", kept.to(dy.dtype))])[0]
    if factor is None:
        s.result("mask", [both, j], out, role="dx", layout=layout)
    else:
        m = s.call("mask", [both, j], [("kept", torch.where(kept, dy, torch.zeros((), dtype=dy.dtype)))])[0]
        s.result("scale", [m], out, {"factor": factor}, role="dx", layout=layout, library=True)


@operator("masked_fill")
def masked_fill(s, a, out):
    out = next(tensors_in(out))
    value = a["value"]
    ids = spread_plain(s, [a["mask"], value if isinstance(value, torch.Tensor) else float(value), a["self"]], out)
    s.result("where", ids, out)
