# SPDX-License-Identifier: Apache-2.0
"""Records real training steps of a PyTorch model as a run of halfulp.

    recorder = halfulp_trace.record(model, "RUN", optimizer=opt)
    for x, y in batches:
        with recorder:                              # one step: forward, backward, update
            loss = criterion(model(x), y)
            scaler.scale(loss).backward()
            scaler.step(opt); scaler.update()
            recorder.loss(loss)

RUN is then a directory that `halfulp analyze`, `report`, `check` and `diff` take. It holds a program, the list of
the step's calls, and the values of every tensor of each step, PyTorch's own, on whatever device they were computed.

A TorchDispatchMode sees every operator of ATen that runs, below autograd and autocast. Each operator that halfulp has
becomes a call of it (the functions named aten_* below); the move of a view or of a change of layout becomes a call
too. An operator that halfulp lacks is opaque: its results are inputs of what follows, and it is counted.
This file stands alone: it needs PyTorch and nothing of halfulp. doc/torch.md is its guide.
"""
import collections
import contextlib
import ctypes
import json
import os
import socket
import struct
import sys

import torch
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes

FORMATS = {torch.float64: "fp64", torch.float32: "fp32", torch.float16: "fp16", torch.bfloat16: "bf16"}
# Whole numbers and truth values stand as numbers that hold them exactly.
WHOLE = {torch.bool: torch.float32, torch.uint8: torch.float32, torch.int8: torch.float32, torch.int16: torch.float32,
         torch.int32: torch.float64, torch.int64: torch.float64}
for name, format in (("float8_e4m3fn", "e4m3"), ("float8_e5m2", "e5m2")):
    if hasattr(torch, name):
        FORMATS[getattr(torch, name)] = format
DTYPES = {"fp64": "F64", "fp32": "F32", "fp16": "F16", "bf16": "BF16", "e4m3": "F8_E4M3", "e5m2": "F8_E5M2"}
# halfulp's layouts of images and kernels, from PyTorch's NCHW and OIHW.
LAYOUTS = {"nhwc": (0, 2, 3, 1), "hwio": (2, 3, 1, 0)}
# What an elementary operation or function of a library may err by, in unit roundoffs of the format that it computes
# in: 2 ulps, as CUDA's tables and SLEEF's u20 functions have it.
LIBRARY = 4
RANK = 6         # most axes of a tensor of halfulp


class Unknown(Exception):
    """A call is none that halfulp has, so it is recorded as opaque."""


class Program:
    """The calls and tensors of all recorded steps. Steps that run the same calls share them; a step that runs others,
    such as the first of SGD with momentum, adds them, and a trace holds the tensors of its own step alone."""

    def __init__(self):
        self.tensors, self.calls, self.names, self.made = [], [], {}, {}

    def tensor(self, name, format, shape, cls):
        name = name if len(name) < 128 else "~" + name[-127:]   # halfulp's names have less than 160 bytes
        taken, n = name, 1
        while taken in self.names:
            n += 1
            taken = "%s_%d" % (name, n)
        self.names[taken] = len(self.tensors)
        self.tensors.append({"id": len(self.tensors), "name": taken, "format": format, "shape": list(shape),
                "class": cls})
        return self.names[taken]

    def rename(self, tensor, name):
        """Gives a tensor that a step made another name, by which later steps find it as an input."""
        if name in self.names:
            return
        info = self.tensors[tensor]
        del self.names[info["name"]]
        info["name"] = name
        self.names[name] = tensor
        for key in [k for k, i in self.made.items() if i == tensor]:
            del self.made[key]
            self.made[("input", name, 0) + key[3:]] = tensor

    def call(self, op, phase, layer, inputs, outputs, attr, compute, mode="RNE"):
        sums = op in ("matmul", "conv2d", "conv2d_dx", "conv2d_dw")
        first = self.tensors[inputs[0]]["format"]
        self.calls.append({
            "id": len(self.calls), "op": op, "phase": phase, "layer": layer, "in": inputs, "out": outputs, "attr": attr,
            "fmt": {"in": first, "compute": compute, "acc": compute, "out": self.tensors[outputs[0]]["format"]},
            "mode": mode, "sum": ("sequential" if sums else "fma") + ",acc=" + compute,
            "seed_name": self.tensors[outputs[0]]["name"]})

    def json(self):
        for call in self.calls:                  # names may have changed since
            call["seed_name"] = self.tensors[call["out"][0]]["name"]
        return {"version": 1, "name": "train", "tensors": self.tensors, "calls": self.calls}


class Value:
    """The values that a tensor of PyTorch had at some time, and the program's tensors that hold them: `plain`, in
    PyTorch's own order of axes, and in halfulp's layouts. What is missing is made by a move."""

    def __init__(self, data, ids=None):
        self.data, self.ids = data, dict(ids or {})


def geometry(t):
    return t.dtype, t.storage_offset(), tuple(t.size()), tuple(t.stride())


def tensors_in(x):
    if isinstance(x, torch.Tensor):
        yield x
    elif isinstance(x, (list, tuple)):
        for y in x:
            yield from tensors_in(y)
    elif isinstance(x, dict):
        for y in x.values():
            yield from tensors_in(y)


def snapshot(t):
    """A copy of t's values that nothing writes to, in memory of its own, row-major."""
    t = t.detach()
    t = t.to(WHOLE[t.dtype]) if t.dtype in WHOLE else t
    return t.to("cpu", copy=True).clone(memory_format=torch.contiguous_format)


def flat_move(shape):
    return dict({"rank": len(shape), "flat": 1}, **{"d%d" % j: n for j, n in enumerate(shape)})


def permuting_move(shape, order):
    attr = {"rank": len(order)}
    for j, k in enumerate(order):
        attr["d%d" % j], attr["from%d" % j] = shape[k], k
    return attr


