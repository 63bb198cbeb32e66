# SPDX-License-Identifier: Apache-2.0
"""What of a step a trace keeps: the calls of some layers alone, or of large tensors some of their elements. What is not
kept is not judged, and the program says how much that is: results of calls that are left out are made by opaque calls,
so that nothing that depends on them is taken for judged."""
import functools
import re

import torch

MOVES = {"move", "move_dx", "concat", "concat_dx", "causal", "causal_dx", "gather", "gather_dx", "onehot"}
# Operators each of whose results needs the operands' elements at its own place alone.
ELEMENTWISE = {"add", "sub", "mul", "div", "neg", "abs", "exp", "log", "sqrt", "sigmoid", "sigmoid_dx", "tanh",
               "tanh_dx", "sin", "cos", "silu", "silu_dx", "relu", "relu_dx", "gelu", "gelu_dx", "pow", "erf", "cast",
               "scale", "axpby", "addcmul", "addcdiv", "lerp", "log1p", "expm1", "reciprocal", "rsqrt", "adamw", "sgd"}
NAME = "what was not kept"


@functools.lru_cache(maxsize=256)
def places(n, count):
    """Which `count` of n elements a sample has: the same ones in every step."""
    if count >= n:
        return torch.arange(n)
    drawn = torch.Generator().manual_seed(n)
    if n < 4 * count:
        return torch.randperm(n, generator=drawn)[:count].sort().values
    at = torch.randint(n, (2 * count,), generator=drawn).unique()
    return at[torch.randperm(len(at), generator=drawn)[:count].sort().values]


def numel(info):
    n = 1
    for d in info["shape"]:
        n *= d
    return n


class Kept:
    """layers: a regular expression that is searched in the name of a call's module, as PyTorch has it (layers.0.mlp)
    or as halfulp has it (layers/0/mlp); None: every layer. sample: tensors of more elements than that are cut."""

    def __init__(self, layers=None, sample=None):
        if sample is not None and (not isinstance(sample, int) or sample < 1):
            raise ValueError("sample=%r: a whole number of at least 1 is needed" % (sample,))
        try:
            self.layers = None if layers is None else re.compile(layers)
        except re.error as why:
            raise ValueError("layers=%r: no regular expression (%s)" % (layers, why)) from None
        self.sample, self.dropped = sample, {}   # of each step, how many calls were left out
        self.text = " and ".join(["layers=%r" % layers] * (layers is not None) + ["sample=%s" % sample] * bool(sample))

    def whole(self):
        return self.layers is None and self.sample is None

    def matches(self, layer):
        return self.layers is None or bool(self.layers.search(layer) or self.layers.search(layer.replace("/", ".")))

    def how(self, program, call):
        """What becomes of a call: "whole", "elements", "product" or "dropped"."""
        infos = [program.tensors[i] for i in call["in"] + call["out"]]
        if not self.matches(call["layer"]):
            return "dropped"
        sizes = [numel(t) for t in infos]
        if self.sample is None or max(sizes) <= self.sample:
            return "whole"
        n = numel(program.tensors[call["out"][0]])
        if call["op"] in ELEMENTWISE and all(numel(program.tensors[i]) == n for i in call["out"]) and all(
                numel(program.tensors[i]) in (n, 1, 3 if call["op"] == "adamw" else n) for i in call["in"]):
            return "elements"
        if call["op"] == "matmul" and len(call["in"]) == 2 and not call["attr"].get("batch") and all(
                len(t["shape"]) == 2 for t in infos) and self.depth(infos, call) <= self.sample:
            return "product"
        return "dropped"

    def reduced(self, program, values, step):
        """A step's part of the program that is kept, of which it counts what is left out."""
        ran = [c for c in program.calls if all(i in values for i in c["out"])]
        self.dropped[step] = sum(c["op"] not in MOVES and self.how(program, c) == "dropped" for c in ran)
        return Reduction(self, program)

    def json(self, program):
        return program.json() if self.whole() else Reduction(self, program).json()

    def depth(self, infos, call):
        return infos[0]["shape"][0 if call["attr"].get("ta") else 1]


