# SPDX-License-Identifier: Apache-2.0
"""Tables."""
from .operands import floats
from .table import operator


@operator("embedding")
def embedding(s, a, out):
    floats(s, out)
    s.result("gather", [s.input(a["weight"]), s.input(a["indices"])], out, {"axis": 0})


