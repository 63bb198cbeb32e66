# SPDX-License-Identifier: Apache-2.0

SCRIPT_TESTS += t/trainer/bench/t-at-least.py
SCRIPT_TESTS += t/trainer/bench/t-bench-shares.py
SCRIPT_TESTS += t/trainer/bench/t-bench-table.py
SCRIPT_TESTS += t/trainer/bench/t-bench.sh
SCRIPT_TESTS += t/trainer/bench/t-memory.py
SCRIPT_TESTS += t/trainer/bench/t-published.py
SCRIPT_TESTS += t/trainer/bench/t-ranks-bench.py
SCRIPT_TESTS += t/trainer/bench/t-why-claims.py
SCRIPT_TESTS += t/trainer/bench/t-why-it-paid.sh
C_TESTS += t/trainer/bench/u-bench
C_TESTS += t/trainer/bench/u-cast-checks
