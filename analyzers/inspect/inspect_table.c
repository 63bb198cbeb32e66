/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/inspect/inspect_table.h"

#include "lib/base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BEST = 1, FILES = 2 }; /* what columns need that are not always there */

/* The values of a row. */
typedef struct cells {
	const hu_inspect_row *row;
#define TEXT const char *
#define COUNT long long
#define MEASURED double
#define COLUMN(name, kind, ...) kind name;
#include "analyzers/inspect/inspect_columns.def"
#undef COLUMN
#undef TEXT
#undef COUNT
#undef MEASURED
} cells;

static const hu_table_field column[] = {
#define COLUMN(name_, kind_, value, ...)                                                                               \
	{ .name = #name_, .kind = HU_FIELD_##kind_, .offset = offsetof(cells, name_), __VA_ARGS__ },
#include "analyzers/inspect/inspect_columns.def"
#undef COLUMN
};

const hu_fields hu_inspect_columns = HU_FIELDS(column, cells);

static void
fill(cells *c, const hu_inspect_row *r)
{
	const hu_cast_effect *e = &r->e;

	c->row = r;
#define COLUMN(name, kind, value, ...) c->name = (value);
#include "analyzers/inspect/inspect_columns.def"
#undef COLUMN
}

int
hu_inspect_column(const char *name)
{
	return hu_fields_find(&hu_inspect_columns, name);
}

const char *
hu_inspect_column_name(int i)
{
	return column[i].name;
}

int
hu_inspect_column_is_number(int i)
{
	return !hu_field_is_text(&column[i]);
}

int
hu_inspect_column_counts(int i)
{
	return column[i].kind == HU_FIELD_COUNT && strcmp(column[i].name, "max_error_at") &&
	       strcmp(column[i].name, "axis");
}

int
hu_inspect_column_is_best(int i)
{
	return column[i].only == BEST;
}

int
hu_inspect_column_is_error(int i)
{
	static const char *const errors[] = { "rel_l2", "sqnr_db", "max_error", "mean_error", "l2_share_lost", "cosine",
		"best_sqnr_db" };

	for (size_t k = 0; k < sizeof errors / sizeof *errors; k++)
		if (!strcmp(column[i].name, errors[k]))
			return 1;
	return 0;
}

double
hu_inspect_value(const hu_inspect_row *r, int i)
{
	cells c;

	fill(&c, r);
	return hu_field_value(&column[i], &c);
}

/* Returns the values of n rows, which the caller frees. */
static cells *
values(const hu_inspect_row *row, size_t n)
{
	cells *c = hu_xcalloc(n + 1, sizeof *c);

	for (size_t k = 0; k < n; k++)
		fill(&c[k], &row[k]);
	return c;
}

typedef struct place {
	const cells *c;
	int column, descending;
} place;

static int
by_column(const void *x, const void *y)
{
	const place *p = x, *q = y;
	int order = hu_field_order(&column[p->column], p->c, q->c, p->descending);

	return order ? order : (p->c > q->c) - (p->c < q->c);
}

void
hu_inspect_sort(hu_inspect_row *row, size_t n, int i, int reverse)
{
	cells *c = values(row, n);
	place *p = hu_xcalloc(n + 1, sizeof *p);
	hu_inspect_row *sorted = hu_xcalloc(n + 1, sizeof *sorted);

	for (size_t k = 0; k < n; k++)
		p[k] = (place){ &c[k], i, reverse };
	qsort(p, n, sizeof *p, by_column);
	for (size_t k = 0; k < n; k++)
		sorted[k] = *p[k].c->row;
	memcpy(row, sorted, n * sizeof *row);
	free(c);
	free(p);
	free(sorted);
}

static hu_fields
columns(int files, int best)
{
	hu_fields t = hu_inspect_columns;

	t.with = (files ? FILES : 0) | (best ? BEST : 0);
	return t;
}

void
hu_inspect_print(const hu_inspect_row *row, size_t n, int files, int best)
{
	hu_fields t = columns(files, best);
	cells *c = values(row, n);

	hu_fields_print(&t, c, n, "--json and -o FILE.tsv have all");
	free(c);
}

json_t *
hu_inspect_json(const hu_inspect_row *r, int best)
{
	hu_fields t = columns(1, best);
	cells c;

	fill(&c, r);
	return hu_fields_object(&t, &c);
}

void
hu_inspect_tsv(hu_tsv *to, const hu_inspect_row *row, size_t n, int best)
{
	hu_fields t = columns(1, best);
	cells c;

	hu_fields_tsv_header(to, &t);
	for (size_t k = 0; k < n; k++) {
		fill(&c, &row[k]);
		hu_fields_tsv_row(to, &t, &c);
	}
}
