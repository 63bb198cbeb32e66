# SPDX-License-Identifier: Apache-2.0
# CUDA kernels, compiled for the host: an operator's cuda/kernel/OP.cu or its family's or, where N is more than it has,
# a header that it includes; judged by the parity tests. The second mutation of an operator is a missing barrier where
# it has one.
import glob
import os
import random
import re
import subprocess

from .rules import KERNELS, SPREAD, candidates


class Kernels:
    needed = 0.9

    def __init__(self, top):
        self.top = top
        self.gemm = sorted("t/cuda/" + os.path.basename(f)[:-2] for f in glob.glob(os.path.join(top, "t/cuda/u-cuda-*.c")) if re.search("gemm|mma", f))

    def units(self):
        """Operators that have a kernel: their rows say so."""
        names = subprocess.check_output(["sh", os.path.join(self.top, "t/tool/operators.sh"), self.top], text=True)
        return [op for op in names.split() if "HU_PARITY_NONE" not in self.row(op)]

    def text(self, path):
        return open(os.path.join(self.top, path)).read()

    def row(self, op):
        path = "lib/op/kind/%s.c" % op
        return self.text(path) if os.path.exists(os.path.join(self.top, path)) else ".family = &hu_family_pointwise"

    def includes(self, path, seen):
        for name in re.findall(r'#include "(cuda/[\w/]+\.cuh)"', open(os.path.join(self.top, path)).read()):
            if name not in seen:
                seen.append(name)
                self.includes(name, seen)
        return seen

    def source(self, op):
        own = "cuda/kernel/%s.cu" % op
        if os.path.exists(os.path.join(self.top, own)):
            return own
        shared = re.findall(r"\{ &(hu_family_\w+), \"(\w+)\" \}", self.text("cuda/exec/machine.c"))
        names = [name for family, name in shared if re.search(r"\.family = &%s\b" % family, self.row(op))]
        return "cuda/kernel/%s.cu" % (names + ["pointwise"])[0]

    def mutations(self, op, each, seed):
        """Groups of mutations, and how many of each group are wanted."""
        own = candidates(self.top, self.source(op), KERNELS, SPREAD)
        random.Random("%d %s" % (seed, op)).shuffle(own)
        more = [c for name in self.includes(self.source(op), []) for c in candidates(self.top, name, KERNELS, SPREAD)]
        random.Random("%d %s" % (seed, op)).shuffle(more)
        barriers = [c for c in own + more if c[4] == "barrier"]
        first, rest = own[:1], own[1:] + more
        return [(op, first + (barriers[:1] if each > 1 else []) + rest)]

    def tests(self, op, mutation):
        """All operators of a family judge its kernel, and t/cuda/u-cuda-OP too, where an operator has a test of its own."""
        source = self.source(op)
        ops = [op] if source == "cuda/kernel/pointwise.cu" else [o for o in self.units() if self.source(o) == source]
        gemm = re.search(r"gemm", " ".join(self.includes(source, [])))
        own = ["t/cuda/u-cuda-" + op.removesuffix("_dx")]
        return ["t/cuda/u-cuda-op " + " ".join(ops)] + ([t + " " + op for t in self.gemm] if gemm else []) + [t for t in own if os.path.exists(os.path.join(self.top, t + ".c"))]

    def seen(self, op, test):
        pass

    def seconds(self, test):
        """Of processor time, which nobody measured or limits, and after how many of the clock's a test hangs."""
        return 0, "unlimited", 120
