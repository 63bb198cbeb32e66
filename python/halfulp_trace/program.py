# SPDX-License-Identifier: Apache-2.0
"""The program that a recording makes: the tensors and calls of all its steps."""



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
