/* SPDX-License-Identifier: Apache-2.0
   ozakidynamic: FP64 products by as many slices as the elements' exponents need (lib/sum/ozaki.h), and by fma in fp64
   where that is more than there are. cuBLAS's own choice is not published in this detail: hu_ozaki_slices has a proof.
 */
#include "lib/sum/model/run.h"
#include "lib/sum/ozaki.h"

HU_SUM_RUN(ozakidynamic)
{
	double acc = 0;
	int slices;

	(void)s;
	for (size_t k = 0; k < n; k++)
		if (!hu_isfinite(a[k]) || !hu_isfinite(b[k]))
			return hu_nan();
	slices = hu_ozaki_slices(a, b, n);
	if (slices)
		return hu_ozaki_sum(a, b, n, slices, count);
	for (size_t k = 0; k < n; k++)
		acc = hu_model_fma(acc, a[k], b[k], hu_format_of(HU_FP64), HU_RNE, draw, k, count);
	return acc;
}

#ifndef __cplusplus
#include "lib/sum/model/row.h"
#include "lib/sum/sum_unit.h"

static double
one_part(hu_sum s, const double *a, const double *b, size_t n, double *mag)
{
	double all = 0;
	int slices;

	(void)s;
	for (size_t k = 0; k < n; k++) {
		if (!hu_isfinite(a[k]) || !hu_isfinite(b[k]))
			return INFINITY;
		all += fabs(a[k] * b[k]);
	}
	slices = hu_ozaki_slices(a, b, n);
	if (slices)
		return hu_ozaki_bound(a, b, n, slices, mag);
	all = all * (1 + ((double)n + 2) * 0x1p-52) + (double)n * 0x1p-1074;
	*mag += all;
	return (double)n * (0x1p-53 * all + 0x1p-1074) * HU_BOUND_UP;
}

static hu_sum_bound
bound_of(hu_sum s, const double *a, const double *b, size_t n, size_t part, double c)
{
	return hu_bound_by_parts(one_part, s, a, b, n, part, c);
}

/* At most n u times the largest product for what is cut and left out, u for each of up to nine additions of digits'
   sums, whose magnitudes are within 1 + 2^-6 of the products', and the last scaling; fma has n u. */
static hu_sum_bound
bound(hu_sum s, double n, double u, double outer_u)
{
	double e = n * u + 10 * u * (1 + 0x1p-5);

	(void)s;
	(void)outer_u;
	return (hu_sum_bound){ e, n + 2, 1 + 0x1p-5 + e, 0 };
}

static void
roundings(hu_roundings *r, hu_sum s, double n)
{
	(void)s;
	(void)n;
	r->none = "elements are truncated, so that errors have a sign of their own";
}

const hu_sum_model hu_sum_model_ozakidynamic = {
	.words = "fp64 by as many slices of 8 bits (ozaki:N) as prove n u for n products; by fma where 79 bits do not",
	.run = hu_sum_run_ozakidynamic,
	.bound = bound,
	.bound_of = bound_of,
	.roundings = roundings,
	.compensated = 1, /* the sum is exact: there is no order to be seen */
	.unit = HU_SUM_UNIT(HU_FP64, HU_FP64),
};
#endif
