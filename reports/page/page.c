/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/page/page.h"

#include "lib/base/mem.h"
#include "reports/metrics.h"
#include "reports/page/page_parts.h"

#include <stdlib.h>
#include <string.h>

/* Of more than MANY runs the verdicts of the IN_FULL worst stand in full. */
enum { MANY = 6, IN_FULL = 3 };

/* Returns the runs' names, which the caller frees. */
static char *
names(const hu_report_runs *runs)
{
	hu_str b;

	hu_str_init(&b);
	for (int i = 0; i < runs->n; i++)
		hu_str_addf(&b, "%s%s", i ? ", " : "", runs->at[i].label);
	return b.s;
}

/* Appends a fact such as "3 epochs" where the manifest has it. */
static void
fact(hu_str *b, const json_t *manifest, const char *key, const char *before, const char *after)
{
	const json_t *v = hu_json_at(manifest, key);

	if (!v || json_is_null(v) || json_is_object(v))
		return;
	char *s = hu_human_json(v, HU_UNIT_COUNT);
	hu_str_add(b, before);
	hu_html_text(b, s);
	hu_str_add(b, after);
	free(s);
}

static void
heading(hu_str *b, const hu_report_runs *runs)
{
	const hu_report_run *r = &runs->at[0];

	hu_str_add(b, "<header>\n<p class=\"kicker\">halfulp report</p>\n<h1>");
	if (runs->n > 3)
		hu_str_addf(b, "%d runs compared", runs->n);
	for (int i = 0; i < runs->n && runs->n <= 3; i++) {
		hu_str_add(b, !i ? "" : i + 1 < runs->n ? ", " : " and ");
		hu_html_text(b, runs->at[i].label);
	}
	hu_str_add(b, "</h1>\n<p class=\"sub\">");
	fact(b, r->manifest, "model", "", "");
	fact(b, r->manifest, "dataset.name", " on ", "");
	fact(b, r->manifest, "steps", " · ", " steps");
	fact(b, r->manifest, "batch", " of ", "");
	fact(b, r->manifest, "seed", " · seed ", "");
	hu_str_add(b, "</p>\n</header>\n");
}

/* Appends the verdict of one of many runs: a line, which opens to the rest. */
static void
verdict_line(hu_str *b, const hu_report_run *r)
{
	const json_t *sentences = r->summary ? hu_json_at(r->summary, "verdict") : NULL;
	const char *word = r->summary ? hu_json_text(r->summary, "verdict_word") : "not analyzed";
	size_t i;
	json_t *s;

	hu_str_addf(b, "<details class=\"verdict %s\">\n<summary><b>", hu_verdict_class(r));
	hu_html_text(b, r->label);
	hu_str_add(b, ": <span class=\"word\">");
	hu_html_text(b, word ? word : "no verdict");
	hu_str_add(b, "</span></b> ");
	const char *first = json_string_value(json_array_get(sentences, 0));
	hu_html_number(b, first ? first : "");
	hu_str_add(b, "</summary>\n");
	json_array_foreach(sentences, i, s)
		if (i && json_is_string(s)) {
			hu_str_add(b, "<p>");
			hu_html_number(b, json_string_value(s));
			hu_str_add(b, "</p>\n");
		}
	hu_str_add(b, "</details>\n");
}

static void
verdict(hu_str *b, const hu_report_runs *runs, const hu_report_run *r)
{
	int several = runs->n > 1, brief = several && !strcmp(hu_verdict_class(r), "harmless");
	const json_t *sentences = r->summary ? hu_json_at(r->summary, "verdict") : NULL;
	size_t i;
	json_t *s;

	hu_str_addf(b, "<section class=\"verdict %s\">\n<h2>", hu_verdict_class(r));
	if (several) {
		hu_html_text(b, r->label);
		hu_str_add(b, ": ");
	}
	if (!r->summary) {
		hu_str_add(b, "not analyzed</h2>\n<p>There is no verdict yet: <code>halfulp analyze ");
		hu_html_text(b, r->dir);
		hu_str_add(b, "</code> makes one, then run the report again.</p>\n</section>\n");
		return;
	}
	const char *word = hu_json_text(r->summary, "verdict_word");
	hu_str_add(b, "<span class=\"word\">");
	hu_html_text(b, word ? word : "no verdict");
	hu_str_add(b, "</span></h2>\n");
	json_array_foreach(sentences, i, s)
		if (json_is_string(s) && (!brief || !i)) {
			hu_str_add(b, "<p>");
			hu_html_number(b, json_string_value(s));
			hu_str_add(b, "</p>\n");
		}
	if (r->summary)
		hu_page_counterexperiment(b, runs, r);
	hu_str_add(b, "</section>\n");
}

static void
tiles(hu_str *b, const hu_report_run *r, int several)
{
	if (!r->summary)
		return;
	hu_str_add(b, "<section>\n<h2>In numbers");
	if (several) {
		hu_str_add(b, ": ");
		hu_html_text(b, r->label);
	}
	hu_str_add(b, "</h2>\n<dl class=\"tiles\">\n");
	for (const hu_number *n = hu_numbers; n->label; n++) {
		char *value = hu_number_value(r, n), *note = hu_number_note(r, n);
		int linked = hu_page_has_source(n->key);
		hu_str_addf(b, "<div><dt>%s</dt><dd>", n->label);
		if (linked)
			hu_str_addf(b, "<a href=\"#from-%s\">", n->key);
		hu_html_number(b, value);
		hu_str_add(b, linked ? "</a>" : "");
		if (*note && strcmp(value, "–")) {
			hu_str_add(b, "<small>");
			hu_html_number(b, note);
			hu_str_add(b, "</small>");
		}
		hu_str_add(b, "</dd></div>\n");
		free(value);
		free(note);
	}
	hu_str_add(b, "</dl>\n</section>\n");
}

static hu_status
sections(hu_str *out, const hu_report_runs *runs, const hu_figures *figures, const char *formats, const char *command,
	const char *dir)
{
	const hu_report_run *focus = &runs->at[runs->focus];
	int listed = 0, several = runs->n > 1;

	heading(out, runs);
	for (int rank = 3; rank >= 0; rank--) /* the worst first; of many runs these alone in full */
		for (int i = 0; i < runs->n; i++)
			if (hu_verdict_order(&runs->at[i]) == rank) {
				if (runs->n > MANY && listed++ >= IN_FULL)
					verdict_line(out, &runs->at[i]);
				else
					verdict(out, runs, &runs->at[i]);
			}
	tiles(out, focus, several);
	hu_page_runs(out, runs);
	HU_TRY(hu_page_figures(out, runs, figures, formats, dir));
	HU_TRY(hu_page_tables(out, focus, several));
	HU_TRY(hu_page_layers(out, focus, several));
	HU_TRY(hu_page_sources(out, focus, several));
	hu_page_provenance(out, runs, command);
	return HU_OK;
}

hu_status
hu_page(hu_str *out, const hu_report_runs *runs, const hu_figures *figures, const char *formats, const char *command,
	const char *dir)
{
	char *title = names(runs);

	hu_str_init(out);
	hu_status st = hu_page_open(out, title, NULL);
	free(title);
	if (st == HU_OK)
		st = sections(out, runs, figures, formats, command, dir);
	if (st == HU_OK)
		st = hu_page_close(out);
	if (st != HU_OK)
		hu_str_release(out);
	return st;
}
