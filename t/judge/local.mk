# SPDX-License-Identifier: Apache-2.0

EXTRA_DIST += t/judge/diverged.sh
SCRIPT_TESTS += t/judge/t-diverged.py
SCRIPT_TESTS += t/judge/t-diverged.sh
SCRIPT_TESTS += t/judge/t-engines.sh
SCRIPT_TESTS += t/judge/t-independent.py
noinst_HEADERS += t/judge/third.h
C_TESTS += t/judge/u-disagree
C_TESTS += t/judge/u-exact-doubles
C_TESTS += t/judge/u-faults
C_TESTS += t/judge/u-judge
C_TESTS += t/judge/u-propagate-bounded
C_TESTS += t/judge/u-propagate
C_TESTS += t/judge/u-replay
C_TESTS += t/judge/u-ziv
EXPENSIVE_SCRIPT_TESTS += t/judge/x-diverged.sh
EXPENSIVE_SCRIPT_TESTS += t/judge/x-independent.sh
