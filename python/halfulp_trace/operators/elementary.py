# SPDX-License-Identifier: Apache-2.0
"""Elementary functions of one or two tensors that are a formula of ours: powers of two, logarithms of other bases,
hyperbolic and trigonometric functions, remainders, the magnitude of one number with the sign of another."""
import math

import torch

from ..flat import same_bits
from ..formats import Unknown
from ..values import snapshot, tensors_in
from .formula import Formula, nearest, rounding
from .operands import native, number, rounded_scalar
from .table import operator


def formula(name, *operands):
    """Registers f(m, tensors of the program) -> the last call's operator, operands and attributes."""
    def register(f):
        @operator(name)
        def record(s, a, out):
            m = Formula(s, next(tensors_in(out)))
            last = list(f(m, *[m.of(a[k] if isinstance(a[k], torch.Tensor) else float(a[k])) for k in operands]))
            attr = last.pop() if isinstance(last[-1], dict) else {}
            m.end(*last, **attr)
        return f
    return register


@formula("exp2", "self")
def exp2(m, x):
    return "pow", 2.0, x


@formula("log2", "self")
def log2(m, x):
    return "scale", m("log", x), {"factor": 1 / math.log(2)}


@formula("log10", "self")
def log10(m, x):
    return "scale", m("log", x), {"factor": 1 / math.log(10)}


@formula("tan", "self")
def tan(m, x):
    return "div", m("sin", x), m("cos", x)


@formula("atan2", "self", "other")
def atan2(m, y, x):
    return "atan2", y, x


@formula("atan", "self")
def atan(m, x):
    return "atan2", x, 1.0


def cosine_of(m, x):
    """The cosine of the angle whose sine is x, and the other way round."""
    return m("sqrt", m("mul", m("sub", 1.0, x), m("add", 1.0, x)))


@formula("asin", "self")
def asin(m, x):
    return "atan2", x, cosine_of(m, x)


@formula("acos", "self")
def acos(m, x):
    return "atan2", cosine_of(m, x), x


@formula("sinh", "self")
def sinh(m, x):
    return "scale", m("sub", m("expm1", x), m("expm1", m("neg", x))), {"factor": 0.5}


@formula("cosh", "self")
def cosh(m, x):
    return "scale", m("add", m("exp", x), m("exp", m("neg", x))), {"factor": 0.5}


@formula("asinh", "self")
def asinh(m, x):
    """The sign of x times log(1 + |x| + x^2 / (1 + sqrt(1 + x^2)))."""
    square, one = m("mul", x, x), 1.0
    rest = m("div", square, m("add", one, m("sqrt", m("add", one, square))))
    return "mul", m("log1p", m("add", m("abs", x), rest)), m("sign", x)


@formula("acosh", "self")
def acosh(m, x):
    """log(1 + t + sqrt(2 t + t^2)) with t = x - 1."""
    t = m("sub", x, 1.0)
    root = m("sqrt", m("mul", t, m("add", t, 2.0)))
    return "log1p", m("add", t, root)


@formula("atanh", "self")
def atanh(m, x):
    """The sign of x times log(1 + 2 |x| / (1 - |x|)) / 2."""
    size = m("abs", x)
    y = m("log1p", m("div", m("scale", size, factor=2.0), m("sub", 1.0, size)))
    return "mul", m("scale", y, factor=0.5), m("sign", x)


@formula("hypot", "self", "other")
def hypot(m, x, y):
    return "sqrt", m("add", m("mul", x, x), m("mul", y, y))


@operator("logaddexp")
def logaddexp(s, a, out):
    """max(x, y) + log(1 + exp(-|x - y|)), whose logarithm a kernel rounds."""
    m = Formula(s, next(tensors_in(out)))
    x, y = m.of(a["self"]), m.of(a["other"])
    if not (s.values[x].isfinite() & s.values[y].isfinite()).all():
        raise Unknown("an operand that is not finite")
    top = m.whole("max", x, y)
    away = m("neg", m("abs", m("sub", x, y)))
    exact = m.values(m("exp", away)).log1p()
    low, high = rounding(m.out)
    # the sum's own rounding is granted to the sum
    data = nearest(exact, (low - m.values(top), high - m.values(top)))
    rest = s.call("log1p", [m("exp", away)], [("rest", data)], library=True, compute="fp32")[0]
    m.end("add", top, rest)


