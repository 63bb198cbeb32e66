# SPDX-License-Identifier: Apache-2.0
# C files, function by function, and the tests that judge them: the first row whose pattern a file matches, cheapest test first.
import fnmatch
import os
import random

from .rules import SOURCES, WORDS, candidates, functions

RUNS = ["t/t-independent.py mlp", "t/t-independent.py faulty", "t/t-independent.py convnet stochastic", "t/t-independent.py float16 fp8 kahan"]
OPS = ["t/u-op-values", "t/u-op-table", "t/u-emulate-some", "t/u-op-order"]
JUDGES = {
    "analyzers": [
        ("analyzers/accumulate_what_if.c", ["t/t-independent.py float16", "t/t-what-if.sh"]),
        ("analyzers/sweep.c", ["t/u-sweep", "t/t-independent.py mlp", "t/t-independent.py faulty"]),
        ("analyzers/timeline.c", ["t/t-independent.py faulty", "t/t-independent.py float16", "t/t-analyze.sh"]),
        ("analyzers/propagate.c", ["t/u-propagate", *RUNS, "t/t-analyze.sh"]),
        ("analyzers/exact_step*.c", ["t/u-propagate", *RUNS, "t/t-analyze.sh"]),
        ("analyzers/errors*.c", ["t/u-replay", "t/u-propagate", *RUNS]),
        ("analyzers/jud*.c", ["t/u-judge", "t/u-replay", "t/u-disagree", *RUNS, "t/t-analyze.sh"]),
        ("analyzers/ziv.c", ["t/u-ziv", "t/u-judge", *RUNS]),
        ("analyzers/verdict.c", ["t/u-judge", "t/u-ziv", *RUNS]),
        ("analyzers/exact.c", ["t/u-exact-doubles", *RUNS]),
        ("analyzers/baseline*.c", ["t/t-independent.py baseline", "t/t-check.sh", "t/u-drift", "t/t-demo.sh"]),
        ("analyzers/check*.c", ["t/t-check.sh", "t/u-drift", "t/t-demo.sh"]),
        ("analyzers/cmd_check.c", ["t/t-check.sh", "t/t-badinput.sh"]),
        ("analyzers/drift.c", ["t/u-drift", "t/t-check.sh"]),
        ("analyzers/cmd_diff.c", ["t/t-verify.sh", "t/t-check.sh", "t/t-analyze.sh"]),
        ("analyzers/rows.c", ["t/u-judge", "t/t-calc.sh", *RUNS]),
        ("analyzers/*explain*.c", ["t/u-explain", "t/t-calc.sh", "t/t-round-blocks.sh"]),
        ("analyzers/*expr*.c", ["t/u-expr", "t/t-calc.sh"]),
        ("analyzers/evaluate*.c", ["t/u-expr", "t/t-calc.sh"]),
        ("analyzers/correct.c", ["t/u-correct", "t/t-calc.sh"]),
        ("analyzers/*accumulate*.c", ["t/t-accumulate.sh", "t/t-calc.sh"]),
        ("analyzers/terms.c", ["t/t-accumulate.sh"]),
        ("analyzers/*inspect*.c", ["t/t-inspect.sh"]),
        ("analyzers/*op_*.c", ["t/t-op.sh", "t/t-op-scaled.sh", "t/t-op-refuse.sh"]),
        ("analyzers/foreign.c", ["t/t-op.sh"]),
        ("analyzers/rowdot.c", ["t/t-op.sh", "t/t-op-scaled.sh"]),
        ("analyzers/*round*.c", ["t/t-round-blocks.sh", "t/t-calc.sh"]),
        ("analyzers/*format*.c", ["t/t-calc.sh"]),
        ("analyzers/block_page.c", ["t/t-calc.sh", "t/t-round-blocks.sh"]),
        ("analyzers/cmd_calc.c", ["t/t-calc.sh"]),
        ("analyzers/*probe*.c", ["t/t-probe.sh"]),
        ("analyzers/targets.c", ["t/t-probe.sh", "t/t-tree.sh"]),
        ("analyzers/*reveal*.c", ["t/u-reveal", "t/t-tree.sh"]),
        ("analyzers/*tree*.c", ["t/u-reveal", "t/t-tree.sh"]),
        ("analyzers/*.c", [*RUNS, "t/t-analyze.sh", "t/t-engines.sh"]),
    ],
    "trainer": [
        ("trainer/bench/*.c", ["t/u-bench", "t/t-bench.sh"]),
        ("trainer/cmd_bench.c", ["t/t-bench.sh"]),
        ("trainer/data/digits*.c", ["t/u-digits", "t/t-train.sh"]),
        ("trainer/data/idx.c", ["t/u-idx", "t/t-independent.py metrics", "t/t-train.sh"]),
        ("trainer/device/*.c", ["t/u-device", "t/t-plan.sh", "t/t-doctor.sh", "t/t-bench.sh"]),
        ("trainer/energy/*.c", ["t/u-energy", "t/u-gpu", "t/t-train.sh", "t/t-doctor.sh"]),
        ("trainer/*compare.c", ["t/t-compare.sh"]),
        ("trainer/cmd_doctor.c", ["t/t-doctor.sh"]),
        ("trainer/cmd_plan.c", ["t/t-plan.sh"]),
        ("trainer/memory.c", ["t/t-independent.py overflow", "t/t-plan.sh", "t/t-train.sh"]),
        ("trainer/*verify*.c", ["t/t-verify.sh", "t/t-resume.sh"]),
        ("trainer/start*.c", ["t/u-start", "t/t-independent.py metrics overflow", "t/t-train.sh", "t/t-resume.sh"]),
        ("trainer/optim/*.c", ["t/t-independent.py faulty", "t/t-train.sh", "t/t-resume.sh"]),
        ("trainer/model/*.c", ["t/u-session", "t/t-independent.py faulty", "t/t-train.sh"]),
        ("trainer/*.c", ["t/u-session", "t/t-train.sh", "t/t-independent.py metrics overflow", "t/t-resume.sh", "t/t-verify.sh", "t/t-plan.sh"]),
    ],
    "operators": [
        ("lib/op/sgd.c", ["t/u-op-values", "t/t-independent.py convnet", *OPS]),
        ("lib/op/contract*.c", ["t/u-op-values", "t/u-conv", "t/u-gemm", "t/u-exact-conv", "t/u-tc-call", *OPS, *RUNS]),
        ("lib/op/conv2d*.c", ["t/u-conv", "t/u-op-values", *OPS]),
        ("lib/op/scale*.c", ["t/u-scaler", "t/u-op-values", *OPS, *RUNS]),
        ("lib/op/swamp.c", ["t/u-op-values", "t/t-independent.py mlp", "t/t-independent.py convnet"]),
        ("lib/op/*_enclose.c", ["t/u-enclose", "t/u-exact-enclose", *OPS, *RUNS]),
        ("lib/op/*.c", ["t/u-op-values", "t/u-enclose", "t/u-gradient", *OPS, *RUNS]),
    ],
}
# Other instruction sets' copies and files that no machine without a device runs.
LEFT_OUT = ("*_avx2.c", "*_avx512.c", "trainer/energy/nvml.c", "trainer/device/gpu.c", "analyzers/probe_device.c")


class Sources:
    needed, seconds = 0.95, 300

    def __init__(self, top, name):
        self.top, self.name = top, name

    def units(self):
        folder = {"operators": "lib/op"}.get(self.name, self.name)
        found = [os.path.relpath(os.path.join(d, f), self.top) for d, _, names in os.walk(os.path.join(self.top, folder)) for f in names if f.endswith(".c")]
        return sorted(f for f in found if not any(fnmatch.fnmatch(f, p) for p in LEFT_OUT))

    def source(self, unit):
        return unit

    def mutations(self, unit, each, seed):
        for name, lines in functions(self.top, unit):
            some = candidates(self.top, unit, SOURCES, WORDS, lines)
            random.Random("%d %s %s" % (seed, unit, name)).shuffle(some)
            yield name, some

    def tests(self, unit):
        return [list(dict.fromkeys(tests)) for pattern, tests in JUDGES[self.name] if fnmatch.fnmatch(unit, pattern)][0]


def targets(top):
    """By name."""
    from .kernels import Kernels
    return {"kernels": Kernels(top), **{name: Sources(top, name) for name in JUDGES}}


