/* SPDX-License-Identifier: Apache-2.0
   round's values as one array, cut into the blocks of a block format: each element with its error, each block with its
   scale. */
#ifndef HU_ANALYZERS_ROUND_BLOCKS_H
#define HU_ANALYZERS_ROUND_BLOCKS_H

#include "analyzers/calc/rows.h"
#include "lib/number/block.h"

/* Zero-initialised. Values as they were given, in order, and their fp32. */
typedef struct hu_round_blocks {
	struct { char *text; mpfr_t exact; int notes; } *value;
	float *x;
	size_t n, cap;
} hu_round_blocks;

/* Another value: e's exact one, rounded once to fp32, to nearest even. `text` is copied. HU_EINVAL as hu_row_exact. */
hu_status hu_round_blocks_add(hu_round_blocks *v, const char *text, const hu_expr *e);
void hu_round_blocks_release(hu_round_blocks *v);

/* The values under b: table rows in groups, or objects appended to rows: those of hu_row_json with block (from 1),
   scale, scale_bits, and where b has them tensor_scale or zero. Errors are against the exact values; a ulp is the
   element's, 2^(max(floor(log2 |exact / scale|), emin) - p + 1) times the scale, of integer elements their step;
   infinite where the scale is 0 and the value is not. `first`: nothing stands above in the table. */
void hu_round_blocks_print(const hu_round_blocks *v, const hu_block *b, int first);
void hu_round_blocks_json(const hu_round_blocks *v, const hu_block *b, json_t *rows);
#endif
