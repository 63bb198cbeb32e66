/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/show.h"
#include "reports/page/page_parts.h"

#include "lib/base/mem.h"
#include "reports/metrics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Returns a class name only where the word is one of ours, since it comes from a file. */
const char *
hu_verdict_class(const hu_report_run *r)
{
	const char *word = r->summary ? hu_json_text(r->summary, "verdict_word") : NULL,
		   *known[] = { "harmless", "costs", "fatal" };

	for (size_t i = 0; word && i < sizeof known / sizeof *known; i++)
		if (!strcmp(word, known[i]))
			return known[i];
	return "";
}

int
hu_verdict_order(const hu_report_run *r)
{
	const char *word = hu_verdict_class(r);

	return !strcmp(word, "fatal") ? 3 : !strcmp(word, "costs") ? 2 : !strcmp(word, "harmless") ? 0 : 1;
}

static const char *
text_or_dash(const json_t *j, const char *path)
{
	const char *s = hu_json_text(j, path);

	return s ? s : "–";
}

static void
run_row(hu_str *b, const hu_report_run *r)
{
	const char *rule = hu_json_text(r->manifest, "loss_scaling.rule");
	const char *verdict = r->summary ? hu_json_text(r->summary, "verdict_word") : NULL;
	char *class = hu_xprintf("td class=\"left %s\"", hu_verdict_class(r));

	hu_str_add(b, "<tr>");
	hu_str_add(b, "<th scope=\"row\">");
	hu_html_text(b, r->label);
	hu_str_add(b, "</th>");
	hu_page_cell(b, class, verdict ? verdict : "–");
	hu_page_cell(b, "td class=\"left\"", text_or_dash(r->manifest, "policy.compute"));
	hu_page_cell(b, "td class=\"left\"", text_or_dash(r->manifest, "policy.variable"));
	hu_page_cell(b, "td class=\"left\"", rule ? rule : text_or_dash(r->manifest, "loss_scaling"));
	hu_page_number(b, hu_metrics_last(r, "eval_accuracy"), HU_UNIT_SHARE);
	if (hu_metrics_diverged(r, "loss"))
		hu_page_cell(b, "td", "not finite");
	else
		hu_page_number(b, hu_metrics_last(r, "loss"), HU_UNIT_REAL);
	hu_page_number(b, hu_metrics_sum(r, "skipped"), HU_UNIT_COUNT);
	hu_page_number(b, hu_metrics_median(r, "ms"), HU_UNIT_REAL);
	hu_str_add(b, "</tr>\n");
	free(class);
}

static const struct { const char *key, *title;
} memory[] = {
	{ "weights", "weights" },
	{ "masters", "masters" },
	{ "activations", "activations" },
	{ "gradients", "gradients" },
	{ "optimizer_state", "optimizer" },
};

static void
memory_row(hu_str *b, const hu_report_run *r)
{
	const json_t *m = hu_json_at(r->manifest, "memory_bytes");
	double sum = 0;

	hu_str_add(b, "<tr>");
	hu_str_add(b, "<th scope=\"row\">");
	hu_html_text(b, r->label);
	hu_str_add(b, "</th>");
	for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) {
		double x = hu_json_number(m, memory[i].key);
		sum += isnan(x) ? 0 : x;
		hu_page_number(b, x, HU_UNIT_BYTES);
	}
	hu_page_number(b, m ? sum : NAN, HU_UNIT_BYTES);
	hu_str_add(b, "</tr>\n");
}

void
hu_page_runs(hu_str *b, const hu_report_runs *runs)
{
	hu_str_add(b, "<section>\n<h2>Runs</h2>\n<div class=\"scroll\" tabindex=\"0\"><table>\n"
		      "<thead><tr><th>run</th><th "
		      "class=\"left\">verdict</th><th class=\"left\">compute</th>"
		      "<th class=\"left\">variable</th><th class=\"left\">loss scaling</th><th>eval. "
		      "accuracy</th><th>final loss</th><th>skipped</th><th>ms a step</th></tr></thead>\n<tbody>\n");
	for (int i = 0; i < runs->n; i++)
		run_row(b, &runs->at[i]);
	hu_str_add(b, "</tbody>\n</table></div>\n<h3>Memory</h3>\n"
		      "<div class=\"scroll\" tabindex=\"0\"><table>\n<thead><tr><th>run</th>");
	for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
		hu_str_addf(b, "<th>%s</th>", memory[i].title);
	hu_str_add(b, "<th>together</th></tr></thead>\n<tbody>\n");
	for (int i = 0; i < runs->n; i++)
		memory_row(b, &runs->at[i]);
	hu_str_add(b, "</tbody>\n</table></div>\n</section>\n");
}

