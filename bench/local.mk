# SPDX-License-Identifier: Apache-2.0

C_BENCHES += bench/gemm
C_BENCHES += bench/mpfr
