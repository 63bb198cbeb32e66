/* SPDX-License-Identifier: Apache-2.0
   The random numbers of a drawn sample, in the order in which they are used: Philox, and only + - * / of doubles, so
   that they are the same on every machine. For the data sets that draw their samples. */
#ifndef HU_TRAINER_DATA_DRAWN_DICE_H
#define HU_TRAINER_DATA_DRAWN_DICE_H

#include "lib/number/philox.h"

/* The numbers of sample `index` of a stream; step and left count what was used, and begin at 0. */
typedef struct hu_dice { uint64_t seed, index; uint32_t stream, step; int left; hu_random r; } hu_dice;

static inline uint32_t
hu_dice_word(hu_dice *d)
{
	if (!d->left) {
		d->r = hu_random_at(d->seed, d->stream, d->step++, d->index);
		d->left = 4;
	}
	return d->r.w[--d->left];
}

/* A uniform number between -1 and 1, both excluded, symmetric about 0. */
static inline double
hu_dice_uniform(hu_dice *d)
{
	return ((double)hu_dice_word(d) + 0.5) * 0x1p-31 - 1.0;
}

/* Bell-shaped: the sum of four uniform numbers, standard deviation 1 (each has 1/3 of variance: √(4/3) = 1.1547),
   within ±3.47. */
static inline double
hu_dice_bell(hu_dice *d)
{
	double s = hu_dice_uniform(d);

	s += hu_dice_uniform(d);
	s += hu_dice_uniform(d);
	s += hu_dice_uniform(d);
	return s / 1.1547;
}

/* A whole number below n. */
static inline uint32_t
hu_dice_below(hu_dice *d, uint32_t n)
{
	return (uint32_t)((uint64_t)hu_dice_word(d) * n >> 32);
}
#endif
