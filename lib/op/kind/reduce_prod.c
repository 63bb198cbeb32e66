/* SPDX-License-Identifier: Apache-2.0
   reduce_prod: y = the product of x over some axes: 1, times each element in row-major order, rounded each time. */
#include "lib/op/axis/axes.h"

#include "lib/base/mem.h"
#include "lib/base/thread.h"
#include "lib/op/performed.h"

#include <stdlib.h>

static hu_status
emulate(const hu_call *c, hu_tensor *const *in, hu_tensor *const *out, const hu_env *env)
{
	hu_format f = hu_format_of(c->fmt.compute);
	hu_groups g = hu_axes_groups0(c, in);
	size_t n = hu_groups_size(&g);

#pragma omp parallel for schedule(static) num_threads(hu_threads()) if (in[0]->n > 16384)
	for (size_t k = 0; k < out[0]->n; k++) {
		size_t first, stride;
		double y = 1;
		hu_groups_place(&g, k, &first, &stride);
		for (size_t i = 0; i < n; i++)
			y = hu_rne(f, y * hu_rne(f, hu_get(in[0], first + i * stride)));
		hu_store(c, env, out[0], k, y);
	}
	hu_performed_operations(in[0]->n);
	return HU_OK;
}

static hu_status
bound(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, double *b)
{
	hu_format f = hu_attr_bounded(c);
	hu_groups g = hu_axes_groups0(c, in);
	size_t size = hu_groups_size(&g), first, stride;

	for (size_t k = 0; k < n; k++) {
		hu_bounded y = { 1, 0 };
		hu_groups_place(&g, element[k], &first, &stride);
		for (size_t i = 0; i < size; i++)
			y = hu_bounded_mul(f, y, hu_bounded_load(f, hu_get(in[0], first + i * stride), 0));
		b[k] = hu_bound_of(c, hu_output_format(c, in, out), y);
	}
	return HU_OK;
}

static hu_status
enclose(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, hu_sink *sink)
{
	hu_groups g = hu_axes_groups0(c, in);
	size_t size = hu_groups_size(&g), first, stride;
	hu_dd *v = hu_xmalloc((n + 1) * sizeof *v);

	for (size_t k = 0; k < n; k++) {
		hu_groups_place(&g, element ? element[k] : k, &first, &stride);
		v[k] = hu_dd_of(1);
		for (size_t i = 0; i < size; i++)
			v[k] = hu_dd_mul(v[k], hu_operand_dd(sink, in, 0, first + i * stride));
	}
	hu_status st = hu_enclose_list(c, in, out, element, n, sink, v, NULL);
	free(v);
	return st;
}

static hu_status
reference(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, mpfr_t *exact)
{
	hu_groups g = hu_axes_groups0(c, in);
	size_t size = hu_groups_size(&g), first, stride;
	mpfr_t x;

	(void)out;
	mpfr_init2(x, HU_EXACT_BITS);
	for (size_t k = 0; k < n; k++) {
		hu_groups_place(&g, element[k], &first, &stride);
		mpfr_set_prec(exact[k], HU_EXACT_BITS);
		mpfr_set_ui(exact[k], 1, MPFR_RNDN);
		for (size_t i = 0; i < size; i++) {
			hu_exact_get(x, in[0], first + i * stride);
			mpfr_mul(exact[k], exact[k], x, MPFR_RNDN);
		}
	}
	mpfr_clear(x);
	return HU_OK;
}

static void
cost(const hu_call *c, const hu_shape *in, const hu_shape *out, hu_cost *k)
{
	(void)c;
	(void)out;
	k->flops = (double)hu_count(in[0]);
}

const hu_op hu_op_reduce_prod = {
	.name = "reduce_prod", .summary = "product over axes", .min_in = 1, .max_in = 1, .nout = 1,
	.attrs = HU_AXES_ATTRS, .cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.float32 = HU_FLOAT32_AUTOCAST | HU_FLOAT32_APEX,
	.own = {
		.shape = hu_axes_shape, .cost = cost, .emulate = emulate, .reference = reference, .bound = bound,
		.enclose = enclose, .grain = hu_op_grain_one,
	},
};
