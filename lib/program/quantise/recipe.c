/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/program/quantise/recipe.h"

#include "lib/base/str.h"

#include <stddef.h>
#include <strings.h>

static const hu_block_recipe rows[] = {
#define RECIPE(name, x, w, dg, dw, wx, wg, hadamard, summary) { name, { x, w, dg, dw, wx, wg }, hadamard, summary },
#include "lib/program/quantise/recipes.def"
#undef RECIPE
};

enum { ROWS = sizeof rows / sizeof *rows };

const hu_block_recipe *
hu_recipe_row(int i)
{
	return i >= 0 && i < ROWS ? &rows[i] : NULL;
}

hu_status
hu_recipe_find(const char *name, const hu_block_recipe **out)
{
	const char *names[ROWS];

	for (int i = 0; i < ROWS; i++) {
		names[i] = rows[i].name;
		if (!strcasecmp(names[i], name)) {
			*out = &rows[i];
			return HU_OK;
		}
	}
	const char *near = hu_nearest(name, names, ROWS);
	return hu_fail(HU_EINVAL, "policy: recipe=%s is unknown%s%s; mxfp8, nvfp4, mxfp4 and deepseek are some", name,
		near ? "; did you mean " : "", near ? near : "");
}
