# SPDX-License-Identifier: Apache-2.0

C_TESTS += t/number/bulk/u-bulk-draw
C_TESTS += t/number/bulk/u-bulk-large
C_TESTS += t/number/bulk/u-bulk-rows
C_TESTS += t/number/bulk/u-bulk
EXPENSIVE_C_TESTS += t/number/bulk/x-number-f16c
EXPENSIVE_SCRIPT_TESTS += t/number/bulk/x-number-neon.sh
