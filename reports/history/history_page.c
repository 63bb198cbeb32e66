/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/history/history_page.h"

#include "lib/base/file.h"
#include "lib/base/mem.h"
#include "lib/base/tsv.h"
#include "reports/history/history_parts.h"
#include "reports/human.h"
#include "reports/page/page_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of quantities that no reviewer reads first, so many are drawn. */
enum { DRAWN = 48 };

/* Appends "FROM to TO" with as many digits as tell the two apart, four or more. */
static void
add_change(hu_str *b, double from, double to)
{
	char x[HU_HISTORY_TEXT], y[HU_HISTORY_TEXT];

	hu_history_apart(x, y, from, to);
	hu_str_add(b, "from ");
	hu_html_number(b, x);
	hu_str_add(b, " to ");
	hu_html_number(b, y);
}

/* How many commits have a value outside its limits. */
static size_t
count_beyond(const hu_course *c)
{
	size_t n = 0;

	for (size_t k = 0; k < c->n; k++)
		n += (size_t)hu_history_beyond(c, k);
	return n;
}

static void
value_cell(hu_str *b, double x)
{
	char text[HU_TSV_REAL] = "–";

	if (isfinite(x))
		snprintf(text, sizeof text, "%.9g", x);
	hu_page_cell(b, "td", text);
}

/* Every value of the course. */
static void
add_values(hu_str *b, const hu_course *c)
{
	hu_str_add(b,
		"<details><summary>all values</summary><div class=\"scroll\"><table class=\"values\">\n<thead><tr>"
		"<th>commit</th><th class=\"left\">date</th><th>value</th><th>at least</th><th>at most</th></tr>"
		"</thead>\n<tbody>\n");
	for (size_t k = 0; k < c->n; k++) {
		hu_str_addf(b, "<tr%s><th scope=\"row\">", hu_history_beyond(c, k) ? " class=\"beyond\"" : "");
		hu_history_commit(b, c->commit[k], 0);
		hu_str_add(b, "</th><td class=\"left\">");
		hu_html_text(b, c->date[k]);
		hu_str_add(b, "</td>");
		value_cell(b, c->value[k]);
		value_cell(b, c->low[k]);
		value_cell(b, c->high[k]);
		hu_str_add(b, "</tr>\n");
	}
	hu_str_add(b, "</tbody>\n</table></div></details>\n");
}

static void
add_course(hu_str *b, const hu_course *c)
{
	size_t beyond = count_beyond(c);

	hu_str_add(b, "<figure class=\"course\"><figcaption><b>");
	hu_html_text(b, c->key);
	hu_str_add(b, "</b><br>");
	if (c->split) {
		hu_str_add(b, "It moved at commit <code>");
		hu_history_commit(b, c->commit[c->split], 0);
		hu_str_add(b, "</code>, ");
		add_change(b, c->before, c->after);
		hu_str_addf(b, " on average (%zu commits before, %zu since).", c->split, c->n - c->split);
	} else {
		hu_str_add(b, "It did not move.");
	}
	if (beyond)
		hu_str_addf(b, " %zu of %zu commits %s beyond the limits.", beyond, c->n, beyond == 1 ? "is" : "are");
	hu_str_add(b, "</figcaption>\n");
	hu_history_draw(b, c);
	add_values(b, c);
	hu_str_add(b, "</figure>\n");
}

/* The pictures of those that moved, the first first, or of those that did not. What a reviewer reads first is always
   drawn; of the others that moved the first DRAWN, and the last section lists them all. */
static void
add_courses(hu_str *b, const hu_course **order, size_t n, int moved, const char *title)
{
	size_t drawn = 0, others = 0, left = 0;

	for (size_t i = 0; i < n; i++) {
		const hu_course *c = order[i];
		if (!c->n || (c->split > 0) != moved || (!c->headline && !moved))
			continue;
		if (!c->headline && others++ >= DRAWN) {
			left++;
			continue;
		}
		if (!drawn++)
			hu_str_addf(b, "<section>\n<h2>%s</h2>\n<div class=\"courses\">\n", title);
		add_course(b, c);
	}
	if (drawn)
		hu_str_add(b, "</div>\n");
	if (left)
		hu_str_addf(b,
			"<p>%zu more moved, at these commits or later ones, or further on in the program; "
			"<a href=\"#all\">the table of all quantities</a> has them.</p>\n",
			left);
	if (drawn)
		hu_str_add(b, "</section>\n");
}

static void
add_head(hu_str *b, const hu_courses *h)
{
	size_t moved = 0, beyond = 0;

	for (size_t i = 0; i < h->n; i++) {
		const hu_course *c = &h->q[i];
		moved += c->split > 0;
		beyond += c->n && hu_history_beyond(c, c->n - 1);
	}
	hu_str_addf(b,
		"<header>\n<p class=\"kicker\">halfulp report</p>\n<h1>%zu quantities over %zu commits</h1>\n"
		"<p class=\"sub\">%zu moved; the last commit has %zu beyond %s limits.</p>\n</header>\n",
		h->n, h->commits, moved, beyond, beyond == 1 ? "its" : "their");
	hu_str_add(b,
		"<p>Dashed lines are the limits of the baseline that each commit was held to. A square is a value "
		"beyond them. The upright line stands where a quantity moved, before the commit that is named "
		"above it: of all ways to cut the commits in two it leaves the least sum of squares within both "
		"parts, and the ratio of the variance that it explains to what is left, F(1, n − 2), is above "
		"30.</p>\n");
}

/* Reads the table of that name in DIR. */
static hu_status
read_table(hu_table *t, const char *dir, const char *name)
{
	char *path = hu_path(dir, "%s", name);
	hu_status st = hu_table_read(t, path);

	if (st == HU_OK && (st = hu_courses_fit(t, path)) != HU_OK)
		hu_table_release(t);
	free(path);
	return st;
}

static hu_status
add_page(hu_str *page, const hu_courses *h, const char *command)
{
	const hu_course **order = hu_history_order(h);
	hu_status st = hu_page_open(page, "numerics over commits", "history/history.css");

	if (st == HU_OK) {
		add_head(page, h);
		hu_history_commits(page, h, order);
		add_courses(page, order, h->n, 1, "What moved");
		add_courses(page, order, h->n, 0, "What did not move");
		hu_history_list(page, h, order);
		hu_str_add(page, "<section>\n<h2>Where this comes from</h2>\n<pre>");
		hu_html_text(page, command);
		hu_str_add(page, "</pre>\n</section>\n");
		st = hu_page_close(page);
	}
	free(order);
	return st;
}

hu_status
hu_history_page(hu_str *page, const char *dir, const char *command)
{
	char *gated_path = hu_path(dir, HU_HISTORY_GATED);
	int has_gated = hu_exists(gated_path);
	hu_courses h;
	hu_table t, gated;

	hu_str_init(page);
	free(gated_path);
	HU_TRY(read_table(&t, dir, HU_HISTORY_FILE));
	hu_status st = has_gated ? read_table(&gated, dir, HU_HISTORY_GATED) : HU_OK;
	if (st == HU_OK) {
		hu_courses_of(&h, &t, has_gated ? &gated : NULL);
		st = add_page(page, &h, command);
		hu_courses_release(&h);
		if (has_gated)
			hu_table_release(&gated);
	}
	hu_table_release(&t);
	return st;
}
