/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/rows/json_cell.h"

#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

/* Finds the key whose name has the n characters. */
static const json_t *
member(const json_t *object, const char *name, size_t n)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)(size_t)object, key, value)
	{
		size_t i = 0;
		while (i < n && key[i] && (key[i] == name[i] || (key[i] == ' ' && name[i] == '_')))
			i++;
		if (i == n && !key[n])
			return value;
	}
	return NULL;
}

const json_t *
hu_json_cell(const json_t *row, const char *column)
{
	const json_t *v = row;

	for (const char *s = column; v; s += strcspn(s, ".") + 1) {
		size_t n = strcspn(s, ".");
		const json_t *whole = member(v, s, strlen(s)); /* a key may have dots of its own */
		if (whole || !s[n])
			return whole;
		v = member(v, s, n);
	}
	return NULL;
}

char *
hu_json_cell_text(const json_t *v)
{
	char *all;
	size_t i;
	json_t *one;

	switch (json_typeof(v)) {
	case JSON_STRING: return hu_xstrdup(json_string_value(v));
	case JSON_INTEGER: return hu_xprintf("%lld", (long long)json_integer_value(v));
	case JSON_REAL: return hu_xprintf("%.17g", json_real_value(v));
	case JSON_TRUE: return hu_xstrdup("1");
	case JSON_FALSE: return hu_xstrdup("0");
	case JSON_ARRAY:
		all = hu_xstrdup("");
		json_array_foreach(v, i, one)
		{
			char *text = hu_json_cell_text(one), *more = hu_xprintf("%s%s%s", all, i ? "," : "", text);
			free(all);
			free(text);
			all = more;
		}
		return all;
	case JSON_OBJECT:
	case JSON_NULL: break;
	}
	return hu_xstrdup("-");
}
