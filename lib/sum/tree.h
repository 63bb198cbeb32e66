/* SPDX-License-Identifier: Apache-2.0
   The fixed tree, the order of every reduction that is no inner product: blocks of
   4096 consecutive elements; in a block, lane j of 32 adds j, j+32, … ascending from +0;
   lanes fold 16, 8, 4, 2, 1; the blocks' sums are reduced in the same way. The same
   bits from SIMD lanes, threads over blocks, and warps. */
#ifndef HU_SUM_TREE_H
#define HU_SUM_TREE_H

#include "lib/number/round.h"

enum { HU_TREE_BLOCK = 4096 };

/* Up to 4096^2 * 32 elements. */
#define HU_T float
#define HU_TREE(name) name##_f32
#define HU_ADD(f, a, b) ((a) + (b))
#include "lib/sum/tree.inc"
#undef HU_T
#undef HU_TREE
#undef HU_ADD

#define HU_T double
#define HU_TREE(name) name##_f64
#define HU_ADD(f, a, b) ((a) + (b))
#include "lib/sum/tree.inc"
#undef HU_TREE
#undef HU_ADD

/* Every addition rounded to format f (RNE): correct for formats of p <= 25. */
#define HU_TREE(name) name##_any
#define HU_ADD(f, a, b) hu_round((a) + (b), f, HU_RNE, 0, 0)
#include "lib/sum/tree.inc"
#undef HU_T
#undef HU_TREE
#undef HU_ADD

/* The most additions that one element passes through, for error bounds. */
HU_HD size_t
hu_tree_depth(size_t n)
{
	size_t depth = 0;

	while (n > HU_TREE_BLOCK) {
		depth += HU_TREE_BLOCK / 32 + 5;
		n = (n + HU_TREE_BLOCK - 1) / HU_TREE_BLOCK;
	}
	return depth + (n + 31) / 32 + 5;
}
#endif
