/* SPDX-License-Identifier: Apache-2.0
   The part of json_table.h that chooses rows and columns. */
#include "reports/rows/json_table.h"

#include "lib/base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Finds the column of the n characters; HU_EINVAL lists those that there are. */
static hu_status
find(const hu_json_table *g, const char *option, const char *name, size_t n, int *at)
{
	hu_str all;

	for (int k = 0; k < g->columns; k++)
		if (strlen(g->column[k].name) == n && !strncmp(g->column[k].name, name, n)) {
			*at = k;
			return HU_OK;
		}
	hu_str_init(&all);
	for (int k = 0; k < g->columns; k++)
		hu_str_addf(&all, " %s", g->column[k].name);
	hu_fail(HU_EINVAL, "--%s: there is no column '%.*s'; the columns are%s", option, (int)n, name, all.s);
	hu_str_release(&all);
	return HU_EINVAL;
}

int
hu_json_table_among(const char *text, const char *list)
{
	size_t n = strlen(text);

	for (const char *s = list;; s += strcspn(s, "|") + 1) {
		size_t m = strcspn(s, "|");
		if (m == n && !strncmp(s, text, n))
			return 1;
		if (!s[m])
			return 0;
	}
}

hu_status
hu_json_table_where(hu_json_table *g, const char *condition)
{
	const char *equals = strchr(condition, '=');
	size_t kept = 0, width = (size_t)g->columns;
	int at;

	if (!equals || equals == condition)
		return hu_fail(HU_EINVAL, "--where %s: a condition is COLUMN=TEXT, COLUMN=TEXT|TEXT or COLUMN!=TEXT",
			condition);
	int other = equals[-1] == '!';
	HU_TRY(find(g, "where", condition, (size_t)(equals - condition - other), &at));
	for (size_t r = 0; r < g->rows; r++) {
		char **row = g->cell + r * width, *text = row[at];
		int keep = hu_json_table_among(text ? text : "-", equals + 1) != other;
		for (size_t k = 0; k < width; k++) {
			if (!keep)
				free(row[k]);
			else
				g->cell[kept * width + k] = row[k];
		}
		kept += (size_t)keep;
	}
	g->rows = kept;
	return HU_OK;
}

/* Keeps the n columns at[0], at[1], … */
static void
keep(hu_json_table *g, const int *at, int n)
{
	hu_json_table from = *g;

	memset(g, 0, sizeof *g);
	g->rows = from.rows;
	g->columns = n;
	g->column = hu_xcalloc((size_t)n + 1, sizeof *g->column);
	g->cell = hu_xcalloc(g->rows * (size_t)n + 1, sizeof *g->cell);
	for (int k = 0; k < n; k++) {
		g->column[k] = from.column[at[k]];
		g->column[k].name = hu_xstrdup(g->column[k].name);
		for (size_t r = 0; r < g->rows; r++) {
			const char *text = from.cell[r * (size_t)from.columns + (size_t)at[k]];
			g->cell[r * (size_t)n + (size_t)k] = text ? hu_xstrdup(text) : NULL;
		}
	}
	hu_json_table_release(&from);
}

hu_status
hu_json_table_choose(hu_json_table *g, const char *list)
{
	int *at = hu_xcalloc(strlen(list) + 1, sizeof *at), n = 0;
	hu_status st = HU_OK;

	for (const char *s = list; st == HU_OK; s += strcspn(s, ",") + 1) {
		st = find(g, "columns", s, strcspn(s, ","), &at[n++]);
		if (!s[strcspn(s, ",")])
			break;
	}
	if (st == HU_OK)
		keep(g, at, n);
	free(at);
	return st;
}

void
hu_json_table_shown(hu_json_table *g)
{
	int *at = hu_xcalloc((size_t)g->columns + 1, sizeof *at), n = 0;

	for (int k = 0; k < g->columns; k++) {
		int filled = 0;
		for (size_t r = 0; r < g->rows; r++)
			filled |= g->cell[r * (size_t)g->columns + (size_t)k] != NULL;
		if (g->column[k].shown && filled)
			at[n++] = k;
	}
	keep(g, at, n);
	free(at);
}
