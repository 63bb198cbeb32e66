/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/drift/statistics/check_score.h"

#include "analyzers/drift/outcome/outcome.h"
#include "analyzers/drift/statistics/check_statistics.h"
#include "analyzers/drift/statistics/score.h"
#include "lib/base/console/threshold.h"
#include "lib/base/show.h"
#include "lib/base/mem.h"
#include "lib/base/str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Shares are told in percent, and their differences in points. */
static int
in_points(const hu_scores *s)
{
	return s->better > 0;
}

static void
add_score(hu_str *o, const hu_scores *s, double x)
{
	if (in_points(s))
		hu_str_addf(o, "%.2f %%", 100 * x);
	else
		hu_str_addf(o, "%.5g", x);
}

static void
add_difference(hu_str *o, const hu_scores *s, double x)
{
	if (in_points(s))
		hu_str_addf(o, "%.2f points", 100 * x);
	else
		hu_str_addf(o, "%.3g", x);
}

int
hu_score_record(const hu_args *a, const char *path)
{
	const char *reason = hu_args_text(a, "reason");
	hu_scores s = { .better = 0 };
	hu_status st = reason ? hu_scores_collect(&s, hu_args_text(a, "score"), a->rest, a->nrest)
			      : hu_fail(HU_EINVAL, "--reason TEXT is needed: why these numbers are right");

	if (st == HU_OK)
		st = hu_scores_serve(&s);
	if (st == HU_OK)
		st = hu_scores_write(&s, path, reason);
	if (st == HU_OK) {
		hu_str o;
		hu_str_init(&o);
		hu_str_addf(&o, "%s of %d seeds recorded in %s\n", s.column, s.by.n, hu_shown(path));
		for (int k = 1; k <= 10; k += k == 1 ? 2 : k == 3 ? 2 : 5) {
			hu_str_addf(&o, "%d %s a %s of ", k, k == 1 ? "candidate detects" : "candidates detect",
				s.better > 0 ? "drop" : "rise");
			add_difference(&o, &s, hu_score_detects(&s, k));
			hu_str_addf(&o, " with %.0f %%\n", 100 * HU_SCORE_POWER);
		}
		fputs(o.s, stdout);
		hu_str_release(&o);
	}
	hu_scores_release(&s);
	return st == HU_OK ? HU_EXIT_OK : hu_complain(st);
}

/* The one outcome, and what was tested. */
static void
add_outcome(hu_outcomes *o, const hu_scores *was, const hu_scores *is, const hu_score_test *t, int olympic)
{
	int ok = hu_threshold_keeps(hu_threshold_most(t->limit), t->t);
	double worse = was->better * (t->was - t->is);
	hu_str s;

	hu_str_init(&s);
	add_score(&s, was, t->is);
	hu_str_addf(&s, " is the %s of %d runs, ", olympic ? "olympic mean" : "mean", is->by.n);
	add_difference(&s, was, fabs(worse));
	hu_str_addf(&s, " %s than the ", worse > 0 ? "worse" : "better");
	add_score(&s, was, t->was);
	hu_str_addf(&s, " of %d in the baseline; ", was->by.n);
	add_difference(&s, was, t->allowed);
	hu_str_addf(&s, " %s is allowed", was->better > 0 ? "less" : "more");
	hu_outcomes_add(o, was->column, ok, s.s,
		ok ? NULL
		   : hu_xprintf("t = %.3f with %d degrees of freedom, and chance alone is above %.3f in %g %%", t->t,
			     t->degrees, t->limit, 100 * HU_SCORE_ALPHA));
	o->v[0].moved = t->is - t->was;
	o->v[0].allowed = t->allowed;
	hu_str_init(&s);
	hu_str_addf(&s, "%s %s\n", was->column, ok ? "holds" : "got worse");
	hu_str_addf(&s, "one-sided %s at %g %%: %d candidate%s against %d baseline runs detect%s a %s of ",
		olympic ? "test of trimmed means (Yuen and Dixon)" : "t test", 100 * HU_SCORE_ALPHA, is->by.n,
		is->by.n == 1 ? "" : "s", was->by.n, is->by.n == 1 ? "s" : "", was->better > 0 ? "drop" : "rise");
	add_difference(&s, was, t->detected);
	hu_str_addf(&s, " with %.0f %%", 100 * HU_SCORE_POWER);
	o->summary = s.s;
}

/* What JSON says. */
static json_t *
head(const hu_outcomes *o, const hu_scores *was, const hu_scores *is, const hu_score_test *t, const char *path)
{
	return json_pack("{s:s s:s s:s s:b s:i s:i s:o s:o s:o s:o s:i s:o s:o s:f s:f s:s}", "run", hu_shown(o->of),
		"baseline", hu_shown(path), "score", was->column, "ok", !o->failed, "recorded", was->by.n, "candidates",
		is->by.n, "was", hu_fields_number(t->was), "is", hu_fields_number(t->is), "t", hu_fields_number(t->t),
		"limit", hu_fields_number(t->limit), "degrees", t->degrees, "allowed", hu_fields_number(t->allowed),
		"detected", hu_fields_number(t->detected), "alpha", HU_SCORE_ALPHA, "power", HU_SCORE_POWER, "summary",
		o->summary);
}

int
hu_score_check(const hu_args *a, const char *format)
{
	const char *path = hu_args_text(a, "baseline");
	int olympic = hu_args_given(a, "olympic"), code = HU_EXIT_OK;
	hu_scores was = { .better = 0 }, is = { .better = 0 };
	hu_score_test t;
	char *why = NULL;
	hu_status st = hu_scores_read(&was, path);

	if (st == HU_OK)
		st = hu_statistics_environment(a, &was.by.of, 1, &why);
	if (st == HU_OK)
		st = hu_scores_collect(&is, was.column, a->rest, a->nrest);
	if (st == HU_OK)
		st = hu_score_judge(&t, &was, &is, olympic);
	if (st == HU_OK) {
		hu_outcomes o;
		hu_outcomes_init(&o, "halfulp check", a->rest[0]);
		add_outcome(&o, &was, &is, &t, olympic);
		if (o.failed) {
			char *all = hu_xprintf("%s\n%s", o.summary, why);
			free(o.summary);
			o.summary = all;
		}
		hu_outcomes_decide(&o, hu_xprintf(o.failed ? "%s got worse: %s is further off than chance moves it"
							   : "%s holds: %s is within what chance moves",
					       hu_shown(o.of), was.column));
		o.head = head(&o, &was, &is, &t, path);
		code = hu_outcomes_end(&o, format);
	}
	free(why);
	hu_scores_release(&was);
	hu_scores_release(&is);
	return st == HU_OK ? code : hu_complain(st);
}