static void
training_command(hu_str *b, const hu_report_run *r)
{
	const json_t *c = hu_json_at(r->manifest, "command");
	hu_str line;
	size_t i;
	json_t *word;

	hu_str_init(&line);
	json_array_foreach(c, i, word)
		if (json_is_string(word)) {
			hu_str_add(&line, i ? " " : "");
			hu_show_word(&line, json_string_value(word));
		}
	if (json_is_string(c))
		hu_str_add(&line, json_string_value(c));
	hu_html_text(b, line.s);
	hu_str_add(b, line.len ? "\n" : "");
	hu_str_release(&line);
}

/* Returns a fact of the manifest as text, which the caller frees; NULL where it has none. */
static char *
fact_of(const hu_report_run *r, const char *path)
{
	const json_t *v = hu_json_at(r->manifest, path);

	if (!v || json_is_null(v) || json_is_object(v) || json_is_array(v))
		return NULL;
	return json_is_integer(v) ? hu_xprintf("%lld", (long long)json_integer_value(v))
				  : hu_human_json(v, HU_UNIT_REAL);
}

static int
is_shared(const hu_report_runs *runs, const char *path)
{
	char *first = fact_of(&runs->at[0], path);
	int same = 1;

	for (int i = 1; i < runs->n && same; i++) {
		char *other = fact_of(&runs->at[i], path);
		same = first && other ? !strcmp(first, other) : first == other;
		free(other);
	}
	free(first);
	return same;
}

static void
definition(hu_str *b, const char *title, const char *text)
{
	hu_str_addf(b, "<dt>%s</dt><dd>", title);
	hu_html_text(b, text);
	hu_str_add(b, "</dd>\n");
}

static const char *const provenance[][2] = {
	{ "halfulp", "halfulp_version" },
	{ "model", "model" },
	{ "data", "dataset.name" },
	{ "data digest", "dataset.digest" },
	{ "seed", "seed" },
	{ "optimizer", "optimizer.name" },
	{ "batch", "batch" },
	{ "loss weight", "loss_weight" },
	{ "accumulator", "accumulate" },
	{ "back end", "backend" },
	{ "device", "device" },
	{ "compiler", "compiler" },
	{ "SIMD", "simd" },
	{ "threads", "threads" },
	{ "host", "host" },
};
enum { FACTS = sizeof provenance / sizeof *provenance };

/* Appends what made the runs: what they share once, then for each its folder and what only it has. */
static void
facts(hu_str *b, const hu_report_runs *runs)
{
	int shared[FACTS];

	hu_str_add(b, runs->n > 1 ? "<h3>All of them</h3>\n<dl class=\"facts shared\">\n"
				  : "<dl class=\"facts shared\">\n");
	for (size_t k = 0; k < FACTS; k++) {
		char *s = fact_of(&runs->at[0], provenance[k][1]);
		shared[k] = is_shared(runs, provenance[k][1]);
		if (shared[k] && s)
			definition(b, provenance[k][0], s);
		free(s);
	}
	hu_str_add(b, "</dl>\n<div class=\"provenance\">\n");
	for (int i = 0; i < runs->n; i++) {
		hu_str_add(b, "<h3>");
		hu_html_text(b, runs->at[i].label);
		hu_str_add(b, "</h3>\n<dl class=\"facts\">\n");
		definition(b, "folder", runs->at[i].dir);
		for (size_t k = 0; k < FACTS; k++) {
			char *s = shared[k] ? NULL : fact_of(&runs->at[i], provenance[k][1]);
			if (s)
				definition(b, provenance[k][0], s);
			free(s);
		}
		hu_str_add(b, "</dl>\n");
	}
	hu_str_add(b, "</div>\n");
}

void
hu_page_provenance(hu_str *b, const hu_report_runs *runs, const char *command)
{
	hu_str_add(b, "<section id=\"again\">\n<h2>How to make it again</h2>\n<pre>");
	for (int i = 0; i < runs->n; i++) {
		training_command(b, &runs->at[i]);
		hu_str line;
		hu_str_init(&line);
		hu_str_add(&line, "halfulp analyze ");
		hu_show_word(&line, runs->at[i].dir);
		hu_html_text(b, runs->at[i].summary ? line.s : "");
		hu_str_add(b, runs->at[i].summary ? "\n" : "");
		hu_str_release(&line);
	}
	hu_html_text(b, command);
	hu_str_addf(b,
		"</pre>\n<p class=\"note\">A figure alone: <code>gnuplot loss.gp</code> in this folder draws it from "
		"its .tsv with <a href=\"style.gp\">style.gp</a>. "
		"This page was made by halfulp %s.</p>\n",
		HU_VERSION);
	facts(b, runs);
	hu_str_add(b, "</section>\n");
}
