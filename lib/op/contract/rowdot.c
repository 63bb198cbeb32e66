/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/op/contract/rowdot.h"

#include "lib/base/mem.h"
#include "lib/exact/dot.h"
#include "lib/sum/bound.h"
#include "lib/sum/model/row.h"
#include "lib/sum/table/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Returns a copy of the row with c * 1 in front. */
static double *
joined(const hu_rowdot *d, size_t i)
{
	double *x = hu_xmalloc(2 * (d->k + 1) * sizeof *x), *y = x + d->k + 1;

	x[0] = d->c ? d->c[i] : 0;
	y[0] = 1;
	memcpy(x + 1, d->a + i * d->k, d->k * sizeof *x);
	memcpy(y + 1, d->b + i * d->k, d->k * sizeof *x);
	return x;
}

double
hu_rowdot_value(const hu_rowdot *d, size_t i)
{
	hu_draw draw = { d->seed, hu_draw_stream("op"), 0, i * (d->k + 1), d->sum.bits };
	const double *a = d->a + i * d->k, *b = d->b + i * d->k;
	double v;

	if (hu_sum_model_of(d->sum.id)->from) {
		v = hu_sum_model_of(d->sum.id)->from(a, b, d->k, d->c ? d->c[i] : 0, d->sum, NULL);
		return hu_isnan(v) ? v : hu_round(v, hu_format_of(d->out), d->mode, 0, 0);
	}
	if (d->c && hu_sum_model_of(d->sum.id)->from_start) {
		double *x = joined(d, i);
		v = hu_model_run(x, x + d->k + 1, d->k + 1, d->sum, &draw, NULL);
		free(x);
	} else {
		v = hu_model_run(a, b, d->k, d->sum, &draw, NULL);
		if (d->c)
			v = hu_acc_add(v, d->c[i], hu_part_format(d->sum), d->sum.mode, &draw, d->k, HU_DRAW_OUTER);
	}
	return hu_round(v, hu_format_of(d->out), d->mode, 0, 0);
}

void
hu_rowdot_exact(const hu_rowdot *d, size_t i, mpfr_t x)
{
	double *row = joined(d, i);
	size_t skip = d->c == NULL;

	hu_exact_dot(x, row + skip, row + d->k + 1 + skip, d->k + 1 - skip);
	free(row);
}

double
hu_rowdot_magnitude(const hu_rowdot *d, size_t i)
{
	double mag = 0;

	for (size_t k = 0; k < d->k; k++)
		mag += fabs(d->a[i * d->k + k] * d->b[i * d->k + k]);
	return (mag + (d->c ? fabs(d->c[i]) : 0)) * (1 + ((double)d->k + 4) * 0x1p-52);
}

/* Returns the largest relative error of the last rounding. */
static double
last_unit(const hu_rowdot *d)
{
	return (hu_mode_nearest(d->mode) ? 1 : 2) * hu_unit(hu_format_of(d->out));
}

hu_roundings
hu_rowdot_roundings(const hu_rowdot *d)
{
	hu_format out = hu_format_of(d->out), inner = hu_part_format(d->sum);
	int first = d->c && hu_sum_model_of(d->sum.id)->from_start;
	hu_roundings r = hu_roundings_of_sum(d->sum, d->k + (size_t)first, 0);

	if (d->c && !first)
		hu_roundings_add(&r, inner, d->sum.mode, d->sum.bits, 1);
	if (d->sum.acc == HU_FP64) /* products of doubles may be rounded first */
		r.certain += 0x1p-52;
	if (out.id != inner.id) {
		r.last = last_unit(d);
		r.least = hu_smallest(out);
	}
	return r;
}

double
hu_rowdot_bound(const hu_rowdot *d, size_t i)
{
	const double *a = d->a + i * d->k, *b = d->b + i * d->k;
	double mag = hu_rowdot_magnitude(d, i), e,
	       u = hu_unit(hu_part_format(d->sum)) * (d->sum.mode == HU_RNE ? 1 : 2);
	hu_format out = hu_format_of(d->out), inner = hu_part_format(d->sum);

	if (!(mag < INFINITY))
		return INFINITY;
	if (hu_sum_model_of(d->sum.id)->bound_of) {
		e = hu_sum_model_of(d->sum.id)->bound_of(d->sum, a, b, d->k, 0, d->c ? d->c[i] : 0).absolute;
		if (d->c && !hu_sum_model_of(d->sum.id)->from)
			e += u * (mag + e);
	} else {
		hu_sum_bound s = hu_sum_apriori(d->sum, d->k + (d->c != NULL), 0);
		if (!(s.peak * mag + s.absolute <= s.limit))
			return INFINITY;
		e = s.relative * mag + s.absolute;
		if (d->c && !hu_sum_model_of(d->sum.id)->from_start)
			e += u * (mag + e);
		if (d->sum.acc == HU_FP64) /* products of doubles may be rounded first */
			e += mag * 0x1p-52;
	}
	if (out.id != inner.id) {
		if (!(mag + e <= out.max))
			return INFINITY;
		e += last_unit(d) * (mag + e) + hu_smallest(out);
	}
	return e * (1 + 0x1p-40);
}
