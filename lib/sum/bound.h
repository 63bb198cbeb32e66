/* SPDX-License-Identifier: Apache-2.0
   Bounds on the error of one output's sum that follow from its summation model and its length alone, before any data
   is seen (a-priori bounds). */
#ifndef HU_SUM_BOUND_H
#define HU_SUM_BOUND_H

#include "lib/sum/sum.h"

/* |computed - exact| <= relative * M + absolute for every M >= Σ|a b|, provided that peak * M + absolute, which no
   intermediate result exceeds, stays below limit. Infinite members mean that there is no bound. */
typedef struct hu_sum_bound { double relative, absolute, peak, limit; } hu_sum_bound;

/* The bound for k products added from +0 by model s, in parts of `part` terms (0: one part) that parts.h combines.
   Below, n is the number of terms of a part, u the accumulator's unit roundoff 2^-p under RNE and RNA and twice that
   under the other modes, and h half the smallest subnormal under RNE and RNA, else all of it. "x, y" means relative
   x, absolute y.
     fma, RNE         n u, n h: Jeannerod and Rump 2013; their induction also carries the rounding of a
		      subnormal result if Σ|ab| is increased by h / u
     sequential, RNE  n u, n h (1 + (n-1) u): the same paper, with products that are rounded first
     chunk, RNE       the fma bound inside, then (m-1) u for m chunk sums, for any m (Rump 2012)
     pairwise         (1+u)^(1+d) - 1 with d = ceil(log2 n)
     kahan            u + 2u + O(n u^2), by the induction beside kahan() in bound.c
     splitk, openblas as chunk; fabsum: fma inside, kahan over block sums
     ring             as chunk where the wire has the accumulator's format; else as the trees below
     tree, halving,   slice sums as by fma, then (1+u)^d (1+w)^(d+1) - 1 for d hu_bound_hops, where w is the wire's
     hier             unit roundoff (no such factor, where the formats are the same)
     promote          fma inside, then (1+u)^m - 1 in the outer format over m block sums
     neumaier, dot2   u + O(n^2 u^2), derived beside compensated() in bound.c
     tc, other units  only for normal operands; the row's bound_of has a bound for all
     other modes      (1+u)^n - 1, n h (1+u)^n, where n is the most roundings that a term meets
   A tree over parts multiplies the factors by (1+u)^depth. All bounds are rounded up. */
hu_sum_bound hu_sum_apriori(hu_sum s, size_t k, size_t part);

/* Returns the most hops that a rank's part of n terms passes through in the all-reduce s. */
double hu_bound_hops(hu_sum s, double n);

/* Bounds |computed - exact| for a resolved tc model and operands as the unit takes them. mag >= Σ|ab|; `most` is the
   largest exponent of a nonzero product, counted as hu_tc_split counts exponents. A block loses at most (L+1)
   2^(emax-F) in the alignment, and one rounding of the output. +Inf where the sum may overflow. */
double hu_sum_tc_bound(hu_sum s, size_t k, size_t part, int most, double mag);
#endif
