# SPDX-License-Identifier: Apache-2.0

EXTRA_DIST += t/golden/outputs/accumulate.txt
EXTRA_DIST += t/golden/outputs/allreduce.txt
EXTRA_DIST += t/golden/outputs/bench.txt
EXTRA_DIST += t/golden/outputs/bounds.txt
EXTRA_DIST += t/golden/outputs/calc.txt
EXTRA_DIST += t/golden/outputs/explain.txt
EXTRA_DIST += t/golden/outputs/files.txt
EXTRA_DIST += t/golden/outputs/formats.txt
EXTRA_DIST += t/golden/outputs/inspect.txt
EXTRA_DIST += t/golden/outputs/models.txt
EXTRA_DIST += t/golden/outputs/op.txt
EXTRA_DIST += t/golden/outputs/plan.txt
EXTRA_DIST += t/golden/outputs/probe.txt
EXTRA_DIST += t/golden/outputs/round.txt
EXTRA_DIST += t/golden/outputs/runs.txt
EXTRA_DIST += t/golden/outputs/tree.txt
