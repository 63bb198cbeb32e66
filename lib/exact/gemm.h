/* SPDX-License-Identifier: Apache-2.0
   Exact products of matrices, tile by tile: C[i,j] = Σ_k A[i,k] B[k,j] as exact values. Each
   tile's operands are scaled by powers of two, and their span of exponents decides how many doubles on
   fixed grids hold every bit of its sums (grid.h): one where the integers of a sum fit 53 bits, two for all of fp16 and
   e5m2 and for ordinary bf16, tf32 and fp32, up to 16 for any fp32. What no number of them holds goes to MPFR (fp64
   alone). Operands come through callbacks, so that memory is bounded by tiles, whatever k is. */
#ifndef HU_EXACT_GEMM_H
#define HU_EXACT_GEMM_H

#include "lib/exact/value.h"

#include <stddef.h>
#include <stdint.h>

/* Where the operands come from: elements K0 .. K1-1 of row I of A, of column J of B, of batch BATCH, as doubles; fp32
   and narrower formats are exact in them. The same element always gives the same value. Called from several threads at
   once. */
typedef void hu_exact_fetch(void *context, size_t batch, size_t i, size_t k0, size_t k1, double *x);

typedef struct hu_exact_source {
	size_t batches, m, n, k;
	hu_exact_fetch *row, *column;
	hu_exact_fetch *slab; /* NULL, or B's elements the other way round: (context, batch, k, j0, j1, x), faster where
				 they lie so */
	void *context;
} hu_exact_source;

typedef struct hu_exact_tile hu_exact_tile;

/* Receives rows I0 .. I0+M-1, columns J0 .. J0+N-1 of BATCH; called from several threads at once, each tile once, in
   any order. The tile lives until the call returns. */
typedef void hu_exact_take(
	void *context, const hu_exact_tile *tile, size_t batch, size_t i0, size_t m, size_t j0, size_t n);

/* Output (i, j) of the tile, counted from its corner. Non-finite operands give what IEEE 754 gives, an exact
   zero is +0. 0: the value is no sum of doubles in their range (fp64 alone); hu_exact_tile_mpfr has it. */
int hu_exact_tile_value(hu_exact_value *v, const hu_exact_tile *tile, size_t i, size_t j);
/* R takes the value and the precision that it needs. */
void hu_exact_tile_mpfr(mpfr_t r, const hu_exact_tile *tile, size_t i, size_t j);
/* Row I of the tile: hi[j] = RN(value), lo[j] = RN(value - hi[j]), but for double's range the best pair there is;
   err[j], where ERR is not NULL: 0 where that is the value, else a bound of what it leaves; infinite where hi is not
   finite. */
void hu_exact_tile_pairs(double *hi, double *lo, double *err, const hu_exact_tile *tile, size_t i);

/* Every tile of the product, shared among OpenMP's threads. Under hu_exact_way MPFR, by MPFR throughout; else
   one sum in every few thousand, chosen by its operands' bits, is judged by MPFR again, and a disagreement prints its
   operands and ends the program. */
void hu_exact_gemm(const hu_exact_source *s, hu_exact_take *take, void *context);

/* The same from arrays in row-major order: row i of A begins at a + i * lda, row k of B at b + k * ldb. */
void hu_exact_gemm_arrays(size_t m, size_t n, size_t k, const double *a, size_t lda, const double *b, size_t ldb,
	hu_exact_take *take, void *context);

/* By what sums are computed: on grids, one double a sum, two, three and more; 52-bit integer multiply-adds (AVX-512
   IFMA); slices on the BLAS; MPFR. */
typedef struct hu_exact_ways { uint64_t one, two, more, integers, blas, mpfr; } hu_exact_ways;

/* The calls since hu_exact_way_set: multiply-adds and sums by what did them; every sum that is exact in one way is in
   another, so none of this changes a bit. A sum with an infinity or NaN among its operands counts with its neighbours,
   and is MPFR's. */
typedef struct hu_exact_tally {
	hu_exact_ways terms, by;
	uint64_t judged, sums;         /* sums judged again by MPFR, all agreeing; sums */
} hu_exact_tally;
void hu_exact_tally_get(hu_exact_tally *t);

/* What hu_exact_gemm may choose from; for tests and comparisons. BLAS: it takes whatever slices can, fast or not. */
typedef enum hu_exact_kernels {
	HU_KERNELS_AUTO,
	HU_KERNELS_GRIDS,
	HU_KERNELS_INTEGERS,
	HU_KERNELS_BLAS
} hu_exact_kernels;
void hu_exact_kernels_set(hu_exact_kernels k);
/* One line for a person or a table's header: this processor's kernels, and the BLAS (which it loads). The string lives
   as long as the program. */
const char *hu_exact_describe(void);
#endif
