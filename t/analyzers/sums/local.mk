# SPDX-License-Identifier: Apache-2.0

SCRIPT_TESTS += t/analyzers/sums/t-accumulate.sh
SCRIPT_TESTS += t/analyzers/sums/t-allreduce-breaks.py
SCRIPT_TESTS += t/analyzers/sums/t-allreduce.py
SCRIPT_TESTS += t/analyzers/sums/t-explain.py
SCRIPT_TESTS += t/analyzers/sums/t-probe.sh
SCRIPT_TESTS += t/analyzers/sums/t-tree-library.py
SCRIPT_TESTS += t/analyzers/sums/t-tree.sh
C_TESTS += t/analyzers/sums/u-explain
C_TESTS += t/analyzers/sums/u-probe-found
