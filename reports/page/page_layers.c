/* SPDX-License-Identifier: Apache-2.0
   The sections of a run's layers and of its calls: what each table of the analysis says of them, over all traced steps
   (measures.def). A layer leads to its calls. */
#include "lib/base/show.h"
#include "reports/page/page_parts.h"

#include "lib/base/hash.h"
#include "lib/base/mem.h"
#include "reports/human.h"
#include "reports/select.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct measure {
	const char *title, *table, *take, *column, *of;
	hu_quantity unit;
	const char *words;
} measures[] = {
#define MEASURE(title, table, take, column, of, unit, words) { title, table, take, column, of, unit, words },
#include "reports/page/measures.def"
#undef MEASURE
};
enum { MEASURES = sizeof measures / sizeof *measures };

/* A table of the page: its rows with the columns that name them, and each measure by the columns of `key`. */
typedef struct columns {
	hu_selection row, of[MEASURES];
	int *at[MEASURES]; /* for each row the measure's row, -1 where it has none */
} columns;

static hu_status
selected(hu_selection *s, const hu_report_run *r, const char *table, const char *key, const char *take)
{
	size_t name = strcspn(table, " ");
	char *query = hu_xprintf("analysis/%.*s %s %s%s", (int)name, table, key, take, table + name);
	hu_status st = hu_select(s, query, &r->dir, 1);

	free(query);
	return st;
}

/* The cells of the first `keys` columns, which both selections have under the same names, as one text. */
static char *
key_of(const hu_selection *s, size_t row, const char *const *key)
{
	hu_str b;

	hu_str_init(&b);
	for (int k = 0; key[k]; k++)
		hu_str_addf(&b, "%s\t", hu_selection_cell(s, row, key[k]));
	return b.s;
}

/* Finds for each row of `to` the row of `from` with the same key, by a hash table with open addressing. */
static int *
joined(const hu_selection *to, const hu_selection *from, const char *const *key)
{
	size_t slots = 2 * from->rows + 1;
	char **known = hu_xcalloc(slots, sizeof *known);
	int *row = hu_xcalloc(slots, sizeof *row), *at = hu_xmalloc((to->rows + 1) * sizeof *at);

	for (size_t r = 0; r < from->rows; r++) {
		char *k = key_of(from, r, key);
		size_t h = hu_fnv1a64(k) % slots;
		while (known[h])
			h = (h + 1) % slots;
		known[h] = k;
		row[h] = (int)r;
	}
	for (size_t r = 0; r < to->rows; r++) {
		char *k = key_of(to, r, key);
		size_t h = hu_fnv1a64(k) % slots;
		while (known[h] && strcmp(known[h], k))
			h = (h + 1) % slots;
		at[r] = known[h] ? row[h] : -1;
		free(k);
	}
	for (size_t h = 0; h < slots; h++)
		free(known[h]);
	free(known);
	free(row);
	return at;
}

static void
release(columns *s)
{
	hu_selection_release(&s->row);
	for (int m = 0; m < MEASURES; m++) {
		hu_selection_release(&s->of[m]);
		free(s->at[m]);
	}
}

/* Fills the columns. names: the columns that name a row, of which `key`, ended by NULL, tell rows apart. */
static hu_status
gather(columns *s, const hu_report_run *r, const char *names, const char *const *key)
{
	hu_str by;

	memset(s, 0, sizeof *s);
	HU_TRY(selected(&s->row, r, "replay.tsv", names, "max:ulp_max"));
	hu_str_init(&by);
	for (int k = 0; key[k]; k++)
		hu_str_addf(&by, "%s%s", k ? " " : "", key[k]);
	hu_status st = HU_OK;
	for (int m = 0; m < MEASURES && st == HU_OK; m++) {
		st = selected(&s->of[m], r, measures[m].table, by.s, measures[m].take);
		if (st == HU_OK)
			s->at[m] = joined(&s->row, &s->of[m], key);
	}
	hu_str_release(&by);
	if (st != HU_OK)
		release(s);
	return st;
}

static void
measured(hu_str *b, const columns *s, size_t row)
{
	for (int m = 0; m < MEASURES; m++) {
		const struct measure *q = &measures[m];
		int at = s->at[m][row];
		double x = at < 0 ? NAN : hu_selection_real(&s->of[m], (size_t)at, q->column);
		if (q->of && at >= 0)
			x /= hu_selection_real(&s->of[m], (size_t)at, q->of);
		hu_page_number(b, x, q->unit);
	}
	hu_str_add(b, "</tr>\n");
}

