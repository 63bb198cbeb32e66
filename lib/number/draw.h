/* SPDX-License-Identifier: Apache-2.0
   Rounding of one element of an array that may be rounded stochastically, that is up or down at random. The vector
   loops do the same for many elements, and a GPU's threads for one each. */
#ifndef HU_NUMBER_DRAW_H
#define HU_NUMBER_DRAW_H

#include "lib/number/philox.h"
#include "lib/number/round.h"

/* Equals hu_round(x, f, mode, flags, hu_random_cast(s, index)). Deterministic modes read no random bits. The last 16
   of the 32 bits are computed only where they matter: where setting all or none of them gives different results. */
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
