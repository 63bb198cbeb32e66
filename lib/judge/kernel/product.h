/* SPDX-License-Identifier: Apache-2.0
   Plain matrix products in double, for values and for bounds; a product's order is fixed for any number of threads. */
#ifndef HU_JUDGE_PRODUCT_H
#define HU_JUDGE_PRODUCT_H

#include "lib/judge/kernel/graph.h"

/* y[m,n] += a[m,k] b[k,n], row-major, k ascending. At most k + 1 roundings of 2^-53 for each term. */
void hu_product_add(double *y, const double *a, const double *b, size_t m, size_t n, size_t k);

/* y[m,n] = a b for balls, a[m,k] or its transpose stored as [k,m]. want says which of radius, variance and shared part
   any operand has. */
void hu_contract_balls(hu_ball *y, const hu_ball *a, const hu_ball *b, size_t m, size_t n, size_t k, int ta, int tb,
	const int want[3], const hu_roundoffs *roundoffs);
#endif
