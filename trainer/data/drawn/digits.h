/* SPDX-License-Identifier: Apache-2.0
   Generates one image of a handwritten digit at a time, for the data set "digits" and its tests. */
#ifndef HU_TRAINER_DATA_DRAWN_DIGITS_H
#define HU_TRAINER_DATA_DRAWN_DIGITS_H

#include <stddef.h>
#include <stdint.h>

/* Draws image index of seed into `size` × `size` bytes, 0 paper and 255 ink, and
   returns its class. A pure function of its arguments, the same bits on every
   machine: Philox, and only + - * / of doubles. Safe to call from several threads. */
int hu_digits_draw(unsigned char *pixels, size_t size, uint64_t seed, uint64_t index);
#endif
