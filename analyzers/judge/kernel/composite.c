/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/judge/kernel/composite.h"

#include "lib/base/show.h"

#include <string.h>

static const hu_composite table[] = {
#define COMPOSITE(name, operands, results, facts, graph, summary) { #name, operands, results, facts, graph, summary },
#include "analyzers/judge/kernel/composites.def"
#undef COMPOSITE
};

enum { ROWS = sizeof table / sizeof *table };

const hu_composite *
hu_composite_at(int i)
{
	return i >= 0 && i < ROWS ? &table[i] : NULL;
}

hu_status
hu_composite_find(const char *name, const hu_composite **c)
{
	const char *names[ROWS], *near;

	for (int i = 0; i < ROWS; i++) {
		names[i] = table[i].name;
		if (!strcmp(table[i].name, name)) {
			*c = &table[i];
			return HU_OK;
		}
	}
	near = hu_nearest(name, names, ROWS);
	return hu_fail(HU_EINVAL,
		"there is no kernel '%s'%s%s; `halfulp judge list` has all, and a text such as 'y = softmax(x)' makes "
		"one",
		hu_shown(name), near ? "; did you mean " : "", near ? near : "");
}
