# SPDX-License-Identifier: Apache-2.0
"""The tensors of a step: which tensor of the program holds which of PyTorch's, and the calls that make them."""
import collections
import functools
import math
import threading

import torch

from .arena import moved
from .choices import Choices
from .formats import FORMATS, LAYOUTS, LIBRARY, RANK, WHOLE, Unknown
from .moves import flat_move, permuting_move, same_order, view_moves
from .reads import Reads
from .shared import value_of
from .threads import Own, own
from .values import Value, folded, geometry, has_graph, holdable, rows_of, snapshot
from .weak import WeakStorage, WeakTensors
from .writes import composed, copied_bytes, negated, of_complex, viewed


class Tensors(Choices):
    """One step's tensors: `values` gets the values of the program's tensors."""

    layers, running, was = own("layers"), own("running"), own("was")

    def __init__(self, recorder):
        self.r, self.program = recorder, recorder.program
        self.values = {}                         # by the program's tensor
        self.known = {}                          # (storage, its version, geometry) -> Value
        self.parent = WeakTensors()              # (storage, geometry) -> the tensor that it is a view of
        self.version = collections.Counter()     # how often a storage was written to
        self.alive = {}                          # so that no other storage gets the address of one
        self.outside = WeakTensors()             # (storage, geometry) -> a tensor from before the step
        self.before = {}                         # its Value then
        self.blind = False                       # whether the recorder failed in this step
        self.born = set()                        # storages that an operator of this step made
        self.seen_whole = set()                  # (storage, geometry) of views of what has no graph from outside
        self.writes = {}                         # (storage, its version) -> the geometries that made this version
        self.seen = collections.Counter()        # how often the same call ran before
        self.stepping = self.updating = self.quiet = False   # in an optimizer's step; in what surrounds it; unseen
        self.ended = {}                          # the program's tensor that a state becomes in this step
        self.states = []                         # of optimizers: before the step, PyTorch's tensor, its parameter
        self.owner = {}                          # the parameter of a state, both as the program's tensors
        self.clocks = []                         # Adam's, of this step
        self.grads = {}                          # the gradient of a parameter, both as the program's tensors
        self.pooled = {}                         # what max_pool2d made of a tensor of the program
        self.held = []                           # PyTorch's tensors that an operator's record made, as an operator does
        self.found = None                        # the tensor of the program that says whether the update is skipped
        self.scale = None                        # the program's tensor of the loss scale
        self.casts = {}                          # the storage that each cast is one of
        self.constants = {}                      # by their value, format and shape
        self.lists = []                          # of Python's numbers, of which an operator may make tensors unseen
        self.windows = {}                        # what chose the places that a pooling returned, by these
        self.twins = {}                          # (storage, its version) -> those whose bytes it has
        self.own, self.lock = Own(), threading.RLock()
        self.reads = Reads()
        self.over = False                        # whether the step has ended

    def forget(self):
        """Frees the step's copies, whatever still refers to the step."""
        self.over = True
        for held in (self.values, self.known, self.before, self.alive, self.pooled, self.was, self.constants,
                     self.held):
            held.clear()
        self.running, self.states, self.clocks = (None, (), {}), [], []

    def storage(self, t):
        """What is written to as a whole: t's memory, or t itself where it has none of its own."""
        s = t
        if t.layout is torch.strided and not t.is_nested:
            s = t.untyped_storage()
        name = s._cdata
        if name not in self.alive:
            self.alive[name] = WeakStorage(s) if s is not t else t
        return name

    def key(self, t):
        s = self.storage(t)
        return s, self.version[s], geometry(t)

    def recomputing(self):
        """Whether a module's forward pass runs again inside of the backward pass, as checkpointing has it."""
        return len(self.layers) > 1 and not self.stepping and torch._C._current_graph_task_id() != -1

    def phase(self):
        if self.stepping:
            return "update"
        if torch._C._current_graph_task_id() != -1:
            return "forward" if self.recomputing() else "backward"
        return "update" if self.updating else "forward"

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
        self.values[i] = moved(data)
        return i

    def call(self, op, inputs, outputs, attr=None, library=False, compute=None, layer=None, phase=None, **more):
        """A call with these tensors of the program; outputs are (role, values). Returns the output's tensors."""
        attr = dict(attr or {}, **({"library": LIBRARY} if library else {}))
        if any(isinstance(x, float) and not math.isfinite(x) for x in attr.values()):
            raise Unknown("a number that is not finite")
        phase = phase or self.phase()
        layer = layer or self.layer_of(inputs)
        wide = any(d.dtype == torch.float64 for _, d in outputs)
        compute = compute or ("fp64" if wide else "fp32")
        again = "_recomputed" if self.recomputing() else ""
        more = dict(more, recomputed=True) if again else more
        made = tuple((str(d.dtype), tuple(d.shape)) for _, d in outputs)
        same = (op, repr(sorted(attr.items())), repr(sorted(more.items())) if more else "", tuple(inputs), made)
        self.seen[same] += 1
        key = same + (self.seen[same],)
        if key not in self.program.made:
            cls = "activation" if phase == "forward" else "gradient" if phase == "backward" else "other"
            ids = [self.program.tensor("%s.%s%s" % (layer, role, again), FORMATS[d.dtype], d.shape, cls)
                   for role, d in outputs]
            self.program.call(op, phase, layer, list(inputs), ids, attr, compute, **more)
            self.program.made[key] = ids
        ids = self.program.made[key]
        for i, (_, d) in zip(ids, outputs):
            self.values[i] = moved(d)
        return ids

    def layer_of(self, inputs):
        """In the forward pass the module that runs. Behind it the layer of the first operand that is no gradient."""
        if self.phase() == "forward" or not inputs:
            return self.layers[-1]
        infos = [self.program.tensors[i] for i in inputs]
        own = [t for t in infos if t["class"] in ("activation", "weight")]
        own = [t for t in own if not t["name"].startswith(("const.", "input."))]
        return (own or infos)[0]["name"].rpartition(".")[0].split("@")[0]

    def get(self, value, layout="plain"):
        """The program's tensor that has the value in this layout."""
        if not value.ids and value.late is not None:
            value.ids["plain"] = value.late()
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
        if t.layout is torch.strided and t.is_neg():
            return negated(self, t)
        key = self.key(t)
        if key in self.known:
            value = self.known[key]
            if not value.holds(t):               # no operator of PyTorch did that
                self.opaque("written outside PyTorch", "no operator that was seen wrote it", [value], [t])
            return self.known[key]
        if key[1] == 0 and key[0] not in self.born and (key[0], key[2]) not in self.parent and not self.blind:
            self.known[key] = self.from_outside(t, key)
            return self.known[key]
        value = copied_bytes(self, t, key) or self.after_writes(t, key) or self.view(t, key)
        if value is not None:
            self.known[key] = value
        else:
            inside = self.inside(key[0])
            of = next((v for v in inside if v.name and v.behind and not key[1]), None)
            self.opaque(of.name if of else "written through a view",
                    of and of.why or "which elements changed is not known", inside, [t])
        return self.known[key]

    def from_outside(self, t, key):
        """The Value of a tensor that was there before the step. One that an earlier step's update wrote to is a
        state."""
        shared = value_of(self, t, key) if holdable(t) else None
        if shared is not None:
            return shared
        hidden = has_graph(t) and (key[0], key[2]) not in self.seen_whole
        if self.r.zeroed.has(t):
            self.known[key] = self.unmade(t, "zero", name="input.zero")
            return self.known[key]
        if hidden or any(g is not None and self.storage(g) == key[0] for _, _, g in self.parameters()):
            self.opaque("what was not recorded", "it was made before the step, or in a thread that is not recorded",
                    [], [t])
            return self.known[key]
        kept = self.r.kept.get((key[0], key[2]))
        if kept is None and self.reads.arrays and holdable(t):
            self.opaque("what may be made of an array", "Python read an array in this step before it used this tensor",
                    [], [t])
            return self.known[key]
        if kept is not None and holdable(t) and kept not in self.seen:
            value = Value(snapshot(t), {"plain": self.add("", snapshot(t), "other", name=kept, state=True)})
        else:
            value = self.unmade(t, "x", name="input.x")
        if value.data is not None:
            self.outside[key[0], key[2]] = t
            self.before[key[0], key[2]] = value
        return value

    def after_writes(self, t, key):
        """The Value of a tensor whose memory was written to through others; None where that is not known."""
        parent = self.parent.get((key[0], key[2]))
        if not key[1] or not holdable(t):
            return None
        if t.dtype in WHOLE:
            known = any(of == key[0] for of, _, _ in self.known)
            tainted = any(self.taint(v) for (of, _, _), v in self.known.items() if of == key[0])
            return self.unmade(t, "x") if known and not tainted else None
        if parent is not None and self.key(parent) in self.known:
            return None
        return composed(self, t, key)

    def view(self, t, key):
        """The Value of a view by that of the tensor that it is a view of; None where moves do not make it."""
        parent = self.parent.get((key[0], key[2]))
        parent = torch._neg_view(parent) if parent is not None and parent.is_neg() else parent
        if parent is not None and parent.is_complex() and not t.is_complex():
            parent = of_complex(self, parent, t)
        if parent is None:
            return None
        whole = self.value(parent)
        if whole.data is None and not whole.behind and key[1] == 0:
            return Value(None, name=whole.name)  # a view of what means nothing yet
        moves = None
        if t.dtype == parent.dtype and holdable(t) and whole.data is not None:
            if t.numel() == parent.numel() and same_order(parent, t):
                moves = [flat_move(folded(t.size()))]
            elif parent.dim() <= RANK:
                moves = view_moves(geometry(parent)[1:], geometry(t)[1:])
        if not moves:
            value = viewed(self, whole, parent, t) if t.dtype == parent.dtype and holdable(t) else None
            if value is None and not key[1]:
                self.opaque(whole.name or "a view", "it shows its elements in another way", [whole], [t])
                return self.known[key]
            return value
        i = self.get(whole)
        final = snapshot(t)
        for attr in moves:
            shape = [attr["d%d" % j] for j in range(attr["rank"])]
            i = self.call("move", [i], [("view", final.reshape(shape))], attr)[0]
        return Value(final, {"plain": i})

    def first(self, t):
        """The program's tensor that t was before anything wrote to it; None where a call made that."""
        s, _, shape = self.key(t)
        value = next((v for (of, _, g), v in self.known.items() if of == s and g == shape), None)
        i = value.ids.get("plain") if value is not None else None
        return None if i in self.program.maker else i

    def inside(self, storage):
        """The Values that what is in a storage may depend on."""
        latest = {}
        for (s, version, shape), value in self.known.items():
            if s == storage:
                latest[shape] = value
        return list(latest.values())

    def operands(self, values):
        """The program's tensors of these values, or those that they depend on."""
        ids = []
        for v in values:
            ids += [self.get(v)] if v.data is not None else v.behind
        return list(dict.fromkeys(ids))

    def unmade(self, t, role, **how):
        """A Value that no call made: an input of the program."""
        if not holdable(t):
            return Value(None)
        data = snapshot(t)
        if t.dtype not in WHOLE or not (data.abs() > 2.0 ** 53).any():
            return Value(data, {"plain": self.add(role, data, **how)})
        return Value(None)

    def opaque(self, name, reason, read, results, role=None, **how):
        """A call that nothing computes, from the Values `read` to PyTorch's tensors `results`. What no format holds of
        these is behind the operands. The rows of a sparse result are results of their own."""
        held = []
        for t in [*results, *(x for t in results for x in rows_of(t))]:
            data = snapshot(t) if holdable(t) else None
            if data is None or t.dtype in WHOLE and (data.abs() > 2.0 ** 53).any():
                self.known[self.key(t)] = Value(None, behind=self.operands(read), name=name, why=reason)
            else:
                held.append((t, data))
        if not held:
            return []
        roles = role if isinstance(role, list) else [role or name.rpartition(".")[2].replace(" ", "_")] * len(held)
        how = dict(dict(phase=self.phase()), **how)

        def make():
            self.r.opaque[name] += 1
            inputs = self.operands(read)
            return self.call("opaque", inputs, [(r, data) for r, (_, data) in zip(roles, held)],
                    opaque={"name": name.split(", since")[0][:120], "reason": reason[:200]}, **how)
        if all(t.dtype in WHOLE for t, _ in held):               # an index or a truth value that few ask for
            made = functools.cache(make)
            for k, (t, data) in enumerate(held):
                self.known[self.key(t)] = Value(data, late=lambda k=k: made()[k])
            return []
        ids = make()
        for i, (t, data) in zip(ids, held):
            self.known[self.key(t)] = Value(data, {"plain": i})
        return ids

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
        if t.dim() > RANK and any(self.values[i].shape != own.shape for i in inputs):
            raise Unknown("more than %d axes" % RANK)
        data = own if layout == "plain" else own.permute(LAYOUTS[layout]).contiguous()
        ids = self.call(op, inputs, [(role, data)], attr, **how)
        self.known[self.key(t)] = Value(own, {layout: ids[0]})
        return ids[0]

    def old(self, t):
        """The Value that an operand has, or had before the call wrote to it."""
        if id(t) in self.was:
            return self.was[id(t)]
        value = self.value(t)
        if t.layout is torch.strided and t.is_neg():
            return value
        if value.name == "empty" and holdable(t):        # a kernel that is no operator filled it
            counted = [x for x in self.lists if len(x) == t.numel()]
            if counted and t.reshape(-1).tolist() in counted:
                self.known[self.key(t)] = self.unmade(t, "lengths")
                return self.known[self.key(t)]
            self.opaque("written outside PyTorch", "it was made empty, and no operator that was seen wrote it", [], [t])
        return self.known[self.key(t)]

    def input(self, t, layout="plain"):
        if t.dim() > RANK:                       # whose axes are not those of the program's tensor
            raise Unknown("more than %d axes" % RANK)
        return self.ids(self.old(t), layout)

    def elements(self, t):
        """The program's tensor of t where only the order of its elements matters."""
        return self.ids(self.old(t))
