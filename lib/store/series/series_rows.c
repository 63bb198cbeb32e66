/* SPDX-License-Identifier: Apache-2.0
   Turns rows into points: decides which cell is the step, and whether the row is wide or long. */
#include "lib/store/series/series_rows.h"

#include "lib/base/hash.h"
#include "lib/base/mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *const steps[] = { "step", "global_step", "_step", "iteration", "iter", "epoch", NULL };
static const char *const names[] = { "name", "metric", "tag", "key", NULL };

/* Parses a decimal number, inf or nan with nothing after it. Hexadecimal is not accepted, because digests look like
   it. */
static double
number(const char *s, int *is)
{
	static const char *const words[] = { "inf", "infinity", "nan" };
	size_t sign = *s == '-' || *s == '+';
	char *end;
	double x = NAN;

	*is = 0;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (!strcasecmp(s + sign, words[i])) {
			*is = 1;
			return i == 2 ? NAN : *s == '-' ? -INFINITY : INFINITY;
		}
	if (*s && !s[strspn(s, "0123456789+-.eE")]) {
		x = strtod(s, &end);
		*is = !*end && isfinite(x);
	}
	return *is ? x : NAN;
}

/* Rebuilds the hash table of series, with twice as many places as series. */
static void
index_again(hu_series_row *r)
{
	r->indexed = r->indexed ? 4 * r->indexed : 64;
	free(r->index);
	r->index = hu_xcalloc(r->indexed, sizeof *r->index);
	for (size_t i = 0; i < r->file->n; i++) {
		size_t at = hu_fnv1a64(r->file->series[i].name) % r->indexed;
		while (r->index[at])
			at = (at + 1) % r->indexed;
		r->index[at] = i + 1;
	}
}

static hu_metric_series *
series_of(hu_series_row *r, const char *name)
{
	hu_series_file *f = r->file;

	if (2 * f->n >= r->indexed)
		index_again(r);
	size_t at = hu_fnv1a64(name) % r->indexed;
	for (; r->index[at]; at = (at + 1) % r->indexed)
		if (!strcmp(f->series[r->index[at] - 1].name, name))
			return &f->series[r->index[at] - 1];
	HU_GROW(f->series, f->n, f->cap);
	r->index[at] = f->n + 1;
	f->series[f->n] = (hu_metric_series){ .name = hu_xstrdup(name), .numbers = 1 };
	return &f->series[f->n++];
}

void
hu_series_cell(hu_series_row *r, const char *name, const char *text)
{
	HU_GROW(r->cell, r->n, r->cap);
	r->cell[r->n++] = (hu_row_cell){ hu_xstrdup(name), hu_xstrdup(text) };
}

/* The first cell with one of the names in list, or NULL. */
static const hu_row_cell *
cell_of(const hu_series_row *r, const char *const *list)
{
	for (; *list; list++)
		for (size_t i = 0; i < r->n; i++)
			if (!strcasecmp(r->cell[i].name, *list))
				return &r->cell[i];
	return NULL;
}

static int
nothing(const char *text)
{
	return !*text || !strcmp(text, "-") || !strcmp(text, "null");
}

static void
add_point(hu_series_row *r, const char *name, const char *step, const char *text)
{
	hu_metric_series *s = series_of(r, name);
	int is;

	HU_GROW(s->point, s->n, s->cap);
	hu_point *p = &s->point[s->n++];
	*p = (hu_point){ .step = hu_xstrdup(step), .text = hu_xstrdup(text), .row = r->number };
	p->at = number(step, &is);
	p->value = number(text, &is);
	s->numbers &= is;
}

hu_status
hu_series_row_end(hu_series_row *r)
{
	const char *const only[] = { r->step, NULL }, *const value_names[] = { "value", NULL };
	const hu_row_cell *step = cell_of(r, r->step ? only : steps), *name = cell_of(r, names),
			  *value = cell_of(r, value_names);
	char count[32];

	if (r->step && !step)
		return hu_fail(HU_EFILE, "%s: row %zu has no %s, which --step names", r->path, r->number, r->step);
	snprintf(count, sizeof count, "row %zu", r->number);
	if (step && !r->file->step)
		r->file->step = hu_xstrdup(step->name);
	const char *at = step && !nothing(step->text) ? step->text : count;
	if (name && value) {
		if (!nothing(value->text))
			add_point(r, name->text, at, value->text);
	} else {
		for (size_t i = 0; i < r->n; i++)
			if (&r->cell[i] != step && !nothing(r->cell[i].text))
				add_point(r, r->cell[i].name, at, r->cell[i].text);
	}
	for (size_t i = 0; i < r->n; i++) {
		free(r->cell[i].name);
		free(r->cell[i].text);
	}
	r->n = 0;
	return HU_OK;
}

void
hu_series_row_release(hu_series_row *r)
{
	for (size_t i = 0; i < r->n; i++) {
		free(r->cell[i].name);
		free(r->cell[i].text);
	}
	free(r->cell);
	free(r->index);
}
