# SPDX-License-Identifier: Apache-2.0

SCRIPT_TESTS += t/trainer/plan/t-compare-shares.py
SCRIPT_TESTS += t/trainer/plan/t-compare-table.py
SCRIPT_TESTS += t/trainer/plan/t-compare.sh
SCRIPT_TESTS += t/trainer/plan/t-layerwise.py
SCRIPT_TESTS += t/trainer/plan/t-plan-ranks.py
SCRIPT_TESTS += t/trainer/plan/t-plan-table.py
SCRIPT_TESTS += t/trainer/plan/t-plan.sh
C_TESTS += t/trainer/plan/u-ranks
EXPENSIVE_SCRIPT_TESTS += t/trainer/plan/x-compare-shares.sh
