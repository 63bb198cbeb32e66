/* SPDX-License-Identifier: Apache-2.0
   What a policy changed where each input has outputs of its own shape: lists of boxes, and the distances of what both
   lists have. */
#include "analyzers/validate/each/each_lists.h"

#include "lib/base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* All that both have of output K, one after another. */
typedef struct pair {
	double *x, *x32;
	size_t n, cap, cap32;
} pair;

static void
add(pair *p, const double *x, const double *x32, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		HU_GROW(p->x, p->n, p->cap);
		HU_GROW(p->x32, p->n, p->cap32);
		p->x[p->n] = x[i];
		p->x32[p->n++] = x32[i];
	}
}

static int
same_shape(const hu_each_value *v, const hu_each_value *w)
{
	return v->rank == w->rank && !memcmp(v->d, w->d, (size_t)v->rank * sizeof *v->d);
}

/* Adds what both inputs have: rows of boxes that are in both lists, and all of what has one shape. Returns whether the
   shapes of other outputs differ. */
static int
add_input(pair *all, size_t nout, const hu_each_lists *l, const hu_each_match_of *m, const hu_each_value *v,
	const hu_each_value *v32)
{
	int differs = 0;

	for (size_t k = 0; k < nout; k++) {
		int listed = l->boxes >= 0 && v[k].rank && v32[k].rank && v[k].d[0] == v[l->boxes].d[0] &&
			     v32[k].d[0] == v32[l->boxes].d[0];
		if (listed)
			for (size_t i = 0; i < m->n; i++) {
				size_t each = v[k].n / v[k].d[0];
				add(&all[k], v[k].x + m->is[i] * each, v32[k].x + m->was[i] * each, each);
			}
		else if (same_shape(&v[k], &v32[k]))
			add(&all[k], v[k].x, v32[k].x, v[k].n);
		else
			differs = 1;
	}
	return differs;
}

/* Notes that input I changed. */
static void
change(hu_effect *r, size_t i, size_t lost, size_t gained)
{
	r->flipped[i] = 1;
	r->flips++;
	r->decision_flips += lost + gained;
	HU_GROW(r->change, r->nchange, r->capchange);
	r->change[r->nchange++] = (hu_change){ i, 0, lost, gained, NAN, NAN };
}

/* 1 where whole numbers of output K differ, which are decisions where there are no boxes. */
static int
chooses_otherwise(const hu_each_value *v, const hu_each_value *v32, const hu_imported *m)
{
	for (size_t k = 0; k < m->nout; k++)
		if (!same_shape(&v[k], &v32[k]) ||
			(hu_import_whole(m->out[k].type) && memcmp(v[k].x, v32[k].x, v[k].n * sizeof(double))))
			return 1;
	return 0;
}

/* The distances of PAIRS, as of outputs of a single input. */
static void
distances(hu_effect *r, const pair *all, const hu_imported *m, size_t nonfinite)
{
	hu_evaluated e = { .n = 1, .nout = m->nout, .nonfinite = nonfinite }, base = e;
	hu_deciding none = { .none = 1 };

	e.each = base.each = hu_xcalloc(m->nout + 1, sizeof *e.each);
	e.out = hu_xcalloc(m->nout + 1, sizeof *e.out);
	base.out = hu_xcalloc(m->nout + 1, sizeof *base.out);
	for (size_t k = 0; k < m->nout; k++) {
		e.each[k] = all[k].n;
		e.out[k] = all[k].x;
		base.out[k] = all[k].x32;
	}
	hu_effect_of(r, &e, &base, m, &none, NULL);
	free(e.each);
	free(e.out);
	free(base.out);
}

/* Output K of all inputs as one run has it, NaN for an input whose shape is not FIRST's. */
static void
gather(hu_evaluated *to, const hu_each *e, size_t k, const hu_each_value *first)
{
	*to = (hu_evaluated){ .n = e->n, .nout = e->nout };
	to->each = hu_xcalloc(e->nout + 1, sizeof *to->each);
	to->out = hu_xcalloc(e->nout + 1, sizeof *to->out);
	to->each[k] = first->n;
	to->out[k] = hu_xmalloc((e->n * first->n + 1) * sizeof **to->out);
	for (size_t i = 0; i < e->n; i++) {
		const hu_each_value *v = &e->value[i * e->nout + k];
		for (size_t j = 0; j < first->n; j++)
			to->out[k][i * first->n + j] = same_shape(v, first) ? v->x[j] : NAN;
	}
}

static void
forget(hu_evaluated *e, size_t k)
{
	free(e->out[k]);
	free(e->out);
	free(e->each);
}

/* Decisions between classes, as of models without lists. The distances of *R stay. */
static void
classes(hu_effect *r, const hu_each *e, const hu_each *base, const hu_deciding *d, const hu_imported *m,
	const hu_samples *s)
{
	hu_evaluated is, was;
	hu_effect c;

	gather(&is, e, d->output, &base->value[d->output]);
	gather(&was, base, d->output, &base->value[d->output]);
	hu_effect_of(&c, &is, &was, m, d, s);
	free(c.out);
	free(r->flipped);
	c.out = r->out;
	c.nout = r->nout;
	c.nonfinite = r->nonfinite;
	c.rel_l2 = r->rel_l2;
	c.sqnr_db = r->sqnr_db;
	c.max_error = r->max_error;
	*r = c;
	forget(&is, d->output);
	forget(&was, d->output);
}

void
hu_each_effect(hu_effect *r, const hu_each *e, const hu_each *base, const hu_each_lists *l, const hu_deciding *d,
	const hu_imported *m, const hu_samples *s)
{
	pair *all = hu_xcalloc(e->nout + 1, sizeof *all);
	hu_effect lists = { .flipped = hu_xcalloc(e->n + 1, 1) };
	int listed = d->kind == HU_DECISION_LISTS;
	size_t nonfinite = 0;

	for (size_t i = 0; i < e->n; i++) {
		const hu_each_value *v = &e->value[i * e->nout], *v32 = &base->value[i * e->nout];
		hu_each_match_of match = { .n = 0 };
		if (l->boxes >= 0)
			hu_each_match(&match, l, v, v32);
		int differs = add_input(all, e->nout, l, &match, v, v32);
		if (l->boxes < 0)
			differs |= chooses_otherwise(v, v32, m);
		if (listed && (match.lost || match.gained || differs))
			change(&lists, i, match.lost, match.gained);
		for (size_t k = 0; k < e->nout; k++)
			for (size_t j = 0; j < v[k].n; j++)
				nonfinite += !isfinite(v[k].x[j]);
		hu_each_match_release(&match);
	}
	distances(r, all, m, nonfinite);
	r->inputs = e->n;
	if (listed) {
		free(r->flipped);
		r->flipped = lists.flipped;
		r->flips = lists.flips;
		r->decision_flips = lists.decision_flips;
		r->change = lists.change;
		r->nchange = lists.nchange;
		r->alone = 1;
		hu_wilson(r->flips, e->n, &r->low, &r->high);
	} else {
		free(lists.flipped);
		classes(r, e, base, d, m, s);
	}
	for (size_t k = 0; k < e->nout; k++) {
		free(all[k].x);
		free(all[k].x32);
	}
	free(all);
}
