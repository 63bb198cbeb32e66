/* SPDX-License-Identifier: Apache-2.0
   What every way of computing a product needs: the call's sizes and index maps, rows and columns of its operands as
   doubles, and the stores of finished sums, each rounded once to the output's format. */
#include "lib/op/contract/contract.h"

#include "lib/base/hash.h"
#include "lib/number/bulk/bulk.h"
#include "lib/number/draw.h"

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

hu_status
hu_contract_settle(hu_call *settled, const hu_call *c, hu_tensor *const *in)
{
	*settled = *c;
	return hu_sum_resolve(&settled->sum, in[0]->format, in[1]->format, c->fmt.acc);
}

void
hu_contract_row(const hu_contract *c, size_t m, double *a)
{
	for (size_t k = 0; k < c->k;) {
		hu_stretch s = c->row(c, m, k);
		for (size_t i = 0; i < s.length; i++)
			a[k + i] = s.offset < 0 ? 0.0 : hu_get(c->a, (size_t)s.offset + i * s.stride);
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

void
hu_contract_store(
	const hu_call *c, hu_tensor *y, size_t first, size_t n, const double *v, double scale, const hu_env *env)
{
	hu_stream random = { env->seed, hu_fnv1a32(c->seed_name), env->step };

	if (hu_is_wide(y->format)) {
		double *to = (double *)y->data + first;
		for (size_t i = 0; i < n; i++)
			to[i] = hu_isnan(v[i]) ? hu_nan() : v[i] / scale;
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
	hu_stream random = { env->seed, hu_fnv1a32(c->seed_name), env->step };
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
	hu_bulk_round((float *)y->data + first, v, n, y->format, c->mode, c->flags, &random, first);
}
