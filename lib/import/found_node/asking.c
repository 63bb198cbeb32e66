/* SPDX-License-Identifier: Apache-2.0
   Which constants of an import for one input depend on that input. */
#include "lib/import/importing.h"

#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

void
hu_asking_mark(hu_importing *c, int id)
{
	size_t n = (size_t)id + 1;

	if (id < 0)
		return;
	if (n > c->nvaries) {
		c->varies = hu_xrealloc(c->varies, 2 * n);
		memset(c->varies + c->nvaries, 0, 2 * n - c->nvaries);
		c->nvaries = 2 * n;
	}
	c->varies[id] = 1;
}

int
hu_asking_varies(const hu_importing *c, int id)
{
	return (size_t)id < c->nvaries && c->varies[id];
}

void
hu_asking_release(hu_asking *ask)
{
	for (size_t i = 0; ask && i < ask->n; i++)
		free(ask->port[i].name);
	if (ask)
		free(ask->port);
}
