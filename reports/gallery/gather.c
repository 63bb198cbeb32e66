/* SPDX-License-Identifier: Apache-2.0
   The data of a figure: runs its commands and keeps the columns and rows that its head takes. No shell is asked: a
   command's words are separated by blanks, and '...' makes one word of several. */
#include "reports/gallery/gallery.h"

#include "lib/base/console/plot_text.h"
#include "lib/base/mem.h"
#include "lib/base/tsv.h"
#include "reports/gallery/child.h"
#include "reports/rows/json_cell.h"
#include "reports/rows/json_table.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COLUMNS = 32, MOST_WHERE = 8 };

/* A table that is being filled. */
typedef struct grid {
	const hu_recipe_take *take;
	char *words; /* a copy of take's columns, cut into words */
	char *column[MOST_COLUMNS];
	char lacking[MOST_COLUMNS]; /* 1 where the column is said as NAME?: rows may lack it, and then have "-" */
	char *where[MOST_WHERE], *is[MOST_WHERE]; /* a row is kept where column where[k] is one of is[k] */
	int columns, wheres;
	hu_tsv tsv;
	size_t rows;
} grid;

static void
grid_init(grid *g, const hu_recipe *r, const hu_recipe_take *take)
{
	char *save = NULL, *columns;
	int after = 0;

	memset(g, 0, sizeof *g);
	g->take = take;
	g->words = hu_xstrdup(take->columns);
	for (char *w = strtok_r(g->words, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
		char *equals = strchr(w, '=');
		if (!strcmp(w, "where")) {
			after = 1;
		} else if (after && equals && g->wheres < MOST_WHERE) {
			*equals = 0;
			g->where[g->wheres] = w;
			g->is[g->wheres++] = equals + 1;
		} else if (!after && g->columns < MOST_COLUMNS) {
			g->lacking[g->columns] = w[strlen(w) - 1] == '?';
			w[strcspn(w, "?")] = 0;
			g->column[g->columns++] = w;
		}
	}
	hu_tsv_init(&g->tsv);
	hu_tsv_note(&g->tsv, "figure", "%s", r->name);
	for (int i = 0; i < r->lines; i++) {
		const hu_recipe_line *l = &r->line[i];
		if (l->kind == HU_RECIPE_RUN || !strcmp(l->part, take->part))
			hu_tsv_note(&g->tsv, l->kind == HU_RECIPE_TABLE ? "table" : "command", "%s%s%s%s%s", l->text,
				l->tag ? "   for each " : "", l->tag ? l->tag : "", l->tag ? " = " : "",
				l->tag ? l->tag_values : "");
	}
	columns = hu_xstrdup("");
	for (int k = 0; k < g->columns; k++) {
		char *more = hu_xprintf("%s%s%s", columns, k ? " " : "", g->column[k]);
		free(columns);
		columns = more;
	}
	hu_tsv_header(&g->tsv, columns);
	free(columns);
}

/* What a row has in the column; NULL where it has no such column. The caller frees it. */
typedef char *cell_of(const void *row, int at, const char *column);

static char *
cell_of_table(const void *table, int at, const char *column)
{
	int k = hu_table_column(table, column);

	return k < 0 ? NULL : hu_xstrdup(hu_table_cell(table, at, k));
}

static char *
cell_of_json(const void *rows, int at, const char *column)
{
	const json_t *v = hu_json_cell(json_array_get(rows, (size_t)at), column);

	return v ? hu_json_cell_text(v) : NULL;
}

/* Appends the rows that are kept. */
static hu_status
append(grid *g, const hu_recipe *r, const hu_recipe_line *l, const char *tag, cell_of *cell, const void *from, int rows)
{
	for (int i = 0; i < rows; i++) {
		int kept = 1;
		for (int k = 0; k < g->wheres && kept; k++) {
			char *text = cell(from, i, g->where[k]);
			kept = text && hu_json_table_among(text, g->is[k]);
			free(text);
		}
		for (int k = 0; k < g->columns && kept; k++) {
			int tagged = l->tag && !strcmp(l->tag, g->column[k]);
			char *text = tagged ? hu_xstrdup(tag) : cell(from, i, g->column[k]);
			if (!text && g->lacking[k])
				text = hu_xstrdup("-");
			if (!text)
				return hu_fail(HU_EFILE, "figure %s: `%s` gives no column '%s'", r->name, l->text,
					g->column[k]);
			hu_str cell_text;
			hu_str_init(&cell_text);
			hu_plot_cell(&cell_text, text);
			hu_tsv_text(&g->tsv, cell_text.s);
			hu_str_release(&cell_text);
			free(text);
		}
		g->rows += (size_t)kept;
	}
	return HU_OK;
}

/* Appends what a command printed or a file holds, n bytes of malloc's memory, which it takes over. */
static hu_status
append_text(grid *g, const hu_recipe *r, const hu_recipe_line *l, const char *tag, char *data, size_t n)
{
	json_error_t e;
	hu_table t;
	hu_status st;

	if (*data != '[' && *data != '{') {
		HU_TRY(hu_table_parse(&t, l->text, data, n));
		st = append(g, r, l, tag, cell_of_table, &t, t.rows);
		hu_table_release(&t);
		return st;
	}
	json_t *j = json_loadb(data, n, 0, &e), *rows = NULL;
	free(data);
	if (!j)
		return hu_fail(HU_EFILE, "figure %s: `%s` prints no JSON: %s", r->name, l->text, e.text);
	const json_t *meant = l->at ? hu_json_cell(j, l->at) : j;
	if (json_is_array(meant))
		rows = json_incref((json_t *)(size_t)meant);
	else if (meant)
		rows = json_pack("[O]", meant);
	st = rows ? append(g, r, l, tag, cell_of_json, rows, (int)json_array_size(rows))
		  : hu_fail(HU_EFILE, "figure %s: `%s` has no key '%s'", r->name, l->text, l->at);
	json_decref(rows);
	json_decref(j);
	return st;
}

/* Returns the k-th value of a tag's list a,b,c or A..B, NULL past the last. The caller frees it. */
static char *
tag_value(const char *values, int k)
{
	const char *dots = strstr(values, "..");

	if (dots) {
		long a = strtol(values, NULL, 10), b = strtol(dots + 2, NULL, 10);
		return a + k <= b ? hu_xprintf("%ld", a + k) : NULL;
	}
	for (; k > 0; k--) {
		values += strcspn(values, ",");
		if (!*values)
			return NULL;
		values++;
	}
	return hu_xprintf("%.*s", (int)strcspn(values, ","), values);
}

/* Returns text with {tag} replaced by the value. */
static char *
filled(const char *text, const char *tag, const char *value)
{
	char *hole = tag ? hu_xprintf("{%s}", tag) : NULL;
	hu_str b;

	hu_str_init(&b);
	for (const char *at; hole && (at = strstr(text, hole)); text = at + strlen(hole)) {
		hu_str_addn(&b, text, (size_t)(at - text));
		hu_str_add(&b, value);
	}
	hu_str_add(&b, text);
	free(hole);
	return b.s;
}

static hu_status
do_once(hu_gathered *g, const hu_recipe *r, const char *command, const char *work)
{
	for (int i = 0; i < g->n; i++)
		if (!strcmp(g->done[i], command))
			return HU_OK;
	HU_TRY(hu_child(r->name, command, work, NULL, NULL));
	HU_GROW(g->done, g->n, g->cap);
	g->done[g->n++] = hu_xstrdup(command);
	return HU_OK;
}

static hu_status
do_line(hu_gathered *g, grid *to, const hu_recipe *r, const hu_recipe_line *l, const char *work)
{
	hu_status st = HU_OK;

	for (int k = 0; st == HU_OK; k++) {
		char *value = l->tag ? tag_value(l->tag_values, k) : NULL, *data = NULL, *path = NULL;
		size_t n = 0;
		if (l->tag ? !value : k > 0)
			break;
		char *text = filled(l->text, l->tag, value ? value : "");
		if (l->kind == HU_RECIPE_RUN)
			st = do_once(g, r, text, work);
		else if (l->kind == HU_RECIPE_DATA)
			st = hu_child(r->name, text, work, &data, &n);
		else
			st = hu_file_read(path = hu_xprintf("%s/%s", work, text), &data, &n);
		if (st == HU_OK && data)
			st = append_text(to, r, l, value, data, n);
		free(path);
		free(text);
		free(value);
	}
	return st;
}

/* Saves the tables in dir where st is HU_OK, and releases them. */
static hu_status
end(grid *all, const hu_recipe *r, const char *dir, hu_status st)
{
	for (int k = 0; k < r->takes; k++) {
		const char *part = r->take[k].part;
		char *path = hu_xprintf("%s/%s%s%s.tsv", dir, r->name, *part ? "." : "", part);
		if (st == HU_OK && !all[k].rows)
			st = hu_fail(HU_EFILE, "figure %s: its table '%s' has no rows", r->name, part);
		if (st == HU_OK)
			st = hu_tsv_save(&all[k].tsv, path);
		hu_tsv_release(&all[k].tsv);
		free(all[k].words);
		free(path);
	}
	free(all);
	return st;
}

/* Returns the empty tables of the figure. */
static grid *
begin(const hu_recipe *r)
{
	grid *all = hu_xcalloc((size_t)r->takes, sizeof *all);

	for (int k = 0; k < r->takes; k++)
		grid_init(&all[k], r, &r->take[k]);
	return all;
}

/* Finds the table that the line fills; NULL where no take line has its columns. */
static grid *
table_of(grid *all, const hu_recipe *r, const hu_recipe_line *l)
{
	for (int k = 0; k < r->takes; k++)
		if (!strcmp(r->take[k].part, l->part))
			return &all[k];
	return NULL;
}

static hu_status
no_take(const hu_recipe *r, const hu_recipe_line *l)
{
	return hu_fail(
		HU_EFILE, "reports/%s/%s.gp: no take line names the columns of '%s'", r->folder, r->name, l->part);
}

hu_status
hu_gather(hu_gathered *g, const hu_recipe *r, const char *work, const char *dir)
{
	grid *all = begin(r);
	hu_status st = HU_OK;

	for (int i = 0; i < r->lines && st == HU_OK; i++) {
		const hu_recipe_line *l = &r->line[i];
		grid *to = table_of(all, r, l);
		st = to || l->kind == HU_RECIPE_RUN ? do_line(g, to, r, l, work) : no_take(r, l);
	}
	return end(all, r, dir, st);
}

hu_status
hu_gather_given(const hu_recipe *r, const char *data, size_t n, const char *dir)
{
	grid *all = begin(r);
	hu_status st = HU_OK;

	for (int i = 0; i < r->lines && st == HU_OK; i++) {
		const hu_recipe_line *l = &r->line[i];
		grid *to = table_of(all, r, l);
		char *copy = hu_xcalloc(n + 1, 1);
		memcpy(copy, data, n);
		st = to ? append_text(to, r, l, NULL, copy, n) : no_take(r, l);
	}
	return end(all, r, dir, st);
}

void
hu_gathered_release(hu_gathered *g)
{
	for (int i = 0; i < g->n; i++)
		free(g->done[i]);
	free(g->done);
	memset(g, 0, sizeof *g);
}
