/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/run/exponents.h"

#include <string.h>

void
hu_exponents_count(uint64_t *count, const hu_tensor *t, hu_region some)
{
	size_t n = t->data ? hu_region_count(some) : 0;

	memset(count, 0, HU_BINS * sizeof *count);
	for (size_t i = 0; i < n; i++)
		count[hu_exponent_bin(hu_get(t, hu_region_element(some, i)))]++;
}

void
hu_exponents_pack(hu_pack *r, uint64_t *count)
{
	size_t n = 0;

	for (int i = 0; i < HU_BINS; i++)
		n += count[i] != 0;
	n = hu_pack_length(r, n);
	r->bad |= n > HU_BINS;
	for (int i = 0; n && !r->bad; n--, i++) {
		while (!r->reading && !count[i])
			i++;
		hu_pack_int(r, &i);
		r->bad |= i < 0 || i >= HU_BINS;
		if (!r->bad)
			hu_pack_count(r, &count[i]);
	}
}
