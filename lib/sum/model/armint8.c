/* SPDX-License-Identifier: Apache-2.0
   armint8: what Arm's SDOT and USDOT do with 8-bit integers, and SMMLA, UMMLA and USMMLA: products are added in 32
   bits, which wrap (Arm Architecture Reference Manual). Of UDOT and UMMLA the 32 bits are read as a number with a
   sign. */
#include "lib/sum/integers.h"
#include "lib/sum/model/run.h"

HU_HD_CALL double
hu_armint8_add(const double *a, const double *b, size_t n, double c, hu_sum s, double *lost, hu_sum_count *count)
{
	return hu_integers_sum(a, b, n, c, s.path, 4, 0, lost, count);
}

HU_SUM_RUN(armint8)
{
	(void)draw;
	return hu_armint8_add(a, b, n, 0, s, NULL, count);
}

#ifndef __cplusplus
#include "lib/sum/model/row.h"

HU_INTEGERS_FROM(armint8)

HU_INTEGERS_BOUND(s.path)

const hu_sum_model hu_sum_model_armint8 = {
	.words = "8-bit integers by Arm's SDOT, SMMLA and their like: exact in 32 bits, then wrapping. By the "
		 "manual, not held to silicon",
	.run = hu_sum_run_armint8,
	.bound = bound,
	.bound_of = bound_of,
	.from = from,
	.roundings = hu_integers_roundings,
	.compensated = 1, /* the sum is exact: there is no order to be seen */
	.unit = HU_INTEGERS_UNIT(hu_integers_wraps, hu_integers_holds),
};
#endif