/* Opens a table: the columns that name a row, then the measures. */
static void
head(hu_str *b, const char *class, const char *names)
{
	hu_str_addf(b, "<div class=\"scroll\" tabindex=\"0\"><table class=\"%s\">\n<thead><tr>", class);
	for (const char *word = names; *word; word += strcspn(word, " "), word += *word == ' ')
		hu_str_addf(b, "<th class=\"left\">%.*s</th>", (int)strcspn(word, " "), word);
	for (int m = 0; m < MEASURES; m++)
		hu_str_addf(b, "<th>%s</th>", measures[m].title);
	hu_str_add(b, "</tr></thead>\n<tbody>\n");
}

static void
words(hu_str *b, const hu_report_run *r)
{
	hu_str line;

	hu_str_add(b, "<dl class=\"facts words\">\n");
	for (int m = 0; m < MEASURES; m++) {
		hu_str_addf(b, "<dt>%s</dt><dd>", measures[m].title);
		hu_html_number(b, measures[m].words);
		hu_str_addf(b, " (<code>analysis/%.*s</code>)</dd>\n", (int)strcspn(measures[m].table, " "),
			measures[m].table);
	}
	hu_str_init(&line);
	hu_str_add(&line, "halfulp analyze ");
	hu_show_word(&line, r->dir);
	hu_str_add(b, "</dl>\n<p class=\"note words\">Largest values are those over the traced steps that are finite; "
		      "sums and shares are over all of these steps. A dash stands where there is nothing to count. The "
		      "tables were made by <code>");
	hu_html_text(b, line.s);
	hu_str_add(b, "</code>.</p>\n");
	hu_str_release(&line);
}

/* Returns the number of the layer's first call as text. */
static const char *
first_call(const columns *calls, const char *layer)
{
	for (size_t r = 0; r < calls->row.rows; r++)
		if (!strcmp(hu_selection_cell(&calls->row, r, "layer"), layer))
			return hu_selection_cell(&calls->row, r, "call");
	return "";
}

static void
layer_rows(hu_str *b, const columns *s, const columns *calls)
{
	for (size_t r = 0; r < s->row.rows; r++) {
		const char *layer = hu_selection_cell(&s->row, r, "layer");
		hu_str_add(b, "<tr><th scope=\"row\"><a href=\"#call-");
		hu_html_text(b, first_call(calls, layer));
		hu_str_add(b, "\" data-column=\"layer\" data-is=\"");
		hu_html_text(b, layer);
		hu_str_add(b, "\">");
		hu_html_text(b, layer);
		hu_str_add(b, "</a></th>");
		measured(b, s, r);
	}
}

static void
call_rows(hu_str *b, const columns *s)
{
	static const char *const names[] = { "op", "phase", "layer", "tensor", "format" };
	const char *before = "";

	for (size_t r = 0; r < s->row.rows; r++) {
		const char *call = hu_selection_cell(&s->row, r, "call");
		hu_str_add(b, "<tr");
		if (strcmp(call, before)) {
			hu_str_add(b, " id=\"call-");
			hu_html_text(b, call);
			hu_str_add(b, "\"");
		}
		before = call;
		hu_str_add(b, "><th scope=\"row\">");
		hu_html_text(b, call);
		hu_str_add(b, "</th>");
		for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
			hu_str_add(b, "<td class=\"left\">");
			hu_html_text(b, hu_selection_cell(&s->row, r, names[k]));
			hu_str_add(b, "</td>");
		}
		measured(b, s, r);
	}
}

hu_status
hu_page_layers(hu_str *b, const hu_report_run *r, int several)
{
	static const char *const layer[] = { "layer", NULL }, *const call[] = { "call", "tensor", NULL };
	columns layers, calls;

	if (!r->summary)
		return HU_OK;
	HU_TRY(gather(&layers, r, "layer", layer));
	hu_status st = gather(&calls, r, "call op phase layer tensor format", call);
	if (st != HU_OK) {
		release(&layers);
		return st;
	}
	if (layers.row.rows) {
		hu_str_add(b, "<section id=\"layers\">\n<h2>Layers and calls");
		if (several) {
			hu_str_add(b, ": ");
			hu_html_text(b, r->label);
		}
		hu_str_add(b, "</h2>\n<p class=\"note\">A layer is all calls that compute it: forward, backward and "
			      "update. Its name leads to them.</p>\n");
		head(b, "layers", "layer");
		layer_rows(b, &layers, &calls);
		hu_str_addf(b,
			"</tbody>\n</table></div>\n<details id=\"calls\">\n<summary>All %zu results of the calls, in "
			"the order in which they were executed</summary>\n",
			calls.row.rows);
		head(b, "calls", "call op phase layer tensor format");
		call_rows(b, &calls);
		hu_str_add(b, "</tbody>\n</table></div>\n</details>\n");
		words(b, r);
		hu_str_add(b, "</section>\n");
	}
	release(&layers);
	release(&calls);
	return HU_OK;
}
