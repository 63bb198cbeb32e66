/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/drift/history_rows.h"

#include "analyzers/drift/baseline/baseline_headline.h"
#include "analyzers/drift/baseline/place.h"
#include "lib/base/tsv.h"
#include "lib/number/round.h"
#include "lib/number/ulp.h"
#include "lib/store/history/course.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* One of the two tables of a history: of headlines or not, its columns, and of how many commits it has rows. */
typedef struct kind {
	int headline, columns;
	size_t commits;
} kind;

/* The interval that WANT, a row of the baseline, allows: infinite where a side is free, NaN where nothing is compared.
 */
static void
limits(const hu_baseline_quantity *want, double *low, double *high)
{
	*low = *high = NAN;
	if (!want || want->side == HU_SIDE_ANY || !want->number || !isfinite(want->value))
		return;
	double allowed =
		fmax(want->tolerance, ldexp(want->ulps, hu_ulp_exponent(want->value, hu_format_of(want->format))));
	*low = want->side == HU_SIDE_UP ? -INFINITY : want->value - allowed;
	*high = want->side == HU_SIDE_DOWN ? INFINITY : want->value + allowed;
}

static void
limit_cell(hu_tsv *t, double x)
{
	if (isnan(x))
		hu_tsv_text(t, "-");
	else
		hu_tsv_real(t, x);
}

/* The first row of OLD that stays beside those of COMMIT: the last MOST commits but this one stay. */
static int
first_kept(const hu_table *old, const char *commit, size_t most)
{
	size_t commits = 0;
	int i = old->rows;

	while (i > 0) {
		const char *of = hu_table_cell(old, i - 1, 0);
		if (strcmp(of, commit) && (i == old->rows || strcmp(of, hu_table_cell(old, i, 0))) && ++commits > most)
			break;
		i--;
	}
	return i;
}

/* Copies the rows of the table OLD but those of COMMIT. */
static void
copy_others(hu_tsv *t, const hu_table *old, const char *commit, const kind *of)
{
	static const char *const column[] = { "commit", "date", "quantity", "value", "low", "high", "step", "call" };

	for (int i = first_kept(old, commit, of->commits - 1); i < old->rows; i++)
		for (int k = 0; k < of->columns && strcmp(hu_table_cell(old, i, 0), commit); k++)
			hu_tsv_text(t, hu_table_cell(old, i, hu_table_column(old, column[k])));
}

/* Adds where in a run the quantity KEY is. */
static void
place_cells(hu_tsv *t, const char *key)
{
	hu_place p;

	hu_place_init(&p, key);
	limit_cell(t, p.step < 0 ? NAN : (double)p.step);
	limit_cell(t, p.call < 0 ? NAN : (double)p.call);
	hu_place_release(&p);
}

/* Whether Q of B, which is held to W, is of the table's kind: what a reviewer reads first, or every other quantity that
   a limit is set for. */
static int
belongs(const hu_baseline *b, const hu_baseline_quantity *q, const hu_baseline_quantity *w, const kind *of)
{
	if (!q->number)
		return 0;
	return of->headline ? hu_is_headline(b, q) : !hu_is_headline(b, q) && w && w->number && w->side != HU_SIDE_ANY;
}

/* Copies the rows of other commits from the table that is there, and adds B's, which were held to WANT. */
static hu_status
rewrite(const hu_baseline *b, const hu_baseline *want, const char *path, const char *commit, const kind *of)
{
	char date[32];
	time_t now = time(NULL);
	struct tm utc;
	hu_tsv t;
	hu_table old = { .rows = 0 };
	int there = hu_exists(path);
	double low, high;

	if (there) {
		HU_TRY(hu_table_read(&old, path));
		hu_status st = hu_courses_fit(&old, path);
		if (st != HU_OK)
			hu_table_release(&old);
		HU_TRY(st);
	}
	strftime(date, sizeof date, "%Y-%m-%d", gmtime_r(&now, &utc));
	hu_tsv_init(&t);
	hu_tsv_note(&t, "table", "history");
	hu_tsv_header(&t,
		of->headline ? "commit date quantity value low high" : "commit date quantity value low high step call");
	copy_others(&t, &old, commit, of);
	if (there)
		hu_table_release(&old);
	for (size_t i = 0; i < b->n; i++) {
		const hu_baseline_quantity *q = &b->q[i], *w = hu_baseline_find(want, q->key);
		if (!belongs(b, q, w, of))
			continue;
		limits(w, &low, &high);
		hu_tsv_text(&t, commit);
		hu_tsv_text(&t, date);
		hu_tsv_text(&t, q->key);
		hu_tsv_text(&t, q->text);
		limit_cell(&t, low);
		limit_cell(&t, high);
		if (!of->headline)
			place_cells(&t, q->key);
	}
	return hu_tsv_write(&t, path);
}

hu_status
hu_history_rows(const hu_baseline *b, const hu_baseline *want, const char *dir, const char *commit)
{
	static const kind first = { 1, 6, SIZE_MAX }, others = { 0, 8, HU_HISTORY_KEPT };
	char *path = hu_path(dir, HU_HISTORY_FILE), *gated = hu_path(dir, HU_HISTORY_GATED);
	hu_status st = rewrite(b, want, path, commit, &first);

	if (st == HU_OK)
		st = rewrite(b, want, gated, commit, &others);
	free(gated);
	free(path);
	return st;
}
