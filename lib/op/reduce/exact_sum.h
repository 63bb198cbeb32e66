/* SPDX-License-Identifier: Apache-2.0
   Exact sums over a tensor's elements and over products of two tensors' elements, which the references of reductions
   and norms are made of. */
#ifndef HU_OP_EXACT_SUM_H
#define HU_OP_EXACT_SUM_H

#include "lib/op/op.h"

#include <mpfr.h>

/* y = Σ a[i] b[i] over the n places i = first, first + stride, …; if b is NULL, y = Σ a[i]. The result is exact if y's
   precision can hold it, as hu_sum_bits (reduce.h) ensures for numbers without trailing parts; lib/exact/dot.h computes
   it piece by piece, and of numbers with trailing parts each part's products by themselves, the sums of pieces rounded
   to y's precision. Infinities and NaN behave as in IEEE 754; an exact 0 is +0. */
void hu_exact_sum(mpfr_t y, const hu_tensor *a, const hu_tensor *b, size_t first, size_t n, size_t stride);

/* Divides the n numbers y by the sum of all elements of w, each rounded once more to its precision: the last step of a
   loss's gradient, whose rows have the weights w. */
void hu_exact_over_weights(mpfr_t *y, size_t n, const hu_tensor *w);
#endif
