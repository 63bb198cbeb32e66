/* SPDX-License-Identifier: Apache-2.0
   A check of a run as rows, and what a person reads beside them: the verdict first, where the run moved first and why,
   and the decision in the last line. */
#include "analyzers/drift/check/check_text.h"

#include "analyzers/drift/baseline/baseline_headline.h"
#include "analyzers/drift/baseline/baseline_program.h"
#include "analyzers/drift/baseline/place.h"
#include "analyzers/drift/check/why.h"
#include "lib/base/file.h"
#include "lib/base/show.h"
#include "lib/base/mem.h"
#include "lib/base/str.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A finding. The texts of the cells that a person reads are its own. */
typedef struct row {
	const char *key, *held, *verdict;
	int ok;
	hu_field_cell want, got; /* as programs read them */
	double ulps, allowed;
	hu_place place;
	long long step;
	char *quantity; /* the place without what other columns have */
	hu_field_cell was, is, change;
	char text[3][24];
} row;

#define COLUMN(...) HU_FIELD_OF(row, __VA_ARGS__)
static const hu_table_field columns[] = {
	COLUMN("verdict", TEXT, verdict, SHOWN, "whether it holds"),
	COLUMN("step", COUNT, step, SHOWN, "the step of the quantity", .rank = 2),
	COLUMN("tensor", TEXT, place.tensor, SHOWN, "its tensor", .rank = 1),
	COLUMN("where", TEXT, quantity, SHOWN, "what of it was measured", .heading = "quantity"),
	COLUMN("was", CELL, was, SHOWN, "its value in the baseline", .heading = "baseline"),
	COLUMN("is", CELL, is, SHOWN, "its value in the run", .heading = "run"),
	COLUMN("change", CELL, change, SHOWN, "how far it moved, of what it was", .unit = "%", .rank = 3),
	COLUMN("layer", TEXT, place.layer, SHOWN, "its layer", .rank = 4),
	COLUMN("quantity", TEXT, key, WRITTEN, "the name of the quantity in the baseline"),
	COLUMN("ok", FLAG, ok, WRITTEN, "whether it holds"),
	COLUMN("held", TEXT, held, WRITTEN, "how it held, or did not"),
	COLUMN("baseline", CELL, want, WRITTEN, "its value in the baseline"),
	COLUMN("run", CELL, got, WRITTEN, "its value in the run"),
	COLUMN("ulps", MEASURED, ulps, WRITTEN, "how far the two are apart, in ulps of its format"),
	COLUMN("allowed_ulps", MEASURED, allowed, WRITTEN, "how far they may be apart"),
};

static const char *
key_of(const hu_finding *f)
{
	return (f->want ? f->want : f->got)->key;
}

static hu_field_cell
cell_of(const hu_baseline_quantity *q)
{
	return (hu_field_cell){ q ? q->value : NAN, q && !isfinite(q->value) ? q->text : NULL };
}

/* The same for a person: a number has six digits, and a digest its first letters. */
static hu_field_cell
shown(const hu_baseline_quantity *q, char *text, size_t size)
{
	hu_field_cell cell = cell_of(q);

	if (cell.text) {
		snprintf(text, size, "%.10s", cell.text);
		cell.text = text;
	}
	return cell;
}

/* How far a number moved, in percent of what it was. */
static hu_field_cell
change(const hu_finding *f, char *text, size_t size)
{
	double was = f->want ? f->want->value : NAN, is = f->got ? f->got->value : NAN;

	if (!isfinite(was) || !isfinite(is) || was == 0)
		return (hu_field_cell){ NAN, NULL };
	snprintf(text, size, "%+.3g", 100 * (is - was) / fabs(was));
	return (hu_field_cell){ 0, text };
}

static void
fill(row *r, const hu_finding *f)
{
	*r = (row){ .key = key_of(f),
		.held = hu_held_text(f->held),
		.ok = f->held < HU_DRIFT,
		.want = cell_of(f->want),
		.got = cell_of(f->got),
		.ulps = isfinite(f->ulps) ? f->ulps : NAN,
		.allowed = f->want ? f->want->ulps : NAN };
	r->verdict = r->ok ? "pass" : "fail";
	hu_place_init(&r->place, r->key);
	r->step = r->place.step;
	/* metrics/last/loss has no tensor: the key says which loss */
	r->quantity = r->place.tensor ? hu_xprintf("%s %s", r->place.table, r->place.column)
				      : hu_xstrdup(r->step >= 0 ? r->place.column : r->key);
	r->was = shown(f->want, r->text[0], sizeof r->text[0]);
	r->is = shown(f->got, r->text[1], sizeof r->text[1]);
	r->change = change(f, r->text[2], sizeof r->text[2]);
}

