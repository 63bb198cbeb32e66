/* SPDX-License-Identifier: Apache-2.0
   Block formats: elements of few bits that share a scale. These are microscaling (MX), NVFP4, block floating point
   and affine integers. Rounding is to nearest even unless a word says otherwise, and saturates, as these formats are
   used. */
#ifndef HU_NUMBER_BLOCK_H
#define HU_NUMBER_BLOCK_H

#include "lib/number/format.h"
#include "lib/number/philox.h"

typedef enum hu_block_kind {
	HU_BLOCK_POWER2,
	HU_BLOCK_TWO_LEVEL,
	HU_BLOCK_AFFINE,
	HU_BLOCK_ZERO_POINT,
	HU_BLOCK_SINGLE
} hu_block_kind;

/* The rules of block_rules.def. AFFINE and ZERO_POINT have one each, which is not named. */
typedef enum hu_block_rule {
	HU_BLOCK_OWN,
#define BLOCK_RULE(id, name, kind, summary) HU_BLOCK_##id,
#include "lib/number/block/block_rules.def"
#undef BLOCK_RULE
} hu_block_rule;

/* What a block with an infinity gets: NaN, or the largest scale, under which it saturates; CLAMPED gives a NaN that
   scale, too; ONE: the scale 1, with a NaN as well, so that only the NaN itself is one, and infinities saturate. */
typedef enum hu_block_inf {
	HU_BLOCK_INF_NAN,
	HU_BLOCK_INF_LARGEST,
	HU_BLOCK_INF_CLAMPED,
	HU_BLOCK_INF_ONE
} hu_block_inf;

/* The sign of an element that is zero: its value's, + of all, or - of what was zero before it was rounded. */
typedef enum hu_block_zeros { HU_BLOCK_ZEROS_KEPT, HU_BLOCK_ZEROS_PLUS, HU_BLOCK_ZEROS_MINUS } hu_block_zeros;

/* Which error decides whether a block's amax becomes 6 or 4 (four over six); a tie is 6's. */
typedef enum hu_block_four {
	HU_BLOCK_FOUR_NONE,
	HU_BLOCK_FOUR_MSE,
	HU_BLOCK_FOUR_MAE,
	HU_BLOCK_FOUR_MAX
} hu_block_four;

typedef struct hu_block {
	char name[64];
	hu_format_id element; /* HU_NO_FORMAT: two's complement integers, unsigned under ZERO_POINT */
	int bits;             /* bits of an element, 2 to 8 */
	size_t size, rows;    /* a block is rows x size elements; size 0: the whole array. rows is 1 but for tiles */
	hu_block_kind kind;
	hu_format_id scale; /* HU_NO_FORMAT: a power of two of scale_bits bits, like e8m0 with fewer */
	int scale_bits;
	hu_block_rule rule;
	hu_mode mode; /* how elements are rounded; integers: RNE */
	hu_block_inf inf;
	hu_block_zeros zeros;
	hu_block_four four;
	float least;     /* a smaller amax counts as this */
	float headroom;  /* the scale is that of amax times this */
	float times;     /* elements are quantised from this times their values, and decoded by its inverse */
	float given;     /* SINGLE: what elements are multiplied by, whatever they are; 0: what the rule finds */
	hu_stream draws; /* of stochastic rounding */
} hu_block;

/* The scale of one block: an element's value is scale * (value of its code - zero). A scale of NaN makes every
   element NaN. */
typedef struct hu_block_scale {
	double scale;
	int zero;
	uint32_t code; /* the scale's code in its format */
	float by;      /* elements are fp32(x * by), rounded; 0: the exact x / scale, rounded once, but by DIVIDE */
} hu_block_scale;

/* Finds a block format by name, in any case: a row of blocks.def, NAMExSIZE for another block size (int4x32 has a
   scale for each group of 32), NAMExROWSxSIZE for tiles of a matrix (nvfp4x16x16), or bfpB[xSIZE][sK], which is block
   floating point with B bits an element, sign included, and K bits of shared exponent (bfp8 is bfp8x32s8). Words may
   follow, each after a colon and each once: a row of block_makers.def, which stands first, a row of block_rules.def, a
   rounding mode of the elements, 46=mse|mae|max (four over six), headroom=X, times=X (17/16 or 0.75). HU_EABSENT names
   the nearest name, HU_EINVAL says what is impossible. */
hu_status hu_block_find(const char *name, hu_block *b);

/* Returns the name of row i of blocks.def, block_rules.def or block_makers.def and sets *summary, and *kind where it
   is not NULL; NULL past the last row. */
const char *hu_block_row(int i, const char **summary);
const char *hu_block_rule_row(int i, hu_block_kind *kind, const char **summary);
const char *hu_block_maker_row(int i, hu_block_kind *kind, const char **summary);

/* Returns what the scales of TWO_LEVEL need to know of the whole array: its largest magnitude, NaN where one is not
   finite; 1 for the other kinds. */
double hu_block_whole(const hu_block *b, const float *src, size_t n);
/* The fp32 scale over the whole array that TWO_LEVEL has: whole / (6 * 448), or by four over six whole / (6 * 256); 1
   where whole is 0 or NaN, and for the other kinds. */
double hu_block_tensor_scale(const hu_block *b, double whole);

/* Returns the scale of one block of n values by b's rule. A NaN or an infinity among them makes it NaN, unless b->inf
   says otherwise. For a block of zeros it is the smallest power of two, 0 (TWO_LEVEL) or 1 (AFFINE, ZERO_POINT,
   SINGLE). */
hu_block_scale hu_block_scale_of(const hu_block *b, const float *src, size_t n, double whole);

/* Sets code[i], one byte each, to the element's code for src[i] under the scale s, by b->mode, saturating. first is the
   number of src[0] in its array, which stochastic rounding draws by. Decoding rounds the exact product to float and
   clamps it to ±FLT_MAX; elements that are infinite or NaN stay so. */
void hu_block_encode(const hu_block *b, hu_block_scale s, uint8_t *code, const float *src, size_t n, uint64_t first);
void hu_block_decode(const hu_block *b, hu_block_scale s, float *dst, const uint8_t *code, size_t n);

/* Returns 1 where x under the scale, rounded as if the element's exponent were unbounded, lies beyond the largest
   element; 0 where the scale is 0 or NaN. */
int hu_block_saturates(const hu_block *b, hu_block_scale s, float x);

/* How many steps of an integer element make one scale: 2^(bits - 2) under POWER2, else 1. Float elements: 1. */
double hu_block_steps(const hu_block *b);
/* The largest element under the scale 1. */
double hu_block_largest(const hu_block *b);

/* Quantises the rows of a matrix and decodes them again; an array is a matrix of one row. dst may equal src. The last
   block of a row, and of the rows, may be smaller. Tiles need a matrix: of an array they are blocks of their row. */
void hu_block_cast(const hu_block *b, float *dst, const float *src, size_t n);
void hu_block_cast_rows(const hu_block *b, float *dst, const float *src, size_t rows, size_t columns);
/* The same for the band of b->rows rows from `row` on alone; whole is hu_block_whole of the matrix. */
void hu_block_cast_band(
	const hu_block *b, float *dst, const float *src, size_t rows, size_t columns, size_t row, double whole);

/* The bits that n elements take with their scales and zero points, stored densely; of tiles, without loss at edges. */
double hu_block_bits(const hu_block *b, size_t n);
#endif
