/* SPDX-License-Identifier: Apache-2.0
   Sums over a tensor's elements and over products of two tensors' elements, exactly: what the references of
   reductions and norms are made of. */
#ifndef HU_OP_EXACT_SUM_H
#define HU_OP_EXACT_SUM_H

#include "lib/op/op.h"

#include <mpfr.h>

/* y = Σ a[i] b[i] over the N places i = FIRST, FIRST + STRIDE, …; B NULL: Σ a[i]. Exact where Y's precision holds it,
   as hu_sum_bits (reduce.h) does for numbers without low parts: by lib/exact/dot.h, a stretch at a time. With low
   parts: by MPFR, each step rounded to Y's precision. Infinities and NaN as IEEE 754 has them; an exact 0 is +0. */
void hu_exact_sum(mpfr_t y, const hu_tensor *a, const hu_tensor *b, size_t first, size_t n, size_t stride);
#endif
