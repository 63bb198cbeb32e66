/* SPDX-License-Identifier: Apache-2.0
   d[i] = Σ_k a[i,k] b[i,k] + c[i]: inner products of rows by any summation model, with their exact values and error
   bounds. In tensor cores and in models that add the terms one by one, the sum starts at c; the other models add c
   last. */
#ifndef HU_OP_CONTRACT_ROWDOT_H
#define HU_OP_CONTRACT_ROWDOT_H

#include "lib/sum/roundings.h"

#include <mpfr.h>
#include <stdint.h>

typedef struct hu_rowdot {
	size_t k;
	const double *a, *b, *c;  /* rows of k numbers; c: NULL, or one number for each row */
	hu_sum sum;               /* resolved */
	hu_format_id out;         /* the sum is rounded to it */
	uint64_t seed;
	hu_mode mode;             /* mode of that last rounding, which draws no random bits; 0: to nearest even */
} hu_rowdot;

/* Returns the result of row i. A tensor core's NaN keeps the hardware's code. */
double hu_rowdot_value(const hu_rowdot *d, size_t i);
/* Sets x, whose precision is set by the caller, to the exact value. */
void hu_rowdot_exact(const hu_rowdot *d, size_t i, mpfr_t x);
/* Returns a bound of |value - exact|; infinite where overflow cannot be excluded. */
double hu_rowdot_bound(const hu_rowdot *d, size_t i);
/* hu_rowdot_magnitude returns Σ|a b| + |c| of row i, rounded up. hu_rowdot_roundings returns how many roundings a term
   of a row meets, for the probabilistic bound. */
double hu_rowdot_magnitude(const hu_rowdot *d, size_t i);
hu_roundings hu_rowdot_roundings(const hu_rowdot *d);
#endif
