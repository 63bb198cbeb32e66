/* SPDX-License-Identifier: Apache-2.0
   Computes every exact output of whole rows of a contraction, tile by tile, by the exact engine (lib/exact/gemm.h),
   and packs operands for certified inner products (lib/exact/enclose.h). Operands are read in place through the index
   map. */
#ifndef HU_OP_CONTRACT_EXACT_H
#define HU_OP_CONTRACT_EXACT_H

#include "lib/exact/operand.h"
#include "lib/op/contract/contract.h"

/* Rows row0 .. row0+rows-1 of x, of these columns left .. left+columns-1, before division by its scale: output
   (row0 + i, left + j) goes to i * columns + j of hi, lo and err, as hu_exact_tile_pairs fills them. */
void hu_contract_exact_pairs(const hu_contract *x, size_t row0, size_t rows, size_t left, size_t columns, double *hi,
	double *lo, double *err);

/* The same as exact numbers, divided by the scale: element e of the output goes to exact[e - origin]. exact is
   initialised, and each number is given the precision that it needs. */
void hu_contract_exact_values(const hu_contract *x, size_t row0, size_t rows, mpfr_t *exact, size_t origin);

/* These two pack terms k0 .. k1-1 of rows list[0 .. r) of A, or of count columns of B: those of the list, or, where it
   is NULL, n0, n0+1, …. magnitudes says that only magnitudes will be asked for; these need no scale where products are
   in double's range, as those of floats are, since a power of two changes none of their bits. line is memory for a
   double for each term of a row, or for each column. */
void hu_contract_pack_left(const hu_contract *x, hu_operand *a, int magnitudes, const size_t *list, size_t r, size_t k0,
	size_t k1, double *line);
void hu_contract_pack_right(const hu_contract *x, hu_operand *b, int magnitudes, const size_t *list, size_t n0,
	size_t count, size_t k0, size_t k1, double *line);
#endif
