/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/number/format.h"

#include "lib/base/mem.h"
#include "lib/base/str.h"
#include "lib/number/block.h"
#include "lib/number/custom.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct row { const char *name, *alias, *summary; } row;

static const row formats[] = {
#define FORMAT(id, name, bits, ebits, p, emin, emax, max, special, alias, summary) { name, alias, summary },
#include "lib/number/formats.def"
#undef FORMAT
};

static const row modes[] = {
#define MODE(id, name, alias, summary) { name, alias, summary },
#include "lib/number/modes.def"
#undef MODE
};

static int
known_as(const row *r, const char *name)
{
	size_t n = strlen(name);

	if (!strcasecmp(r->name, name))
		return 1;
	for (const char *s = r->alias; *s;) {
		size_t k = strcspn(s, ",");
		if (k == n && !strncasecmp(s, name, n))
			return 1;
		s += k + (s[k] == ',');
	}
	return 0;
}

static int
find(const row *rows, int n, const char *name)
{
	for (int i = 0; i < n; i++)
		if (known_as(&rows[i], name))
			return i;
	return -1;
}

/* BLOCKS: block formats are among what can be meant. */
static hu_status
none(const char *what, const row *rows, int n, int blocks, const char *name)
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
	return HU_EINVAL;
}

int
hu_row_find(const char *name)
{
	return find(formats, HU_FORMATS, name);
}

hu_status
hu_format_find(const char *name, hu_format_id *id)
{
	int i = hu_row_find(name);
	hu_status st;
	hu_block b;

	if (i < 0 && hu_custom_find(name, id, &st))
		return st;
	if (i < 0 && hu_block_find(name, &b) == HU_OK) /* else its reason may say what is impossible */
		return b.element == HU_NO_FORMAT
			       ? hu_fail(HU_EINVAL,
					 "'%s' is a block format, not one of single numbers: round and inspect take "
					 "it, no command calculates in it; halfulp formats %s has its page",
					 name, name)
			       : hu_fail(HU_EINVAL,
					 "'%s' is a block format, not one of single numbers: round and inspect take "
					 "it, and op does by --sum tc:blackwell,in=%s; halfulp formats %s has its page",
					 name, name, name);
	if (i < 0)
		return !strncmp(hu_reason(), "block format '", 14) ? HU_EINVAL
								   : none("format", formats, HU_FORMATS, 1, name);
	*id = (hu_format_id)i;
	return HU_OK;
}

hu_status
hu_mode_find(const char *name, hu_mode *mode)
{
	int i = find(modes, HU_MODES, name);

	if (i < 0)
		return none("rounding mode", modes, HU_MODES, 0, name);
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

static int
is_custom(hu_format_id id)
{
	return ((int)id & HU_CUSTOM) != 0;
}

const char *
hu_format_name(hu_format_id id)
{
	return is_custom(id) ? hu_custom_name(id) : (int)id < HU_FORMATS ? formats[id].name : "-";
}

const char *
hu_format_summary(hu_format_id id)
{
	return is_custom(id) ? hu_custom_summary(id) : (int)id < HU_FORMATS ? formats[id].summary : "-";
}

const char *
hu_format_aliases(hu_format_id id)
{
	return (int)id < HU_FORMATS ? formats[id].alias : "";
}

const char *hu_mode_name(hu_mode m) { return modes[m].name; }
const char *hu_mode_summary(hu_mode m) { return modes[m].summary; }
