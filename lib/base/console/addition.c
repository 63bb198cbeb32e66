/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/console/addition.h"

#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

static const hu_command_addition *addition;

void
hu_command_add(const hu_command_addition *x)
{
	addition = x;
}

const hu_command_addition *
hu_command_added(const hu_command *c)
{
	return addition && addition->belongs(c) ? addition : NULL;
}

const hu_opt *
hu_command_opts(const hu_command *c)
{
	static hu_opt *joined;
	const hu_command_addition *x = hu_command_added(c);
	size_t n = 0, m = 0;

	if (!x)
		return c->opts;
	while (c->opts[n].name)
		n++;
	for (; x->opts[m].name; m++)
		for (size_t k = 0; k < n; k++)
			HU_ASSERT(strcmp(c->opts[k].name, x->opts[m].name));
	free(joined);
	joined = hu_xcalloc(n + m + 1, sizeof *joined);
	memcpy(joined, c->opts, n * sizeof *joined);
	memcpy(joined + n, x->opts, m * sizeof *joined);
	return joined;
}
