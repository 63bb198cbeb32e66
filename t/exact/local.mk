# SPDX-License-Identifier: Apache-2.0

C_TESTS += t/exact/u-dd-eights
C_TESTS += t/exact/u-dd-erf
C_TESTS += t/exact/u-exact-blas
C_TESTS += t/exact/u-exact-conv
C_TESTS += t/exact/u-exact-enclose
C_TESTS += t/exact/u-exact-gemm
C_TESTS += t/exact/u-exact-sum
C_TESTS += t/exact/u-exact-value
C_TESTS += t/exact/u-exact
