# SPDX-License-Identifier: Apache-2.0

EXTRA_DIST += bench/tool/limits.py
BENCH_TOOLS += bench/tool/peak
BENCH_TOOLS += bench/tool/turns
