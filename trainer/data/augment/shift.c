/* SPDX-License-Identifier: Apache-2.0
   shift: rotated along the width by w[0] * (2N + 1) / 2^32 - N of the block w. */
#include "trainer/data/augment.h"

int
hu_augment_shift(const hu_augmenting *a, long *y, long *x)
{
	double most = a->number < 0 ? (double)((a->width + 7) / 8) : a->number;
	long at = (*x - hu_augment_either_way(a->draw.w[0], most)) % a->width;

	(void)y;
	*x = at < 0 ? at + a->width : at;
	return 1;
}
