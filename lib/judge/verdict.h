/* SPDX-License-Identifier: Apache-2.0
   Ziv's test (ziv.h) and the sums over errors (errors.h) for blocks of outputs, in loops that the compiler turns into
   vectors: one source, compiled for each instruction set, the same bits from all. */
#ifndef HU_ANALYZERS_VERDICT_H
#define HU_ANALYZERS_VERDICT_H

#include <stdint.h>

enum { HU_VERDICT_BLOCK = 64, HU_VERDICT_LANES = 8 };

/* A block of outputs, where hu_ziv has one: enclosure, recorded value and bound go in. KNOWN: 1 where all of the
   verdict is what hu_ziv_enclosed says; 0 where that must be asked: odd cases too, not only doubtful ones. */
typedef struct hu_verdict_block {
	double hi[HU_VERDICT_BLOCK], lo[HU_VERDICT_BLOCK], err[HU_VERDICT_BLOCK], got[HU_VERDICT_BLOCK],
		bound[HU_VERDICT_BLOCK];
	double exact[HU_VERDICT_BLOCK], rounded[HU_VERDICT_BLOCK], error[HU_VERDICT_BLOCK], ulps[HU_VERDICT_BLOCK];
	uint64_t over[HU_VERDICT_BLOCK], known[HU_VERDICT_BLOCK];
} hu_verdict_block;

/* Sums in pairs of doubles, and largest values, a lane each: total() of errors.c joins them. */
typedef struct hu_verdict_sums {
	double h[4][HU_VERDICT_LANES], l[4][HU_VERDICT_LANES]; /* ulps, ulps^2, error^2, magnitude^2 */
	double ulps[HU_VERDICT_LANES], rel[HU_VERDICT_LANES], condition[HU_VERDICT_LANES],
		componentwise[HU_VERDICT_LANES], ratio[HU_VERDICT_LANES];
} hu_verdict_sums;

/* A whole block: EMIN and P of the output's format. */
typedef void hu_verdict_judge(hu_verdict_block *b, int emin, int p);
/* N outputs, a multiple of the lanes, whose error, ulps and magnitude are 0 or between 2^-480 and 2^480 and exact
   values finite (hu_verdict_plain: 1 then). Bounds may be infinite. */
typedef void hu_verdict_add(hu_verdict_sums *s, int n, const double *exact, const double *error, const double *ulps,
	const double *bound, const double *magnitude);
typedef int hu_verdict_plain(
	int n, const double *exact, const double *error, const double *ulps, const double *magnitude);

typedef struct hu_verdicts {
	hu_verdict_judge *judge;
	hu_verdict_plain *plain;
	hu_verdict_add *add;
} hu_verdicts;

extern const hu_verdicts hu_verdicts_scalar, hu_verdicts_avx2, hu_verdicts_avx512;

/* Those of the instruction set in use. */
const hu_verdicts *hu_verdicts_get(void);
#endif
