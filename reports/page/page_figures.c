/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/page/page_parts.h"

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
	hu_str_addf(b, " · drawn by <a href=\"%s.gp\">%s.gp</a> · from ", f->stem, f->stem);
	for (int k = 0, said = 0; k < f->parts; k++) {
		int known = 0;
		for (int j = 0; j < k; j++)
			known |= f->part[j].rows && !strcmp(f->part[j].table, f->part[k].table);
		if (f->part[k].rows && !known)
			hu_str_addf(b, "%s<code>%s</code>", said++ ? ", " : "", f->part[k].table);
	}
	hu_str_add(b, f->run < 0 ? " of each run" : " of the run");
	hu_str_add(b, " (<a href=\"#again\">made by</a>)</p>\n");
	free(all);
}

/* Appends bytes in base64 (RFC 4648). */
static void
add_base64(hu_str *b, const char *bytes, size_t n)
{
	static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < n; i += 3) {
		unsigned x = 0;
		for (size_t k = 0; k < 3; k++)
			x = x << 8 | (i + k < n ? (unsigned char)bytes[i + k] : 0);
		char four[4];
		for (int k = 0; k < 4; k++)
			four[k] = i + (size_t)k > n ? '=' : digit[x >> (18 - 6 * k) & 63];
		hu_str_addn(b, four, 4);
	}
}

/* Appends the figure's picture. It is an image of its own in the page, not elements of it: names in two pictures may be
   the same. */
static hu_status
picture(hu_str *b, const hu_figure *f, const char *dir)
{
	char *path = hu_path(dir, "%s.svg", f->stem), *svg = NULL;
	size_t n = 0;
	hu_status st = hu_file_read(path, &svg, &n);

	hu_str_addf(b, "<a class=\"plot\" href=\"%s.svg\"><img src=\"data:image/svg+xml;base64,", f->stem);
	if (st == HU_OK)
		add_base64(b, svg, n);
	hu_str_addf(b, "\" alt=\"%s", f->title);
	free(svg);
	free(path);
	return st;
}

static hu_status
plot(hu_str *b, const hu_figure *f, const hu_report_runs *runs, const char *formats, const char *dir)
{
	size_t bad = 0;

	HU_TRY(picture(b, f, dir));
	if (f->run >= 0) {
		hu_str_add(b, ", ");
		hu_html_text(b, runs->at[f->run].label);
	}
	if (*f->numbers) {
		hu_str_add(b, ": ");
		hu_html_text(b, f->numbers);
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
	return HU_OK;
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

/* Appends one tab for each run that has a picture, then the runs that have none with the reason. The first drawn one at
   or after the most important run is open. */
static hu_status
tabs(hu_str *b, const hu_figure *f, int n, const hu_report_runs *runs, const char *formats, const char *dir)
{
	int open = runs->focus;

	for (int k = 0; k < n && f[open].why; k++)
		open = (open + 1) % n;
	hu_str_add(b, "<div class=\"tabs\">\n");
	for (int k = 0; k < n; k++) {
		if (f[k].why)
			continue;
		hu_str_addf(b,
			"<input type=\"radio\" name=\"%s\" id=\"%s-tab-%d\"%s><label class=\"run-%d\" "
			"for=\"%s-tab-%d\">",
			f->name, f->name, k + 1, k == open ? " checked" : "", k % 8 + 1, f->name, k + 1);
		hu_html_text(b, runs->at[k].label);
		hu_str_add(b, "</label>\n<div class=\"panel\"><h3>");
		hu_html_text(b, runs->at[k].label);
		hu_str_add(b, "</h3>\n");
		HU_TRY(plot(b, &f[k], runs, formats, dir));
		hu_str_add(b, "</div>\n");
	}
	hu_str_add(b, "</div>\n<p class=\"note printed\">Printed for the run whose tab is open; the others are on the "
		      "page.</p>\n");
	for (int k = 0; k < n; k++) {
		if (!f[k].why)
			continue;
		hu_str_add(b, "<p class=\"missing\">Not drawn for ");
		hu_html_text(b, runs->at[k].label);
		hu_str_add(b, ": ");
		reason(b, &f[k], runs);
		hu_str_add(b, ".</p>\n");
	}
	return HU_OK;
}

/* Appends the runs' colours as a list, for screens on which a picture's own legend is too wide. */
static void
legend(hu_str *b, const hu_report_runs *runs)
{
	hu_str_add(b, "<ul class=\"legend\">");
	for (int i = 0; i < runs->n; i++) {
		hu_str_addf(b, "<li class=\"run-%d\">", i % 8 + 1);
		hu_html_text(b, runs->at[i].label);
		hu_str_add(b, "</li>");
	}
	hu_str_add(b, "</ul>\n");
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

hu_status
hu_page_figures(hu_str *b, const hu_report_runs *runs, const hu_figures *figures, const char *formats, const char *dir)
{
	for (int i = 0, n; i < figures->n; i += n) {
		const hu_figure *f = &figures->at[i];
		n = group(figures, i);
		if (!any_drawn(f, n))
			continue;
		hu_str_addf(b, "<section id=\"%s\">\n<figure>\n<h2>%s</h2>\n<figcaption>", f->name, f->title);
		hu_html_number(b, f->caption);
		hu_str_add(b, "</figcaption>\n");
		if (!strcmp(f->name, "loss"))
			diverged(b, runs);
		if (f->run < 0 && runs->n > 1)
			legend(b, runs);
		if (n > 1)
			HU_TRY(tabs(b, f, n, runs, formats, dir));
		else
			HU_TRY(plot(b, f, runs, formats, dir));
		hu_str_add(b, "</figure>\n</section>\n");
	}
	not_drawn(b, runs, figures);
	return HU_OK;
}
