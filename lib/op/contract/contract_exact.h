/* SPDX-License-Identifier: Apache-2.0
   Computes every exact output of whole rows of a contraction, tile by tile, by the exact engine (lib/exact/gemm.h).
   Operands are read in place through the index map. */
#ifndef HU_OP_CONTRACT_EXACT_H
#define HU_OP_CONTRACT_EXACT_H

#include "lib/op/contract/contract.h"

/* Rows row0 .. row0+rows-1 of x, of these columns left .. left+columns-1, before division by its scale: output
   (row0 + i, left + j) goes to i * columns + j of hi, lo and err, as hu_exact_tile_pairs fills them. */
void hu_contract_exact_pairs(const hu_contract *x, size_t row0, size_t rows, size_t left, size_t columns, double *hi,
	double *lo, double *err);

/* The same as exact numbers, divided by the scale: element e of the output goes to exact[e - origin]. exact is
   initialised, and each number is given the precision that it needs. */
void hu_contract_exact_values(const hu_contract *x, size_t row0, size_t rows, mpfr_t *exact, size_t origin);
#endif
