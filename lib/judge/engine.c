/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/judge/engine.h"

#include "lib/exact/dot.h"

#include <string.h>

/* The operators' references; lib/exact/dot.h decides which arithmetic they use for sums of products. */
static hu_status
by_reference(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, mpfr_t *exact)
{
	return HU_COLUMN(c->op, reference)(c, in, out, element, n, exact);
}

static const hu_engine engines[] = {
	{ "auto",
		"an enclosure first (two doubles and a bound that certainly contain the exact value); where it does "
		"not decide, sums of products exactly, and all else by MPFR, which also judges a sample of each "
		"again; the exact step in pairs of doubles with a bound, by MPFR where that is too wide",
		1, 0, 0, by_reference },
	{ "exact",
		"every value exactly, without enclosures: sums of products in doubles that cannot round, in integers "
		"or on the BLAS, a sample of each again by MPFR, and all else by MPFR; the exact step as under auto",
		0, 1, 0, by_reference },
	{ "mpfr", "every value by MPFR, those of the exact step too, with 212 bits and more", 0, 0, 1, by_reference },
};

hu_status
hu_engine_named(const char *name, const hu_engine **out)
{
	for (size_t i = 0; i < sizeof engines / sizeof *engines; i++)
		if (!strcmp(engines[i].name, name)) {
			*out = &engines[i];
			return HU_OK;
		}
	return hu_fail(HU_EINVAL, "unknown engine '%s'; known: auto, exact, mpfr", name);
}

hu_status
hu_engine_find(const char *name, const hu_engine **out)
{
	HU_TRY(hu_engine_named(name, out));
	hu_exact_way_set((*out)->throughout ? HU_EXACT_MPFR : HU_EXACT_AUTO);
	return HU_OK;
}
