/* SPDX-License-Identifier: Apache-2.0
   The references of batchnorm and layernorm: sums of products are formed without rounding. */
#include "lib/op/norm.h"


void
hu_norm_exact_init(hu_norm_exact *e, const hu_tensor *x)
{
	mpfr_inits2(hu_sum_bits(x), e->mean, e->var, e->rstd, e->t, (mpfr_ptr)NULL);
	e->group = (size_t)-1;
}

void
hu_norm_exact_clear(hu_norm_exact *e)
{
	mpfr_clears(e->mean, e->var, e->rstd, e->t, (mpfr_ptr)NULL);
}

void
hu_norm_group(const hu_tensor *x, hu_how how, size_t group, size_t *first, size_t *n, size_t *stride)
{
	size_t C = hu_last(x->shape);

	*first = how == HU_CHANNEL ? group : group * C;
	*stride = how == HU_CHANNEL ? C : 1;
	*n = how == HU_CHANNEL ? x->n / C : C;
}

/* var = (n sum(x^2) - sum(x)^2) / n^2: one rounding */
void
hu_norm_exact_of(hu_norm_exact *e, const hu_tensor *x, hu_how how, size_t group, double eps)
{
	size_t first, n, stride;

	if (e->group == group)
		return;
	e->group = group;
	hu_norm_group(x, how, group, &first, &n, &stride);
	mpfr_set_zero(e->mean, 1);
	mpfr_set_zero(e->var, 1);
	for (size_t i = 0; i < n; i++) {
		mpfr_set_d(e->t, hu_get(x, first + i * stride), MPFR_RNDN);
		mpfr_add(e->mean, e->mean, e->t, MPFR_RNDN);
		mpfr_sqr(e->t, e->t, MPFR_RNDN);
		mpfr_add(e->var, e->var, e->t, MPFR_RNDN);
	}
	mpfr_mul_ui(e->var, e->var, n, MPFR_RNDN);
	mpfr_sqr(e->t, e->mean, MPFR_RNDN);
	mpfr_sub(e->var, e->var, e->t, MPFR_RNDN);
	mpfr_div_ui(e->var, e->var, n, MPFR_RNDN);
	mpfr_div_ui(e->var, e->var, n, MPFR_RNDN);
	mpfr_div_ui(e->mean, e->mean, n, MPFR_RNDN);
	mpfr_add_d(e->rstd, e->var, eps, MPFR_RNDN);
	mpfr_rec_sqrt(e->rstd, e->rstd, MPFR_RNDN);
}

void
hu_norm_exact_apply(const hu_norm_exact *e, double x, double gamma, double beta, mpfr_t y)
{
	mpfr_set_prec(y, mpfr_get_prec(e->mean));
	mpfr_set_d(y, x, MPFR_RNDN);
	mpfr_sub(y, y, e->mean, MPFR_RNDN);
	mpfr_mul(y, y, e->rstd, MPFR_RNDN);
	mpfr_mul_d(y, y, gamma, MPFR_RNDN);
	mpfr_add_d(y, y, beta, MPFR_RNDN);
}

/* y = (x - mean) rstd of element I, from the recorded statistics; and the group of the element. */
static size_t
normal(hu_tensor *const *in, hu_how how, size_t i, mpfr_t y)
{
	size_t C = hu_last(in[0]->shape), g = how == HU_CHANNEL ? i % C : i / C;

	mpfr_set_d(y, hu_get(in[0], i), MPFR_RNDN);
	mpfr_sub_d(y, y, hu_get(in[2], g), MPFR_RNDN);
	mpfr_mul_d(y, y, hu_get(in[3], g), MPFR_RNDN);
	return g;
}

void
hu_norm_exact_db(hu_tensor *const *in, hu_how how, size_t channel, int times_xhat, mpfr_t y)
{
	size_t C = hu_last(in[0]->shape);
	mpfr_t t;

	mpfr_init2(t, hu_sum_bits(in[0]));
	mpfr_set_prec(y, hu_sum_bits(in[0]));
	mpfr_set_zero(y, 1);
	for (size_t i = channel; i < in[0]->n; i += C) {
		if (times_xhat)
			normal(in, how, i, t);
		else
			mpfr_set_ui(t, 1, MPFR_RNDN);
		mpfr_mul_d(t, t, hu_get(in[4], i), MPFR_RNDN);
		mpfr_add(y, y, t, MPFR_RNDN);
	}
	mpfr_clear(t);
}

/* gamma dy of element I */
static void
upstream(hu_tensor *const *in, size_t i, mpfr_t y)
{
	mpfr_set_d(y, hu_get(in[4], i), MPFR_RNDN);
	mpfr_mul_d(y, y, hu_get(in[1], i % hu_last(in[0]->shape)), MPFR_RNDN);
}

void
hu_norm_exact_dx(hu_norm_exact *e, hu_tensor *const *in, hu_how how, size_t i, mpfr_t y)
{
	size_t C = hu_last(in[0]->shape), group = how == HU_CHANNEL ? i % C : i / C, first, n, stride;

	hu_norm_group(in[0], how, group, &first, &n, &stride);
	if (e->group != group) { /* mean: mean(g); var: mean(g xhat) */
		e->group = group;
		mpfr_set_zero(e->mean, 1);
		mpfr_set_zero(e->var, 1);
		for (size_t k = first, j = 0; j < n; j++, k += stride) {
			upstream(in, k, e->t);
			mpfr_add(e->mean, e->mean, e->t, MPFR_RNDN);
			normal(in, how, k, e->rstd);
			mpfr_mul(e->t, e->t, e->rstd, MPFR_RNDN);
			mpfr_add(e->var, e->var, e->t, MPFR_RNDN);
		}
		mpfr_div_ui(e->mean, e->mean, n, MPFR_RNDN);
		mpfr_div_ui(e->var, e->var, n, MPFR_RNDN);
	}
	mpfr_set_prec(y, hu_sum_bits(in[0]));
	upstream(in, i, y);
	mpfr_sub(y, y, e->mean, MPFR_RNDN);
	normal(in, how, i, e->t);
	mpfr_mul(e->t, e->t, e->var, MPFR_RNDN);
	mpfr_sub(y, y, e->t, MPFR_RNDN);
	mpfr_mul_d(y, y, hu_get(in[3], group), MPFR_RNDN);
}
