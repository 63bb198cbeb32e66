/* SPDX-License-Identifier: Apache-2.0
   Casts a whole tensor to a block format. */
#ifndef HU_ANALYZERS_INSPECT_BLOCKS_H
#define HU_ANALYZERS_INSPECT_BLOCKS_H

#include "analyzers/op/foreign.h"
#include "lib/number/block.h"

enum { HU_MARK_SATURATED = 1, HU_MARK_SUBNORMAL = 2, HU_MARK_LOST = 4 };

/* Arrays of the tensor's size: value has its elements after the cast, mark the flags above. SATURATED is for all
   element types; SUBNORMAL (the element is subnormal) and LOST (the value is below the element's smallest normal number
   times the scale, and changed) for floating-point elements only. */
typedef struct hu_blocked { float *value; uint8_t *mark; } hu_blocked;

/* Rounds array a to fp32, to nearest even, and then to b. Blocks run along the last axis, or along the axis that the
   array names, and end with it, so the last block of a row may be short. A block size of 0 takes the whole tensor, and
   so does the tensor scale of nvfp4. The bits do not depend on the number of threads. Takes 9 bytes of memory an
   element, 5 of which are kept. */
void hu_blocked_init(hu_blocked *c, const hu_array *a, const hu_block *b);
void hu_blocked_release(hu_blocked *c);
#endif