@operator("copysign")
def copysign(s, a, out):
    m = Formula(s, next(tensors_in(out)), dtype=None)
    x, y = m.of(a["self"]), m.of(a["other"] if isinstance(a["other"], torch.Tensor) else float(a["other"]))
    data = s.values[y]
    if ((data == 0) & torch.signbit(data)).any() or data.isnan().any():
        raise Unknown("the sign of -0 or of NaN")
    own = s.values[x].dtype
    size = m("abs", x, dtype=own)
    below = m("less", y, 0.0)
    m.end("where", below, m("neg", size, dtype=own), size)


@operator("fmax")
def fmax(s, a, out):
    unless_nan(s, a, out, "max")


@operator("fmin")
def fmin(s, a, out):
    unless_nan(s, a, out, "min")


def unless_nan(s, a, out, op):
    m = Formula(s, next(tensors_in(out)))
    ids = [m.of(a["self"]), m.of(a["other"])]
    if any(s.values[i].isnan().any() for i in ids):
        raise Unknown("an operand that is NaN")
    m.end(op, *ids)


@operator("nan_to_num")
def nan_to_num(s, a, out):
    """x, and numbers where it is NaN or infinite: 0 and the format's largest where none are given."""
    out = next(tensors_in(out))
    m, most, low = Formula(s, out), torch.finfo(out.dtype).max, out.dtype
    x = m.of(a["self"])
    ends = [(float("inf"), most if a["posinf"] is None else a["posinf"]),
            (-float("inf"), -most if a["neginf"] is None else a["neginf"])]
    y = m("where", m("equal", x, x), x, number(s, float(a["nan"] or 0.0), low), dtype=low)
    for k, (at, put) in enumerate(ends):
        met, put = m("equal", x, at), number(s, float(put), low)
        if k:
            m.end("where", met, put, y)
        else:
            y = m("where", met, put, y, dtype=low)


@formula("deg2rad", "self")
def deg2rad(m, x):
    return "scale", x, {"factor": math.pi / 180}


@formula("rad2deg", "self")
def rad2deg(m, x):
    return "scale", x, {"factor": 180 / math.pi}


def towards_zero(m, x, dtype):
    return m("mul", m("floor", m("abs", x, dtype=dtype), dtype=dtype), m("sign", x, dtype=dtype), dtype=dtype)


@operator("trunc", "fix")
def trunc(s, a, out):
    out = next(tensors_in(out))
    m = Formula(s, out)
    x = m.of(a["self"])
    m.end("mul", m("floor", m("abs", x, dtype=out.dtype), dtype=out.dtype), m("sign", x, dtype=out.dtype))


@operator("frac")
def frac(s, a, out):
    out = next(tensors_in(out))
    m = Formula(s, out)
    x = m.of(a["self"])
    m.end("sub", x, towards_zero(m, x, out.dtype))


@operator("fmod", "remainder")
def remainder(s, a, out):
    """x - n y. The whole number n is taken as PyTorch's result tells it."""
    out = next(tensors_in(out))
    m, other = Formula(s, out), a["other"]
    x = m.of(a["self"])
    y = m.of(rounded_scalar(s, other, out) if isinstance(other, torch.Tensor) else number(s, float(other), out.dtype))
    n = ((m.values(x) - snapshot(out).double()) / m.values(y)).round()
    if not n.isfinite().all() or (n.abs() > 2 ** 24).any():
        raise Unknown("a quotient without a whole part")
    i = s.add("", n.to(torch.float32), name="input.quotient", cls="other")
    m.end("addcmul", x, i, y, factor=-1.0)


def rounded_quotient(s, a, out):
    """The quotient, rounded downwards or towards zero. What is rounded towards zero a kernel may have rounded to the
    result's format before."""
    m, other = Formula(s, out), a["other"]
    x, y = m.of(a["self"]), m.of(other if isinstance(other, torch.Tensor) else float(other))
    if a["rounding_mode"] == "floor":
        m.end("floor", m("div", x, y))
    else:
        low = m.values(y).to(out.dtype)
        kept = between(m, x, lambda v: torch.trunc(v / low))
        q = m("div", x, y, dtype=out.dtype if kept == out.dtype else None)
        m.end("mul", m("floor", m("abs", q)), m("sign", q), library=False)


