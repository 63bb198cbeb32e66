/* SPDX-License-Identifier: Apache-2.0
   mmaint8: what NVIDIA's mma does with 8-bit integers: 32 products an instruction, with saturate=1 (.satfinite) cut to
   32 bits at its end, else wrapping (PTX ISA, mma.m16n8k32). The instructions of 16 products are not modelled: they
   differ where a sum saturates and comes back. */
#include "lib/sum/integers.h"
#include "lib/sum/model/run.h"

HU_HD_CALL double
hu_mmaint8_add(const double *a, const double *b, size_t n, double c, hu_sum s, double *lost, hu_sum_count *count)
{
	return hu_integers_sum(a, b, n, c, s.path, 32, 0, lost, count);
}

HU_SUM_RUN(mmaint8)
{
	(void)draw;
	return hu_mmaint8_add(a, b, n, 0, s, NULL, count);
}

#ifndef __cplusplus
#include "lib/sum/model/row.h"

HU_INTEGERS_FROM(mmaint8)

HU_INTEGERS_BOUND(s.path)

const hu_sum_model hu_sum_model_mmaint8 = {
	.words = "8-bit integers by NVIDIA's mma: exact in 32 bits, then wrapping, or with "
		 "saturate=1 cut off every 32 products. By the manual, not held to silicon",
	.run = hu_sum_run_mmaint8,
	.bound = bound,
	.bound_of = bound_of,
	.from = from,
	.roundings = hu_integers_roundings,
	.compensated = 1, /* the sum is exact: there is no order to be seen */
	.unit = HU_INTEGERS_UNIT(hu_integers_check, hu_integers_holds),
};
#endif
