/* SPDX-License-Identifier: Apache-2.0
   Exact inner products of floating-point vectors, one at a time. Two ways give the same value: MPFR at a precision
   that holds every bit, and sums of doubles on fixed grids (grid.h), which hold all but fp64's widest spans of
   exponents. gemm.h does whole tiles. */
#ifndef HU_EXACT_DOT_H
#define HU_EXACT_DOT_H

#include "lib/exact/value.h"

#include <mpfr.h>
#include <stddef.h>

typedef enum hu_exact_way { HU_EXACT_AUTO, HU_EXACT_ENGINE, HU_EXACT_MPFR } hu_exact_way;

/* Who computes exact sums. MPFR: MPFR alone. ENGINE: this folder's engine wherever it can hold the sum. AUTO: here
   the same as ENGINE; callers with a cheaper certified answer (enclose.h) may try that first. Under ENGINE and AUTO,
   MPFR checks one sum in 64 here and some of gemm.h's, chosen by the operands' bits; a disagreement prints the
   operands and ends the program. Setting the way restarts all counts; it must happen before threads start. */
void hu_exact_way_set(hu_exact_way e);
hu_exact_way hu_exact_way_get(void);

/* Returns how many sums hu_exact_dot computed by the engine since then, and how many of these MPFR checked (all
   agreed). */
void hu_exact_counts(unsigned long long *by_engine, unsigned long long *judged_again);

/* Sets r to Σ a[k] b[k] exactly; r's precision becomes what the value needs. Any doubles are allowed. Infinities and
   NaN give what IEEE arithmetic gives (Inf*0 and Inf-Inf: NaN). An exact zero is +0. */
void hu_exact_dot(mpfr_t r, const double *a, const double *b, size_t n);

/* The same by MPFR alone, for tests and checks. */
void hu_exact_dot_mpfr(mpfr_t r, const double *a, const double *b, size_t n);

/* Returns 1 and sets *v where the engine can hold the sum; 0 where it cannot, as for operands that are not finite. */
int hu_exact_dot_value(hu_exact_value *v, const double *a, const double *b, size_t n);
#endif
