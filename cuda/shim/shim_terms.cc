/* SPDX-License-Identifier: Apache-2.0
   The tables of shim_terms.h. Host threads that need one at the same time make it each, and one is kept. */
#include "cuda/shim/shim_terms.h"

#include <stdlib.h>

extern "C" {
#include "lib/base/mem.h"
#include "lib/number/code.h"
}

namespace shim {

const term *
terms_of(hu_format f, hu_format inner)
{
	static term *made[HU_FORMATS][2];
	term **at = &made[f.id][inner.id != f.id], *t = __atomic_load_n(at, __ATOMIC_ACQUIRE), *none = NULL;

	if (t)
		return t;
	HU_ASSERT(f.bits <= 16 && (inner.id == f.id || inner.id == HU_FP16));
	t = (term *)hu_xcalloc((size_t)1 << f.bits, sizeof *t);
	for (uint32_t code = 0; code < 1u << f.bits; code++)
		hu_tc_split(hu_decode(code, f), inner, &t[code].m, &t[code].e);
	if (__atomic_compare_exchange_n(at, &none, t, 0, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE))
		return t;
	free(t);
	return none;
}

} /* namespace shim */
