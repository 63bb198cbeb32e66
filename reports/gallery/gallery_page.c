/* SPDX-License-Identifier: Apache-2.0
   The page of the gallery: a section a figure, with its caption, its source, the commands and the files. */
#include "reports/gallery/gallery.h"

#include "lib/base/file.h"
#include "lib/base/mem.h"
#include "reports/figure.h"
#include "reports/human.h"

#include <stdlib.h>
#include <string.h>

static void
element(hu_str *b, const char *open, const char *text, const char *close)
{
	hu_str_add(b, open);
	hu_html_text(b, text);
	hu_str_add(b, close);
}

static void
commands(hu_str *b, const hu_recipe *r)
{
	hu_str_add(b, "<details><summary>The commands that make its data</summary>\n<pre>");
	for (int i = 0; i < r->lines; i++) {
		const hu_recipe_line *l = &r->line[i];
		if (l->kind == HU_RECIPE_TABLE)
			hu_str_add(b, "# and the table ");
		hu_html_text(b, l->text);
		if (l->tag) {
			element(b, "   # for each ", l->tag, "");
			element(b, " = ", l->tag_values, "");
		}
		hu_str_add(b, "\n");
	}
	hu_str_add(b, "</pre></details>\n");
}

static void
files(hu_str *b, const hu_recipe *r, const hu_gallery *g)
{
	char *all = hu_xstrdup(g->formats), *save = NULL;

	hu_str_add(b, "<p class=\"files\">");
	for (char *s = strtok_r(all, " ", &save); s; s = strtok_r(NULL, " ", &save))
		hu_str_addf(b, "%s<a href=\"%s.%s\">%s</a>", s == all ? "" : " · ", r->name, s, s);
	for (int k = 0; k < r->takes && !g->lean; k++) {
		const char *part = r->take[k].part, *dot = *part ? "." : "";
		hu_str_addf(b, " · <a href=\"%s%s%s.tsv\">%s%s%s.tsv</a>", r->name, dot, part, r->name, dot, part);
	}
	if (!g->lean)
		hu_str_addf(b, " · <a href=\"%s.gp\">%s.gp</a>", r->name, r->name);
	hu_str_add(b, "</p>\n");
	free(all);
}

static hu_status
section(hu_str *b, const hu_gallery *g, int i)
{
	const hu_recipe *r = &g->recipe[i];
	char *title, *caption = NULL;

	HU_TRY(hu_recipe_words(r, g->dir, &title, &caption));
	hu_str_addf(b, "<section id=\"%s\">\n", r->name);
	hu_str_addf(b, "<h2><a href=\"#%s\">Figure %d</a> ", r->name, i + 1);
	element(b, "", title, "</h2>\n");
	hu_str_addf(b, "<figure><img src=\"%s.svg\" loading=\"lazy\" alt=\"", r->name);
	hu_html_text(b, title);
	element(b, "\">\n<figcaption>", caption, "</figcaption></figure>\n");
	if (r->source)
		element(b, "<p class=\"source\">After ", r->source, "</p>\n");
	commands(b, r);
	files(b, r, g);
	hu_str_add(b, "</section>\n");
	free(title);
	return HU_OK;
}

/* All figures at once, each a link to its section. */
static hu_status
thumbnails(hu_str *b, const hu_gallery *g)
{
	hu_str_add(b, "<nav>\n");
	for (int i = 0; i < g->n; i++) {
		char *title, *caption;
		HU_TRY(hu_recipe_words(&g->recipe[i], g->dir, &title, &caption));
		hu_str_addf(b, "<a href=\"#%s\"><img src=\"%s.svg\" loading=\"lazy\" alt=\"\"><span>",
			g->recipe[i].name, g->recipe[i].name);
		hu_html_text(b, title);
		hu_str_add(b, "</span></a>\n");
		free(title);
	}
	hu_str_add(b, "</nav>\n");
	return HU_OK;
}

hu_status
hu_gallery_page(hu_str *page, const hu_gallery *g)
{
	char *css;
	size_t length;
	hu_status st = HU_OK;

	HU_TRY(hu_report_source("gallery/gallery.css", &css, &length));
	hu_str_init(page);
	hu_str_add(page, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
			 "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
			 "<title>What number formats do – halfulp figures</title>\n<style>\n");
	hu_str_addf(page, "%s</style>\n</head>\n<body class=\"%s\">\n<main>\n", css, g->style);
	free(css);
	hu_str_add(page,
		"<h1>What number formats do</h1>\n<p>Every number in these figures was printed by a command of "
		"halfulp, which stands under its figure; ");
	element(page, "<code>", g->command, "</code> makes this page again.</p>\n");
	st = thumbnails(page, g);
	for (int i = 0; i < g->n && st == HU_OK; i++)
		st = section(page, g, i);
	hu_str_add(page, "</main>\n</body>\n</html>\n");
	if (st != HU_OK)
		hu_str_release(page);
	return st;
}
