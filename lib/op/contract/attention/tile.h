/* SPDX-License-Identifier: Apache-2.0
   What the fast forms of attention in blocks have in common: operands laid out for the loops of lanes.h. Widths and
   blocks are padded to multiples of HU_FLASH_WIDE, by zeros. */
#ifndef HU_OP_CONTRACT_ATTENTION_TILE_H
#define HU_OP_CONTRACT_ATTENTION_TILE_H

#include "lib/op/contract/attention/flash.h"
#include "lib/op/contract/attention/lanes.h"

/* Rows of queries, or of keys, that share a packed block of the others. */
enum { HU_FLASH_TILE = 32 };

size_t hu_flash_padded(size_t n);
/* n rows of `width` numbers: as columns, to[d * ld + j], or as rows of ld numbers. */
void hu_flash_columns(float *to, const float *from, size_t n, size_t width, size_t ld);
void hu_flash_rows(float *to, const float *from, size_t n, size_t width, size_t ld);
const float *hu_flash_data(const hu_tensor *t, size_t first);

float hu_flash_masked(const hu_flash *x, size_t b, size_t i, size_t j, float s, unsigned char *seen);
/* Rounds n weights to the format in which they enter a product. */
void hu_flash_narrow(const hu_flash *x, float *p, size_t n);
/* hu_flash_lanes in floats. */
float hu_flash_sum(const float *p, const float *by, size_t n);
void hu_flash_add(const hu_flash_loops *go, float *o, const float *w, size_t ld, const unsigned char *seen,
	const unsigned char *act, const float *b, size_t n, size_t wide, const float **at, const float *zeros);
#endif
