/* SPDX-License-Identifier: Apache-2.0
   The arithmetic of attention in blocks that host and device share: exponentials, sums in four lanes, and sums of
   products that go on from a start value. Which elements enter it is said by flash.c and by cuda/element/flash.cuh. */
#ifndef HU_OP_CONTRACT_ATTENTION_ARITHMETIC_H
#define HU_OP_CONTRACT_ATTENTION_ARITHMETIC_H

#include "lib/op/numeric.h"
#include "lib/op/contract/attention/exp2.h"
#include "lib/sum/table/model.h"

/* How a summation model goes on from a start value: a tensor core's accumulator starts there, a chain takes it as its
   first term, and elsewhere it is added last. */
typedef enum hu_flash_start { HU_FLASH_ACCUMULATOR, HU_FLASH_TERM, HU_FLASH_LAST } hu_flash_start;

/* 2^y in fp32, e^y in other formats, rounded once. */
HU_HD double
hu_flash_power(hu_format f, double y)
{
	return f.id == HU_FP32 ? (double)hu_flash_exp2((float)y) : hu_rne(f, hu_exp(y));
}

/* The sum of n numbers p, or of their products with as many others. Number 8j + 2q and the next are of lane q; a lane
   adds in ascending order, products by fused multiply-adds, and the lanes are (0 + 1) + (2 + 3). */
HU_HD double
hu_flash_four(hu_format f, const double *p, const double *by, size_t n)
{
	double lane[4] = { 0, 0, 0, 0 };

	for (size_t i = 0; i < n; i++) {
		double *to = &lane[i >> 1 & 3];
		*to = hu_model_fma(*to, p[i], by ? by[i] : 1, f, HU_RNE, NULL, 0, NULL);
	}
	lane[0] = hu_acc_add(lane[0], lane[1], f, HU_RNE, NULL, 0, 0);
	lane[2] = hu_acc_add(lane[2], lane[3], f, HU_RNE, NULL, 0, 0);
	return hu_acc_add(lane[0], lane[2], f, HU_RNE, NULL, 0, 0);
}

/* The sum of n products by the resolved model s, rounded to f. */
HU_HD double
hu_flash_products(hu_format f, hu_sum s, const double *a, const double *b, size_t n)
{
	double v = hu_model_run(a, b, n, s, NULL, NULL);

	return hu_isnan(v) ? hu_nan() : hu_rne(f, v);
}

/* The sum that goes on from start with n more products of the resolved model s, rounded to f. a and b have an element
   in front, which is overwritten: a[1] and b[1] are the first to be multiplied. */
HU_HD double
hu_flash_goes_on(hu_format f, hu_sum s, hu_flash_start how, double *a, double *b, size_t n, double start)
{
	double v;

	if (how == HU_FLASH_ACCUMULATOR) {
		v = hu_model_tc(a + 1, b + 1, n, start, s, NULL);
	} else if (how == HU_FLASH_TERM) {
		a[0] = start;
		b[0] = 1;
		v = hu_model_run(a, b, n + 1, s, NULL, NULL);
	} else {
		v = hu_model_run(a + 1, b + 1, n, s, NULL, NULL);
		v = hu_acc_add(v, start, hu_part_format(s), HU_RNE, NULL, 0, 0);
	}
	return hu_isnan(v) ? hu_nan() : hu_rne(f, v);
}

/* The result of a query: the sum of its products, rounded to the format in which it is held, over that of its weights,
   rounded to f. */
HU_HD double
hu_flash_quotient(hu_format f, hu_format held, double o, double l)
{
	return hu_rne(f, hu_rne(held, o) / l);
}
#endif
