# SPDX-License-Identifier: Apache-2.0

SCRIPT_TESTS += t/analyzers/calc/t-calc-arrays.py
SCRIPT_TESTS += t/analyzers/calc/t-calc-refused.sh
SCRIPT_TESTS += t/analyzers/calc/t-calc-rows.py
SCRIPT_TESTS += t/analyzers/calc/t-calc-steps.py
SCRIPT_TESTS += t/analyzers/calc/t-calc-waves.py
SCRIPT_TESTS += t/analyzers/calc/t-calc.sh
SCRIPT_TESTS += t/analyzers/calc/t-formats.py
C_TESTS += t/analyzers/calc/u-correct
C_TESTS += t/analyzers/calc/u-expr
