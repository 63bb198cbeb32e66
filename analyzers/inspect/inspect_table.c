/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/inspect/inspect_table.h"

#include "analyzers/value/rows.h"
#include "lib/base/mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD, COUNT, REAL, FIXED2, FIXED6 };

static const struct {
	const char *name, *heading;
	int kind;
} column[] = {
#define COLUMN(name, heading, kind, value) { #name, heading, kind },
#include "analyzers/inspect/inspect_columns.def"
#undef COLUMN
};
enum { COLUMNS = sizeof column / sizeof *column };

/* What a cell holds, by the kind of its column. */
typedef struct cell {
	const char *word;
	long long count;
	double real;
} cell;

#define CELL_WORD(value) .word = (value)
#define CELL_COUNT(value) .count = (value)
#define CELL_REAL(value) .real = (value)
#define CELL_FIXED2 CELL_REAL
#define CELL_FIXED6 CELL_REAL

static void
cells(const hu_inspect_row *r, cell *c)
{
	const hu_cast_effect *e = &r->e;
	int i = 0;

#define COLUMN(name, heading, kind, value) c[i++] = (cell){ CELL_##kind(value) };
#include "analyzers/inspect/inspect_columns.def"
#undef COLUMN
}

int
hu_inspect_column(const char *name)
{
	for (int i = 0; i < COLUMNS; i++)
		if (!strcmp(column[i].name, name) || !strcmp(column[i].heading, name))
			return i;
	return -1;
}

const char *
hu_inspect_column_name(int i)
{
	return column[i].name;
}

int
hu_inspect_column_is_number(int i)
{
	return column[i].kind != WORD;
}

int
hu_inspect_column_counts(int i)
{
	return column[i].kind == COUNT && strcmp(column[i].name, "max_error_at") && strcmp(column[i].name, "axis");
}

int
hu_inspect_column_is_best(int i)
{
	return !strncmp(column[i].name, "best_", 5);
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

/* Returns 1 where the cell is empty. */
static int
empty(const cell *c, int i)
{
	return column[i].kind == WORD ? !*c->word : column[i].kind == COUNT ? c->count < 0 : isnan(c->real);
}

double
hu_inspect_value(const hu_inspect_row *r, int i)
{
	cell c[COLUMNS];

	cells(r, c);
	return empty(&c[i], i) || column[i].kind == WORD ? NAN
	       : column[i].kind == COUNT                 ? (double)c[i].count
							 : c[i].real;
}

typedef struct place {
	const hu_inspect_row *row;
	int column, sign;
} place;

static int
by_column(const void *x, const void *y)
{
	const place *p = x, *q = y;
	cell a[COLUMNS], b[COLUMNS];
	int i = p->column, order;

	cells(p->row, a);
	cells(q->row, b);
	order = empty(&a[i], i) - empty(&b[i], i);
	if (!order && column[i].kind == WORD)
		order = p->sign * strcmp(a[i].word, b[i].word);
	if (!order && column[i].kind == COUNT)
		order = p->sign * ((a[i].count > b[i].count) - (a[i].count < b[i].count));
	if (!order && column[i].kind > COUNT)
		order = p->sign * ((a[i].real > b[i].real) - (a[i].real < b[i].real));
	return order ? order : (p->row > q->row) - (p->row < q->row);
}

void
hu_inspect_sort(hu_inspect_row *row, size_t n, int i, int reverse)
{
	place *p = hu_xcalloc(n + 1, sizeof *p);
	hu_inspect_row *sorted = hu_xcalloc(n + 1, sizeof *sorted);

	for (size_t k = 0; k < n; k++)
		p[k] = (place){ &row[k], i, reverse ? -1 : 1 };
	qsort(p, n, sizeof *p, by_column);
	for (size_t k = 0; k < n; k++)
		sorted[k] = *p[k].row;
	memcpy(row, sorted, n * sizeof *row);
	free(p);
	free(sorted);
}

/* Returns the cell as text, in `text` of `size` bytes where it is a number. */
static const char *
text_of(const cell *c, int i, char *text, size_t size)
{
	if (empty(c, i))
		return "-";
	switch (column[i].kind) {
	case WORD: return c->word;
	case COUNT: snprintf(text, size, "%lld", c->count); break;
	case FIXED2: snprintf(text, size, "%.2f", c->real); break;
	case FIXED6: snprintf(text, size, "%.6f", c->real); break;
	default: snprintf(text, size, "%.4g", c->real); break;
	}
	return text;
}

void
hu_inspect_print(const hu_inspect_row *row, size_t n, int files, int best)
{
	int width[COLUMNS], shown = COLUMNS - !files;
	char text[64];
	cell c[COLUMNS];

	for (int i = 0; i < COLUMNS; i++)
		width[i] = (int)strlen(column[i].heading);
	for (size_t k = 0; k < n; k++) {
		cells(&row[k], c);
		for (int i = 0; i < COLUMNS; i++) {
			int w = (int)strlen(text_of(&c[i], i, text, sizeof text));
			width[i] = w > width[i] ? w : width[i];
		}
	}
	for (size_t k = 0; k <= n; k++) {
		if (k)
			cells(&row[k - 1], c);
		for (int i = 0; i < shown; i++)
			if (best || !hu_inspect_column_is_best(i))
				printf("%*s%s",
					i == COLUMNS - 1         ? 0
					: column[i].kind == WORD ? -width[i]
								 : width[i],
					k ? text_of(&c[i], i, text, sizeof text) : column[i].heading,
					i + 1 < shown ? " " : "\n");
	}
}

json_t *
hu_inspect_json(const hu_inspect_row *r, int best)
{
	json_t *o = json_object();
	cell c[COLUMNS];

	cells(r, c);
	for (int i = 0; i < COLUMNS; i++) {
		if (!best && hu_inspect_column_is_best(i))
			continue;
		json_object_set_new(o, column[i].name,
			empty(&c[i], i)           ? json_null()
			: column[i].kind == WORD  ? json_string(c[i].word)
			: column[i].kind == COUNT ? json_integer(c[i].count)
						  : hu_row_number(c[i].real));
	}
	return o;
}

void
hu_inspect_tsv(hu_tsv *t, const hu_inspect_row *row, size_t n, int best)
{
	hu_str names;
	cell c[COLUMNS];

	hu_str_init(&names);
	for (int i = 0; i < COLUMNS; i++)
		if (best || !hu_inspect_column_is_best(i))
			hu_str_addf(&names, "%s%s", i ? " " : "", column[i].name);
	hu_tsv_header(t, names.s);
	hu_str_release(&names);
	for (size_t k = 0; k < n; k++) {
		cells(&row[k], c);
		for (int i = 0; i < COLUMNS; i++)
			if (!best && hu_inspect_column_is_best(i))
				continue;
			else if (empty(&c[i], i))
				hu_tsv_none(t);
			else if (column[i].kind == WORD)
				hu_tsv_text(t, c[i].word);
			else if (column[i].kind == COUNT)
				hu_tsv_int(t, c[i].count);
			else
				hu_tsv_real(t, c[i].real);
	}
}
