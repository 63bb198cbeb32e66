/* SPDX-License-Identifier: Apache-2.0
   The part of fields.h that programs read: TSV and JSON, with all digits. */
#include "lib/base/table/fields.h"

#include "lib/base/show.h"

#include <math.h>
#include <string.h>

json_t *
hu_fields_number(double x)
{
	if (isfinite(x))
		return json_real(x);
	return json_string(isnan(x) ? "nan" : x > 0 ? "inf" : "-inf");
}

json_t *
hu_fields_measured(double x)
{
	return isnan(x) ? json_null() : hu_fields_number(x);
}

/* A text that is no UTF-8 is escaped: a key without its value would vanish. */
static json_t *
text(const char *s)
{
	json_t *whole = json_string(s);

	return whole ? whole : json_string(hu_shown(s));
}

static json_t *
words(const char *s)
{
	json_t *all = json_array();

	for (; s && *s; s += strspn(s, " ")) {
		size_t n = strcspn(s, " ");
		json_array_append_new(all, json_stringn(s, n));
		s += n;
	}
	return all;
}

static json_t *
sizes(const hu_field_sizes *s)
{
	json_t *all = json_array();

	for (int i = 0; i < s->n; i++)
		json_array_append_new(all, json_integer((json_int_t)s->v[i]));
	return all;
}

/* Returns the value as JSON, which the caller owns. */
static json_t *
json_of(const hu_table_field *c, const void *row)
{
	const char *at = (const char *)row + c->offset;

	if (c->kind == HU_FIELD_WORDS)
		return words(*(const char *const *)at);
	if (hu_field_empty(c, row))
		return json_null();
	switch (c->kind) {
	case HU_FIELD_TEXT:
	case HU_FIELD_WORDS:
	case HU_FIELD_PROSE: return text(*(const char *const *)at);
	case HU_FIELD_COUNT: return json_integer(*(const long long *)at);
	case HU_FIELD_INT: return json_integer(*(const int *)at);
	case HU_FIELD_FLAG: return json_boolean(*(const int *)at);
	case HU_FIELD_REAL:
	case HU_FIELD_MEASURED:
	case HU_FIELD_BYTES:
	case HU_FIELD_POWER: return hu_fields_number(hu_field_value(c, row));
	case HU_FIELD_CELL: {
		const hu_field_cell *cell = (const void *)at;
		return cell->text ? text(cell->text) : hu_fields_number(cell->value);
	}
	case HU_FIELD_SIZES: return sizes((const void *)at);
	case HU_FIELD_JSON: return *(json_t *const *)at;
	}
	return json_null();
}

json_t *
hu_fields_object(const hu_fields *t, const void *row)
{
	json_t *o = json_object();

	for (size_t i = 0; i < t->n; i++)
		if (hu_fields_written(t, i))
			json_object_set_new(o, t->column[i].name, json_of(&t->column[i], row));
	return o;
}

json_t *
hu_fields_array(const hu_fields *t, const void *rows, size_t n)
{
	json_t *all = json_array();

	for (size_t k = 0; k < n; k++)
		json_array_append_new(all, hu_fields_object(t, (const char *)rows + k * t->stride));
	return all;
}

void
hu_fields_complete(json_t *rows)
{
	json_t *all = json_object(), *row, *value;
	const char *key;
	size_t i;

	json_array_foreach(rows, i, row) json_object_update_missing(all, row);
	json_array_foreach(rows, i, row)
	{
		json_object_foreach(all, key, value)
		{
			if (!json_object_get(row, key))
				json_object_set_new(row, key, json_null());
		}
	}
	json_decref(all);
}

void
hu_fields_names(hu_str *to, const hu_fields *t)
{
	for (size_t i = 0; i < t->n; i++)
		if (hu_fields_written(t, i))
			hu_str_addf(to, "%s%s", to->len ? " " : "", t->column[i].name);
}

void
hu_fields_tsv_header(hu_tsv *to, const hu_fields *t)
{
	hu_str names;

	hu_str_init(&names);
	hu_fields_names(&names, t);
	hu_tsv_header(to, names.s);
	hu_str_release(&names);
}

static void
tsv_cell(hu_tsv *to, const hu_table_field *c, const void *row)
{
	const char *at = (const char *)row + c->offset;

	if (hu_field_empty(c, row)) {
		hu_tsv_none(to);
		return;
	}
	switch (c->kind) {
	case HU_FIELD_TEXT:
	case HU_FIELD_WORDS:
	case HU_FIELD_PROSE: hu_tsv_text(to, *(const char *const *)at); break;
	case HU_FIELD_COUNT: hu_tsv_int(to, *(const long long *)at); break;
	case HU_FIELD_INT:
	case HU_FIELD_FLAG: hu_tsv_int(to, *(const int *)at); break;
	case HU_FIELD_REAL:
	case HU_FIELD_MEASURED:
	case HU_FIELD_BYTES:
	case HU_FIELD_POWER: hu_tsv_real(to, hu_field_value(c, row)); break;
	case HU_FIELD_JSON: hu_tsv_text(to, "-"); break;
	case HU_FIELD_SIZES:
	case HU_FIELD_CELL: {
		double x = hu_field_value(c, row);
		hu_str b;
		if (!isnan(x)) {
			hu_tsv_real(to, x);
			break;
		}
		hu_str_init(&b);
		hu_field_text(&b, c, row);
		hu_tsv_text(to, b.s);
		hu_str_release(&b);
	}
	}
}

void
hu_fields_tsv_row(hu_tsv *to, const hu_fields *t, const void *row)
{
	for (size_t i = 0; i < t->n; i++)
		if (hu_fields_written(t, i))
			tsv_cell(to, &t->column[i], row);
}
