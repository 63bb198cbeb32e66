/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/op/axis/extreme.h"

#include "lib/base/mem.h"
#include "lib/base/thread.h"
#include "lib/op/performed.h"

#include <stdlib.h>

hu_status
hu_extreme_describe(hu_extreme_call *e, const hu_call *c, hu_shape x)
{
	hu_shape y;

	e->smallest = c->op->extreme->smallest;
	e->place = c->op->extreme->place;
	return hu_axes_of(c, x, &y, &e->d);
}

size_t
hu_extreme_of(const hu_extreme_own *own, const hu_tensor *x, const hu_groups *g, size_t group)
{
	size_t n = hu_groups_size(g), first, stride, best = 0;

	hu_groups_place(g, group, &first, &stride);
	double top = hu_get(x, first);
	for (size_t i = 0; i < n && top == top; i++) {
		double v = hu_get(x, first + i * stride);
		if (v != v || (own->smallest ? v < top : v > top)) {
			best = i;
			top = v;
		}
	}
	return best;
}

double
hu_extreme_beyond(const hu_extreme_own *own, hu_tensor *const *in, const hu_sink *sink, size_t i, size_t w)
{
	hu_dd d = hu_dd_sub(hu_operand_dd(sink, in, 0, i), hu_operand_dd(sink, in, 0, w));

	if (own->smallest)
		d = hu_dd_neg(d);
	return d.h + fabs(d.l) + d.e;
}

static double
value(const hu_call *c, hu_tensor *const *in, const hu_groups *g, size_t group)
{
	size_t first, stride, best = hu_extreme_of(c->op->extreme, in[0], g, group);

	hu_groups_place(g, group, &first, &stride);
	return c->op->extreme->place ? (double)best : hu_get(in[0], first + best * stride);
}

static hu_status
emulate(const hu_call *c, hu_tensor *const *in, hu_tensor *const *out, const hu_env *env)
{
	hu_groups g = hu_axes_groups0(c, in);

#pragma omp parallel for schedule(static) num_threads(hu_threads()) if (in[0]->n > 16384)
	for (size_t i = 0; i < out[0]->n; i++)
		hu_store(c, env, out[0], i, value(c, in, &g, i));
	hu_performed_operations(in[0]->n);
	return HU_OK;
}

static hu_status
reference(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, mpfr_t *exact)
{
	hu_groups g = hu_axes_groups0(c, in);
	size_t first, stride;

	(void)out;
	for (size_t i = 0; i < n; i++) {
		size_t best = hu_extreme_of(c->op->extreme, in[0], &g, element[i]);
		hu_groups_place(&g, element[i], &first, &stride);
		mpfr_set_prec(exact[i], HU_EXACT_BITS);
		if (c->op->extreme->place)
			mpfr_set_ui(exact[i], best, MPFR_RNDN);
		else
			hu_exact_get(exact[i], in[0], first + best * stride);
	}
	return HU_OK;
}

static hu_status
bound(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, double *b)
{
	hu_groups g = hu_axes_groups0(c, in);

	for (size_t i = 0; i < n; i++) {
		hu_bounded x = { value(c, in, &g, element[i]), 0 };
		if (!hu_isfinite(x.v))
			x.e = hu_inf(0);
		b[i] = hu_bound_of(c, hu_output_format(c, in, out), x);
	}
	return HU_OK;
}

/* For certified operands the largest value lies between the winner's and the largest that any element may have. */
static hu_dd
certified(const hu_call *c, hu_tensor *const *in, const hu_sink *sink, const hu_groups *g, size_t group)
{
	const hu_extreme_own *own = c->op->extreme;
	size_t n = hu_groups_size(g), first, stride, best = hu_extreme_of(own, in[0], g, group);

	hu_groups_place(g, group, &first, &stride);
	hu_dd y = own->place ? hu_dd_of((double)best) : hu_operand_dd(sink, in, 0, first + best * stride);
	for (size_t i = 0; i < n && sink->low; i++) {
		double beyond = i == best ? 0
					  : hu_extreme_beyond(own, in, sink, first + i * stride, first + best * stride);
		if (beyond < 0 || (beyond == 0 && i >= best))
			continue;
		if (own->place)
			y.e = (double)n;
		else if (!(beyond <= y.e))
			y.e = beyond * (1 + 0x1p-48);
	}
	return y;
}

hu_status
hu_extreme_enclose(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, hu_sink *sink,
	hu_extreme_value *one)
{
	hu_groups g = hu_axes_groups0(c, in);
	hu_dd *v = hu_xmalloc((n + 1) * sizeof *v);

	for (size_t i = 0; i < n; i++)
		v[i] = one(c, in, sink, &g, element ? element[i] : i);
	hu_status st = hu_enclose_list(c, in, out, element, n, sink, v, NULL);
	free(v);
	return st;
}

static hu_status
enclose(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, hu_sink *sink)
{
	return hu_extreme_enclose(c, in, out, element, n, sink, certified);
}

static hu_status
shape(const hu_call *c, const hu_shape *in, hu_shape *out)
{
	hu_reduce_dims d;
	hu_shape y;

	HU_TRY(hu_axes_of(c, in[0], &y, &d));
	if (!hu_count(in[0]))
		return hu_fail(HU_EINVAL, "%s: the operand has no elements", c->op->name);
	return hu_shape_settle(c, 0, out, y);
}

void
hu_extreme_cost(const hu_call *c, const hu_shape *in, const hu_shape *out, hu_cost *k)
{
	(void)c;
	(void)out;
	k->flops = (double)hu_count(in[0]);
}

const hu_columns hu_family_extreme = {
	.shape = shape, .cost = hu_extreme_cost, .emulate = emulate, .reference = reference, .bound = bound,
	.enclose = enclose,
	.grain = hu_op_grain_one,
};
