/* SPDX-License-Identifier: Apache-2.0
   The part of fields.h that people read on a terminal. */
#include "lib/base/table/fields.h"

#include "lib/base/show.h"
#include "lib/base/table/bytes.h"

#include <limits.h>

/* A number with six digits, or as many as are asked for: -N behind the point. */
static void
add_real(hu_str *b, double x, int digits)
{
	if (x != x)
		hu_str_add(b, "nan");
	else if (digits < 0)
		hu_str_addf(b, "%.*f", digits == HU_FIELD_WHOLE ? 0 : -digits, x);
	else
		hu_str_addf(b, "%.*g", digits ? digits : 6, x);
}

static void
add_cell(hu_str *b, const hu_field_cell *cell, int digits)
{
	if (cell->text)
		hu_str_show(b, cell->text);
	else
		add_real(b, cell->value, digits);
}

void
hu_field_text(hu_str *b, const hu_table_field *c, const void *row)
{
	const char *at = (const char *)row + c->offset;
	int digits = c->digits;
	char size[16];

	if (hu_field_empty(c, row)) {
		hu_str_add(b, "-");
		return;
	}
	switch (c->kind) {
	case HU_FIELD_TEXT:
	case HU_FIELD_WORDS:
	case HU_FIELD_PROSE: hu_str_show(b, *(const char *const *)at); break;
	case HU_FIELD_COUNT: hu_str_addf(b, "%lld", *(const long long *)at); break;
	case HU_FIELD_INT: hu_str_addf(b, "%d", *(const int *)at); break;
	case HU_FIELD_FLAG: hu_str_add(b, *(const int *)at ? "yes" : "no"); break;
	case HU_FIELD_BYTES: hu_str_add(b, hu_bytes_text(hu_field_value(c, row), size, sizeof size)); break;
	case HU_FIELD_POWER:
		if (digits)
			hu_str_addf(b, "%.*g", digits, hu_field_value(c, row));
		else
			hu_str_addf(b, "2^%d", *(const int *)at);
		break;
	case HU_FIELD_REAL:
	case HU_FIELD_MEASURED: add_real(b, hu_field_value(c, row), digits); break;
	case HU_FIELD_CELL: add_cell(b, (const void *)at, digits); break;
	case HU_FIELD_SIZES: {
		const hu_field_sizes *s = (const void *)at;
		hu_str_add(b, s->n ? "" : "-");
		for (int i = 0; i < s->n; i++)
			hu_str_addf(b, i ? "x%zu" : "%zu", s->v[i]);
		break;
	}
	case HU_FIELD_JSON: hu_str_add(b, "-"); break;
	}
}

/* Adds the columns, whose headings t->heading keeps. */
static void
add_columns(hu_fitted *to, const hu_fields *t)
{
	for (size_t i = 0; i < t->n; i++) {
		const hu_table_field *c = &t->column[i];
		hu_str b;
		if (!hu_fields_shown(t, i))
			continue;
		hu_str_init(&b);
		hu_str_addf(
			&b, "%s%s%s", c->heading ? c->heading : c->name, c->unit ? " " : "", c->unit ? c->unit : "");
		hu_fitted_column_add(to, (hu_fitted_column){ .heading = b.s,
						 .left = hu_field_is_text(c),
						 .rank = c->rank,
						 .least = c->least,
						 .most = c->most,
						 .prose = c->kind == HU_FIELD_PROSE || c->kind == HU_FIELD_WORDS,
						 .keep = !t->dense });
		hu_str_release(&b);
	}
}

static void
add_cells(hu_fitted *to, const hu_fields *t, const void *row)
{
	hu_str b;

	for (size_t i = 0; i < t->n; i++) {
		if (!hu_fields_shown(t, i))
			continue;
		hu_str_init(&b);
		hu_field_text(&b, &t->column[i], row);
		hu_fitted_cell(to, b.s);
		hu_str_release(&b);
	}
}

void
hu_fields_print(const hu_fields *t, const void *rows, size_t n, const char *where)
{
	hu_fields_print_to(NULL, t, rows, n, where);
}

void
hu_fields_print_to(FILE *f, const hu_fields *t, const void *rows, size_t n, const char *where)
{
	hu_fitted to = { .to = f };

	add_columns(&to, t);
	for (size_t k = 0; k < n; k++)
		add_cells(&to, t, (const char *)rows + k * t->stride);
	hu_fitted_print(&to, hu_fitted_width());
	if (where)
		hu_fitted_left_out(&to, where);
	hu_fitted_release(&to);
}

void
hu_fields_begin(hu_fitted *to, const hu_fields *t)
{
	add_columns(to, t);
	hu_fitted_begin(to, hu_fitted_width());
}

void
hu_fields_row(hu_fitted *to, const hu_fields *t, const void *row)
{
	add_cells(to, t, row);
	hu_fitted_flush(to);
}