def between(m, x, f):
    """The format that a kernel has between its operations: that of a result of 16 bits, if f of the operand is
    PyTorch's result in it, else fp32 or wider."""
    if same_bits(f(m.s.values[x].to(m.out.dtype)), snapshot(m.out)):
        return m.out.dtype
    return m.wide


@operator("logit")
def logit(s, a, out):
    """log(x / (1 - x)), x perhaps kept away from 0 and 1; the quotient has the kernel's own rounding."""
    out = next(tensors_in(out))
    m = Formula(s, out)
    x = m.of(a["self"])
    if a["eps"] is not None:
        low = float(torch.tensor(a["eps"]).to(out.dtype))
        high = float(torch.tensor(1 - a["eps"]).to(out.dtype))
        x = m("clip", x, dtype=out.dtype, low=low, high=high)
    kept = between(m, x, lambda v: torch.log(v / (1 - v)))
    q = m("div", x, m("sub", 1.0, x, dtype=kept), dtype=kept)
    m.end("log", q, compute=native(out) if kept != m.wide else None)


@operator("logit_backward")
def logit_backward(s, a, out):
    """dy / (x (1 - x)); 0 where x was limited."""
    out = next(tensors_in(out))
    m = Formula(s, out)
    x, dy = m.of(a["self"]), m.of(a["grad_output"])
    g = s.values[dy]
    kept = between(m, x, lambda v: torch.where(snapshot(out) == 0, snapshot(out), g / (v * (1 - v))))
    product = m("mul", x, m("sub", 1.0, x, dtype=kept), dtype=kept)
    if a["eps"] is None:
        m.end("div", dy, product, role="dx")
        return
    beside = m("logical_or", m("less", x, float(a["eps"])), m("greater", x, 1 - float(a["eps"])))
    m.branches(beside, (None, 0.0), ("div", dy, product), role="dx")


@operator("sinc")
def sinc(s, a, out):
    """sin(pi x) / (pi x), and 1 at 0."""
    out = next(tensors_in(out))
    m = Formula(s, out)
    x = m.of(a["self"])
    turned = m.values(x).to(m.wide) * math.pi
    angle = m("scale", x, data=turned, dtype=m.wide, factor=math.pi)
    at = m("equal", x, 0.0)
    m.branches(at, (None, 1.0), ("div", m("sin", angle), angle))


@operator("erfc")
def erfc(s, a, out):
    """1 - erf(x), where that is not so small that the number next to erf(x) decides it."""
    out = next(tensors_in(out))
    m = Formula(s, out)
    if (snapshot(out) < 2.0 ** -16).any():
        raise Unknown("a result near 0")
    m.end("sub", 1.0, m("erf", m.of(a["self"])), library=True)


@operator("special_entr")
def entr(s, a, out):
    """-x log(x), and 0 at 0."""
    out = next(tensors_in(out))
    m = Formula(s, out)
    x = m.of(a["self"])
    if not (s.values[x] >= 0).all():
        raise Unknown("a number below 0, or NaN")
    safe = m("where", m("equal", x, 0.0), 1.0, x)
    kept = between(m, safe, lambda v: -v * torch.log(v))
    m.end("mul", m("neg", safe), m("log", safe, dtype=kept if kept == out.dtype else None), library=True)


@operator("special_xlog1py")
def xlog1py(s, a, out):
    """x log(1 + y), and 0 where x is 0."""
    out = next(tensors_in(out))
    m = Formula(s, out)
    x, y = (m.of(a[k] if isinstance(a[k], torch.Tensor) else float(a[k])) for k in ("self", "other"))
    if not (s.values[y] > -1).all():
        raise Unknown("a logarithm of no number above 0")
    kept = between(m, y, lambda v: s.values[x].to(v.dtype) * torch.log1p(v))
    m.end("mul", x, m("log1p", y, dtype=kept if kept == out.dtype else None), library=True)


@operator("ldexp")
def ldexp(s, a, out):
    m = Formula(s, next(tensors_in(out)))
    m.end("mul", m.of(a["self"]), m("pow", 2.0, m.of(a["other"])), library=True)


@operator("heaviside")
def heaviside(s, a, out):
    """0 below 0, 1 above it, and at 0 another operand."""
    m = Formula(s, next(tensors_in(out)))
    x = m.of(a["self"])
    m.end("where", m("equal", x, 0.0), m.of(a["values"]), m("greater", x, 0.0))
