# SPDX-License-Identifier: Apache-2.0

C_BENCHES += bench/cast
C_BENCHES += bench/gemm
C_BENCHES += bench/mpfr
SCRIPT_BENCHES += bench/steps.sh
