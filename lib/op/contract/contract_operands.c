/* SPDX-License-Identifier: Apache-2.0
   What every way of computing a product needs: the call's sizes and index maps, rows and columns of its operands as
   doubles, and the stores of finished sums, each rounded once to the output's format. */
#include "lib/op/contract/contract.h"

#include "lib/base/hash.h"
#include "lib/number/bulk/bulk.h"
#include "lib/number/draw.h"
#include "lib/sum/model/row.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t
hu_same(size_t n, size_t k, size_t stride, ptrdiff_t *before)
{
	size_t out = (n + stride - 1) / stride, need = (out - 1) * stride + k;

	*before = need > n ? (ptrdiff_t)((need - n) / 2) : 0;
	return out;
}

void
hu_contract_describe(hu_contract *x, const hu_call *c, const hu_shape *in)
{
	memset(x, 0, sizeof *x);
	c->op->contract->map(x, c, in);
	x->terms = x->k;
	x->shares = x->shares ? x->shares : 1;
	if (x->batches > 1)
		return;
	x->batches = 1;
	x->row_step = x->n;
	x->batch_step = x->m * x->n;
}

size_t
hu_contract_products(const hu_contract *whole)
{
	return whole->batches * whole->shares;
}

hu_contract
hu_contract_product(const hu_contract *whole, size_t i)
{
	hu_contract x = *whole;

	x.batch = i / whole->shares;
	if (whole->shares > 1)
		x.share(&x, i % whole->shares);
	return x;
}

size_t
hu_contract_at(const hu_contract *x, size_t m)
{
	return x->batch * x->batch_step + (x->shares > 1 ? x->place(x, m) : m) * x->row_step;
}

size_t
hu_contract_row_of(const hu_contract *x, size_t e, size_t *batch, size_t *n)
{
	size_t m = x->row_step > x->batch_step ? e / x->row_step : e % x->batch_step / x->row_step;

	*batch = x->row_step > x->batch_step ? e % x->row_step / x->batch_step : e / x->batch_step;
	*n = e - *batch * x->batch_step - m * x->row_step;
	return m;
}

size_t
hu_contract_find(const hu_contract *whole, size_t e, hu_contract *one, size_t *n)
{
	size_t batch, share = 0, m = hu_contract_row_of(whole, e, &batch, n);

	if (whole->shares > 1)
		m = whole->owner(whole, m, &share);
	*one = hu_contract_product(whole, batch * whole->shares + share);
	return m;
}

void
hu_contract_open(hu_contract *x, const hu_call *c, hu_tensor *const *in)
{
	hu_shape shapes[4];

	for (int i = 0; i < c->nin && i < 4; i++)
		shapes[i] = in[i]->shape;
	hu_contract_describe(x, c, shapes);
	x->a = in[0];
	x->b = in[1];
	x->scale = c->nin == 4 ? hu_get(in[2], 0) * hu_get(in[3], 0) : 1;
}

/* Refuses operands of which the unit does not hold an element. */
static hu_status
held(const hu_call *c, hu_tensor *const *in)
{
	const hu_sum_unit *unit = hu_sum_model_of(c->sum.id)->unit;
	char what[192];

	for (int j = 0; unit && unit->holds && j < 2; j++) {
		snprintf(what, sizeof what, "%s %s, operand %c", c->op->name, c->layer, "ab"[j]);
		for (size_t i = 0; i < in[j]->n; i++)
			HU_TRY(hu_sum_unit_takes(&c->sum, j, hu_get(in[j], i), what, i));
	}
	return HU_OK;
}

hu_status
hu_contract_settle(hu_call *settled, const hu_call *c, hu_tensor *const *in)
{
	*settled = *c;
	HU_TRY(hu_sum_resolve(&settled->sum, in[0]->format, in[1]->format, c->fmt.acc));
	return held(settled, in);
}

