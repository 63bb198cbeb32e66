/* SPDX-License-Identifier: Apache-2.0
   Looks up formats and rounding modes by name; a name of no such row may be a block format's. */
#include "lib/number/format.h"

#include "lib/base/mem.h"
#include "lib/base/str.h"
#include "lib/number/block/block.h"
#include "lib/number/custom.h"
#include "lib/number/names.h"

#include <stdlib.h>
#include <string.h>

/* Reports that there is no such row, with the nearest name and all known ones. blocks: block formats are possible,
   too. */
static hu_status
none(const char *what, const hu_name *rows, int n, int blocks, const char *name)
{
	enum { MOST_BLOCKS = 64 };
	const char *names[HU_FORMATS + HU_MODES + MOST_BLOCKS], *block, *summary;
	hu_str all;

	hu_str_init(&all);
	for (int i = 0; i < n; i++) {
		names[i] = rows[i].name;
		hu_str_addf(&all, "%s%s", i ? ", " : "", rows[i].name);
	}
	for (int i = 0; blocks && i < MOST_BLOCKS && (block = hu_block_row(i, &summary)); i++) {
		names[n++] = block;
		hu_str_addf(&all, "%s%s", i ? ", " : "; in blocks that share a scale, for round and inspect: ", block);
	}
	if (blocks)
		hu_str_add(&all, ", bfp8; names are also made of words, as e5m3 or int4x32 (doc/formats.md)");
	const char *near = hu_nearest(name, names, (size_t)n);
	hu_fail(HU_EINVAL, "unknown %s '%s'; %s%s%sknown: %s", what, name, near ? "did you mean " : "",
		near ? near : "", near ? "? " : "", all.s);
	hu_str_release(&all);
	return HU_EABSENT;
}

/* Refuses a block format's name where a format of single numbers is wanted. */
static hu_status
no_single(const char *name, const hu_block *b)
{
	if (b->element == HU_NO_FORMAT)
		return hu_fail(HU_EINVAL,
			"'%s' is a block format, not one of single numbers: round and inspect take it, no command "
			"calculates in it; halfulp formats %s has its page",
			name, name);
	return hu_fail(HU_EINVAL,
		"'%s' is a block format, not one of single numbers: round and inspect take it, and op does by "
		"--sum tc:blackwell,in=%s; halfulp formats %s has its page",
		name, name, name);
}

hu_status
hu_format_find(const char *name, hu_format_id *id)
{
	int i = hu_name_find(hu_format_names, HU_FORMATS, name);
	hu_status st;
	hu_block b;

	if (i >= 0) {
		*id = (hu_format_id)i;
		return HU_OK;
	}
	if (hu_custom_find(name, id, &st))
		return st;
	st = hu_block_find(name, &b);
	if (st == HU_EABSENT)
		return none("format", hu_format_names, HU_FORMATS, 1, name);
	return st == HU_OK ? no_single(name, &b) : st;
}

hu_status
hu_mode_find(const char *name, hu_mode *mode)
{
	int i = hu_name_find(hu_mode_names, HU_MODES, name);

	if (i < 0)
		return none("rounding mode", hu_mode_names, HU_MODES, 0, name);
	*mode = (hu_mode)i;
	return HU_OK;
}

hu_status
hu_format_list_whole(const char *text)
{
	for (const char *s = text; *text && s; s = strchr(s, ',') ? strchr(s, ',') + 1 : NULL)
		if (!*s || *s == ',')
			return hu_fail(
				HU_EINVAL, "column %d of '%s': a format's name is needed", (int)(s - text) + 1, text);
	return HU_OK;
}

hu_status
hu_format_list(const char *text, hu_format_id *out, int max, int *n)
{
	char *all = hu_xstrdup(text), *save = NULL;
	hu_status st = hu_format_list_whole(text);
	hu_format_id id;
	int known;

	*n = 0;
	for (char *s = strtok_r(all, ",", &save); s && st == HU_OK; s = strtok_r(NULL, ",", &save)) {
		if ((st = hu_format_find(s, &id)) != HU_OK)
			break;
		for (known = 0; known < *n && out[known] != id; known++)
			;
		if (known == max)
			st = hu_fail(HU_EINVAL, "more than %d formats in '%s'", max, text);
		else if (known == *n)
			out[(*n)++] = id;
	}
	free(all);
	return st == HU_OK && !*n ? hu_fail(HU_EINVAL, "no format given") : st;
}
