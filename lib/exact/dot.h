/* SPDX-License-Identifier: Apache-2.0
   Exact inner products of floating-point vectors. Two ways give the same value: MPFR at a
   precision that holds every bit, and 128-bit integers where the data's span of exponents allows. */
#ifndef HU_EXACT_DOT_H
#define HU_EXACT_DOT_H

#include <mpfr.h>
#include <stddef.h>

typedef enum hu_exact_way { HU_EXACT_AUTO, HU_EXACT_MPFR } hu_exact_way;

/* Which way hu_exact_dot takes; auto takes integers where they are exact, and judges one sum in 64
   of those, chosen by its operands' bits, by MPFR again: a disagreement prints the operands and
   ends the program. Set before threads start; the counts start again. */
void hu_exact_way_set(hu_exact_way e);
hu_exact_way hu_exact_way_get(void);

/* Sums since then: by integers, and how many of those MPFR judged again (all agreed). */
void hu_exact_counts(unsigned long long *by_integers, unsigned long long *judged_again);

/* R = Σ a[k] b[k] exactly: R's precision is set to what the value needs. Every a[k] and b[k] must be
   a double whose products have at most 106 bits, that is any. Non-finite operands give what IEEE
   arithmetic gives (Inf*0 and Inf-Inf: NaN). An exact zero is +0. */
void hu_exact_dot(mpfr_t r, const double *a, const double *b, size_t n);

/* The same by MPFR alone, for tests and samples. */
void hu_exact_dot_mpfr(mpfr_t r, const double *a, const double *b, size_t n);

/* 1 and R where 128-bit integers hold the sum; 0 where they do not and R is untouched. */
int hu_exact_dot_int(mpfr_t r, const double *a, const double *b, size_t n);
#endif
