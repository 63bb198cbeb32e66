/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/op/attr.h"

#include "lib/number/block/block.h"
#include "lib/number/block/map.h"
#include "lib/op/op.h"
#include "lib/op/scaler.h"
#include "lib/op/schedule.h"

#include <limits.h>
#include <math.h>
#include <string.h>

enum kind { COUNT, FLAG, REAL, APPROX, RULE, SCHEDULE, BLOCKS, MAP, WORD };

static const struct row { const char *key; enum kind kind; int least; } rows[] = {
#define ATTR(key, kind, least) { #key, kind, least },
#include "lib/op/attrs.def"
#undef ATTR
};

static const struct row *
find(const char *key)
{
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (!strcmp(rows[i].key, key))
			return &rows[i];
	return NULL;
}

/* Operators keep counts in int as well as in size_t. */
static int
whole(double x, double least, double most)
{
	return x >= least && x <= most && x == floor(x);
}

size_t
hu_attr_count(const hu_call *c, const char *key, size_t otherwise)
{
	double x = hu_attr_num(c, key, (double)otherwise);

	return whole(x, 0, INT_MAX) ? (size_t)x : 0;
}

int
hu_attr_is_word(const char *key)
{
	const struct row *r = find(key);

	return r ? r->kind >= APPROX : -1;
}

double
hu_attr_library(const hu_call *c)
{
	return hu_attr_num(c, "library", 0);
}

hu_format
hu_attr_bounded(const hu_call *c)
{
	hu_format f = hu_format_of(c->fmt.compute);

	f.library = hu_attr_library(c);
	return f;
}

static hu_status
refuse(const hu_call *c, const hu_attr *a, const char *needed)
{
	if (*a->text)
		return hu_fail(HU_EINVAL, "%s: %s is %s, not '%s'", c->op->name, a->key, needed, a->text);
	return hu_fail(HU_EINVAL, "%s: %s is %s, not %.17g", c->op->name, a->key, needed, a->num);
}

static hu_status
check(const hu_call *c, const hu_attr *a, const struct row *r)
{
	static const char *const count[] = { "a whole number from 0 to 2147483647",
		"a whole number from 1 to 2147483647" };
	hu_schedule_rule rule;
	hu_scaler row;
	hu_block blocks;
	hu_code_map map;

	switch (r->kind) {
	case COUNT:
		return !*a->text && whole(a->num, r->least, INT_MAX) ? HU_OK : refuse(c, a, count[r->least]);
	case FLAG:
		return !*a->text && whole(a->num, 0, 1) ? HU_OK : refuse(c, a, "0 or 1");
	case REAL:
		return !*a->text && a->num == a->num ? HU_OK : refuse(c, a, "a number");
	case APPROX:
		return !strcmp(a->text, "none") || !strcmp(a->text, "tanh") ? HU_OK : refuse(c, a, "none or tanh");
	case RULE:
		return *a->text ? hu_scaler_find(a->text, &row) : refuse(c, a, "the name of a loss-scale rule");
	case SCHEDULE:
		return *a->text ? hu_schedule_find(a->text, &rule) : refuse(c, a, "the name of a schedule");
	case BLOCKS:
		return *a->text && hu_block_find(a->text, &blocks) == HU_OK
			       ? HU_OK
			       : refuse(c, a, "the name of a block format");
	case MAP:
		return hu_code_map_find(a->text, &map) == HU_OK ? HU_OK : refuse(c, a, "the name of a map of codes");
	case WORD:
		break;
	}
	return *a->text ? HU_OK : refuse(c, a, "a word");
}

hu_status
hu_attr_check(const hu_call *c)
{
	for (int i = 0; i < c->nattr; i++) {
		const struct row *r = find(c->attr[i].key);
		if (r)
			HU_TRY(check(c, &c->attr[i], r));
	}
	return HU_OK;
}