class Reduction:
    """A program, of which only what is kept is left, and the values of its tensors."""

    def __init__(self, kept, program):
        self.kept, self.program = kept, program
        self.tensors = [dict(t) for t in program.tensors]
        self.calls = []
        self.cuts = {}                           # (tensor, how it is cut) -> the tensor of some of its elements
        self.source = {}                         # the cut tensor -> the tensor, its places, its shape
        self.made, self.used = set(), set()      # tensors that a call makes; tensors that the trace has
        for call in program.calls:
            getattr(self, kept.how(program, call))(call)
        self.states()
        self.count()

    def add(self, call, inputs, outputs):
        self.calls.append(dict(call, id=len(self.calls), **{"in": inputs, "out": outputs}))
        self.made.update(outputs)
        self.used.update(inputs + outputs)

    def given(self, i, source=None):
        """Makes sure that what a call made that is not kept is made by an opaque call, which is none of the step's."""
        if i not in self.made and (source if source is not None else i) in self.program.maker:
            self.opaque(i, self.program.calls[self.program.maker[source if source is not None else i]], 0)
        self.used.add(i)
        return i

    def opaque(self, i, like, calls):
        own = {"op": "opaque", "attr": {}, "seed_name": self.tensors[i]["name"], "opaque": {
            "name": NAME, "reason": "only %s was kept" % self.kept.text, "calls": calls}}
        self.add(dict({k: like[k] for k in ("phase", "layer", "fmt", "mode", "sum")}, **own), [], [i])

    def whole(self, call):
        self.add(call, [self.given(i) for i in call["in"]], call["out"])

    def dropped(self, call):
        pass

    def cut(self, i, at, shape, tag):
        """The tensor of these elements of tensor i."""
        key = i, tag
        if key not in self.cuts:
            info = dict(self.program.tensors[i], id=len(self.tensors), shape=list(shape))
            layer, _, role = info["name"].rpartition(".")
            info["name"] = "%s.%s@%s" % (layer[-90:], role, tag)
            self.tensors.append(info)
            self.cuts[key] = info["id"]
            self.source[info["id"]] = i, at, shape
        return self.cuts[key]

    def some(self, i):
        """Tensor i where it is small, else a sample of its elements."""
        n = numel(self.program.tensors[i])
        if n <= self.kept.sample:
            return i
        return self.cut(i, ("elements", n), (self.kept.sample,), "sample")

    def elements(self, call):
        n = numel(self.program.tensors[call["out"][0]])
        ids = [self.given(self.some(i) if numel(self.program.tensors[i]) == n else i, i) for i in call["in"]]
        self.add(call, ids, [self.some(i) for i in call["out"]])

    def product(self, call):
        infos = [self.program.tensors[i] for i in call["in"] + call["out"]]
        depth = self.kept.depth(infos, call)
        rows, columns = (min(d, max(1, self.kept.sample // depth)) for d in infos[2]["shape"])
        ids = []
        for k, (i, count, across) in enumerate(zip(call["in"], (rows, columns), (
                call["attr"].get("ta"), not call["attr"].get("tb")))):
            size = infos[k]["shape"][1 if across else 0]
            shape = (depth, count) if across else (count, depth)
            ids.append(self.given(self.cut(i, ("lines", 1 if across else 0, size, count), shape, "part%d_%d" % (
                call["id"], k)), i))
        out = self.cut(call["out"][0], ("block", *infos[2]["shape"], rows, columns), (rows, columns),
                "part%d" % call["id"])
        self.add(call, ids, [out])

    def states(self):
        """The states that belong to what is kept, and in each step what they became and their gradients."""
        self.steps, sample = [], self.kept.sample
        own = {}
        for t in self.program.tensors:
            if not t.get("state"):
                continue
            layer = t["name"].rpartition(".")[0]
            if self.kept.matches(layer) or t["id"] in self.used:
                own[t["id"]] = self.some(t["id"]) if sample is not None else t["id"]
                self.used.add(own[t["id"]])
        for step in self.program.steps:
            links = {"step": step["step"]}
            for key in ("next", "grad"):
                links[key] = {}
                for k, i in step[key].items():
                    if int(k) in own:
                        links[key][str(own[int(k)])] = self.given(self.some(i) if sample is not None else i, i)
            self.steps.append(links)
        last = self.steps[-1] if self.steps else {"next": {}, "grad": {}}
        for t in self.tensors:
            for key in ("next", "grad", *(() if t["id"] in self.used else ("state", "trainable"))):
                t.pop(key, None)
            for key in ("next", "grad"):
                if str(t["id"]) in last[key]:
                    t[key] = last[key][str(t["id"])]

    def count(self):
        """In each step one opaque call stands for those that were left out."""
        self.counters = {}
        for step, calls in sorted(self.kept.dropped.items()):
            if not calls:
                continue
            like = self.program.calls[0]
            i = len(self.tensors)
            self.tensors.append({"id": i, "name": "step.not_kept_%d" % step, "format": "fp32", "shape": [1],
                "class": "other"})
            self.counters[step] = i
            self.opaque(i, like, calls)

    def json(self):
        """The program, its calls in an order in which operands come first."""
        first = [c for c in self.calls if c["op"] == "opaque" and c["opaque"]["name"] == NAME]
        rest = [c for c in self.calls if c["op"] != "opaque" or c["opaque"]["name"] != NAME]
        calls = [dict(c, id=k) for k, c in enumerate(first + rest)]
        for c in calls:
            c["seed_name"] = self.tensors[c["out"][0]]["name"]
        return {"version": 1, "name": "train", "tensors": self.tensors, "calls": calls, "steps": self.steps}

    def values(self, values, step, trim):
        """What a trace has of a step's values, by the tensors of this program. trim() gives back what was read."""
        out = {i: values[i] for i in self.used if i in values and i not in self.source}
        for i, (source, at, shape) in self.source.items():
            if i in self.used and source in values:
                out[i] = taken(values[source], at, shape)
                if values[source].numel() > 1 << 20:
                    trim()
        if step in self.counters:
            out[self.counters[step]] = torch.tensor([float(self.kept.dropped[step])])
        return out


def taken(t, at, shape):
    if at[0] == "elements":
        return t.reshape(-1)[places(at[1], shape[0])]
    if at[0] == "lines":
        return t.index_select(at[1], places(at[2], at[3])).contiguous()
    return t.index_select(0, places(at[1], at[3])).index_select(1, places(at[2], at[4])).contiguous()

