/* SPDX-License-Identifier: Apache-2.0
   What the benchmark of casts consists of: its arrays, the operations on them (cast_ops.c), and the libraries that it
   is compared with (cast_others.c); private to trainer/bench/. */
#ifndef HU_TRAINER_BENCH_CAST_H
#define HU_TRAINER_BENCH_CAST_H

#include "lib/number/format.h"

#include <stddef.h>
#include <stdint.h>

/* n floats: src, and dst for results; wide and wide_dst: n / 2 doubles, so that they take as much memory; codes: of src
   rounded to the format by RNE; back: results that are codes; pieces: the random pieces in a sum, so that they are not
   optimised away. */
typedef struct hu_cast {
	size_t n;
	float *src, *dst;
	double *wide, *wide_dst;
	void *codes, *back;
	uint32_t pieces;
} hu_cast;

/* An operation. packs: it is only for codes of at most 16 bits; draws: it depends on the rounding mode. check returns
   how many of some results are not what hu_round makes of the same values. */
typedef struct hu_cast_op {
	const char *name;
	int packs, draws;
	void (*run)(hu_cast *c, hu_format_id f, hu_mode m);
	long (*check)(const hu_cast *c, hu_format_id f, hu_mode m);
} hu_cast_op;

enum { HU_CAST_ROUND, HU_CAST_ENCODE, HU_CAST_UNPACK, HU_CAST_PACK, HU_CAST_ROUND64, HU_CAST_PIECES, HU_CAST_OPS };
extern const hu_cast_op hu_cast_ops[HU_CAST_OPS];

/* Fills src and wide with values whose exponents run from below the format's smallest number to beyond its largest; one
   in 16 is a tie, one in 512 an infinity, NaN or zero. */
void hu_cast_fill(hu_cast *c, hu_format_id f);

/* How many runs are tried at most until the clock moves: of the shortest ones, of some microseconds, seconds. */
enum { HU_BENCH_RUNS = 10000 };

/* Returns the nanoseconds per element that MPFR takes to round n floats to f in mode. Its results are compared with
   hu_round's where the format overflows as IEEE 754's do; *wrong counts differences. 0 where MPFR has no such mode. */
double hu_bench_mpfr(const float *src, size_t n, hu_format_id f, hu_mode mode, long *wrong);

/* Sets *encode and *decode to the nanoseconds per element that numpy or ml_dtypes takes to cast n floats to f's codes,
   and back; to 0 where Python, a module or the type is missing. */
void hu_bench_python(double *encode, double *decode, size_t n, hu_format_id f, int trials);
#endif
