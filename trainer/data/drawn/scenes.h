/* SPDX-License-Identifier: Apache-2.0
   Draws one scene at a time, for the data set "scenes" and its tests. */
#ifndef HU_TRAINER_DATA_DRAWN_SCENES_H
#define HU_TRAINER_DATA_DRAWN_SCENES_H

#include <stddef.h>
#include <stdint.h>

/* Draws scene index of seed: `size` x `size` pixels of red, green and blue, and, where mask is not NULL, as many bytes
   that are 1 where the object covers half of the pixel or more, else 0. Returns the class, below `classes` (2 to 1000):
   its last digit is the object's shape; from 11 classes on its tens are the colour, which is drawn at random otherwise,
   and from 101 on its hundreds are the pattern. A pure function of its arguments, the same bits on every machine:
   Philox, and only + - * / of doubles. Safe to call from several threads. */
int hu_scenes_draw(unsigned char *pixels, unsigned char *mask, size_t size, size_t classes, uint64_t seed,
	uint64_t index);
#endif
