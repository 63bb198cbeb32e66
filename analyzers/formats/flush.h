/* SPDX-License-Identifier: Apache-2.0
   The underflow of a tensor's rounding: the four counts of lib/number/count.h, the harm done, and the overflows. */
#ifndef HU_ANALYZERS_FLUSH_H
#define HU_ANALYZERS_FLUSH_H

#include "lib/judge/harm.h"
#include "lib/number/count.h"

/* Starts as zeros. overflow counts finite elements whose result is not finite. */
typedef struct hu_flush { hu_underflow count; size_t overflow; hu_harm harm; } hu_flush;

/* Counts an element whose exact value was rounded to got, a value of f. exact may be rounded to odd from more bits than
   a double has. */
void hu_flush_add(hu_flush *u, double exact, double got, hu_format f);
/* The same of n elements. */
void hu_flush_add_all(hu_flush *u, const double *exact, const double *got, size_t n, hu_format f);
void hu_flush_merge(hu_flush *u, const hu_flush *other);
double hu_flush_share(const hu_flush *u);    /* the share of nonzero elements that became zero; 0 where there are
					        none */
#endif
