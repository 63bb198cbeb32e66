/* SPDX-License-Identifier: Apache-2.0
   The values of rows: where they are, whether there are any, their order. */
#include "lib/base/table/fields.h"

#include <limits.h>
#include <math.h>
#include <string.h>

static const void *
at(const hu_table_field *c, const void *row)
{
	return (const char *)row + c->offset;
}

static const char *
text_at(const hu_table_field *c, const void *row)
{
	return *(const char *const *)at(c, row);
}

int
hu_fields_shown(const hu_fields *t, size_t i)
{
	const hu_table_field *c = &t->column[i];

	return c->place != HU_FIELD_WRITTEN && (!c->only || c->only & t->with);
}

int
hu_fields_written(const hu_fields *t, size_t i)
{
	const hu_table_field *c = &t->column[i];

	return c->place != HU_FIELD_SHOWN && (!c->only || c->only & t->with);
}

int
hu_fields_find(const hu_fields *t, const char *name)
{
	for (size_t i = 0; i < t->n; i++)
		if (!strcmp(t->column[i].name, name) || (t->column[i].heading && !strcmp(t->column[i].heading, name)))
			return (int)i;
	return -1;
}

int
hu_field_is_text(const hu_table_field *c)
{
	return c->kind == HU_FIELD_TEXT || c->kind == HU_FIELD_PROSE || c->kind == HU_FIELD_WORDS;
}

int
hu_field_empty(const hu_table_field *c, const void *row)
{
	const char *text;

	switch (c->kind) {
	case HU_FIELD_TEXT:
	case HU_FIELD_WORDS:
	case HU_FIELD_PROSE: text = text_at(c, row); return !text || !*text;
	case HU_FIELD_COUNT: return *(const long long *)at(c, row) < 0;
	case HU_FIELD_FLAG: return *(const int *)at(c, row) < 0;
	case HU_FIELD_BYTES:
	case HU_FIELD_MEASURED: return isnan(*(const double *)at(c, row));
	case HU_FIELD_POWER: return *(const int *)at(c, row) == INT_MIN;
	case HU_FIELD_CELL: {
		const hu_field_cell *cell = at(c, row);
		return !cell->text && isnan(cell->value);
	}
	case HU_FIELD_SIZES: return !((const hu_field_sizes *)at(c, row))->v;
	case HU_FIELD_JSON: return !*(json_t *const *)at(c, row);
	case HU_FIELD_INT:
	case HU_FIELD_REAL: return 0;
	}
	return 1;
}

double
hu_field_value(const hu_table_field *c, const void *row)
{
	if (hu_field_empty(c, row))
		return NAN;
	switch (c->kind) {
	case HU_FIELD_COUNT: return (double)*(const long long *)at(c, row);
	case HU_FIELD_INT:
	case HU_FIELD_FLAG: return *(const int *)at(c, row);
	case HU_FIELD_REAL:
	case HU_FIELD_BYTES:
	case HU_FIELD_MEASURED: return *(const double *)at(c, row);
	case HU_FIELD_POWER: return ldexp(1, *(const int *)at(c, row));
	case HU_FIELD_CELL: {
		const hu_field_cell *cell = at(c, row);
		return cell->text ? NAN : cell->value;
	}
	case HU_FIELD_SIZES:
	case HU_FIELD_JSON:
	case HU_FIELD_TEXT:
	case HU_FIELD_WORDS:
	case HU_FIELD_PROSE: break;
	}
	return NAN;
}

/* NaN comes behind all numbers, and before rows without a value. */
static int
order_of(const hu_table_field *c, const void *a, const void *b)
{
	if (hu_field_is_text(c))
		return strcmp(text_at(c, a), text_at(c, b));
	if (c->kind == HU_FIELD_COUNT) {
		long long x = *(const long long *)at(c, a), y = *(const long long *)at(c, b);
		return (x > y) - (x < y);
	}
	double x = hu_field_value(c, a), y = hu_field_value(c, b);
	return isnan(x) || isnan(y) ? isnan(x) - isnan(y) : (x > y) - (x < y);
}

int
hu_field_order(const hu_table_field *c, const void *a, const void *b, int descending)
{
	int none = hu_field_empty(c, a) - hu_field_empty(c, b), order;

	if (none || hu_field_empty(c, a))
		return none;
	order = order_of(c, a, b);
	return descending ? -order : order;
}
