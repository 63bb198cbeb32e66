/* SPDX-License-Identifier: Apache-2.0
   The tables of a history's page: the commits where something moved, and all quantities, which a reader searches. */
#include "reports/history/history_parts.h"

#include "lib/base/mem.h"
#include "reports/human.h"
#include "reports/page/page_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where a course stands among the others. */
typedef struct rank {
	const hu_course *c;
	size_t commit, row;
} rank;

/* A number that the table did not say stands behind all others. */
static int
by_number(double x, double y)
{
	return isnan(x) || isnan(y) ? isnan(x) - isnan(y) : (x > y) - (x < y);
}

static int
by_rank(const void *left, const void *right)
{
	const rank *a = left, *b = right;

	if (a->commit != b->commit)
		return a->commit < b->commit ? -1 : 1;
	int order = b->c->headline - a->c->headline;
	if (!order && a->c->split)
		order = by_number(a->c->step, b->c->step);
	if (!order && a->c->split)
		order = by_number(a->c->call, b->c->call);
	return order ? order : a->row < b->row ? -1 : 1;
}

const hu_course **
hu_history_order(const hu_courses *h)
{
	rank *r = hu_xalloc((h->n + 1) * sizeof *r);
	const hu_course **order = hu_xalloc((h->n + 1) * sizeof *order);

	for (size_t i = 0; i < h->n; i++) {
		const hu_course *c = &h->q[i];
		r[i] = (rank){ c, c->split ? hu_courses_place(h, c->commit[c->split]) : h->commits, i };
	}
	qsort(r, h->n, sizeof *r, by_rank);
	for (size_t i = 0; i < h->n; i++)
		order[i] = r[i].c;
	free(r);
	return order;
}

void
hu_history_commits(hu_str *b, const hu_courses *h, const hu_course **order)
{
	size_t i = 0;

	if (!h->n || !order[0]->split)
		return;
	hu_str_add(b,
		"<section>\n<h2>Where they moved</h2>\n<div class=\"scroll\"><table class=\"commits\">\n<thead><tr>"
		"<th class=\"left\">commit</th><th class=\"left\">date</th><th>moved</th>"
		"<th class=\"left\">first in the program</th></tr></thead>\n<tbody>\n");
	while (i < h->n && order[i]->split) {
		size_t at = hu_courses_place(h, order[i]->commit[order[i]->split]), from = i;
		const hu_course *first = NULL;
		for (; i < h->n && order[i]->split && hu_courses_place(h, order[i]->commit[order[i]->split]) == at; i++)
			if (!first && !order[i]->headline)
				first = order[i];
		hu_str_add(b, "<tr><th scope=\"row\" class=\"left\">");
		hu_history_commit(b, h->commit[at], 0);
		hu_str_add(b, "</th>");
		hu_page_cell(b, "td class=\"left\"", h->date[at]);
		hu_str_addf(b, "<td>%zu</td>", i - from);
		hu_page_cell(b, "td class=\"left\"", (first ? first : order[from])->key);
		hu_str_add(b, "</tr>\n");
	}
	hu_str_add(b, "</tbody>\n</table></div>\n</section>\n");
}

/* A cell of a number in few digits, which has all of them as data-v; an en dash where there is none. */
static void
number_cell(hu_str *b, const char *few, double x)
{
	if (!isfinite(x)) {
		hu_str_add(b, "<td>–</td>");
		return;
	}
	hu_str_addf(b, "<td data-v=\"%.17g\">", x);
	hu_html_number(b, few);
	hu_str_add(b, "</td>");
}

static void
list_row(hu_str *b, const hu_course *c)
{
	size_t last = c->n - 1;
	int beyond = hu_history_beyond(c, last), limited = isfinite(c->low[last]) || isfinite(c->high[last]);
	char x[HU_HISTORY_TEXT], y[HU_HISTORY_TEXT];

	hu_str_addf(b, "<tr%s><th scope=\"row\" class=\"left\">", beyond ? " class=\"beyond\"" : "");
	hu_html_text(b, c->key);
	hu_str_add(b, "</th>");
	hu_str_add(b, "<td class=\"left\">");
	hu_history_commit(b, c->split ? c->commit[c->split] : "–", 0);
	hu_str_add(b, "</td>");
	hu_history_apart(x, y, c->before, c->after);
	number_cell(b, x, c->split ? c->before : NAN);
	number_cell(b, y, c->split ? c->after : NAN);
	snprintf(x, sizeof x, "%.6g", c->value[last]);
	number_cell(b, x, c->value[last]);
	snprintf(x, sizeof x, "%.6g", c->low[last]);
	number_cell(b, x, c->low[last]);
	snprintf(x, sizeof x, "%.6g", c->high[last]);
	number_cell(b, x, c->high[last]);
	hu_page_cell(b, "td class=\"left\"", beyond ? "beyond" : limited ? "within" : "none");
	hu_str_add(b, "</tr>\n");
}

void
hu_history_list(hu_str *b, const hu_courses *h, const hu_course **order)
{
	hu_str_add(b,
		"<section id=\"all\">\n<h2>All quantities</h2>\n<div class=\"scroll\"><table "
		"class=\"all\">\n<thead><tr>"
		"<th class=\"left\">quantity</th><th class=\"left\">moved</th><th>from</th><th>to</th><th>last</th>"
		"<th>least</th><th>most</th><th class=\"left\">limits</th></tr></thead>\n<tbody>\n");
	for (size_t i = 0; i < h->n; i++)
		if (order[i]->n)
			list_row(b, order[i]);
	hu_str_add(b, "</tbody>\n</table></div>\n</section>\n");
}
