# SPDX-License-Identifier: Apache-2.0

EXTRA_DIST += t/judge/kernels/further.py
EXTRA_DIST += t/judge/kernels/mutants.py
EXTRA_DIST += t/judge/kernels/radii.py
EXTRA_DIST += t/judge/kernels/rules.py
SCRIPT_TESTS += t/judge/kernels/t-kernel-bench.py
SCRIPT_TESTS += t/judge/kernels/t-kernel-bias.py
SCRIPT_TESTS += t/judge/kernels/t-kernel-graph.py
SCRIPT_TESTS += t/judge/kernels/t-kernel-mutants.py
SCRIPT_TESTS += t/judge/kernels/t-kernel-page.py
SCRIPT_TESTS += t/judge/kernels/t-kernel-radii.py
SCRIPT_TESTS += t/judge/kernels/t-kernel-sweep.py
SCRIPT_TESTS += t/judge/kernels/t-kernel-torch.py
SCRIPT_TESTS += t/judge/kernels/t-op-bias.py
EXTRA_DIST += t/judge/kernels/torches.py
