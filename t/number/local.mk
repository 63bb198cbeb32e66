# SPDX-License-Identifier: Apache-2.0

noinst_HEADERS += t/number/fma-vectors.inc
SCRIPT_TESTS += t/number/t-fastmath.sh
SCRIPT_TESTS += t/number/t-frames.sh
C_TESTS += t/number/u-arith-wide
C_TESTS += t/number/u-arith
C_TESTS += t/number/u-code
C_TESTS += t/number/u-count
C_TESTS += t/number/u-fastmath
C_TESTS += t/number/u-format
C_TESTS += t/number/u-philox
C_TESTS += t/number/u-round
C_TESTS += t/number/u-stochastic
EXPENSIVE_C_TESTS += t/number/x-number-arith
EXPENSIVE_C_TESTS += t/number/x-number-round
