# SPDX-License-Identifier: Apache-2.0
"""Fused updates that are several calls of ours: Adam with the largest second moment or with decay in the gradient,
Adagrad, and descent with dampening. A kernel computes in fp32 or wider and rounds once what it stores, so that each of
its values that it uses itself stands twice: as it is, and rounded."""
import torch

from ..values import Value, snapshot


class Update:
    """The update of one parameter. `states` has (the program's tensor before, PyTorch's tensor, a letter)."""

    def __init__(self, s, p, w, g, states, name):
        self.s, self.p, self.shape = s, p, tuple(p.shape)
        self.layer, _, self.role = name.rpartition(".")
        self.w, self.g, self.states = w, g, states
        self.format = torch.promote_types(p.dtype, torch.float32)

    def wide(self, i):
        return self.s.values[i].to(torch.float64)

    def number(self, x):
        return self.s.spread(self.s.constant(float(x), torch.float64), self.shape)

    def call(self, op, ids, data, **attr):
        """A value that the kernel does not store, in its own format."""
        return self.s.call(op, ids, [(self.role + "_" + op, data.to(self.format))], attr, library=True,
                layer=self.layer, phase="update")[0]

    def store(self, op, ids, t, role, **attr):
        own = snapshot(t)
        i = self.s.call(op, ids, [(role, own)], attr, library=True, layer=self.layer, phase="update")[0]
        self.s.known[self.s.key(t)] = Value(own, {"plain": i})
        return i

    def state(self, k, op, ids, data, **attr):
        """What state k becomes. Returns the value that the kernel goes on with."""
        before, t, letter = self.states[k]
        after = self.store(op, ids, t, "%s_%s_next" % (self.role, letter), **attr)
        self.s.ended[before] = after
        self.s.owner[before] = self.s.weight_of(self.p)
        return after if t.dtype == self.format else self.call(op, ids, data, **attr)

    def decay(self, factor):
        """The gradient with a share of the parameter, which the kernel has as a number of its own format and adds by a
        multiply-add. Where the two cancel in a moment, a last place of this sum is many of the moment's."""
        if factor:
            factor = float(torch.tensor(float(factor), dtype=torch.float64).to(self.format))
            self.g = self.call("axpby", [self.g, self.w], self.wide(self.g) + factor * self.wide(self.w), alpha=1.0,
                    beta=factor)

    def end(self, op, ids, **attr):
        self.store(op, ids, self.p, self.role + "_next", **attr)


def adamw(u, a, t, decoupled):
    """The moments, and w - lr / (1 - beta1^t) m / (sqrt(v) / sqrt(1 - beta2^t) + eps)."""
    beta1, beta2, lr, eps, decay = (float(a[k]) for k in ("beta1", "beta2", "lr", "eps", "weight_decay"))
    w = u.w
    if decoupled and decay:
        w = u.call("scale", [w], u.wide(w) * (1 - lr * decay), factor=1 - lr * decay)
    elif not decoupled:
        u.decay(decay)
    g = u.wide(u.g)
    m = u.state(0, "lerp", [u.states[0][0], u.g], torch.lerp(u.wide(u.states[0][0]), g, 1 - beta1), factor=1 - beta1)
    old = u.wide(u.states[1][0]) * beta2
    kept = u.s.call("scale", [u.states[1][0]], [(u.role + "_v_kept", old)], {"factor": beta2}, layer=u.layer,
            phase="update")[0]
    v = u.state(1, "addcmul", [kept, u.g, u.g], old + (1 - beta2) * g * g, factor=1 - beta2)
    if a["amsgrad"]:
        data = torch.maximum(u.wide(u.states[2][0]), u.wide(v))
        v = u.state(2, "max", [u.states[2][0], v], data)
    root = u.call("sqrt", [v], u.wide(v).sqrt())
    second = (1 - beta2 ** t) ** 0.5
    root = u.call("div", [root, u.number(second)], u.wide(root) / second)
    below = u.call("add", [root, u.number(eps)], u.wide(root) + eps)
    u.end("addcdiv", [w, m, below], factor=-lr / (1 - beta1 ** t))


def adagrad(u, a, t, _):
    """The sum of squares, and w - lr / (1 + (t - 1) lr_decay) g / (sqrt(sum) + eps)."""
    u.decay(float(a["weight_decay"]))
    before, g = u.states[0][0], u.wide(u.g)
    total = u.state(0, "addcmul", [before, u.g, u.g], u.wide(before) + g * g, factor=1.0)
    root = u.call("sqrt", [total], u.wide(total).sqrt())
    below = u.call("add", [root, u.number(a["eps"])], u.wide(root) + float(a["eps"]))
    u.end("addcdiv", [u.w, u.g, below], factor=-float(a["lr"]) / (1 + (t - 1) * float(a["lr_decay"])))


def sgd(u, a, t, _):
    """The velocity momentum v + (1 - dampening) g, which is g in the first step, and w - lr v."""
    u.decay(float(a["weight_decay"]))
    step, momentum, share = u.g, float(a["momentum"]), 1 - float(a["dampening"])
    if u.states:
        before, buffer, letter = u.states[0]
        ids, first = [before, u.g], bool(a["is_first_step"])
        attr = {"alpha": 0.0 if first else momentum, "beta": 1.0 if first else share}
        data = attr["alpha"] * u.wide(before) + attr["beta"] * u.wide(u.g)
        v = u.state(0, "axpby", ids, data, **attr)
        step = u.call("axpby", [u.g, v], u.wide(u.g) + momentum * u.wide(v), alpha=1.0, beta=momentum) \
            if a["nesterov"] else v
    u.end("axpby", [u.w, step], alpha=1.0, beta=-float(a["lr"]))


MADE = {"adamw": adamw, "adagrad": adagrad, "sgd": sgd}


def composed(s, op, a, p, w, g, states, name, t, decoupled):
    """The calls of the update of parameter p from the program's tensors w and g."""
    MADE[op](Update(s, p, w, g, states, name), a, t, decoupled)
