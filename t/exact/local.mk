# SPDX-License-Identifier: Apache-2.0

noinst_HEADERS += t/exact/ddw-tries.inc
noinst_HEADERS += t/exact/gemm-problem.h
C_TESTS += t/exact/u-bins
C_TESTS += t/exact/u-dd-endless
C_TESTS += t/exact/u-dd-erf
C_TESTS += t/exact/u-dd-exp
C_TESTS += t/exact/u-ddw
C_TESTS += t/exact/u-exact-blas
C_TESTS += t/exact/u-exact-conv
C_TESTS += t/exact/u-exact-enclose
C_TESTS += t/exact/u-exact-gemm
C_TESTS += t/exact/u-exact-sum
C_TESTS += t/exact/u-exact-value
C_TESTS += t/exact/u-exact
