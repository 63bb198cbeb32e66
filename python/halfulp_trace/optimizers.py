# SPDX-License-Identifier: Apache-2.0
"""Optimizers whose update is one call a parameter."""
import torch

from .formats import FORMATS
from .values import Value, snapshot, tensor_name


def known_update(optimizer, group):
    """The call that a group's update is: ("sgd", …) or ("adamw", …); None where halfulp has no such update."""
    name, g = type(optimizer).__name__, group
    if g.get("maximize") or g.get("differentiable"):
        return None
    if name == "SGD" and not g["nesterov"] and not g["dampening"]:
        return "sgd", {"lr": float(g["lr"]), "momentum": float(g["momentum"]), "weight_decay": float(g["weight_decay"])}
    decoupled = name == "AdamW" or g.get("decoupled_weight_decay")
    if name in ("Adam", "AdamW") and not g["amsgrad"] and (decoupled or not g["weight_decay"]):
        return "adamw", {"lr": float(g["lr"]), "beta1": float(g["betas"][0]), "beta2": float(g["betas"][1]),
                         "eps": float(g["eps"]), "weight_decay": float(g["weight_decay"])}
    return None


class Update:
    """What an optimizer does between its two hooks, as calls of halfulp."""

    def __init__(self, s, optimizer):
        self.s, self.optimizer, self.before = s, optimizer, []
        names = {id(p): tensor_name(n) for n, p in s.r.model.named_parameters()}
        s.begin_update()
        s.quiet = all(known_update(optimizer, g) for g in optimizer.param_groups)
        for group in optimizer.param_groups if s.quiet else []:
            for n, p in enumerate(group["params"]):
                if p.grad is None or p.grad.is_sparse or p.dtype not in FORMATS or p.grad.dtype not in FORMATS:
                    continue
                name = names.get(id(p)) or "optim.parameter%d" % n
                self.before.append((group, p, name, s.get(s.value(p)), s.get(s.value(p.grad)),
                        self.states(p, name, known_update(optimizer, group)[0])))

    def states(self, p, name, op):
        held = self.optimizer.state.get(p, {})
        keys = [("momentum_buffer", "v")] if op == "sgd" else [("exp_avg", "m"), ("exp_avg_sq", "v")]
        out = []
        for key, letter in keys:
            t = held.get(key)
            data = snapshot(t) if t is not None else torch.zeros(p.size(), dtype=p.dtype)
            out.append((key, letter, self.s.add("", data, name="%s_%s" % (name, letter), cls="other", state=True)))
        return out

    def finish(self):
        s = self.s
        s.quiet = False
        for group, p, name, w, g, states in self.before:
            op, attr = known_update(self.optimizer, group)
            held = self.optimizer.state.get(p, {})
            if op == "sgd" and not attr["momentum"]:
                states = []
            layer, _, role = name.rpartition(".")
            found = s.found if s.found is not None else s.constant(0, torch.float32)
            inputs = [w, g, found] + [i for _, _, i in states]
            if op == "adamw":
                inputs.append(self.clock(attr, float(held["step"])))
            for t in [p] + [held[key] for key, _, _ in states]:
                s.version[s.storage(t)] += 1
            outputs = [(role + "_next", snapshot(p))] + [("%s_%s_next" % (role, letter), snapshot(held[key])) for key,
                    letter, _ in states]
            ids = s.call(op, inputs, outputs, attr, library=True, layer=layer, phase="update")
            s.known[s.key(p)] = Value(snapshot(p), {"plain": ids[0]})
            for (_, _, i), after in zip(states, ids[1:]):
                s.program.tensors[i]["next"] = after

    def clock(self, attr, t):
        powers = torch.tensor([t, attr["beta1"] ** t, attr["beta2"] ** t], dtype=torch.float64)
        for k, (i, held) in enumerate(getattr(self.s, "clocks", [])):
            if torch.equal(held, powers):
                return i
        i = self.s.add("", powers, name="optim.clock", cls="other")
        self.s.clocks = getattr(self.s, "clocks", []) + [(i, powers)]
        return i
