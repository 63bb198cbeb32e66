/* SPDX-License-Identifier: Apache-2.0
   The part of columns.h that programs read: TSV and JSON, with all digits. */
#include "lib/base/table/columns.h"

#include <math.h>

json_t *
hu_columns_number(double x)
{
	if (isfinite(x))
		return json_real(x);
	return json_string(isnan(x) ? "nan" : x > 0 ? "inf" : "-inf");
}

json_t *
hu_column_json(const hu_column *c, const void *row)
{
	const char *at = (const char *)row + c->offset;

	if (hu_column_empty(c, row))
		return json_null();
	switch (c->kind) {
	case HU_COLUMN_TEXT:
	case HU_COLUMN_PROSE: return json_string(*(const char *const *)at);
	case HU_COLUMN_COUNT: return json_integer(*(const long long *)at);
	case HU_COLUMN_INT: return json_integer(*(const int *)at);
	case HU_COLUMN_FLAG: return json_boolean(*(const int *)at);
	case HU_COLUMN_REAL:
	case HU_COLUMN_MEASURED:
	case HU_COLUMN_POWER: return hu_columns_number(hu_column_value(c, row));
	}
	return json_null();
}

json_t *
hu_columns_object(const hu_columns *t, const void *row)
{
	json_t *o = json_object();

	for (size_t i = 0; i < t->n; i++)
		if (hu_columns_written(t, i))
			json_object_set_new(o, t->column[i].name, hu_column_json(&t->column[i], row));
	return o;
}

json_t *
hu_columns_array(const hu_columns *t, const void *rows, size_t n)
{
	json_t *all = json_array();

	for (size_t k = 0; k < n; k++)
		json_array_append_new(all, hu_columns_object(t, (const char *)rows + k * t->stride));
	return all;
}

void
hu_columns_tsv_header(hu_tsv *to, const hu_columns *t)
{
	hu_str names;

	hu_str_init(&names);
	for (size_t i = 0; i < t->n; i++)
		if (hu_columns_written(t, i))
			hu_str_addf(&names, "%s%s", names.len ? " " : "", t->column[i].name);
	hu_tsv_header(to, names.s);
	hu_str_release(&names);
}

static void
tsv_cell(hu_tsv *to, const hu_column *c, const void *row)
{
	const char *at = (const char *)row + c->offset;

	if (hu_column_empty(c, row)) {
		hu_tsv_none(to);
		return;
	}
	switch (c->kind) {
	case HU_COLUMN_TEXT:
	case HU_COLUMN_PROSE: hu_tsv_text(to, *(const char *const *)at); break;
	case HU_COLUMN_COUNT: hu_tsv_int(to, *(const long long *)at); break;
	case HU_COLUMN_INT:
	case HU_COLUMN_FLAG: hu_tsv_int(to, *(const int *)at); break;
	case HU_COLUMN_REAL:
	case HU_COLUMN_MEASURED:
	case HU_COLUMN_POWER: hu_tsv_real(to, hu_column_value(c, row)); break;
	}
}

void
hu_columns_tsv_row(hu_tsv *to, const hu_columns *t, const void *row)
{
	for (size_t i = 0; i < t->n; i++)
		if (hu_columns_written(t, i))
			tsv_cell(to, &t->column[i], row);
}
