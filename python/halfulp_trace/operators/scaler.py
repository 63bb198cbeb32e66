# SPDX-License-Identifier: Apache-2.0
"""The GradScaler's own operators."""
import math

import torch

from ..values import Value, snapshot
from .table import operator


def loss_scale(s, i):
    """Notes that what i, or its inverse, was made of is the loss scale, unless one is known. Returns that."""
    if s.scale is not None:
        return s.scale
    made = s.program.made_by(i)
    while made is not None and made["op"] in ("cast", "reciprocal", "scale"):
        i = made["in"][0]
        made = s.program.made_by(i)
    s.scale = i
    s.program.rename(i, "scaler.scale")
    carry(s)
    return i


def carry(s):
    """What the backward pass made carries the loss scale."""
    for call in s.program.calls:
        for t in (s.program.tensors[k] for k in call["out"] if call["phase"] == "backward"):
            if t["class"] in ("gradient", "wgrad"):
                t["loss_scaled"] = True


@operator("_amp_foreach_non_finite_check_and_unscale")
def amp_foreach_non_finite_check_and_unscale(s, a, out):
    """GradScaler's check for infinities and NaN, and the division by the loss scale."""
    grads, found, inverse = a["self"], a["found_inf"], a["inv_scale"]
    before = [s.input(t) for t in grads]
    i = s.input(inverse)
    checked = i not in s.program.maker and float(inverse) == 1   # a fused optimizer divides by itself
    if not checked:
        loss_scale(s, i)
    ids = s.call("finite_check", before, [("found_inf", snapshot(found))], {"judged": len(before)}, layer="scaler")
    s.known[s.key(found)] = Value(snapshot(found), {"plain": ids[0]})
    s.found = ids[0] if s.found is None else s.found
    if s.scale is not None:
        carry(s)
    power = s.scale is not None and math.frexp(float(s.values[s.scale]))[0] == 0.5
    for t, g in zip(grads, before):
        if checked:
            s.known[s.key(t)] = Value(snapshot(t), {"plain": g})
            continue
        s.result("unscale", [g, s.scale], t, {"loss_weight": 1}, library=not power,
                role=s.program.tensors[g]["name"].rpartition(".")[2] + "_unscaled")


@operator("_amp_update_scale")
def amp_update_scale(s, a, out):
    scale, tracker, found = a["self"], a["growth_tracker"], a["found_inf"]
    state = torch.tensor([float(s.old(tracker).data), 0.0, 0.0, 0.0])
    t = s.add("", state, name="scaler.tracker", cls="other")
    i = s.input(scale)
    rule = {"rule": "pytorch", "growth": a["scale_growth_factor"], "backoff": a["scale_backoff_factor"],
            "interval": a["growth_interval"]}
    found = s.found if s.found is not None else s.input(found)
    ids = s.call("scale_update", [i, t, found], [("scale_next", snapshot(scale))], rule, layer="scaler")
    s.program.tensors[i]["state"] = True
    s.ended[i] = ids[0]
    s.known[s.key(scale)] = Value(snapshot(scale), {"plain": ids[0]})
    s.r.scale = scale
