# SPDX-License-Identifier: Apache-2.0
# C files, function by function, and the tests that judge them: the first row whose pattern a file matches, cheapest
# test first.
import fnmatch
import os
import random

from .rules import SOURCES, WORDS, candidates, functions

IND = "t/judge/t-independent.py "
RUNS = [IND + r for r in ("stochastic", "mlp", "float16", "faulty", "fp8 kahan vanished", "convnet skipped", "adam float64", "statistics", "scaled baseline")]
TRAINED = [IND + r for r in ("metrics", "overflow", "scaled")]
OPS = ["t/op/u-op-values", "t/op/u-op-table", "t/op/u-emulate-some", "t/op/u-op-order"]
INSPECT = ["t/analyzers/t-inspect.sh", "t/analyzers/t-inspect-columns.py"]
OP = ["t/analyzers/t-op-modes.py", "t/analyzers/t-op-scaled.sh", "t/analyzers/t-op.sh", "t/analyzers/t-op-got.py", "t/analyzers/t-op-refuse.sh", "t/op/t-conv.py"]
ANALYZE = ["t/analyzers/t-analyze.sh", "t/judge/t-diverged.py", "t/judge/t-diverged.sh"]
TRAIN = ["t/trainer/t-verify.sh", "t/trainer/t-resume.sh", "t/trainer/t-train.sh"]
GOLDEN = "t/golden/t-outputs.py "
SAID = "t/trainer/t-said.py"
DIGESTS = "t/golden/t-golden.sh auto"
# Tests that judge no file of these tables: of what is not mutated, or that need what most machines lack.
ELSEWHERE = ("t/trainer/t-torch.py", "t/judge/t-diverged.py")
JUDGES = {
    "analyzers": [
        ("analyzers/run/accumulate_what_if.c", [IND + "float16", "t/analyzers/t-what-if.sh"]),
        ("analyzers/run/sweep.c", ["t/analyzers/u-sweep", *RUNS]),
        ("analyzers/run/timeline.c", [IND + "faulty", IND + "float16", "t/analyzers/t-analyze.sh"]),
        ("analyzers/run/summary*.c", ["t/analyzers/t-summary-words.py", IND + "mlp", IND + "faulty", "t/analyzers/t-analyze.sh"]),
        ("analyzers/run/cmd_analyze.c", ["t/analyzers/t-analyze.sh", "t/analyzers/t-what-if.sh", *RUNS, "t/judge/t-engines.sh", "t/analyzers/t-analyze-files.sh", "t/cli/t-options.py"]),
        ("lib/judge/propagate.c", ["t/judge/u-propagate", *RUNS, *ANALYZE, "t/judge/t-engines.sh"]),
        ("lib/judge/propagate_bounded.c", ["t/judge/u-propagate-bounded", "t/judge/u-propagate", *RUNS, *ANALYZE, "t/judge/t-engines.sh"]),
        ("lib/judge/exact_step*.c", ["t/judge/u-propagate", *RUNS, *ANALYZE, "t/judge/t-engines.sh"]),
        ("lib/judge/errors*.c", ["t/judge/u-replay", "t/judge/u-propagate", *RUNS, *ANALYZE]),
        ("lib/judge/jud*.c", ["t/judge/u-judge", "t/judge/u-replay", "t/judge/u-disagree", *RUNS, "t/judge/u-faults", *ANALYZE, "t/judge/t-engines.sh"]),
        ("lib/judge/ziv.c", ["t/judge/u-ziv", "t/judge/u-judge", *RUNS, "t/judge/t-engines.sh"]),
        ("lib/judge/harm.c", ["t/judge/u-judge", *RUNS]),
        ("lib/judge/verdict.c", ["t/judge/u-judge", "t/judge/u-ziv", *RUNS]),
        ("lib/judge/exact.c", ["t/judge/u-exact-doubles", *RUNS]),
        ("lib/judge/engine.c", ["t/judge/u-judge", IND + "stochastic", "t/analyzers/t-analyze.sh", "t/judge/t-engines.sh"]),
        ("analyzers/check/baseline_begin.c", [IND + "baseline", "t/analyzers/t-gate.sh"]),
        ("analyzers/check/baseline*.c", [IND + "baseline", "t/analyzers/t-check-told.py", "t/analyzers/u-drift", "t/analyzers/t-check.sh", "t/store/u-fuzz-files", "t/cli/t-demo.sh"]),
        ("analyzers/check/check*.c", ["t/analyzers/u-drift", "t/analyzers/t-check-told.py", "t/analyzers/t-check.sh", "t/cli/t-demo.sh"]),
        ("analyzers/check/cmd_check.c", ["t/analyzers/t-gate-files.py", "t/analyzers/t-check-told.py", "t/analyzers/t-check.sh", "t/cli/t-badinput.sh", "t/cli/t-demo.sh"]),
        ("analyzers/check/allowance.c", ["t/analyzers/u-drift", "t/analyzers/t-check-told.py", "t/analyzers/t-check.sh"]),
        ("analyzers/check/drift.c", ["t/analyzers/u-drift", "t/analyzers/t-check-told.py", "t/analyzers/t-check.sh"]),
        ("analyzers/check/why*.c", ["t/analyzers/t-gate.sh", "t/analyzers/t-check.sh", "t/cli/t-ci-jobs.py"]),
        ("analyzers/check/bless_run.c", ["t/analyzers/t-check-told.py", "t/analyzers/t-check.sh", IND + "baseline"]),
        ("analyzers/ci/history.c", ["t/analyzers/t-history.py"]),
        ("analyzers/ci/*.c", ["t/analyzers/t-gate.sh", "t/cli/t-ci-jobs.py"]),
        ("analyzers/contents/*.c", ["t/analyzers/t-gate-files.py", "t/analyzers/t-diff.py"]),
        ("analyzers/allreduce/*.c", ["t/analyzers/t-allreduce.py"]),
        ("analyzers/diff/*.c", ["t/analyzers/t-diff.py", "t/trainer/t-verify.sh", "t/analyzers/t-check.sh", "t/analyzers/t-analyze.sh", "t/cli/t-badinput.sh"]),
        ("analyzers/check/blessing.c", ["t/analyzers/t-check-told.py", "t/analyzers/t-check.sh", IND + "baseline"]),
        ("analyzers/outcome/*.c", ["t/analyzers/t-gate-words.py", "t/cli/t-ci-jobs.py", "t/analyzers/t-gate-files.py", "t/analyzers/t-statistics.py", "t/analyzers/t-check.sh"]),
        ("analyzers/gate/*.c", ["t/analyzers/t-gate-words.py", "t/analyzers/t-gate-files.py", "t/analyzers/t-diff.py", "t/analyzers/t-check.sh"]),
        ("analyzers/contents/*.c", ["t/analyzers/t-gate-files.py", "t/analyzers/t-diff.py", "t/analyzers/t-check.sh"]),
        ("analyzers/statistics/*sc*.c", ["t/analyzers/t-score.py"]),
        ("analyzers/statistics/power.c", ["t/analyzers/t-score.py"]),
        ("analyzers/statistics/*.c", ["t/analyzers/t-statistics.py", "t/analyzers/t-check.sh"]),
        ("analyzers/validate/*.c", ["t/analyzers/t-validate.py", "t/analyzers/t-validate-schemes.py", "t/analyzers/t-list-ops.py", "t/analyzers/t-inspect-onnx.py", "t/analyzers/t-exact-network.py"]),
        ("analyzers/network/*.c", ["t/analyzers/t-validate-schemes.py", "t/analyzers/t-advise.py", "t/analyzers/t-validate.py", "t/analyzers/t-exact-network.py"]),
        ("analyzers/advise/*.c", ["t/analyzers/t-advise.py"]),
        ("analyzers/calc/rows.c", [GOLDEN + "calc round", "t/judge/u-judge", "t/analyzers/t-calc.sh", "t/analyzers/t-inspect.sh", "t/number/t-round-blocks.sh", "t/analyzers/t-calc-rows.py"]),
        ("analyzers/explain/*.c", [GOLDEN + "explain", "t/analyzers/t-calc-steps.py", "t/analyzers/u-explain", "t/analyzers/t-explain.py", "t/analyzers/t-calc.sh"]),
        ("analyzers/calc/expr.c", [GOLDEN + "calc", "t/analyzers/u-expr", "t/analyzers/t-calc.sh", "t/analyzers/t-calc-rows.py"]),
        ("analyzers/calc/evaluate*.c", [GOLDEN + "calc", "t/analyzers/u-expr", "t/analyzers/t-calc.sh", "t/analyzers/t-calc-rows.py"]),
        ("analyzers/calc/correct.c", [GOLDEN + "calc round", "t/analyzers/u-correct", "t/analyzers/t-calc.sh"]),
        ("analyzers/calc/*.c", [GOLDEN + "calc round explain", "t/analyzers/t-calc.sh", "t/number/t-round-blocks.sh", "t/analyzers/t-calc-rows.py"]),
        ("analyzers/accumulate/*.c", [GOLDEN + "accumulate", "t/analyzers/t-accumulate.sh", "t/analyzers/t-calc.sh", "t/cli/t-badinput.sh"]),
        ("analyzers/inspect/*.c",
         [GOLDEN + "inspect", *INSPECT, "t/analyzers/t-inspect-onnx.py", "t/analyzers/t-inspect-files.py"]),
        ("analyzers/formats/flush.c", [IND + "mlp", IND + "vanished", *INSPECT, "t/analyzers/t-calc.sh"]),
        ("analyzers/formats/*round*.c", [GOLDEN + "round", "t/number/t-round-blocks.sh", "t/analyzers/t-calc.sh"]),
        ("analyzers/formats/targets.c", [GOLDEN + "round inspect", "t/analyzers/t-formats.py", "t/analyzers/t-calc.sh", "t/number/t-round-blocks.sh", "t/analyzers/t-tree.sh", "t/analyzers/t-probe.sh"]),
        ("analyzers/formats/*.c", [GOLDEN + "formats", "t/analyzers/t-formats.py", "t/analyzers/t-calc.sh", "t/number/t-round-blocks.sh"]),
        ("analyzers/op/foreign.c", [GOLDEN + "inspect", *INSPECT]),
        ("analyzers/op/rowdot.c", [GOLDEN + "op accumulate", *OP, "t/analyzers/t-accumulate.sh"]),
        ("analyzers/op/*.c", [GOLDEN + "op", *OP, "t/analyzers/t-op-sums.py"]),
        ("analyzers/probe/*.c", [GOLDEN + "probe", "t/analyzers/t-probe.sh", "t/papers/fasi-2021.sh"]),
        ("analyzers/tree/*.c", [GOLDEN + "tree", "t/analyzers/t-tree-library.py", "t/sum/u-reveal", "t/sum/u-reveal-text", "t/analyzers/t-tree.sh", "t/papers/fprev-2024.sh"]),
        ("*.c", [*RUNS, *ANALYZE, "t/judge/t-engines.sh"]),
    ],
    "trainer": [
        ("trainer/bench/published.c", [GOLDEN + "bench", "t/trainer/t-published.py", "t/trainer/t-bench.sh"]),
        ("trainer/bench/why.c", [GOLDEN + "bench", SAID, "t/trainer/t-why-claims.py", "t/trainer/t-experiments.py", "t/trainer/t-why-it-paid.sh", "t/trainer/t-at-least.py", "t/trainer/t-bench.sh"]),
        ("trainer/bench/*.c", [GOLDEN + "bench", "t/trainer/u-bench", "t/trainer/t-bench-table.py", "t/trainer/t-published.py", "t/trainer/t-bench.sh", "t/trainer/t-at-least.py"]),
        ("trainer/data/drawn/digits*.c", ["t/trainer/u-digits", "t/trainer/t-train.sh"]),
        ("trainer/data/drawn/scenes*.c", ["t/trainer/u-drawn", "t/trainer/t-vision.py"]),
        ("trainer/data/drawn/signals*.c", ["t/trainer/u-drawn", "t/trainer/t-vision.py"]),
        ("trainer/data/drawn/ratings*.c", ["t/trainer/u-ratings", "t/trainer/t-text-models.sh"]),
        ("trainer/data/ranking.c", ["t/trainer/u-ratings", "t/trainer/t-text-models.sh"]),
        ("trainer/data/drawn/review*.c", ["t/trainer/u-reviews", "t/trainer/t-text-models.sh"]),
        ("trainer/data/drawn/sentences.c", ["t/trainer/u-reviews", "t/trainer/t-text-models.sh"]),
        ("trainer/data/npz.c", ["t/trainer/u-npz-data", "t/trainer/t-npz-train.py", "t/cli/t-badinput.sh"]),
        ("trainer/data/images/*.c", ["t/trainer/t-images.py", "t/store/u-fuzz-files"]),
        ("trainer/data/augment*.c", ["t/trainer/t-augment.py"]),
        ("trainer/data/made.c", ["t/trainer/u-made", "t/trainer/t-images.py"]),
        ("trainer/data/*.c", ["t/store/u-idx", SAID, GOLDEN + "plan", "t/trainer/t-npz-train.py", IND + "metrics", "t/trainer/u-session", "t/trainer/u-drawn", "t/trainer/u-ratings", "t/trainer/t-train.sh", "t/trainer/t-resume.sh", "t/trainer/t-cifar.py", "t/trainer/t-udata.py", "t/trainer/t-tsv.py", "t/trainer/t-text-models.sh"]),
        ("trainer/device/fits.c", ["t/trainer/t-plan-table.py", "t/trainer/t-plan.sh", "t/trainer/t-memory.py"]),
        ("trainer/run/need.c", ["t/trainer/t-plan.sh", "t/trainer/t-memory.py"]),
        ("trainer/device/timing.c", ["t/trainer/u-timing", GOLDEN + "plan bench", "t/trainer/t-plan.sh", "t/trainer/t-bench.sh"]),
        ("trainer/device/*.c", ["t/trainer/u-bench", "t/trainer/u-gpu", SAID, GOLDEN + "plan bench", "t/cuda/u-device", "t/trainer/t-plan.sh", "t/trainer/t-doctor.sh", "t/trainer/t-why-claims.py", "t/trainer/t-why-it-paid.sh", "t/trainer/t-at-least.py", "t/trainer/t-bench.sh", "t/trainer/t-plan-table.py"]),
        ("trainer/energy/*.c", ["t/trainer/u-energy", "t/trainer/u-gpu", "t/trainer/t-record.py", "t/trainer/t-doctor.sh", "t/trainer/t-train.sh"]),
        ("trainer/plan/ranks*.c", ["t/trainer/u-ranks", "t/trainer/t-plan-ranks.py"]),
        ("trainer/plan/*compare.c", [SAID, "t/trainer/t-ladder.py", "t/trainer/t-compare-table.py", "t/trainer/t-compare.sh"]),
        ("trainer/plan/cmd_plan.c", [GOLDEN + "plan", "t/trainer/t-plan.sh", "t/trainer/t-memory.py", "t/trainer/t-plan-table.py", "t/cli/t-options.py"]),
        ("trainer/plan/memory.c", [GOLDEN + "plan", IND + "overflow", "t/trainer/t-plan.sh", "t/trainer/t-memory.py", "t/trainer/t-train.sh"]),
        ("trainer/verify/*.c", [SAID, "t/analyzers/t-diff.py", "t/trainer/t-verify.sh", "t/trainer/t-resume.sh", "t/trainer/t-lock.sh"]),
        ("trainer/run/start*.c", ["t/trainer/u-start", *TRAINED, *TRAIN, "t/cli/t-names.sh"]),
        ("trainer/run/cmd_train.c", ["t/trainer/t-record.py", "t/trainer/t-plan.sh", *TRAIN, "t/cli/t-badinput.sh", "t/trainer/t-lock.sh", "t/cli/t-options.py"]),
        ("trainer/run/config.c", ["t/trainer/t-record.py", "t/trainer/t-plan.sh", *TRAINED, *TRAIN, "t/cli/t-badinput.sh", "t/cli/t-options.py"]),
        ("trainer/run/session.c", ["t/trainer/u-session", *TRAINED, "t/trainer/t-record.py", "t/trainer/t-vision.py", "t/trainer/t-text-models.sh", *TRAIN, "t/cuda/t-cuda-train.sh"]),
        ("trainer/exercise/exercise.c", ["t/analyzers/t-gate.sh", "t/trainer/t-train.sh"]),
        ("trainer/run/idle.c", ["t/trainer/u-energy", SAID, *TRAIN, "t/cli/t-options.py"]),
        ("trainer/record/passes.c", ["t/trainer/u-timing", "t/trainer/t-record.py", "t/cuda/t-cuda-train.sh", "t/trainer/t-bench.sh"]),
        ("trainer/record/manifest.c", ["t/trainer/t-record.py", SAID, "t/trainer/t-npz-train.py", "t/program/t-gemm.sh", *TRAINED, *TRAIN]),
        ("trainer/record/record.c", ["t/trainer/u-record", *TRAINED, "t/trainer/t-record.py", *TRAIN, "t/cuda/t-cuda-train.sh", "t/trainer/t-lock.sh"]),
        ("trainer/record/*.c", [*TRAINED, "t/trainer/t-record.py", IND + "fp8", "t/trainer/u-session", *TRAIN, "t/cuda/t-cuda-train.sh", "t/trainer/t-lock.sh"]),
        ("trainer/optim/*.c", [GOLDEN + "plan", "t/trainer/t-ema.py", "t/trainer/t-lamb.py", "t/trainer/t-clip.py", "t/trainer/t-schedule.py", DIGESTS, "t/trainer/t-record.py", IND + "faulty", IND + "scaled", *TRAIN, "t/cli/t-options.py"]),
        ("trainer/model/*.c", [GOLDEN + "plan", "t/trainer/t-dropout.py", "t/trainer/t-micro-batches.py", "t/trainer/t-qat.py", "t/trainer/u-session", DIGESTS, "t/trainer/t-losses.py", "t/trainer/t-contrast.py", IND + "faulty", IND + "convnet", "t/trainer/t-vision.py", "t/trainer/t-text-models.sh", *TRAIN, "t/trainer/t-memory.py"]),
        ("*.c", ["t/trainer/u-session", "t/trainer/t-record.py", SAID, *TRAINED, *TRAIN, "t/trainer/t-plan.sh", "t/trainer/t-lock.sh", "t/trainer/t-compare.sh"]),
    ],
    "operators": [
        ("lib/op/kind/sgd.c", ["t/op/u-op-values", IND + "convnet", *OPS]),
        ("lib/op/kind/adam.c", ["t/op/u-op-values", IND + "adam", *OPS]),
        ("lib/op/element/moments.c", ["t/op/u-op-values", IND + "adam", IND + "mlp", *OPS]),
        ("lib/op/contract/contract_workspace.c", ["t/trainer/t-memory.py"]),
        ("lib/op/contract*.c", ["t/op/u-op-values", "t/op/u-conv", "t/op/u-gemm", "t/exact/u-exact-conv", "t/op/u-tc-call", *OPS, *RUNS]),
        ("lib/op/*conv2d*.c", ["t/op/u-conv", "t/op/u-op-values", *OPS]),
        ("lib/op/kind/scale*.c", ["t/op/u-scaler", "t/op/u-op-values", *OPS, *RUNS]),
        ("lib/op/swamp.c", ["t/op/u-op-values", IND + "mlp", IND + "convnet"]),
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


