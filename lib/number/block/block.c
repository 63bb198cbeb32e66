/* SPDX-License-Identifier: Apache-2.0
   Quantisation of arrays by block formats, and packing. */
#include "lib/number/block/block.h"

#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

/* A place in a matrix: a block of rows x wide elements from `at` on, whose rows lie `columns` apart. */
typedef struct place {
	size_t rows, wide, columns, at;
} place;

/* Quantises a block, which is gathered in `of`. */
static void
cast_block(const hu_block *b, float *dst, const float *src, float *of, place p, double whole)
{
	uint8_t code[256];

	for (size_t r = 0; r < p.rows; r++)
		memcpy(of + r * p.wide, src + p.at + r * p.columns, p.wide * sizeof *of);
	hu_block_scale s = hu_block_scale_of(b, of, p.rows * p.wide, whole);
	for (size_t r = 0; r < p.rows; r++)
		for (size_t c = 0; c < p.wide; c += sizeof code) {
			size_t k = p.wide - c < sizeof code ? p.wide - c : sizeof code, at = p.at + r * p.columns + c;
			hu_block_encode(b, s, code, of + r * p.wide + c, k, at);
			hu_block_decode(b, s, dst + at, code, k);
		}
}

void
hu_block_cast_band(
	const hu_block *b, float *dst, const float *src, size_t rows, size_t columns, size_t row, double whole)
{
	size_t wide = b->size && b->size < columns ? b->size : columns, high = b->size ? b->rows : rows;
	float *of;

	high = rows - row < high ? rows - row : high;
	if (!wide || !high)
		return;
	of = hu_xmalloc(high * wide * sizeof *of);
	for (size_t c = 0; c < columns; c += wide) {
		place p = { high, columns - c < wide ? columns - c : wide, columns, row * columns + c };
		cast_block(b, dst, src, of, p, whole);
	}
	free(of);
}

void
hu_block_cast_rows(const hu_block *b, float *dst, const float *src, size_t rows, size_t columns)
{
	double whole = hu_block_whole(b, src, rows * columns);

	for (size_t r = 0; r < rows; r += b->size ? b->rows : rows)
		hu_block_cast_band(b, dst, src, rows, columns, r, whole);
}

void
hu_block_cast(const hu_block *b, float *dst, const float *src, size_t n)
{
	hu_block_cast_rows(b, dst, src, 1, n);
}

double
hu_block_bits(const hu_block *b, size_t n)
{
	size_t each = b->size * b->rows, blocks = each ? (n + each - 1) / each : n > 0;
	double shared = b->scale_bits + (b->kind == HU_BLOCK_ZERO_POINT ? b->bits : 0);

	return (double)n * b->bits + (double)blocks * shared + (b->kind == HU_BLOCK_TWO_LEVEL && n ? 32 : 0);
}
