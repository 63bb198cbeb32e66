# SPDX-License-Identifier: Apache-2.0
"""The optimizers that PyTorch fuses: a kernel updates every parameter and rounds once. A GradScaler hands them its
scale and what it found, by which the kernel divides the gradients, and skips."""
import torch

from ..optimizers import one_update
from ..values import Value, geometry, snapshot
from .composed import composed
from .scaler import loss_scale
from .table import operator


@operator("_fused_adamw_")
def fused_adamw(s, a, out):
    fused(s, a, "adamw", ["exp_avgs", "exp_avg_sqs", "max_exp_avg_sqs"], not a["amsgrad"])


@operator("_fused_adam_")
def fused_adam(s, a, out):
    """Adam without decay is AdamW without it; decay that the gradient gets is a call of its own."""
    fused(s, a, "adamw", ["exp_avgs", "exp_avg_sqs", "max_exp_avg_sqs"], not a["amsgrad"] and not a["weight_decay"])


@operator("_fused_sgd_")
def fused_sgd(s, a, out):
    fused(s, a, "sgd", ["momentum_buffer_list"], not a["dampening"])


@operator("_fused_adagrad_")
def fused_adagrad(s, a, out):
    fused(s, a, "adagrad", ["state_sums"], False)


LETTERS = {"exp_avgs": "m", "exp_avg_sqs": "v", "max_exp_avg_sqs": "v_max", "momentum_buffer_list": "v",
           "state_sums": "sum"}
ATTRIBUTES = {"adamw": ["lr", "beta1", "beta2", "eps", "weight_decay"], "sgd": ["lr", "momentum", "weight_decay"]}


def fused(s, a, op, lists, ours):
    """One call a parameter: `op`, where it is ours, else the calls that it is made of."""
    scale, found = a.get("grad_scale"), a.get("found_inf")
    found = s.input(found) if found is not None else s.constant(0, torch.float32)
    s.found = found if a.get("found_inf") is not None and s.found is None else s.found
    skipped = bool(s.values[found])
    attr = {k: float(a[k]) for k in ATTRIBUTES.get(op, [])}
    if op == "sgd" and a["nesterov"]:
        attr["nesterov"] = 1
    for k, (p, grad) in enumerate(zip(a["self"], a["grads"])):
        held = [(n, a[n][k]) for n in lists if a[n]]
        w, g = s.input(p), s.input(grad)
        g = unscaled(s, g, grad, scale, skipped)
        if a["maximize"]:
            g = s.call("neg", [g], [("ascent", -s.values[g])])[0]
        layer, _, role = s.program.tensors[w]["name"].rpartition(".")
        role = role.partition("_next")[0]
        if op == "sgd" and held and a["is_first_step"]:          # what the buffer holds before is not read
            zeros = torch.zeros(p.size(), dtype=p.dtype)
            name = "%s.%s_momentum_buffer" % (layer, role)
            states = [(s.add("", zeros, name=name, cls="other", state=True), held[0][1], "v")]
            key = s.storage(held[0][1]), geometry(held[0][1])
            s.r.kept[key] = name
            s.outside.places.pop(key, None)
        else:
            states = [(state(s, t, "%s.%s_%s" % (layer, role, n.removesuffix("_list").removesuffix("s"))), t,
                       LETTERS.get(n, n)) for n, t in held]
        times = [float(a["state_steps"][k])] if "state_steps" in a else []
        if ours:
            one_update(s, op, attr, w, g, found, p, states, layer + "." + role, *times[:op == "adamw"])
        elif skipped:                            # everything keeps its values
            for i, x in [(w, p)] + [(i, x) for i, x, _ in states]:
                s.known[s.key(x)] = Value(snapshot(x), {"plain": i})
        else:
            composed(s, op, a, p, w, g, states, layer + "." + role, *(times or [1.0]), s.running[0]._schema.name
                    == "aten::_fused_adamw_")


def state(s, t, name):
    """The program's tensor of a state. Where the kernel is called by hand no optimizer tells that it is one."""
    i = s.input(t)
    info = s.program.tensors[i]
    if i not in s.program.maker and not info.get("state"):
        s.program.rename(i, name)
        info.update({"state": True, "class": "other"})
        s.r.kept[s.storage(t), geometry(t)] = info["name"]
    return i


def unscaled(s, g, grad, scale, skipped):
    """The gradient that the update reads, divided by the loss scale in float32 or wider; the kernel stores it too."""
    if scale is None:
        return g
    i = loss_scale(s, s.input(scale))
    x = s.values[g]
    wide = torch.promote_types(x.dtype, torch.float32)
    data = x.to(wide) / s.values[i].to(wide)
    role = s.program.tensors[g]["name"].rpartition(".")[2] + "_unscaled"
    made = s.call("unscale", [g, i], [(role, data)], {"loss_weight": 1}, library=True)[0]
    stored = snapshot(grad)
    if skipped:
        s.known[s.key(grad)] = Value(stored, {"plain": g})
    elif stored.dtype == data.dtype:
        s.known[s.key(grad)] = Value(stored, {"plain": made})
    else:
        s.known[s.key(grad)] = Value(stored, {"plain": s.call("cast", [made], [(role + "@low", stored)])[0]})
    return made
