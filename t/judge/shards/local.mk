# SPDX-License-Identifier: Apache-2.0

EXTRA_DIST += t/judge/shards/analyzed.py
SCRIPT_TESTS += t/judge/shards/t-cluster.py
SCRIPT_TESTS += t/judge/shards/t-ended.py
SCRIPT_TESTS += t/judge/shards/t-ranks-read.py
SCRIPT_TESTS += t/judge/shards/t-shards-ranks.py
SCRIPT_TESTS += t/judge/shards/t-shards-read.py
SCRIPT_TESTS += t/judge/shards/t-shards.py
EXPENSIVE_SCRIPT_TESTS += t/judge/shards/x-shards-kill.py
EXPENSIVE_SCRIPT_TESTS += t/judge/shards/x-shards-memory.py
