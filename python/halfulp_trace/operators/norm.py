# SPDX-License-Identifier: Apache-2.0
"""Batch and layer normalisation."""
from ..formats import LAYOUTS, Unknown
from ..values import Value, snapshot
from .table import operator


def norm_layout(x):
    if x.dim() not in (2, 4):
        raise Unknown("neither rows nor images")
    return "nhwc" if x.dim() == 4 else "plain"


@operator("native_batch_norm", "_native_batch_norm_legit", "cudnn_batch_norm", "miopen_batch_norm")
def native_batch_norm(s, a, out):
    x, y = a["input"], out[0]
    layout = norm_layout(x)
    if a["weight"] is None or a["bias"] is None or a["running_mean"] is None:
        raise Unknown("no parameters")
    rest = [s.input(a[k]) for k in ("weight", "bias", "running_mean", "running_var")]
    if not a["training"]:
        s.result("batchnorm_eval", [s.input(x, layout)] + rest, y, {"eps": a["eps"]}, layout=layout, library=True)
        return
    data = snapshot(y) if layout == "plain" else snapshot(y).permute(LAYOUTS[layout]).contiguous()
    ids = s.call("batchnorm", [s.input(x, layout)] + rest, [("y", data), ("mean", snapshot(out[1])),
            ("rstd", snapshot(out[2]))],
                 {"eps": a["eps"], "momentum": 1 - a["momentum"]}, library=True)
    s.known[s.key(y)] = Value(snapshot(y), {layout: ids[0]})
    for t, i in zip(out[1:3], ids[1:]):
        s.known[s.key(t)] = Value(snapshot(t), {"plain": i})
    for t, role in ((a["running_mean"], "running_mean_next"), (a["running_var"], "running_var_next")):
        s.known[s.key(t)] = s.unmade(t, role)
    s.r.opaque["running statistics of " + "native_batch_norm"] += 1


def norm_backward(s, op, x, w, mean, rstd, dy, out, layout):
    if any(t is None for t in out[:3]) or w is None:
        raise Unknown("not every gradient")
    ids = [s.input(x, layout), s.input(w), s.input(mean), s.input(rstd), s.input(dy, layout)]
    dx = snapshot(out[0]) if layout == "plain" else snapshot(out[0]).permute(LAYOUTS[layout]).contiguous()
    made = s.call(op, ids, [("dx", dx), ("dgamma", snapshot(out[1])), ("dbeta", snapshot(out[2]))], library=True,
            layer=s.layer_of(ids[1:2]))
    for t, i, where in zip(out, made, (layout, "plain", "plain")):
        s.known[s.key(t)] = Value(snapshot(t), {where: i})


@operator("native_batch_norm_backward")
def native_batch_norm_backward(s, a, out):
    if not a["train"]:
        raise Unknown("evaluation")
    norm_backward(s, "batchnorm_dx", a["input"], a["weight"], a["save_mean"], a["save_invstd"], a["grad_out"], out,
            norm_layout(a["input"]))


@operator("cudnn_batch_norm_backward")
def cudnn_batch_norm_backward(s, a, out):
    norm_backward(s, "batchnorm_dx", a["input"], a["weight"], a["save_mean"], a["save_var"], a["grad_output"], out,
            norm_layout(a["input"]))


@operator("native_layer_norm")
def native_layer_norm(s, a, out):
    if len(a["normalized_shape"]) != 1 or a["weight"] is None or a["bias"] is None:
        raise Unknown("several axes")
    ids = [s.input(a["input"]), s.input(a["weight"]), s.input(a["bias"])]
    made = s.call("layernorm", ids, [("y", snapshot(out[0])), ("mean", snapshot(out[1]).reshape(-1)),
            ("rstd", snapshot(out[2]).reshape(-1))], {"eps": a["eps"]}, library=True)
    for t, i in zip(out, made):
        s.known[s.key(t)] = Value(snapshot(t), {"plain": i})


@operator("native_layer_norm_backward")
def native_layer_norm_backward(s, a, out):
    if len(a["normalized_shape"]) != 1:
        raise Unknown("several axes")
    norm_backward(s, "layernorm_dx", a["input"], a["weight"], a["mean"], a["rstd"], a["grad_out"], out, "plain")
