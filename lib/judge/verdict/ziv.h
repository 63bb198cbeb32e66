/* SPDX-License-Identifier: Apache-2.0
   Judges one output from an enclosure of its exact value: error, ulps and whether the error exceeds its bound, each
   rounded once. If the enclosure is too wide to decide a digit it says so (Ziv's test). */
#ifndef HU_JUDGE_ZIV_H
#define HU_JUDGE_ZIV_H

#include "lib/number/round.h"

#include <mpfr.h>

typedef struct hu_ziv {
	/* in fp64, rounded to odd, so that rounding it again to p <= 51 bits rounds the exact value once; a zero is
	   +0 */
	double exact;
	double rounded;    /* |exact| to nearest */
	/* |got - exact| to nearest; infinite if one is not finite, or if both are infinite or NaN and differ */
	double error;
	double ulps;       /* error / 2^(max(floor(log2|exact|), emin) - p + 1), rounded once */
	int over;          /* the error exceeds the bound, compared exactly */
} hu_ziv;

/* The exact value lies within err of hi + lo, with hi = RN(hi + lo), the double nearest to the sum. A bound of NaN
   promises nothing. Returns 0, with nothing set, if any number of the verdict depends on where in the enclosure the
   value lies, or if a part is not finite. */
int hu_ziv_enclosed(hu_ziv *v, double hi, double lo, double err, double got, double bound, hu_format f);

/* The exact value to nearest, and the exact value minus w rounded away from zero. They return 0 if the enclosure cannot
   tell. */
int hu_ziv_rounded(double *x, double hi, double lo, double err);
int hu_ziv_difference(double *d, double hi, double lo, double err, double w);

/* Judges by MPFR's value, which is taken as exact. */
void hu_ziv_mpfr(hu_ziv *v, mpfr_srcptr exact, double got, double bound, hu_format f);
#endif
