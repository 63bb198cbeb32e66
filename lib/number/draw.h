/* SPDX-License-Identifier: Apache-2.0
   Rounding one element of an array that may be rounded stochastically: what the
   vector loops do with many, and a device's threads with one each. */
#ifndef HU_NUMBER_DRAW_H
#define HU_NUMBER_DRAW_H

#include "lib/number/philox.h"
#include "lib/number/round.h"

/* hu_round(x, f, mode, flags, hu_random_cast(s, index)), exactly; modes that draw nothing read no random bits. The last
   16 bits are made only where they matter: where all of them set or none give different results. */
HU_HD double
hu_round_drawn(double x, hu_format f, hu_mode mode, int flags, hu_stream s, uint64_t index)
{
	uint32_t first;
	double r;

	if (!hu_mode_draws(mode))
		return hu_round(x, f, mode, flags, 0);
	first = hu_random_piece(s, index, 0) << 16;
	r = hu_round(x, f, mode, flags, first);
	if (mode == HU_SR && hu_bits64(r) != hu_bits64(hu_round(x, f, mode, flags, first | 0xffff)))
		r = hu_round(x, f, mode, flags, first | hu_random_piece(s, index, HU_RANDOM_LAST));
	return r;
}
#endif
