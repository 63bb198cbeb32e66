/* SPDX-License-Identifier: Apache-2.0
   Block formats: elements of few bits that share a scale. Microscaling (MX),
   NVFP4, block floating point, and affine integers; rounding is to nearest even
   and saturates, as those formats are used. Quantisation of one array; how rows or
   channels follow each other is the caller's: one call each, or a block size that divides them. */
#ifndef HU_NUMBER_BLOCK_H
#define HU_NUMBER_BLOCK_H

#include "lib/number/format.h"

typedef enum hu_block_kind { HU_BLOCK_POWER2, HU_BLOCK_TWO_LEVEL, HU_BLOCK_AFFINE, HU_BLOCK_ZERO_POINT } hu_block_kind;

typedef struct hu_block {
	char name[32];
	hu_format_id element;    /* HU_NO_FORMAT: two's complement integers, unsigned under ZERO_POINT */
	int bits;                /* of an element, 2..8 */
	size_t size;             /* elements a block; 0: all of them */
	hu_block_kind kind;
	hu_format_id scale;      /* HU_NO_FORMAT: a power of two with scale_bits bits, as e8m0 with fewer */
	int scale_bits;
} hu_block;

/* One block's quantisation: value = scale * (code's value - zero). A scale of NaN makes every element NaN. */
typedef struct hu_block_scale {
	double scale;
	int zero;
	uint32_t code; /* of the scale, in its format */
} hu_block_scale;

/* By name, in any case: the rows of blocks.def, NAMExSIZE for another block size
   (int4x32: a scale a group of 32), and bfpB[xSIZE][sK]: block floating point with
   B bits an element, sign included, and K bits of shared exponent (bfp8 = bfp8x32s8).
   HU_EABSENT names the nearest, HU_EINVAL what is impossible. */
hu_status hu_block_find(const char *name, hu_block *b);

/* Rows of blocks.def for a listing; NULL past the last. */
const char *hu_block_row(int i, const char **summary);

/* The fp32 scale over the whole array that TWO_LEVEL needs: amax / (6 * 448), 1 for zeros; 1 for the other kinds. */
double hu_block_tensor_scale(const hu_block *b, const float *src, size_t n);

/* The scale of one block of N values. A NaN or an infinity among them gives scale
   NaN. All zeros: the smallest power of two, 0 (TWO_LEVEL) or 1 (AFFINE, ZERO_POINT). */
hu_block_scale hu_block_scale_of(const hu_block *b, const float *src, size_t n, double tensor_scale);

/* CODE[i], a byte each: the element's code for SRC[i] under S. The quotient is rounded once. */
void hu_block_encode(const hu_block *b, hu_block_scale s, uint8_t *code, const float *src, size_t n);
void hu_block_decode(const hu_block *b, hu_block_scale s, float *dst, const uint8_t *code, size_t n);

/* Whether the quotient, rounded as if elements had no end, lies beyond the largest element; 0 where the scale is 0 or
   NaN. */
int hu_block_saturates(const hu_block *b, hu_block_scale s, float x);

/* How many of an integer element's steps make one scale: 2^(bits - 2) under POWER2, else 1; 1 of float elements. */
double hu_block_steps(const hu_block *b);

/* Array to what it is worth after quantisation: DST may equal SRC. The last block may be short. */
void hu_block_cast(const hu_block *b, float *dst, const float *src, size_t n);

/* Bits that N elements take with their scales and zero points, stored densely. */
double hu_block_bits(const hu_block *b, size_t n);

/* N codes of BITS each, a byte a code, to a dense string, lowest bits first; ceil(N * BITS / 8) bytes. And back. */
void hu_bits_pack(uint8_t *dst, const uint8_t *code, size_t n, int bits);
void hu_bits_unpack(uint8_t *code, const uint8_t *src, size_t n, int bits);
#endif
