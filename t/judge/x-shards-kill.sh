#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A rank of analyze is killed 50 times, at moments all over the run.
HALFULP_KILLS=50 exec python3 "${srcdir:-.}/t/judge/t-shards-ranks.py"
