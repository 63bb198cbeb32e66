/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/rows/json_table.h"

#include "lib/base/mem.h"
#include "lib/base/show.h"
#include "lib/base/tsv.h"
#include "reports/rows/json_cell.h"

#include <stdlib.h>
#include <string.h>

void
hu_json_table_release(hu_json_table *g)
{
	for (size_t i = 0; i < g->rows * (size_t)g->columns; i++)
		free(g->cell[i]);
	for (int k = 0; k < g->columns; k++)
		free(g->column[k].name);
	free(g->cell);
	free(g->column);
	memset(g, 0, sizeof *g);
}

/* Adds the column where there is none of that name; an earlier one that was hidden is shown if this one is. */
static void
add_column(hu_json_table *g, const char *name, int shown)
{
	for (int k = 0; k < g->columns; k++)
		if (!strcmp(g->column[k].name, name)) {
			g->column[k].shown |= shown;
			return;
		}
	HU_GROW(g->column, g->columns, g->cap);
	g->column[g->columns++] = (hu_json_table_column){ hu_xstrdup(name), shown };
}

static int
plain(const json_t *v)
{
	return !json_is_object(v) && (!json_is_array(v) || !json_is_object(json_array_get(v, 0)));
}

/* Adds a column for every plain value of the object, whose own column is `prefix`. */
static void
add_columns(hu_json_table *g, const json_t *object, const char *prefix, int shown)
{
	const char *key;
	json_t *v;

	json_object_foreach((json_t *)(size_t)object, key, v)
	{
		char *name = hu_xprintf("%s%s%s", prefix, *prefix ? "." : "", key);
		for (char *s = name; *s; s++)
			if (*s == ' ')
				*s = '_';
		if (json_is_object(v))
			add_columns(g, v, name, shown);
		else if (plain(v))
			add_column(g, name, shown);
		free(name);
	}
}

/* Returns the text of a cell, on one line; NULL where it is missing. */
static char *
text_of(const json_t *v)
{
	char b[HU_TSV_REAL];

	if (!v || json_is_null(v) || !plain(v))
		return NULL;
	if (json_is_string(v) && !strcmp(json_string_value(v), "-"))
		return NULL;
	if (!json_is_real(v)) {
		char *text = hu_json_cell_text(v), *shown = hu_xstrdup(hu_shown(text));
		free(text);
		return shown;
	}
	hu_tsv_real_text(b, json_real_value(v));
	return hu_xstrdup(b);
}

/* An object that is a row, and the object around its array; NULL where there is none. */
typedef struct pair {
	const json_t *row, *around;
} pair;
typedef struct pairs {
	pair *at;
	int n, cap;
} pairs;

static void
add_row(pairs *p, const json_t *row, const json_t *around)
{
	HU_GROW(p->at, p->n, p->cap);
	p->at[p->n++] = (pair){ row, around };
}

static void
add_rows(pairs *p, const json_t *rows, const json_t *around)
{
	size_t i;
	json_t *row;

	json_array_foreach(rows, i, row) add_row(p, row, around);
}

/* Returns the object's only array of objects. NULL where there is none, or several: *names then lists them. */
static const json_t *
only_array(const json_t *object, hu_str *names)
{
	const char *key;
	const json_t *found = NULL;
	json_t *v;
	int n = 0;

	json_object_foreach((json_t *)(size_t)object, key, v) if (json_is_object(json_array_get(v, 0)))
	{
		hu_str_addf(names, "%s%s", n++ ? ", " : "", key);
		found = v;
	}
	return n == 1 ? found : NULL;
}

/* Finds the rows of an object. */
static hu_status
rows_of_object(pairs *p, const json_t *top, const char *of)
{
	hu_str names;
	hu_status st = HU_OK;

	if (of && !strcmp(of, ".")) {
		add_row(p, top, NULL);
		return HU_OK;
	}
	hu_str_init(&names);
	const json_t *only = only_array(top, &names), *rows = of ? hu_json_cell(top, of) : only;
	if (of && !json_is_array(rows))
		st = hu_fail(HU_EINVAL, "-o %s=FILE: the command prints no such array%s%s", of,
			names.len ? "; it prints " : "", names.s);
	else if (rows)
		add_rows(p, rows, top);
	else if (names.len)
		st = hu_fail(HU_EINVAL,
			"the command prints several tables; -o KEY=FILE says which: %s, or . for the rest", names.s);
	else
		add_row(p, top, NULL);
	hu_str_release(&names);
	return st;
}

static hu_status
find_rows(pairs *p, const json_t *top, const char *of)
{
	size_t i;
	json_t *one;

	if (!json_is_array(top))
		return rows_of_object(p, top, of);
	if (!of || !strcmp(of, "."))
		add_rows(p, top, NULL);
	else
		json_array_foreach(top, i, one) HU_TRY(rows_of_object(p, one, of));
	return HU_OK;
}

/* Fills the cells of the table, whose columns are known. */
static void
fill(hu_json_table *g, const pairs *p)
{
	g->rows = (size_t)p->n;
	g->cell = hu_xcalloc(g->rows * (size_t)g->columns + 1, sizeof *g->cell);
	for (int r = 0; r < p->n; r++)
		for (int k = 0; k < g->columns; k++) {
			const json_t *v = hu_json_cell(p->at[r].row, g->column[k].name);
			if (!v && p->at[r].around)
				v = hu_json_cell(p->at[r].around, g->column[k].name);
			g->cell[(size_t)r * (size_t)g->columns + (size_t)k] = text_of(v);
		}
}

hu_status
hu_json_table_of_json(hu_json_table *g, const char *json, size_t n, const char *of)
{
	json_error_t e;
	json_t *top = json_loadb(json, n, 0, &e);
	pairs p = { 0 };

	memset(g, 0, sizeof *g);
	hu_status st = top ? find_rows(&p, top, of) : hu_fail(HU_EFILE, "what was printed is no JSON: %s", e.text);
	/* several objects around the rows are told apart by their first column */
	for (int r = 0; r < p.n; r++)
		if (json_is_array(top) && p.at[r].around) {
			const char *first = json_object_iter_key(json_object_iter((json_t *)(size_t)p.at[r].around));
			if (first && json_array_size(top) > 1)
				add_column(g, first, 1);
		}
	for (int r = 0; r < p.n; r++)
		add_columns(g, p.at[r].row, "", 1);
	for (int r = 0; r < p.n; r++)
		if (p.at[r].around)
			add_columns(g, p.at[r].around, "", 0);
	if (st == HU_OK)
		fill(g, &p);
	free(p.at);
	json_decref(top);
	return st;
}

hu_status
hu_json_table_of_tsv(hu_json_table *g, const char *path)
{
	hu_table t;

	memset(g, 0, sizeof *g);
	HU_TRY(hu_table_read(&t, path));
	for (int k = 0; k < t.columns; k++)
		add_column(g, t.column[k], 1);
	g->rows = (size_t)t.rows;
	g->cell = hu_xcalloc(g->rows * (size_t)g->columns + 1, sizeof *g->cell);
	for (int r = 0; r < t.rows; r++)
		for (int k = 0; k < g->columns; k++) {
			const char *text = hu_table_cell(&t, r, hu_table_column(&t, g->column[k].name));
			if (strcmp(text, "-"))
				g->cell[(size_t)r * (size_t)g->columns + (size_t)k] = hu_xstrdup(text);
		}
	hu_table_release(&t);
	return HU_OK;
}
