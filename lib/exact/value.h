/* SPDX-License-Identifier: Apache-2.0
   An exact number: a sum of doubles that do not overlap (Shewchuk, Adaptive Precision
   Floating-Point Arithmetic, 1997). What the exact engine returns: it rounds to any format in
   any mode, and gives the exact error of a result. */
#ifndef HU_EXACT_VALUE_H
#define HU_EXACT_VALUE_H

#include "lib/number/format.h"

#include <mpfr.h>
#include <stddef.h>

enum { HU_EXACT_PARTS = 20 }; /* the engine's widest sums have 16 */

/* Nonzero parts of ascending magnitude, each below the last bit of the next; no part: +0. An infinity or NaN is one
   part. */
typedef struct hu_exact_value {
	int n;
	double part[HU_EXACT_PARTS];
} hu_exact_value;

/* v = x; v += x, exactly. Adding to a non-finite value, or a non-finite x, is IEEE's addition. A broken
   invariant (HU_ASSERT) where more parts came up than there is room for: never for sums of 19 doubles. */
void hu_exact_value_set(hu_exact_value *v, double x);
void hu_exact_value_add(hu_exact_value *v, double x);
/* v *= 2^e, exact while no part leaves the normal doubles' range. */
void hu_exact_value_scale(hu_exact_value *v, int e);

/* Signs of v, v - x and v - w; of NaN: 0. */
int hu_exact_value_sign(const hu_exact_value *v);
int hu_exact_value_compare(const hu_exact_value *v, double x);

/* The value rounded once to F, as hu_round would round it had a double enough bits: any mode, RAND for
   those that draw, flags HU_SATURATE, HU_FTZ and HU_RANDOM_BITS. A zero is +0. */
double hu_exact_value_round(const hu_exact_value *v, hu_format f, hu_mode mode, int flags, uint32_t rand);
/* The nearest double, ties to even. */
double hu_exact_value_double(const hu_exact_value *v);
/* |v - x| to the nearest double: the exact error of a result x. NaN where v or x is not finite and they differ; equal
   infinities: 0. */
double hu_exact_value_error(const hu_exact_value *v, double x);
/* R takes the precision that the value needs, and the value. */
void hu_exact_value_mpfr(mpfr_t r, const hu_exact_value *v);
#endif
