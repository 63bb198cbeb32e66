# SPDX-License-Identifier: Apache-2.0


# Arb is compared with, where it is there
bench_exact_CPPFLAGS = $(AM_CPPFLAGS) $(ARB_CPPFLAGS)
bench_exact_LDADD = $(LDADD) $(ARB_LIBS)
SCRIPT_BENCHES += bench/analyze.py
SCRIPT_BENCHES += bench/cast.sh
C_BENCHES += bench/exact
SCRIPT_BENCHES += bench/gate-reruns.py
C_BENCHES += bench/gemm
EXTRA_DIST += bench/gpu-pack.sh
EXTRA_DIST += bench/gpu-parts.sh
EXTRA_DIST += bench/gpu-trainings.sh
EXTRA_DIST += bench/gpu.sh
C_BENCHES += bench/mpfr
SCRIPT_BENCHES += bench/operating-curve.py
SCRIPT_BENCHES += bench/pairs.py
SCRIPT_BENCHES += bench/ranks.py
SCRIPT_BENCHES += bench/replay.sh
SCRIPT_BENCHES += bench/steps.sh
SCRIPT_BENCHES += bench/torch-steps.py
