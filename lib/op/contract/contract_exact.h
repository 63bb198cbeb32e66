/* SPDX-License-Identifier: Apache-2.0
   Whole rows of a contraction by the exact engine (lib/exact/gemm.h): every output's exact value, tile by tile,
   from operands read in place through the index map. */
#ifndef HU_OP_CONTRACT_EXACT_H
#define HU_OP_CONTRACT_EXACT_H

#include "lib/op/contract/contract.h"

/* Rows ROW0 .. ROW0+ROWS-1 of X, before its scale is divided out: output (row0 + i, j) at i * x->n + j. HI, LO, ERR: as
   hu_exact_tile_pairs fills them. */
void hu_contract_exact_pairs(const hu_contract *x, size_t row0, size_t rows, double *hi, double *lo, double *err);

/* The same as exact numbers, the scale divided out, element e of the output at e - ORIGIN; EXACT is initialised, and
   takes the precision that each value needs. */
void hu_contract_exact_values(const hu_contract *x, size_t row0, size_t rows, mpfr_t *exact, size_t origin);
#endif
