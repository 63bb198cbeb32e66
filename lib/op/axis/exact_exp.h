/* SPDX-License-Identifier: Apache-2.0
   Sums of exponentials for the references of softmax and its relatives. */
#ifndef HU_OP_EXACT_EXP_H
#define HU_OP_EXACT_EXP_H

#include "lib/op/op.h"

/* Exponentials of numbers of which many in a row are the same, as those of masked scores: y, the last one's, is that of
   x, which has HU_EXACT_BITS and is NaN at first. */
enum { HU_EXP_BITS = 320 }; /* of y: five doubles, the most that anyone keeps of a reference, have 265 */
typedef struct hu_exact_exp { mpfr_t x, y; } hu_exact_exp;
void hu_exact_exp_init(hu_exact_exp *e);
void hu_exact_exp_clear(hu_exact_exp *e);
/* y = exp(y), to the nearest of HU_EXP_BITS; y has HU_EXACT_BITS. */
void hu_exact_exp_of(hu_exact_exp *e, mpfr_t y);

/* Sums exp(x - top) over the n elements first, first + stride, … of x but the (first) largest; top gets its value. If
   only trailing parts tell which is larger, any of them will do, because what callers make of both is the same. An
   infinite largest element counts in the sum as well, as NaN. top and sum have HU_EXACT_BITS. */
void hu_exact_exp_others(const hu_tensor *x, size_t first, size_t n, size_t stride, mpfr_t top, mpfr_t sum);

/* y = a + b, rounded to odd: an addend too small to affect the other bits still sets the last one. Beside a double, the
   exponential of a large negative number may be smaller than any number of bits can hold. y has more bits than a
   double. */
void hu_exact_add_odd(mpfr_t y, const mpfr_t a, const mpfr_t b);
#endif
