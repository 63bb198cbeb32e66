/* SPDX-License-Identifier: Apache-2.0
   Counts swamped additions of sums by the fixed tree, which are replayed. */
#include "lib/op/reduce/reduce.h"

#include "lib/base/mem.h"
#include "lib/base/thread.h"
#include "lib/number/count.h"
#include "lib/op/reduce/summed.h"
#include "lib/sum/table/model.h"

#include <math.h>
#include <stdlib.h>

/* lib/sum/tree.inc with its additions counted. *run gets the longest run of swamped terms at the end of a lane. */
static double
block(hu_format f, const double *x, size_t n, hu_swamp *count, uint64_t *run)
{
	hu_sum_count k = { 0 };
	uint64_t additions = 0, swamped = 0, trail[32] = { 0 };
	double lane[32] = { 0 };

	for (size_t i = 0; i < n; i++) {
		double *at = &lane[i % 32], s = hu_rne(f, *at + x[i]);
		int both = *at != 0 && x[i] != 0 && hu_isfinite(*at) && hu_isfinite(x[i]),
		    lost = hu_swamps(*at, x[i], s);
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

	while (n > HU_TREE_BLOCK) { /* the blocks' sums overwrite terms that are no longer needed */
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
	size_t C = m->channels,
	       terms = how == HU_CHANNEL ? m->n / C
		       : how == HU_IMAGE ? m->image / C
					 : C,
	       *element = hu_xmalloc((terms + 1) * sizeof *element);
	hu_bounded *y = hu_xmalloc((terms + 1) * (size_t)nout * sizeof *y);
	double *x = hu_xmalloc((terms + 1) * sizeof *x);

	for (size_t g = 0; g < n; g++) {
		for (size_t i = 0; i < terms; i++)
			element[i] = how == HU_CHANNEL ? i * C + group[g]
				     : how == HU_IMAGE ? group[g] / C * m->image + i * C + group[g] % C
						       : group[g] * C + i;
		hu_map_runs(m, element, terms, nout, y);
		for (size_t i = 0; i < terms; i++)
			x[i] = y[i * (size_t)nout + (size_t)out].v;
		if (hu_summed_by(m->call))
			hu_summed_swamping(*hu_summed_by(m->call), x, terms, count);
		else
			hu_tree_swamping(hu_format_of(m->compute), x, terms, count);
	}
	free(element);
	free(y);
	free(x);
}
