/* SPDX-License-Identifier: Apache-2.0
   Outputs that no call computes: another value, perhaps with another shape, or one without elements. */
#include "lib/import/importing.h"

#include <string.h>

void
hu_import_put_empty(hu_importing *c, size_t i, int type, int rank, const size_t *d)
{
	hu_value v = { .type = type, .rank = rank, .last = -1 };

	if (c->st != HU_OK)
		return;
	memcpy(v.d, d, (size_t)rank * sizeof *d);
	v.plain = hu_import_numbers(c, type, rank, d, NULL);
	hu_import_put(c, i, &v);
}

void
hu_import_same(hu_importing *c, size_t i, const hu_value *v, int rank, const size_t *d)
{
	hu_value was, *to;

	if (!v)
		return;
	was = *v; /* it may be the new value itself */
	if (!was.n) {
		hu_import_put_empty(c, i, was.type, rank, d);
		return;
	}
	to = hu_import_out(c, i, was.type, rank, d);
	if (c->st != HU_OK)
		return;
	if (rank == was.rank && !memcmp(d, was.d, (size_t)rank * sizeof *d)) {
		to->plain = was.plain;
		to->last = was.last;
		return;
	}
	int plain = hu_import_plain(c, &was);
	to->plain = hu_import_flat(c, plain, hu_import_shape(rank, d));
}
