# SPDX-License-Identifier: Apache-2.0

EXTRA_DIST += bench/tool/curve_setups.py
EXTRA_DIST += bench/tool/curve_tables.py
EXTRA_DIST += bench/tool/limits.py
BENCH_TOOLS += bench/tool/peak
BENCH_TOOLS += bench/tool/turns
