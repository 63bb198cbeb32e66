# SPDX-License-Identifier: Apache-2.0
"""Losses."""
import torch

from ..formats import Unknown
from ..moves import flat_move
from ..values import snapshot
from .operands import floats
from .table import operator


@operator("nll_loss_forward")
def nll_loss_forward(s, a, out):
    """The mean of -logp at the targets: a gather, its mean, and another sign, which is exact."""
    x, target, loss = a["self"], a["target"], out[0]
    if a["weight"] is not None or a["reduction"] != 1 or x.dim() != 2 or (target == a["ignore_index"]).any():
        raise Unknown("weights")
    rows, columns = x.size()
    i = s.input(x)
    flat = s.call("move", [i], [("flat", s.values[i].reshape(-1))], flat_move((rows * columns,)))[0]
    at = torch.arange(rows, device=target.device) * columns + target
    k = s.add("", snapshot(at), name="input.target", cls="other")
    j = s.call("gather", [flat, k], [("picked", snapshot(x).reshape(-1)[at.cpu()])], {"axis": 0})[0]
    m = s.call("reduce_mean", [j], [("mean", -snapshot(loss))], library=True)[0]
    s.result("neg", [m], loss, role="loss")


@operator("nll_loss_backward")
def nll_loss_backward(s, a, out):
    """-dy / n at the targets, 0 elsewhere."""
    x, target = a["self"], a["target"]
    if a["weight"] is not None or a["reduction"] != 1 or x.dim() != 2 or (target == a["ignore_index"]).any():
        raise Unknown("weights")
    rows, columns = x.size()
    floats(s, out)
    picked = snapshot(out)[0, int(target[0])].reshape(())
    n = s.call("neg", [s.input(a["total_weight"])], [("n", -snapshot(a["total_weight"]))])[0]
    q = s.call("div", [s.input(a["grad_output"]), n], [("dloss", picked)])[0]
    hot = torch.nn.functional.one_hot(target, columns)
    k = s.add("", snapshot(hot).to(torch.float32), name="input.onehot", cls="other")
    s.result("mask", [k, s.spread(q, (rows, columns))], out, role="dx")
