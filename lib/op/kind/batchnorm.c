/* SPDX-License-Identifier: Apache-2.0
   batchnorm: y = (x - mean) / sqrt(var + eps) gamma + beta with each channel's own statistics over the batch, which
   also update the running statistics. With unbiased=1 the variance that the running one takes in is the sum of squares
   over n - 1 and not over n, as in PyTorch. */
#include "lib/op/reduce/norm.h"

#define BLEND(S, T) out[0][i] = hu_blend##S(c, in[0][i], in[1][i])
HU_BLOCKS(blend, BLEND, NULL)

/* Running statistic out, 3 or 4, after it was updated by this batch's fresh one. */
static hu_stat
moved(const hu_call *c, hu_tensor *const *in, int out, const hu_stat *fresh, int with_errors)
{
	const hu_tensor *old = in[out];
	hu_stat s = hu_stat_new(old->n, with_errors);
	hu_map m;

	hu_map_init(&m, c, &blend, old->n, 1);
	hu_map_add(&m, old, HU_EACH);
	hu_map_add_stat(&m, fresh, HU_EACH);
	m.nk = 3;
	m.k[1] = hu_attr_num(c, "momentum", 0.99);
	m.k[2] = hu_norm_rest(c, out, in[0]->n / old->n);
	m.ke[2] = 4 * hu_bounded_own(m.k[2]);   /* of three operations */
	hu_map_stat(&m, &s, 1);
	return s;
}

/* Stores the running statistics after this batch's, s. */
static void
store_moved(const hu_call *c, hu_tensor *const *in, hu_tensor *const *out, const hu_env *env, const hu_norm *s)
{
	for (int k = 3; k < c->nout; k++) {
		hu_stat next = moved(c, in, k, k == 3 ? &s->mean : &s->var, 0);
		hu_stat_store(c, env, &next, out[k]);
		hu_stat_free(&next);
	}
}

static hu_status
emulate(const hu_call *c, hu_tensor *const *in, hu_tensor *const *out, const hu_env *env)
{
	hu_norm s = hu_norm_new(c, in[0], HU_CHANNEL, 0);

	hu_norm_emulate(c, in, out, env, &s);
	store_moved(c, in, out, env, &s);
	hu_norm_free(&s);
	return HU_OK;
}

static hu_status
carry(const hu_call *c, hu_tensor *const *in, hu_tensor *const *out, const hu_env *env)
{
	hu_norm s = hu_norm_new(c, in[0], HU_CHANNEL, 0);

	store_moved(c, in, out, env, &s);
	hu_norm_free(&s);
	return HU_OK;
}

static hu_status
bound(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, double *b)
{
	if (out < 3)
		return hu_family_norm.bound(c, in, out, element, n, b);
	hu_norm s = hu_norm_new(c, in[0], HU_CHANNEL, 1);
	hu_stat next = moved(c, in, out, out == 3 ? &s.mean : &s.var, 1);
	hu_stat_bound(c, hu_output_format(c, in, out), &next, element, n, b);
	hu_stat_free(&next);
	hu_norm_free(&s);
	return HU_OK;
}

/* Encloses the running statistic that moved() emulates. */
static hu_status
enclose_moved(const hu_call *c, hu_tensor *const *in, int out, const hu_stat_dd *fresh, const hu_stat *run,
	const size_t *element, size_t n, hu_sink *sink)
{
	double momentum = hu_attr_num(c, "momentum", 0.99);
	size_t rows = in[0]->n / in[out]->n;
	hu_stat next = { .e = NULL };
	hu_stat_dd s;
	hu_map m;

	hu_stat_dd_init(&s, in[out]->n);
	hu_map_init(&m, c, &blend, in[out]->n, 1);
	hu_map_add(&m, in[out], HU_EACH);
	hu_map_add_dd(&m, fresh, HU_EACH);
	m.k[1] = momentum;
	hu_dd rest = hu_dd_sub(hu_dd_of(1), hu_dd_of(momentum));
	if (out == 4 && hu_attr_num(c, "unbiased", 0))
		rest = hu_dd_div(hu_dd_mul(rest, hu_dd_of((double)rows)), hu_dd_of((double)rows - 1));
	hu_map_certify(&m, 2, rest);
	hu_map_stat_dd(&m, in, sink, &s, 1);
	if (run)
		next = moved(c, in, out, run, 1);
	hu_status st =
		hu_stat_enclose(c, in, out, hu_output_format(c, in, out), &s, run ? &next : NULL, element, n, sink);
	if (run)
		hu_stat_free(&next);
	hu_stat_dd_release(&s);
	return st;
}

