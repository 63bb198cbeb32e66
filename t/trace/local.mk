# SPDX-License-Identifier: Apache-2.0

EXTRA_DIST += t/trace/architectures.py
EXTRA_DIST += t/trace/operators.py
SCRIPT_TESTS += t/trace/t-library.py
SCRIPT_TESTS += t/trace/t-operators-arith.py
SCRIPT_TESTS += t/trace/t-operators-cell.py
SCRIPT_TESTS += t/trace/t-operators-conv.py
SCRIPT_TESTS += t/trace/t-operators-loss.py
SCRIPT_TESTS += t/trace/t-operators-move.py
SCRIPT_TESTS += t/trace/t-operators-table.py
SCRIPT_TESTS += t/trace/t-selection.py
SCRIPT_TESTS += t/trace/t-torch-step.py
SCRIPT_TESTS += t/trace/t-verdict.py
EXPENSIVE_SCRIPT_TESTS += t/trace/x-architectures.py
EXPENSIVE_SCRIPT_TESTS += t/trace/x-drawn-nets.py
EXPENSIVE_SCRIPT_TESTS += t/trace/x-torch-models.py