def view_moves(parent, child):
    """Attributes of the moves that make the view `child` of the tensor `parent`, both as (offset, size, stride):
    slices, permutations, repetitions; then another shape. None where they are no such moves."""
    offset, size, stride = parent
    rest = child[0] - offset
    start = [0] * len(size)
    for k in sorted(range(len(size)), key=lambda k: -stride[k]):
        if size[k] > 1 and stride[k] > 0:
            start[k] = min(rest // stride[k], size[k] - 1)
            rest -= start[k] * stride[k]
    if rest:
        return None
    axes, free = [], [k for k in range(len(size)) if size[k] > 1]
    for n, s in zip(child[1], child[2]):
        take = None
        if n > 1 and s != 0:
            fits = [k for k in free if stride[k] > 0 and s % stride[k] == 0
                    and start[k] + (n - 1) * (s // stride[k]) < size[k]]
            take = max(fits, key=lambda k: stride[k], default=None)
            if take is None:
                return None
            free.remove(take)
        axes.append((n, take, s // stride[take] if take is not None else 1))
    axes = [(1, k, 1) for k in free] + axes      # axes that a selection leaves out have one element, and then vanish
    if len(axes) > RANK:
        return None
    attr = {"rank": len(axes)}
    for j, (n, k, step) in enumerate(axes):
        attr["d%d" % j] = n
        if k is not None:
            attr["from%d" % j] = k
            if start[k]:
                attr["start%d" % j] = start[k]
            if step != 1:
                attr["step%d" % j] = step
    return [attr] + ([flat_move(child[1])] if free else [])


class Step(TorchDispatchMode):
    """Records one step: `values` gets the values of the program's tensors."""

    def __init__(self, recorder):
        super().__init__()
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
        self.was = {}                            # values of the operands of a call that writes to them

    # --- tensors ------------------------------------------------------------------------------------------------------
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
        moves = None
        if parent is not None and t.dtype == parent.dtype and 0 < t.numel():
            if t.numel() == parent.numel() and self.same_order(parent, t):
                moves = [flat_move(tuple(t.size()))]
            else:
                moves = view_moves(geometry(parent)[1:], geometry(t)[1:])
        if moves and t.dim() <= RANK:
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

    @staticmethod
    def same_order(a, b):
        """Whether two views of a storage have the same elements in the same order."""
        def runs(t):
            out = []
            for n, s in zip(t.size(), t.stride()):
                if n == 1:
                    continue
                if out and out[-1][1] == n * s:
                    out[-1] = (out[-1][0] * n, s)
                else:
                    out.append((n, s))
            return out
        return a.storage_offset() == b.storage_offset() and runs(a) == runs(b)

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

    # --- what runs ----------------------------------------------------------------------------------------------------
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        name = func._schema.name.partition("::")[2]
        if self.quiet or func.namespace != "aten" or name in SILENT:
            return func(*args, **kwargs)
        if name.startswith("_amp_") and not self.updating:
            self.begin_update()
        a = bind(func, args, kwargs)
        written = [t for arg in func._schema.arguments if arg.alias_info is not None and arg.alias_info.is_write
                   for t in tensors_in(a.get(arg.name))]
        plain = name.rstrip("_")                 # mul_ is mul into its first operand
        make = globals().get("aten_" + name) or globals().get("aten_" + plain) or POINTWISE.get(plain)
        before = [t for t in tensors_in([args, kwargs])]
        self.was = {id(t): self.value(t) for t in before} if written else {}
        out = func(*args, **kwargs)
        for s in {self.storage(t) for t in written}:
            self.version[s] += 1
        results = list(tensors_in(out)) or written
        if not written and self.is_view(before, results):
            return out
        if name in EMPTY:
            for t in results:
                self.known[self.key(t)] = Value(None)
            return out
        try:
            if make is None:
                raise Unknown("no such operator")
            if callable(make):
                make(self, a, out if list(tensors_in(out)) else written)
            else:
                pointwise(self, make, a, results[0])
        except Exception as why:                 # whatever this file does not foresee must not stop a training
            if not isinstance(why, Unknown):
                self.r.opaque["aten.%s, since %s: %s" % (name, type(why).__name__, why)] += 1
            elif make is not None or name not in CREATE:
                if any(t.dtype in FORMATS for t in results):
                    self.r.opaque["aten." + name] += 1
            for t in results:
                if self.key(t) not in self.known:
                    self.known[self.key(t)] = self.unmade(t, name.strip("_"))
        return out

    def is_view(self, before, results):
        """Notes views. What they hold is found when a call reads it."""
        views = 0
        for t in results:
            s = self.storage(t)
            for p in before:
                if self.storage(p) == s:
                    views += 1
                    if (s, geometry(t)) not in self.parent and geometry(t) not in self.line(s, p):
                        self.parent[s, geometry(t)] = p.detach()
                    break
        return views == len(results) and views > 0

    def line(self, s, t):
        """The geometries of a view, of the tensor that it is a view of, and so on."""
        out = []
        while t is not None:
            out.append(geometry(t))
            t = self.parent.get((s, out[-1]))
        return out

    def old(self, t):
        """The Value that an operand has, or had before the call wrote to it."""
        return self.was.get(id(t)) or self.value(t)

    def input(self, t, layout="plain"):
        return self.ids(self.old(t), layout)

    # --- the update ---------------------------------------------------------------------------------------------------
    def begin_update(self):
        self.updating = True
        if self.gradients is None:
            self.gradients = []
            for name, p in self.r.model.named_parameters():
                if p.grad is not None and self.value(p.grad).data is not None:
                    g, w = self.get(self.value(p.grad)), self.get(self.value(p))
                    self.program.tensors[g]["class"] = "wgrad"
                    self.program.tensors[w]["grad"] = g
                    layer, _, role = tensor_name(name).rpartition(".")
                    self.program.rename(g, "%s.d%s" % (layer, role))
                    self.gradients.append(g)


def bind(func, args, kwargs):
    """The arguments by the schema's names, with its defaults."""
    a = {}
    for k, arg in enumerate(func._schema.arguments):
        a[arg.name] = args[k] if k < len(args) and not arg.kwarg_only else kwargs.get(arg.name, arg.default_value)
    return a


def tensor_name(name):
    """LAYER.ROLE of halfulp: the modules of a path are parted by a stroke, as in layer1/0/conv1.weight."""
    layer, _, role = name.rpartition(".")
    return "%s.%s" % (layer.replace(".", "/") or "model", role)


# --- operators of ATen that are one call without a rule of their own: our operator, the operands, whether a library's
# --- elementary functions take part, attributes -----------------------------------------------------------------------
POINTWISE = {
    "relu": ("relu", ["self"]),
    "threshold_backward": ("relu_dx", ["self", "grad_output"]),
    "gelu": ("gelu", ["self"], True, lambda a: {"approx": a["approximate"]}),
    "gelu_backward": ("gelu_dx", ["self", "grad_output"], True, lambda a: {"approx": a["approximate"]}),
    "silu": ("silu", ["self"], True),
    "silu_backward": ("silu_dx", ["self", "grad_output"], True),
    "sigmoid": ("sigmoid", ["self"], True),
    "sigmoid_backward": ("sigmoid_dx", ["output", "grad_output"], True),
    "tanh": ("tanh", ["self"], True),
    "tanh_backward": ("tanh_dx", ["output", "grad_output"], True),
    "hardswish": ("hardswish", ["self"], True),
    "hardswish_backward": ("hardswish_dx", ["self", "grad_output"], True),
    "hardtanh": ("clip", ["self"], False, lambda a: {"low": float(a["min_val"]), "high": float(a["max_val"])}),
    "exp": ("exp", ["self"], True),
    "log": ("log", ["self"], True),
    "sqrt": ("sqrt", ["self"]),
    "rsqrt": ("rsqrt", ["self"], True),
    "reciprocal": ("reciprocal", ["self"]),
    "erf": ("erf", ["self"], True),
    "neg": ("neg", ["self"]),
    "abs": ("abs", ["self"]),
    "minimum": ("min", ["self", "other"]),
    "maximum": ("max", ["self", "other"]),
    "where": ("where", ["condition", "self", "other"]),
    "_softmax": ("softmax", ["self"], True, lambda a: {"axis": a["dim"] % a["self"].dim()}),
    "_softmax_backward_data": ("softmax_dx", ["output", "grad_output"], True,
            lambda a: {"axis": a["dim"] % a["output"].dim()}),
    "_log_softmax": ("log_softmax", ["self"], True, lambda a: {"axis": a["dim"] % a["self"].dim()}),
    "_log_softmax_backward_data": ("log_softmax_dx", ["output", "grad_output"], True,
            lambda a: {"axis": a["dim"] % a["output"].dim()}),
}
# Operators that make tensors of nothing, whose results are inputs without being opaque.
EMPTY = {"empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided"}   # what they hold means nothing
CREATE = {"zeros", "zeros_like", "new_zeros", "ones",
          "ones_like", "new_ones", "full", "full_like", "new_full", "scalar_tensor", "arange", "zero_", "fill_",
          "bernoulli_", "bernoulli", "rand", "randn", "rand_like", "randn_like", "normal_", "uniform_", "randint",
          "randperm", "lift_fresh"}
# Operators that compute nothing.
SILENT = {"_local_scalar_dense", "is_same_size", "_version", "record_stream", "is_pinned",
        "_has_compatible_shallow_copy_type",
          "set_", "resize_"}


def floats(s, *tensors):
    for t in tensors:
        if t.dtype not in FORMATS:
            raise Unknown("whole numbers")


def shared_layout(values):
    """nhwc where an operand has that alone, so that what follows a convolution stays in its order."""
    return "nhwc" if all(v.data is not None and v.data.dim() == 4 for v in values) and any(
        "plain" not in v.ids for v in values) else "plain"


def spread_all(s, operands, out):
    """Tensors of the program for operands, tensors or numbers, of the shape of the result, and their layout."""
    floats(s, out)
    shape = tuple(out.size())
    values = [s.old(x) for x in operands if isinstance(x, torch.Tensor)]
    if len(values) == len(operands) and all(v.data is not None and tuple(v.data.shape) == shape for v in values):
        layout = shared_layout(values)
        return [s.ids(v, layout) for v in values], layout
    ids = []
    for x in operands:
        if isinstance(x, torch.Tensor):
            ids.append(s.spread(s.input(x), shape))
        else:
            # a number takes part in the format that PyTorch computes in
            ids.append(s.spread(s.constant(x, torch.float64 if out.dtype == torch.float64 else torch.float32), shape))
    return ids, "plain"


def pointwise(s, row, a, out):
    op, operands, library, attr = row + (False, None)[len(row) - 2:]
    if op == "relu_dx" and a["threshold"] != 0:
        raise Unknown("another threshold")
    axis = attr(a) if attr else None
    if axis and "axis" in axis:
        floats(s, out)
        ids, layout = [s.input(a[k]) for k in operands], "plain"
    else:
        ids, layout = spread_all(s, [a[k] for k in operands], out)
    s.result(op, ids, out, axis, layout=layout, library=library, role="dx" if op.endswith("_dx") else "y")


def aten_add(s, a, out, sign=1):
    out = next(tensors_in(out))
    alpha = sign * a.get("alpha", 1)
    if alpha not in (1, -1):
        raise Unknown("a factor")
    other = a["other"]
    if not isinstance(other, torch.Tensor):
        other, alpha = alpha * other, 1
    ids, layout = spread_all(s, [a["self"], other], out)
    s.result("add" if alpha == 1 else "sub", ids, out, layout=layout)


def aten_sub(s, a, out):
    aten_add(s, a, out, -1)


def aten_mul(s, a, out):
    out = next(tensors_in(out))
    x, y = a["self"], a["other"]
    if not isinstance(y, torch.Tensor):
        floats(s, out, x)
        layout = shared_layout([s.old(x)])
        s.result("scale", [s.input(x, layout)], out, {"factor": float(y)}, layout=layout)
        return
    ids, layout = spread_all(s, [x, y], out)
    s.result("mul", ids, out, layout=layout)


def aten_div(s, a, out):
    out = next(tensors_in(out))
    if a.get("rounding_mode") is not None:
        raise Unknown("another rounding")
    ids, layout = spread_all(s, [a["self"], a["other"]], out)
    s.result("div", ids, out, layout=layout, library=not isinstance(a["other"], torch.Tensor))


def aten_pow(s, a, out):
    out = next(tensors_in(out))
    if a["exponent"] != 2:
        raise Unknown("another power")
    ids, layout = spread_all(s, [a["self"], a["self"]], out)
    s.result("mul", ids, out, layout=layout)


def aten_hardtanh_backward(s, a, out):
    """The gradient strictly between the two ends, 0 elsewhere."""
    values = [s.old(a["self"]), s.old(a["grad_output"])]
    layout = shared_layout(values)
    i, j = (s.ids(v, layout) for v in values)
    x = s.values[i]
    low, high = (s.spread(s.constant(float(a[k]), torch.float32), tuple(x.shape)) for k in ("min_val", "max_val"))
    above = s.call("greater", [i, low], [("above", (x > a["min_val"]).to(x.dtype))])[0]
    below = s.call("less", [i, high], [("below", (x < a["max_val"]).to(x.dtype))])[0]
    inside = s.call("logical_and", [above, below],
            [("inside", ((x > a["min_val"]) & (x < a["max_val"])).to(x.dtype))])[0]
    s.result("mask", [inside, j], out, role="dx", layout=layout)


def aten_masked_fill(s, a, out):
    out = next(tensors_in(out))
    value = a["value"]
    ids, _ = spread_all(s, [a["mask"], value if isinstance(value, torch.Tensor) else float(value), a["self"]], out)
    s.result("where", ids, out)


def aten__to_copy(s, a, out):
    x = a["self"]
    floats(s, x, out)
    value = s.old(x)
    if out.dtype == x.dtype:
        s.known[s.key(out)] = value
        return
    if FORMATS[out.dtype].startswith("e") or FORMATS[x.dtype].startswith("e"):
        raise Unknown("8 bits")
    layout = shared_layout([value])
    name = s.program.tensors[s.ids(value, layout)]["name"]
    layer, _, role = name.rpartition(".")
    s.result("cast", [s.ids(value, layout)], out, role=role.split("@")[0] + "@" + FORMATS[out.dtype], layout=layout,
            layer=layer)


def aten_clone(s, a, out):
    s.known[s.key(out)] = s.old(a["self"])


def aten_copy(s, a, out):
    """copy_: the destination has the source's values, perhaps in another format."""
    out = next(tensors_in(out))
    if tuple(a["src"].size()) != tuple(out.size()) or not a["src"].dtype in FORMATS:
        raise Unknown("a copy to another shape")
    aten__to_copy(s, {"self": a["src"]}, out)


def matrix(s, t):
    """A factor of a product as the program has it, and whether it is stored transposed."""
    key = s.key(t)
    parent = s.parent.get((key[0], key[2]))
    if key not in s.known and parent is not None and parent.dtype == t.dtype and parent.dim() == t.dim() >= 2:
        swapped = parent.transpose(-1, -2)
        if geometry(swapped) == geometry(t):
            return s.input(parent), 1
    return s.input(t), 0


def product(s, x, y, out, batch=0):
    floats(s, out)
    (i, ta), (j, tb) = x, y
    s.result("matmul", [i, j], out, dict({"ta": ta, "tb": tb}, **({"batch": batch} if batch else {})), library=True)


def aten_mm(s, a, out):
    product(s, matrix(s, a["self"]), matrix(s, a["mat2"]), out)


def aten_bmm(s, a, out):
    product(s, matrix(s, a["self"]), matrix(s, a["mat2"]), out, 1)


def beside(s, i, j, axis):
    """Two tensors of the program, one behind the other along an axis."""
    data = torch.cat([s.values[i], s.values[j]], axis)
    name = s.program.tensors[i]["name"]
    return s.call("concat", [i, j], [(name.rpartition(".")[2].split("@")[0] + "@more", data)], {"axis": axis},
            layer=name.rpartition(".")[0])[0]


def aten_addmm(s, a, out):
    """A product and a bias that are rounded once are one product: [x 1] [w; b]."""
    b, x, w = a["self"], a["mat1"], a["mat2"]
    if a["alpha"] != 1 or a["beta"] != 1 or b.numel() != out.size(-1):
        raise Unknown("factors")
    (i, ta), (j, tb), k = matrix(s, x), matrix(s, w), s.input(b)
    row = [b.numel(), 1] if tb else [1, b.numel()]
    k = s.call("move", [k], [("b@row", s.values[k].reshape(row))], flat_move(row))[0]
    one = s.constant(1, x.dtype, (1, x.size(0)) if ta else (x.size(0), 1))
    product(s, (beside(s, i, one, 0 if ta else 1), ta), (beside(s, j, k, 1 if tb else 0), tb), out)


def conv_attr(a, w):
    if a["transposed"] or w.dim() != 4:
        raise Unknown("no convolution of images")
    (sh, sw), (ph, pw), (dh, dw) = [list(x) * (2 // len(x)) for x in (a["stride"], a["padding"], a["dilation"])]
    return {"stride_h": sh, "stride_w": sw, "dilation_h": dh, "dilation_w": dw, "padding_top": ph, "padding_bottom": ph,
            "padding_left": pw, "padding_right": pw, "groups": a["groups"]}


def aten_convolution(s, a, out):
    attr = conv_attr(a, a["weight"])
    floats(s, out)
    i, j = s.input(a["input"], "nhwc"), s.input(a["weight"], "hwio")
    if a["bias"] is not None:
        i, j = with_bias(s, i, j, s.input(a["bias"]), attr)
    s.result("conv2d", [i, j], out, attr, layout="nhwc", library=True)


def with_bias(s, i, j, k, attr):
    """A bias that is added before the one rounding is one more channel: ones in the image, padding and all, and in the
    kernel the bias at one tap and zeros at the others. The padding becomes a move."""
    if attr["groups"] != 1:
        raise Unknown("groups and a bias")
    top, left = attr.pop("padding_top"), attr.pop("padding_left")
    attr.pop("padding_bottom"), attr.pop("padding_right")
    attr["padding"] = 0
    layer, dtype = s.layers[-1], s.values[i].dtype
    n, h, w, c = s.values[i].shape
    if top or left:
        data = torch.nn.functional.pad(s.values[i], (0, 0, left, left, top, top))
        i = s.call("move", [i], [("x@padded", data)], {"rank": 4, "d0": n, "from0": 0, "d1": h + 2 * top, "from1": 1,
                "start1": -top,
                   "d2": w + 2 * left, "from2": 2, "start2": -left, "d3": c, "from3": 3}, layer=layer)[0]
    i = beside(s, i, s.constant(1, dtype, tuple(s.values[i].shape[:3]) + (1,)), 3)
    kh, kw, _, o = s.values[j].shape
    k = s.call("move", [k], [("b@row", s.values[k].reshape(1, 1, 1, o))], flat_move((1, 1, 1, o)), layer=layer)[0]
    data = torch.zeros((kh, kw, 1, o), dtype=dtype)
    data[0, 0, 0] = s.values[k].reshape(o)
    k = s.call("move", [k], [("b@tap", data)], {"rank": 4, "d0": kh, "from0": 0, "d1": kw, "from1": 1, "d2": 1,
            "from2": 2, "d3": o, "from3": 3},
               layer=layer)[0]
    return i, beside(s, j, k, 2)


def aten_convolution_backward(s, a, out):
    attr = conv_attr(a, a["weight"])
    dy, x, w = a["grad_output"], a["input"], a["weight"]
    floats(s, dy)
    dx, dw, db = out
    i = s.input(dy, "nhwc")
    layer = s.layer_of([s.input(w)])
    if dx is not None:
        s.result("conv2d_dx", [i, s.input(w, "hwio")], dx, dict(attr, height=x.size(2), width=x.size(3)), "dx", "nhwc",
                library=True, layer=layer)
    if dw is not None:
        s.result("conv2d_dw", [s.input(x, "nhwc"), i], dw, dict(attr, kh=w.size(2), kw=w.size(3)), "dw", "hwio",
                library=True, layer=layer)
    if db is not None:
        s.result("bias_db", [i], db, role="db", library=True, layer=layer)


def norm_layout(x):
    if x.dim() not in (2, 4):
        raise Unknown("neither rows nor images")
    return "nhwc" if x.dim() == 4 else "plain"


def aten_native_batch_norm(s, a, out):
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


aten__native_batch_norm_legit = aten_cudnn_batch_norm = aten_miopen_batch_norm = aten_native_batch_norm


def norm_backward(s, op, x, w, mean, rstd, dy, out, layout):
    if any(t is None for t in out[:3]) or w is None:
        raise Unknown("not every gradient")
    ids = [s.input(x, layout), s.input(w), s.input(mean), s.input(rstd), s.input(dy, layout)]
    dx = snapshot(out[0]) if layout == "plain" else snapshot(out[0]).permute(LAYOUTS[layout]).contiguous()
    made = s.call(op, ids, [("dx", dx), ("dgamma", snapshot(out[1])), ("dbeta", snapshot(out[2]))], library=True,
            layer=s.layer_of(ids[1:2]))
    for t, i, where in zip(out, made, (layout, "plain", "plain")):
        s.known[s.key(t)] = Value(snapshot(t), {where: i})


def aten_native_batch_norm_backward(s, a, out):
    if not a["train"]:
        raise Unknown("evaluation")
    norm_backward(s, "batchnorm_dx", a["input"], a["weight"], a["save_mean"], a["save_invstd"], a["grad_out"], out,
            norm_layout(a["input"]))


def aten_cudnn_batch_norm_backward(s, a, out):
    norm_backward(s, "batchnorm_dx", a["input"], a["weight"], a["save_mean"], a["save_var"], a["grad_output"], out,
            norm_layout(a["input"]))


def aten_native_layer_norm(s, a, out):
    if len(a["normalized_shape"]) != 1 or a["weight"] is None or a["bias"] is None:
        raise Unknown("several axes")
    ids = [s.input(a["input"]), s.input(a["weight"]), s.input(a["bias"])]
    made = s.call("layernorm", ids, [("y", snapshot(out[0])), ("mean", snapshot(out[1]).reshape(-1)),
            ("rstd", snapshot(out[2]).reshape(-1))], {"eps": a["eps"]}, library=True)
    for t, i in zip(out, made):
        s.known[s.key(t)] = Value(snapshot(t), {"plain": i})


def aten_native_layer_norm_backward(s, a, out):
    if len(a["normalized_shape"]) != 1:
        raise Unknown("several axes")
    norm_backward(s, "layernorm_dx", a["input"], a["weight"], a["mean"], a["rstd"], a["grad_out"], out, "plain")


def reduced(s, op, a, out):
    x = a["self"]
    floats(s, x, out)
    dims = a.get("dim")
    dims = sorted(d % x.dim() for d in ([dims] if isinstance(dims, int) else dims)) if dims else list(range(x.dim()))
    if dims != list(range(dims[0], dims[0] + len(dims))) if dims else False:
        raise Unknown("axes that are no neighbours")
    attr = {"axis": dims[0], "axes": len(dims), "keep": 1 if a.get("keepdim") else 0} if len(dims) < x.dim() else {}
    s.result(op, [s.input(x)], out, attr, library=True)


def aten_sum(s, a, out):
    reduced(s, "reduce_sum", a, out)


def aten_mean(s, a, out):
    reduced(s, "reduce_mean", a, out)


def pool_attr(a):
    def two(x, otherwise=None):
        x = list(x) or list(otherwise)
        return x * (2 // len(x))
    size = two(a["kernel_size"])
    (sh, sw), (ph, pw) = two(a["stride"], size), two(a["padding"])
    attr = {"size_h": size[0], "size_w": size[1], "stride_h": sh, "stride_w": sw, "padding_top": ph,
            "padding_bottom": ph,
            "padding_left": pw, "padding_right": pw}
    if "dilation" in a:
        attr["dilation_h"], attr["dilation_w"] = two(a["dilation"])
    if a["ceil_mode"]:
        attr["ceil"] = 1
    return attr


def aten_max_pool2d_with_indices(s, a, out):
    if a["self"].dim() != 4:
        raise Unknown("no batch of images")
    i = s.input(a["self"], "nhwc")
    s.pooled[i] = s.result("maxpool", [i], out[0], pool_attr(a), layout="nhwc")


def aten_max_pool2d_with_indices_backward(s, a, out):
    i = s.input(a["self"], "nhwc") if a["self"].dim() == 4 else None
    if i not in s.pooled:
        raise Unknown("a result that is not known")
    # where windows overlap, the CPU's kernel adds in the gradient's own format, the GPU's in fp32
    compute = FORMATS[out.dtype] if out.device.type == "cpu" else None
    s.result("maxpool_dx", [i, s.pooled[i], s.input(a["grad_output"], "nhwc")], out, pool_attr(a), "dx", "nhwc",
            library=True, compute=compute)


def aten_avg_pool2d(s, a, out):
    if a["self"].dim() != 4 or a["divisor_override"] is not None:
        raise Unknown("no batch of images")
    attr = dict(pool_attr(a), include_padding=1 if a["count_include_pad"] else 0)
    s.result("avgpool2d", [s.input(a["self"], "nhwc")], out, attr, layout="nhwc", library=True)


def aten_avg_pool2d_backward(s, a, out):
    if a["self"].dim() != 4 or a["divisor_override"] is not None:
        raise Unknown("no batch of images")
    attr = dict(pool_attr(a), include_padding=1 if a["count_include_pad"] else 0, height=a["self"].size(2),
            width=a["self"].size(3))
    s.result("avgpool2d_dx", [s.input(a["grad_output"], "nhwc")], out, attr, "dx", "nhwc", library=True)


def aten_embedding(s, a, out):
    floats(s, out)
    s.result("gather", [s.input(a["weight"]), s.input(a["indices"])], out, {"axis": 0})


def aten_embedding_dense_backward(s, a, out):
    if a["padding_idx"] >= 0 and (a["indices"] == a["padding_idx"]).any() or a["scale_grad_by_freq"]:
        raise Unknown("rows without a gradient")
    of = next((s.get(s.value(p)) for p in s.r.model.parameters() if tuple(p.size()) == tuple(out.size())), None)
    if of is None:
        raise Unknown("no such table")
    s.result("gather_dx", [s.input(a["grad_output"]), s.input(a["indices"]), of], out, {"axis": 0}, "dw", library=True)


def aten_cat(s, a, out):
    floats(s, out)
    if any(t.numel() == 0 or t.dtype != out.dtype for t in a["tensors"]):
        raise Unknown("other formats")
    s.result("concat", [s.input(t) for t in a["tensors"]], out, {"axis": a["dim"] % out.dim()})


def placed(s, a, out, start, shape):
    """The gradient of a slice: its elements at their place among zeros."""
    i, n = s.input(a["grad_output"]), out.dim()
    dim, attr = a["dim"] % n, {"rank": n}
    if list(s.values[i].shape) != shape:
        i = s.call("move", [i], [("dx@row", s.values[i].reshape(shape))], flat_move(shape))[0]
    for j in range(n):
        attr["d%d" % j], attr["from%d" % j] = out.size(j), j
    attr["start%d" % dim] = -start
    s.result("move", [i], out, attr, "dx")


def aten_slice_backward(s, a, out):
    if a["step"] != 1:
        raise Unknown("a step")
    n = a["input_sizes"][a["dim"]]
    placed(s, a, out, a["start"] + n if a["start"] < 0 else a["start"], list(a["grad_output"].size()))


def aten_select_backward(s, a, out):
    shape = list(a["input_sizes"])
    index = a["index"] % shape[a["dim"]]
    shape[a["dim"]] = 1
    placed(s, a, out, index, shape)


def aten_nll_loss_forward(s, a, out):
    """The mean of -logp at the targets: a gather, its mean, and another sign, which is exact."""
    x, target, loss = a["self"], a["target"], out[0]
    if a["weight"] is not None or a["reduction"] != 1 or x.dim() != 2 or (target == a["ignore_index"]).any():
        raise Unknown("weights")
    rows, columns = x.size()
    i = s.input(x)
    flat = s.call("move", [i], [("flat", s.values[i].reshape(-1))], flat_move((rows * columns,)))[0]
    at = torch.arange(rows, device=target.device) * columns + target
    k = s.add("", snapshot(at), name="input.target", cls="other")
    j = s.call("gather", [flat, k], [("picked", snapshot(x).reshape(-1)[at.cpu()])], {"axis": 0})[0]
    m = s.call("reduce_mean", [j], [("mean", -snapshot(loss))], library=True)[0]
    s.result("neg", [m], loss, role="loss")


def aten_nll_loss_backward(s, a, out):
    """-dy / n at the targets, 0 elsewhere."""
    x, target = a["self"], a["target"]
    if a["weight"] is not None or a["reduction"] != 1 or x.dim() != 2 or (target == a["ignore_index"]).any():
        raise Unknown("weights")
    rows, columns = x.size()
    floats(s, out)
    picked = snapshot(out)[0, int(target[0])].reshape(())
    n = s.call("neg", [s.input(a["total_weight"])], [("n", -snapshot(a["total_weight"]))])[0]
    q = s.call("div", [s.input(a["grad_output"]), n], [("dloss", picked)])[0]
    hot = torch.nn.functional.one_hot(target, columns)
    k = s.add("", snapshot(hot).to(torch.float32), name="input.onehot", cls="other")
    s.result("mask", [k, s.spread(q, (rows, columns))], out, role="dx")


def aten_native_dropout(s, a, out):
    y, m = out
    if not a["train"] or not 0 < a["p"] < 1:
        raise Unknown("nothing to drop")
    kept = s.unmade(m, "mask")
    s.known[s.key(m)] = kept
    dropped(s, a["input"], kept, 1 / (1 - a["p"]), y)


def aten_native_dropout_backward(s, a, out):
    dropped(s, a["grad_output"], s.value(a["mask"]), a["scale"], out)


def dropped(s, x, kept, factor, y):
    i = s.input(x)
    data = torch.where(kept.data != 0, s.values[i], torch.zeros((), dtype=s.values[i].dtype))
    t = s.call("mask", [s.ids(kept), i], [("kept", data)])[0]
    s.result("scale", [t], y, {"factor": factor}, library=True)


def aten__amp_foreach_non_finite_check_and_unscale(s, a, out):
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


def aten__amp_update_scale(s, a, out):
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


# --- optimizers whose update is one call a parameter ------------------------------------------------------------------
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


# --- the run directory ------------------------------------------------------------------------------------------------
METRICS = """step epoch loss accuracy eval_loss eval_accuracy eval_precision eval_recall loss_scale skipped
    overflow_call overflow_tensor overflow_count grad_norm ms samples_per_s joules joules_per_sample watts utilisation
    digest""".split()


def write(path, data):
    """Writes a file whole or not at all."""
    with open(path + ".part", "wb") as f:
        for piece in data:
            f.write(piece)
    os.replace(path + ".part", path)


def safetensors(values, program):
    """The bytes of a safetensors file of these values, by the program's tensor; wider formats come first."""
    order = sorted(values, key=lambda i: (-values[i].element_size(), i))
    header, at = {}, 0
    for i in order:
        t, n = values[i], values[i].numel() * values[i].element_size()
        header[program.tensors[i]["name"]] = {"dtype": DTYPES[FORMATS[t.dtype]], "shape": list(t.shape),
                "data_offsets": [at, at + n]}
        at += n
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    yield struct.pack("<Q", len(text)) + text
    for i in order:
        t = values[i].contiguous()
        yield ctypes.string_at(t.data_ptr(), t.numel() * t.element_size())


def signed(x):
    return x - (1 << 64) if x >> 63 else x


def digest(program, values):
    """The digest of the state behind a step, as doc/formats.md defines it: the sum of mix64(FNV-1a64(name) xor
    (index * 0x9e3779b97f4a7c15 + code)) over all elements of the state, modulo 2^64."""
    def xor_shifted(z, k):                       # a logical shift: torch's own is an arithmetic one
        return z ^ ((z >> k) & ((1 << (64 - k)) - 1))
    total = 0
    for t in program.tensors:
        v = values.get(t.get("next"), values.get(t["id"])) if t.get("state") else None
        if v is None:
            continue
        name = 0xcbf29ce484222325
        for c in t["name"].encode():
            name = (name ^ c) * 0x100000001b3 % (1 << 64)
        bits = 8 * v.element_size()
        code = v.reshape(-1).view({8: torch.uint8, 16: torch.int16, 32: torch.int32,
                64: torch.int64}[bits]).to(torch.int64)
        code = code & ((1 << bits) - 1) if bits < 64 else code
        z = (torch.arange(len(code)) * signed(0x9e3779b97f4a7c15) + code) ^ signed(name)
        z = xor_shifted(xor_shifted(z, 30) * signed(0xbf58476d1ce4e5b9), 27) * signed(0x94d049bb133111eb)
        total += int(xor_shifted(z, 31).sum())
    return "0x%016x" % (total % (1 << 64))


class record:
    """Records the training steps that run inside `with`, one step each time, in the run directory `run`."""

    def __init__(self, model, run, optimizer=None):
        if os.path.isdir(run) and os.listdir(run):
            raise FileExistsError("%s: something is there already; record into a new directory" % run)
        self.model, self.run, self.optimizer = model, run, optimizer
        self.program, self.opaque = Program(), collections.Counter()
        self.rows, self.grads = [], []           # of metrics.tsv and grads.tsv
        self.step = self.scale = None

    def loss(self, loss):
        """Notes the step's loss, which metrics.tsv and the report show."""
        self.noted = float(loss.detach())

    def __enter__(self):
        self.noted, self.step = None, Step(self)
        s, names = self.step, self.model.named_parameters
        for name, p in names():
            if p.dtype in FORMATS and p.numel():
                s.known[s.key(p)] = Value(snapshot(p), {"plain": s.add("", snapshot(p), "weight", tensor_name(name),
                        state=True, trainable=True)})
        for name, b in self.model.named_buffers():
            if b.dtype in FORMATS and b.numel() and b.dim() <= RANK:
                s.known[s.key(b)] = Value(snapshot(b), {"plain": s.add("", snapshot(b), "other", tensor_name(name),
                        state=True)})
        if self.scale is not None:
            s.scale = s.add("", snapshot(self.scale), "other", "scaler.scale", state=True)
            s.known[s.key(self.scale)] = Value(snapshot(self.scale), {"plain": s.scale})
        self.exit = contextlib.ExitStack()
        for name, module in self.model.named_modules():
            path = name.replace(".", "/") or "model"
            enter = module.register_forward_pre_hook(lambda m, x, path=path: s.layers.append(path))
            leave = module.register_forward_hook(lambda m, x, y: s.layers.pop() and None)
            self.exit.callback(enter.remove)
            self.exit.callback(leave.remove)
        if self.optimizer is not None:
            updates = []


            def start(optimizer, args, kwargs):
                with _disable_current_modes():
                    updates.append(Update(s, optimizer))

            def end(optimizer, args, kwargs):
                with _disable_current_modes():
                    updates.pop().finish()

            before = self.optimizer.register_step_pre_hook(start)
            after = self.optimizer.register_step_post_hook(end)
            self.exit.callback(before.remove)
            self.exit.callback(after.remove)
        self.exit.enter_context(s)
        return self

    def __exit__(self, kind, error, where):
        self.exit.close()
        if kind is not None:
            return False
        s = self.step
        s.begin_update()
        for named in (self.model.named_parameters(), self.model.named_buffers()):
            for name, t in named:
                i = self.program.names.get(tensor_name(name))
                if i in s.values and s.get(s.value(t)) != i:
                    self.program.tensors[i]["next"] = s.get(s.value(t))
        number = len(self.rows)
        scale = float(s.values[s.scale]) if s.scale is not None and s.scale in s.values else 1.0
        skipped = int(bool(s.values[s.found])) if s.found is not None else 0
        for i in s.gradients:
            x = s.values[i].to(torch.float64).abs() / scale
            fine = x[x.isfinite()]
            self.grads.append((number, self.program.tensors[i]["name"], repr(float(fine.max()) if len(fine) else 0.0),
                    int((fine > 0).sum()),
                               int((fine == 0).sum()), int(x.numel() - fine.numel())))
        row = {"step": number, "epoch": 0, "loss": self.noted, "loss_scale": scale, "skipped": skipped,
               "digest": digest(self.program, s.values)}
        self.rows.append(row)
        os.makedirs(os.path.join(self.run, "trace"), exist_ok=True)
        write(os.path.join(self.run, "trace", "step-%06d.safetensors" % number), safetensors(s.values, self.program))
        self.finish(s)
        self.step = None
        return False

    def finish(self, s):
        """Writes what describes all steps so far, the manifest last."""
        lines = [METRICS] + [["-" if r.get(k) is None else str(r[k]) for k in METRICS] for r in self.rows]
        write(os.path.join(self.run, "metrics.tsv"), ["".join("\t".join(line) + "\n" for line in lines).encode()])
        text = "".join("\t".join(map(str, r)) + "\n" for r in [("step", "tensor", "amax", "nonzeros", "zeros",
                "nonfinite")] + self.grads)
        write(os.path.join(self.run, "grads.tsv"), [text.encode()])
        write(os.path.join(self.run, "program-train.json"), [json.dumps(self.program.json()).encode()])
        low = sorted({FORMATS[d.dtype] for d in s.values.values()} & {"fp16", "bf16"})
        device = next(iter(self.model.parameters())).device
        manifest = {
            "run_version": 1, "halfulp_version": "halfulp_trace.py",
            "command": [os.path.basename(sys.argv[0] or "python")],
            "seed": torch.initial_seed() % (1 << 62), "model": type(self.model).__name__,
            "policy": {"name": "+".join(low + ["fp32"]), "compute": low[0] if low else "fp32", "variable": "fp32"},
            "dataset": {"name": "the program's own"}, "backend": "torch " + torch.__version__,
            "device": torch.cuda.get_device_name(device) if device.type == "cuda" else device.type,
            "compiler": "-", "simd": torch.backends.cpu.get_cpu_capability(), "threads": torch.get_num_threads(),
            "host": socket.gethostname(), "steps": len(self.rows), "steps_done": len(self.rows),
            "trace_steps": [r["step"] for r in self.rows], "loss_weight": 1,
            "loss_scaling": {"rule": "pytorch" if s.scale is not None else "none"},
            "optimizer": {"name": type(self.optimizer).__name__ if self.optimizer is not None else "-"},
            "calls": len(self.program.calls), "opaque": dict(self.opaque.most_common()), "files": {}, "finished": True}
        write(os.path.join(self.run, "manifest.json"), [json.dumps(manifest, indent=1).encode()])

    def summary(self):
        """One sentence on what was recorded, and what was not."""
        moves = sum(c["op"] in ("move", "concat") for c in self.program.calls)
        text = "%d calls recorded in %d steps, %d of them moves" % (len(self.program.calls), len(self.rows), moves)
        if self.opaque:
            text += "; opaque: " + ", ".join("%s (%d)" % x for x in self.opaque.most_common())
        return text
