/* SPDX-License-Identifier: Apache-2.0
   The fixed tree: the order of every reduction that is not an inner product. Elements come in blocks of 4096. Within
   a block, lane j of 32 adds elements j, j+32, … in ascending order from +0; the lanes are then folded 16, 8, 4, 2,
   1. The blocks' sums are reduced in the same way. SIMD lanes, threads that share blocks, and a GPU's warps all give
   these bits. */
#ifndef HU_SUM_TREE_H
#define HU_SUM_TREE_H

#include "lib/number/round.h"

enum { HU_TREE_BLOCK = 4096 };

/* These serve up to 4096^2 * 32 elements. */
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

/* Every addition is rounded to format f (RNE). Correct for formats of p <= 25. */
#define HU_TREE(name) name##_any
#define HU_ADD(f, a, b) hu_round((a) + (b), f, HU_RNE, 0, 0)
#include "lib/sum/tree.inc"
#undef HU_T
#undef HU_TREE
#undef HU_ADD

/* The most additions that one element passes through; error bounds use it. */
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
