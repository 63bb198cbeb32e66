# SPDX-License-Identifier: Apache-2.0
"""Casts and copies."""
import torch

from ..formats import FORMATS, WHOLE, Unknown
from ..values import Value, snapshot, tensors_in
from .formula import Formula
from .operands import floats, shared_layout
from .table import operator


def cast(s, i, to, role, layer):
    """Tensor i of the program rounded to a format."""
    return s.call("cast", [i], [("%s@%s" % (role, FORMATS[to]), s.values[i].to(to))], layer=layer)[0]


@operator("_to_copy", "convert_element_type")
def to_copy(s, a, out):
    """A cast. Whole numbers are rounded, too: 257 is 256 in bf16, through fp32 where they have more than 24 bits."""
    x = a["self"]
    if out.dtype in WHOLE:
        if out.dtype != torch.bool and x.dtype in FORMATS and s.learned(x):
            if is_code(out.dtype):               # codes of values, and no places
                codes(s, x, out)
                return
            truncated(s, x)
        elif is_code(x.dtype) and is_code(out.dtype) and s.old(x).data is not None and (
                torch.equal(s.old(x).data, snapshot(out))):
            s.known[s.key(out)] = s.old(x)
            return
        s.decided([x], out)                      # truncation, as an index is made
        return
    floats(s, out)
    value = s.old(x)
    if out.dtype == x.dtype:
        s.known[s.key(out)] = value
        return
    layout = shared_layout([value])
    i = s.ids(value, layout)
    layer, _, role = s.program.tensors[i]["name"].rpartition(".")
    role = role.split("@")[0]
    if x.dtype in WHOLE:
        layer, role = s.layer_of([i]) if s.phase() == "forward" else layer, "x" if layer == "input" else role
        if out.dtype.itemsize < 4 and bool((value.data.abs() > 2 ** 24).any()):
            i = cast(s, i, torch.float32, role, layer)
        if s.values[i].dtype == out.dtype:
            s.known[s.key(out)] = Value(snapshot(out), {layout: i})
            return
    s.result("cast", [i], out, role=role + "@" + FORMATS[out.dtype], layout=layout, layer=layer)
    s.casts[s.storage(out)] = s.storage(x)


def is_code(dtype):
    """Whether a type of whole numbers is one that states of few bits have."""
    return dtype in WHOLE and dtype != torch.bool and dtype.itemsize < 4


def codes(s, x, out):
    """Whole numbers of 8 or 16 bits are x without its fraction, in a format that holds them."""
    i, own = s.input(x), snapshot(out)
    m = Formula(s, own, own.shape, own.dtype)
    if not torch.equal(s.values[i], s.values[i].trunc()):
        i = m("mul", m("floor", m("abs", i, dtype=s.values[i].dtype)), m("sign", i))
    if not torch.equal(s.values[i].to(own.dtype), own):
        raise Unknown("numbers that codes do not hold")
    if s.values[i].dtype != own.dtype:
        i = cast(s, i, own.dtype, "codes", s.layer_of([i]))
    if (s.values[i].signbit() & (s.values[i] == 0)).any():       # whole numbers have no -0
        i = m("add", i, s.spread(s.constant(0, own.dtype, (1,)), tuple(own.shape)))
    s.known[s.key(out)] = Value(own, {"plain": i})


def truncated(s, x):
    """The whole numbers that a cast makes of what is learned are a choice: floats that are whole, or what rounds them
    towards 0."""
    value = s.old(x)
    data = value.data
    if data is None:
        raise Unknown("an operand that no format holds")
    if torch.equal(data, data.trunc()):
        s.choose(value)
        return
    if (data < 0).any() and (data > 0).any():
        raise Unknown("numbers of both signs are rounded towards 0")
    op, whole = ("ceil", data.ceil()) if (data < 0).any() else ("floor", data.floor())
    s.program.tensors[s.call(op, [s.get(value)], [("whole", whole)])[0]]["choice"] = True


@operator("clone")
def clone(s, a, out):
    s.known[s.key(out)] = s.old(a["self"])


@operator("copy")
def copy(s, a, out):
    """copy_: the destination has the source's values, perhaps in another format."""
    out = next(tensors_in(out))
    x = a["src"]
    if x.dtype == out.dtype == torch.uint8:      # bytes, as Python's deepcopy() copies a tensor's memory
        s.twins[s.storage(out), s.version[s.storage(out)]] = s.storage(x), s.version[s.storage(x)]
    if tuple(x.size()) == tuple(out.size()):
        to_copy(s, {"self": x}, out)
        return
    floats(s, out)
    i = s.input(x)
    if s.values[i].dtype != out.dtype:
        layer, _, role = s.program.tensors[i]["name"].rpartition(".")
        i = cast(s, i, out.dtype, role.split("@")[0], layer)
    s.known[s.key(out)] = Value(snapshot(out), {"plain": s.spread(i, tuple(out.size()))})
