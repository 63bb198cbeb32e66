/* SPDX-License-Identifier: Apache-2.0
   Bounds of sums that are made from their operands. */
#include "lib/sum/bound_rule.h"

#include "lib/sum/model/row.h"
#include "lib/sum/table/parts.h"

#include <math.h>

/* The a-priori bound for these operands, of which those below `least`, and a start value that fp32 has as subnormal
   where least is not 0, are lost. */
static hu_sum_bound
apriori_of(hu_sum s, const double *a, const double *b, size_t n, size_t part, double c, double least)
{
	/* One more product than there are: the start value is added as such a term. */
	hu_sum_bound x = hu_sum_apriori(s, n + (c != 0), part);
	double mag = fabs(c), lost = least > 0 && fabs(c) < 0x1p-126 ? fabs(c) : 0, up = 1 + ((double)n + 3) * 0x1p-52;

	for (size_t k = 0; k < n; k++) {
		double p = fabs(a[k] * b[k]);
		mag += p;
		lost += fabs(a[k]) < least || fabs(b[k]) < least ? p : 0;
	}
	mag *= up;
	if (!(mag < INFINITY) || !(x.peak * mag + x.absolute <= x.limit))
		return (hu_sum_bound){ 0, INFINITY, 0, INFINITY };
	return (hu_sum_bound){ 0, (x.relative * mag + x.absolute + lost * up) * HU_BOUND_UP, 0, INFINITY };
}

hu_sum_bound
hu_bound_flushed_of(hu_sum s, const double *a, const double *b, size_t n, size_t part, double c)
{
	return apriori_of(s, a, b, n, part, c, hu_smallest_normal(hu_format_of(s.in)));
}

hu_sum_bound
hu_bound_plain_of(hu_sum s, const double *a, const double *b, size_t n, size_t part, double c)
{
	return apriori_of(s, a, b, n, part, c, 0);
}

hu_sum_bound
hu_bound_by_parts(hu_bound_part *one, hu_sum s, const double *a, const double *b, size_t n, size_t part, double c)
{
	hu_format acc = hu_format_of(s.acc), outer = hu_outer_format(s);
	double error = 0, mag = hu_sum_model_of(s.id)->from ? fabs(c) : 0, g;
	size_t parts = 0;

	part = part && part < n ? part : n;
	for (size_t k = 0; k < n; k += part, parts++)
		error += one(s, a + k, b + k, n - k < part ? n - k : part, &mag) * HU_BOUND_UP;
	g = hu_bound_growth(hu_unit(outer), parts > 1 ? (double)hu_tree_depth(parts) : 0);
	error += g * (mag + error) + (parts > 1 ? 2 * (double)parts * hu_smallest(outer) * (1 + g) : 0);
	/* Where a model has no sum from c, whoever adds c adds the bound of that addition. */
	if (!((mag + error) * (1 + g) <= (outer.max < acc.max ? outer.max : acc.max)))
		error = INFINITY;
	return (hu_sum_bound){ 0, error * HU_BOUND_UP, 0, INFINITY };
}
