/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/op/contract/attention/tile.h"

#include "lib/number/bulk/bulk.h"

#include <math.h>
#include <string.h>

enum { ROWS = HU_FLASH_ROWS, WIDE = HU_FLASH_WIDE };

size_t
hu_flash_padded(size_t n)
{
	return (n + WIDE - 1) / WIDE * WIDE;
}

void
hu_flash_columns(float *to, const float *from, size_t n, size_t width, size_t ld)
{
	for (size_t d = 0; d < width; d++) {
		for (size_t j = 0; j < n; j++)
			to[d * ld + j] = from[j * width + d];
		for (size_t j = n; j < ld; j++)
			to[d * ld + j] = 0;
	}
}

void
hu_flash_rows(float *to, const float *from, size_t n, size_t width, size_t ld)
{
	for (size_t j = 0; j < n; j++) {
		memcpy(to + j * ld, from + j * width, width * sizeof *to);
		memset(to + j * ld + width, 0, (ld - width) * sizeof *to);
	}
}

const float *
hu_flash_data(const hu_tensor *t, size_t first)
{
	return (const float *)t->data + first;
}

/* Score s of query i and key j with its mask; *seen becomes 0 where the key is hidden. */
float
hu_flash_masked(const hu_flash *x, size_t b, size_t i, size_t j, float s, unsigned char *seen)
{
	const hu_attention *a = &x->a;

	if (a->mask >= 0) {
		float add = *hu_flash_data(a->in[a->mask], hu_attention_mask(a, b, i, j)) * (float)x->base;
		s += add;
	}
	if (hu_flash_hidden(x, b, i, j))
		s = -INFINITY;
	*seen = s != -INFINITY;
	return s;
}

void
hu_flash_narrow(const hu_flash *x, float *p, size_t n)
{
	if (x->narrow.id != HU_FP32)
		hu_bulk_round(p, p, n, x->narrow.id, HU_RNE, 0, NULL, 0);
}

float
hu_flash_sum(const float *p, const float *by, size_t n)
{
	float lane[4] = { 0, 0, 0, 0 };

	for (size_t i = 0; i < n; i++)
		lane[i >> 1 & 3] = by ? fmaf(p[i], by[i], lane[i >> 1 & 3]) : lane[i >> 1 & 3] + p[i];
	return (lane[0] + lane[1]) + (lane[2] + lane[3]);
}

/* Adds the products of n numbers of each row's w and the rows of b to the rows of o. act tells which rows take part,
   and seen (ld a row) which numbers of one do: the others meet a row of zeros. */
void
hu_flash_add(const hu_flash_loops *go, float *o, const float *w, size_t ld, const unsigned char *seen,
	const unsigned char *act, const float *b, size_t n, size_t wide, const float **at, const float *zeros)
{
	int all = 1;

	for (int r = 0; r < ROWS; r++)
		all &= act[r] && !memchr(seen + (size_t)r * ld, 0, n);
	if (all) {
		go->add(o, w, ld, b, n, wide);
		return;
	}
	for (size_t r = 0; r < ROWS; r++) {
		if (!act[r])
			continue;
		for (size_t j = 0; j < n; j++)
			at[j] = seen[r * ld + j] ? b + j * wide : zeros;
		go->add_one(o + r * wide, w + r * ld, at, n, wide);
	}
}
