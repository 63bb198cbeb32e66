/* SPDX-License-Identifier: Apache-2.0
   amxint8: what Intel's tdpbssd, tdpbsud, tdpbusd and tdpbuud do with 8-bit integers: products are added in 32 bits,
   which wrap (Intel 64 manual, volume 2, TDPBSSD). */
#include "lib/sum/integers.h"
#include "lib/sum/model/run.h"

HU_HD_CALL double
hu_amxint8_add(const double *a, const double *b, size_t n, double c, hu_sum s, double *lost, hu_sum_count *count)
{
	return hu_integers_sum(a, b, n, c, s.path, 4, 0, lost, count);
}

HU_SUM_RUN(amxint8)
{
	(void)draw;
	return hu_amxint8_add(a, b, n, 0, s, NULL, count);
}

#ifndef __cplusplus
#include "lib/sum/model/row.h"

HU_INTEGERS_FROM(amxint8)

HU_INTEGERS_BOUND(s.path)

const hu_sum_model hu_sum_model_amxint8 = {
	.words = "8-bit integers by Intel's tdpbssd and its like: exact in 32 bits, then wrapping. By the "
		 "manual, not held to silicon",
	.run = hu_sum_run_amxint8,
	.bound = bound,
	.bound_of = bound_of,
	.from = from,
	.roundings = hu_integers_roundings,
	.compensated = 1, /* the sum is exact: there is no order to be seen */
	.unit = HU_INTEGERS_UNIT(hu_integers_wraps, hu_integers_holds),
};
#endif
