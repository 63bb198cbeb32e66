/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/run/exponents.h"

#include "lib/number/count.h"

#include <string.h>

void
hu_exponents_add(hu_tsv *out, size_t step, const hu_info *info, const hu_tensor *t)
{
	uint64_t count[HU_BINS];

	memset(count, 0, sizeof count);
	for (size_t i = 0; i < t->n; i++)
		count[hu_exponent_bin(hu_get(t, i))]++;
	hu_bins_rows(out, step, info, count);
}
