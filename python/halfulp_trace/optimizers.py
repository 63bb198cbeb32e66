# SPDX-License-Identifier: Apache-2.0
"""What optimizers do between the hooks of their steps. An update that rounds once, or in float32 after every operation,
is one call a parameter where halfulp has it. Every other optimizer's operators are recorded one by one, and what it
writes without any is opaque."""
import torch
from torch.utils._python_dispatch import _disable_current_modes

from .formats import FORMATS
from .values import Value, parts, snapshot, tensor_name


def known_update(optimizer, group):
    """The call that a group's update is: ("sgd", …) or ("adamw", …); None where halfulp has no such update."""
    name, g = type(optimizer).__name__, group
    if type(optimizer).__module__.partition(".")[0] != "torch" or g.get("maximize") or g.get("differentiable"):
        return None
    if g.get("fused"):
        return None                              # operators/fused.py
    if name == "SGD" and not g["dampening"]:
        return "sgd", {"lr": float(g["lr"]), "momentum": float(g["momentum"]), "weight_decay": float(g["weight_decay"]),
                       **({"nesterov": 1} if g["nesterov"] else {})}
    decoupled = name == "AdamW" or g.get("decoupled_weight_decay")
    if name in ("Adam", "AdamW") and not g["amsgrad"] and (decoupled or not g["weight_decay"]):
        return "adamw", {"lr": float(g["lr"]), "beta1": float(g["betas"][0]), "beta2": float(g["betas"][1]),
                         "eps": float(g["eps"]), "weight_decay": float(g["weight_decay"])}
    return None


def wide(t):
    """Whether t rounds as the formula's own steps do: a format of 16 bits rounds more than once."""
    return t is None or t.dtype in (torch.float32, torch.float64)


def whole_update(optimizer, closure):
    """Whether every parameter's update is a known call of ours."""
    return closure is None and all(
        known_update(optimizer, g) and all(
            p.grad is None or type(p) in (torch.Tensor, torch.nn.Parameter) and p.grad.layout is torch.strided
            and wide(p) and wide(p.grad) and all(
                wide(t) for t in optimizer.state.get(p, {}).values() if isinstance(t, torch.Tensor))
            for p in g["params"])
        for g in optimizer.param_groups)


