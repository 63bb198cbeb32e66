# SPDX-License-Identifier: Apache-2.0

SCRIPT_TESTS += t/sum/t-models.py
C_TESTS += t/sum/u-emulated
C_TESTS += t/sum/u-reveal-text
C_TESTS += t/sum/u-reveal
C_TESTS += t/sum/u-roundings
C_TESTS += t/sum/u-sum-bound
C_TESTS += t/sum/u-sum-random
C_TESTS += t/sum/u-sum-text
C_TESTS += t/sum/u-sum-tree
C_TESTS += t/sum/u-sum
C_TESTS += t/sum/u-tc-panel
C_TESTS += t/sum/u-tc-scaled
C_TESTS += t/sum/u-tc-vectors
C_TESTS += t/sum/u-tc
C_TESTS += t/sum/u-units
