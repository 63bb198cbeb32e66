/* SPDX-License-Identifier: Apache-2.0
   Block formats: elements of few bits that share a scale. These are microscaling (MX), NVFP4, block floating point
   and affine integers. Rounding is to nearest even and saturates, as these formats are used. The functions quantise
   one array; for rows or channels the caller makes one call each, or chooses a block size that divides them. */
#ifndef HU_NUMBER_BLOCK_H
#define HU_NUMBER_BLOCK_H

#include "lib/number/format.h"

typedef enum hu_block_kind { HU_BLOCK_POWER2, HU_BLOCK_TWO_LEVEL, HU_BLOCK_AFFINE, HU_BLOCK_ZERO_POINT } hu_block_kind;

typedef struct hu_block {
	char name[32];
	hu_format_id element;    /* HU_NO_FORMAT: two's complement integers, unsigned under ZERO_POINT */
	int bits;                /* bits of an element, 2 to 8 */
	size_t size;             /* elements in a block; 0: the whole array */
	hu_block_kind kind;
	hu_format_id scale;      /* HU_NO_FORMAT: a power of two of scale_bits bits, like e8m0 with fewer */
	int scale_bits;
} hu_block;

/* The scale of one block: an element's value is scale * (value of its code - zero). A scale of NaN makes every
   element NaN. */
typedef struct hu_block_scale {
	double scale;
	int zero;
	uint32_t code; /* the scale's code in its format */
} hu_block_scale;

/* Finds a block format by name, in any case: a row of blocks.def, NAMExSIZE for another block size (int4x32 has a
   scale for each group of 32), or bfpB[xSIZE][sK], which is block floating point with B bits an element, sign
   included, and K bits of shared exponent (bfp8 is bfp8x32s8). HU_EABSENT names the nearest name, HU_EINVAL says
   what is impossible. */
hu_status hu_block_find(const char *name, hu_block *b);

/* Returns the name of row i of blocks.def and sets *summary; NULL past the last row. */
const char *hu_block_row(int i, const char **summary);

/* The fp32 scale over the whole array that TWO_LEVEL needs: amax / (6 * 448), where amax is the largest magnitude; 1
   for an array of zeros, and for the other kinds. */
double hu_block_tensor_scale(const hu_block *b, const float *src, size_t n);

/* Returns the scale of one block of n values. A NaN or an infinity among them makes it NaN. For a block of zeros it
   is the smallest power of two, 0 (TWO_LEVEL) or 1 (AFFINE, ZERO_POINT). */
hu_block_scale hu_block_scale_of(const hu_block *b, const float *src, size_t n, double tensor_scale);

/* Sets code[i], one byte each, to the element's code for src[i] under the scale s. src[i] / scale is rounded once.
   Decoding rounds the exact product to float and clamps it to ±FLT_MAX; elements that are infinite or NaN stay so. */
void hu_block_encode(const hu_block *b, hu_block_scale s, uint8_t *code, const float *src, size_t n);
void hu_block_decode(const hu_block *b, hu_block_scale s, float *dst, const uint8_t *code, size_t n);

/* Returns 1 where x / scale, rounded as if the element's exponent were unbounded, lies beyond the largest element; 0
   where the scale is 0 or NaN. */
int hu_block_saturates(const hu_block *b, hu_block_scale s, float x);

/* How many steps of an integer element make one scale: 2^(bits - 2) under POWER2, else 1. Float elements: 1. */
double hu_block_steps(const hu_block *b);

/* Quantises n values and decodes them again. dst may equal src. The last block may be shorter. */
void hu_block_cast(const hu_block *b, float *dst, const float *src, size_t n);

/* The bits that n elements take with their scales and zero points, stored densely. */
double hu_block_bits(const hu_block *b, size_t n);

/* Packs n codes, one byte each, into a dense string of `bits` bits a code, lowest bits first: ceil(n * bits / 8)
   bytes; and unpacks them. */
void hu_bits_pack(uint8_t *dst, const uint8_t *code, size_t n, int bits);
void hu_bits_unpack(uint8_t *code, const uint8_t *src, size_t n, int bits);
#endif