class Update:
    """What an optimizer does between its two hooks, as calls of halfulp."""

    def __init__(self, s, optimizer, closure=None):
        self.s, self.optimizer, self.before = s, optimizer, []
        self.outer = s.stepping, s.quiet
        names = {id(p): n for n, p in s.r.model.named_parameters()}
        self.named = []                          # a parameter, its group, halfulp's name of it
        for group in optimizer.param_groups:
            for n, p in enumerate(group["params"]):
                self.named.append((p, group, names.get(id(p)) or "optim.parameter%d" % n))
        s.stepping = True
        if closure is None and (not s.updating or s.ran_backward):
            s.begin_update()
        s.quiet = whole_update(optimizer, closure)
        if s.quiet:
            for p, group, name in self.named:
                if p.grad is not None and p.dtype in FORMATS and p.numel():
                    self.begin(p, group, tensor_name(name))
        else:
            for p, group, name in self.named:
                self.note_states(p, name)

    def closure(self, f):
        """The closure that an optimizer calls: forward and backward passes inside of its step."""
        def run():
            s = self.s
            held, s.stepping, s.updating = s.stepping, False, False
            try:
                return f()
            finally:
                s.stepping = held
                with _disable_current_modes():
                    s.r.guard(s.begin_update)
        return run

    # --- updates of one call --------------------------------------------------------------------------------------
    def begin(self, p, group, name):
        s, op = self.s, known_update(self.optimizer, group)[0]
        self.before.append((group, p, name, s.get(s.value(p)), s.get(s.value(p.grad)), self.states(p, name, op)))

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
        s.stepping, s.quiet = self.outer
        for group, p, name, w, g, states in self.before:
            op, attr = known_update(self.optimizer, group)
            held = self.optimizer.state.get(p, {})
            states = [] if op == "sgd" and not attr["momentum"] else states
            t = [float(held["step"])] if op == "adamw" else []
            s.wrote([p] + [held[key] for key, _, _ in states])
            one_update(s, op, attr, w, g, None, p, [(i, held[key], letter) for key, letter, i in states], name, *t)
        if not self.before:
            self.check_states()

    # --- updates whose operators are recorded -------------------------------------------------------------------
    def tensors(self, p, name):
        """The state of a parameter: halfulp's names and tensors."""
        for key, t in self.optimizer.state.get(p, {}).items():
            if isinstance(t, torch.Tensor) and t.dim() > 0:
                for n, x in parts("%s_%s" % (name, key), t):
                    yield tensor_name(n), x

    def note_states(self, p, name):
        """The state of a parameter before the step."""
        s = self.s
        for n, t in self.tensors(p, name):
            if s.key(t) not in s.known and n not in s.seen:
                value = s.unmade(t, "", name=n, cls="other", state=True)
                s.known[s.key(t)] = value
                if value.data is not None:
                    s.states.append((value.ids["plain"], t, s.weight_of(p)))

    def check_states(self):
        """What the step wrote without an operator is one opaque call a parameter; states that are new get a name."""
        s, name_of = self.s, type(self.optimizer).__name__ + ".step"
        for p, _, name in self.named:
            own = [(n, t) for n, t in parts(name, p.detach())] + list(self.tensors(p, name))
            known = [(n, t, s.known.get(s.key(t))) for n, t in own]
            late = [(n, t) for n, t, value in known if value is not None and not value.holds(t)]
            if late:
                layer = tensor_name(name).rpartition(".")[0]
                read = [v for _, _, v in known if v is not None]
                read += [s.value(p.grad)] if p.grad is not None else []
                s.opaque(name_of, "it is no operator that was seen", read, [t for _, t in late],
                        role=[n.rpartition(".")[2] + "_next" for n, _ in late], layer=layer)
            have = {id(t) for _, t, _ in s.states}
            for n, t in self.tensors(p, name):
                first = s.first(t)
                if id(t) not in have and first is not None:
                    s.program.rename(first, n)
                    s.program.tensors[first].update({"state": True, "class": "other"})
                    s.states.append((first, t, s.weight_of(p)))


def one_update(s, op, attr, w, g, found, p, states, name, t=None):
    """The call that updates parameter p from the program's tensors w and g. states: (before, PyTorch's tensor, letter);
    t: the number of Adam's step."""
    layer, _, role = name.rpartition(".")
    found = found if found is not None else s.found if s.found is not None else s.constant(0, torch.float32)
    inputs = [w, g, found] + [i for i, _, _ in states]
    if op == "adamw":
        inputs.append(clock(s, attr, t))
    outputs = [(role + "_next", snapshot(p))]
    outputs += [("%s_%s_next" % (role, letter), snapshot(x)) for _, x, letter in states]
    ids = s.call(op, inputs, outputs, attr, library=True, layer=layer, phase="update")
    s.known[s.key(p)] = Value(outputs[0][1], {"plain": ids[0]})
    for (i, x, _), after, (_, own) in zip(states, ids[1:], outputs[1:]):
        s.known[s.key(x)] = Value(own, {"plain": after})
        s.ended[i] = after
        s.owner[i] = s.weight_of(p)


def clock(s, attr, t):
    """The number of Adam's step, and the powers of its factors."""
    powers = torch.tensor([t, attr["beta1"] ** t, attr["beta2"] ** t], dtype=torch.float64)
    for i, held in s.clocks:
        if torch.equal(held, powers):
            return i
    s.clocks.append((s.add("", powers, name="optim.clock", cls="other"), powers))
    return s.clocks[-1][0]
