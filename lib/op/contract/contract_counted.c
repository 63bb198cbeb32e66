/* SPDX-License-Identifier: Apache-2.0
   What a contraction's sums swamp, counted for many outputs at once where they are fused float32 sums: outputs that lie
   side by side in a row share its operands, and rows that need the same columns share these packed. Outputs here and
   there, as samples are, are counted as many at once, each with a row and a column of its own. */
#include "lib/op/contract/contract.h"

#include "lib/base/mem.h"
#include "lib/base/thread.h"
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

/* Moves groups of fewer outputs than are worth packing columns for to the end of the list, one output a group. Returns
   how many of the first are whole groups; *made gets the new number of all. */
static size_t
apart(group **all, size_t *made)
{
	group *g = *all, *single = NULL;
	size_t whole = 0, n = 0, room = 0;

	for (size_t i = 0; i < *made; i++) {
		if (g[i].count >= HU_COUNTED / 4) {
			g[whole++] = g[i];
			continue;
		}
		for (size_t j = 0; j < g[i].count; j++) {
			HU_GROW(single, n, room);
			single[n++] = (group){ g[i].product, g[i].row, g[i].column + j, 1, g[i].from + j };
		}
	}
	*made = whole + n;
	g = *all = hu_xrealloc(g, (*made + 1) * sizeof *g);
	for (size_t i = 0; i < n; i++)
		g[whole + i] = single[i];
	free(single);
	return whole;
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

/* Counts of a call's sums, and the outputs that are left to the plain version. */
typedef struct counting {
	const hu_contract *x;
	const hu_counted_kernel *kernel;
	size_t part;
	const size_t *element;
	size_t *left, open;
} counting;

static void
leave(counting *w, const group *g)
{
#pragma omp critical(hu_contract_counted)
	for (size_t j = 0; j < g->count; j++)
		w->left[w->open++] = w->element[g->from + j];
}

static void
run_parts(const counting *w, hu_counted_fma *kernel, size_t lanes_a, size_t lanes_b, const float *a, const float *b,
	size_t k, hu_counted *c)
{
	size_t step = w->part && w->part < k ? w->part : k;

	for (size_t done = 0; done < k; done += step)
		kernel(c, a + done * lanes_a, b + done * lanes_b, k - done < step ? k - done : step);
}

static void
add(hu_swamp *sum, const hu_counted *c, size_t outputs)
{
	sum->additions += c->additions;
	sum->swamped += c->swamped;
	sum->outputs += outputs;
	for (size_t j = 0; j < outputs; j++)
		sum->stagnated += c->run[j] >= HU_STAGNANT_RUN;
}

/* Counts n groups of neighbours. */
static void
whole_groups(counting *w, const group *g, size_t n, hu_swamp *sum)
{
	const hu_contract *x = w->x;
	double *line = hu_xmalloc(x->k * sizeof *line);
	float *a = hu_xmalloc((HU_COUNTED + 1) * x->k * sizeof *a), *b = a + x->k;
	const group *packed = NULL;
	hu_contract one = { 0 };
	int finite = 0;

#pragma omp for schedule(dynamic, 64) nowait
	for (size_t i = 0; i < n; i++) {
		if (!packed || packed->product != g[i].product || packed->column != g[i].column ||
			packed->count != g[i].count) {
			packed = &g[i];
			one = hu_contract_product(x, g[i].product);
			finite = pack(&one, &g[i], b);
		}
		if (!finite || !row_of(&one, g[i].row, line, a)) {
			leave(w, &g[i]);
			continue;
		}
		hu_counted c = { 0, 0, { 0 } };
		run_parts(w, w->kernel->fma, 1, HU_COUNTED, a, b, one.k, &c);
		add(sum, &c, g[i].count);
	}
	free(a);
	free(line);
}

/* Sets lane j of packed vectors. Returns 1 if they are finite. */
static int
set_lane(float *to, size_t j, const double *line, size_t k)
{
	int finite = 1;

	for (size_t i = 0; i < k; i++) {
		finite &= fabs(line[i]) < INFINITY;
		to[i * HU_COUNTED_EACH + j] = (float)line[i];
	}
	return finite;
}

/* A product, and where column 0 of its B has each term, which all outputs of the product have in common. */
typedef struct shared {
	hu_contract one;
	size_t product, *at;
} shared;

static void
share(shared *s, const hu_contract *x, size_t product)
{
	if (s->product == product)
		return;
	s->one = hu_contract_product(x, product);
	s->product = product;
	for (size_t k = 0; k < s->one.k; k++)
		s->at[k] = s->one.column(&s->one, k);
}

/* Sets lane j of packed vectors to column n of B. Returns 1 if it is finite. */
static int
set_column(float *to, size_t j, const shared *s, size_t n)
{
	const float *from = (const float *)s->one.b->data + n * s->one.column_stride;
	int finite = 1;

	for (size_t k = 0; k < s->one.k; k++) {
		float x = from[s->at[k]];
		finite &= fabsf(x) < INFINITY;
		to[k * HU_COUNTED_EACH + j] = x;
	}
	return finite;
}

/* Counts n outputs here and there, as many at once as have sums of equally many terms. */
static void
single_outputs(counting *w, const group *g, size_t n, hu_swamp *sum)
{
	enum { N = HU_COUNTED_EACH };
	size_t most = w->x->k;
	double *line = hu_xmalloc(most * sizeof *line);
	float *a = hu_xcalloc(2 * N * most + 1, sizeof *a), *b = a + N * most;
	shared s = { .product = SIZE_MAX, .at = hu_xmalloc((most + 1) * sizeof *s.at) };

#pragma omp for schedule(dynamic, 1)
	for (size_t first = 0; first < n; first += N) {
		size_t last = first + N < n ? first + N : n;
		for (size_t i = first; i < last;) {
			share(&s, w->x, g[i].product);
			size_t k = s.one.k, lanes = 0;
			for (; i < last; i++) {
				share(&s, w->x, g[i].product);
				if (s.one.k != k)
					break;
				hu_contract_row(&s.one, g[i].row, line);
				int finite = set_lane(a, lanes, line, k);
				if (set_column(b, lanes, &s, g[i].column) && finite)
					lanes++;
				else
					leave(w, &g[i]);
			}
			for (size_t j = lanes; j < N; j++)
				for (size_t t = 0; t < k; t++)
					a[t * N + j] = b[t * N + j] = 0;
			hu_counted c = { 0, 0, { 0 } };
			run_parts(w, w->kernel->each, N, N, a, b, k, &c);
			add(sum, &c, lanes);
		}
	}
	free(a);
	free(line);
	free(s.at);
}

size_t
hu_contract_counted(const hu_contract *x, size_t part, const size_t *element, size_t n, hu_swamp *count, size_t *left)
{
	counting w = { x, hu_counted_get(), part, element, left, 0 };
	group *g;
	size_t ng = groups_of(&g, x, element, n), whole = apart(&g, &ng);

#pragma omp parallel num_threads(hu_threads()) if (n * x->k > 65536)
	{
		hu_swamp mine = { 0, 0, 0, 0 };
		whole_groups(&w, g, whole, &mine);
		single_outputs(&w, g + whole, ng - whole, &mine);
#pragma omp critical(hu_contract_counted_sum)
		{
			count->additions += mine.additions;
			count->swamped += mine.swamped;
			count->outputs += mine.outputs;
			count->stagnated += mine.stagnated;
		}
	}
	free(g);
	return w.open;
}
