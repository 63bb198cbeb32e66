/* SPDX-License-Identifier: Apache-2.0
   The name dot of the command op: inner products of rows, which are not an operator of the table. */
#include "analyzers/op/op_run.h"

#include "lib/op/contract/rowdot.h"
#include "lib/base/mem.h"
#include "lib/sum/sum_unit.h"
#include "lib/sum/table/model.h"

#include <stdlib.h>
#include <string.h>

static hu_status
fits(const hu_op_run *r, size_t rows, size_t k)
{
	const hu_npy *f = r->file;

	if (r->nin < 2 || r->nin > 3)
		return hu_fail(HU_EINVAL, "dot takes a and b, and c where it is given");
	if (f[1].rank != f[0].rank || memcmp(f[0].shape, f[1].shape, (size_t)f[0].rank * sizeof *f[0].shape))
		return hu_fail(
			HU_EFILE, "dot: a has %zu rows of %zu and b is of another shape; both need the same", rows, k);
	if (r->nin == 3 && f[2].count != rows)
		return hu_fail(HU_EFILE, "dot: c has %zu elements where a and b have %zu rows", f[2].count, rows);
	return HU_OK;
}

/* Returns the shape of a without its last axis; where that has more axes than a tensor can have, one axis of all
   rows. */
static hu_shape
result_shape(const hu_npy *a, size_t rows)
{
	hu_shape s = hu_shape0();

	if (a->rank > HU_RANK + 1)
		return hu_shape1(rows);
	for (int d = 0; d + 1 < a->rank; d++)
		s.d[s.rank++] = a->shape[d];
	return s;
}

hu_status
hu_op_run_dots(hu_op_run *r, int judged)
{
	const hu_npy *f = r->file;
	size_t k = f[0].rank ? f[0].shape[f[0].rank - 1] : 1, rows = 1;

	for (int d = 0; d + 1 < f[0].rank; d++)
		rows *= f[0].shape[d]; /* cannot overflow where k is not 0, since the array is in memory */
	if (!k && f[0].rank > 2)
		return hu_fail(HU_EFILE, "dot: a has rows of no element");
	int chop = r->sum.in == HU_TF32;
	HU_TRY(fits(r, rows, k));
	hu_format fc = hu_sum_is_unit(r->sum.id) ? hu_part_format(r->sum) : r->out;
	HU_TRY(hu_op_codes_fit(r, &f[0], "operand a", hu_format_of(r->in[0])));
	HU_TRY(hu_op_codes_fit(r, &f[1], "operand b", hu_format_of(r->in[1])));
	if (r->nin == 3)
		HU_TRY(hu_op_codes_fit(r, &f[2], "operand c", fc));
	double *x = hu_alloc((2 * f[0].count + rows + 1) * sizeof *x), *y, *c;
	r->n = rows;
	r->shape = result_shape(&f[0], rows);
	r->value = hu_alloc((rows + 1) * sizeof *r->value);
	if (judged) {
		r->bound = hu_alloc((rows + 1) * sizeof *r->bound);
		r->magnitude = hu_alloc((rows + 1) * sizeof *r->magnitude);
		r->exact = hu_alloc((rows + 1) * sizeof *r->exact);
	}
	if (!x || !r->value || (judged && (!r->bound || !r->magnitude || !r->exact))) {
		free(x);
		free(r->exact);
		r->exact = NULL;
		return hu_fail(HU_ENOMEM, "dot: no memory for %zu rows of %zu", rows, k);
	}
	y = x + f[0].count;
	c = y + f[0].count;
	for (size_t i = 0; i < f[0].count; i++) {
		x[i] = hu_op_codes_operand(r, 0, i, chop);
		y[i] = hu_op_codes_operand(r, 1, i, chop);
	}
	for (size_t i = 0; r->nin == 3 && i < rows; i++)
		c[i] = hu_round(hu_op_codes_element(r, &f[2], i, fc), fc, HU_RNE, 0, 0);
	hu_status st = hu_sum_unit_takes_all(&r->sum, 0, x, f[0].count, "operand a");
	if (st == HU_OK)
		st = hu_sum_unit_takes_all(&r->sum, 1, y, f[1].count, "operand b");
	if (st == HU_OK && r->nin == 3)
		st = hu_sum_unit_takes_all(&r->sum, 2, c, rows, "operand c");
	if (st != HU_OK) {
		free(x);
		free(r->exact);
		r->exact = NULL;
		return st;
	}
	hu_rowdot d = { k, x, y, r->nin == 3 ? c : NULL, r->sum, r->out.id, r->env.seed, r->call.mode };
	r->roundings = hu_rowdot_roundings(&d);
#pragma omp parallel for schedule(dynamic, 64)
	for (size_t i = 0; i < rows; i++) {
		r->value[i] = hu_rowdot_value(&d, i);
		if (judged) {
			mpfr_init(r->exact[i]);
			hu_rowdot_exact(&d, i, r->exact[i]);
			r->bound[i] = hu_rowdot_bound(&d, i);
			r->magnitude[i] = hu_rowdot_magnitude(&d, i);
		}
	}
	free(x);
	return HU_OK;
}
