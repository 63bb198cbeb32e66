# SPDX-License-Identifier: Apache-2.0
"""The GradScaler's own operators."""
import torch

from ..values import Value, snapshot
from .table import operator


@operator("_amp_foreach_non_finite_check_and_unscale")
def amp_foreach_non_finite_check_and_unscale(s, a, out):
    """GradScaler's check for infinities and NaN, and the division by the loss scale."""
    grads, found, inverse = a["self"], a["found_inf"], a["inv_scale"]
    before = [s.input(t) for t in grads]
    i = s.input(inverse)
    while s.scale is None:                       # the inverse is made of the scale, through fp64
        made = [c for c in s.program.calls if i in c["out"]]
        if not made or made[0]["op"] not in ("cast", "reciprocal"):
            s.scale = i
            s.program.rename(i, "scaler.scale")
        else:
            i = made[0]["in"][0]
    for call in s.program.calls:                 # what the backward pass made carries the scale
        for t in (s.program.tensors[i] for i in call["out"] if call["phase"] == "backward"):
            if t["class"] in ("gradient", "wgrad"):
                t["loss_scaled"] = True
    ids = s.call("finite_check", before, [("found_inf", snapshot(found))], {"judged": len(before)}, layer="scaler")
    s.known[s.key(found)] = Value(snapshot(found), {"plain": ids[0]})
    s.found = ids[0] if s.found is None else s.found
    for t, g in zip(grads, before):
        s.result("unscale", [g, s.scale], t, {"loss_weight": 1},
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
    s.program.tensors[i].update({"state": True, "next": ids[0]})
    s.known[s.key(scale)] = Value(snapshot(scale), {"plain": ids[0]})
    s.r.scale = scale
