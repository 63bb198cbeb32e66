# SPDX-License-Identifier: Apache-2.0

C_TESTS += t/number/elementary/u-atan2
C_TESTS += t/number/elementary/u-elementary
C_TESTS += t/number/elementary/u-pow
C_TESTS += t/number/elementary/u-screen
EXPENSIVE_C_TESTS += t/number/elementary/x-number-elementary
