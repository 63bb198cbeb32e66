/* SPDX-License-Identifier: Apache-2.0
   Gradients of the largest and smallest elements along axes. */
#include "lib/op/axis/extreme.h"

#include "lib/base/thread.h"
#include "lib/op/performed.h"

/* The gradient of element i: that of its group in dy, or nothing (-1). */
static ptrdiff_t
source(const hu_call *c, hu_tensor *const *in, const hu_groups *g, size_t i)
{
	size_t group, at;

	hu_axes_find(g, i, &group, &at);
	return hu_extreme_of(c->op->extreme, in[0], g, group) == at ? (ptrdiff_t)group : -1;
}

static hu_status
emulate(const hu_call *c, hu_tensor *const *in, hu_tensor *const *out, const hu_env *env)
{
	hu_groups g = hu_axes_groups0(c, in);
	size_t groups = hu_groups_count(&g), n = hu_groups_size(&g);

#pragma omp parallel for schedule(static) num_threads(hu_threads()) if (in[0]->n > 16384)
	for (size_t k = 0; k < groups; k++) {
		size_t first, stride, best = hu_extreme_of(c->op->extreme, in[0], &g, k);
		hu_groups_place(&g, k, &first, &stride);
		for (size_t i = 0; i < n; i++)
			hu_store(c, env, out[0], first + i * stride, i == best ? hu_get(in[1], k) : 0);
	}
	hu_performed_operations(in[0]->n);
	return HU_OK;
}

static hu_status
reference(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, mpfr_t *exact)
{
	hu_groups g = hu_axes_groups0(c, in);

	(void)out;
	for (size_t i = 0; i < n; i++) {
		ptrdiff_t k = source(c, in, &g, element[i]);
		mpfr_set_prec(exact[i], HU_EXACT_BITS);
		mpfr_set_zero(exact[i], 1);
		if (k >= 0)
			hu_exact_get(exact[i], in[1], (size_t)k);
	}
	return HU_OK;
}

static hu_status
bound(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, double *b)
{
	hu_groups g = hu_axes_groups0(c, in);

	for (size_t i = 0; i < n; i++) {
		ptrdiff_t k = source(c, in, &g, element[i]);
		hu_bounded x = { k < 0 ? 0 : hu_get(in[1], (size_t)k), 0 };
		if (!hu_isfinite(x.v))
			x.e = hu_inf(0);
		b[i] = hu_bound_of(c, hu_output_format(c, in, out), x);
	}
	return HU_OK;
}

/* Where certified operands leave open whether element i wins, its gradient is 0 or its group's. */
static hu_dd
certified(const hu_call *c, hu_tensor *const *in, const hu_sink *sink, const hu_groups *g, size_t i)
{
	const hu_extreme_own *own = c->op->extreme;
	size_t n = hu_groups_size(g), group, at, first, stride;
	ptrdiff_t k = source(c, in, g, i);
	int open = 0;

	hu_axes_find(g, i, &group, &at);
	hu_groups_place(g, group, &first, &stride);
	hu_dd dy = hu_operand_dd(sink, in, 1, group), y = k < 0 ? hu_dd_of(0) : dy;
	if (!sink->low)
		return y;
	size_t best = first + hu_extreme_of(own, in[0], g, group) * stride;
	if (k < 0)
		open = hu_extreme_beyond(own, in, sink, i, best) >= 0;
	for (size_t j = 0; j < n && k >= 0 && !open; j++)
		open = j != at && hu_extreme_beyond(own, in, sink, first + j * stride, i) >= 0;
	if (open)
		y.e = (fabs(dy.h) + fabs(dy.l) + dy.e) * (1 + 0x1p-48);
	return y;
}

static hu_status
enclose(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, hu_sink *sink)
{
	return hu_extreme_enclose(c, in, out, element, n, sink, certified);
}

const hu_columns hu_family_extreme_dx = {
	.shape = hu_axes_shape_dx0, .cost = hu_extreme_cost, .emulate = emulate, .reference = reference, .bound = bound,
	.enclose = enclose,
	.grain = hu_op_grain_one,
};
