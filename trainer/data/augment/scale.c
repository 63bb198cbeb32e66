/* SPDX-License-Identifier: Apache-2.0
   scale: multiplied by 1 + S * (2u - 1) with the block's uniform number u. */
#include "trainer/data/augment.h"

void
hu_augment_scale(const hu_augmenting *a, double *values, size_t n)
{
	double factor = 1 + a->number * (2 * hu_uniform(a->draw) - 1);

	for (size_t k = 0; k < n; k++)
		values[k] *= factor;
}
