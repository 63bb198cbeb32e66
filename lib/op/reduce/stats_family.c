/* SPDX-License-Identifier: Apache-2.0
   The family of operators made of statistics: the columns of its rows, which read the row's member stats. */
#include "lib/op/reduce/stats.h"

static const hu_stats_own *
stats_of(const hu_call *c)
{
	const hu_stats_own *s = c->op->stats;

	return s->key && hu_attr_num(c, s->key, 0) != 0 ? s->with : s;
}

static void
cost(const hu_call *c, const hu_shape *in, const hu_shape *out, hu_cost *k)
{
	(void)out;
	k->flops = c->op->stats->flops * (double)hu_count(in[0]);
}

static hu_status
emulate(const hu_call *c, hu_tensor *const *in, hu_tensor *const *out, const hu_env *env)
{
	return hu_stats_emulate(stats_of(c), c, in, out, env);
}

static hu_status
bound(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, double *b)
{
	return hu_stats_bound(stats_of(c), c, in, out, element, n, b);
}

static hu_status
enclose(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, hu_sink *sink)
{
	return hu_stats_enclose(stats_of(c), c, in, out, element, n, sink);
}

static size_t
grain(const hu_call *c, const hu_shape *in, size_t *row)
{
	(void)row;
	return hu_stats_grain(stats_of(c), c, in);
}

const hu_columns hu_family_stats = {
	.cost = cost, .emulate = emulate, .bound = bound, .enclose = enclose, .grain = grain,
};