static void
drop(void *rows, size_t n)
{
	row *r = rows;

	for (size_t i = 0; i < n; i++) {
		hu_place_release(&r[i].place);
		free(r[i].quantity);
	}
	free(r);
}

/* Which rows stand in the table: of failures those with numbers, unless there are none; where all holds, the ends of
   the metrics and the worst of each column. PASS 0 takes the best of these, pass 1 what else there is room for. */
static int
wanted(const hu_check_report *r, size_t i, int pass)
{
	const hu_finding *f = &r->f[i];
	const char *key = key_of(f);
	int number = f->want && f->want->number;

	if (hu_is_program_row(key) || (r->failed && f->held < HU_DRIFT))
		return 0;
	if (r->failed)
		return pass ? !number : number;
	return number && hu_is_headline(r->want, f->want) && strncmp(key, "metrics/0/", 10) &&
	       pass == !strncmp(key, "summary/", 8);
}

static void
choose(hu_outcomes *v, const hu_check_report *r)
{
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < r->n && v->nshown < HU_OUTCOME_ROWS; i++)
			if (wanted(r, i, pass))
				v->shown[v->nshown++] = i;
}

/* What failed worst, of at most 70 columns or so. */
static void
add_worst(hu_str *s, const hu_check_report *r)
{
	size_t at = 0;

	while (at + 1 < r->failed && hu_is_program_row(key_of(&r->f[at])))
		at++;
	const hu_finding *f = &r->f[at];
	if (hu_is_program_row(key_of(f))) {
		hu_str_add(s, "another program");
		return;
	}
	hu_place_words(s, key_of(f));
	if (f->want && f->got && f->want->number)
		hu_str_addf(s, ", %.6g -> %.6g", f->want->value, f->got->value);
	else if (!f->want || !f->got)
		hu_str_add(s, f->want ? ", which the run lacks" : ", which the baseline lacks");
}

/* Where the run moved first, and why, a line each: of WHY, but for the worst, which the table has. */
static void
explain(hu_str *s, const char *why)
{
	const char *cause = strstr(why, "Most likely cause: "), *worst = strstr(why, "; worst: ");
	size_t first = (size_t)((worst ? worst : cause ? cause - 2 : why + strlen(why)) - why);

	hu_str_addf(s, "\nFirst: %.*s\n", (int)first, why);
	if (cause)
		hu_str_addf(s, "%s\n", cause);
}

static void
decide(hu_str *s, const hu_check_report *r)
{
	hu_str_addf(s, "%s ", hu_shown(r->run));
	if (!r->n)
		hu_str_add(s, "and its baseline have no quantity to compare");
	else if (!r->failed)
		hu_str_addf(s, "holds: all %zu quantities are as in %s, or as near as it allows", r->n,
			hu_shown(hu_file_leaf(r->path)));
	else {
		hu_str_addf(s, "drifted: %zu of %zu quantities fail, worst: ", r->failed, r->n);
		add_worst(s, r);
	}
}

void
hu_check_rows(hu_outcomes *v, const hu_check_report *r)
{
	row *rows = hu_xcalloc(r->n + 1, sizeof *rows);

	for (size_t i = 0; i < r->n; i++)
		fill(&rows[i], &r->f[i]);
	v->fields = (hu_fields)HU_FIELDS(columns, row);
	v->fields.dense = 1;
	v->rows = rows;
	v->drop = drop;
	choose(v, r);
	if (v->why)
		explain(&v->reasons, v->why);
	if (r->history)
		hu_str_addf(&v->remarks, "%s\n", r->history);
	if (r->obtained)
		hu_str_addf(&v->remarks,
			"%s has what was obtained; where that is right, it becomes the baseline: halfulp baseline "
			"--help\n",
			hu_shown(r->obtained));
	decide(&v->decision, r);
}
