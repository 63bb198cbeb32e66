/* SPDX-License-Identifier: Apache-2.0
   adam_clock: advances (t, beta1^t, beta2^t) by one step, or keeps them if found_inf is set. At t = 0 the powers count
   as 1 whatever is stored, so that zeros are a valid start. */
#include "lib/op/element/map.h"

/* Element i before the step, with 1 for the powers at t = 0. */
static double
before(hu_tensor *const *in, size_t i)
{
	return i && hu_get(in[0], 0) == 0 ? 1 : hu_get(in[0], i);
}

static double
factor(const hu_call *c, size_t i)
{
	return i == 1 ? hu_attr_num(c, "beta1", 0.9) : hu_attr_num(c, "beta2", 0.999);
}

static hu_bounded
next(const hu_call *c, hu_tensor *const *in, size_t i)
{
	hu_format f = hu_format_of(c->fmt.compute);
	hu_bounded x = hu_bounded_load(f, before(in, i), 0);

	if (hu_get(in[1], 0) != 0)
		return hu_bounded_load(f, hu_get(in[0], i), 0);
	return i == 0 ? hu_bounded_add(f, x, hu_bounded_load(f, 1, 0))
		      : hu_bounded_mul(f, x, hu_bounded_load(f, factor(c, i), 0));
}

static hu_status
emulate(const hu_call *c, hu_tensor *const *in, hu_tensor *const *out, const hu_env *env)
{
	double x[3];

	for (size_t i = 0; i < 3; i++)
		x[i] = next(c, in, i).v;
	for (size_t i = 0; i < 3; i++)
		hu_store(c, env, out[0], i, x[i]);
	return HU_OK;
}

static hu_status
reference(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, mpfr_t *exact)
{
	(void)out;
	for (size_t k = 0; k < n; k++) {
		size_t i = element[k];
		int found = hu_get(in[1], 0) != 0;
		mpfr_set_prec(exact[k], HU_EXACT_BITS);
		if (!found && i && hu_get(in[0], 0) == 0)
			mpfr_set_ui(exact[k], 1, MPFR_RNDN);
		else
			hu_exact_get(exact[k], in[0], i);
		if (found)
			continue;
		if (i == 0)
			mpfr_add_ui(exact[k], exact[k], 1, MPFR_RNDN);
		else
			mpfr_mul_d(exact[k], exact[k], factor(c, i), MPFR_RNDN);
	}
	return HU_OK;
}

static hu_status
bound(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, double *b)
{
	for (size_t k = 0; k < n; k++)
		b[k] = hu_bound_of(c, hu_output_format(c, in, out), next(c, in, element[k]));
	return HU_OK;
}

static hu_status
enclose(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, hu_sink *sink)
{
	hu_dd v[3];

	for (size_t k = 0; k < n; k++) {
		size_t i = element ? element[k] : k;
		hu_dd x = i && hu_get(in[0], 0) == 0 && hu_get(in[1], 0) == 0 ? hu_dd_of(1)
									      : hu_operand_dd(sink, in, 0, i);
		v[k] = hu_get(in[1], 0) != 0 ? x
		       : i == 0              ? hu_dd_add(x, hu_dd_of(1))
					     : hu_dd_mul(x, hu_dd_of(factor(c, i)));
	}
	return hu_enclose_list(c, in, out, element, n, sink, v, NULL);
}

static hu_status
shape(const hu_call *c, const hu_shape *in, hu_shape *out)
{
	HU_TRY(hu_shape_length(c, 0, in[0], 3));
	HU_TRY(hu_shape_length(c, 1, in[1], 1));
	return hu_shape_settle(c, 0, out, in[0]);
}

static void
cost(const hu_call *c, const hu_shape *in, const hu_shape *out, hu_cost *k)
{
	(void)c;
	(void)in;
	(void)out;
	k->flops = 3;
}

const hu_op hu_op_adam_clock = {
	.name = "adam_clock", .summary = "counts Adam's steps and the powers of its betas", .min_in = 2,
	.max_in = 2, .nout = 1, .attrs = "beta1 beta2", .cls = HU_CLASS_FIXED, .parity = HU_PARITY_EXACT,
	.own = {
		.shape = shape, .cost = cost, .emulate = emulate, .reference = reference, .bound = bound,
		.enclose = enclose,
	},
};
