/* SPDX-License-Identifier: Apache-2.0
   What a block format makes of a whole tensor. */
#ifndef HU_ANALYZERS_INSPECT_BLOCKS_H
#define HU_ANALYZERS_INSPECT_BLOCKS_H

#include "analyzers/op/foreign.h"
#include "lib/number/block.h"

enum { HU_MARK_SATURATED = 1, HU_MARK_SUBNORMAL = 2, HU_MARK_LOST = 4 };

/* Arrays of the tensor's size: its elements after the cast, and marks: saturated; of float elements also subnormal (the
   element is) and lost (below the element's smallest normal number times the scale, and changed). */
typedef struct hu_blocked { float *value; uint8_t *mark; } hu_blocked;

/* Casts a to fp32, to nearest even, and then to the block format b. Blocks run along the last axis, or along the axis
   that the array names, and end with it, so that the last one of a row may be short. A block size of 0 takes the whole
   tensor, and so does the tensor scale of nvfp4. Any number of threads
   gives the same bits. Memory: 9 bytes an element, 5 of them kept. */
void hu_blocked_init(hu_blocked *c, const hu_array *a, const hu_block *b);
void hu_blocked_release(hu_blocked *c);
#endif
