/* SPDX-License-Identifier: Apache-2.0
   The libraries that the benchmark of casts is compared with; private to trainer/bench/. */
#ifndef HU_TRAINER_BENCH_CAST_H
#define HU_TRAINER_BENCH_CAST_H

#include "lib/number/format.h"

/* How many runs are tried at most until the clock moves: of the shortest ones, of some microseconds, seconds. */
enum { HU_BENCH_RUNS = 10000 };

/* Returns the nanoseconds per element that MPFR takes to round n floats to f in mode. Its results are compared with
   hu_round's where the format overflows as IEEE 754's do; *wrong counts differences. 0 where MPFR has no such mode. */
double hu_bench_mpfr(const float *src, size_t n, hu_format_id f, hu_mode mode, long *wrong);

/* Sets *encode and *decode to the nanoseconds per element that numpy or ml_dtypes takes to cast n floats to f's codes,
   and back; to 0 where Python, a module or the type is missing. */
void hu_bench_python(double *encode, double *decode, size_t n, hu_format_id f, int trials);
#endif
