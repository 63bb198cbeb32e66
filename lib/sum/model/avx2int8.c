/* SPDX-License-Identifier: Apache-2.0
   avx2int8: what kernels of 8-bit integers do on x86 without VNNI, by vpmaddubsw, vpmaddwd and vpaddd: of four products
   each pair is cut to 16 bits, then both are added to the accumulator, which wraps. a has no sign and b has one. */
#include "lib/sum/integers.h"
#include "lib/sum/model/run.h"

HU_HD_CALL double
hu_avx2int8_add(const double *a, const double *b, size_t n, double c, hu_sum s, double *lost, hu_sum_count *count)
{
	return hu_integers_sum(a, b, n, c, s.path | HU_INTEGERS_A_U8, 4, 1, lost, count);
}

HU_SUM_RUN(avx2int8)
{
	(void)draw;
	return hu_avx2int8_add(a, b, n, 0, s, NULL, count);
}

#ifndef __cplusplus
#include "lib/sum/model/row.h"

HU_INTEGERS_FROM(avx2int8)

static int
holds(const hu_sum *s, int which, double x)
{
	return hu_integers_held(s->path | HU_INTEGERS_A_U8, which, x);
}

static hu_status
check(const hu_sum *s)
{
	return s->path ? hu_fail(HU_EINVAL, "summation model avx2int8 takes no key but outer: its operands are a=u8 "
					    "and b=s8, and pairs saturate at 16 bits")
		       : HU_OK;
}

/* One product of 255 and -128 fits into 16 bits, two do not. */
static hu_sum_bound
bound(hu_sum s, double n, double u, double outer_u)
{
	(void)s;
	(void)u;
	(void)outer_u;
	return hu_integers_bound(n > 1 ? INFINITY : n, 255, 128);
}

const hu_sum_model hu_sum_model_avx2int8 = {
	.words = "8-bit integers by x86's vpmaddubsw, a without a sign: pairs of products are cut to 16 bits, "
		 "and sums wrap at 32. Held to the instruction",
	.run = hu_sum_run_avx2int8,
	.bound = bound,
	.bound_of = bound_of,
	.from = from,
	.roundings = hu_integers_roundings,
	.compensated = 1, /* the sum is exact: there is no order to be seen */
	.unit = HU_INTEGERS_UNIT(check, holds),
};
#endif
