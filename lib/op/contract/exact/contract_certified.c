/* SPDX-License-Identifier: Apache-2.0
   Encloses products whose operands are certified values themselves. */
#include "lib/op/contract/exact/contract_low.h"

#include "lib/base/mem.h"

#include <stdlib.h>

/* For certified operands all outputs are computed, and a list selects some of them. */
typedef struct kept { hu_sink s; hu_dd *v; } kept;

static void
keep(hu_sink *s, const hu_tile *t)
{
	for (size_t i = 0; i < t->n; i++)
		((kept *)s)->v[t->first + i] = (hu_dd){ t->hi[i], t->lo[i], t->err[i] };
}

hu_status
hu_contract_enclose_certified(const hu_contract *x, const hu_call *c, hu_tensor *const *in, const size_t *element,
	size_t n, hu_sink *sink)
{
	kept k = { { .take = keep, .low = sink->low }, NULL };
	hu_sink *to = element ? &k.s : sink;
	hu_status st = HU_OK;
	size_t all = x->batches * x->m * x->n;

	if (element)
		k.v = hu_xcalloc(all + n + 1, sizeof *k.v);
	const hu_contract_own *own = c->op->contract;
	if (!own->certified || !own->certified(x, to))
		for (size_t i = 0; i < hu_contract_products(x); i++) {
			hu_contract one = hu_contract_product(x, i);
			hu_contract_enclose_low(&one, to);
		}
	if (element) {
		hu_dd *some = k.v + all;
		for (size_t i = 0; i < n; i++)
			some[i] = k.v[element[i]];
		st = hu_enclose_list(c, in, 0, element, n, sink, some, NULL);
	}
	free(k.v);
	return st;
}
