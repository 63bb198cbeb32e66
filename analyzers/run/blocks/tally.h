/* SPDX-License-Identifier: Apache-2.0
   What one cast of a tensor to a block format did, counted block by block. */
#ifndef HU_ANALYZERS_BLOCKS_TALLY_H
#define HU_ANALYZERS_BLOCKS_TALLY_H

#include "analyzers/run/analyzer.h"

/* Scales from 2^-BIAS on, a bin for each power of two; an outlier is so many times the root mean square of the other
   elements of its block. */
enum { HU_BLOCK_TALLY_BIAS = 160, HU_BLOCK_TALLY_SCALES = 2 * HU_BLOCK_TALLY_BIAS + 1, HU_BLOCK_TALLY_OUTLIER = 8 };

/* zeroed: nonzero elements that became 0; saturated: those beyond the largest one under their scale. Of blocks with an
   outlier: their other elements that are not 0 (neighbours), and of all their elements that are not 0 those that became
   0, and that would have without a transform. exact2, error2, dot: of the elements before the cast. */
typedef struct hu_block_tally {
	size_t elements, nonzeros, zeroed, saturated, blocks, saturated_blocks, outlier_blocks, neighbours,
		neighbours_zero, untransformed_zero, scale[HU_BLOCK_TALLY_SCALES];
	long double exact2, error2, dot;
} hu_block_tally;

/* Counts the call c, a block_cast of x to y. plain is what a Hadamard transform made x of, or x itself;
   scale the call's scale where it is an operand, or NULL. HU_ENOMEM. */
hu_status hu_block_tally_count(hu_block_tally *b, const hu_call *c, const hu_tensor *x, const hu_tensor *y,
	const hu_tensor *plain, const hu_tensor *scale, const hu_env *env);
/* The exponent of the scale below which a share of the blocks lies, of those whose scale is not 0; NaN: there is none.
 */
double hu_block_tally_scale(const hu_block_tally *b, double share);
#endif
