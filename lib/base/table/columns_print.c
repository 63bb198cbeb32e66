/* SPDX-License-Identifier: Apache-2.0
   The part of columns.h that people read on a terminal. */
#include "lib/base/table/columns.h"

#include "lib/base/console/show.h"

#include <limits.h>

void
hu_column_text(hu_str *b, const hu_column *c, const void *row)
{
	const char *at = (const char *)row + c->offset;
	int digits = c->digits;

	if (hu_column_empty(c, row)) {
		hu_str_add(b, "-");
		return;
	}
	switch (c->kind) {
	case HU_COLUMN_TEXT:
	case HU_COLUMN_PROSE: hu_str_show(b, *(const char *const *)at); break;
	case HU_COLUMN_COUNT: hu_str_addf(b, "%lld", *(const long long *)at); break;
	case HU_COLUMN_INT: hu_str_addf(b, "%d", *(const int *)at); break;
	case HU_COLUMN_FLAG: hu_str_add(b, *(const int *)at ? "yes" : "no"); break;
	case HU_COLUMN_POWER:
		if (digits)
			hu_str_addf(b, "%.*g", digits, hu_column_value(c, row));
		else
			hu_str_addf(b, "2^%d", *(const int *)at);
		break;
	case HU_COLUMN_REAL:
	case HU_COLUMN_MEASURED: {
		double x = hu_column_value(c, row);
		if (x != x)
			hu_str_add(b, "nan");
		else if (digits < 0)
			hu_str_addf(b, "%.*f", digits == HU_COLUMN_WHOLE ? 0 : -digits, x);
		else
			hu_str_addf(b, "%.*g", digits ? digits : 6, x);
	}
	}
}

/* Adds the columns, whose headings t->heading keeps. */
static void
add_columns(hu_fitted *to, const hu_columns *t)
{
	for (size_t i = 0; i < t->n; i++) {
		const hu_column *c = &t->column[i];
		hu_str b;
		if (!hu_columns_shown(t, i))
			continue;
		hu_str_init(&b);
		hu_str_addf(
			&b, "%s%s%s", c->heading ? c->heading : c->name, c->unit ? " " : "", c->unit ? c->unit : "");
		hu_fitted_column_add(to, (hu_fitted_column){ .heading = b.s,
						 .left = hu_column_is_text(c),
						 .rank = c->rank,
						 .least = c->least,
						 .prose = c->kind == HU_COLUMN_PROSE,
						 .keep = 1 });
		hu_str_release(&b);
	}
}

static void
add_cells(hu_fitted *to, const hu_columns *t, const void *row)
{
	hu_str b;

	for (size_t i = 0; i < t->n; i++) {
		if (!hu_columns_shown(t, i))
			continue;
		hu_str_init(&b);
		hu_column_text(&b, &t->column[i], row);
		hu_fitted_cell(to, b.s);
		hu_str_release(&b);
	}
}

void
hu_columns_print(const hu_columns *t, const void *rows, size_t n, const char *where)
{
	hu_fitted to = { 0 };

	add_columns(&to, t);
	for (size_t k = 0; k < n; k++)
		add_cells(&to, t, (const char *)rows + k * t->stride);
	hu_fitted_print(&to, hu_fitted_width());
	if (where)
		hu_fitted_told(&to, where);
	hu_fitted_release(&to);
}

void
hu_columns_begin(hu_fitted *to, const hu_columns *t)
{
	add_columns(to, t);
	hu_fitted_begin(to, hu_fitted_width());
}

void
hu_columns_row(hu_fitted *to, const hu_columns *t, const void *row)
{
	add_cells(to, t, row);
	hu_fitted_flush(to);
}
