/* SPDX-License-Identifier: Apache-2.0
   Draws sums by models that add one term after another, by replaying their partial sums. */
#include "analyzers/explain/explain_parts.h"

#include "lib/base/hash.h"
#include "lib/base/mem.h"
#include "lib/sum/table/model.h"
#include "lib/sum/slices.h"

#include <stdio.h>
#include <stdlib.h>

/* Slices that are drawn at the beginning; the last one is drawn too. */
enum { SLICES = 2 };

/* Draws the steps of n fused terms from term k on, started from +0; returns the sum. */
static double
chain(hu_drawing *d, const hu_arithmetic *acc, const hu_seen *w, size_t k, size_t n, const hu_draw *draw,
	const char *heading)
{
	double *partial = hu_xmalloc(n * sizeof *partial), s = 0;

	for (size_t i = 0; i < n; i++)
		partial[i] = s = hu_model_fma(s, w->x[k + i], w->y[k + i], acc->f, acc->mode, draw, k + i, NULL);
	if (heading) {
		hu_seen part = { w->e, w->x + k, w->y + k, partial, (int)n, 0, s };
		hu_explain_steps(d, acc, &part, heading, "x", (int)k + 1);
	}
	free(partial);
	return s;
}

/* Draws the rounded values x added one by one, from +0. */
static double
plain(hu_drawing *d, const hu_arithmetic *acc, const hu_seen *w, const double *x, size_t n, const hu_draw *draw,
	size_t length, int word, const char *heading, const char *prefix)
{
	double *partial = hu_xmalloc(n * sizeof *partial), s = 0;
	hu_seen all = { w->e, x, NULL, partial, (int)n, 0, 0 };

	for (size_t i = 0; i < n; i++)
		partial[i] = s = hu_acc_add(s, x[i], acc->f, acc->mode, draw, i * length, word);
	all.s = s;
	hu_explain_steps(d, acc, &all, heading, prefix, 1);
	free(partial);
	return s;
}

static double
slices(hu_drawing *d, const hu_arithmetic *acc, const hu_arithmetic *outer, const hu_seen *w, size_t length, int evened,
	const hu_draw *draw)
{
	size_t n = (size_t)w->n, count = (n + length - 1) / length, i = 0;
	double *sums = hu_xmalloc((count + 1) * sizeof *sums), s;
	char heading[128];

	for (size_t k = 0, m; k < n; k += m, i++) {
		m = hu_slice_terms(n - k, length, evened);
		int drawn = i < SLICES || i + 1 == count;
		snprintf(heading, sizeof heading, "Slice %zu of %zu in %s: a row a fused addition, its sum below it",
			i + 1, count, hu_format_name(acc->f.id));
		sums[i] = chain(d, acc, w, k, m, draw, drawn ? heading : NULL);
		if (i + 1 == SLICES && count > SLICES + 1)
			hu_drawing_words(d, "%zu more slice%s not drawn.", count - SLICES - 1,
				count - SLICES - 1 > 1 ? "s are" : " is");
	}
	snprintf(heading, sizeof heading, "The slices' sums added in %s", hu_format_name(outer->f.id));
	s = plain(d, outer, w, sums, count, draw, length, HU_DRAW_OUTER, heading, "s");
	free(sums);
	return s;
}

int
hu_explain_draws(const hu_sum *s)
{
	switch (hu_sum_model_of(s->id)->draw) {
	case HU_DRAWN_NOT: return 0;
	case HU_DRAWN_FUSED:
	case HU_DRAWN_ROUNDED:
	case HU_DRAWN_SLICES: return 1;
	case HU_DRAWN_UNIT: return !s->n && hu_explain_unit(hu_tc_of(s->arch, s->in, s->path));
	}
	return 0;
}

void
hu_explain_models(hu_str *to)
{
	const char *last = NULL;

	for (int i = 0, n = 0; i < HU_SUMS; i++) {
		if (hu_sum_model_of((hu_sum_id)i)->draw == HU_DRAWN_NOT)
			continue;
		if (last)
			hu_str_addf(to, "%s%s", n++ ? ", " : "", last);
		last = hu_sum_name((hu_sum_id)i);
	}
	hu_str_addf(to, " and %s", last);
}

void
hu_explain_model(hu_drawing *d, const hu_arithmetic *a, const hu_seen *w)
{
	const hu_sum *m = a->sum;
	hu_arithmetic acc = *a, outer = *a;
	hu_draw draw = { a->seed, hu_fnv1a32("calc"), 0, a->index - (uint64_t)w->n, a->sum->bits };
	size_t n = (size_t)w->n;
	double *rounded, s = w->s;
	const hu_sum_model *row = hu_sum_model_of(m->id);
	hu_sum_slices by;
	hu_str drawn;

	acc.f = hu_format_of(m->acc);
	outer.f = hu_outer_format(*m);
	acc.mode = outer.mode = m->mode;
	switch (row->draw) {
	case HU_DRAWN_FUSED:
		s = chain(d, &acc, w, 0, n, &draw,
			"A row a fused addition: the exact product, then the sum after it; the line stands below the "
			"last bit kept");
		break;
	case HU_DRAWN_ROUNDED:
		rounded = hu_xmalloc(n * sizeof *rounded);
		for (size_t i = 0; i < n; i++)
			rounded[i] = hu_model_product(w->x[i], w->y[i], acc.f, acc.mode, &draw, i);
		s = plain(d, &acc, w, rounded, n, &draw, 1, HU_DRAW_SUM,
			"A row an addition: the product, already rounded, then the sum after it", "x");
		free(rounded);
		break;
	case HU_DRAWN_SLICES:
		by = row->lengths(*m, n);
		s = slices(d, &acc, hu_sum_has_outer(*m) ? &outer : &acc, w, by.length, by.evened, &draw);
		break;
	case HU_DRAWN_NOT:
	case HU_DRAWN_UNIT: /* explain.c draws its blocks */
		hu_str_init(&drawn);
		hu_explain_models(&drawn);
		hu_drawing_words(d, "The steps of %s are not drawn: %s are.", hu_sum_name(m->id), drawn.s);
		hu_str_release(&drawn);
		return;
	}
	if (hu_bits64(s) != hu_bits64(w->s))
		hu_drawing_words(d, "The sum in %s, %.10g, is rounded to %s at the end: %.10g.",
			hu_format_name(outer.f.id), s, hu_format_name(a->f.id), w->s);
}
