/* SPDX-License-Identifier: Apache-2.0
   The loops in which the closed form of attention (attention.c) spends its time. Every instruction set gives the same
   bits. */
#ifndef HU_JUDGE_ATTENTION_LOOPS_H
#define HU_JUDGE_ATTENTION_LOOPS_H

#include <stddef.h>

/* Keys lie transposed in tiles of so many, the last one filled up with zeros: number d of key j is element
   hu_attention_place(depth, d, j) of hu_attention_tiled(depth, keys). */
enum { HU_ATTENTION_TILE = 16 };

static inline size_t
hu_attention_place(size_t depth, size_t d, size_t j)
{
	return (j / HU_ATTENTION_TILE * depth + d) * HU_ATTENTION_TILE + j % HU_ATTENTION_TILE;
}

static inline size_t
hu_attention_tiled(size_t depth, size_t keys)
{
	return (keys + HU_ATTENTION_TILE - 1) / HU_ATTENTION_TILE * HU_ATTENTION_TILE * depth;
}

/* s[j] = Σ x[d] k[d, j] and r[j] = Σ most[d] m[d, j], in ascending d from +0, for all tiles' keys. */
void hu_attention_scores(const double *x, const double *most, const double *k, const double *m, size_t depth,
	size_t keys, double *s, double *r);

/* What a key adds to each element of an output row: its weight p, and factors of |v - o|, |v|, (v - o)^2 and v^2. */
typedef struct hu_attention_key {
	const double *v;
	double p, spread, size, var, square;
} hu_attention_key;

/* The sums of p v, and then of the others, in ascending order of keys from +0, for all elements of a row; abs is that
   of `flushed` times |v|. A key whose p is 0 is left out of o. Each array has `width` elements. */
typedef struct hu_attention_sums {
	double *o, *spread, *size, *abs, *var, *square;
} hu_attention_sums;
void hu_attention_add(const hu_attention_key *key, size_t keys, double flushed, size_t width, hu_attention_sums to);
#endif
