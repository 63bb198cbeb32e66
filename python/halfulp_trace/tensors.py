# SPDX-License-Identifier: Apache-2.0
"""The tensors of a step: which tensor of the program holds which of PyTorch's, and the calls that make them."""
import collections
import json

import torch

from .formats import FORMATS, LAYOUTS, LIBRARY, RANK, WHOLE, Unknown
from .moves import flat_move, permuting_move, same_order, view_moves
from .values import Value, geometry, snapshot
from .writes import composed


class Tensors:
    """One step's tensors: `values` gets the values of the program's tensors."""

    def __init__(self, recorder):
        self.r, self.program = recorder, recorder.program
        self.values = {}                         # by the program's tensor
        self.known = {}                          # (storage, its version, geometry) -> Value
        self.parent = {}                         # (storage, geometry) -> the tensor that it is a view of
        self.version = collections.Counter()     # how often a storage was written to
        self.alive = {}                          # keeps storages, so that no other gets their address
        self.seen = collections.Counter()        # how often the same call ran before
        self.layers = ["step"]
        self.updating = self.quiet = False
        self.gradients = None                    # those of the parameters, once they are known
        self.pooled = {}                         # what max_pool2d made of a tensor of the program
        self.found = None                        # the tensor of the program that says whether the update is skipped
        self.scale = None                        # the program's tensor of the loss scale
        self.constants = {}                      # by their value, format and shape
        self.writes = {}                         # (storage, its version) -> the geometries that made this version
        self.was = {}                            # values of the operands of a call that writes to them

    def storage(self, t):
        s = t.untyped_storage()
        self.alive.setdefault(s._cdata, s)
        return s._cdata

    def key(self, t):
        s = self.storage(t)
        return s, self.version[s], geometry(t)

    def phase(self):
        if self.updating:
            return "update"
        return "backward" if torch._C._current_graph_task_id() != -1 else "forward"

    def add(self, role, data, cls=None, name=None, **flags):
        """A new tensor of the program with these values, which nothing makes."""
        name = name or "%s.%s" % (self.layers[-1], role)
        key = ("input", name, self.seen[name], str(data.dtype), tuple(data.shape))
        self.seen[name] += 1
        if key not in self.program.made:
            cls = cls or {"forward": "activation", "backward": "gradient", "update": "other"}[self.phase()]
            self.program.made[key] = self.program.tensor(name, FORMATS[data.dtype], data.shape, cls)
            self.program.tensors[self.program.made[key]].update(flags)
        i = self.program.made[key]
        self.values[i] = data
        return i

    def call(self, op, inputs, outputs, attr=None, library=False, compute=None, layer=None, phase=None):
        """A call with these tensors of the program; outputs are (role, values). Returns the output's tensors."""
        attr = dict(attr or {}, **({"library": LIBRARY} if library else {}))
        phase = phase or self.phase()
        layer = layer or self.layer_of(inputs)
        wide = any(d.dtype == torch.float64 for _, d in outputs)
        compute = compute or ("fp64" if wide else "fp32")
        made = tuple((str(d.dtype), tuple(d.shape)) for _, d in outputs)
        same = (op, json.dumps(attr, sort_keys=True), tuple(inputs), made)
        self.seen[same] += 1
        key = same + (self.seen[same],)
        if key not in self.program.made:
            cls = "activation" if phase == "forward" else "gradient" if phase == "backward" else "other"
            ids = []
            for role, d in outputs:
                i = self.program.tensor("%s.%s" % (layer, role), FORMATS[d.dtype], d.shape, cls)
                ids.append(i)
            self.program.call(op, phase, layer, list(inputs), ids, attr, compute)
            self.program.made[key] = ids
        ids = self.program.made[key]
        for i, (_, d) in zip(ids, outputs):
            self.values[i] = d
        return ids

    def layer_of(self, inputs):
        """In the forward pass the module that runs. Behind it the layer of the first operand that is no gradient."""
        if self.phase() == "forward" and not self.updating:
            return self.layers[-1]
        infos = [self.program.tensors[i] for i in inputs]
        own = [t for t in infos if t["class"] in ("activation", "weight")]
        own = [t for t in own if not t["name"].startswith(("const.", "input."))]
        return (own or infos)[0]["name"].rpartition(".")[0].split("@")[0]

    def get(self, value, layout="plain"):
        """The program's tensor that has the value in this layout."""
        if layout not in value.ids:
            if layout == "plain":
                have = next(k for k in value.ids if k != "plain")
                order = LAYOUTS[have]
                back = [order.index(j) for j in range(4)]
                i, shape, data = value.ids[have], [value.data.shape[k] for k in order], value.data
            else:
                back, i = LAYOUTS[layout], self.get(value)
                shape, data = list(value.data.shape), value.data.permute(back).contiguous()
            role = self.program.tensors[i]["name"].rpartition(".")[2].split("@")[0]
            layer = self.program.tensors[i]["name"].rpartition(".")[0]
            value.ids[layout] = self.call("move", [i], [("%s@%s" % (role, layout), data)], permuting_move(shape, back),
                    layer=layer)[0]
        return value.ids[layout]

    def value(self, t):
        """The Value of a tensor of PyTorch as it is now."""
        key = self.key(t)
        if key in self.known:
            return self.known[key]
        parent = self.parent.get((key[0], key[2]))
        moves = value = None
        if key[1] and t.dtype in FORMATS and t.numel() and t.dim() <= RANK and (
                parent is None or self.key(parent) not in self.known):
            value = composed(self, t, key)
            if value is not None:
                self.known[key] = value
                return value
        if parent is not None and t.dtype == parent.dtype and 0 < t.numel():
            if t.numel() == parent.numel() and same_order(parent, t):
                moves = [flat_move(tuple(t.size()))]
            else:
                moves = view_moves(geometry(parent)[1:], geometry(t)[1:])
        if moves and t.dim() <= RANK and self.value(parent).data is not None:
            i = self.get(self.value(parent))
            final = snapshot(t)
            for n, attr in enumerate(moves):
                shape = [attr["d%d" % j] for j in range(attr["rank"])]
                i = self.call("move", [i], [("view", final.reshape(shape))], attr)[0]
            value = Value(final, {"plain": i})
        else:
            if key[1]:
                self.r.opaque["written through a view"] += 1
            value = self.unmade(t, "x", name="input.x")
        self.known[key] = value
        return value

    def unmade(self, t, role, **how):
        """A Value that no call made: an input of the program."""
        if t.numel() == 0 or t.dim() > RANK or (t.dtype not in FORMATS and t.dtype not in WHOLE):
            return Value(None)
        data = snapshot(t)
        if t.dtype not in WHOLE or not data.is_floating_point() or not (data.abs() > 2.0 ** 53).any():
            return Value(data, {"plain": self.add(role, data, **how)})
        return Value(None)

    def ids(self, value, layout="plain"):
        if value.data is None:
            raise Unknown("an operand that no format holds")
        return self.get(value, layout)

    def constant(self, x, dtype, shape=()):
        """A tensor of one number, or of as many as shape says, which the program has as an input."""
        key = x, dtype, tuple(shape)
        if key not in self.constants:
            name = "const.%s" % ("%g" % x).replace(".", "p")
            self.constants[key] = self.add("", torch.full(shape, x, dtype=dtype), name=name, cls="other")
        return self.constants[key]

    def spread(self, i, shape):
        """Tensor i repeated to a shape, as PyTorch broadcasts it."""
        own = list(self.program.tensors[i]["shape"])
        if own == list(shape):
            return i
        if len(shape) > RANK:
            raise Unknown("more than %d axes" % RANK)
        attr = {"rank": len(shape)}
        data = self.values[i].broadcast_to(shape).clone(memory_format=torch.contiguous_format)
        for j, n in enumerate(shape):
            attr["d%d" % j] = n
            k = j - (len(shape) - len(own))
            if k >= 0 and own[k] != 1:
                attr["from%d" % j] = k
        name = self.program.tensors[i]["name"]
        return self.call("move", [i], [(name.rpartition(".")[2].split("@")[0] + "@spread", data)], attr,
                layer=name.rpartition(".")[0])[0]

    def result(self, op, inputs, t, attr=None, role="y", layout="plain", **how):
        """The call that makes the one tensor t."""
        own = snapshot(t)
        data = own if layout == "plain" else own.permute(LAYOUTS[layout]).contiguous()
        ids = self.call(op, inputs, [(role, data)], attr, **how)
        self.known[self.key(t)] = Value(own, {layout: ids[0]})
        return ids[0]

    def old(self, t):
        """The Value that an operand has, or had before the call wrote to it."""
        return self.was.get(id(t)) or self.value(t)

    def input(self, t, layout="plain"):
        return self.ids(self.old(t), layout)
