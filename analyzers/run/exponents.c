/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/run/exponents.h"

#include "lib/number/count.h"

#include <string.h>

static void
one(hu_tsv *out, size_t step, const hu_info *info, const hu_tensor *t)
{
	uint64_t count[HU_BINS];

	memset(count, 0, sizeof count);
	for (size_t i = 0; i < t->n; i++)
		count[hu_exponent_bin(hu_get(t, i))]++;
	hu_bins_rows(out, step, info, count);
}

void
hu_exponents_add(hu_tsv *out, const hu_program *p, size_t step, const hu_tensor *t)
{
	for (int i = 0; i < p->nt; i++)
		if (t[i].data)
			one(out, step, &p->t[i], &t[i]);
}
