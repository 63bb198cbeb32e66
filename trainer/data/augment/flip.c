/* SPDX-License-Identifier: Apache-2.0
   flip: mirrored left to right where w[0] of the block w is at least 2^31. */
#include "trainer/data/augment.h"

int
hu_augment_flip(const hu_augmenting *a, long *y, long *x)
{
	(void)y;
	if (a->draw.w[0] >> 31)
		*x = a->width - 1 - *x;
	return 1;
}
