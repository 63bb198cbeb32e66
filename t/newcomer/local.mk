# SPDX-License-Identifier: Apache-2.0

SCRIPT_TESTS += t/newcomer/t-demo.sh
SCRIPT_TESTS += t/newcomer/t-first.py
SCRIPT_TESTS += t/newcomer/t-gate-page.py
SCRIPT_TESTS += t/newcomer/t-paths.py
SCRIPT_TESTS += t/newcomer/t-readme.sh
EXPENSIVE_SCRIPT_TESTS += t/newcomer/x-demo.sh
