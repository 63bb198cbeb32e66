# SPDX-License-Identifier: Apache-2.0

SCRIPT_TESTS += t/analyzers/op/t-list-ops.py
SCRIPT_TESTS += t/analyzers/op/t-op-got.py
SCRIPT_TESTS += t/analyzers/op/t-op-modes.py
SCRIPT_TESTS += t/analyzers/op/t-op-refuse.sh
SCRIPT_TESTS += t/analyzers/op/t-op-scaled.sh
SCRIPT_TESTS += t/analyzers/op/t-op-summed.py
SCRIPT_TESTS += t/analyzers/op/t-op-sums.py
SCRIPT_TESTS += t/analyzers/op/t-op.sh
SCRIPT_TESTS += t/analyzers/op/t-tf32.py
