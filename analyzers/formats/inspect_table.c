/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/formats/inspect_table.h"

#include "analyzers/calc/rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD, COUNT, REAL, FIXED2, FIXED6 };

static const struct { const char *name, *heading; int kind; } column[] = {
#define COLUMN(name, heading, kind, value) { #name, heading, kind },
#include "analyzers/formats/inspect_columns.def"
#undef COLUMN
};
enum { COLUMNS = sizeof column / sizeof *column };

/* What a cell holds, by the kind of its column. */
typedef struct cell { const char *word; long long count; double real; } cell;

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
#include "analyzers/formats/inspect_columns.def"
#undef COLUMN
}

/* Returns 1 where the cell is empty. */
static int
empty(const cell *c, int i)
{
	return column[i].kind == COUNT ? c->count < 0 : column[i].kind != WORD && isnan(c->real);
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
hu_inspect_print(const hu_inspect_row *row, size_t n)
{
	int width[COLUMNS];
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
		for (int i = 0; i < COLUMNS; i++)
			printf("%*s%s", column[i].kind == WORD ? -width[i] : width[i],
				k ? text_of(&c[i], i, text, sizeof text) : column[i].heading,
				i + 1 < COLUMNS ? " " : "\n");
	}
}

void
hu_inspect_print_json(const hu_inspect_row *row, size_t n, const char *note)
{
	json_t *rows = json_array();
	cell c[COLUMNS];

	for (size_t k = 0; k < n; k++) {
		json_t *o = json_object();
		cells(&row[k], c);
		for (int i = 0; i < COLUMNS; i++)
			json_object_set_new(o, column[i].name,
				empty(&c[i], i)           ? json_null()
				: column[i].kind == WORD  ? json_string(c[i].word)
				: column[i].kind == COUNT ? json_integer(c[i].count)
							  : hu_row_number(c[i].real));
		json_object_set_new(o, "note", json_string(note));
		json_array_append_new(rows, o);
	}
	hu_rows_print_json(rows);
}

void
hu_inspect_tsv(hu_tsv *t, const hu_inspect_row *row, size_t n)
{
	hu_str names;
	cell c[COLUMNS];

	hu_str_init(&names);
	for (int i = 0; i < COLUMNS; i++)
		hu_str_addf(&names, "%s%s", i ? " " : "", column[i].name);
	hu_tsv_header(t, names.s);
	hu_str_release(&names);
	for (size_t k = 0; k < n; k++) {
		cells(&row[k], c);
		for (int i = 0; i < COLUMNS; i++)
			if (empty(&c[i], i))
				hu_tsv_none(t);
			else if (column[i].kind == WORD)
				hu_tsv_text(t, c[i].word);
			else if (column[i].kind == COUNT)
				hu_tsv_int(t, c[i].count);
			else
				hu_tsv_real(t, c[i].real);
	}
}
