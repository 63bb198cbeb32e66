/* SPDX-License-Identifier: Apache-2.0
   crop: P zeros are put around and a window of the old size is taken. It moves down by w[0] * (2P + 1) / 2^32 - P of
   the block w, and across likewise by w[1]; an extent of 1 is not cropped. */
#include "trainer/data/augment.h"

int
hu_augment_crop(const hu_augmenting *a, long *y, long *x)
{
	long extent = a->height > 1 ? a->height : a->width;
	double most = a->number < 0 ? (double)((extent + 7) / 8) : a->number;

	*y += a->height > 1 ? hu_augment_either_way(a->draw.w[0], most) : 0;
	*x += a->width > 1 ? hu_augment_either_way(a->draw.w[1], most) : 0;
	return *y >= 0 && *y < a->height && *x >= 0 && *x < a->width;
}
