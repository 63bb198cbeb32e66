/* SPDX-License-Identifier: Apache-2.0
   Exact inner products of floating-point vectors, one at a time. Two ways give the same value: MPFR
   at a precision that holds every bit, and sums of doubles on fixed grids (grid.h), which hold all
   but fp64's widest spans of exponents. gemm.h does whole tiles. */
#ifndef HU_EXACT_DOT_H
#define HU_EXACT_DOT_H

#include "lib/exact/value.h"

#include <mpfr.h>
#include <stddef.h>

typedef enum hu_exact_way { HU_EXACT_AUTO, HU_EXACT_ENGINE, HU_EXACT_MPFR } hu_exact_way;

/* Who says what is exact. MPFR: that throughout. ENGINE: this folder's engine, whatever it can hold. AUTO: the same
   here; callers with a cheaper certified answer (enclose.h) may use that first. Under the last two one sum in 64 here,
   and some of gemm.h's, chosen by their operands' bits, are judged by MPFR again: a disagreement prints the operands
   and ends the program. Set before threads start; all counts start again. */
void hu_exact_way_set(hu_exact_way e);
hu_exact_way hu_exact_way_get(void);

/* Sums of hu_exact_dot since then: by the engine, and how many of those MPFR judged again (all agreed). */
void hu_exact_counts(unsigned long long *by_engine, unsigned long long *judged_again);

/* R = Σ a[k] b[k] exactly: R's precision is set to what the value needs. Every a[k] and b[k] must be
   a double whose products have at most 106 bits, that is any. Non-finite operands give what IEEE
   arithmetic gives (Inf*0 and Inf-Inf: NaN). An exact zero is +0. */
void hu_exact_dot(mpfr_t r, const double *a, const double *b, size_t n);

/* The same by MPFR alone, for tests and samples. */
void hu_exact_dot_mpfr(mpfr_t r, const double *a, const double *b, size_t n);

/* 1 and V where the engine holds the sum; 0 where it does not, as for non-finite operands. */
int hu_exact_dot_value(hu_exact_value *v, const double *a, const double *b, size_t n);
#endif
