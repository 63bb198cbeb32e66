# SPDX-License-Identifier: Apache-2.0
"""Activations that have parameters of their own, and their gradients."""
import torch

from ..values import Value, snapshot, tensors_in
from .arithmetic import inside
from . import threshold
from .formula import Formula
from .operands import native, pick_layout, spread_all, spread_plain
from .table import operator

# The constants of selu, which PyTorch computes as an elu.
SELU = (1.6732632423543772848170429916717, 1.0507009873554804934193349852946)


def one(s, op, x, out, attr=None, library=True):
    out = next(tensors_in(out))
    ids, layout = spread_all(s, [x], out)
    s.result(op, ids, out, attr, layout=layout, library=library)


def slope(s, op, x, dy, out, attr=None):
    out = next(tensors_in(out))
    i, j, layout = pick_layout(s, [s.old(x), s.old(dy)])
    s.result(op, [i, j], out, attr, role="dx", layout=layout, library=True,
            compute=native(out) if op == "softplus_dx" else None)


@operator("leaky_relu")
def leaky_relu(s, a, out):
    one(s, "leaky_relu", a["self"], out, {"slope": float(a["negative_slope"])})


@operator("leaky_relu_backward")
def leaky_relu_backward(s, a, out):
    slope(s, "leaky_relu_dx", a["self"], a["grad_output"], out, {"slope": float(a["negative_slope"])})


def elu_kind(a):
    """Which of ours an elu is: elu or selu, and its attributes; None where it has other factors."""
    alpha, scale, inner = float(a["alpha"]), float(a.get("scale", 1)), float(a.get("input_scale", 1))
    if (alpha, scale, inner) == SELU + (1.0,):
        return "selu", {}
    if scale != 1 or inner != 1:
        return None, (alpha, scale, inner)
    return "elu", {"alpha": alpha}


@operator("elu")
def elu(s, a, out):
    op, attr = elu_kind(a)
    if op is None:
        threshold.elu(s, a["self"], *attr, out)
    else:
        one(s, op, a["self"], out, attr)


@operator("celu")
def celu(s, a, out):
    """alpha elu(x / alpha), which for alpha = 1 is elu."""
    alpha = float(a["alpha"])
    if alpha != 1:
        threshold.elu(s, a["self"], alpha, 1.0, 1 / alpha, out)
    else:
        one(s, "elu", a["self"], out, {"alpha": 1.0})


@operator("elu_backward")
def elu_backward(s, a, out):
    op, attr = elu_kind(a)
    if op is None or a["is_result"]:
        threshold.elu_backward(s, a, out)
        return
    slope(s, op + "_dx", a["self_or_result"], a["grad_output"], out, attr)


def usual_softplus(a, x):
    """Whether a softplus is ours. Beyond a threshold of 20 PyTorch takes it for the identity, which is off by 2^-33 of
    the result."""
    return float(a["beta"]) == 1 and float(a["threshold"]) >= 20 and x.dtype != torch.float64


@operator("softplus")
def softplus(s, a, out):
    if usual_softplus(a, a["self"]):
        one(s, "softplus", a["self"], out)
    else:
        threshold.softplus(s, a, out)


@operator("softplus_backward")
def softplus_backward(s, a, out):
    if usual_softplus(a, a["self"]):
        slope(s, "softplus_dx", a["self"], a["grad_output"], out)
    else:
        threshold.softplus_backward(s, a, out)


@operator("hardsigmoid")
def hardsigmoid(s, a, out):
    """x + 3, at least 0 and at most 6, over 6: in fp32, or in the tensor's format where that is wider."""
    out = next(tensors_in(out))
    ids, layout = spread_all(s, [a["self"]], out)
    wide = torch.promote_types(out.dtype, torch.float32)
    x, shape = s.values[ids[0]].to(wide), tuple(s.values[ids[0]].shape)
    three, six = (s.spread(s.constant(k, wide), shape) for k in (3.0, 6.0))
    i = s.call("add", [ids[0], three], [("raised", x + 3)])[0]
    i = s.call("clip", [i], [("limited", (x + 3).clamp(0, 6))], {"low": 0.0, "high": 6.0})[0]
    s.result("div", [i, six], out, layout=layout, library=True)


@operator("hardsigmoid_backward")
def hardsigmoid_backward(s, a, out):
    inside(s, a["self"], a["grad_output"], -3.0, 3.0, out, 1 / 6)


