/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/formats/targets.h"

#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

/* Looks for a format first, since its message about an unknown name is the more helpful one. */
static hu_status
find(const char *name, hu_target *t)
{
	memset(t, 0, sizeof *t);
	if (hu_format_find(name, &t->format) == HU_OK)
		return HU_OK;
	t->format = HU_NO_FORMAT;
	return hu_block_find(name, &t->block) == HU_OK ? HU_OK : hu_format_find(name, &t->format);
}

static int
same(const hu_target *a, const hu_target *b)
{
	const hu_block *x = &a->block, *y = &b->block;

	if (a->format != HU_NO_FORMAT || b->format != HU_NO_FORMAT)
		return a->format == b->format;
	return x->element == y->element && x->bits == y->bits && x->size == y->size && x->kind == y->kind &&
	       x->scale == y->scale && x->scale_bits == y->scale_bits && x->rule == y->rule && x->mode == y->mode &&
	       x->inf == y->inf && x->least == y->least && x->four == y->four && x->headroom == y->headroom &&
	       x->times == y->times;
}

hu_status
hu_target_list(const char *text, hu_target *out, int max, int *n)
{
	char *all = hu_xstrdup(text), *save = NULL;
	hu_status st = hu_format_list_whole(text);
	hu_target t;
	int known;

	*n = 0;
	for (char *s = strtok_r(all, ",", &save); s && st == HU_OK; s = strtok_r(NULL, ",", &save)) {
		if ((st = find(s, &t)) != HU_OK)
			break;
		if (t.format == HU_NO_FORMAT && t.block.rows > 1) {
			st = hu_fail(HU_EINVAL,
				"%s: tiles of %zu rows are for the matrices of a model (validate); name blocks of a "
				"row, as nvfp4x16",
				t.block.name, t.block.rows);
			break;
		}
		for (known = 0; known < *n && !same(&out[known], &t); known++)
			;
		if (known == max)
			st = hu_fail(HU_EINVAL, "more than %d formats in '%s'", max, text);
		else if (known == *n)
			out[(*n)++] = t;
	}
	free(all);
	return st == HU_OK && !*n ? hu_fail(HU_EINVAL, "no format given") : st;
}

const char *
hu_target_name(const hu_target *t)
{
	return t->format == HU_NO_FORMAT ? t->block.name : hu_format_name(t->format);
}
