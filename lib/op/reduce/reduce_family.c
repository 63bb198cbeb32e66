/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h> /* mpfr.h needs it first */

#include "lib/op/reduce/exact_sum.h"
#include "lib/op/reduce/reduce_family.h"

#include "lib/base/mem.h"

#include <math.h>
#include <stdlib.h>

#define ELEMENT(S, T) out[0][i] = in[0][i]
#define SQUARE(S, T) out[0][i] = hu_square##S(c, in[0][i])
#define MEAN(S, T) out[0][i] = hu_quotient##S(c, in[0][i], c->k[0])
#define ROOT(S, T) out[0][i] = hu_numeric_sqrt##S(c, in[0][i])
HU_BLOCKS(element_blocks, ELEMENT, NULL)
HU_BLOCKS(square_blocks, SQUARE, NULL)
HU_BLOCKS(mean_blocks, MEAN, NULL)
HU_BLOCKS(root_blocks, ROOT, NULL)

static const hu_blocks *const term_blocks[HU_TERMS] = {
	[HU_TERM_ELEMENT] = &element_blocks, [HU_TERM_SQUARE] = &square_blocks,
};
static const hu_blocks *const finish_blocks[HU_FINISHES] = {
	[HU_FINISH_MEAN] = &mean_blocks, [HU_FINISH_ROOT] = &root_blocks,
};

static hu_groups
groups(const hu_call *c, hu_tensor *const *in)
{
	hu_reduce_dims d = { 1, 1, 1 };
	hu_shape y;

	HU_ASSERT(c->op->reduce->shape(c, in[0]->shape, &y, &d) == HU_OK); /* it was called before */
	return hu_groups_middle(d.outer, d.middle, d.inner);
}

hu_status
hu_reduce_describe(hu_reduce_call *r, const hu_call *c, hu_shape x)
{
	hu_shape y;

	r->term = c->op->reduce->term;
	r->finish = c->op->reduce->finish;
	return c->op->reduce->shape(c, x, &y, &r->d);
}

/* The call as one sum, and one statistic more if the sum is finished. */
static hu_stats_own
rules(const hu_call *c)
{
	const hu_reduce_own *r = c->op->reduce;
	hu_stats_own own = {
		.rule = { { .kind = HU_STAT_SUM, .groups = groups, .blocks = term_blocks[r->term],
			.from = { { HU_FROM_INPUT, 0, HU_EACH } } } },
	};

	if (r->finish != HU_FINISH_NONE) {
		own.rule[1] = (hu_stat_rule){ .kind = HU_STAT_EACH, .groups = groups,
			.blocks = finish_blocks[r->finish], .from = { { HU_FROM_STAT, 0, HU_EACH } },
			.constants = hu_stats_size };
		own.output[0].stat = 1;
	}
	return own;
}

static hu_status
shape(const hu_call *c, const hu_shape *in, hu_shape *out)
{
	hu_reduce_dims d;
	hu_shape y;

	HU_TRY(c->op->reduce->shape(c, in[0], &y, &d));
	return hu_shape_settle(c, 0, out, y);
}

static void
cost(const hu_call *c, const hu_shape *in, const hu_shape *out, hu_cost *k)
{
	const hu_reduce_own *r = c->op->reduce;

	k->flops = (r->term == HU_TERM_ELEMENT ? 1.0 : 2.0) * (double)hu_count(in[0]) +
		   (r->finish == HU_FINISH_NONE ? 0.0 : 1.0) * (double)hu_count(out[0]);
}

static hu_status
emulate(const hu_call *c, hu_tensor *const *in, hu_tensor *const *out, const hu_env *env)
{
	hu_stats_own own = rules(c);

	return hu_stats_emulate(&own, c, in, out, env);
}

static hu_status
bound(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, double *b)
{
	hu_stats_own own = rules(c);

	return hu_stats_bound(&own, c, in, out, element, n, b);
}

static hu_status
enclose(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, hu_sink *sink)
{
	hu_stats_own own = rules(c);

	return hu_stats_enclose(&own, c, in, out, element, n, sink);
}

static size_t
grain(const hu_call *c, const hu_shape *in, size_t *row)
{
	hu_stats_own own = rules(c);

	(void)row;
	return hu_stats_grain(&own, c, in);
}

static hu_status
reference(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, mpfr_t *exact)
{
	const hu_reduce_own *r = c->op->reduce;
	hu_groups g = groups(c, in);
	size_t size = hu_groups_size(&g);

	(void)out;
#pragma omp parallel for schedule(dynamic, 1) if (n > 1)
	for (size_t k = 0; k < n; k++) {
		size_t first, stride;
		hu_groups_place(&g, element[k], &first, &stride);
		mpfr_set_prec(exact[k], hu_sum_bits(in[0]));
		hu_exact_sum(exact[k], in[0], r->term == HU_TERM_SQUARE ? in[0] : NULL, first, size, stride);
		if (r->finish == HU_FINISH_MEAN)
			mpfr_div_ui(exact[k], exact[k], size, MPFR_RNDN);
		else if (r->finish == HU_FINISH_ROOT)
			mpfr_sqrt(exact[k], exact[k], MPFR_RNDN);
	}
	return HU_OK;
}

static hu_status
swamping(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, const hu_env *env,
	hu_swamp *count)
{
	hu_stats_own own = rules(c);
	hu_map m;

	(void)out;
	(void)env;
	hu_stats_map(&m, c, in, &own.rule[0], hu_stats_emulated(NULL));
	hu_sum_swamping(&m, groups(c, in).how, 1, 0, element, n, count);
	return HU_OK;
}

static hu_status
magnitude(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, double *all)
{
	const hu_reduce_own *r = c->op->reduce;
	hu_groups g = groups(c, in);
	size_t size = hu_groups_size(&g), first, stride;

	(void)out;
	for (size_t k = 0; k < n; k++) {
		hu_groups_place(&g, element[k], &first, &stride);
		all[k] = 0;
		for (size_t i = 0; i < size; i++) {
			double x = hu_get(in[0], first + i * stride);
			all[k] += r->term == HU_TERM_SQUARE ? x * x : hu_abs(x);
		}
		if (r->finish == HU_FINISH_MEAN)
			all[k] /= (double)size;
		else if (r->finish == HU_FINISH_ROOT)
			all[k] = sqrt(all[k]);
	}
	return HU_OK;
}

/* A square that underflows changes the sum by at most the smallest number s, so n of them change it by n s and its root
   by sqrt(n s); a mean may underflow itself. The root halves relative errors, which the bound ignores. */
static hu_roundings
roundings(const hu_call *c, hu_tensor *const *in, int out)
{
	const hu_reduce_own *r = c->op->reduce;
	hu_groups g = groups(c, in);
	size_t size = hu_groups_size(&g), squares = r->term == HU_TERM_SQUARE;
	double s = hu_smallest(hu_format_of(c->fmt.compute)), lost = squares ? (double)size * s : 0;

	if (r->finish == HU_FINISH_MEAN)
		lost = (squares ? s : 0) + s;
	else if (r->finish == HU_FINISH_ROOT)
		lost = sqrt(lost);
	return hu_reduce_roundings(c, in, out, size, squares + (r->finish != HU_FINISH_NONE), lost);
}

const hu_columns hu_family_reduce = {
	.shape = shape, .cost = cost, .emulate = emulate, .reference = reference, .bound = bound, .enclose = enclose,
	.grain = grain, .magnitude = magnitude, .roundings = roundings, .swamping = swamping,
};
