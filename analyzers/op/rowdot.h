/* SPDX-License-Identifier: Apache-2.0
   d[i] = Σ_k a[i,k] b[i,k] + c[i]: inner products of rows by any summation model, their exact
   values and their bounds. c is where the sum starts in models that run through the terms
   one by one and in tensor cores; the others add it last. */
#ifndef HU_ANALYZERS_ROWDOT_H
#define HU_ANALYZERS_ROWDOT_H

#include "lib/sum/roundings.h"

#include <mpfr.h>
#include <stdint.h>

typedef struct hu_rowdot {
	size_t k;
	const double *a, *b, *c;  /* rows of K; c: NULL, or one number a row */
	hu_sum sum;               /* resolved */
	hu_format_id out;         /* the sum is rounded to it */
	uint64_t seed;
	hu_mode mode;             /* of that last rounding, one that draws nothing; 0: to nearest even */
} hu_rowdot;

/* Row i. A tensor core's NaN keeps the hardware's code. */
double hu_rowdot_value(const hu_rowdot *d, size_t i);
/* The exact value; x's precision is set. */
void hu_rowdot_exact(const hu_rowdot *d, size_t i, mpfr_t x);
/* Of |value - exact|; infinite where overflow cannot be excluded. */
double hu_rowdot_bound(const hu_rowdot *d, size_t i);
/* Σ|a b| + |c| of row i, rounded up; the roundings that a term of a row meets, for the probabilistic bound. */
double hu_rowdot_magnitude(const hu_rowdot *d, size_t i);
hu_roundings hu_rowdot_roundings(const hu_rowdot *d);
#endif
