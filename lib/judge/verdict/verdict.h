/* SPDX-License-Identifier: Apache-2.0
   Ziv's test (ziv.h) and the sums over errors (errors.h) for blocks of outputs, in loops that the compiler vectorises:
   one source, compiled for each instruction set, with the same bits from all. */
#ifndef HU_JUDGE_VERDICT_H
#define HU_JUDGE_VERDICT_H

#include <stdint.h>

enum { HU_VERDICT_BLOCK = 64, HU_VERDICT_LANES = 8 };

/* A block of outputs. Enclosure, recorded value and bound go in, what hu_ziv holds comes out. known is 1 if the verdict
   is the one hu_ziv_enclosed gives; 0 if hu_ziv_enclosed must be asked, in doubtful and in unusual cases. */
typedef struct hu_verdict_block {
	double hi[HU_VERDICT_BLOCK], lo[HU_VERDICT_BLOCK], err[HU_VERDICT_BLOCK], got[HU_VERDICT_BLOCK],
		bound[HU_VERDICT_BLOCK];
	double exact[HU_VERDICT_BLOCK], rounded[HU_VERDICT_BLOCK], error[HU_VERDICT_BLOCK], ulps[HU_VERDICT_BLOCK];
	uint64_t over[HU_VERDICT_BLOCK], known[HU_VERDICT_BLOCK];
} hu_verdict_block;

/* Sums in pairs of doubles, and largest values, one per lane; total() in errors.c joins them. */
typedef struct hu_verdict_sums {
	double h[4][HU_VERDICT_LANES], l[4][HU_VERDICT_LANES]; /* ulps, ulps^2, error^2, magnitude^2 */
	double ulps[HU_VERDICT_LANES], rel[HU_VERDICT_LANES], condition[HU_VERDICT_LANES],
		componentwise[HU_VERDICT_LANES], ratio[HU_VERDICT_LANES];
} hu_verdict_sums;

/* A block of recorded values and of the exact step's values with their bounds (errors_step.c). plain is 1 where the
   value has digits and size, error, off, ulps and off_ulps are what errors_step.c computes of it one by one; 0 where it
   must be asked, in unusual cases. */
typedef struct hu_verdict_steps {
	double hi[HU_VERDICT_BLOCK], lo[HU_VERDICT_BLOCK], err[HU_VERDICT_BLOCK], got[HU_VERDICT_BLOCK];
	double size[HU_VERDICT_BLOCK], error[HU_VERDICT_BLOCK], off[HU_VERDICT_BLOCK], ulps[HU_VERDICT_BLOCK],
		off_ulps[HU_VERDICT_BLOCK];
	uint64_t plain[HU_VERDICT_BLOCK];
} hu_verdict_steps;

/* Judges a whole block; emin and p are those of the output's format. */
typedef void hu_verdict_judge(hu_verdict_block *b, int emin, int p);
/* Sets error to what hu_ziv_difference gives of a whole block's enclosures less got, and known to 1 where it is known,
   to 0 where hu_ziv_difference must be asked. */
typedef void hu_verdict_difference(hu_verdict_block *b);
/* Adds n outputs, a multiple of the lanes. Their error, ulps and magnitude must be 0 or between 2^-480 and 2^480 and
   the exact values finite, which hu_verdict_plain tests (1: they are). Bounds may be infinite. */
typedef void hu_verdict_add(hu_verdict_sums *s, int n, const double *exact, const double *error, const double *ulps,
	const double *bound, const double *magnitude);
typedef int hu_verdict_plain(
	int n, const double *exact, const double *error, const double *ulps, const double *magnitude);

typedef void hu_verdict_step(hu_verdict_steps *b, int emin, int p);

typedef struct hu_verdicts {
	hu_verdict_judge *judge;
	hu_verdict_difference *difference;
	hu_verdict_plain *plain;
	hu_verdict_add *add;
	hu_verdict_step *step;
} hu_verdicts;

extern const hu_verdicts hu_verdicts_scalar, hu_verdicts_avx2, hu_verdicts_avx512;

/* The functions for the instruction set in use. */
const hu_verdicts *hu_verdicts_get(void);
#endif
