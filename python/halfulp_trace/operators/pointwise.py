# SPDX-License-Identifier: Apache-2.0
"""Operators that are one call of ours without a rule of their own."""
from ..formats import FORMATS
from ..values import tensors_in
from .operands import floats, native, spread_all
from .table import operator
from .threshold import threshold_backward


# Our operator, the operands, whether a library's elementary functions take part, attributes.
ROWS = {
    "relu": ("relu", ["self"]),
    "threshold_backward": ("relu_dx", ["self", "grad_output"]),
    "gelu": ("gelu", ["self"], True, lambda a: {"approx": a["approximate"]}),
    "gelu_backward": ("gelu_dx", ["self", "grad_output"], True, lambda a: {"approx": a["approximate"]}),
    "silu": ("silu", ["self"], True),
    "silu_backward": ("silu_dx", ["self", "grad_output"], True),
    "mish": ("mish", ["self"], True),
    "mish_backward": ("mish_dx", ["self", "grad_output"], True),
    "sigmoid": ("sigmoid", ["self"], True),
    "sigmoid_backward": ("sigmoid_dx", ["output", "grad_output"], True),
    "tanh": ("tanh", ["self"], True),
    "tanh_backward": ("tanh_dx", ["output", "grad_output"], True),
    "hardswish": ("hardswish", ["self"], True),
    "hardswish_backward": ("hardswish_dx", ["self", "grad_output"], True),
    "hardtanh": ("clip", ["self"], False, lambda a: {"low": float(a["min_val"]), "high": float(a["max_val"])}),
    "exp": ("exp", ["self"], True),
    "log": ("log", ["self"], True),
    "sqrt": ("sqrt", ["self"], True),        # by a library's vectors, not correctly rounded
    "rsqrt": ("rsqrt", ["self"], True),
    "reciprocal": ("reciprocal", ["self"]),
    "erf": ("erf", ["self"], True),
    "neg": ("neg", ["self"]),
    "abs": ("abs", ["self"]),
    "minimum": ("min", ["self", "other"]),
    "maximum": ("max", ["self", "other"]),
    "sin": ("sin", ["self"], True),
    "cos": ("cos", ["self"], True),
    "log1p": ("log1p", ["self"], True),
    "expm1": ("expm1", ["self"], True),
    "xlogy": ("xlogy", ["self", "other"], True),
    "sign": ("sign", ["self"]),
    "sgn": ("sign", ["self"]),
    "floor": ("floor", ["self"]),
    "ceil": ("ceil", ["self"]),
    "round": ("round", ["self"]),
    "where": ("where", ["condition", "self", "other"]),
    "_softmax_backward_data": ("softmax_dx", ["output", "grad_output"], True,
            lambda a: {"axis": a["dim"] % a["output"].dim()}),
    "_log_softmax": ("log_softmax", ["self"], True, lambda a: {"axis": a["dim"] % a["self"].dim()}),
    "_log_softmax_backward_data": ("log_softmax_dx", ["output", "grad_output"], True,
            lambda a: {"axis": a["dim"] % a["output"].dim()}),
}


# Those that kernels of the CPU round after each of their operations.
NATIVE = {"rsqrt", "xlogy", "log_softmax"}
HALF = {"sigmoid_dx"}                            # the same, but of fp16 alone


def pointwise(s, row, a, out):
    """The call that a row of ROWS is."""
    op, operands, library, attr = row + (False, None)[len(row) - 2:]
    if op == "relu_dx" and a["threshold"] != 0:
        threshold_backward(s, a, out)
        return
    axis = attr(a) if attr else None
    if axis and "axis" in axis:
        floats(s, out)
        ids, layout = [s.input(a[k]) for k in operands], "plain"
    else:
        ids, layout = spread_all(s, [a[k] for k in operands], out)
    s.result(op, ids, out, axis, layout=layout, library=library, role="dx" if op.endswith("_dx") else "y",
            compute=native(out) if op in NATIVE or op in HALF and FORMATS[out.dtype] == "fp16" else None)


def register(name, row):
    operator(name)(lambda s, a, out: pointwise(s, row, a, next(tensors_in(out))))


for name, row in ROWS.items():
    register(name, row)
