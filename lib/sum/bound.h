/* SPDX-License-Identifier: Apache-2.0
   A-priori bounds on the error of one output's sum, from its model and length alone. */
#ifndef HU_SUM_BOUND_H
#define HU_SUM_BOUND_H

#include "lib/sum/sum.h"

/* |computed - exact| <= relative * M + absolute for every M >= Σ|a b|, provided that
   peak * M + absolute, which no intermediate exceeds, stays below LIMIT. +Inf: no bound. */
typedef struct hu_sum_bound { double relative, absolute, peak, limit; } hu_sum_bound;

/* K products from +0 by model S in parts of PART terms (0: one), combined as parts.h does.
   u is the unit roundoff of acc under RNE and RNA, twice that under the other modes; h half
   the smallest subnormal, or all of it.
     fma, RNE         n u, h n: Jeannerod and Rump 2013, whose induction also carries the
                      rounding of a subnormal result when Σ|ab| is increased by h / u
     sequential, RNE  n u, h n (1 + (n-1) u): the same paper, products rounded first
     chunk, RNE       the fma bound inside, then m chunk sums: (m-1) u, any m (Rump 2012)
     pairwise         (1+u)^(1+d) - 1 with d = ceil(log2 n)
     kahan            the induction beside kahan() in bound.c: u + 2u + O(n u^2)
     splitk           as chunk; fabsum: fma inside, kahan over block sums
     promote          fma inside, then (1+u)^m - 1 of the outer format over m block sums
     neumaier, dot2   u + O(n^2 u^2), beside compensated() in bound.c
     tc               for normal operands only; hu_sum_tc_bound for all
     other modes      (1+u)^n - 1, h n (1+u)^n, n the most roundings that a term meets
   A tree over parts multiplies by (1+u)^depth. All are rounded up. */
hu_sum_bound hu_sum_apriori(hu_sum s, size_t k, size_t part);

/* A resolved tc model's bound of |computed - exact| for operands as the unit takes them: MAG >= Σ|ab|,
   MOST: the largest exponent of a nonzero product, as hu_tc_split counts exponents. A block loses
   at most (L+1) 2^(emax-F) in the alignment and one rounding of the output. +Inf: may overflow. */
double hu_sum_tc_bound(hu_sum s, size_t k, size_t part, int most, double mag);
#endif
