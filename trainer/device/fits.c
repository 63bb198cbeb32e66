/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/device/fits.h"

#include "trainer/run/need.h"

#include <math.h>

/* Computes the memory of a batch; where a tensor has more elements than kernels can address, it fits nowhere. */
static hu_status
bytes_at(const hu_config *c, const hu_dataset *data, size_t batch, double *bytes)
{
	hu_config at = *c;

	at.batch = batch;
	hu_status st = hu_need_device(&at, data, bytes);
	if (st != HU_EUNABLE || batch == 1)
		return st;
	*bytes = INFINITY;
	return HU_OK;
}

hu_status
hu_largest_batch(const hu_config *c, const hu_dataset *data, double bytes, size_t *batch)
{
	enum { MOST = 1 << 24 };
	size_t low = 0, high = 1;
	double need;

	*batch = 0;
	for (;; low = high, high *= 2) {
		HU_TRY(bytes_at(c, data, high, &need));
		if (need > bytes || high >= MOST)
			break;
	}
	while (high - low > 1) {
		size_t mid = low + (high - low) / 2;
		HU_TRY(bytes_at(c, data, mid, &need));
		if (need > bytes)
			high = mid;
		else
			low = mid;
	}
	*batch = low;
	return HU_OK;
}
