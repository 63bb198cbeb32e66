/* SPDX-License-Identifier: Apache-2.0
   all_reduce: element i is the sum of every operand's element i, in the order and formats of the call's summation
   model: operand r is what rank r has. With the attribute `library` another program computed it, such as NCCL, in an
   order of its own: its bound holds for any order. */
#include "lib/op/ranks/over_ranks.h"

#include "lib/base/thread.h"
#include "lib/sum/bound.h"
#include "lib/sum/table/parts.h"

#include <math.h>

static hu_status
shape(const hu_call *c, const hu_shape *in, hu_shape *out)
{
	for (int k = 1; k < c->nin; k++)
		HU_TRY(hu_shape_expect(c, k, in[k], in[0]));
	if (hu_sum_is_unit(c->sum.id))
		return hu_fail(HU_EINVAL, "all_reduce: %s no operands of several ranks; choose ring:%d",
			hu_sum_takes_of(c->sum.id) == HU_TAKES_ARCH ? "tensor cores add" : "units add", c->nin);
	if (hu_sum_collective(c->sum.id) && c->sum.n != c->nin)
		return hu_fail(HU_EINVAL, "all_reduce: the summation model is of %d ranks, and there are %d operands",
			c->sum.n, c->nin);
	return hu_shape_settle(c, 0, out, in[0]);
}

static void
cost(const hu_call *c, const hu_shape *in, const hu_shape *out, hu_cost *k)
{
	(void)out;
	k->flops = (double)c->nin * (double)hu_count(in[0]);
}

/* The bound of a ring holds for every order of the same additions (lib/sum/bound.h). */
static hu_sum_bound
apriori(const hu_call *c)
{
	hu_sum s = c->sum;

	if (hu_attr_library(c) > 0) {
		s.id = HU_SUM_RING;
		s.n = c->nin;
	}
	return hu_sum_apriori(s, (size_t)c->nin, 0);
}

/* One element: its exact value and Σ|x| of its terms, rounded up. */
typedef struct exact_sum {
	hu_dd sum;
	double mag;
} exact_sum;

static exact_sum
exact_of(const hu_call *c, hu_tensor *const *in, const hu_sink *sink, size_t i)
{
	static const hu_sink none = { .low = NULL };
	exact_sum x = { hu_dd_of(0), 0 };

	for (int k = 0; k < c->nin; k++) {
		x.sum = hu_dd_add(x.sum, hu_operand_dd(sink ? sink : &none, in, k, i));
		x.mag += hu_abs(hu_get(in[k], i));
	}
	x.mag *= 1 + c->nin * 0x1p-52;
	return x;
}

/* Bounds the error of an element, its rounding to the output included. */
static double
bound_of(const hu_call *c, const hu_sum_bound *s, const exact_sum *x)
{
	hu_format out = hu_format_of(c->fmt.out);
	double ulps = hu_mode_nearest(c->mode) ? 0.5 : 1, e = s->relative * x->mag + s->absolute,
	       most = (hu_abs(x->sum.h) + hu_abs(x->sum.l) + x->sum.e) * (1 + 0x1p-50) + e;

	if (!(s->peak * x->mag + s->absolute <= s->limit) || !(most < INFINITY))
		return INFINITY;
	if (!hu_contract_holds(out, hu_part_format(c->sum))) {
		if (!(most <= out.max)) {
			if (!(c->flags & HU_SATURATE))
				return INFINITY;
			e += most - out.max;
		}
		e += 2 * ulps * hu_unit(out) * most + ulps * hu_smallest(out);
	}
	return e * (1 + 0x1p-40);
}

static hu_status
bound(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, double *to)
{
	hu_sum_bound s = apriori(c);

	(void)out;
	for (size_t i = 0; i < n; i++) {
		exact_sum x = exact_of(c, in, NULL, element[i]);
		to[i] = bound_of(c, &s, &x);
	}
	return HU_OK;
}

static hu_status
magnitude(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, double *all)
{
	(void)out;
	for (size_t i = 0; i < n; i++)
		all[i] = exact_of(c, in, NULL, element[i]).mag;
	return HU_OK;
}

static double
unit_bound(const hu_call *c, const hu_shape *in)
{
	hu_format out = hu_format_of(c->fmt.out);
	double sum = apriori(c).relative, last = hu_contract_holds(out, hu_part_format(c->sum)) ? 0 : hu_unit(out);

	(void)in;
	return sum + (hu_mode_nearest(c->mode) ? 1 : 2) * last * (1 + sum);
}

static hu_status
reference(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, mpfr_t *exact)
{
	(void)out;
#pragma omp parallel for schedule(static) num_threads(hu_threads()) if (n > 64)
	for (size_t i = 0; i < n; i++) {
		mpfr_set_prec(exact[i], hu_sum_bits(in[0]));
		mpfr_set_zero(exact[i], 1);
		for (int k = 0; k < c->nin; k++)
			hu_map_exact_add(exact[i], in[k], element[i]);
	}
	return HU_OK;
}

static hu_status
enclose(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, hu_sink *sink)
{
	hu_sum_bound s = apriori(c);

	(void)out;
#pragma omp parallel for schedule(static) num_threads(hu_threads()) if (n > 4 * HU_MAP_BLOCK)
	for (size_t first = 0; first < n; first += HU_MAP_BLOCK) {
		double hi[HU_MAP_BLOCK], lo[HU_MAP_BLOCK], err[HU_MAP_BLOCK], most[HU_MAP_BLOCK], all[HU_MAP_BLOCK];
		size_t some = n - first < HU_MAP_BLOCK ? n - first : HU_MAP_BLOCK;
		hu_tile t = { some, first, NULL, hi, lo, err, sink->bounds ? most : NULL, sink->bounds ? all : NULL };
		for (size_t j = 0; j < some; j++) {
			exact_sum x = exact_of(c, in, sink, element ? element[first + j] : first + j);
			hi[j] = x.sum.h;
			lo[j] = x.sum.l;
			err[j] = x.sum.e;
			all[j] = x.mag;
			most[j] = bound_of(c, &s, &x);
		}
		sink->take(sink, &t);
	}
	return HU_OK;
}

static hu_roundings
roundings(const hu_call *c, hu_tensor *const *in, int out)
{
	hu_format y = hu_format_of(c->fmt.out);
	hu_sum s = c->sum;

	(void)in;
	(void)out;
	if (hu_attr_library(c) > 0) {
		s.id = HU_SUM_RING;
		s.n = c->nin;
	}
	hu_roundings r = hu_roundings_of_sum(s, (size_t)c->nin, 0);
	if (!hu_contract_holds(y, hu_part_format(s))) {
		double ulps = hu_mode_nearest(c->mode) ? 0.5 : 1;
		r.last = 2 * ulps * hu_unit(y);
		r.least = ulps * hu_smallest(y);
	}
	return r;
}

const hu_op hu_op_all_reduce = {
	.name = "all_reduce", .summary = "sum of what ranks have, as a collective operation adds it", .min_in = 1,
	.max_in = HU_OVER_RANKS, .nout = 1, .same = "=", .cls = HU_CLASS_FIXED, .role = HU_ROLE_ALL_REDUCE,
	.parity = HU_PARITY_EXACT,
	.own = {
		.shape = shape, .cost = cost, .emulate = hu_over_ranks_emulate,
		.reference = reference, .enclose = enclose, .grain = hu_op_grain_one, .bound = bound,
		.unit_bound = unit_bound, .magnitude = magnitude, .roundings = roundings,
		.swamping = hu_over_ranks_swamping,
	},
};
