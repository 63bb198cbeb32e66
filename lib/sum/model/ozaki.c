/* SPDX-License-Identifier: Apache-2.0
   ozaki:N: FP64 products by N slices of 8 bits (lib/sum/ozaki.h). */
#include "lib/sum/model/run.h"
#include "lib/sum/ozaki.h"

HU_SUM_RUN(ozaki)
{
	(void)draw;
	return hu_ozaki_sum(a, b, n, s.n, count);
}

#ifndef __cplusplus
#include "lib/sum/model/row.h"
#include "lib/sum/sum_unit.h"

static double
one_part(hu_sum s, const double *a, const double *b, size_t n, double *mag)
{
	return hu_ozaki_bound(a, b, n, s.n, mag);
}

static hu_sum_bound
bound_of(hu_sum s, const double *a, const double *b, size_t n, size_t part, double c)
{
	return hu_bound_by_parts(one_part, s, a, b, n, part, c);
}

/* The error depends on how far the elements of a line span, which no length tells. */
static hu_sum_bound
bound(hu_sum s, double n, double u, double outer_u)
{
	(void)s;
	(void)n;
	(void)u;
	(void)outer_u;
	return (hu_sum_bound){ INFINITY, INFINITY, INFINITY, 0 };
}

static void
roundings(hu_roundings *r, hu_sum s, double n)
{
	(void)s;
	(void)n;
	r->none = "elements are truncated, so that errors have a sign of their own";
}

static hu_status
check(const hu_sum *s)
{
	return s->n <= HU_OZAKI_SLICES
		       ? HU_OK
		       : hu_fail(HU_EINVAL, "summation model ozaki:%d: there are 1 to %d slices of 8 bits", s->n,
				 HU_OZAKI_SLICES);
}

static void
variants(hu_sum s, size_t longest, void (*take)(void *to, hu_sum s), void *to)
{
	(void)longest;
	hu_sum_unit_formats(&s);
	for (s.n = 4; s.n <= HU_OZAKI_SLICES; s.n++)
		take(to, s);
}

const hu_sum_model hu_sum_model_ozaki = {
	.words = "fp64 by N slices of 8 bits, as integers: rows and columns are cut to 8 N - 1 bits below their "
		 "largest elements",
	.run = hu_sum_run_ozaki,
	.bound = bound,
	.bound_of = bound_of,
	.roundings = roundings,
	.compensated = 1, /* the sum is exact: there is no order to be seen */
	.unit = HU_SUM_UNIT_OF(HU_FP64, HU_FP64, check, variants),
};
#endif
