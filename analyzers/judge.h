/* SPDX-License-Identifier: Apache-2.0
   Recorded outputs of one call against their exact values: errors in ulps of the
   output's format, the call's a-priori bound, the magnitudes behind each value. */
#ifndef HU_ANALYZERS_JUDGE_H
#define HU_ANALYZERS_JUDGE_H

#include "analyzers/engine.h"

/* Arrays of N, by ascending element. */
typedef struct hu_judged {
	size_t n, of;           /* judged, and elements the tensor has */
	size_t *element;
	double *got;
	double *exact;          /* rounded to odd in fp64: rounding it again to p <= 51 bits is rounding the exact value once */
	double *error;          /* |got - exact|, to nearest; infinite where one of them is not finite or both are but differ */
	double *ulps;           /* the same over 2^(max(floor(log2|exact|), emin) - p + 1), one rounding */
	double *bound;          /* of |got - exact|; infinite where overflow cannot be excluded */
	double *magnitude;      /* sum of |terms| behind the value; |exact| where the operator has none */
	char *over;             /* 1: the error leaves the bound, compared exactly */
	char **hex;             /* the exact value to 200 bits or more as a hex float; NULL unless asked for */
} hu_judged;

/* WANT of N indices, ascending, each with the same chance, a pure function of (seed, name, step, n, want);
   all of them where WANT is 0 or not below N. Freed by the caller; *count has their number. */
size_t *hu_sample(uint64_t seed, const char *name, size_t step, size_t n, size_t want, size_t *count);

/* Judges the elements ELEMENT (owned by the result from here on) of GOT, the recorded output OUT of call C. */
hu_status hu_judge(const hu_engine *engine, const hu_call *c, hu_tensor *const *in, int out, const hu_tensor *got, size_t *element, size_t n, int hex, hu_judged **result);
void hu_judged_free(hu_judged *j);

/* |got - exact| / 2^(max(floor(log2|exact|), emin) - p + 1), rounded once; for exact = 0 over the smallest subnormal.
   0 where both are the same infinity or both NaN; infinite where only one is finite or one is NaN. */
double hu_judge_ulps(double got, mpfr_srcptr exact, hu_format f);
#endif
