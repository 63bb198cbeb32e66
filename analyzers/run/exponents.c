/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/run/exponents.h"

#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

enum { CODES = 256 }; /* of a float's exponent; the first is of zeros and subnormal numbers, the last of no number */

void
hu_exponents_count(uint64_t *count, const hu_tensor *t, hu_region some)
{
	size_t n = t->data ? hu_region_count(some) : 0;

	memset(count, 0, HU_BINS * sizeof *count);
	if (!some.row && n && !hu_is_wide(t->format)) { /* floats one behind another, by the code of their exponent */
		const float *x = (const float *)t->data + some.first;
		uint64_t *of = hu_xcalloc(CODES, sizeof *of);
		for (size_t i = 0; i < n; i++)
			of[hu_bits32(x[i]) >> 23 & 0xff]++;
		for (int e = 1; e < CODES - 1; e++)
			count[hu_exponent_bin(hu_pow2(e - 127))] += of[e];
		for (size_t i = 0; i < n && of[0] + of[CODES - 1]; i++)
			if ((hu_bits32(x[i]) >> 23 & 0xff) % (CODES - 1) == 0)
				count[hu_exponent_bin((double)x[i])]++;
		free(of);
		return;
	}
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
