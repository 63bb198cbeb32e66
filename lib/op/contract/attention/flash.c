/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/op/contract/attention/flash.h"

#include "lib/op/attr.h"
#include "lib/op/contract/attention/exp2.h"
#include "lib/op/element/map.h"
#include "lib/sum/table/model.h"

#include <math.h>

size_t
hu_flash_block(const hu_call *c)
{
	return hu_attr_count(c, "block", 0);
}

hu_status
hu_flash_check(const hu_call *c)
{
	if (hu_flash_block(c) && hu_mode_draws(c->sum.mode))
		return hu_fail(HU_EINVAL,
			"operator %s: mode=%s draws random bits, which the sums of products and all-reduces alone have",
			c->op->name, hu_mode_name(c->sum.mode));
	if (hu_flash_block(c) &&
		(hu_sum_collective(c->sum.id) || (hu_sum_is_unit(c->sum.id) && c->sum.id != HU_SUM_TC)))
		return hu_fail(HU_EINVAL,
			"operator %s: in blocks it adds by tensor cores or by a chain of an accumulator's format, not "
			"by %s",
			c->op->name, hu_sum_name(c->sum.id));
	return HU_OK;
}

hu_status
hu_flash_of(hu_flash *x, const hu_call *c, hu_tensor *const *in, int gradient)
{
	hu_format g = hu_format_of(in[2]->format);
	size_t most;
	int binary;

	*x = (hu_flash){ .a = hu_attention_of(c, in, gradient, NULL),
		.c = c,
		.f = hu_format_of(c->fmt.compute),
		.inner = c->sum,
		.outer = c->sum,
		.block = hu_flash_block(c),
		.base = 1,
		.back = 1 };
	most = x->a.L > x->a.S ? x->a.L : x->a.S; /* longer blocks are one */
	x->block = x->block < most ? x->block : most;
	binary = x->f.id == HU_FP32;
	x->narrow = g.p < x->f.p ? g : x->f;
	if (binary) {
		x->base = 0x1.715476p0; /* log2 e and ln 2, rounded to fp32 */
		x->back = 0x1.62e43p-1;
	}
	x->scale = hu_rne(x->f, x->a.factor * (binary ? 0x1.71547652b82fep0 : 1));
	HU_TRY(hu_flash_check(c));
	HU_TRY(hu_sum_resolve(&x->inner, in[0]->format, in[1]->format, c->fmt.acc));
	return hu_sum_resolve(&x->outer, x->narrow.id, in[2]->format, c->fmt.acc);
}

double
hu_flash_exp(const hu_flash *x, double y)
{
	return x->f.id == HU_FP32 ? (double)hu_flash_exp2((float)y) : hu_rne(x->f, hu_exp(y));
}

/* The sum of n numbers p, or of their products with as many others. Number 8j + 2q and the next are of lane q; a lane
   adds in ascending order, products by fused multiply-adds, and the lanes are (0 + 1) + (2 + 3). */
double
hu_flash_lanes(const hu_flash *x, const double *p, const double *by, size_t n)
{
	double lane[4] = { 0, 0, 0, 0 };

	for (size_t i = 0; i < n; i++) {
		double *to = &lane[i >> 1 & 3];
		*to = hu_model_fma(*to, p[i], by ? by[i] : 1, x->f, HU_RNE, NULL, 0, NULL);
	}
	lane[0] = hu_acc_add(lane[0], lane[1], x->f, HU_RNE, NULL, 0, 0);
	lane[2] = hu_acc_add(lane[2], lane[3], x->f, HU_RNE, NULL, 0, 0);
	return hu_acc_add(lane[0], lane[2], x->f, HU_RNE, NULL, 0, 0);
}

/* The sum of n products by model s, rounded to the compute format; from *start on where that is given. a and b have an
   element in front, which is overwritten. */
double
hu_flash_product(const hu_flash *x, hu_sum s, double *a, double *b, size_t n, const double *start)
{
	double v;

	if (hu_sum_model_of(s.id)->from)
		v = hu_sum_model_of(s.id)->from(a + 1, b + 1, n, start ? *start : 0, s, NULL);
	else if (start && hu_sum_model_of(s.id)->from_start) {
		a[0] = *start;
		b[0] = 1;
		v = hu_model_run(a, b, n + 1, s, NULL, NULL);
	} else {
		v = hu_model_run(a + 1, b + 1, n, s, NULL, NULL);
		if (start)
			v = hu_acc_add(v, *start, hu_part_format(s), HU_RNE, NULL, 0, 0);
	}
	return hu_isnan(v) ? hu_nan() : hu_rne(x->f, v);
}

int
hu_flash_hidden(const hu_flash *x, size_t b, size_t i, size_t j)
{
	const hu_attention *a = &x->a;

	if (a->causal && j > i)
		return 1;
	return a->mask >= 0 && hu_get(a->in[a->mask], hu_attention_mask(a, b, i, j)) == -INFINITY;
}

/* Score j of query i of matrix b, as it is exponentiated. q and k have room for E + 1 numbers. */
double
hu_flash_score(const hu_flash *x, size_t b, size_t i, size_t j, double *q, double *k)
{
	const hu_attention *a = &x->a;
	size_t query = (b * a->L + i) * a->E, key = (b / a->repeat * a->S + j) * a->E;
	double s;

	for (size_t d = 0; d < a->E; d++) {
		q[d + 1] = hu_get(a->in[0], query + d);
		k[d + 1] = hu_get(a->in[1], key + d);
	}
	s = hu_rne(x->f, hu_flash_product(x, x->inner, q, k, a->E, NULL) * x->scale);
	if (a->mask >= 0)
		s = hu_rne(x->f, s + hu_rne(x->f, x->base * hu_get(a->in[a->mask], hu_attention_mask(a, b, i, j))));
	return hu_flash_hidden(x, b, i, j) ? -INFINITY : s;
}
