/* SPDX-License-Identifier: Apache-2.0
   One tile of enclosed products: some rows of A times some columns of B by certified inner products
   (lib/exact/enclose.h), which give value, error and magnitude in one pass. The bound comes from the summation's bound
   (lib/sum/bound.h) for these magnitudes and from the rounding to the output. Which tiles there are is
   contract_enclose.c's business. */
#ifndef HU_OP_ENCLOSING_H
#define HU_OP_ENCLOSING_H

#include "lib/exact/enclose.h"
#include "lib/op/contract/contract.h"
#include "lib/op/sink.h"

enum {
	HU_ENCLOSING_ROWS = 24, HU_ENCLOSING_COLUMNS = 256, /* of a tile: results and operands stay in the L2 cache */
	HU_ENCLOSING_TILE = HU_ENCLOSING_ROWS * HU_ENCLOSING_COLUMNS,
	HU_ENCLOSING_STRETCH = 4096                         /* terms in memory at a time */
};

/* What all tiles of a product have in common. */
typedef struct hu_enclosing {
	const hu_call *c;
	hu_contract *x;
	hu_tensor *const *in;
	hu_sink *sink;
	hu_sum_bound sum;
	hu_format inner;
	size_t part;
	/* The list by rows: those of row m are order[start[m] .. start[m+1]), as positions in element. NULL: all
	   elements. */
	const size_t *element;
	size_t *start, *order;
	int single;                /* few outputs of each row are wanted, so only their columns are computed */
	/* Exact values of rows from row0 on, in place of what the tiles would enclose; output (row0 + i, left + j) is
	   at i * columns + j. NULL: none. */
	double *hi, *lo, *err;
	size_t row0, left, columns;
} hu_enclosing;

/* What one thread computes a tile in. */
typedef struct hu_enclosing_work {
	hu_operand a, b;
	double k[HU_ENCLOSING_STRETCH], line[HU_ENCLOSING_COLUMNS];
	double hi[HU_ENCLOSING_TILE], lo[HU_ENCLOSING_TILE], err[HU_ENCLOSING_TILE], mag[HU_ENCLOSING_TILE],
		bound[HU_ENCLOSING_TILE];
	size_t at[HU_ENCLOSING_TILE], from[HU_ENCLOSING_TILE], rows[HU_ENCLOSING_ROWS], columns[HU_ENCLOSING_COLUMNS];
} hu_enclosing_work;

/* The row within its batch of row m of a product. */
static inline size_t
hu_enclosing_row(const hu_contract *x, size_t m)
{
	return x->shares > 1 ? x->place(x, m) : m;
}

/* Computes columns n0 .. n0+count-1 of rows w->rows[0 .. r) and hands over what is wanted of them. b holds packed
   stretches of these columns, or is NULL. */
void hu_enclosing_tile(const hu_enclosing *j, hu_enclosing_work *w, const hu_contract *x, const hu_operand *b,
	size_t n0, size_t count, size_t r);
/* Computes only the wanted columns of a row, as many at a time as a tile has. */
void hu_enclosing_singles(const hu_enclosing *j, hu_enclosing_work *w, const hu_contract *x, size_t row);
#endif
