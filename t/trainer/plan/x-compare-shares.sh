#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The tables of compare by 1, 2, 3 and 5 ranks and by 1, 4 and 7 shards.
HALFULP_ALL_SHARES=1 exec python3 "${srcdir:-.}/t/trainer/plan/t-compare-shares.py"
