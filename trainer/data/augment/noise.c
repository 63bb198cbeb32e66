/* SPDX-License-Identifier: Apache-2.0
   noise: to element k is added S * sqrt(3/2) * (h - 4), where h is the sum of the eight halves of the block at
   index = row * elements + k, each plus one half, over 2^16. */
#include "trainer/data/augment.h"

void
hu_augment_noise(const hu_augmenting *a, double *values, size_t n)
{
	/* The sum of eight uniform numbers has variance 8/12. */
	double noise = a->number * 1.2247448713915890 / 65536;

	for (size_t k = 0; k < n; k++) {
		hu_random r = hu_random_at(a->seed, a->stream, a->epoch, a->row * n + k);
		uint32_t sum = 0;
		for (int i = 0; i < 4; i++)
			sum += (r.w[i] & 0xffff) + (r.w[i] >> 16);
		values[k] += noise * ((double)sum + 4 - 4 * 65536.0);
	}
}
