# SPDX-License-Identifier: Apache-2.0
"""The program that a recording makes: the tensors and calls of all its steps."""


class Program:
    """The calls and tensors of all recorded steps. Steps that run the same calls share them; a step that runs others,
    such as the first of SGD with momentum, adds them, and a trace holds the tensors of its own step alone. `steps` says
    of each step which tensor is a state's next value, and which a parameter's gradient."""

    def __init__(self):
        self.tensors, self.calls, self.names, self.made, self.steps = [], [], {}, {}, []
        self.maker = {}                          # the call that made a tensor
        self.tainted = set()                     # tensors that depend on an opaque call
        self.written = 0                         # how many tensors the traces of earlier steps may have

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
        if name in self.names or tensor < self.written:  # by which a trace has it
            return
        info = self.tensors[tensor]
        del self.names[info["name"]]
        info["name"] = name
        self.names[name] = tensor
        for key in [k for k, i in self.made.items() if i == tensor]:
            del self.made[key]
            self.made[("input", name, 0) + key[3:]] = tensor

    def call(self, op, phase, layer, inputs, outputs, attr, compute, mode="RNE", **more):
        sums = op in ("matmul", "conv2d", "conv2d_dx", "conv2d_dw")
        first = self.tensors[(inputs or outputs)[0]]["format"]
        self.maker.update({i: len(self.calls) for i in outputs})
        if op == "opaque" or not self.tainted.isdisjoint(inputs):
            self.tainted.update(outputs)
        self.calls.append({
            "id": len(self.calls), "op": op, "phase": phase, "layer": layer, "in": inputs, "out": outputs, "attr": attr,
            "fmt": {"in": first, "compute": compute, "acc": compute, "out": self.tensors[outputs[0]]["format"]},
            "mode": mode, "sum": ("sequential" if sums else "fma") + ",acc=" + compute,
            "seed_name": self.tensors[outputs[0]]["name"], **more})

    def made_by(self, tensor):
        """The call that made a tensor; None of an input."""
        return self.calls[self.maker[tensor]] if tensor in self.maker else None

    def nearest(self, tensor, wanted):
        """The nearest of the tensors that a tensor was made of which is wanted; None if there is none."""
        line, at = {tensor: None}, [tensor]
        for t in at:
            if t != tensor and wanted(t):
                return t
            call = self.made_by(t)
            new = [i for i in (call["in"] if call is not None else []) if i not in line]
            line.update(dict.fromkeys(new))
            at += new
        return None

    def end_step(self, step, nexts, grads):
        """Notes what a step's states became and what its gradients are. A tensor's own keys are the last step's."""
        self.written = len(self.tensors)
        self.steps.append({"step": step, "next": {str(k): i for k, i in nexts.items()},
                "grad": {str(k): i for k, i in grads.items()}})
        for info in self.tensors:
            for key, of in (("next", nexts), ("grad", grads)):
                info.pop(key, None)
                if info["id"] in of:
                    info[key] = of[info["id"]]

    def json(self):
        for call in self.calls:                  # names may have changed since
            call["seed_name"] = self.tensors[call["out"][0]]["name"]
        return {"version": 1, "name": "train", "tensors": self.tensors, "calls": self.calls, "steps": self.steps}
