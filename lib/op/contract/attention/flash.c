/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/op/contract/attention/flash.h"

#include "lib/op/attr.h"
#include "lib/op/contract/attention/settled.h"
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
	x->held = hu_attr_num(c, "stored", 0) != 0 ? hu_format_of(c->fmt.out) : x->f;
	if (binary) {
		x->base = 0x1.715476p0; /* log2 e and ln 2, rounded to fp32 */
		x->back = 0x1.62e43p-1;
	}
	x->scale = hu_rne(x->f, x->a.factor * (binary ? 0x1.71547652b82fep0 : 1));
	HU_TRY(hu_flash_check(c));
	x->start = c->sum.id == HU_SUM_TC                   ? HU_FLASH_ACCUMULATOR
		   : hu_sum_model_of(c->sum.id)->from_start ? HU_FLASH_TERM
							    : HU_FLASH_LAST;
	HU_TRY(hu_sum_resolve(&x->inner, in[0]->format, in[1]->format, c->fmt.acc));
	return hu_sum_resolve(&x->outer, x->narrow.id, in[2]->format, c->fmt.acc);
}

hu_status
hu_flash_settle(hu_flash_settled *y, const hu_call *c, const hu_format_id *format, const hu_shape *in, int gradient)
{
	hu_tensor t[7], *pt[7];
	hu_flash x;

	for (int k = 0; k < c->nin && k < 7; k++) {
		t[k] = (hu_tensor){ .format = format[k], .shape = in[k], .n = hu_count(in[k]) };
		pt[k] = &t[k];
	}
	HU_TRY(hu_flash_of(&x, c, pt, gradient));
	*y = (hu_flash_settled){ x.f, x.narrow, x.held, x.inner, x.outer, x.start, x.scale, x.base, x.back,
		hu_rne(x.f, x.a.factor), x.a.Q, x.a.repeat, x.a.L, x.a.S, x.a.E, x.a.V, x.block,
		x.a.mask >= 0 && t[x.a.mask].n != x.a.L * x.a.S ? x.a.L * x.a.S : 0, x.a.mask, x.a.causal };
	return HU_OK;
}

double
hu_flash_exp(const hu_flash *x, double y)
{
	return hu_flash_power(x->f, y);
}

double
hu_flash_lanes(const hu_flash *x, const double *p, const double *by, size_t n)
{
	return hu_flash_four(x->f, p, by, n);
}

/* The sum of n products by model s, rounded to the compute format; from *start on where that is given. a and b have an
   element in front, which is overwritten. */
double
hu_flash_product(const hu_flash *x, hu_sum s, double *a, double *b, size_t n, const double *start)
{
	return start ? hu_flash_goes_on(x->f, s, x->start, a, b, n, *start)
		     : hu_flash_products(x->f, s, a + 1, b + 1, n);
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
