/* SPDX-License-Identifier: Apache-2.0
   Tables of the run that stand on the page row by row (tables.def). */
#include "reports/page/page_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct page_table {
	const char *class, *title, *query, *heads, *words;
} tables[] = {
#define PAGE_TABLE(class, title, query, heads, words) { class, title, query, heads, words },
#include "reports/page/tables.def"
#undef PAGE_TABLE
};

/* Appends a cell: a number in few digits, or a text. */
static void
cell(hu_str *b, const char *text)
{
	char *end;
	double x = strtod(text, &end);

	if (*text && !*end) {
		hu_page_number(b, x, x == floor(x) && fabs(x) < 1e15 ? HU_UNIT_COUNT : HU_UNIT_REAL);
		return;
	}
	hu_str_add(b, "<td class=\"left\">");
	hu_html_text(b, strcmp(text, "-") ? text : "–");
	hu_str_add(b, "</td>");
}

static void
section(hu_str *b, const struct page_table *t, const hu_selection *s, const hu_report_run *r, int several)
{
	const char *head = t->heads;

	hu_str_addf(b, "<section id=\"%s\">\n<h2>%s", t->class, t->title);
	if (several) {
		hu_str_add(b, ": ");
		hu_html_text(b, r->label);
	}
	hu_str_addf(b,
		"</h2>\n<p class=\"note\">%s</p>\n<div class=\"scroll\" tabindex=\"0\"><table class=\"%s\">\n"
		"<thead><tr>",
		t->words, t->class);
	for (int c = 0; c < s->columns; c++) {
		size_t n = strcspn(head, "|");
		hu_str_addf(b, "<th>%.*s</th>", (int)n, head);
		head += n + (head[n] == '|');
	}
	hu_str_add(b, "</tr></thead>\n<tbody>\n");
	for (size_t i = 0; i < s->rows; i++) {
		hu_str_add(b, "<tr>");
		for (int c = 0; c < s->columns; c++)
			cell(b, hu_selection_cell(s, i, s->column[c]));
		hu_str_add(b, "</tr>\n");
	}
	hu_str_add(b, "</tbody>\n</table></div>\n</section>\n");
}

hu_status
hu_page_tables(hu_str *b, const hu_report_run *r, int several)
{
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
		hu_selection s;
		HU_TRY(hu_select(&s, tables[i].query, &r->dir, 1));
		if (s.rows)
			section(b, &tables[i], &s, r, several);
		hu_selection_release(&s);
	}
	return HU_OK;
}
