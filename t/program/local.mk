# SPDX-License-Identifier: Apache-2.0

SCRIPT_TESTS += t/program/t-gemm.sh
C_TESTS += t/program/u-compensation
C_TESTS += t/program/u-exec-sharing
C_TESTS += t/program/u-factor
C_TESTS += t/program/u-fewer-calls
C_TESTS += t/program/u-policy-text
C_TESTS += t/program/u-program
C_TESTS += t/program/u-range-ends
C_TESTS += t/program/u-range-grown
C_TESTS += t/program/u-range-magnitudes
C_TESTS += t/program/u-recorded
C_TESTS += t/program/u-team-step
