# SPDX-License-Identifier: Apache-2.0
"""The negative log-likelihood of classes, with weights, ignored labels and every reduction, of rows and of images."""
import torch

from ..formats import FORMATS, WHOLE
from ..moves import flat_move, permuting_move
from ..values import Value, snapshot
from .loss import MEAN, NONE
from .operands import floats
from .table import operator


class Rows:
    """The operands of a loss as rows of classes: `x` (rows, classes), `target` of each row, `kept` those that count."""

    def __init__(self, s, a):
        self.shape = a["self"].shape
        target = a["target"].detach().cpu().reshape(-1)
        self.target, self.kept = target, target != a["ignore_index"]
        self.classes = self.shape[0] if len(self.shape) == 1 else self.shape[1]
        self.rows = target.numel()
        self.at = torch.where(self.kept, target, torch.zeros_like(target))

    def of(self, s, i):
        """Tensor i, which has the classes on axis 1, as rows."""
        n = len(self.shape)
        if n > 2:
            order = [0] + list(range(2, n)) + [1]
            i = s.call("move", [i], [("classes@last", s.values[i].permute(order).contiguous())],
                    permuting_move(list(self.shape), order))[0]
        flat = (self.rows * self.classes,)
        return s.call("move", [i], [("flat", s.values[i].reshape(-1))], flat_move(flat))[0]


def pick(s, table, places, role):
    k = s.add("", snapshot(places), name="input.target", cls="other")
    return s.call("gather", [table, k], [(role, s.values[table][places])], {"axis": 0})[0]


@operator("nll_loss_forward", "nll_loss2d_forward")
def nll_loss_forward(s, a, out):
    """The mean of -logp at the targets, weighted: a gather, products, a sum and a quotient; another sign is exact."""
    loss, total = out[0], out[1]
    floats(s, a["self"], loss)
    r = Rows(s, a)
    flat = r.of(s, s.input(a["self"]))
    places = torch.arange(r.rows) * r.classes + r.at
    if a["reduction"] == NONE:
        every(s, a, r, pick(s, flat, places, "picked"), loss)
        s.known[s.key(total)] = s.unmade(total, "total")
        return
    low = FORMATS[loss.dtype] if loss.dtype in (torch.bfloat16, torch.float16) else None
    if not r.kept.any():
        zero = s.constant(0.0, loss.dtype)
        made = s.call("div", [zero, zero], [("loss", snapshot(loss))])[0] if a["reduction"] == MEAN else zero
        s.known[s.key(loss)] = Value(snapshot(loss), {"plain": made})
        s.known[s.key(total)] = s.unmade(total, "total")
        return
    picked, mean = pick(s, flat, places[r.kept], "picked"), a["reduction"] == MEAN
    if a["weight"] is None:
        s.known[s.key(total)] = s.unmade(total, "total")
        op = "reduce_mean" if mean else "reduce_sum"
        m = s.call(op, [picked], [("mean", -snapshot(loss))], library=True, compute=low)[0]
        s.result("neg", [m], loss, role="loss")
        return
    w = pick(s, s.input(a["weight"]), r.target[r.kept], "weights")
    m = s.call("mul", [picked, w], [("weighted", s.values[picked] * s.values[w])])[0]
    t = s.result("reduce_sum", [w], total, role="total", library=True, compute=low)
    if mean:
        kernel = torch.ops.aten.nll_loss2d_forward if len(r.shape) > 2 else torch.ops.aten.nll_loss_forward
        summed = snapshot(kernel(a["self"].detach(), a["target"], a["weight"].detach(), 2, a["ignore_index"])[0])
        m = s.call("reduce_sum", [m], [("sum", -summed)], library=True, compute=low)[0]
        m = s.call("div", [m, t], [("mean", -snapshot(loss))])[0]
    else:
        m = s.call("reduce_sum", [m], [("sum", -snapshot(loss))], library=True, compute=low)[0]
    s.result("neg", [m], loss, role="loss")


def every(s, a, r, picked, loss):
    """The losses of all rows by themselves: 0 where the label is ignored."""
    if a["weight"] is not None:
        w = pick(s, s.input(a["weight"]), r.at, "weights")
        picked = s.call("mul", [picked, w], [("weighted", s.values[picked] * s.values[w])])[0]
    kept = s.add("", r.kept.to(torch.float32), name="input.kept", cls="other")
    data = torch.where(r.kept, -s.values[picked], torch.zeros((), dtype=loss.dtype))
    n = s.call("neg", [picked], [("negative", -s.values[picked])])[0]
    m = s.call("mask", [kept, n], [("losses", data)])[0]
    if loss.dim() != 1:
        m = s.call("move", [m], [("losses@shape", data.reshape(loss.shape))], flat_move(tuple(loss.shape)))[0]
    s.known[s.key(loss)] = Value(snapshot(loss), {"plain": m})


@operator("nll_loss_backward", "nll_loss2d_backward")
def nll_loss_backward(s, a, out):
    """-w dy at the targets, over the sum of the weights where the loss is a mean; 0 elsewhere."""
    floats(s, a["self"], out)
    r, own = Rows(s, a), snapshot(out)
    n, shape = own.dim(), (r.rows, r.classes)
    order = [0] + list(range(2, n)) + [1] if n > 2 else list(range(n))
    dy, g = s.input(a["grad_output"]), snapshot(a["grad_output"])
    negative = s.call("neg", [dy], [("negative", -g)])[0]
    g = -g
    if a["reduction"] == MEAN:
        total = s.input(a["total_weight"])
        g = g / s.values[total].to(g.dtype)
        negative = s.call("div", [negative, total], [("dloss", g)])[0]
    if a["reduction"] == NONE:
        negative = s.call("move", [negative], [("dlosses", g.reshape(-1))], flat_move((r.rows,)))[0]
        g = g.reshape(-1)
    if a["weight"] is not None:
        w = pick(s, s.input(a["weight"]), r.at, "weights")
        negative = s.spread(negative, (r.rows,))
        g = (s.values[w] * s.values[negative]).to(out.dtype)
        negative = s.call("mul", [w, negative], [("dweighted", g)])[0]
    column = list(s.program.tensors[negative]["shape"])
    if column:
        negative = s.call("move", [negative], [("dlosses", s.values[negative].reshape(r.rows, 1))],
                flat_move((r.rows, 1)))[0]
    hot = torch.nn.functional.one_hot(r.at, r.classes) * r.kept[:, None]
    k = s.add("", hot.to(WHOLE[torch.bool]), name="input.onehot", cls="other")
    rows = own.permute(order).reshape(shape)
    j = s.call("mask", [k, s.spread(negative, shape)], [("dx", rows)])[0]
    if n != 2:
        last = own.permute(order).contiguous()
        j = s.call("move", [j], [("dx@shape", last)], flat_move(tuple(last.shape)))[0]
    if n > 2:
        back = [order.index(k) for k in range(n)]
        j = s.call("move", [j], [("dx", own)], permuting_move(list(last.shape), back))[0]
    s.known[s.key(out)] = Value(own, {"plain": j})
