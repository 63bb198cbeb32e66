/* SPDX-License-Identifier: Apache-2.0
   A tile's sums as products of integer slices on the BLAS (Ozaki, Ogita, Oishi, Rump 2012): one product where the
   sums are integers below 2^53, three by Karatsuba's identity where the operands are cut in two. */
#ifndef HU_EXACT_SLICES_H
#define HU_EXACT_SLICES_H

#include "lib/exact/tile.h"

/* How many products are needed for operands below 2 that are multiples of 2^-wa and 2^-wb: 1, 3, or 0 where neither
   suffices. The sums may have wa + wb + 2 + log2 k <= 114 bits. */
int hu_slices_products(int wa, int wb, size_t k);
/* Adds the k terms that are packed to the tile's sums p 2^52 + q. */
void hu_slices_add(hu_exact_tile *t, size_t k);
#endif
