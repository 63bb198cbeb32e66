/* SPDX-License-Identifier: Apache-2.0
   What a contraction's sums swamp, counted for many outputs at once where they are fused float32 sums: outputs that lie
   side by side in a row share its operands, and rows that need the same columns share these packed. */
#include "lib/op/contract/contract.h"

#include "lib/base/mem.h"
#include "lib/sum/step.h"
#include "lib/sum/vector/counted.h"

#include <math.h>
#include <stdlib.h>

/* Listed outputs from number `from` on: columns column .. column+count-1 of a row of a product. */
typedef struct group {
	size_t product, row, column, count, from;
} group;

static int
by_columns(const void *a, const void *b)
{
	const group *x = a, *y = b;

	if (x->product != y->product)
		return x->product < y->product ? -1 : 1;
	if (x->column != y->column)
		return x->column < y->column ? -1 : 1;
	return x->from < y->from ? -1 : x->from > y->from;
}

/* Cuts the list into groups. Returns how many there are. */
static size_t
groups_of(group **to, const hu_contract *x, const size_t *element, size_t n)
{
	size_t room = 0, made = 0;
	group *g = NULL;

	for (size_t i = 0, count; i < n; i += count) {
		size_t batch, column, share = 0, row = hu_contract_row_of(x, element[i], &batch, &column);
		if (x->shares > 1)
			row = x->owner(x, row, &share);
		for (count = 1; count < HU_COUNTED && i + count < n && column + count < x->n &&
				element[i + count] == element[i] + count;
			count++)
			continue;
		HU_GROW(g, made, room);
		g[made++] = (group){ batch * x->shares + share, row, column, count, i };
	}
	qsort(g, made, sizeof *g, by_columns);
	*to = g;
	return made;
}

/* Packs the columns of g, and returns 1 if they are finite. */
static int
pack(const hu_contract *one, const group *g, float *b)
{
	double line[HU_COUNTED] = { 0 };
	int finite = 1;

	for (size_t k = 0; k < one->k; k++) {
		hu_contract_slab(one, k, g->column, g->count, line);
		for (size_t j = 0; j < HU_COUNTED; j++) {
			finite &= j >= g->count || fabs(line[j]) < INFINITY;
			b[k * HU_COUNTED + j] = j < g->count ? (float)line[j] : 0;
		}
	}
	return finite;
}

static int
row_of(const hu_contract *one, size_t row, double *line, float *a)
{
	int finite = 1;

	hu_contract_row(one, row, line);
	for (size_t k = 0; k < one->k; k++) {
		finite &= fabs(line[k]) < INFINITY;
		a[k] = (float)line[k];
	}
	return finite;
}

int
hu_contract_has_counted(const hu_contract *x, const hu_call *c)
{
	const hu_sum *s = &c->sum;

	return hu_counted_get() && s->id == HU_SUM_FMA && s->acc == HU_FP32 && s->mode == HU_RNE && !s->group &&
	       !hu_is_wide(x->a->format) && !hu_is_wide(x->b->format) && x->k && x->k < UINT32_MAX;
}

size_t
hu_contract_counted(const hu_contract *x, size_t part, const size_t *element, size_t n, hu_swamp *count, size_t *left)
{
	hu_counted_fma *kernel = hu_counted_get();
	uint64_t additions = 0, swamped = 0, stagnated = 0;
	size_t open = 0, outputs = 0;
	group *g;
	size_t ng = groups_of(&g, x, element, n);

#pragma omp parallel reduction(+ : additions, swamped, stagnated, outputs)
	{
		double *line = hu_xmalloc(x->k * sizeof *line);
		float *a = hu_xmalloc((HU_COUNTED + 1) * x->k * sizeof *a), *b = a + x->k;
		const group *packed = NULL;
		hu_contract one = { 0 };
		int finite = 0;
#pragma omp for schedule(dynamic, 64)
		for (size_t i = 0; i < ng; i++) {
			if (!packed || packed->product != g[i].product || packed->column != g[i].column ||
				packed->count != g[i].count) {
				packed = &g[i];
				one = hu_contract_product(x, g[i].product);
				/* columns of few outputs are not worth packing */
				finite = g[i].count >= HU_COUNTED / 4 && pack(&one, &g[i], b);
			}
			if (!finite || !row_of(&one, g[i].row, line, a)) {
#pragma omp critical(hu_contract_counted)
				for (size_t j = 0; j < g[i].count; j++)
					left[open++] = element[g[i].from + j];
				continue;
			}
			hu_counted c = { 0, 0, { 0 } };
			size_t step = part && part < one.k ? part : one.k;
			for (size_t k = 0; k < one.k; k += step)
				kernel(&c, a + k, b + k * HU_COUNTED, one.k - k < step ? one.k - k : step);
			additions += c.additions;
			swamped += c.swamped;
			outputs += g[i].count;
			for (size_t j = 0; j < g[i].count; j++)
				stagnated += c.run[j] >= HU_STAGNANT_RUN;
		}
		free(a);
		free(line);
	}
	free(g);
	count->additions += additions;
	count->swamped += swamped;
	count->outputs += outputs;
	count->stagnated += stagnated;
	return open;
}
