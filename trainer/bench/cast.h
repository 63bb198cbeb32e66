/* SPDX-License-Identifier: Apache-2.0
   What the benchmark of casts is compared with; private to trainer/bench/. */
#ifndef HU_TRAINER_BENCH_CAST_H
#define HU_TRAINER_BENCH_CAST_H

#include "lib/number/format.h"

/* ns an element of MPFR's rounding of n floats to f in mode, checked against hu_round where the format overflows as
   IEEE's do; 0 where MPFR has no such mode. */
double hu_bench_mpfr(const float *src, size_t n, hu_format_id f, hu_mode mode, long *wrong);

/* ns an element of numpy's or ml_dtypes' casts of n floats to f's codes, and back; 0 where Python, a module or the type
   is missing. */
void hu_bench_python(double *encode, double *decode, size_t n, hu_format_id f, int trials);
#endif
