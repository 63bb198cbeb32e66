/* SPDX-License-Identifier: Apache-2.0
   Plain matrix products in double, for values and for bounds; a product's order is fixed for any number of threads. */
#ifndef HU_JUDGE_PRODUCT_H
#define HU_JUDGE_PRODUCT_H

#include <stddef.h>

/* y[m,n] += a[m,k] b[k,n], row-major, k ascending. At most k + 1 roundings of 2^-53 for each term. */
void hu_product_add(double *y, const double *a, const double *b, size_t m, size_t n, size_t k);
#endif
