/* SPDX-License-Identifier: Apache-2.0
   An exact number: a sum of doubles that do not overlap (Shewchuk, Adaptive Precision Floating-Point Arithmetic,
   1997). The exact engine returns such values; they round to any format in any mode and give the exact error of a
   result. */
#ifndef HU_EXACT_VALUE_H
#define HU_EXACT_VALUE_H

#include "lib/number/format.h"

#include <mpfr.h>
#include <stddef.h>

enum { HU_EXACT_PARTS = 20 }; /* the engine's widest sums have 16 */

/* The parts are not 0 and ascend in magnitude, each below the last bit of the next. No part means +0. An infinity or
   NaN is a single part. */
typedef struct hu_exact_value {
	int n;
	double part[HU_EXACT_PARTS];
} hu_exact_value;

/* v = x; v += x, exactly. If v or x is not finite, the result is that of IEEE addition. More parts than there is
   room for are a broken invariant (HU_ASSERT); sums of 19 doubles always fit. */
void hu_exact_value_set(hu_exact_value *v, double x);
void hu_exact_value_add(hu_exact_value *v, double x);
/* v *= 2^e, exact while all parts stay in the normal range of double. */
void hu_exact_value_scale(hu_exact_value *v, int e);

/* The sign of v, and of v - x; 0 for NaN. */
int hu_exact_value_sign(const hu_exact_value *v);
int hu_exact_value_compare(const hu_exact_value *v, double x);

/* Returns the value rounded once to f, as hu_round would round it if a double had enough bits. Any mode (rand is for
   those that draw); flags HU_SATURATE, HU_FTZ and HU_RANDOM_BITS. A zero is +0. */
double hu_exact_value_round(const hu_exact_value *v, hu_format f, hu_mode mode, int flags, uint32_t rand);
/* Returns the nearest double, ties to even. */
double hu_exact_value_double(const hu_exact_value *v);
/* Returns |v - x|, the exact error of a result x, rounded to the nearest double. Equal infinities give 0; otherwise
   NaN where v or x is not finite. */
double hu_exact_value_error(const hu_exact_value *v, double x);
/* Sets r to the value; its precision becomes what the value needs. */
void hu_exact_value_mpfr(mpfr_t r, const hu_exact_value *v);
#endif
