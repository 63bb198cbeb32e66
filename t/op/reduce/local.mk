# SPDX-License-Identifier: Apache-2.0

C_TESTS += t/op/reduce/u-all-reduce
C_TESTS += t/op/reduce/u-cumsum
C_TESTS += t/op/reduce/u-summed