void
hu_contract_row(const hu_contract *c, size_t m, double *a)
{
	for (size_t k = 0; k < c->k;) {
		hu_stretch s = c->row(c, m, k);
		const float *from = (const float *)c->a->data + (s.offset < 0 ? 0 : s.offset);
		if (s.offset < 0)
			memset(a + k, 0, s.length * sizeof *a);
		else if (hu_is_wide(c->a->format))
			for (size_t i = 0; i < s.length; i++)
				a[k + i] = ((const double *)c->a->data)[(size_t)s.offset + i * s.stride];
		else
			for (size_t i = 0; i < s.length; i++)
				a[k + i] = (double)from[i * s.stride];
		k += s.length;
	}
}

void
hu_contract_column(const hu_contract *c, size_t n, double *b)
{
	for (size_t k = 0; k < c->k; k++)
		b[k] = hu_get(c->b, c->column(c, k) + n * c->column_stride);
}

void
hu_contract_gather(const hu_contract *c, size_t m, size_t n, double *a, double *b)
{
	hu_contract_row(c, m, a);
	hu_contract_column(c, n, b);
}

/* How operands are packed into panels: where rows or columns are contiguous in memory, or neighbours of each other,
   whole lines of the cache are moved. */
enum { MOST_ROWS = 16, MOST_COLUMNS = 32 };
static const float zeros[HU_PACK_TERMS];

/* Whether the rows are neighbours in memory, so that one term of all of them is contiguous. */
static int
neighbours(const hu_stretch *s, size_t rows)
{
	for (size_t i = 0; i < rows; i++)
		if (s[i].offset < 0 || s[i].offset != s[0].offset + (ptrdiff_t)i || s[i].stride != s[0].stride)
			return 0;
	return 1;
}

static int
contiguous(const hu_stretch *s, size_t rows)
{
	for (size_t i = 0; i < rows; i++)
		if (s[i].offset >= 0 && s[i].stride != 1)
			return 0;
	return 1;
}

/* Packs the first terms of each stretch. */
static void
pack(const hu_panel *kernel, const float *a, const hu_stretch *s, size_t rows, size_t terms, float *to)
{
	size_t mr = kernel->mr;

	if (rows > 1 && contiguous(s, rows)) {
		const float *row[MOST_ROWS];
		for (size_t i = 0; i < mr; i++)
			row[i] = i < rows && s[i].offset >= 0 ? a + s[i].offset : zeros;
		kernel->interleave(mr, terms, row, to);
	} else if (neighbours(s, rows)) {
		const float *from = a + s[0].offset;
		for (size_t k = 0; k < terms; k++, to += mr, from += s[0].stride) {
			for (size_t i = 0; i < rows; i++)
				to[i] = from[i];
			for (size_t i = rows; i < mr; i++)
				to[i] = 0;
		}
	} else {
		for (size_t i = 0; i < mr; i++) {
			int outside = i >= rows || s[i].offset < 0;
			for (size_t k = 0; k < terms; k++)
				to[k * mr + i] = outside ? 0 : a[(size_t)s[i].offset + k * s[i].stride];
		}
	}
}

void
hu_contract_pack_rows(const hu_contract *x, const hu_panel *kernel, size_t m0, size_t rows, size_t k0, size_t kc,
	float *to)
{
	hu_stretch s[MOST_ROWS] = { { 0, 0, 0 } };

	rows = rows < kernel->mr ? rows : kernel->mr;
	for (size_t k = 0, terms; k < kc; k += terms, to += terms * kernel->mr) {
		terms = kc - k;
		for (size_t i = 0; i < rows; i++) {
			if (!s[i].length)
				s[i] = x->row(x, m0 + i, k0 + k);
			terms = s[i].length < terms ? s[i].length : terms;
		}
		pack(kernel, x->a->data, s, rows, terms, to);
		for (size_t i = 0; i < rows; i++) {
			s[i].length -= terms;
			s[i].offset += s[i].offset < 0 ? 0 : (ptrdiff_t)(terms * s[i].stride);
		}
	}
}

