/* SPDX-License-Identifier: Apache-2.0
   The inner loop of matrix products in double, one for each instruction set; for this folder alone. */
#ifndef HU_JUDGE_PRODUCT_LOOP_H
#define HU_JUDGE_PRODUCT_LOOP_H

#include <stddef.h>

/* A panel of b is so many columns wide, which stay in registers, and serves so many rows of a at once. */
enum { HU_PRODUCT_COLUMNS = 16, HU_PRODUCT_ROWS = 128 };

/* Adds the product of `rows` rows of a and `columns` columns of b to y; rows of a are k elements apart, and those of b
   and y are n. Each element's terms are rounded and added one by one, k ascending, in every instruction set. */
typedef struct hu_product_loop {
	void (*panel)(double *y, const double *a, const double *b, size_t rows, size_t columns, size_t n, size_t k);
} hu_product_loop;

extern const hu_product_loop hu_product_loop_plain, hu_product_loop_avx2, hu_product_loop_avx512;
#endif
