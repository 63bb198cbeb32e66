/* SPDX-License-Identifier: Apache-2.0
   Swamped additions of the operators that are no products of sums: one addition an
   element, judged after its rounding to the output; and the fixed tree, replayed. */
#include "lib/op/reduce.h"

#include "lib/base/mem.h"
#include "lib/number/count.h"
#include "lib/sum/model.h"

#include <stdlib.h>

static double
value(const hu_tensor *t, hu_how how, size_t channels, size_t i)
{
	return hu_get(t, how == HU_CHANNEL ? i % channels : i);
}

hu_status
hu_pair_swamping(const hu_call *c, hu_tensor *const *in, hu_how how, const size_t *element, size_t n, const hu_env *env, hu_swamp *count)
{
	size_t channels = hu_last(in[0]->shape);
	hu_format f = hu_format_of(c->fmt.compute);

	for (size_t i = 0; i < n; i++) {
		double x = value(in[0], HU_EACH, channels, element[i]), y = value(in[1], how, channels, element[i]);
		double s = hu_stored(c, env, c->fmt.out, element[i], hu_rne(f, hu_rne(f, x) + hu_rne(f, y)));
		count->outputs++;
		if (x == 0 || y == 0 || !hu_isfinite(x) || !hu_isfinite(y))
			continue;
		count->additions++;
		count->swamped += (uint64_t)(s == x || s == y);
	}
	return HU_OK;
}

hu_status
hu_update_swamping(const hu_map *m, const size_t *element, size_t n, const hu_env *env, hu_swamp *count)
{
	hu_bounded *y = hu_xmalloc((n + 1) * 2 * sizeof *y);

	hu_map_runs(m, element, n, 2, y);
	for (size_t i = 0; i < n; i++) {
		double w = hu_get(m->in[0].t, element[i]), d = y[2 * i + 1].v;
		count->outputs++;
		if (d == 0 || !hu_isfinite(d) || !hu_isfinite(w))
			continue;
		count->additions++;
		count->swamped += (uint64_t)(hu_stored(m->call, env, m->call->fmt.out, element[i], y[2 * i].v) == w);
	}
	free(y);
	return HU_OK;
}

/* lib/sum/tree.inc with its additions counted; *RUN: the longest row of swamped terms at a lane's end. */
static double
block(hu_format f, const double *x, size_t n, hu_swamp *count, uint64_t *run)
{
	hu_sum_count k = { 0 };
	uint64_t additions = 0, swamped = 0, trail[32] = { 0 };
	double lane[32] = { 0 };

	for (size_t i = 0; i < n; i++) {
		double *at = &lane[i % 32], s = hu_rne(f, *at + x[i]);
		int both = *at != 0 && x[i] != 0 && hu_isfinite(*at) && hu_isfinite(x[i]), lost = hu_swamps(*at, x[i], s);
		additions += (uint64_t)both;
		swamped += (uint64_t)lost;
		if (lost)
			trail[i % 32]++;
		else if (both)
			trail[i % 32] = 0;
		*at = s;
	}
	for (int step = 16; step; step /= 2)
		for (int j = 0; j < step; j++)
			lane[j] = hu_model_node(lane[j], lane[j + step], f, HU_RNE, NULL, 0, &k);
	for (int j = 0; j < 32; j++)
		*run = trail[j] > *run ? trail[j] : *run;
	count->additions += additions + k.additions;
	count->swamped += swamped + k.swamped;
	return lane[0];
}

void
hu_tree_swamping(hu_format f, double *x, size_t n, hu_swamp *count)
{
	uint64_t run = 0;

	while (n > HU_TREE_BLOCK) { /* the blocks' sums take the place of the terms that they are done with */
		size_t blocks = 0;
		for (size_t i = 0; i < n; i += HU_TREE_BLOCK) {
			double s = block(f, x + i, n - i < HU_TREE_BLOCK ? n - i : HU_TREE_BLOCK, count, &run);
			x[blocks++] = s;
		}
		n = blocks;
	}
	block(f, x, n, count, &run);
	count->outputs++;
	count->stagnated += run >= HU_STAGNANT_RUN;
}

void
hu_sum_swamping(const hu_map *m, hu_how how, int nout, int out, const size_t *group, size_t n, hu_swamp *count)
{
	size_t C = m->channels, rows = m->n / C, terms = how == HU_CHANNEL ? rows : C, *element = hu_xmalloc((terms + 1) * sizeof *element);
	hu_bounded *y = hu_xmalloc((terms + 1) * (size_t)nout * sizeof *y);
	double *x = hu_xmalloc((terms + 1) * sizeof *x);

	for (size_t g = 0; g < n; g++) {
		for (size_t i = 0; i < terms; i++)
			element[i] = how == HU_CHANNEL ? i * C + group[g] : group[g] * C + i;
		hu_map_runs(m, element, terms, nout, y);
		for (size_t i = 0; i < terms; i++)
			x[i] = y[i * (size_t)nout + (size_t)out].v;
		hu_tree_swamping(hu_format_of(m->compute), x, terms, count);
	}
	free(element);
	free(y);
	free(x);
}
