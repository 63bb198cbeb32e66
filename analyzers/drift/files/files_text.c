/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/drift/files/files_text.h"

#include "analyzers/drift/outcome/outcome.h"
#include "analyzers/drift/files/files_why.h"
#include "lib/base/show.h"
#include "lib/base/terminal/fitted.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void
count(hu_fitted *t, size_t n)
{
	char text[24];

	snprintf(text, sizeof text, "%zu", n);
	hu_fitted_cell(t, text);
}

void
hu_files_columns(hu_fitted *t)
{
	hu_fitted_add(t, "differ", 0, 1);
	hu_fitted_add(t, "ulps", 0, 5);
	hu_fitted_add(t, "abs", 0, 7);
	hu_fitted_add(t, "rel", 0, 3);
	hu_fitted_add(t, "l2", 0, 4);
	hu_fitted_add(t, "cosine", 0, 8);
	hu_fitted_add(t, "sqnr dB", 0, 2);
	hu_fitted_add(t, "nonfinite", 0, 9);
}

void
hu_files_measures(hu_fitted *t, const hu_files_row *r)
{
	const hu_measures *m = &r->m;
	int none = !r->old || !r->new || r->state == HU_FILES_SHAPE || r->state == HU_FILES_IGNORED;
	char ulps[64];

	if (none) {
		for (int i = 0; i < HU_FILES_MEASURES; i++)
			hu_fitted_cell(t, "-");
		return;
	}
	snprintf(ulps, sizeof ulps, r->ulps_of == HU_NO_FORMAT ? "%.4g" : "%.4g %s", m->ulps[0],
		hu_format_name(r->ulps_of));
	count(t, m->differ);
	hu_fitted_cell(t, m->text ? "-" : ulps);
	hu_fitted_number(t, "%.4g", m->abs);
	hu_fitted_number(t, "%.4g", m->rel);
	hu_fitted_number(t, "%.4g", m->l2);
	hu_fitted_number(t, "%.8f", m->cosine);
	hu_fitted_number(t, "%.4g", m->sqnr);
	count(t, m->nonfinite);
}

static const char *
verdict(const hu_files_row *r)
{
	return r->state >= HU_FILES_BEYOND ? "fail" : r->state == HU_FILES_IGNORED ? "-" : "pass";
}

/* Prints the last line. */
static void
decide(const hu_files *g)
{
	const char *path = g->new.path, *slash = strrchr(path, '/');
	hu_str s;

	hu_str_init(&s);
	hu_str_addf(&s, "%s ", hu_shown(slash && slash[1] ? slash + 1 : path));
	if (!g->n)
		hu_str_add(&s, "and its baseline have nothing to compare");
	else if (!g->failed)
		hu_str_addf(&s, "holds: %s of %zu name%s %s, %zu %s the same values",
			g->n == 1 ? "the rule" : "the rules", g->n, g->n == 1 ? "" : "s",
			g->n == 1 ? "is kept" : "are kept", g->same, g->same == 1 ? "has" : "have");
	else {
		hu_str_addf(&s, "drifted: %zu of %zu names fail, worst: ", g->failed, g->n);
		hu_str_addf(&s, "%s, ", hu_shown(g->row[0].name));
		hu_str_add(&s, hu_shown(g->row[0].said));
	}
	hu_outcome_line(stdout, &s);
	hu_str_release(&s);
}

/* Why the rows that are shown fail, and what all of them together look like. */
static void
explain(const hu_files *g, size_t shown)
{
	char *why;
	const char *cause;

	if (!g->failed)
		return;
	putchar('\n');
	for (size_t i = 0; i < g->failed && i < shown; i++) {
		printf("%s: ", hu_shown(g->row[i].name));
		printf("%s\n", hu_shown(g->row[i].said));
	}
	why = hu_files_why(g);
	cause = strstr(why, "Most likely cause: ");
	if (cause)
		printf("%s\n", cause);
	free(why);
}

void
hu_files_text(const hu_files *g)
{
	hu_fitted t = { .n = 0 };
	size_t shown = g->failed && g->failed < HU_OUTCOME_ROWS ? g->failed : HU_OUTCOME_ROWS;

	shown = shown < g->n ? shown : g->n;
	hu_fitted_add(&t, "verdict", 1, 0);
	hu_fitted_add(&t, "name", 1, 0);
	hu_files_columns(&t);
	for (size_t i = 0; i < shown; i++) {
		hu_fitted_cell(&t, verdict(&g->row[i]));
		hu_fitted_cell(&t, hu_shown(g->row[i].name));
		hu_files_measures(&t, &g->row[i]);
	}
	if (shown)
		hu_fitted_print(&t, hu_fitted_width());
	hu_fitted_release(&t);
	explain(g, shown);
	hu_outcome_rest(stdout, g->n, g->failed, shown);
	for (size_t i = 0; i < g->rules.n; i++)
		if (!g->rules.rule[i].used)
			printf("no name came to the rule '%s'\n", hu_shown(g->rules.rule[i].text));
	decide(g);
}