static hu_status
enclose(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, hu_sink *sink)
{
	if (hu_norm_is_narrow(c, out, sink))
		return hu_norm_narrowed(c, in, out, sink, enclose);
	if (out < 3)
		return hu_family_norm.enclose(c, in, out, element, n, sink);
	hu_norm_memo *k = hu_norm_remember(c, in, HU_CHANNEL, sink);
	return enclose_moved(c, in, out, out == 3 ? &k->exact.mean : &k->exact.var,
		k->bounds ? (out == 3 ? &k->run.mean : &k->run.var) : NULL, element, n, sink);
}

static hu_status
reference(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, mpfr_t *exact)
{
	double momentum = hu_attr_num(c, "momentum", 0.99), eps = hu_norm_eps(c);
	size_t rows = in[0]->n / hu_last(in[0]->shape);
	hu_norm_exact e;

	if (out < 3)
		return hu_family_norm.reference(c, in, out, element, n, exact);
	hu_norm_exact_init(&e, in[0]);
	for (size_t i = 0; i < n; i++) {
		hu_norm_exact_of(&e, in[0], HU_CHANNEL, element[i], eps);
		mpfr_set_prec(exact[i], hu_sum_bits(in[0]));
		mpfr_set_d(exact[i], momentum, MPFR_RNDN);
		mpfr_ui_sub(exact[i], 1, exact[i], MPFR_RNDN);
		mpfr_mul(exact[i], exact[i], out == 3 ? e.mean : e.var, MPFR_RNDN);
		if (out == 4 && hu_attr_num(c, "unbiased", 0)) {
			mpfr_mul_ui(exact[i], exact[i], rows, MPFR_RNDN);
			mpfr_div_ui(exact[i], exact[i], rows - 1, MPFR_RNDN);
		}
		mpfr_set_d(e.t, momentum, MPFR_RNDN);
		hu_exact_get(e.x, in[out], element[i]);
		mpfr_mul(e.t, e.t, e.x, MPFR_RNDN);
		mpfr_add(exact[i], exact[i], e.t, MPFR_RNDN);
	}
	hu_norm_exact_clear(&e);
	return HU_OK;
}

static hu_status
shape(const hu_call *c, const hu_shape *in, hu_shape *out)
{
	size_t C = hu_last(in[0]);

	if (in[0].rank < 2 || !hu_count(in[0]))
		return hu_fail(HU_EINVAL, "batchnorm: the input must have rank 2 or more");
	for (int k = 1; k < 5; k++)
		HU_TRY(hu_shape_length(c, k, in[k], C));
	HU_TRY(hu_shape_settle(c, 0, out, in[0]));
	for (int k = 1; k < 5; k++)
		HU_TRY(hu_shape_settle(c, k, out, hu_shape1(C)));
	return HU_OK;
}

static void
cost(const hu_call *c, const hu_shape *in, const hu_shape *out, hu_cost *k)
{
	(void)out;
	/* A running statistic is the sum of two products. */
	k->flops = 8.0 * (double)hu_count(in[0]) +
		   (5.0 + (c->nout > 3 ? 3.0 * (c->nout - 3) : 0)) * (double)hu_last(in[0]);
}

static const hu_grad grad[] = {
	{ "batchnorm_dx", "i0 i1 o1 o2 d0", "i0 i1 i2", NULL, NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

const hu_op hu_op_batchnorm = {
	.name = "batchnorm", .summary = "normalises each channel over the batch", .min_in = 5, .max_in = 5,
	.nout = 5, .attrs = "eps momentum unbiased", .cls = HU_CLASS_NORM, .parity = HU_PARITY_EXACT, .like = "---34",
	.carried = 3,
	.undefined = HU_UNDEFINED_DIVISION,
	.own = {
		.shape = shape, .cost = cost, .emulate = emulate, .reference = reference, .bound = bound,
		.carry = carry,
		.enclose = enclose,
	},
	.family = &hu_family_norm, .norm = &(hu_norm_own){ .how = HU_CHANNEL },
	.grad = grad,
};
