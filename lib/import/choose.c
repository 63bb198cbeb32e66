/* SPDX-License-Identifier: Apache-2.0
   Values that a truth value chooses between, which the model itself computes: both are computed. */
#include "lib/import/importing.h"

#include "lib/base/mem.h"

#include <string.h>

void
hu_import_chooses(hu_importing *c)
{
	if (!c->chooses && c->node)
		c->chooses = hu_xprintf("node '%.120s' (%.60s)", c->node->name, c->node->op);
}

hu_value
hu_import_either(hu_importing *c, hu_value *if_, hu_value *yes, hu_value *no)
{
	hu_value v = *yes;

	if (c->st != HU_OK)
		return v;
	if (yes->rank != no->rank || memcmp(yes->d, no->d, (size_t)yes->rank * sizeof *yes->d) ||
		yes->type != no->type) {
		hu_import_fail(c, HU_EUNABLE,
			"its inputs choose between values of several shapes or types, so that nothing behind it has "
			"one");
		return v;
	}
	hu_shape s = hu_import_shape(yes->rank, yes->d);
	int in[3] = { hu_import_expand(c, hu_import_flat(c, hu_import_plain(c, if_), hu_shape1(1)), s),
		hu_import_plain(c, yes), hu_import_plain(c, no) };
	v.plain = v.n ? hu_import_call(c, "where", hu_import_format(c, v.type), in, 3) : in[1];
	v.last = -1;
	if (v.plain >= 0 && v.n && hu_import_whole(v.type))
		c->p->t[v.plain].cls = HU_OTHER;
	return v;
}
