/* SPDX-License-Identifier: Apache-2.0
   The references of batchnorm and layernorm. Sums of products are formed without rounding. */
#include "lib/op/reduce/exact_sum.h"
#include "lib/op/reduce/norm.h"

void
hu_norm_exact_init(hu_norm_exact *e, const hu_tensor *x)
{
	mpfr_inits2(hu_sum_bits(x), e->mean, e->var, e->rstd, e->t, e->x, (mpfr_ptr)NULL);
	e->group = (size_t)-1;
}

void
hu_norm_exact_clear(hu_norm_exact *e)
{
	mpfr_clears(e->mean, e->var, e->rstd, e->t, e->x, (mpfr_ptr)NULL);
}

/* The first element, number of elements and stride of a group. */
static void
place(const hu_tensor *x, hu_how how, size_t group, size_t *first, size_t *n, size_t *stride)
{
	size_t C = hu_last(x->shape);

	*first = how == HU_CHANNEL ? group : group * C;
	*stride = how == HU_CHANNEL ? C : 1;
	*n = how == HU_CHANNEL ? x->n / C : C;
}

/* var = (n sum(x^2) - sum(x)^2) / n^2, with a single rounding. */
void
hu_norm_exact_of(hu_norm_exact *e, const hu_tensor *x, hu_how how, size_t group, double eps)
{
	size_t first, n, stride;

	if (e->group == group)
		return;
	e->group = group;
	place(x, how, group, &first, &n, &stride);
	hu_exact_sum(e->mean, x, NULL, first, n, stride);
	hu_exact_sum(e->var, x, x, first, n, stride);
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
hu_norm_exact_apply(hu_norm_exact *e, hu_tensor *const *in, size_t i, size_t j, mpfr_t y)
{
	mpfr_set_prec(y, mpfr_get_prec(e->mean));
	hu_exact_get(y, in[0], i);
	mpfr_sub(y, y, e->mean, MPFR_RNDN);
	mpfr_mul(y, y, e->rstd, MPFR_RNDN);
	hu_exact_get(e->x, in[1], j);
	mpfr_mul(y, y, e->x, MPFR_RNDN);
	hu_map_exact_add(y, in[2], j);
}

/* Sets y = (x - mean) rstd of element i from the recorded statistics, and returns the element's group. */
static size_t
normal(hu_tensor *const *in, hu_how how, size_t i, mpfr_t y, mpfr_t x)
{
	size_t C = hu_last(in[0]->shape), g = how == HU_CHANNEL ? i % C : i / C;

	hu_exact_get(y, in[0], i);
	hu_exact_get(x, in[2], g);
	mpfr_sub(y, y, x, MPFR_RNDN);
	hu_exact_get(x, in[3], g);
	mpfr_mul(y, y, x, MPFR_RNDN);
	return g;
}

void
hu_norm_exact_db(hu_tensor *const *in, hu_how how, size_t channel, int times_xhat, mpfr_t y)
{
	size_t C = hu_last(in[0]->shape);
	mpfr_t t, x;

	mpfr_inits2(hu_sum_bits(in[0]), t, x, (mpfr_ptr)NULL);
	mpfr_set_prec(y, hu_sum_bits(in[0]));
	mpfr_set_zero(y, 1);
	for (size_t i = channel; i < in[0]->n; i += C) {
		if (times_xhat)
			normal(in, how, i, t, x);
		else
			mpfr_set_ui(t, 1, MPFR_RNDN);
		hu_exact_get(x, in[4], i);
		mpfr_mul(t, t, x, MPFR_RNDN);
		mpfr_add(y, y, t, MPFR_RNDN);
	}
	mpfr_clears(t, x, (mpfr_ptr)NULL);
}

/* Sets y = gamma dy of element i. */
static void
upstream(hu_tensor *const *in, size_t i, mpfr_t y, mpfr_t x)
{
	hu_exact_get(y, in[4], i);
	hu_exact_get(x, in[1], i % hu_last(in[0]->shape));
	mpfr_mul(y, y, x, MPFR_RNDN);
}

/* Computes both means of a channel, all rows of which share gamma, mean and rstd: Σ g = gamma Σ dy, Σ g xhat = gamma
   rstd (Σ dy x - mean Σ dy). */
static void
channel_means(hu_norm_exact *e, hu_tensor *const *in, size_t group, size_t first, size_t n, size_t stride)
{
	hu_exact_sum(e->mean, in[4], NULL, first, n, stride);
	hu_exact_sum(e->var, in[4], in[0], first, n, stride);
	hu_exact_get(e->t, in[2], group);
	mpfr_mul(e->t, e->t, e->mean, MPFR_RNDN);
	mpfr_sub(e->var, e->var, e->t, MPFR_RNDN);
	hu_exact_get(e->t, in[3], group);
	mpfr_mul(e->var, e->var, e->t, MPFR_RNDN);
	hu_exact_get(e->t, in[1], group);
	mpfr_mul(e->var, e->var, e->t, MPFR_RNDN);
	mpfr_mul(e->mean, e->mean, e->t, MPFR_RNDN);
	mpfr_div_ui(e->mean, e->mean, n, MPFR_RNDN);
	mpfr_div_ui(e->var, e->var, n, MPFR_RNDN);
}

void
hu_norm_exact_dx(hu_norm_exact *e, hu_tensor *const *in, hu_how how, size_t i, mpfr_t y)
{
	size_t C = hu_last(in[0]->shape), group = how == HU_CHANNEL ? i % C : i / C, first, n, stride;

	place(in[0], how, group, &first, &n, &stride);
	if (e->group != group && how == HU_CHANNEL && !in[0]->lows && !in[4]->lows) {
		e->group = group;
		channel_means(e, in, group, first, n, stride);
	} else if (e->group != group) { /* the member mean holds mean(g), and var holds mean(g xhat) */
		e->group = group;
		mpfr_set_zero(e->mean, 1);
		mpfr_set_zero(e->var, 1);
		for (size_t k = first, j = 0; j < n; j++, k += stride) {
			upstream(in, k, e->t, e->x);
			mpfr_add(e->mean, e->mean, e->t, MPFR_RNDN);
			normal(in, how, k, e->rstd, e->x);
			mpfr_mul(e->t, e->t, e->rstd, MPFR_RNDN);
			mpfr_add(e->var, e->var, e->t, MPFR_RNDN);
		}
		mpfr_div_ui(e->mean, e->mean, n, MPFR_RNDN);
		mpfr_div_ui(e->var, e->var, n, MPFR_RNDN);
	}
	mpfr_set_prec(y, hu_sum_bits(in[0]));
	upstream(in, i, y, e->x);
	mpfr_sub(y, y, e->mean, MPFR_RNDN);
	normal(in, how, i, e->t, e->x);
	mpfr_mul(e->t, e->t, e->var, MPFR_RNDN);
	mpfr_sub(y, y, e->t, MPFR_RNDN);
	hu_exact_get(e->x, in[3], group);
	mpfr_mul(y, y, e->x, MPFR_RNDN);
}
