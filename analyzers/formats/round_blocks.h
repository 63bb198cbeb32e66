/* SPDX-License-Identifier: Apache-2.0
   Cuts the values of the command round, as one array, into the blocks of a block format: each element has an error,
   each block a scale. */
#ifndef HU_ANALYZERS_ROUND_BLOCKS_H
#define HU_ANALYZERS_ROUND_BLOCKS_H

#include "analyzers/value/rows.h"
#include "lib/number/block/block.h"

/* Starts as zeros. The values as they were given, in order, and rounded to fp32. */
typedef struct hu_round_blocks {
	struct { char *text; mpfr_t exact; int notes; } *value;
	float *x;
	size_t n, cap;
} hu_round_blocks;

/* Appends a value: e's exact one, rounded once to fp32, to nearest even. `text` is copied. HU_EINVAL as for
   hu_row_exact. */
hu_status hu_round_blocks_add(hu_round_blocks *v, const char *text, const hu_expr *e);
void hu_round_blocks_release(hu_round_blocks *v);

/* Prints the values rounded to b as a table, or appends objects to `rows`: those of hu_row_json with the members block
   (from 1), scale, scale_bits, and where b has them tensor_scale or zero. Errors are against the exact values. A ulp is
   the element's, 2^(max(floor(log2 |exact / scale|), emin) - p + 1), times the scale; for integer elements it is their
   step. The error is infinite where the scale is 0 and the value is not. `first` says that nothing was printed above
   the table. */
void hu_round_blocks_print(const hu_round_blocks *v, const hu_block *b, int first);
void hu_round_blocks_json(const hu_round_blocks *v, const hu_block *b, json_t *rows);
#endif
