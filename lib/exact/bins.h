/* SPDX-License-Identifier: Apache-2.0
   Exact sums of products that spread over many exponents. An element is an integer times 2^(s g), and a product is
   added, as an integer of 64 bits, to the bin of its own g; so a term costs one addition, however wide the span is,
   where grids (grid.h) cost one for each of their doubles. Plain C: the additions go to addresses that depend on
   the data, which vectors do not help with. */
#ifndef HU_EXACT_BINS_H
#define HU_EXACT_BINS_H

#include <stddef.h>
#include <stdint.h>

enum {
	HU_BINS_TERMS = 1024, /* the most terms that are summed before a fold */
	HU_BINS_ROOM = HU_BINS_TERMS + 40, /* from one vector to the next; powers of two would share cache lines */
	HU_BINS_TOGETHER = 2,
	HU_BINS_COUNT = 640   /* bins of one sum, at most: HU_GRID_LEVELS digits of at most 40 bits have no more */
};

/* Returns s, the bits from one bin to the next, for k <= HU_BINS_TERMS products of elements of at most bits_a and
   bits_b significant bits: the largest with which no bin leaves 63 bits, 10 at most. Returns 0 where there is none. */
int hu_bins_step(int bits_a, int bits_b, size_t k);

/* How many digits, of 35 to 40 bits each, hold a sum of k products of vectors whose low + low' (operand.h) is span. */
int hu_bins_digits(int span, size_t k, int s);

/* Converts the k elements x[kk * stride] of one vector, which are multiples of 2^-low in (-2,2) with at most `bits`
   significant bits, to m[kk] 2^(s g[kk] - low). k must be a multiple of 4, or m and g must have room for one. */
void hu_bins_pack(int64_t *m, uint16_t *g, const double *x, size_t k, size_t stride, int low, int bits, int s);

/* Adds k products of a with each of `vectors` vectors, HU_BINS_ROOM elements apart, to their own bins, HU_BINS_COUNT
   apart. k is a multiple of 4. HU_BINS_TOGETHER vectors are fastest. */
void hu_bins_sum(size_t k, const int64_t *a, const uint16_t *ga, const int64_t *b, const uint16_t *gb, int64_t *bins,
	size_t vectors);

/* Adds the bins, whose unit is 2^-span, to a sum of `digits` doubles digit[l * stride], which begins as zeros, and
   clears them. The last digit is an integer times 2^-span, each one before it has a larger unit, and half of that
   bounds what follows it. Exact. */
void hu_bins_fold(int64_t *bins, int s, int span, double *digit, size_t stride, int digits);

typedef struct hu_exact_tile hu_exact_tile;

/* A thread's memory for bins: the tile's rows, then its columns, HU_BINS_ROOM elements each. */
typedef struct hu_bins {
	int64_t *m;
	uint16_t *g;
	size_t room;                   /* vectors that m and g have room for */
	int step, bits_a, bits_b;      /* of the tile (hu_bins_step); step 0: it has no bins */
	int64_t sum[HU_BINS_TOGETHER * HU_BINS_COUNT];
} hu_bins;

/* Adds the k packed terms to the sums of all panel pairs that are summed in bins. */
void hu_bins_add(hu_exact_tile *t, size_t k);
#endif
