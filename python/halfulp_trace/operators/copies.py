# SPDX-License-Identifier: Apache-2.0
"""Casts and copies."""
from ..formats import FORMATS, Unknown
from .operands import floats, shared_layout
from ..values import tensors_in
from .table import operator


@operator("_to_copy")
def to_copy(s, a, out):
    x = a["self"]
    floats(s, x, out)
    value = s.old(x)
    if out.dtype == x.dtype:
        s.known[s.key(out)] = value
        return
    if FORMATS[out.dtype].startswith("e") or FORMATS[x.dtype].startswith("e"):
        raise Unknown("8 bits")
    layout = shared_layout([value])
    name = s.program.tensors[s.ids(value, layout)]["name"]
    layer, _, role = name.rpartition(".")
    s.result("cast", [s.ids(value, layout)], out, role=role.split("@")[0] + "@" + FORMATS[out.dtype], layout=layout,
            layer=layer)


@operator("clone")
def clone(s, a, out):
    s.known[s.key(out)] = s.old(a["self"])


@operator("copy")
def copy(s, a, out):
    """copy_: the destination has the source's values, perhaps in another format."""
    out = next(tensors_in(out))
    if tuple(a["src"].size()) != tuple(out.size()) or not a["src"].dtype in FORMATS:
        raise Unknown("a copy to another shape")
    to_copy(s, {"self": a["src"]}, out)
