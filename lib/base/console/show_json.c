/* SPDX-License-Identifier: Apache-2.0
   JSON with names that can be printed. It has a file of its own, so that programs that link formats and rounding
   alone need no Jansson. */
#include "lib/base/console/show_json.h"

#include "lib/base/guard/input.h"

#include "lib/base/show.h"

#include <errno.h>
#include <string.h>

static hu_status
refuse(const char *name, const char *what, const char *text)
{
	return hu_plain(text) ? HU_OK
			      : hu_fail(HU_EFILE,
					"%s: %s \"%.200s\" has characters that cannot be printed: rename what it names",
					name, what, hu_shown(text));
}

hu_status
hu_json_plain(const json_t *jc, const char *name)
{
	json_t *j = (json_t *)(size_t)jc, *v;
	const char *key;
	size_t i;

	if (json_is_string(j))
		return refuse(name, "the text", json_string_value(j));
	json_array_foreach(j, i, v) HU_TRY(hu_json_plain(v, name));
	json_object_foreach(j, key, v)
	{
		HU_TRY(refuse(name, "the key", key));
		HU_TRY(hu_json_plain(v, name));
	}
	return HU_OK;
}

hu_status
hu_json_read(const char *path, json_t **j)
{
	json_error_t e;
	FILE *f;

	*j = NULL;
	HU_TRY(hu_input_open(path, &f));
	*j = json_loadf(f, JSON_REJECT_DUPLICATES, &e);
	int failed = ferror(f);
	fclose(f);
	if (*j && !failed)
		return HU_OK;
	json_decref(*j);
	*j = NULL;
	return failed ? hu_fail(HU_EIO, "%s: the file cannot be read", path)
		      : hu_fail(HU_EFILE, "%s:%d: %s", path, e.line, e.text);
}

void
hu_json_write(const json_t *j, FILE *f, size_t flags)
{
	if (!j)
		hu_fail(HU_EIO, "a name is not UTF-8, so that no JSON can hold it: rename what it names");
	else if (json_dumpf(j, f, flags))
		hu_fail(HU_EIO, "the JSON cannot be written%s%s", ferror(f) ? ": " : "",
			ferror(f) ? strerror(errno) : "");
}
