# SPDX-License-Identifier: Apache-2.0
"""Activations that are one of two functions by a comparison: thresholds, shrinkage, random slopes, elu with factors of
its own, softplus of another steepness, and their gradients. The branch that an element does not take has no part."""
import torch

from ..values import tensors_in
from .formula import Formula, nearest, rounding
from .operands import number
from .table import operator


def formula(s, out):
    return Formula(s, next(tensors_in(out)))


def limit(m, x):
    """A threshold as the kernel has it: a number of the tensor's own format."""
    return m.of(number(m.s, float(x), m.out.dtype))


def end(m, x):
    """A threshold that a kernel compares in fp32 or wider."""
    return m.of(m.s.constant(float(torch.tensor(float(x), dtype=m.wide)), m.wide))


@operator("threshold")
def threshold(s, a, out):
    """x above a threshold, which is compared as an fp32 number, else a number."""
    m = formula(s, out)
    x = m.of(a["self"])
    m.end("where", m("less_equal", x, end(m, a["threshold"])), limit(m, a["value"]), x)


def threshold_backward(s, a, out):
    m = formula(s, out)
    m.end("mask_out", m("less_equal", a["self"], end(m, a["threshold"])), a["grad_output"], role="dx")


def shrunk(m, x, width):
    """Whether x is between -width and width."""
    low, high = limit(m, -width), limit(m, width)
    return m("logical_and", m("greater_equal", x, low), m("less_equal", x, high))


@operator("hardshrink")
def hardshrink(s, a, out):
    m = formula(s, out)
    x = m.of(a["self"])
    m.end("mask_out", shrunk(m, x, float(a["lambd"])), x)


@operator("hardshrink_backward", "softshrink_backward")
def shrink_backward(s, a, out):
    m = formula(s, out)
    dy = a["grad_out"] if "grad_out" in a else a["grad_output"]
    m.end("mask_out", shrunk(m, m.of(a["self"]), float(a["lambd"])), dy, role="dx")


@operator("softshrink")
def softshrink(s, a, out):
    """x nearer to 0 by a width, or 0."""
    m = formula(s, out)
    x, width = m.of(a["self"]), float(a["lambd"])
    low, high = limit(m, -width), limit(m, width)
    less = m("sub", x, high, dtype=m.out.dtype)
    more = m("mask", m("less", x, low), m("sub", x, low, dtype=m.out.dtype), dtype=m.out.dtype)
    m.end("where", m("greater", x, high), less, more)


@operator("rrelu_with_noise")
def rrelu(s, a, out):
    """x above 0, else x times a slope, which is drawn where it trains. A slope of 16 bits is stored rounded, but it is
    not rounded where it multiplies: it is taken as the number nearest to the stored one that gives the result."""
    m = formula(s, out)
    x = m.of(a["self"])
    if a["training"]:
        noise = a["noise"]
        s.known[s.key(noise)] = s.unmade(noise, "slope")
        i = s.ids(s.known[s.key(noise)])
        if m.out.dtype != m.wide:
            held, data = s.values[i].to(torch.float64), m.values(x)
            slope = nearest(held, tuple(end / data for end in rounding(m.out)))
            i = s.add("", torch.where(data > 0, held, slope), name="input.slope", cls="other")
        m.end("mul", x, s.spread(i, m.shape))
    else:
        m.end("leaky_relu", x, slope=(float(a["lower"]) + float(a["upper"])) / 2)


@operator("rrelu_with_noise_backward")
def rrelu_backward(s, a, out):
    m = formula(s, out)
    if a["training"] and float(a["upper"]) - float(a["lower"]) > 1e-6:
        m.end("mul", a["noise"], a["grad_output"], role="dx")
    else:
        m.end("leaky_relu_dx", a["self"], a["grad_output"], role="dx",
                slope=(float(a["lower"]) + float(a["upper"])) / 2)


def elu(s, x, alpha, scale, inner, out):
    """scale x above 0, else alpha scale (exp(inner x) - 1)."""
    m = formula(s, out)
    x = m.of(x)
    below = m("expm1", m.whole("scale", x, factor=inner))
    m.branches(m("less_equal", x, 0.0), ("scale", below, {"factor": alpha * scale}), ("scale", x, {"factor": scale}))


def elu_backward(s, a, out):
    """scale dy above 0, else dy inner alpha scale exp(inner x), whose last factors a result y tells as y + alpha
    scale."""
    alpha, scale, inner = float(a["alpha"]), float(a["scale"]), float(a["input_scale"])
    m = formula(s, out)
    x, dy = m.of(a["self_or_result"]), m.of(a["grad_output"])
    if a["is_result"]:
        slope = m("scale", m.whole("add", x, alpha * scale), factor=inner)
    else:
        slope = m("scale", m("exp", m.whole("scale", x, factor=inner)), factor=inner * alpha * scale)
    m.branches(m("less_equal", x, 0.0), ("mul", dy, slope), ("scale", dy, {"factor": scale}), role="dx")


def steep(m, a):
    """x, beta x as the kernel rounds it, and where that is above the threshold."""
    x = m.of(a["self"])
    z = m.whole("scale", x, factor=float(a["beta"]))
    return x, z, m("greater", z, float(a["threshold"]))


def softplus(s, a, out):
    """log(1 + exp(beta x)) / beta, and x above a threshold."""
    m = formula(s, out)
    x, z, above = steep(m, a)
    m.branches(above, (None, x), ("div", m("softplus", z), float(a["beta"])))


def softplus_backward(s, a, out):
    """dy sigmoid(beta x), and dy above a threshold."""
    m = formula(s, out)
    _, z, above = steep(m, a)
    dy = m.of(a["grad_output"])
    m.branches(above, (None, dy), ("mul", dy, m("sigmoid", z)), role="dx")
