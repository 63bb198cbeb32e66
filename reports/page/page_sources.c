/* SPDX-License-Identifier: Apache-2.0
   The section that tells, for every number at the top of a page, the rows of the run's tables that it is made of and
   the command that made these. The numbers are made again here from the rows, all digits shown. */
#include "lib/base/show.h"
#include "reports/page/page_parts.h"

#include "lib/base/mem.h"
#include "reports/metrics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum rule { LAST, MOST, LEAST, SAMPLED, SHARE, COUNT, MIDDLE } rule;

static const struct source {
	const char *key, *query;
	rule rule;
	const char *column, *of, *words;
} sources[] = {
#define SOURCE(key, query, rule, column, of, words) { key, query, rule, column, of, words },
#include "reports/page/sources.def"
#undef SOURCE
};
enum { SOURCES = sizeof sources / sizeof *sources };

int
hu_page_has_source(const char *key)
{
	for (size_t i = 0; i < SOURCES; i++)
		if (!strcmp(sources[i].key, key))
			return 1;
	return 0;
}

/* Returns the row of the last, largest or smallest value, of equal ones the first; or the first row that has none. */
static size_t
row_of(const struct source *f, const hu_selection *s)
{
	size_t at = f->rule == LAST ? s->rows - 1 : 0;

	for (size_t r = 1; r < s->rows && f->rule != LAST; r++) {
		double x = hu_selection_real(s, r, f->column), best = hu_selection_real(s, at, f->column);
		if (!isnan(best) && (isnan(x) || (f->rule == MOST ? x > best : x < best)))
			at = r;
	}
	return at;
}

static double
sum(const hu_selection *s, const char *column, const char *of)
{
	double all = 0;

	for (size_t r = 0; r < s->rows; r++) {
		double x = hu_selection_real(s, r, column),
		       times = of ? hu_selection_real(s, r, of) / hu_selection_real(s, r, "elements") : 1;
		all += isfinite(x * times) ? x * times : 0;
	}
	return all;
}

/* Returns the number as text, of one row as the table has it; the caller frees it. */
static char *
value_of(const struct source *f, const hu_selection *s, const hu_report_run *run)
{
	switch (f->rule) {
	case COUNT: return hu_xprintf("%zu", s->rows);
	case SAMPLED: return hu_xprintf("%.17g", round(sum(s, f->column, f->of)));
	case SHARE: return hu_xprintf("%.17g", sum(s, f->column, NULL) / sum(s, f->of, NULL));
	case MIDDLE: return hu_xprintf("%.17g", hu_metrics_median(run, f->column));
	case LAST:
	case MOST:
	case LEAST: break;
	}
	const char *cell = hu_selection_cell(s, row_of(f, s), f->column);
	return hu_xstrdup(strcmp(cell, "-") ? cell : "–");
}

/* Appends what names the row: its cells before the value's, or how many rows there are. */
static void
which_row(hu_str *b, const struct source *f, const hu_selection *s)
{
	if (f->rule != LAST && f->rule != MOST && f->rule != LEAST) {
		hu_str_addf(b, "%zu row%s", s->rows, s->rows == 1 ? "" : "s");
		return;
	}
	size_t row = row_of(f, s);
	for (int c = 0; c < s->columns && strcmp(s->column[c], f->column); c++) {
		hu_str_addf(b, "%s%s ", c ? ", " : "", s->column[c]);
		hu_html_text(b, hu_selection_cell(s, row, s->column[c]));
	}
}

static void
made_by(hu_str *b, const struct source *f, const hu_report_run *r)
{
	hu_str line;

	if (strncmp(f->query, "analysis/", 9)) {
		hu_str_add(b, "<a href=\"#again\">halfulp train</a>");
		return;
	}
	hu_str_init(&line);
	hu_str_add(&line, "halfulp analyze ");
	hu_show_word(&line, r->dir);
	hu_str_add(b, "<code>");
	hu_html_text(b, line.s);
	hu_str_add(b, "</code>");
	hu_str_release(&line);
}

static hu_status
source_row(hu_str *b, const struct source *f, const char *label, const hu_report_run *r, int first)
{
	hu_selection s;

	HU_TRY(hu_select(&s, f->query, &r->dir, 1));
	hu_str_add(b, "<tr");
	if (first)
		hu_str_addf(b, " id=\"from-%s\"", f->key);
	hu_str_addf(b, "><th scope=\"row\">%s</th><td>", label);
	if (s.rows) {
		char *value = value_of(f, &s, r);
		hu_html_text(b, value);
		free(value);
	} else {
		hu_str_add(b, "–");
	}
	hu_str_addf(b, "</td><td class=\"left\">%s</td><td class=\"left\"><code>%.*s</code></td><td class=\"left\">",
		f->words, (int)strcspn(f->query, " "), f->query);
	if (s.rows)
		which_row(b, f, &s);
	else
		hu_html_text(b, s.empty ? s.empty : "no row");
	hu_str_add(b, "</td><td class=\"left\">");
	made_by(b, f, r);
	hu_str_add(b, "</td></tr>\n");
	hu_selection_release(&s);
	return HU_OK;
}

hu_status
hu_page_sources(hu_str *b, const hu_report_run *r, int several)
{
	if (!r->summary)
		return HU_OK;
	hu_str_add(b, "<section>\n<h2>Where the numbers come from");
	if (several) {
		hu_str_add(b, ": ");
		hu_html_text(b, r->label);
	}
	hu_str_add(b,
		"</h2>\n<p class=\"note\">Each number at the top of this page, made again from the rows of the run's "
		"tables.</p>\n<div class=\"scroll\" tabindex=\"0\"><table "
		"class=\"sources\">\n<thead><tr><th>number</th>"
		"<th>all digits</th><th class=\"left\">what it is</th><th class=\"left\">table</th>"
		"<th class=\"left\">row</th><th class=\"left\">made by</th></tr></thead>\n<tbody>\n");
	for (const hu_number *n = hu_numbers; n->label; n++) {
		int first = 1;
		for (size_t i = 0; i < SOURCES; i++)
			if (!strcmp(sources[i].key, n->key)) {
				HU_TRY(source_row(b, &sources[i], n->label, r, first));
				first = 0;
			}
	}
	hu_str_add(b, "</tbody>\n</table></div>\n</section>\n");
	return HU_OK;
}
