/* SPDX-License-Identifier: Apache-2.0
   vnniint8: what x86's vpdpbusd does with four products an instruction: 32 bits wrap, and with saturate=1, which is
   vpdpbusds, the sum of the accumulator and four products is cut to them (Intel 64 manual, volume 2). a has no sign;
   a=s8 and b=u8 name the other instructions of AVX-VNNI-INT8. */
#include "lib/sum/integers.h"
#include "lib/sum/model/run.h"

/* The operands of vpdpbusd, unless a=s8 names another instruction of AVX-VNNI-INT8. */
HU_HD int
hu_vnniint8_path(int path)
{
	return path & HU_INTEGERS_A_S8 ? path : path | HU_INTEGERS_A_U8;
}

HU_HD_CALL double
hu_vnniint8_add(const double *a, const double *b, size_t n, double c, hu_sum s, double *lost, hu_sum_count *count)
{
	return hu_integers_sum(a, b, n, c, hu_vnniint8_path(s.path), 4, 0, lost, count);
}

HU_SUM_RUN(vnniint8)
{
	(void)draw;
	return hu_vnniint8_add(a, b, n, 0, s, NULL, count);
}

#ifndef __cplusplus
#include "lib/sum/model/row.h"

HU_INTEGERS_FROM(vnniint8)

static int
holds(const hu_sum *s, int which, double x)
{
	return hu_integers_held(hu_vnniint8_path(s->path), which, x);
}

static hu_status
check(const hu_sum *s)
{
	int uu = !(s->path & HU_INTEGERS_A_S8) && s->path & HU_INTEGERS_B_U8;

	return uu && s->path & HU_INTEGERS_SATURATE
		       ? hu_fail(HU_EINVAL,
				 "summation model vnniint8: vpdpbuuds saturates at 2^32 - 1, and of such sums "
				 "there is no model; leave out b=u8 or saturate=1")
		       : HU_OK;
}

HU_INTEGERS_BOUND(hu_vnniint8_path(s.path))

const hu_sum_model hu_sum_model_vnniint8 = {
	.words = "8-bit integers by x86's vpdpbusd, a without a sign unless a=s8: exact in 32 bits, then wrapping, "
		 "or with saturate=1 cut off every 4 products",
	.run = hu_sum_run_vnniint8,
	.bound = bound,
	.bound_of = bound_of,
	.from = from,
	.roundings = hu_integers_roundings,
	.compensated = 1, /* the sum is exact: there is no order to be seen */
	.unit = HU_INTEGERS_UNIT(check, holds),
};
#endif