@operator("_prelu_kernel")
def prelu(s, a, out):
    """x above 0, else weight x."""
    out = next(tensors_in(out))
    i, w = spread_plain(s, [a["self"], a["weight"]], out)
    x = s.values[i]
    below = s.call("mul", [i, w], [("below", x * s.values[w])])[0]
    zero = s.spread(s.constant(0.0, x.dtype), tuple(x.shape))
    above = s.call("greater", [i, zero], [("above", (x > 0).to(x.dtype))])[0]
    s.result("where", [above, i, below], out)


@operator("_prelu_kernel_backward")
def prelu_backward(s, a, out):
    """dx = dy above 0, else weight dy; the weight's gradient is x dy where x is not above 0."""
    dx, dw = tensors_in(out)
    i, w, j = spread_plain(s, [a["self"], a["weight"], a["grad_output"]], dx)
    x, dy = s.values[i], s.values[j]
    zero = s.spread(s.constant(0.0, x.dtype), tuple(x.shape))
    above = s.call("greater", [i, zero], [("above", (x > 0).to(x.dtype))])[0]
    below = s.call("mul", [w, j], [("below", s.values[w] * dy)])[0]
    s.result("where", [above, j, below], dx, role="dx")
    product = s.call("mul", [i, j], [("xdy", x * dy)])[0]
    s.result("mask_out", [above, product], dw, role="dweight")


@operator("glu")
def glu(s, a, out):
    """The first half of an axis times the sigmoid of the second half."""
    out, x = next(tensors_in(out)), a["self"]
    first, second = halves(s, x, a["dim"])
    wide = torch.sigmoid(s.values[second].to(torch.float64))
    g = s.call("sigmoid", [second], [("gate", wide)], library=True, compute="fp64")[0]
    s.result("mul", [first, g], out, library=True)


@operator("glu_backward")
def glu_backward(s, a, out):
    """With the gate g = sigmoid of the second half, rounded to the tensor's format: dy g, and dy x g (1 - g) of the
    second half, in fp32 or wider before it is rounded."""
    out, x, dim = next(tensors_in(out)), a["self"], a["dim"] % a["self"].dim()
    first, second = halves(s, x, dim)
    like = tuple(a["grad_output"].shape)
    m, dy = Formula(s, a["grad_output"], like), s.input(a["grad_output"])
    gate = s.call("sigmoid", [second], [("gate", torch.sigmoid(s.values[second]))], library=True)[0]
    own = snapshot(out)
    left, right = (t.contiguous() for t in own.chunk(2, dim))
    parts = [s.call("mul", [gate, dy], [("dx", left)], library=True)[0]]
    slope = m.whole("mul", m.whole("mul", m.whole("sub", 1.0, gate), gate), first)
    parts += s.call("mul", [slope, dy], [("dx", right)], library=True)
    s.known[s.key(out)] = Value(own, {"plain": s.call("concat", parts, [("dx", own)], {"axis": dim})[0]})


def halves(s, x, dim):
    """Two moves that are the halves of an axis."""
    i, n = s.input(x), x.dim()
    dim, half = dim % n, x.size(dim % n) // 2
    made = []
    for start in (0, half):
        attr = {"rank": n}
        for j in range(n):
            attr["d%d" % j], attr["from%d" % j] = half if j == dim else x.size(j), j
        if start:
            attr["start%d" % dim] = start
        data = s.values[i].narrow(dim, start, half).contiguous()
        made.append(s.call("move", [i], [("half", data)], attr)[0])
    return made


@operator("log_sigmoid_forward")
def log_sigmoid(s, a, out):
    """-softplus(-x): both changes of sign are exact."""
    out, x = next(tensors_in(out)), s.input(a["self"])
    negative = s.call("neg", [x], [("negative", -s.values[x])])[0]
    y = s.call("softplus", [negative], [("softplus", -snapshot(out))], library=True)[0]
    s.result("neg", [y], out)


@operator("log_sigmoid_backward")
def log_sigmoid_backward(s, a, out):
    """dy sigmoid(-x)"""
    out, x, dy = next(tensors_in(out)), s.input(a["self"]), s.input(a["grad_output"])
    negative = s.call("neg", [x], [("negative", -s.values[x])])[0]
    s.result("softplus_dx", [negative, dy], out, role="dx", library=True, compute=native(out))
