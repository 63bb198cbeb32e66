# SPDX-License-Identifier: Apache-2.0
"""Sums and means over axes."""
from ..formats import Unknown
from .operands import floats
from .table import operator


def reduced(s, op, a, out):
    x = a["self"]
    floats(s, x, out)
    dims = a.get("dim")
    dims = sorted(d % x.dim() for d in ([dims] if isinstance(dims, int) else dims)) if dims else list(range(x.dim()))
    if dims != list(range(dims[0], dims[0] + len(dims))) if dims else False:
        raise Unknown("axes that are no neighbours")
    attr = {"axis": dims[0], "axes": len(dims), "keep": 1 if a.get("keepdim") else 0} if len(dims) < x.dim() else {}
    s.result(op, [s.input(x)], out, attr, library=True)


@operator("sum")
def sum(s, a, out):
    reduced(s, "reduce_sum", a, out)


@operator("mean")
def mean(s, a, out):
    reduced(s, "reduce_mean", a, out)
