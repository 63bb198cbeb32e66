/* SPDX-License-Identifier: Apache-2.0
   One output against the enclosure of its exact value: error, ulps and whether it leaves its
   bound, each rounded once, or the news that the enclosure is too wide to say (Ziv's test). */
#ifndef HU_ANALYZERS_ZIV_H
#define HU_ANALYZERS_ZIV_H

#include "lib/number/round.h"

#include <mpfr.h>

typedef struct hu_ziv {
	double exact; /* rounded to odd in fp64: rounding it again to p <= 51 bits is rounding the exact value once; a
			 zero is +0 */
	double rounded;    /* |exact| to nearest */
	double error; /* |got - exact|, to nearest; infinite where one of them is not finite or both are but differ */
	double ulps;       /* the same over 2^(max(floor(log2|exact|), emin) - p + 1), one rounding */
	int over;          /* the error leaves the bound, compared exactly */
} hu_ziv;

/* The exact value lies within ERR of HI + LO, HI = RN(HI + LO). BOUND: NaN promises nothing. Returns 0 where any
   number of the verdict depends on where in the enclosure the value lies, or a part is not finite: nothing is set then.
 */
int hu_ziv_enclosed(hu_ziv *v, double hi, double lo, double err, double got, double bound, hu_format f);

/* Whether the error leaves the bound, and nothing else: 1, 0, or -1 where the enclosure does not tell. */
int hu_ziv_over(double hi, double lo, double err, double got, double bound);

/* The exact value to nearest; the exact value minus W, rounded away from zero. 0 where the enclosure does not tell. */
int hu_ziv_rounded(double *x, double hi, double lo, double err);
int hu_ziv_difference(double *d, double hi, double lo, double err, double w);

/* All of it from MPFR's value, which is taken for exact. */
void hu_ziv_mpfr(hu_ziv *v, mpfr_srcptr exact, double got, double bound, hu_format f);
#endif
