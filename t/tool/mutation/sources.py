# SPDX-License-Identifier: Apache-2.0
# C files, function by function, and the tests that judge them: the first row whose pattern a file matches, cheapest test first.
import fnmatch
import os
import random

from .rules import SOURCES, WORDS, candidates, functions

RUNS = ["t/judge/t-independent.py mlp", "t/judge/t-independent.py faulty", "t/judge/t-independent.py convnet stochastic statistics", "t/judge/t-independent.py float16 fp8 kahan"]
OPS = ["t/op/u-op-values", "t/op/u-op-table", "t/op/u-emulate-some", "t/op/u-op-order"]
JUDGES = {
    "analyzers": [
        ("analyzers/run/accumulate_what_if.c", ["t/judge/t-independent.py float16", "t/analyzers/t-what-if.sh"]),
        ("analyzers/run/sweep.c", ["t/analyzers/u-sweep", "t/judge/t-independent.py mlp", "t/judge/t-independent.py faulty"]),
        ("analyzers/run/timeline.c", ["t/judge/t-independent.py faulty", "t/judge/t-independent.py float16", "t/analyzers/t-analyze.sh"]),
        ("lib/judge/propagate.c", ["t/judge/u-propagate", *RUNS, "t/analyzers/t-analyze.sh"]),
        ("lib/judge/exact_step*.c", ["t/judge/u-propagate", *RUNS, "t/analyzers/t-analyze.sh"]),
        ("lib/judge/errors*.c", ["t/judge/u-replay", "t/judge/u-propagate", *RUNS]),
        ("lib/judge/jud*.c", ["t/judge/u-judge", "t/judge/u-replay", "t/judge/u-disagree", *RUNS, "t/analyzers/t-analyze.sh"]),
        ("lib/judge/ziv.c", ["t/judge/u-ziv", "t/judge/u-judge", *RUNS]),
        ("lib/judge/verdict.c", ["t/judge/u-judge", "t/judge/u-ziv", *RUNS]),
        ("lib/judge/exact.c", ["t/judge/u-exact-doubles", *RUNS]),
        ("analyzers/check/baseline*.c", ["t/judge/t-independent.py baseline", "t/analyzers/t-check.sh", "t/analyzers/u-drift", "t/cli/t-demo.sh"]),
        ("analyzers/check/check*.c", ["t/analyzers/t-check.sh", "t/analyzers/u-drift", "t/cli/t-demo.sh"]),
        ("analyzers/check/cmd_check.c", ["t/analyzers/t-check.sh", "t/cli/t-badinput.sh"]),
        ("analyzers/check/drift.c", ["t/analyzers/u-drift", "t/analyzers/t-check.sh"]),
        ("analyzers/check/cmd_diff.c", ["t/trainer/t-verify.sh", "t/analyzers/t-check.sh", "t/analyzers/t-analyze.sh"]),
        ("analyzers/calc/rows.c", ["t/judge/u-judge", "t/analyzers/t-calc.sh", *RUNS]),
        ("analyzers/*explain*.c", ["t/analyzers/u-explain", "t/analyzers/t-calc.sh", "t/number/t-round-blocks.sh"]),
        ("analyzers/*expr*.c", ["t/analyzers/u-expr", "t/analyzers/t-calc.sh"]),
        ("analyzers/calc/evaluate*.c", ["t/analyzers/u-expr", "t/analyzers/t-calc.sh"]),
        ("analyzers/calc/correct.c", ["t/analyzers/u-correct", "t/analyzers/t-calc.sh"]),
        ("analyzers/*accumulate*.c", ["t/analyzers/t-accumulate.sh", "t/analyzers/t-calc.sh"]),
        ("analyzers/accumulate/terms.c", ["t/analyzers/t-accumulate.sh"]),
        ("analyzers/*inspect*.c", ["t/analyzers/t-inspect.sh"]),
        ("analyzers/*op_*.c", ["t/analyzers/t-op.sh", "t/analyzers/t-op-scaled.sh", "t/analyzers/t-op-refuse.sh"]),
        ("analyzers/op/foreign.c", ["t/analyzers/t-op.sh"]),
        ("analyzers/op/rowdot.c", ["t/analyzers/t-op.sh", "t/analyzers/t-op-scaled.sh"]),
        ("analyzers/*round*.c", ["t/number/t-round-blocks.sh", "t/analyzers/t-calc.sh"]),
        ("analyzers/*format*.c", ["t/analyzers/t-calc.sh"]),
        ("analyzers/formats/block_page.c", ["t/analyzers/t-calc.sh", "t/number/t-round-blocks.sh"]),
        ("analyzers/calc/cmd_calc.c", ["t/analyzers/t-calc.sh"]),
        ("analyzers/*probe*.c", ["t/analyzers/t-probe.sh"]),
        ("analyzers/formats/targets.c", ["t/analyzers/t-probe.sh", "t/analyzers/t-tree.sh"]),
        ("analyzers/*reveal*.c", ["t/sum/u-reveal", "t/analyzers/t-tree.sh"]),
        ("analyzers/*tree*.c", ["t/sum/u-reveal", "t/analyzers/t-tree.sh"]),
        ("*.c", [*RUNS, "t/analyzers/t-analyze.sh", "t/judge/t-engines.sh"]),
    ],
    "trainer": [
        ("trainer/bench/*.c", ["t/trainer/u-bench", "t/trainer/t-bench.sh"]),
        ("trainer/bench/cmd_bench.c", ["t/trainer/t-bench.sh"]),
        ("trainer/data/digits*.c", ["t/trainer/u-digits", "t/trainer/t-train.sh"]),
        ("trainer/data/idx.c", ["t/store/u-idx", "t/judge/t-independent.py metrics", "t/trainer/t-train.sh"]),
        ("trainer/device/fits.c", ["t/trainer/t-memory.py", "t/trainer/t-plan.sh"]),
        ("trainer/run/need.c", ["t/trainer/t-memory.py", "t/trainer/t-plan.sh"]),
        ("trainer/device/*.c", ["t/cuda/u-device", "t/trainer/t-plan.sh", "t/trainer/t-doctor.sh", "t/trainer/t-bench.sh"]),
        ("trainer/energy/*.c", ["t/trainer/u-energy", "t/trainer/u-gpu", "t/trainer/t-train.sh", "t/trainer/t-doctor.sh"]),
        ("trainer/*compare.c", ["t/trainer/t-compare.sh"]),
        ("trainer/device/cmd_doctor.c", ["t/trainer/t-doctor.sh"]),
        ("trainer/plan/cmd_plan.c", ["t/trainer/t-plan.sh"]),
        ("trainer/plan/memory.c", ["t/judge/t-independent.py overflow", "t/trainer/t-plan.sh", "t/trainer/t-train.sh"]),
        ("trainer/*verify*.c", ["t/trainer/t-verify.sh", "t/trainer/t-resume.sh"]),
        ("trainer/run/start*.c", ["t/trainer/u-start", "t/judge/t-independent.py metrics overflow scaled", "t/trainer/t-train.sh", "t/trainer/t-resume.sh"]),
        ("trainer/optim/*.c", ["t/judge/t-independent.py faulty", "t/trainer/t-train.sh", "t/trainer/t-resume.sh"]),
        ("trainer/model/*.c", ["t/trainer/u-session", "t/judge/t-independent.py faulty", "t/trainer/t-train.sh"]),
        ("trainer/*.c", ["t/trainer/u-session", "t/trainer/t-train.sh", "t/judge/t-independent.py metrics overflow scaled", "t/trainer/t-resume.sh", "t/trainer/t-verify.sh", "t/trainer/t-plan.sh"]),
    ],
    "operators": [
        ("lib/op/kind/sgd.c", ["t/op/u-op-values", "t/judge/t-independent.py convnet", *OPS]),
        ("lib/op/kind/adam.c", ["t/op/u-op-values", "t/judge/t-independent.py adam", *OPS]),
        ("lib/op/element/moments.c", ["t/op/u-op-values", "t/judge/t-independent.py adam", "t/judge/t-independent.py mlp", *OPS]),
        ("lib/op/contract/contract_workspace.c", ["t/trainer/t-memory.py"]),
        ("lib/op/contract*.c", ["t/op/u-op-values", "t/op/u-conv", "t/op/u-gemm", "t/exact/u-exact-conv", "t/op/u-tc-call", *OPS, *RUNS]),
        ("lib/op/*conv2d*.c", ["t/op/u-conv", "t/op/u-op-values", *OPS]),
        ("lib/op/kind/scale*.c", ["t/op/u-scaler", "t/op/u-op-values", *OPS, *RUNS]),
        ("lib/op/swamp.c", ["t/op/u-op-values", "t/judge/t-independent.py mlp", "t/judge/t-independent.py convnet"]),
        ("lib/op/*_enclose.c", ["t/op/u-enclose", "t/exact/u-exact-enclose", *OPS, *RUNS]),
        ("lib/op/*.c", ["t/op/u-op-values", "t/op/u-enclose", "t/op/u-gradient", *OPS, *RUNS]),
    ],
}
# Other instruction sets' copies and files that no machine without a device runs.
LEFT_OUT = ("*_avx2.c", "*_avx512.c", "trainer/energy/nvml.c", "trainer/device/gpu.c", "analyzers/probe/probe_device.c")


class Sources:
    needed, seconds = 0.95, 300

    def __init__(self, top, name):
        self.top, self.name = top, name

    def units(self):
        folders = {"operators": ["lib/op"], "analyzers": ["analyzers", "lib/judge"]}.get(self.name, [self.name])
        found = [os.path.relpath(os.path.join(d, f), self.top) for folder in folders for d, _, names in os.walk(os.path.join(self.top, folder)) for f in names if f.endswith(".c")]
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


