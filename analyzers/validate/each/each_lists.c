/* SPDX-License-Identifier: Apache-2.0
   Lists of boxes: which outputs are one, and which boxes of two lists are the same. */
#include "analyzers/validate/each/each_lists.h"

#include "lib/base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* 1 where output K of every input has the shape [n] or, with WIDTH above 0, [n, WIDTH], and as many rows as output OF,
   if that is not below 0. */
static int
is_column(const hu_each *e, int k, size_t width, int of)
{
	for (size_t i = 0; i < e->n; i++) {
		const hu_each_value *v = &e->value[i * e->nout + (size_t)k];
		if (v->rank != (width ? 2 : 1) || (width && v->d[1] != width))
			return 0;
		if (of >= 0 && v->d[0] != e->value[i * e->nout + (size_t)of].d[0])
			return 0;
	}
	return 1;
}

/* 1 where output K has another number of rows for some input. */
static int
rows_vary(const hu_each *e, size_t k)
{
	for (size_t i = 1; i < e->n; i++)
		if (e->value[i * e->nout + k].d[0] != e->value[k].d[0])
			return 1;
	return 0;
}

void
hu_each_lists_find(hu_each_lists *l, const hu_each *e, const hu_imported *m)
{
	*l = (hu_each_lists){ -1, -1, -1, NAN };
	for (size_t k = 0; k < e->nout && l->boxes < 0; k++)
		if (!hu_import_whole(m->out[k].type) && is_column(e, (int)k, 4, -1))
			l->boxes = (int)k;
	for (size_t k = 0; k < e->nout && l->boxes >= 0; k++) {
		int *to = hu_import_whole(m->out[k].type) ? &l->labels : &l->scores;
		if (*to < 0 && is_column(e, (int)k, 0, l->boxes))
			*to = (int)k;
	}
	if (l->boxes >= 0 && l->labels < 0 && l->scores < 0 && !rows_vary(e, (size_t)l->boxes))
		l->boxes = -1; /* four numbers, as four classes are */
}

/* The share of what boxes A and B cover together that both cover. */
static double
overlap(const double *a, const double *b)
{
	double both = 1, one = 1, other = 1;

	for (int k = 0; k < 2; k++) {
		both *= fmax(fmin(a[k + 2], b[k + 2]) - fmax(a[k], b[k]), 0);
		one *= a[k + 2] - a[k];
		other *= b[k + 2] - b[k];
	}
	return both / (one + other - both);
}

/* 1 where box I of the list at V counts. */
static int
counts(const hu_each_lists *l, const hu_each_value *v, size_t i)
{
	return !(l->threshold == l->threshold) || v[l->scores].x[i] > l->threshold;
}

void
hu_each_match(hu_each_match_of *r, const hu_each_lists *l, const hu_each_value *v, const hu_each_value *v32)
{
	size_t n = v[l->boxes].d[0], n32 = v32[l->boxes].d[0];
	char *taken = hu_xcalloc(n + 1, 1);

	*r = (hu_each_match_of){ .n = 0 };
	r->is = hu_xcalloc(n32 + 1, sizeof *r->is);
	r->was = hu_xcalloc(n32 + 1, sizeof *r->was);
	for (size_t i = 0; i < n32; i++) {
		double most = 0.5;
		size_t best = n;
		if (!counts(l, v32, i))
			continue;
		for (size_t j = 0; j < n; j++) {
			if (taken[j] || !counts(l, v, j) ||
				(l->labels >= 0 && v[l->labels].x[j] != v32[l->labels].x[i]))
				continue;
			double share = overlap(v[l->boxes].x + 4 * j, v32[l->boxes].x + 4 * i);
			if (share >= most) {
				best = share > most || best == n ? j : best;
				most = share;
			}
		}
		if (best == n) {
			r->lost++;
			continue;
		}
		taken[best] = 1;
		r->was[r->n] = i;
		r->is[r->n++] = best;
	}
	for (size_t j = 0; j < n; j++)
		r->gained += counts(l, v, j) && !taken[j];
	free(taken);
}

void
hu_each_match_release(hu_each_match_of *r)
{
	free(r->is);
	free(r->was);
}