/* How many terms from k on lie one after another in each column, at most HU_PACK_TERMS. */
static size_t
run(const hu_contract *x, size_t k)
{
	size_t most = x->k - k < HU_PACK_TERMS ? x->k - k : HU_PACK_TERMS, from = x->column(x, k), n = 1;

	while (n < most && x->column(x, k + n) == from + n)
		n++;
	return n;
}

void
hu_contract_pack_columns(const hu_contract *x, const hu_panel *kernel, size_t n0, float *to)
{
	size_t nr = kernel->nr32, cols = x->n - n0 < nr ? x->n - n0 : nr, step = x->column_stride;
	const float *b = x->b->data;

	for (size_t k = 0, terms; k < x->k; k += terms, to += terms * nr) {
		const float *from = b + x->column(x, k) + n0 * step;
		terms = 1;
		if (step == 1 && cols == nr) {
			memcpy(to, from, nr * sizeof *to);
		} else if (step > 1 && (terms = run(x, k)) > 1) {
			const float *column[MOST_COLUMNS];
			for (size_t j = 0; j < nr; j++)
				column[j] = j < cols ? from + j * step : zeros;
			kernel->interleave(nr, terms, column, to);
		} else {
			for (size_t j = 0; j < nr; j++)
				to[j] = j < cols ? from[j * step] : 0;
		}
	}
}

void
hu_contract_store(
	const hu_call *c, hu_tensor *y, size_t first, size_t n, const double *v, double scale, const hu_env *env)
{
	hu_stream random = { env->seed, hu_mode_draws(c->mode) ? hu_fnv1a32(c->seed_name) : 0, env->step };

	if (hu_is_wide(y->format)) {
		double *to = (double *)y->data + first;
		for (size_t i = 0; i < n; i++)
			to[i] = hu_isnan(v[i]) ? hu_nan() : v[i] / scale;
		return;
	}
	if (y->format == HU_FP32 && c->mode == HU_RNE && !c->flags) { /* the processor's own rounding */
		float *to = (float *)y->data + first;
		for (size_t i = 0; i < n; i++) {
			double q = v[i] / scale;
			to[i] = hu_isnan(q) ? (float)hu_nan() : (float)q;
		}
		return;
	}
	hu_format f = hu_format_of(y->format);
	for (size_t i = 0; i < n; i++)
		((float *)y->data)[first + i] =
			(float)hu_round_drawn(v[i] / scale, f, c->mode, c->flags, random, first + i);
}

/* Finishes a row of fp32 accumulators. Dividing by a power of two is exact except at the ends of the range, where the
   single rounding must be that of the exact quotient. */
void
hu_contract_finish(
	const hu_contract *x, const hu_call *c, hu_tensor *y, size_t first, size_t n, float *v, const hu_env *env)
{
	hu_stream random = { env->seed, hu_mode_draws(c->mode) ? hu_fnv1a32(c->seed_name) : 0, env->step };
	int exact = !hu_is_wide(y->format);

	for (size_t i = 0; i < n && x->scale != 1 && exact; i++) {
		float q = (float)((double)v[i] / x->scale);
		exact = v[i] != v[i] || (double)q * x->scale == (double)v[i];
	}
	if (!exact) {
		for (size_t i = 0; i < n; i++) {
			double d = v[i];
			hu_contract_store(c, y, first + i, 1, &d, x->scale, env);
		}
		return;
	}
	for (size_t i = 0; i < n && x->scale != 1; i++)
		v[i] = (float)((double)v[i] / x->scale);
	/* For rows of a few columns even to look for the last plan takes longer: 7 % of a step of unet. */
	if (y->format == HU_FP32 && !c->flags) {
		float *to = (float *)y->data + first, nan = (float)hu_nan();
		for (size_t i = 0; i < n; i++)
			to[i] = v[i] == v[i] ? v[i] : nan;
		return;
	}
	hu_bulk_round((float *)y->data + first, v, n, y->format, c->mode, c->flags, &random, first);
}
