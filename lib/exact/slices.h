/* SPDX-License-Identifier: Apache-2.0
   A tile's sums by products of integer slices on the BLAS (Ozaki, Ogita, Oishi, Rump 2012):
   one where the sums are integers below 2^53, three by Karatsuba's identity where operands are cut in two. */
#ifndef HU_EXACT_SLICES_H
#define HU_EXACT_SLICES_H

#include "lib/exact/tile.h"

/* Products needed for operands that are multiples of 2^-wa and 2^-wb below 2: 1, 3, or 0 where neither will do. The
   sums' bits, wa + wb + 2 + log2 k, are to be 114 at most. */
int hu_slices_products(int wa, int wb, size_t k);
/* Adds the K terms that are packed to the tile's P 2^52 + Q. */
void hu_slices_add(hu_exact_tile *t, size_t k);
#endif
