/* SPDX-License-Identifier: Apache-2.0 */
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

static void
cell(hu_str *b, const char *element, const char *text)
{
	hu_str_addf(b, "<%s>", element);
	hu_html_number(b, text);
	hu_str_addf(b, "</%.*s>", (int)strcspn(element, " "), element);
}

static void
cell_number(hu_str *b, double x, hu_quantity unit)
{
	char *s = hu_human(x, unit);

	cell(b, "td", s);
	free(s);
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
	cell(b, class, verdict ? verdict : "–");
	cell(b, "td class=\"left\"", text_or_dash(r->manifest, "policy.compute"));
	cell(b, "td class=\"left\"", text_or_dash(r->manifest, "policy.variable"));
	cell(b, "td class=\"left\"", rule ? rule : text_or_dash(r->manifest, "loss_scaling"));
	cell_number(b, hu_metrics_last(r, "eval_accuracy"), HU_UNIT_SHARE);
	if (hu_metrics_diverged(r, "loss"))
		cell(b, "td", "not finite");
	else
		cell_number(b, hu_metrics_last(r, "loss"), HU_UNIT_REAL);
	cell_number(b, hu_metrics_sum(r, "skipped"), HU_UNIT_COUNT);
	cell_number(b, hu_metrics_median(r, "ms"), HU_UNIT_REAL);
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
		cell_number(b, x, HU_UNIT_BYTES);
	}
	cell_number(b, m ? sum : NAN, HU_UNIT_BYTES);
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
			hu_shell_word(&line, json_string_value(word));
		}
	if (json_is_string(c))
		hu_str_add(&line, json_string_value(c));
	hu_html_text(b, line.s);
	hu_str_add(b, line.len ? "\n" : "");
	hu_str_release(&line);
}

static void
definition(hu_str *b, const hu_report_run *r, const char *title, const char *path)
{
	const json_t *v = hu_json_at(r->manifest, path);

	if (!v || json_is_null(v) || json_is_object(v) || json_is_array(v))
		return;
	char *s = json_is_integer(v) ? hu_xprintf("%lld", (long long)json_integer_value(v))
				     : hu_human_json(v, HU_UNIT_REAL);
	hu_str_addf(b, "<dt>%s</dt><dd>", title);
	hu_html_text(b, s);
	hu_str_add(b, "</dd>\n");
	free(s);
}

void
hu_page_provenance(hu_str *b, const hu_report_runs *runs, const char *command)
{
	static const char *const rows[][2] = {
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

	hu_str_add(b, "<section id=\"again\">\n<h2>How to make it again</h2>\n<pre>");
	for (int i = 0; i < runs->n; i++) {
		training_command(b, &runs->at[i]);
		hu_str line;
		hu_str_init(&line);
		hu_str_add(&line, "halfulp analyze ");
		hu_shell_word(&line, runs->at[i].dir);
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
	hu_str_add(b, "<div class=\"provenance\">\n");
	for (int i = 0; i < runs->n; i++) {
		hu_str_add(b, "<h3>");
		hu_html_text(b, runs->at[i].label);
		hu_str_add(b, "</h3>\n<dl class=\"facts\">\n<dt>folder</dt><dd>");
		hu_html_text(b, runs->at[i].dir);
		hu_str_add(b, "</dd>\n");
		for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
			definition(b, &runs->at[i], rows[k][0], rows[k][1]);
		hu_str_add(b, "</dl>\n");
	}
	hu_str_add(b, "</div>\n</section>\n");
}
