/* SPDX-License-Identifier: Apache-2.0
   A check of a run for a person: a table with the verdict first, where the run moved first and why, and the decision in
   the last line. */
#include "analyzers/drift/check/check_text.h"

#include "analyzers/drift/baseline/baseline_headline.h"
#include "analyzers/drift/baseline/baseline_program.h"
#include "analyzers/drift/check/why.h"
#include "lib/base/show.h"
#include "lib/base/mem.h"
#include "lib/base/str.h"
#include "lib/base/terminal/fitted.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *
key_of(const hu_finding *f)
{
	return (f->want ? f->want : f->got)->key;
}

/* A value with six digits, "-" where one of the two has none, and a digest by its first letters. */
static void
value(hu_fitted *t, const hu_baseline_quantity *q)
{
	char text[24];

	if (!q)
		snprintf(text, sizeof text, "-");
	else if (q->number && isfinite(q->value))
		snprintf(text, sizeof text, "%.6g", q->value);
	else
		snprintf(text, sizeof text, "%.10s", q->text);
	hu_fitted_cell(t, text);
}

/* How far a number moved, in percent of what it was. */
static void
change(hu_fitted *t, const hu_finding *f)
{
	double was = f->want ? f->want->value : NAN, is = f->got ? f->got->value : NAN;

	hu_fitted_number(t, "%+.3g", isfinite(was) && isfinite(is) && was != 0 ? 100 * (is - was) / fabs(was) : NAN);
}

static void
row(hu_fitted *t, const hu_finding *f)
{
	hu_place p;
	char text[24];
	const char *key = key_of(f);

	hu_place_init(&p, key);
	hu_fitted_cell(t, f->held >= HU_DRIFT ? "fail" : "pass");
	snprintf(text, sizeof text, p.step < 0 ? "-" : "%lld", p.step);
	hu_fitted_cell(t, text);
	hu_fitted_cell(t, p.tensor ? hu_shown(p.tensor) : "-");
	/* metrics/last/loss has no tensor: the key says which loss */
	char *what = p.tensor ? hu_xprintf("%s %s", p.table, p.column) : hu_xstrdup(p.step >= 0 ? p.column : key);
	hu_fitted_cell(t, hu_shown(what));
	free(what);
	value(t, f->want);
	value(t, f->got);
	change(t, f);
	hu_fitted_cell(t, p.layer ? hu_shown(p.layer) : "-");
	hu_place_release(&p);
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

static size_t
table(const hu_check_report *r)
{
	hu_fitted t = { .n = 0 };
	size_t shown = 0;

	hu_fitted_add(&t, "verdict", 1, 0);
	hu_fitted_add(&t, "step", 0, 2);
	hu_fitted_add(&t, "tensor", 1, 1);
	hu_fitted_add(&t, "quantity", 1, 0);
	hu_fitted_add(&t, "baseline", 0, 0);
	hu_fitted_add(&t, "run", 0, 0);
	hu_fitted_add(&t, "change %", 0, 3);
	hu_fitted_add(&t, "layer", 1, 4);
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < r->n && shown < HU_OUTCOME_ROWS; i++)
			if (wanted(r, i, pass)) {
				row(&t, &r->f[i]);
				shown++;
			}
	if (shown)
		hu_fitted_print(&t, hu_fitted_width());
	hu_fitted_release(&t);
	return shown;
}

/* What failed worst, of at most 70 columns or so. */
static void
add_worst(hu_str *s, const hu_check_report *r)
{
	size_t at = 0;
	hu_place p;

	while (at + 1 < r->failed && hu_is_program_row(key_of(&r->f[at])))
		at++;
	const hu_finding *f = &r->f[at];
	if (hu_is_program_row(key_of(f))) {
		hu_str_add(s, "another program");
		return;
	}
	hu_place_init(&p, key_of(f));
	hu_str_addf(s, "%s", p.tensor ? p.column : key_of(f));
	if (p.tensor)
		hu_str_addf(s, " of %s", hu_shown(p.tensor));
	if (p.tensor && p.step >= 0)
		hu_str_addf(s, " at step %lld", p.step);
	if (f->want && f->got && f->want->number)
		hu_str_addf(s, ", %.6g -> %.6g", f->want->value, f->got->value);
	else if (!f->want || !f->got)
		hu_str_add(s, f->want ? ", which the run lacks" : ", which the baseline lacks");
	hu_place_release(&p);
}

/* Where the run moved first, and why, a line each: of what hu_check_why has, but for the worst, which the table has. */
static void
explain(const hu_check_report *r)
{
	char *why = hu_check_why(r);
	const char *cause = strstr(why, "Most likely cause: "), *worst = strstr(why, "; worst: ");
	size_t first = (size_t)((worst ? worst : cause ? cause - 2 : why + strlen(why)) - why);

	printf("\nFirst: %.*s\n", (int)first, why);
	if (cause)
		printf("%s\n", cause);
	free(why);
}

void
hu_check_text(const hu_check_report *r)
{
	size_t shown = table(r);
	const char *slash = strrchr(r->path, '/');
	hu_str s;

	if (r->failed)
		explain(r);
	hu_outcome_rest(stdout, r->n, r->failed, shown);
	if (r->history)
		printf("%s\n", r->history);
	if (r->obtained) {
		printf("%s has what was obtained; ", hu_shown(r->obtained));
		printf("where that is right, it becomes the baseline: halfulp baseline --help\n");
	}
	hu_str_init(&s);
	hu_str_addf(&s, "%s ", hu_shown(r->run));
	if (!r->n)
		hu_str_add(&s, "and its baseline have no quantity to compare");
	else if (!r->failed)
		hu_str_addf(&s, "holds: all %zu quantities are as in %s, or as near as it allows", r->n,
			slash && slash[1] ? slash + 1 : r->path);
	else {
		hu_str_addf(&s, "drifted: %zu of %zu quantities fail, worst: ", r->failed, r->n);
		add_worst(&s, r);
	}
	hu_outcome_line(stdout, &s);
	hu_str_release(&s);
}
