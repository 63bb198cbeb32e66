/* SPDX-License-Identifier: Apache-2.0
   Metrics as JSON lines, one object per row. Jansson reads them, after Python's NaN and Infinity, which are not JSON,
   were turned into strings. */
#include "lib/base/mem.h"
#include "lib/base/str.h"
#include "lib/store/series/series_rows.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 16 }; /* objects in objects; a deeper name is a mistake */

/* Copies n bytes of line, with quotes around NaN, Infinity and -Infinity outside of strings. */
static void
quote_words(hu_str *out, const char *line, size_t n)
{
	static const char *const words[] = { "NaN", "Infinity", "-Infinity" };
	int within = 0;

	out->len = 0;
	out->s[0] = 0;
	for (size_t i = 0; i < n; i++) {
		size_t w = 0, len = 0;
		for (; !within && w < 3; w++)
			if ((len = strlen(words[w])) <= n - i && !memcmp(line + i, words[w], len))
				break;
		if (!within && w < 3) {
			hu_str_addf(out, "\"%s\"", words[w]);
			i += len - 1;
			continue;
		}
		if (line[i] == '"')
			within = !within;
		else if (within && line[i] == '\\' && i + 1 < n)
			hu_str_addn(out, &line[i++], 1);
		hu_str_addn(out, &line[i], 1);
	}
}

static hu_status add(hu_series_row *r, const char *name, const json_t *v, int depth);

static hu_status
add_members(hu_series_row *r, const char *name, const json_t *v, int depth)
{
	const char *key;
	json_t *member;
	size_t i;
	hu_status st = HU_OK;

	if (depth == DEEPEST)
		return hu_fail(HU_EFILE, "%s: row %zu: %s has more than %d objects in each other", r->path, r->number,
			name, DEEPEST);
	json_object_foreach((json_t *)(size_t)v, key, member)
	{
		char *inner = *name ? hu_xprintf("%s/%s", name, key) : hu_xstrdup(key);
		if (st == HU_OK)
			st = add(r, inner, member, depth + 1);
		free(inner);
	}
	json_array_foreach((json_t *)(size_t)v, i, member)
	{
		char *inner = hu_xprintf("%s/%zu", name, i);
		if (st == HU_OK)
			st = add(r, inner, member, depth + 1);
		free(inner);
	}
	return st;
}

static hu_status
add(hu_series_row *r, const char *name, const json_t *v, int depth)
{
	char text[64];

	switch (json_typeof(v)) {
	case JSON_OBJECT:
	case JSON_ARRAY: return add_members(r, name, v, depth);
	case JSON_STRING: hu_series_cell(r, name, json_string_value(v)); break;
	case JSON_TRUE: hu_series_cell(r, name, "true"); break;
	case JSON_FALSE: hu_series_cell(r, name, "false"); break;
	case JSON_NULL: break;
	case JSON_INTEGER:
		snprintf(text, sizeof text, "%lld", (long long)json_integer_value(v));
		hu_series_cell(r, name, text);
		break;
	case JSON_REAL:
		snprintf(text, sizeof text, "%.17g", json_real_value(v));
		hu_series_cell(r, name, text);
	}
	return HU_OK;
}

static hu_status
read_line(hu_series_row *r, const hu_str *line)
{
	json_error_t e;
	json_t *j = json_loadb(line->s, line->len, JSON_REJECT_DUPLICATES, &e);
	hu_status st;

	r->number++;
	if (!j)
		return hu_fail(HU_EFILE, "%s: row %zu: %s: was the file cut short?", r->path, r->number, e.text);
	st = json_is_object(j) ? add(r, "", j, 0)
			       : hu_fail(HU_EFILE, "%s: row %zu is no JSON object", r->path, r->number);
	json_decref(j);
	return st == HU_OK ? hu_series_row_end(r) : st;
}

hu_status
hu_series_json(hu_series_row *r, const char *data, size_t n)
{
	hu_str line;
	hu_status st = HU_OK;

	hu_str_init(&line);
	for (const char *at = data, *end = data + n; at < end && st == HU_OK;) {
		const char *nl = memchr(at, '\n', (size_t)(end - at));
		size_t length = (size_t)((nl ? nl : end) - at);
		quote_words(&line, at, length);
		if (strspn(line.s, " \t\r") < line.len)
			st = read_line(r, &line);
		at += length + (nl != NULL);
	}
	hu_str_release(&line);
	return st;
}
