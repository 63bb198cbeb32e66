/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/page_parts.h"

#include "lib/base/mem.h"
#include "reports/human.h"
#include "reports/metrics.h"

#include <stdlib.h>
#include <string.h>

/* Appends "not drawn: …", and what to do where the analysis is missing. */
static void
reason(hu_str *b, const hu_figure *f, const hu_report_runs *runs)
{
	hu_html_text(b, f->why);
	if (strstr(f->why, "analysis/") && strstr(f->why, "is not there")) {
		hu_str_add(b, " (<code>halfulp analyze ");
		hu_html_text(b, runs->at[f->run < 0 ? 0 : f->run].dir);
		hu_str_add(b, "</code> makes it)");
	}
}

static void
files(hu_str *b, const hu_figure *f, const char *formats)
{
	char *all = hu_xstrdup(formats), *save = NULL;

	hu_str_add(b, "<p class=\"files\">");
	for (char *s = strtok_r(all, " ", &save); s; s = strtok_r(NULL, " ", &save))
		hu_str_addf(b, "<a href=\"%s.%s\">%s</a> · ", f->stem, s, s);
	hu_str_addf(b, "data <a href=\"%s.tsv\">%s.tsv</a>", f->stem, f->stem);
	for (int k = 1; k < f->parts; k++)
		if (f->part[k].rows)
			hu_str_addf(b, ", <a href=\"%s.%s.tsv\">%s.%s.tsv</a>", f->stem, f->part_name[k], f->stem,
				f->part_name[k]);
	hu_str_addf(b, " · drawn by <a href=\"%s.gp\">%s.gp</a></p>\n", f->stem, f->stem);
	free(all);
}

static void
plot(hu_str *b, const hu_figure *f, const hu_report_runs *runs, const char *formats)
{
	size_t bad = 0;

	hu_str_addf(b, "<a class=\"plot\" href=\"%s.svg\"><img src=\"%s.svg\" loading=\"lazy\" alt=\"%s", f->stem,
		f->stem, f->title);
	if (f->run >= 0) {
		hu_str_add(b, ", ");
		hu_html_text(b, runs->at[f->run].label);
	}
	hu_str_add(b, "\"></a>\n");
	for (int k = 0; k < f->parts; k++)
		bad += f->part[k].nonfinite;
	if (f->part[0].dropped)
		hu_str_addf(b, "<p class=\"note\">The %zu largest of %zu rows.</p>\n", f->part[0].rows,
			f->part[0].rows + f->part[0].dropped);
	if (bad)
		hu_str_addf(b,
			"<p class=\"note\">%zu value%s in the data %s not finite (nan or infinite) and cannot be "
			"drawn.</p>\n",
			bad, bad > 1 ? "s" : "", bad > 1 ? "are" : "is");
	files(b, f, formats);
}

static void
diverged(hu_str *b, const hu_report_runs *runs)
{
	for (int i = 0; i < runs->n; i++) {
		const char *step = "";
		int n = hu_metrics_nonfinite(&runs->at[i], "loss", &step);
		if (!n)
			continue;
		hu_str_add(b, "<p class=\"note\"><strong>");
		hu_html_text(b, runs->at[i].label);
		hu_str_add(b, "</strong>: the loss is not finite from step ");
		hu_html_text(b, step);
		hu_str_addf(b, " on (%d step%s).</p>\n", n, n > 1 ? "s" : "");
	}
}

/* Appends one tab for each run; the first drawn one at or after the most important run is open. */
static void
tabs(hu_str *b, const hu_figure *f, int n, const hu_report_runs *runs, const char *formats)
{
	int open = runs->focus;

	for (int k = 0; k < n && f[open].why; k++)
		open = (open + 1) % n;
	hu_str_add(b, "<div class=\"tabs\">\n");
	for (int k = 0; k < n; k++) {
		hu_str_addf(b, "<input type=\"radio\" name=\"%s\" id=\"%s-tab-%d\"%s><label for=\"%s-tab-%d\">",
			f->name, f->name, k + 1, k == open ? " checked" : "", f->name, k + 1);
		hu_html_text(b, runs->at[k].label);
		hu_str_add(b, "</label>\n<div class=\"panel\"><h3>");
		hu_html_text(b, runs->at[k].label);
		hu_str_add(b, "</h3>\n");
		if (f[k].why) {
			hu_str_add(b, "<p class=\"missing\">Not drawn for this run: ");
			reason(b, &f[k], runs);
			hu_str_add(b, ".</p>\n");
		} else {
			plot(b, &f[k], runs, formats);
		}
		hu_str_add(b, "</div>\n");
	}
	hu_str_add(b, "</div>\n");
}

static int
group(const hu_figures *figures, int i)
{
	int n = 1;

	while (i + n < figures->n && !strcmp(figures->at[i + n].name, figures->at[i].name))
		n++;
	return n;
}

static int
any_drawn(const hu_figure *f, int n)
{
	for (int k = 0; k < n; k++)
		if (!f[k].why)
			return 1;
	return 0;
}

static void
not_drawn(hu_str *b, const hu_report_runs *runs, const hu_figures *figures)
{
	int any = 0;

	for (int i = 0, n; i < figures->n; i += n) {
		const hu_figure *f = &figures->at[i];
		n = group(figures, i);
		if (any_drawn(f, n))
			continue;
		hu_str_addf(b, "%s<li>%s: ", any++ ? "" : "<section class=\"missing\">\n<h2>Not drawn</h2>\n<ul>\n",
			f->title);
		reason(b, f, runs);
		hu_str_add(b, "</li>\n");
	}
	if (any)
		hu_str_add(b, "</ul>\n</section>\n");
}

void
hu_page_figures(hu_str *b, const hu_report_runs *runs, const hu_figures *figures, const char *formats)
{
	for (int i = 0, n; i < figures->n; i += n) {
		const hu_figure *f = &figures->at[i];
		n = group(figures, i);
		if (!any_drawn(f, n))
			continue;
		hu_str_addf(b, "<section id=\"%s\">\n<figure>\n<h2>%s</h2>\n<figcaption>%s</figcaption>\n", f->name,
			f->title, f->caption);
		if (!strcmp(f->name, "loss"))
			diverged(b, runs);
		if (n > 1)
			tabs(b, f, n, runs, formats);
		else
			plot(b, f, runs, formats);
		hu_str_add(b, "</figure>\n</section>\n");
	}
	not_drawn(b, runs, figures);
}
