# SPDX-License-Identifier: Apache-2.0
"""Tables, concatenation, and the gradients of slices."""
from ..formats import Unknown
from ..moves import flat_move
from .operands import floats
from .table import operator


@operator("embedding")
def embedding(s, a, out):
    floats(s, out)
    s.result("gather", [s.input(a["weight"]), s.input(a["indices"])], out, {"axis": 0})


@operator("embedding_dense_backward")
def embedding_dense_backward(s, a, out):
    if a["padding_idx"] >= 0 and (a["indices"] == a["padding_idx"]).any() or a["scale_grad_by_freq"]:
        raise Unknown("rows without a gradient")
    of = next((s.get(s.value(p)) for p in s.r.model.parameters() if tuple(p.size()) == tuple(out.size())), None)
    if of is None:
        raise Unknown("no such table")
    s.result("gather_dx", [s.input(a["grad_output"]), s.input(a["indices"]), of], out, {"axis": 0}, "dw", library=True)


@operator("cat")
def cat(s, a, out):
    floats(s, out)
    if any(t.numel() == 0 or t.dtype != out.dtype for t in a["tensors"]):
        raise Unknown("other formats")
    s.result("concat", [s.input(t) for t in a["tensors"]], out, {"axis": a["dim"] % out.dim()})


def placed(s, a, out, start, shape):
    """The gradient of a slice: its elements at their place among zeros."""
    i, n = s.input(a["grad_output"]), out.dim()
    dim, attr = a["dim"] % n, {"rank": n}
    if list(s.values[i].shape) != shape:
        i = s.call("move", [i], [("dx@row", s.values[i].reshape(shape))], flat_move(shape))[0]
    for j in range(n):
        attr["d%d" % j], attr["from%d" % j] = out.size(j), j
    attr["start%d" % dim] = -start
    s.result("move", [i], out, attr, "dx")


@operator("slice_backward")
def slice_backward(s, a, out):
    if a["step"] != 1:
        raise Unknown("a step")
    n = a["input_sizes"][a["dim"]]
    placed(s, a, out, a["start"] + n if a["start"] < 0 else a["start"], list(a["grad_output"].size()))


@operator("select_backward")
def select_backward(s, a, out):
    shape = list(a["input_sizes"])
    index = a["index"] % shape[a["dim"]]
    shape[a["dim"]] = 1
    placed(s, a, out, index, shape)
